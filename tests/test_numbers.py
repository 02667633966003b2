"""Numerical extremes, by their ids in the acceptance matrix: outputs stay finite and right."""

import time

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier, is_regressor

from committee import DataWarning, DecisionTreeClassifier, DecisionTreeRegressor
from tests.estimators import (
    ESTIMATORS,
    EXACT,
    SEE_ALL_ROWS,
    TREES,
    fitted,
    model_bits,
    name_of,
    only_leaves,
    outputs_of,
)

every = pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
exact = pytest.mark.parametrize("estimator", EXACT, ids=name_of)
trees = pytest.mark.parametrize("estimator", TREES, ids=name_of)
see_all_rows = pytest.mark.parametrize("estimator", SEE_ALL_ROWS, ids=name_of)
LARGEST, SMALLEST = 1.7976931348623157e308, 5e-324


def check_outputs(model, X):
    outputs = outputs_of(model, X)
    assert np.isfinite(outputs).all()
    if is_classifier(model):
        assert ((outputs >= 0) & (outputs <= 1)).all()
        np.testing.assert_allclose(outputs.sum(axis=1), 1, atol=1e-9)


@trees
@pytest.mark.sanitize
def test_n01_largest_and_smallest_numbers(estimator):
    x = np.array([-LARGEST, -1e308, -SMALLEST, 0.0, SMALLEST, 1e308, LARGEST])
    for cut in range(1, len(x)):
        y = (np.arange(len(x)) >= cut).astype(float if is_regressor(estimator) else int)
        X = np.column_stack([x, np.zeros(len(x))])
        model = fitted(estimator, X, y)
        inner = ~model.tree_.is_leaf
        assert np.isfinite(model.tree_.threshold[inner]).all()
        np.testing.assert_array_equal(model.predict(X), y)
        assert x[cut - 1] <= model.tree_.threshold[0] < x[cut]
        check_outputs(model, X)


@every
def test_n02_denormals(estimator):
    """The same tree as at ordinary size: nothing is flushed to zero."""
    rng = np.random.default_rng(0)
    large = rng.integers(-(2**20), 2**20, (200, 2)).astype(float)
    tiny = large * SMALLEST
    assert (tiny != 0).all()
    y = (large[:, 0] > large[:, 1]).astype(float if is_regressor(estimator) else int)
    model, ordinary = fitted(estimator, tiny, y), fitted(estimator, large, y)
    np.testing.assert_array_equal(model.apply(tiny), ordinary.apply(large))
    assert model_bits(model, ("threshold",)) == model_bits(ordinary, ("threshold",))


@trees
@pytest.mark.parametrize("monotone", [np.arctan, np.cbrt, lambda x: np.exp(x * 200)])
def test_n03_increasing_maps(estimator, monotone):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] > X[:, 1]).astype(float if is_regressor(estimator) else int)
    model, mapped = fitted(estimator, X, y), fitted(estimator, monotone(X), y)
    np.testing.assert_array_equal(mapped.apply(monotone(X)), model.apply(X))


@exact
def test_n04_weights(estimator):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(90, 3))
    y = np.where(X[:, 0] > X[:, 1], 1, 0) + (0.5 * X[:, 2] if is_regressor(estimator) else 0)
    weight = rng.integers(0, 3, 90).astype(float)
    times = weight.astype(int)
    weighted = fitted(estimator, X, y, weight)
    copied = fitted(estimator, np.repeat(X, times, axis=0), np.repeat(y, times))
    assert model_bits(weighted, ("count",)) == model_bits(copied, ("count",))


@exact
@pytest.mark.filterwarnings("ignore:.X-COARSE")
def test_n04_weights_where_cuts_are_sampled(estimator):
    n = 270_000  # more than the 262,144 rows that are looked at one by one
    rng = np.random.default_rng(12)
    X = rng.normal(size=(n, 3)).astype(np.float32)
    X[:, 1] = np.where(X[:, 1] < 0, 0, np.exp(3 * X[:, 1]))
    X[rng.random(n) < 0.1, 2] = np.nan
    y = np.where(X[:, 0] > X[:, 1], 1, 0) + (0.5 * X[:, 0] if is_regressor(estimator) else 0)
    weight = rng.integers(0, 3, n).astype(float)
    if "max_depth" in estimator.get_params():
        estimator = clone(estimator).set_params(max_depth=5)
    weighted = fitted(estimator, X, y, weight)
    copies = rng.permutation(np.repeat(np.arange(n), weight.astype(int)))
    copied = fitted(estimator, X[copies], y[copies])
    assert model_bits(weighted, ("count",)) == model_bits(copied, ("count",))
    there = weight > 0
    assert model_bits(fitted(estimator, X[there], y[there], weight[there])) == model_bits(weighted)
    shuffled = rng.permutation(n)
    again = fitted(estimator, csr_array(X[shuffled]), y[shuffled], weight[shuffled])
    assert model_bits(again) == model_bits(weighted)


@every
@pytest.mark.filterwarnings("ignore::committee.DataWarning")
@pytest.mark.parametrize("constant", ["X", "y", "both"])
def test_n05_constants(estimator, constant):
    rng = np.random.default_rng(3)
    X = np.full((30, 2), 0.1) if constant != "y" else rng.normal(size=(30, 2))
    y = np.full(30, 0.3) if constant != "X" else np.tile([0.0, 1.0], 15)
    y = y.astype(int) if is_classifier(estimator) else y
    model = fitted(estimator, X, y)
    assert only_leaves(model)
    assert (model.feature_importances_ == 0).all()
    expected = y.mean() if is_regressor(estimator) else 0
    if constant != "X" or not getattr(estimator, "bootstrap", False):
        np.testing.assert_allclose(model.predict(X), expected, rtol=1e-15)
    if constant != "X":
        np.testing.assert_array_equal(model.predict(X), y)  # to the last bit
    check_outputs(model, X)


@see_all_rows
def test_n06_equal_rows_unlike_labels(estimator):
    X = np.array([[1.0, 2.0], [1.0, 2.0]])
    model = fitted(estimator, X, np.array([0, 1]))
    outputs = outputs_of(model, X)
    np.testing.assert_array_equal(outputs, np.full(outputs.shape, 0.5))


def test_n07_ten_thousand_classes():
    rng = np.random.default_rng(4)
    y = np.repeat(np.arange(10_000), 2)
    X = np.column_stack([y + rng.uniform(-0.4, 0.4, len(y)), rng.normal(size=len(y))])
    model = DecisionTreeClassifier(max_depth=8).fit(X, y)
    assert model.n_classes_ == 10_000
    probabilities = model.predict_proba(X[:50])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-9)
    assert model.get_depth() == 8
    leaf = probabilities[np.arange(50), y[:50]]
    assert (leaf > 0).all()


def fit_seconds(p):
    """Return the processor's time: what else the machine does must not count."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(500, p)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    start = time.thread_time()
    DecisionTreeClassifier(max_depth=4, n_jobs=1).fit(X, y)
    return time.thread_time() - start


@pytest.mark.clock
def test_n08_time_is_linear_in_features():
    few, many = zip(*((fit_seconds(10_000), fit_seconds(100_000)) for _ in range(5)), strict=True)
    assert min(many) / min(few) <= 12


@every
def test_n13_all_rows_alike(estimator):
    X = np.tile([[1.0, -2.0, np.nan]], (50, 1))
    y = np.tile([0, 1], 25)
    with pytest.warns(DataWarning, match="X-ALL-MISSING"):
        model = fitted(estimator, X, y)
    assert only_leaves(model)
    check_outputs(model, X)


@every
def test_n13_mostly_missing(estimator):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] > 0).astype(float if is_regressor(estimator) else int)
    X[rng.random(X.shape) < 0.9] = np.nan
    model = fitted(estimator, X, y)
    seen = ~np.isnan(X[:, 0])
    assert (model.predict(X)[seen].round() == y[seen]).mean() > 0.7
    check_outputs(model, X)


@exact
def test_n13_missing_or_not_is_the_signal(estimator):
    X = np.ones((40, 1))
    X[::4] = np.nan
    y = np.isnan(X[:, 0]).astype(float if is_regressor(estimator) else int)
    model = fitted(estimator, X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    np.testing.assert_array_equal(model.predict([[LARGEST], [-LARGEST], [np.nan]]), [0, 0, 1])


@see_all_rows
@pytest.mark.parametrize("n", [1000, 1_000_000])
def test_n13_one_outlier(estimator, n):
    """The cut sample cannot see one row among a million, the exact pass over few values does."""
    X = np.zeros((n + 1, 1))
    X[n // 3] = 1e9
    y = (X[:, 0] > 0).astype(float if is_regressor(estimator) else int)
    model = fitted(estimator, X, y)
    np.testing.assert_array_equal(model.predict([[0.0], [1e9]]), [0, 1])


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_targets_of_any_size(criterion):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(100, 2))
    base = rng.gamma(2.0, size=100)
    for scale in (1e-290, 1e-30, 1.0, 1e30, 1e148):
        model = DecisionTreeRegressor(criterion=criterion).fit(X, base * scale)
        np.testing.assert_allclose(model.predict(X), base * scale, rtol=1e-12)


def test_heavy_tailed_targets():
    """One huge target must not wash out the rest: leaves keep 60 bits of the range."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(300, 2))
    y = rng.normal(size=300)
    y[17] = 1e12
    model = DecisionTreeRegressor().fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-12, atol=1e12 * 2.0**-60)


def test_offset_targets():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(300, 2))
    y = 1e9 + rng.normal(size=300)
    model = DecisionTreeRegressor().fit(X, y)
    np.testing.assert_allclose(model.predict(X) - 1e9, y - 1e9, atol=1e-6)
