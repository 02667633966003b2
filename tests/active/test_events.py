"""Labels as events: B74, B76, files that are read back to the same state, and damaged ones."""

import json
import pickle
import tempfile
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from committee.active import LabelJournal, LabelLog, load_log, save_log
from committee.active.events import LabelEvent
from committee.data import InputError


def clock():
    return "2024-05-01T12:00:00+00:00"


def filled():
    log = LabelLog(["ham", "spam"], clock=clock)
    log.append("m1", "spam", annotator="ann", reason="vote margin 0.1", round=0, disagreement=0.9)
    log.append("m2", "ham", annotator="ann", round=0, disagreement=float("nan"))
    log.append("m1", "ham", annotator="bob", round=1)
    log.append("m3", "eggs", annotator="bob", round=1, new_classes=True)
    log.resolve("m1", "spam", annotator="eve", reason="read it twice")
    return log


def test_b76_two_annotators_disagree():
    log = LabelLog()
    log.append(7, "a", annotator="ann")
    log.append(7, "a", annotator="bob")
    assert (log.labels, log.conflicts) == ({7: "a"}, ())
    log.append(7, "b", annotator="eve")
    (conflict,) = log.conflicts
    assert conflict.row == 7
    assert conflict.opinions == {"ann": "a", "bob": "a", "eve": "b"}
    assert str(conflict) == "row 7: ann says 'a', bob says 'a', eve says 'b'"
    assert log.labels == {}
    assert len(log) == 3  # all are kept
    log.append(7, "a", annotator="eve")  # she corrects herself
    assert (log.labels, log.conflicts) == ({7: "a"}, ())


def test_b76_a_resolution_holds_until_somebody_objects():
    log = LabelLog()
    log.append(1, "a", annotator="ann")
    log.append(1, "b", annotator="bob")
    log.resolve(1, "b", annotator="eve")
    assert log.labels == {1: "b"}
    log.append(1, "b", annotator="joe")
    assert log.labels == {1: "b"}
    log.append(1, "c", annotator="joe")
    assert [c.row for c in log.conflicts] == [1]
    with pytest.raises(InputError, match=r"row 2 has no label"):
        log.resolve(2, "b", annotator="eve")


def test_b74_label_outside_the_known_classes():
    log = LabelLog(["ham", "spam"])
    with pytest.raises(ValueError, match=r"Q-CLASS.*'eggs' for row 3 .*'ham', 'spam'"):
        log.append(3, "eggs")
    assert len(log) == 0
    log.append(3, "eggs", new_classes=True)
    log.append(4, "eggs")
    assert log.classes == ("ham", "spam", "eggs")
    with pytest.raises(ValueError, match="Q-CLASS"):
        log.append(5, True)


def test_true_is_not_one():
    log = LabelLog()
    log.append(1, 1, annotator="ann")
    log.append(1, True, annotator="bob")
    assert len(log.conflicts) == 1


def test_events_cannot_be_changed():
    log = filled()
    with pytest.raises(AttributeError):
        log.events[0].label = "ham"
    with pytest.raises(TypeError):
        log.events[0] = log.events[1]
    with pytest.raises(InputError, match=r"event 0 where 5 is the next"):
        log.add(log.events[0])


def test_replay_at_any_moment():
    log = filled()
    states = [log.replay(k) for k in range(6)]
    assert [s.labels for s in states] == [
        {},
        {"m1": "spam"},
        {"m1": "spam", "m2": "ham"},
        {"m2": "ham"},
        {"m2": "ham", "m3": "eggs"},
        {"m1": "spam", "m2": "ham", "m3": "eggs"},
    ]
    assert [len(s.conflicts) for s in states] == [0, 0, 0, 1, 1, 0]


def test_saved_and_loaded_it_is_the_same(tmp_path):
    log, path = filled(), tmp_path / "labels.jsonl"
    save_log(log, path)
    again = load_log(path)
    assert again.events == log.events
    assert again.classes == log.classes
    assert [vars(again.replay(k)) for k in range(6)] == [vars(log.replay(k)) for k in range(6)]
    assert log.events[0].disagreement == 0.9
    assert log.events[1].disagreement is None
    save_log(log, path)  # over the file that is there
    assert load_log(path).events == log.events
    assert [p.name for p in tmp_path.iterdir()] == ["labels.jsonl"]
    head, *rest = path.read_text().splitlines()
    assert json.loads(head) == {
        "format": "committee.labels",
        "version": 1,
        "classes": ["ham", "spam"],
    }
    assert len(rest) == 5


LABELS = st.one_of(
    st.integers(-(2**70), 2**70),
    st.text(),
    st.booleans(),
    st.floats(allow_nan=False).filter(lambda x: abs(x) != float("inf")),
)


@settings(max_examples=25)
@given(
    answers=st.lists(
        st.tuples(st.one_of(st.integers(0, 3), st.text(max_size=2)), LABELS, st.sampled_from("ab"))
    )
)
def test_any_log_survives_its_file(answers):
    log = LabelLog(clock=clock)
    for row, label, annotator in answers:
        log.append(row, label, annotator=annotator)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels"
        save_log(log, path)
        again = load_log(path)
    assert again.events == log.events
    assert [type(e.label) for e in again.events] == [type(e.label) for e in log.events]
    assert again.labels == log.labels


def test_numpy_scalars_become_plain():
    event = LabelLog().append(np.int64(3), np.str_("a"))
    assert (type(event.row), type(event.label)) == (int, str)
    assert LabelLog().append(0, np.bool_(True)).label is True


@pytest.mark.parametrize("label", [None, b"a", float("nan"), float("inf"), ["a"], 1j])
def test_labels_that_cannot_be_kept(label):
    with pytest.raises(InputError, match=r"E-EVENT.*for row 'mail'"):
        LabelLog().append("mail", label)


def test_rows_and_annotators_have_names():
    for row in (None, 1.5, True, ("a",)):
        with pytest.raises(InputError, match=r"E-EVENT.*an int or text"):
            LabelLog().append(row, "a")
    for annotator in ("", None, 3):
        with pytest.raises(InputError, match=r"E-EVENT.*a name"):
            LabelLog().append(0, "a", annotator=annotator)


def test_a_journal_writes_each_event_before_it_counts(tmp_path):
    path = tmp_path / "journal"
    journal = LabelJournal(path, ["a", "b"], clock=clock)
    journal.append(1, "a", annotator="ann")
    with pytest.raises(InputError, match="Q-CLASS"):
        journal.append(2, "z")
    journal.append(2, "b", annotator="ann")
    assert load_log(path).events == journal.events
    more = LabelJournal(path, clock=clock)
    more.append(3, "c", new_classes=True)
    assert more.classes == ("a", "b", "c")
    assert [e.row for e in load_log(path).events] == [1, 2, 3]
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match="journal"):
        more.append(4, "a")
    assert len(more) == 3  # what could not be written does not count


@pytest.mark.parametrize("write", [LabelJournal, lambda path: save_log(filled(), path)])
def test_a_folder_that_is_missing_is_named(tmp_path, write):
    path = tmp_path / "study" / "labels.jsonl"
    said = rf"E-FILE\] {path}: the folder '{path.parent}' is missing\. Fix: make the folder"
    with pytest.raises(InputError, match=said):
        write(path)
    path.parent.write_text("a file")
    with pytest.raises(InputError, match=rf"E-FILE.*'{path.parent}' is no folder"):
        write(path)
    assert [p.name for p in tmp_path.iterdir()] == ["study"]
    path.parent.unlink()
    path.parent.mkdir()
    write(path)
    assert len(load_log(path)) in (0, 5)


def damaged(lines, k, text):
    return "\n".join([*lines[:k], text, *lines[k + 1 :]]) + "\n"


def test_damaged_files_name_the_line(tmp_path):
    path = tmp_path / "labels"
    save_log(filled(), path)
    lines = path.read_text().splitlines()
    event = json.loads(lines[2])
    faults = {
        2: "{",
        3: "[1]",
        1: json.dumps({**event, "sequence": 0, "row": 1.5}),
        4: json.dumps({**event, "sequence": 9}),
        5: json.dumps({**event, "sequence": 4, "kind": "joke"}),
    }
    for k, text in faults.items():
        path.write_text(damaged(lines, k, text))
        with pytest.raises(InputError, match=rf"E-FILE.*line {k + 1}"):
            load_log(path)
    for change in ({"label": None}, {"round": True}, {"extra": 1}, {"annotator": 3}):
        path.write_text(damaged(lines, 2, json.dumps({**event, **change})))
        with pytest.raises(InputError, match=r"E-FILE.*line 3"):
            load_log(path)
    path.write_text("\n".join(lines))  # the last line was not finished
    with pytest.raises(InputError, match=r"line 6 ends in the middle"):
        load_log(path)
    path.write_text('{"format": "committee.labels", "version": 2}\n')
    with pytest.raises(InputError, match=r"line 1 says 'committee.labels', version 2"):
        load_log(path)
    path.write_bytes(pickle.dumps(filled().events))  # nothing of it is executed
    with pytest.raises(InputError, match="E-FILE"):
        load_log(path)


def test_an_event_is_plain():
    assert LabelEvent(0, "a", 1, "ann", clock()) == LabelEvent(0, "a", 1, "ann", clock())
