"""Stopping by the rows that a round did not see, held against a slow way to the same numbers."""

import numpy as np
import pytest
from tests.estimators import model_bits

from committee import (
    GradientBoostingClassifier,
    GradientBoostingRanker,
    GradientBoostingRegressor,
    InputError,
    _engine,
)
from committee.data import read_fit
from committee.data.rows import Rows

N = 300


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=N)


def target_of(kind, y):
    return y if kind == "numbers" else np.digitize(y, [0] if kind == "two classes" else [-1, 1])


def model_for(kind, **params):
    cls = GradientBoostingRegressor if kind == "numbers" else GradientBoostingClassifier
    defaults = {"n_estimators": 60, "learning_rate": 0.3, "subsample": 0.5, "random_state": 7}
    return cls(**defaults | {"early_stopping": "oob", "min_samples_leaf": 5} | params)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["numbers", "two classes", "three classes"])
def test_changes_on_unseen_rows_by_a_loop(kind, weighted, rows):
    X, y = rows
    y = target_of(kind, y)
    weight = np.random.default_rng(1).uniform(0.5, 2, size=N) if weighted else None
    model = model_for(kind).fit(X, y, sample_weight=weight)
    table, _ = read_fit(X)
    matrix = Rows.of(table, weight, max_bins=255, n_threads=1).matrix
    keys = _engine.row_keys(matrix, y[:, None].astype(float), 1)
    raws = [np.tile(model.committee_.intercept, (N, 1)), *model.committee_.staged(X)]
    raws = [raw[:, 0] if raw.shape[1] == 1 else raw for raw in raws]
    losses = [model.loss_.value(y.astype(float), raw) for raw in raws]
    changes, scores = [], []
    for number in range(model.n_estimators_):
        seen = set(_engine.rows_of_round(model.seed_, number, keys, 0.5).tolist())
        unseen = [row for row in range(N) if row not in seen]
        assert 100 < len(unseen) < 200
        w = np.ones(len(unseen)) if weight is None else weight[unseen]
        before, after = losses[number][unseen], losses[number + 1][unseen]
        changes.append((w * before).sum() / w.sum() - (w * after).sum() / w.sum())
        scores.append((w * after).sum() / w.sum())
    heard = model.oob_improvement_
    np.testing.assert_allclose(heard[: len(changes)], changes, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(model.oob_scores_[: len(changes)], scores, rtol=1e-9)
    sums = np.cumsum(heard)
    assert model.n_estimators_ == sums.argmax() + 1 < 60
    assert len(heard) == model.n_estimators_ + 10
    assert not hasattr(model, "held_out_loss_")


@pytest.mark.parametrize("kind", ["numbers", "three classes"])
def test_the_rounds_are_those_without_stopping(kind, rows):
    X, y = rows
    y = target_of(kind, y)
    model = model_for(kind).fit(X, y)
    plain = model_for(kind, early_stopping=False, n_estimators=model.n_estimators_).fit(X, y)
    assert model_bits(model) == model_bits(plain)
    other = model_for(kind, n_jobs=2).fit(X, y)
    assert model_bits(model) == model_bits(other)
    np.testing.assert_array_equal(other.oob_improvement_, model.oob_improvement_)


def test_better_than_all_rounds(rows):
    X, y = rows
    fresh = np.random.default_rng(5).normal(size=(3000, 4))
    truth = fresh[:, 0] + np.sin(3 * fresh[:, 1])
    stopped = model_for("numbers").fit(X, y)
    long = model_for("numbers", early_stopping=False).fit(X, y)
    errors = [np.mean((m.predict(fresh) - truth) ** 2) for m in (stopped, long)]
    assert errors[0] < 0.7 * errors[1]


def test_a_round_may_see_all_rows(rows):
    X, y = rows
    model = model_for("numbers", subsample=1 - 1e-12, n_estimators=5).fit(X, y)
    np.testing.assert_array_equal(model.oob_improvement_, np.zeros(5))
    assert np.isnan(model.oob_scores_).all()
    assert model.n_estimators_ == 1  # nothing says that more are better


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"subsample": 1.0}, "subsample: .*sees all rows"),
        ({"sampling_method": "gradient_based"}, "sampling_method: "),
        ({"n_parallel_trees": 2}, "n_parallel_trees: "),
        ({"drop_rate": 0.1}, "drop_rate: .*DART"),
        ({"loss": "cox"}, "loss: .*Cox depends on the rows beside it"),
    ],
)
def test_where_no_row_can_judge(params, says, rows):
    X, y = rows
    model = model_for("numbers", **params)
    with pytest.raises(InputError, match=rf"P-SPLIT\] {says}"):
        model.fit(X, y)
    assert not hasattr(model, "committee_")


def test_two_ways_to_stop_are_refused(rows):
    X, y = rows
    with pytest.raises(InputError, match=r"P-SPLIT\] X_val: "):
        model_for("numbers").fit(X, y, X_val=X, y_val=y)
    ranker = GradientBoostingRanker(subsample=0.5, early_stopping="oob")
    with pytest.raises(InputError, match=r"P-SPLIT\] loss: "):
        ranker.fit(X, np.digitize(y, [0]))
