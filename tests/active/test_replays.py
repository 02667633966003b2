"""A log is replayed to the same state, whatever was said in between; loops with conflicts."""

import numpy as np
import pytest
from tests.active.tasks import stripe

from committee.active import (
    ActiveLoop,
    LabelJournal,
    LabelLog,
    QueryByBagging,
    SimulatedAnnotator,
    load_log,
    save_log,
)
from committee.active.course import round_ends
from committee.data import InputError

OTHER = {"no": "yes", "yes": "no"}


def task():
    X, y = stripe(np.random.default_rng(0), 150)
    labels = np.array(["no", "yes"])[y]
    return X[:100], labels[:100], X[100:], labels[100:]


def loop_over(log=None, ask=SimulatedAnnotator, seed=0, **params):
    X, y, X_test, y_test = task()
    given = {"X_test": X_test, "y_test": y_test, "n_initial": 8, "k": 3, **params}
    annotator = ask(y) if ask is SimulatedAnnotator else ask
    model = QueryByBagging(n_estimators=4)
    return ActiveLoop(model, X, annotator, log=log, random_state=seed, **given)


def assert_same(loop, other):
    """Compare all that a loop knows, and what it asks next."""
    X = task()[0]
    assert loop.n_rounds == other.n_rounds
    assert loop.counts == other.counts
    told = [[(e.row, e.label, e.round) for e in one.baseline_log] for one in (loop, other)]
    assert told[0] == told[1]
    for one, two in ((loop.model, other.model), (loop.baseline_model, other.baseline_model)):
        np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    curves = loop.curve(), other.curve()
    np.testing.assert_array_equal(curves[0].n_labels, curves[1].n_labels)
    for name in ("queries", "random"):
        np.testing.assert_array_equal(curves[0].errors[name], curves[1].errors[name])
    np.testing.assert_array_equal(loop.ask().indices, other.ask().indices)


def replayed(loop, path):
    save_log(loop.log, path)
    return loop_over(load_log(path))


def test_a_log_with_a_conflict_is_replayed_to_the_same_state(tmp_path):
    _, y, _, _ = task()
    loop = loop_over().run(2)
    first, later = loop.log.events[2].row, loop.log.events[-1].row
    for row in (first, later):  # one of the first round, one of the last
        loop.tell([row], [OTHER[y[row]]], annotator="bob")
    assert loop.counts == [8, 11, 14, 13, 12]
    assert_same(replayed(loop, tmp_path / "open"), loop)
    for row in (first, later):
        loop.log.resolve(row, OTHER[y[row]], annotator="eve")
    assert_same(replayed(loop, tmp_path / "decided"), loop)  # which nobody has heard yet
    loop.run(1)
    assert loop.counts == [8, 11, 14, 13, 12, 17]
    assert_same(replayed(loop, tmp_path / "heard"), loop)
    free = next(k for k in range(100) if k not in loop.log.labels)
    loop.log.append(free, y[free])
    assert_same(replayed(loop, tmp_path / "by hand"), loop)
    again = replayed(loop, tmp_path / "going on").run(2)
    assert_same(again, loop.run(2))
    assert loop.counts[-2:] == [21, 24]
    assert again.log.labels == loop.log.labels


def test_rounds_of_a_log():
    def ends(*rounds):
        log = LabelLog()
        for row, number in enumerate(rounds):
            log.append(row, "no", round=number)
        return round_ends(log.events)

    assert ends() == []
    assert ends(0, 0, 1, 2, 2) == [2, 3, 5]
    assert ends(0, 0, None, 1, None, None) == [2, 4]
    assert ends(0, None, 0, 1) == [3, 4]
    assert ends(None, None) == [2]  # labels from elsewhere: the first round
    assert ends(None, None, 1, 2) == [2, 3, 4]  # and those who went on from them
    assert ends(None, 0, 1) == [2, 3]  # written into the log of a loop that began afterwards


def test_labels_from_elsewhere_are_the_first_round(tmp_path):
    _, y, _, _ = task()
    log = LabelLog()
    for row in range(12):
        log.append(row, y[row])
    loop = loop_over(log)
    assert (loop.n_rounds, loop.counts) == (1, [12])
    assert_same(replayed(loop.run(2), tmp_path / "log"), loop)
    assert loop.counts == [12, 15, 18]


def test_people_and_the_annotator_take_turns(tmp_path):
    """The twin hears as many labels as the learner, whoever told them."""
    _, y, _, _ = task()
    loop = loop_over()
    rows = loop.ask(5).indices
    loop.tell(rows, y[rows]).step()
    rows = loop.ask().indices
    loop.tell(rows, y[rows]).step()
    courses = loop._courses
    assert courses["queries"].n_labels == courses["random"].n_labels == [5, 8, 11, 14]
    assert loop.curve().n_labels.tolist() == [5, 8, 11, 14]
    assert loop.curve().errors["queries"][0, 0] == loop.curve().errors["random"][0, 0]
    assert [e.round for e in loop.baseline_log] == [0] * 5 + [1] * 3 + [2] * 3 + [3] * 3
    assert_same(replayed(loop, tmp_path / "log"), loop)


def test_no_answer_is_no_round(tmp_path):
    """A round without an event cannot be replayed, and seeds and questions count rounds."""
    _, y, _, _ = task()
    loop = loop_over().tell([], [])
    assert (loop.n_rounds, len(loop.log), len(loop.baseline_log)) == (0, 0, 0)
    loop.run(1)
    asked = loop.ask().indices.tolist()
    loop.log.resolve(loop.log.events[0].row, y[loop.log.events[0].row], annotator="eve")
    assert loop.tell([], []) is loop
    assert (loop.n_rounds, loop.counts) == (2, [8, 11])
    assert loop.asked.indices.tolist() == asked
    assert_same(replayed(loop, tmp_path / "open"), loop)
    loop.tell(asked, y[asked])  # still answers to questions, with their reasons
    assert all(event.reason.startswith("vote") for event in loop.log.events[-3:])
    assert [event.round for event in loop.log.events[-3:]] == [2] * 3
    assert_same(replayed(loop, tmp_path / "told"), loop)
    with pytest.raises(InputError, match="1 labels for 0 rows"):
        loop.tell([], ["no"])


@pytest.mark.parametrize(
    ("rows", "labels", "code"),
    [
        ([50], [3], "Y-MIXED"),  # text so far
        ([50, 51], ["no", True], "Y-MIXED"),
        ("50", ["no"], "E-EVENT.*a sequence"),
        (50, "no", "E-EVENT.*a sequence"),
    ],
)
def test_answers_that_cannot_be_learnt_are_not_recorded(rows, labels, code):
    loop = loop_over().run(1)
    before = loop.log.events
    with pytest.raises(InputError, match=code):
        loop.tell(rows, labels, new_classes=True)
    assert loop.log.events == before
    loop.run(1)
    assert loop.counts == [8, 11, 14]


def test_numbers_that_are_no_classes_are_not_recorded():
    X = task()[0]
    loop = ActiveLoop(QueryByBagging(n_estimators=4), X, random_state=0)
    with pytest.raises(InputError, match="Y-CONTINUOUS"):
        loop.tell([0, 1], [0.5, 1.0])
    assert len(loop.log) == 0


def test_test_rows_with_other_columns_are_refused_before_any_question():
    X, y, X_test, y_test = task()
    annotator = SimulatedAnnotator(y)
    with pytest.raises(InputError, match=r"Q-ROWS.*X_test: the columns are not .*X-WIDTH"):
        ActiveLoop(QueryByBagging(), X, annotator, X_test=X_test[:, :1], y_test=y_test)
    assert annotator.n_asked == 0


def away(rows, X):
    raise ConnectionError("away")


def test_the_twin_catches_up_with_rounds_it_missed():
    _, y, _, _ = task()
    loop = loop_over().run(1)
    rows, loop.annotator = loop.ask().indices, away
    with pytest.raises(ConnectionError, match="away"):
        loop.tell(rows, y[rows])
    assert loop._courses["random"].n_labels == [8, 11]
    loop.annotator = SimulatedAnnotator(y)
    loop.step()
    assert loop._courses["random"].n_labels == loop.counts == [8, 11, 14, 17]


def test_a_learner_that_loses_labels_is_compared_by_as_many():
    _, y, _, _ = task()
    loop = loop_over().run(1)
    lost = loop.log.events[0].row
    loop.tell([lost], [OTHER[y[lost]]], annotator="bob")
    assert loop.curve().n_labels.tolist() == [8, 11, 10]
    assert loop._courses["random"].n_labels == [8, 11, 10]
    errors = loop.curve().errors["random"][0]
    X, _, X_test, y_test = task()
    rows = [event.row for event in loop.baseline_log.events[:10]]
    again = QueryByBagging(n_estimators=4, random_state=loop.baseline_model.random_state)
    assert errors[2] == (again.fit(X[rows], y[rows]).predict(X_test) != y_test).mean()


def test_a_replay_with_the_log_of_the_twin_asks_nobody(tmp_path):
    _, y, _, _ = task()
    paths = tmp_path / "log", tmp_path / "twin"
    loop = loop_over(LabelJournal(paths[0]), baseline_log=LabelJournal(paths[1])).run(2)
    lost = loop.log.events[0].row
    loop.tell([lost], [OTHER[y[lost]]], annotator="bob")  # the twin is ahead by a label
    assert (loop.counts, len(loop.baseline_log)) == ([8, 11, 14, 13], 14)
    again = loop_over(load_log(paths[0]), baseline_log=load_log(paths[1]), ask=away)
    assert_same(again, loop)
    plain = loop_over(load_log(paths[0]))  # without it the twin asks about all of its rows again
    assert plain.annotator.n_asked == 14
    assert_same(plain, loop)
    again.annotator = SimulatedAnnotator(y)
    again.run(2)
    assert_same(again, loop.run(2))
    assert again.annotator.n_asked == (3 + 2) + (3 + 3)
    assert load_log(paths[1]).events == loop.baseline_log.events
    assert len({event.row for event in loop.baseline_log}) == again.counts[-1] == 19


def test_a_twin_that_has_missed_the_end_asks_for_that_alone():
    loop = loop_over().run(3)
    short = LabelLog()
    for event in loop.baseline_log.events[:12]:  # in the midst of a round
        short.add(event)
    again = loop_over(loop.log, baseline_log=short)
    assert again.annotator.n_asked == 17 - 12
    assert_same(again, loop)


def test_the_rows_of_a_twin_do_not_hang_on_the_seed_of_the_replay():
    loop = loop_over().run(1)
    kept = [event.row for event in loop.baseline_log]
    again = loop_over(loop.log, baseline_log=loop.baseline_log, seed=7).run(29)
    assert [event.row for event in again.baseline_log][:11] == kept
    assert len({event.row for event in again.baseline_log}) == again.counts[-1] == 98


def twin_log(rows):
    log = LabelLog()
    for row in rows:
        log.append(row, "no")
    return log


def test_logs_of_another_twin_are_refused_before_any_fit(tmp_path, monkeypatch):
    loop = loop_over().run(1)
    first = [event.row for event in loop.baseline_log][:8]
    free = [row for row in range(100) if row not in first]
    journal = LabelJournal(tmp_path / "log")
    monkeypatch.setattr(QueryByBagging, "fit", None)
    cases = [
        (loop.log, twin_log([*first, 1000]), "row 1000 is not in the pool"),
        (loop.log, twin_log([*first, first[2]]), f"row {first[2]} is there twice"),
        (loop.log, twin_log(free[:2]), "it begins with other rows than log"),
        (loop.log, twin_log([*first[:3], *free[:9]]), "it begins with other rows than log"),
        (None, twin_log(first), "it begins with other rows than log"),
        (loop.log, loop.log, "the log of the learner itself"),
        (journal, LabelJournal(tmp_path / "log"), "the log of the learner itself"),
    ]
    for log, baseline_log, said in cases:
        with pytest.raises(InputError, match=rf"E-EVENT\] baseline_log: .*{said}.*Fix: "):
            loop_over(log, baseline_log=baseline_log)
    for params in ({"baseline": False}, {"ask": None}, {"X_test": None, "y_test": None}):
        with pytest.raises(InputError, match=r"baseline_log: .*without a twin.*Allowed: with base"):
            loop_over(loop.log, baseline_log=twin_log(first), **params)


def contested(y, rows=(1, 2)):
    log = LabelLog()
    for row in rows:
        log.append(row, y[row], annotator="ann", round=0)
        log.append(row, OTHER[y[row]], annotator="bob", round=0)
    return log


def test_where_every_label_is_in_conflict_the_loop_begins_anew(tmp_path):
    _, y, _, _ = task()
    loop = loop_over(contested(y))
    assert (loop.n_rounds, loop.counts) == (1, [])
    assert str(loop.stop_advice()).startswith("go on: no label so far")
    query = loop.ask()
    assert query.random
    assert len(query) == 8  # n_initial: nothing is known
    assert not set(query.indices) & {1, 2}
    loop.run(2)
    assert loop.counts == [8, 11]
    assert loop.curve().n_labels.tolist() == [8, 11]
    assert_same(replayed(loop, tmp_path / "log"), loop)


def test_a_learner_whose_labels_are_all_contested_forgets_them(tmp_path):
    _, y, _, _ = task()
    loop = loop_over()
    loop.tell([3, 4, 5], y[[3, 4, 5]], annotator="ann")
    loop.tell([3, 4, 5], [OTHER[label] for label in y[[3, 4, 5]]], annotator="bob")
    assert not loop.model.__sklearn_is_fitted__()
    assert loop.ask().reasons[0].startswith("random: no row has a label yet")
    loop.step()
    assert loop.counts == [3, 8]
    assert set(loop.model.labelled_.y) <= {"no", "yes"}
    assert_same(replayed(loop, tmp_path / "log"), loop)


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_as_many_questions_as_there_can_be(k):
    loop = loop_over()
    for _ in range(2):  # at random, and by disagreement
        with pytest.raises(ValueError, match=r"P-VALUE.*'k' parameter.*\[1, inf\)"):
            loop.ask(k)
        assert loop.asked is None
        loop.run(0)
    assert loop.n_rounds == 1


def test_a_loop_without_an_answer_says_so():
    with pytest.raises(InputError, match="no error was measured"):
        loop_over(contested(task()[1])).curve()
