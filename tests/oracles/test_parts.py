"""Trees in parts, node by node: weights, gains, values and predictions by hand."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from committee import DecisionTreeClassifier
from tests.oracles import parts

pytestmark = [
    pytest.mark.filterwarnings("ignore::committee.DataWarning"),
    pytest.mark.sanitize,
]
few = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def problems(draw, n_classes, max_levels=4):
    """A few rows with ties, many missing values, categories and weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(4, 30))
    categorical = draw(st.sampled_from([(), (0,), (0, 1)]))
    X = rng.integers(0, draw(st.integers(2, 12)), (n, 3)).astype(float)
    for j in categorical:
        X[:, j] = rng.integers(0, draw(st.integers(2, max_levels)), n)
    new = X.copy()
    for rows in (X, new):
        rows[rng.random(X.shape) < draw(st.sampled_from([0.1, 0.4]))] = np.nan
    for j in categorical:  # levels are named by their codes; one that X lacks is missing
        levels = np.unique(X[:, j][~np.isnan(X[:, j])])
        for rows in (X, new):
            known = np.isin(rows[:, j], levels)
            rows[:, j] = np.where(known, np.searchsorted(levels, rows[:, j]), np.nan)
    y = rng.integers(0, n_classes, n)
    w = rng.integers(1, 4, n).astype(float) if draw(st.booleans()) else np.ones(n)
    return X, y, w, categorical, new


def grown(problem, **params):
    X, y, w, categorical, _ = problem
    model = DecisionTreeClassifier(
        missing="parts", categorical_features=list(categorical) or None, **params
    )
    return model.fit(X, y, sample_weight=w)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "exponential"])
@pytest.mark.parametrize("least", [1, 2])
@few
@given(problem=problems(n_classes=2, max_levels=2))
def test_every_split_is_the_best_of_its_node(criterion, least, problem):
    """Two levels: of more, the best set may lie outside the order by share where limits bind."""
    X, y, w, categorical, _ = problem
    tree = grown(problem, criterion=criterion, min_samples_leaf=least).tree_
    share = parts.ways(tree, X, w)
    np.testing.assert_allclose(tree.weighted_n_node_samples, w @ share, rtol=1e-7)
    for node in range(tree.node_count):
        there = parts.best_gain(
            criterion, X, y, share[:, node], w, categorical=categorical, least=least
        )
        if tree.is_leaf[node]:
            mixed = tree.impurity[node] > 1e-9
            assert not (mixed and there is not None and share[:, node].sum() >= 2 * least + 1e-3)
        else:
            np.testing.assert_allclose(tree.gain[node], there, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("criterion", ["gini", "gain_ratio"])
@pytest.mark.parametrize("how", ["subset", "multiway"])
@few
@given(problem=problems(n_classes=3))
def test_values_and_predictions(criterion, how, problem):
    X, y, w, _, new = problem
    model = grown(problem, criterion=criterion, categorical_splits=how)
    tree, classes = model.tree_, model.classes_
    share = parts.ways(tree, X, w)
    weight = np.stack([(w * (y == k)) @ share for k in classes], axis=1)
    value = weight / weight.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(tree.value[:, 0], value, rtol=1e-6, atol=1e-8)
    asked = parts.ways(tree, X, w, new)[:, tree.is_leaf]
    np.testing.assert_allclose(asked.sum(axis=1), 1)
    np.testing.assert_allclose(
        model.predict_proba(new), asked @ value[tree.is_leaf], rtol=1e-6, atol=1e-8
    )


@few
@given(problem=problems(n_classes=2))
def test_multiway_gain_of_the_first_split(problem):
    """A chain of two-way splits earns what the branches earn together."""
    X, y, w, categorical, _ = problem
    params = {"criterion": "entropy", "categorical_splits": "multiway", "max_depth": 1}
    tree = grown(problem, **params).tree_
    expected = parts.best_gain(
        "entropy", X, y, np.ones(len(y)), w, categorical=categorical, multiway=True
    )
    if tree.node_count > 1:
        np.testing.assert_allclose(tree.gain.sum(), expected, rtol=1e-5, atol=1e-6)
