"""Parameters that shape the trees of a booster: L1, drawn columns, symmetric growth."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from tests.estimators import model_bits
from tests.plain_boosters import make_plain

from committee import (
    DataWarning,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    InputError,
    _engine,
)
from committee.learners.gradient_boosting.growth import growth_params, symmetric_depth
from committee.losses import Logistic, Loss, Squared
from committee.losses.native import native_loss

N = 500
SYMMETRIC = {"growth": "symmetric", "max_leaf_nodes": None, "max_depth": 4}
SHAPES = {
    "symmetric": SYMMETRIC,
    "symmetric, all at once": {
        **SYMMETRIC,
        "l1_regularization": 0.5,
        "subsample": 0.7,
        "colsample_bytree": 0.8,
        "colsample_bylevel": 0.7,
        "max_features": 2,
        "interaction_cst": [[0, 1, 2], [3, 4, 5]],
    },
    "columns": {"colsample_bytree": 0.7, "colsample_bylevel": 0.5, "max_features": 0.5},
    "l1": {"l1_regularization": 3.0, "growth": "level", "max_depth": 4},
    "retired": {"retire_features": True, "l2_regularization": 20.0, "max_features": 0.7},
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 6))
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 5] = rng.integers(0, 7, N)
    y = np.nan_to_num(X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3]) + (X[:, 5] % 3 == 1)
    return X, y + 0.3 * rng.normal(size=N)


def regressor(**params):
    return GradientBoostingRegressor(**{"n_estimators": 8, "random_state": 0, **params})


def forest_of(model):
    return model.committee_.members.forests[0]


def features_of(forest, tree):
    begin, end = (int(k) for k in forest.tree_begin[tree : tree + 2])
    inner = forest.left[begin:end] != np.arange(end - begin)
    return set((forest.feature[begin:end][inner] & _engine.FEATURE_MASK).tolist())


# --- the same model in every way of making it ---


@pytest.mark.parametrize("shape", SHAPES)
def test_threads_rounds_warm_starts_and_pickles(shape, rows):
    X, y = rows
    params = {**SHAPES[shape], "categorical_features": [5]}
    model = regressor(n_jobs=1, **params).fit(X, y)
    expected = model_bits(model)
    assert model_bits(regressor(n_jobs=3, **params).fit(X, y)) == expected
    assert model_bits(pickle.loads(pickle.dumps(model))) == expected
    parts = regressor(warm_start=True, **params)
    for n in (3, 8):
        parts.set_params(n_estimators=n).fit(X, y)
    assert model_bits(parts) == expected


@pytest.mark.parametrize("shape", SHAPES)
def test_containers(shape, rows):
    X, y = rows
    expected = model_bits(regressor(**SHAPES[shape]).fit(X, y))
    for other in (pd.DataFrame(X), sparse.csr_array(X)):
        assert model_bits(regressor(**SHAPES[shape]).fit(other, y)) == expected


class InPython(Logistic):
    """The same loss, but not known to the engine: rounds are made one by one."""


@pytest.mark.parametrize("shape", SHAPES)
def test_one_round_at_a_time(shape, rows):
    X, y = rows
    y = (y > 0).astype(int)
    params = {"n_estimators": 5, "random_state": 1, **SHAPES[shape]}
    native = GradientBoostingClassifier(**params).fit(X, y)
    assert native_loss(InPython()) is None
    python = GradientBoostingClassifier(InPython(), **params).fit(X, y)
    np.testing.assert_allclose(python.predict_proba(X), native.predict_proba(X), rtol=1e-6)


# --- L1 ---


def test_l1_draws_leaves_to_zero(rows):
    X, y = rows
    model = regressor(l1_regularization=1e9).fit(X, y)
    assert not forest_of(model).values.any()
    sizes = [
        np.abs(forest_of(regressor(n_estimators=1, l1_regularization=a).fit(X, y)).values).sum()
        for a in (0.0, 10.0, 50.0)
    ]
    assert sizes[0] > sizes[1] > sizes[2]


@pytest.mark.parametrize("factor", [8.0, 2.0**90])
def test_l1_is_in_units_of_the_weights(factor, rows):
    X, y = rows
    weight = np.random.default_rng(1).integers(1, 4, N).astype(float)
    one = regressor(l1_regularization=2.0, l2_regularization=1.0, min_child_weight=3.0)
    many = regressor(
        l1_regularization=2.0 * factor,
        l2_regularization=factor,
        min_child_weight=3.0 * factor,
    )
    expected = one.fit(X, y, sample_weight=weight).predict(X)
    found = many.fit(X, y, sample_weight=weight * factor).predict(X)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("sign", [1, -1])
def test_l1_and_monotone_bounds(sign, rows):
    X, y = rows
    model = regressor(l1_regularization=4.0, monotonic_cst=[sign, 0, 0, 0, 0, 0]).fit(X, y)
    grid = np.repeat(np.nan_to_num(X[:20]), 40, axis=0)
    grid[:, 0] = np.tile(np.linspace(-3, 3, 40), 20)
    steps = np.diff(model.predict(grid).reshape(20, 40), axis=1)
    assert (sign * steps >= -1e-12).all()
    assert steps.any()


# --- drawn columns ---


def test_trees_draw_other_columns_each_round():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 9))
    y = X.sum(axis=1)
    for growth in ("leaf", "level", "symmetric"):
        model = regressor(n_estimators=20, colsample_bytree=0.4, growth=growth).fit(X, y)
        sets = [features_of(forest_of(model), t) for t in range(20)]
        assert all(len(found) <= 3 for found in sets)
        assert len({frozenset(found) for found in sets}) > 10
        assert set().union(*sets) == set(range(9))


@pytest.mark.parametrize(
    ("shares", "drawn"),
    [
        ({"max_features": None}, (0, 0, 0)),
        ({"colsample_bytree": 0.7, "colsample_bylevel": 0.5, "max_features": 0.5}, (4, 2, 1)),
        ({"colsample_bytree": 0.01, "colsample_bylevel": 0.01, "max_features": 0.01}, (1, 0, 0)),
        ({"colsample_bytree": 0.5, "max_features": 2}, (3, 0, 2)),
        ({"colsample_bytree": 0.5, "max_features": 6}, (3, 0, 0)),
        ({"colsample_bylevel": 0.9, "max_features": "sqrt"}, (0, 5, 3)),
    ],
)
def test_shares_of_columns_follow_each_other(shares, drawn, rows):
    """How many of six a tree, a level and a node draw; 0 is all that the one before has."""
    model = regressor(**shares)
    schema = model.fit(*rows).schema_
    found = growth_params(model, schema, 0, Squared(), None, 1.0)
    assert (found.tree_features, found.level_features, found.node_features) == drawn


# --- symmetric growth ---


@pytest.mark.parametrize(
    ("max_depth", "max_leaf_nodes", "expected"),
    [
        (None, None, 6),
        (3, None, 3),
        (None, 31, 4),
        (None, 32, 5),
        (3, 31, 3),
        (9, 31, 4),
        (1, 2, 1),
    ],
)
def test_levels(max_depth, max_leaf_nodes, expected, rows):
    X, y = rows
    assert symmetric_depth(max_depth, max_leaf_nodes) == expected
    params = {"max_depth": max_depth, "max_leaf_nodes": max_leaf_nodes, "min_samples_leaf": 1}
    forest = forest_of(regressor(n_estimators=1, growth="symmetric", **params).fit(X, y))
    assert forest.n_nodes == 2 ** (expected + 1) - 1


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"max_depth": 17, "max_leaf_nodes": None}, r"\[P-GROWTH\] max_depth"),
        ({"max_depth": None, "max_leaf_nodes": 2**17}, r"\[P-GROWTH\] max_leaf_nodes"),
        ({"monotonic_cst": [1, 0, 0, 0, 0, 0]}, r"\[P-MONOTONE\] monotonic_cst"),
    ],
)
def test_refused(params, code, rows):
    X, y = rows
    model = regressor(growth="symmetric", **params)
    before = dict(vars(model))
    with pytest.raises(InputError, match=code):
        model.fit(X, y)
    assert vars(model) == before
    model.set_params(growth="leaf").fit(X, y)


def test_categories_are_parted(rows):
    X, y = rows
    forest = forest_of(regressor(categorical_features=[5], **SYMMETRIC).fit(X, y))
    assert (forest.feature & _engine.CATEGORICAL).any()


def test_small_leaves_have_the_median_of_the_node_above():
    """A loss that renews leaves: rows of a = 1 all have b = 0, and one row alone is too few."""
    X = np.array([[0, 0]] * 6 + [[0, 1]] * 6 + [[1, 0]] * 5 + [[1, 1]], float)
    y = np.array([1.0] * 6 + [2.0] * 6 + [7, 7, 8, 9, 9] + [99.0])
    model = make_plain(
        GradientBoostingRegressor,
        "absolute_error",
        n_estimators=1,
        learning_rate=1.0,
        max_depth=2,
        growth="symmetric",
        min_samples_leaf=3,
    ).fit(X, y)
    forest = forest_of(model)
    assert (forest.feature[:3] & _engine.FEATURE_MASK).tolist() == [0, 1, 1]
    cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
    above = np.median(y[12:])
    np.testing.assert_allclose(model.predict(cells), [1, 2, 8, above])


def test_shapley_values_add_up_where_leaves_are_empty(rows):
    X, y = rows
    model = regressor(**{**SYMMETRIC, "max_depth": 6}).fit(X, y)
    assert (forest_of(model).count == 0).any()
    total = model.shap_values(X[:50]).sum(axis=1)
    answer = model.predict(X[:50])
    np.testing.assert_allclose(np.ptp(answer - total), 0, atol=1e-9)


def test_rows_count_and_not_their_hessians():
    """Rows of little weight, or that are already well fitted, are still so many rows."""
    x = np.zeros(1000)
    x[-30:] = 1
    y = (np.random.default_rng(0).random(1000) < 0.5).astype(int)
    y[-30:] = 1
    weight = np.where(x == 1, 0.1, 1.0)
    params = {"early_stopping": False, "min_samples_leaf": 20}
    ours = make_plain(GradientBoostingClassifier, n_estimators=20, **params)
    theirs = HistGradientBoostingClassifier(max_iter=20, **params)
    asked = [[0.0], [1.0]]
    for given in (weight, None):
        shares = [m.fit(x[:, None], y, given).predict_proba(asked)[:, 1] for m in (ours, theirs)]
        np.testing.assert_allclose(*shares, atol=1e-3)
    ours.set_params(min_samples_leaf=31).fit(x[:, None], y)
    assert forest_of(ours).n_nodes == 20


@pytest.mark.parametrize("n_rows", [60, 40_000])
def test_rows_that_are_alike_are_not_parted(n_rows):
    """Rounding alone gains nothing: a node of equal residuals stays whole, whatever the width."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_rows, 3))
    X[:, 0] = np.sign(X[:, 0])
    y = np.where(X[:, 0] > 0, 1 / 3, -2 / 7)
    model = make_plain(
        GradientBoostingRegressor,
        n_estimators=3,
        learning_rate=0.3,
        min_samples_leaf=1,
        early_stopping=False,
    ).fit(X, y)
    assert forest_of(model).n_nodes == 9
    classes = make_plain(
        GradientBoostingClassifier,
        n_estimators=3,
        min_samples_leaf=1,
        early_stopping=False,
        max_leaf_nodes=8,
    ).fit(X, (y > 0).astype(int))
    assert forest_of(classes).n_nodes == 9


# --- penalties and weights ---


def test_light_rows_are_told(rows):
    X, y = rows
    with pytest.warns(DataWarning, match=r"W-LIGHT.*mean is 0\.001; .* weight 3 in all"):
        regressor().fit(X, y, sample_weight=np.full(len(y), 0.001))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        regressor().fit(X, y, sample_weight=np.full(len(y), 0.5))
        regressor(l2_regularization=0).fit(X, y, sample_weight=np.full(len(y), 0.001))


# --- few rows ---


@pytest.mark.parametrize("container", [np.array, sparse.csr_array])
@pytest.mark.parametrize("monotonic_cst", [[1, 0], [0, 1], [0, 0]])
def test_two_rows_are_parted_by_the_first_feature(monotonic_cst, container):
    """Gains of constrained and of free features are equal but for rounding, which must not tell."""
    rng = np.random.default_rng(3)
    X, weight = container([[0.0, 0], [1, 1]]), rng.uniform(0.1, 1.1, size=(100, 2))
    for y, w in zip(np.sort(rng.normal(size=(100, 2)), axis=1), weight, strict=True):
        model = GradientBoostingRegressor(
            n_estimators=3, max_features=None, monotonic_cst=monotonic_cst, l2_regularization=1.0
        ).fit(X, y, sample_weight=w)
        assert model.importances("split").tolist() == [3, 0]


class Tube(Loss):
    """Squares of what is more than 1 away; rows within add neither gradient nor hessian."""

    def value(self, y, raw):
        return np.maximum(0, np.abs(y - raw) - 1) ** 2

    def gradient_hessian(self, y, raw):
        away = np.maximum(0, np.abs(raw - y) - 1)
        return 2 * np.sign(raw - y) * away, np.where(away > 0, 2.0, 0.0)


def test_rows_that_add_nothing_move_no_threshold():
    """A cut lies in the middle between bins whose rows add something, however few they are."""
    X, y = np.arange(4.0)[:, None], np.array([4.0, 0, 1, -3])
    model = GradientBoostingRegressor(
        Tube(), n_estimators=1, learning_rate=1, max_features=None, l2_regularization=0
    ).fit(X, y)
    assert model.predict([[0.25], [0.75], [1.25], [1.75]]).tolist() == [3, 3, 3, -2]


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_add_nothing_are_no_rows_of_a_tree(seed):
    """Not to be counted among the fewest of a leaf, whether bins list them or do not."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.0, size=(80, 4)).astype(float)
    y = 2 * X[:, 0] + 2 * rng.normal(size=80)
    model = GradientBoostingRegressor(
        Tube(), n_estimators=1, learning_rate=1, max_features=None, min_samples_leaf=20
    )
    shown = model.fit(X, y).predict(X)
    np.testing.assert_array_equal(model.fit(sparse.csr_array(X), y).predict(X), shown)
    adds = np.abs(y - model.loss_.start(y, np.ones(80))) > 1
    assert 40 < adds.sum() < 80
    sides = np.unique(shown[adds], return_counts=True)[1]
    assert len(sides) == 2
    assert sides.min() >= 20


class Cancelling(Loss):
    """Every third row has a hessian of 0 and a gradient of 1 or -1: bins may sum to nothing."""

    def start(self, y, weight):
        return np.zeros(1)

    def value(self, y, raw):
        return (y - raw) ** 2

    def gradient_hessian(self, y, raw):
        row = np.arange(len(y))
        sign = np.where(row % 2, 1.0, -1.0)
        return np.where(row % 3, raw - y, sign), np.where(row % 3, 1.0, 0.0)


@pytest.mark.parametrize("shape", [{}, {"growth": "level", "max_leaf_nodes": None, "max_depth": 5}])
@pytest.mark.parametrize("least", [2, 5])
def test_bins_whose_rows_cancel(shape, least):
    """They name no cut; taking them for one, sparse trees without a bound grew without end."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 8, (400, 3)).astype(float), rng.normal(size=400)
    model = GradientBoostingRegressor(
        Cancelling(), n_estimators=20, learning_rate=1.0, min_samples_leaf=least, **shape
    ).set_params(l2_regularization=0.0, max_features=None)
    shown = model.fit(X, y).predict(X)
    np.testing.assert_array_equal(model.fit(sparse.csr_array(X), y).predict(X), shown)
    model.set_params(max_leaf_nodes=None, max_depth=None, n_estimators=2)
    model.fit(sparse.csr_array(X), y)
