"""Leaves that are renewed: in the engine and by the Python definition, with the same bits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from committee import GradientBoostingRegressor
from committee.losses import Absolute, Huber, Quantile, Quantiles
from committee.losses.averages import huber_centre, weighted_quantile


# A subclass may mean something else, so the engine leaves it to Python: these are the oracles.
class PythonAbsolute(Absolute):
    pass


class PythonQuantile(Quantile):
    pass


class PythonQuantiles(Quantiles):
    pass


class PythonHuber(Huber):
    pass


PAIRS = [
    (Absolute(), PythonAbsolute()),
    (Quantile(0.05), PythonQuantile(0.05)),
    (Quantile(0.7), PythonQuantile(0.7)),
    (Quantiles((0.1, 0.25, 0.9)), PythonQuantiles((0.1, 0.25, 0.9))),
    (Huber(0.3), PythonHuber(0.3)),
    (Huber(50.0), PythonHuber(50.0)),
]


def draw(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 4))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0] * X[:, 1] + X[:, 2]) + rng.standard_t(2, size=n)
    y[: n // 3] = y[: n // 3].round(1)  # ties
    return X, y, rng.choice([0.0, 0.5, 1.0, 1.0, 3.7], size=n)


def trees(loss, weighted=False, n=700, **params):
    X, y, weight = draw(n)
    params = {"n_estimators": 6, "random_state": 0, "early_stopping": False, **params}
    model = GradientBoostingRegressor(loss, **params).fit(X, y, weight if weighted else None)
    return [forest.pack() for forest in model.committee_.members.forests]


@pytest.mark.parametrize(("native", "python"), PAIRS, ids=lambda loss: repr(loss))
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("subsample", [1.0, 0.6])
def test_the_engine_renews_as_python_does(native, python, weighted, subsample):
    params = {"weighted": weighted, "subsample": subsample, "max_leaf_nodes": 9}
    assert trees(native, **params) == trees(python, **params)


@pytest.mark.parametrize(("native", "python"), PAIRS[::3], ids=lambda loss: repr(loss))
def test_large_leaves(native, python):
    params = {"n": 5000, "max_leaf_nodes": 2, "n_estimators": 3}
    assert trees(native, **params) == trees(python, **params)


@pytest.mark.parametrize(("native", "python"), [PAIRS[k] for k in (0, 2, 4)], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("growth", ["leaf", "level"])
def test_the_engine_keeps_leaves_in_order_as_python_does(native, python, weighted, growth):
    params = {"weighted": weighted, "growth": growth, "subsample": 0.8, "max_leaf_nodes": 12}
    params["monotonic_cst"] = [1, -1, 0, 1]
    assert trees(native, **params) == trees(python, **params)
    assert trees(native, n_jobs=2, **params) == trees(native, n_jobs=1, **params)


@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"growth": "level", "max_depth": 4},
        {"drop_rate": 0.3},
        {"n_parallel_trees": 2, "subsample": 0.6},
    ],
    ids=str,
)
@pytest.mark.parametrize("loss", [*PAIRS[0], Quantile(0.8), Huber(0.3)], ids=repr)
def test_renewed_leaves_keep_to_monotonic_constraints(loss, kind):
    X, y, weight = draw(500)
    y += 2 * np.nan_to_num(X[:, 0] - X[:, 3])
    params = {"n_estimators": 20, "learning_rate": 0.3, "random_state": 0, **kind}
    model = GradientBoostingRegressor(loss, monotonic_cst=[1, 0, 0, -1], **params)
    model.fit(X, y, weight)
    for feature, sign in ((0, 1), (3, -1)):
        shown = []
        for x in np.linspace(-3, 3, 41):
            moved = X[:100].copy()
            moved[:, feature] = x
            shown.append(sign * model.predict(moved))
        assert np.diff(shown, axis=0).min() > -1e-12
        assert np.ptp(shown, axis=0).min() > 1


@pytest.mark.sanitize
@pytest.mark.parametrize("native", [native for native, _ in PAIRS[2:5]], ids=repr)
def test_threads_and_calls_of_few_rounds(native):
    """Rows enough that the grouping by leaves is shared, too; a limit of time parts the calls."""
    params = {"n": 40_000, "n_estimators": 2, "weighted": True, "subsample": 0.9}
    whole = trees(native, n_jobs=1, **params)
    assert trees(native, n_jobs=2, **params) == whole
    assert trees(native, n_jobs=1, max_time=1e6, **params) == whole


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(-4, 4), min_size=1, max_size=12),
    st.sampled_from([0.1, 0.25, 0.5, 2 / 3]),
    st.booleans(),
)
def test_one_leaf_by_definition(values, level, weighted):
    """A tree that cannot split has one leaf: the constant of all residuals, here exact ties."""
    y = np.array(values, dtype=float)
    weight = np.arange(1.0, len(y) + 1) if weighted else None
    ones = np.ones(len(y)) if weight is None else weight
    params = {"n_estimators": 1, "learning_rate": 1.0, "early_stopping": False}
    X = np.zeros((len(y), 1))
    losses = {
        Quantile(level): lambda r: weighted_quantile(r, ones, level),
        Huber(level): lambda r: huber_centre(r, ones, level),
    }
    for loss, constant in losses.items():
        model = GradientBoostingRegressor(loss, **params).fit(X, y, weight)
        residual = y - model.committee_.intercept
        assert model.committee_.members.forests[0].values[0, 0] == constant(residual)
