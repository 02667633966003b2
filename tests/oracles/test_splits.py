"""The first split of a tree is the best one there is, found by trying them all."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from committee import DecisionStump, DecisionTreeClassifier, DecisionTreeRegressor
from tests.oracles import impurity, splits
from tests.oracles.stumps import smallest_error

pytestmark = [pytest.mark.filterwarnings("ignore::committee.DataWarning")]
few = settings(max_examples=150, suppress_health_check=list(HealthCheck))


@st.composite
def nodes(draw, n_classes, max_levels=5):
    """A few rows with ties, missing values, categories and weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 24))
    categorical = draw(st.sampled_from([(), (0,), (0, 1)]))
    X = rng.integers(0, draw(st.integers(2, 12)), (n, 2)).astype(float)
    for j in categorical:
        X[:, j] = rng.integers(0, draw(st.integers(2, max_levels)), n)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.25]))] = np.nan
    y = rng.integers(0, n_classes, n) if n_classes else np.round(rng.gamma(1, 2, n), 2)
    w = rng.integers(1, 4, n).astype(float) if draw(st.booleans()) else np.ones(n)
    return X, y, w, categorical


def first_split(model, X, y, w, categorical):
    """Fit one split; return its gain and the rows that go left, or None."""
    model.set_params(max_depth=1, categorical_features=list(categorical) or None)
    model.fit(X, y, sample_weight=w)
    if model.tree_.node_count == 1:
        return None
    return model.tree_.gain[0], model.apply(X) == 1


def check_first_split(model, node, expected):
    X, y, w, categorical = node
    found = first_split(model, X, y, w, categorical)
    if found is None:
        assert expected is None or expected <= 1e-9
        return
    gained, left = found
    assert expected is not None
    np.testing.assert_allclose(gained, expected, rtol=1e-6, atol=1e-7)
    # The rows themselves, not only the number: the partition earns what the tree says.
    earned = impurity.gain(model.criterion, y, w, left)
    np.testing.assert_allclose(earned, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.sanitize
@pytest.mark.parametrize("criterion", ["gini", "entropy", "error", "exponential"])
@few
@given(node=nodes(n_classes=2))
def test_two_classes(criterion, node):
    """Also with categories: the order by share holds the best of all subsets."""
    X, y, w, categorical = node
    expected = splits.best_gain(criterion, X, y, w, categorical)
    check_first_split(DecisionTreeClassifier(criterion=criterion), node, expected)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error", "exponential"])
@few
@given(node=nodes(n_classes=4))
def test_more_classes(criterion, node):
    """Categories follow the documented rule: one order of the levels for each class."""
    X, y, w, categorical = node
    assume(len(np.unique(y)) > 2)
    expected = splits.best_gain(criterion, X, y, w, categorical, exhaustive=False)
    check_first_split(DecisionTreeClassifier(criterion=criterion), node, expected)


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
@few
@given(node=nodes(n_classes=0))
def test_regression(criterion, node):
    X, y, w, categorical = node
    assume(y.sum() > 0)
    expected = splits.best_gain(criterion, X, y, w, categorical)
    check_first_split(DecisionTreeRegressor(criterion=criterion), node, expected)


@few
@given(node=nodes(n_classes=0))
def test_absolute_error(node):
    X, y, w, _ = node
    expected = splits.best_gain("absolute_error", X, y, w)
    model = DecisionTreeRegressor(criterion="absolute_error")
    check_first_split(model, (X, y, w, ()), expected)


@few
@given(node=nodes(n_classes=2), min_rows=st.integers(2, 6))
def test_min_samples_leaf(node, min_rows):
    X, y, w, _ = node
    numeric = (X, y, w, ())
    expected = splits.best_gain("gini", X, y, w, min_rows=min_rows)
    check_first_split(DecisionTreeClassifier(min_samples_leaf=min_rows), numeric, expected)


@few
@given(node=nodes(n_classes=2))
def test_normalized_gain(node):
    X, y, w, _ = node
    model = DecisionTreeClassifier(criterion="normalized_gain")
    found = first_split(model, X, y, w, ())
    expected = splits.best_normalized_gain(X, y, w)
    if found is None:
        assert expected is None or len(np.unique(y)) == 1 or expected <= 1e-9
        return
    quality = impurity.normalized_gain(y, w, found[1])
    np.testing.assert_allclose(quality, expected, rtol=1e-9, atol=1e-9)


@few
@given(node=nodes(n_classes=2))
def test_gain_ratio(node):
    X, y, w, categorical = node
    found = first_split(DecisionTreeClassifier(criterion="gain_ratio"), X, y, w, categorical)
    low, high = splits.best_gain_ratio(X, y, w, categorical)
    if found is None:
        assert low is None or len(np.unique(y)) == 1 or low <= 1e-9
        return
    ratio = impurity.gain_ratio(y, w, found[1])
    assert low - 1e-9 <= ratio <= high + 1e-9


@pytest.mark.sanitize
@few
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 60), p=st.integers(1, 4))
def test_r56_stump_is_the_exact_minimum(seed, n, p):
    """R56: one feature, one threshold, both polarities, plus constants."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, p)), 1)
    y = np.where(rng.random(n) < 0.5, 0, 1)
    y[:2] = [0, 1]
    w = rng.dirichlet(np.ones(n))
    stump = DecisionStump().fit(X, y, sample_weight=w)
    expected = smallest_error(X, y, w)
    assert stump.error_ == pytest.approx(expected, rel=1e-7, abs=1e-9)
    made = w[stump.predict(X) != y].sum() / w.sum()
    assert made == pytest.approx(expected, rel=1e-7, abs=1e-9)
