"""The loop: every question logged with its reason, the twin, replays, curves and stop advice."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from tests.active.tasks import labelled, stripe

from committee import DataWarning
from committee.active import (
    ActiveLoop,
    LabelLog,
    QueryByBagging,
    QueryCurve,
    SimulatedAnnotator,
    advise_stop,
    experiment,
    load_log,
    save_log,
    simulate_queries,
)
from committee.active.curve import wilson_interval
from committee.active.experiment import joined_curves
from committee.data import InputError


def task(n=150, seed=0):
    X, y = stripe(np.random.default_rng(seed), n)
    return X[:100], np.array(["no", "yes"])[y[:100]], X[100:], np.array(["no", "yes"])[y[100:]]


def started(rounds=3, **params):
    X, y, X_test, y_test = task()
    given = {"X_test": X_test, "y_test": y_test, "k": 4, "random_state": 0, **params}
    loop = ActiveLoop(QueryByBagging(n_estimators=5), X, SimulatedAnnotator(y), **given)
    return loop.run(rounds)


def test_every_question_is_logged_with_its_reason():
    loop = started()
    assert len(loop.log) == 10 + 3 * 4
    assert loop.n_rounds == 4
    first, later = loop.log.events[:10], loop.log.events[10:]
    assert all(e.reason.startswith("random: no row has a label yet") for e in first)
    assert all(e.reason.startswith("vote margin ") and e.disagreement is not None for e in later)
    assert [e.round for e in loop.log.events] == [0] * 10 + [1] * 4 + [2] * 4 + [3] * 4
    assert {e.annotator for e in loop.log.events} == {"simulated"}
    assert len({e.row for e in loop.log.events}) == 22
    _, y, _, _ = task()
    assert all(e.label == y[e.row] for e in loop.log.events)
    assert loop.annotator.n_asked == 44  # the twin has asked as often


def test_the_twin_begins_alike_and_is_taught_random_rows():
    loop = started()
    both = loop.log.events, loop.baseline_log.events
    assert [e.row for e in both[0][:10]] == [e.row for e in both[1][:10]]
    assert len(both[1]) == 22
    assert {e.row for e in both[0]} != {e.row for e in both[1]}
    assert both[1][-1].reason == "random: for comparison"
    curve = loop.curve()
    assert curve.n_labels.tolist() == [10, 14, 18, 22]
    assert curve.errors["queries"][0, 0] == curve.errors["random"][0, 0]
    X, y, X_test, y_test = task()
    rows = [e.row for e in both[1]]
    again = QueryByBagging(n_estimators=5, random_state=loop.baseline_model.random_state)
    error = (again.fit(X[rows], y[rows]).predict(X_test) != y_test).mean()
    assert curve.errors["random"][0, -1] == error
    low, high = curve.interval("queries")
    assert (low <= curve.mean("queries")).all()
    assert (high >= curve.mean("queries")).all()


def test_a_log_is_replayed_to_the_same_state(tmp_path):
    X, y, X_test, y_test = task()
    whole = started(rounds=5)
    half = started(rounds=2)
    save_log(half.log, tmp_path / "labels")
    loop = ActiveLoop(
        QueryByBagging(n_estimators=5),
        X,
        SimulatedAnnotator(y),
        X_test=X_test,
        y_test=y_test,
        k=4,
        log=load_log(tmp_path / "labels"),
        random_state=0,
    )
    np.testing.assert_array_equal(loop.model.predict_proba(X), half.model.predict_proba(X))
    assert loop.baseline_log.labels == half.baseline_log.labels
    loop.run(3)
    strip = [(e.row, e.label, e.reason, e.round, e.disagreement) for e in loop.log]
    assert strip == [(e.row, e.label, e.reason, e.round, e.disagreement) for e in whole.log]
    for name in ("queries", "random"):
        np.testing.assert_array_equal(loop.curve().errors[name], whole.curve().errors[name])
    np.testing.assert_array_equal(loop.model.predict_proba(X), whole.model.predict_proba(X))


def test_people_are_asked_and_tell_later():
    X, y, _, _ = task()
    ids = [f"row-{k}" for k in range(len(X))]
    loop = ActiveLoop(QueryByBagging(n_estimators=5), X, ids=ids, n_initial=6, random_state=0)
    query = loop.ask()
    assert len(query) == 6
    np.testing.assert_array_equal(loop.ask().indices, query.indices)
    rows = [loop.ids[k] for k in query.indices]
    loop.tell(rows, y[query.indices], annotator="ann")
    assert set(loop.model.classes_) == {"no", "yes"}
    assert loop.log.labels == dict(zip(rows, y[query.indices].tolist(), strict=True))
    with pytest.raises(InputError, match=r"no error was measured"):
        loop.curve()
    with pytest.raises(InputError, match=r"ask\(\) and tell\(\)"):
        loop.step()
    loop.tell(["row-99"], ["no"], annotator="bob")
    assert loop.log.events[-1].reason == "not asked about"
    with pytest.raises(InputError, match=r"row 'row-x' is not in the pool"):
        loop.tell(["row-x"], ["no"])
    with pytest.raises(InputError, match=r"Y-LENGTH.*1 labels for 2 rows"):
        loop.tell(["row-1", "row-2"], ["no"])


def test_b76_rows_in_conflict_are_neither_learned_nor_asked_about():
    X, y, _, _ = task()
    loop = ActiveLoop(QueryByBagging(n_estimators=5), X, n_initial=20, random_state=0)
    rows = loop.ask().indices
    loop.tell(rows, y[rows], annotator="ann")
    other = {"no": "yes", "yes": "no"}[y[rows[0]]]
    loop.tell([rows[0]], [other], annotator="bob")
    assert len(loop.model.labelled_) == 19
    assert [c.row for c in loop.log.conflicts] == [rows[0]]
    assert rows[0] not in loop.ask(80).indices
    loop.log.resolve(int(rows[0]), other, annotator="eve")
    again = loop.ask(2).indices
    loop.tell(again, y[again])
    assert len(loop.model.labelled_) == 22


def test_b74_all_answers_are_recorded_or_none():
    X, y, _, _ = task()
    loop = ActiveLoop(QueryByBagging(n_estimators=5, classes=["no", "yes"]), X, random_state=0)
    rows = loop.ask().indices
    answers = y[rows].tolist()
    with pytest.raises(InputError, match=r"Q-CLASS.*'perhaps'"):
        loop.tell(rows, [*answers[:-1], "perhaps"])
    assert len(loop.log) == 0
    loop.tell(rows, [*answers[:-1], "perhaps"], new_classes=True)
    assert "perhaps" in loop.model.classes_


def test_a_cold_start_asks_on_at_random():
    X = np.linspace(0, 1, 60).reshape(-1, 1)
    y = (X[:, 0] > 0.9).astype(int)
    loop = ActiveLoop(
        QueryByBagging(n_estimators=5), X, SimulatedAnnotator(y), n_initial=2, random_state=1
    )
    loop.run(1)
    assert set(loop.log.labels.values()) == {0}
    loop.run(30)
    reasons = [e.reason.split(":")[0] for e in loop.log]
    first = next(k for k, e in enumerate(loop.log.events) if e.label == 1)
    assert set(reasons[: first + 1]) == {"random"}
    assert not any(reason == "random" for reason in reasons[first + 1 :])


def test_the_loop_ends_with_the_pool():
    X, y, X_test, y_test = task()
    loop = ActiveLoop(
        QueryByBagging(n_estimators=3),
        X[:14],
        SimulatedAnnotator(y[:14]),
        X_test=X_test,
        y_test=y_test,
        k=3,
        random_state=0,
    )
    with pytest.warns(DataWarning, match=r"k=3 rows asked for, the pool has 1"):
        loop.run(50)
    assert len(loop.log.labels) == 14
    with pytest.raises(InputError, match=r"pool is empty: all 14 rows"):
        loop.ask()


def test_b75_rows_that_equal_labelled_ones_are_never_asked_about():
    X, y, _, _ = task()
    twice, labels = np.repeat(X[:20], 2, axis=0), np.repeat(y[:20], 2)
    loop = ActiveLoop(
        QueryByBagging(n_estimators=3), twice, SimulatedAnnotator(labels), n_initial=8, k=4
    ).run(50)
    asked = twice[[event.row for event in loop.log]]
    assert len(asked) == len(np.unique(asked, axis=0)) == 20
    with pytest.raises(InputError, match=r"pool is empty: all 20 rows of it were labelled before"):
        loop.ask()


def test_frames_with_categories_and_gaps_go_round():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a": np.where(rng.random(120) < 0.2, np.nan, rng.normal(size=120)),
            "b": pd.Categorical(rng.choice(["u", "v", "w"], 120)),
        }
    )
    y = ((frame["b"] == "v") | (frame["a"] > 1)).to_numpy().astype(int)
    loop = ActiveLoop(
        QueryByBagging(n_estimators=4),
        frame[:80],
        SimulatedAnnotator(y[:80]),
        X_test=frame[80:],
        y_test=y[80:],
        random_state=0,
    ).run(4)
    assert len(loop.model.labelled_.X) == 14
    assert list(loop.curve().to_frame().columns) == ["strategy", "n_labels", "error", "low", "high"]


def test_wrong_loops():
    X, y, _, _ = task()
    model = QueryByBagging()
    cases = [
        (lambda: ActiveLoop(GaussianNB(), X), "GaussianNB cannot ask"),
        (lambda: ActiveLoop(model, X, n_initial=0), "n_initial"),
        (lambda: ActiveLoop(model, X, k=1.5), "'k'"),
        (lambda: ActiveLoop(model, X, X_test=X), "together"),
        (lambda: ActiveLoop(model, X, X_test=X, y_test=y[:3]), "Y-LENGTH"),
        (lambda: ActiveLoop(model, X, ids=["a"] * 100), "1 different ids for 100 rows"),
        (lambda: ActiveLoop(model, X[:0]), "pool is empty"),
    ]
    for make, said in cases:
        with pytest.raises(ValueError, match=said):
            make()
    log = LabelLog()
    log.append(1000, "no")
    with pytest.raises(InputError, match=r"row 1000, which is not in the pool"):
        ActiveLoop(model, X, log=log)


def test_annotators_err_about_the_same_rows():
    y = np.arange(2000) % 3
    ask = SimulatedAnnotator(y, noise=0.3, random_state=0)
    said = np.array(ask(range(2000)))
    assert ask(range(2000)) == said.tolist()
    assert abs((said != y).mean() - 0.3) < 0.04  # four standard errors
    wrong = said[said != y]
    assert set(wrong) == {0, 1, 2}
    assert SimulatedAnnotator(y, noise=1.0, random_state=0)(range(9)) != y[:9].tolist()
    assert SimulatedAnnotator({"a": "x", "b": "y"})(["b"]) == ["y"]
    with pytest.raises(InputError, match=r"no label is known for 2000"):
        ask([2000])
    for noise in (-0.1, 1.5, "much", True):
        with pytest.raises(InputError, match="noise"):
            SimulatedAnnotator(y, noise=noise)


def test_wilson_by_hand():
    low, high = wilson_interval([0, 5, 10, 0], [10, 10, 10, 0])
    z2 = 1.959963984540054**2
    np.testing.assert_allclose(high[0], z2 / (10 + z2))
    np.testing.assert_allclose([low[1], high[1]], [0.236593, 0.763407], atol=1e-6)
    np.testing.assert_allclose([low[0], low[2]], [0, 10 / (10 + z2)], atol=1e-12)
    assert (low[3], high[3]) == (0, 1)


def test_curves_by_hand():
    errors = {"queries": [[0.4, 0.2, 0.2], [0.4, 0.0, 0.0]], "random": [[0.4, 0.4, 0.2]] * 2}
    curve = QueryCurve([10, 12, 20], errors, 50)
    np.testing.assert_allclose(curve.area("queries"), [(0.6 + 1.6) / 10, 0.4 / 10])
    np.testing.assert_allclose(curve.area("random"), [(0.8 + 2.4) / 10] * 2)
    gain = curve.gain("queries")
    less = np.array([0.32 - 0.22, 0.32 - 0.04])
    half = 12.706204736 * less.std(ddof=1) / np.sqrt(2)  # Student's quantile with one degree
    np.testing.assert_allclose(
        [gain.mean, gain.low, gain.high], [less.mean(), less.mean() - half, less.mean() + half]
    )
    assert (gain.wins, gain.n_repeats, gain.verdict) == (2, 2, "no difference")
    saved = "error saved, mean over labels: +0.1900"
    low, high = f"{gain.low:+.4f}", f"{gain.high:+.4f}"
    assert str(gain) == f"{saved} [{low}, {high}], lower in 2 of 2 runs: no difference"
    low, high = curve.interval("queries")  # 0.1 -+ 1.27 leaves [0, 1]
    np.testing.assert_allclose([low, high], [[0.4, 0, 0], [0.4, 1, 1]])
    assert gain.low < 0  # a difference is no share
    near = QueryCurve([10], {"queries": [[0.30], [0.31]]}, 50).interval("queries")
    np.testing.assert_allclose(near, [[0.305 - 0.0635310], [0.305 + 0.0635310]], atol=1e-7)
    single = QueryCurve([1, 2], {"queries": [[1, 0]], "random": [[1, 1]]}, 4).gain("queries")
    assert str(single) == "error saved, mean over labels: +0.5000 in one run"
    one = QueryCurve([5], {"queries": [0.5]}, 10)
    assert one.area("queries") == 0.5
    joined = joined_curves([QueryCurve([1, 2], {"queries": [[1, 0]], "random": [[1, 1]]}, 4)] * 3)
    assert joined.n_repeats == 3
    assert joined.gain("queries").verdict == "better"
    assert joined.gain("random", "queries").verdict == "worse"
    assert "3 run(s)" in str(joined)
    for bad in ({}, {"a": [[1, 2]]}, {"a": [[1, 2, 3]], "b": [[1, 2]]}):
        with pytest.raises(InputError, match="errors"):
            QueryCurve([1, 2, 3], bad, 4)


def test_stop_advice_by_hand():
    assert not advise_stop([], [])
    assert "no round before" in advise_stop([10], [100]).reason
    assert "no round before" in advise_stop([10, 10], [100, 140]).reason
    # 40 of 400: [0.0743, 0.1333] is 0.059 wide.
    flat = advise_stop([40, 45, 55], [400, 500, 600])
    assert flat
    assert str(flat).startswith("stop: the out-of-bag error has stayed in [0.0743, 0.1333]")
    left = advise_stop([40, 36, 55], [400, 500, 600])  # 0.072 on the way
    assert not left
    assert "0.0720 of 500 rows has left" in left.reason
    wide = advise_stop([10, 10], [40, 80])
    assert not wide
    assert "of 40 rows is wider than 0.1" in wide.reason
    assert advise_stop([10, 20], [40, 80], width=0.5)
    assert not advise_stop([40, 55], [400, 600], growth=2)
    for bad in ({"growth": 1}, {"width": 0}, {"confidence": 1}):
        with pytest.raises(InputError, match="P-VALUE"):
            advise_stop([1], [2], **bad)
    with pytest.raises(InputError, match="as many of both"):
        advise_stop([1], [2, 3])


def test_experiments_are_repeated_alike():
    X, y, _ = labelled(90)
    given = {"n_rounds": 3, "n_repeats": 2, "n_initial": 6, "random_state": 5}
    curve = simulate_queries(QueryByBagging(n_estimators=3), X, y, **given)
    again = simulate_queries(QueryByBagging(n_estimators=3), X, y, **given)
    for name in ("queries", "random"):
        np.testing.assert_array_equal(curve.errors[name], again.errors[name])
    assert curve.n_labels.tolist() == [6, 7, 8, 9]
    assert curve.n_test == 27
    np.testing.assert_array_equal(curve.errors["queries"][:, 0], curve.errors["random"][:, 0])
    for bad in ({"n_rounds": 0}, {"n_repeats": 1.5}, {"test_size": 1.0}, {"k": 0}):
        said = f"'{next(iter(bad))}' parameter of simulate_queries"
        with pytest.raises(ValueError, match=said):
            simulate_queries(QueryByBagging(), X, y, **bad)


def test_the_errors_of_annotators_follow_the_seed(monkeypatch):
    X, y, _ = labelled(90)
    seeds = []

    class Noted(SimulatedAnnotator):
        def __init__(self, y, *, noise, random_state):
            seeds.append(random_state)
            super().__init__(y, noise=noise, random_state=random_state)

    monkeypatch.setattr(experiment, "SimulatedAnnotator", Noted)
    given = {"n_rounds": 1, "n_repeats": 2, "n_initial": 6, "noise": 0.3}
    for seed in (5, 6, 5):
        simulate_queries(QueryByBagging(n_estimators=3), X, y, random_state=seed, **given)
    assert seeds[:2] == seeds[4:]
    assert len(set(seeds)) == 4
