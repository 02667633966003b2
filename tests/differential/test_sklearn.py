"""Trees against scikit-learn's, on data whose best splits are unique.

With max_bins=65535 every value has a bin of its own, so the split search is exact. Caveats: cells
are float32 numbers, because scikit-learn rounds X to float32; among equal splits the two libraries
may choose differently, so either ties are checked one by one (`compare`), or the data has none:
large leaves and, for classes, weights that no two subsets share; nodes are numbered differently
(level order here), so trees are compared as partitions and by sorted facts.
"""

import numpy as np
import pytest
from sklearn import tree as reference
from tests.differential.compare import compare

from committee import DecisionTreeClassifier, DecisionTreeRegressor

EXACT = {"max_bins": 65535, "random_state": 0}


def class_rows(seed=0, n=400, p=4, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).astype(np.float32)
    score = 2 * X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)
    return X, np.digitize(score, np.linspace(-1.5, 1.5, n_classes - 1))


def number_rows(seed=0, n=400, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).astype(np.float32)
    return X, X[:, 0] + np.abs(X[:, 1] * X[:, 2]) + 0.1 * rng.normal(size=n)


def odd_weights(n, seed=1):
    """Weights of which hardly two subsets have the same sum, yet every sum is exact."""
    return np.random.default_rng(seed).integers(1000, 4000, n).astype(float)


def same_partition(a, b):
    """Whether two labellings group the rows alike."""
    pairs = len(set(zip(a.tolist(), b.tolist(), strict=True)))
    return pairs == len(np.unique(a)) == len(np.unique(b))


def nodes_of(tree):
    """Facts of each node, in an order that does not depend on numbering."""
    facts = np.column_stack(
        [
            tree.n_node_samples,
            tree.weighted_n_node_samples,
            tree.impurity,
            tree.value.reshape(tree.node_count, -1),
            tree.feature,
        ]
    )
    return facts[np.lexsort(np.round(facts, 7).T[::-1])]


def assert_same_tree(ours, theirs, X, rtol=1e-6):
    assert ours.tree_.node_count == theirs.tree_.node_count
    assert ours.get_depth() == theirs.get_depth()
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    assert same_partition(ours.apply(X), theirs.apply(X))
    np.testing.assert_allclose(nodes_of(ours.tree_), nodes_of(theirs.tree_), rtol=rtol, atol=1e-7)
    np.testing.assert_allclose(
        ours.feature_importances_, theirs.feature_importances_, rtol=rtol, atol=1e-9
    )
    np.testing.assert_array_equal(
        np.asarray(ours.decision_path(X).sum(axis=1)),
        np.asarray(theirs.decision_path(X).sum(axis=1)),
    )


def both(kind, X, y, weight=None, **params):
    """Fit the same tree in both libraries."""
    ours = {"classes": DecisionTreeClassifier, "numbers": DecisionTreeRegressor}[kind]
    theirs = {
        "classes": reference.DecisionTreeClassifier,
        "numbers": reference.DecisionTreeRegressor,
    }[kind]
    return (
        ours(**EXACT, **params).fit(X, y, sample_weight=weight),
        theirs(random_state=0, **params).fit(X, y, sample_weight=weight),
    )


LIMITS = [
    {},
    {"max_depth": 3},
    {"min_samples_leaf": 12},
    {"min_samples_leaf": 0.05},
    {"min_samples_split": 60},
    {"min_samples_split": 0.2},
    {"min_weight_fraction_leaf": 0.06},
    {"min_impurity_decrease": 0.01},
]


@pytest.mark.parametrize("limit", LIMITS, ids=str)
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_classifier(criterion, limit, n_classes):
    X, y = class_rows(n_classes=n_classes)
    ours, theirs = both("classes", X, y, criterion=criterion, **limit)
    agreement = compare(ours, theirs, X, y)
    assert agreement.same >= 3
    if not agreement.tied:
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.sanitize
@pytest.mark.parametrize("limit", LIMITS, ids=str)
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_regressor(criterion, limit):
    X, y = number_rows(n=300)
    ours, theirs = both("numbers", X, np.exp(y), criterion=criterion, **limit)
    assert compare(ours, theirs, X, np.exp(y)).same >= 4


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("limit", [{}, {"max_leaf_nodes": 7}, {"max_leaf_nodes": 15}], ids=str)
def test_weighted_classifier(criterion, limit, n_classes):
    X, y = class_rows(n_classes=n_classes)
    weight = odd_weights(len(y))
    ours, theirs = both("classes", X, y, weight, criterion=criterion, min_samples_leaf=8, **limit)
    assert_same_tree(ours, theirs, X)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("limit", [{}, {"max_leaf_nodes": 20}, {"max_depth": 4}], ids=str)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_weighted_regressor(limit, seed):
    X, y = number_rows(seed)
    ours, theirs = both("numbers", X, y, odd_weights(len(y)), min_samples_leaf=8, **limit)
    assert_same_tree(ours, theirs, X)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6, atol=1e-7)


def test_one_feature_to_the_last_row():
    """With one feature and continuous targets nothing ties: equal down to single rows."""
    X, y = number_rows(p=3)
    ours, theirs = both("numbers", X[:, :1], y)
    assert ours.get_n_leaves() == len(y)
    assert same_partition(ours.apply(X[:, :1]), theirs.apply(X[:, :1]))
    assert compare(ours, theirs, X[:, :1], y).tied == 0


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_min_weight_fraction_leaf(kind):
    X, y = class_rows() if kind == "classes" else number_rows()
    weight = odd_weights(len(y)) ** 3
    ours, theirs = both(kind, X, y, weight, min_weight_fraction_leaf=0.04)
    assert_same_tree(ours, theirs, X)


def test_class_weight():
    X, y = class_rows()
    weight = odd_weights(len(y))
    for class_weight in ("balanced", {0: 3.0, 1: 0.5}):
        params = {"class_weight": class_weight, "min_samples_leaf": 8}
        assert_same_tree(*both("classes", X, y, weight, **params), X)


def test_multi_output():
    X, y = number_rows()
    several = np.column_stack([y, y**2, X[:, 3]])
    ours, theirs = both("numbers", X, several, min_samples_leaf=8)
    assert_same_tree(ours, theirs, X)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6, atol=1e-7)


def test_multi_output_classes():
    X, y = class_rows()
    several = np.column_stack([y, class_rows(n_classes=3)[1]])
    ours, theirs = both("classes", X, several, odd_weights(len(y)), min_samples_leaf=8)
    assert_same_tree(ours, theirs, X)
    for mine, other in zip(ours.predict_proba(X), theirs.predict_proba(X), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-9)


def prunable(kind):
    X, y = class_rows() if kind == "classes" else number_rows()
    weight = odd_weights(len(y))
    ours, theirs = both(kind, X, y, weight, min_samples_leaf=6)
    assert_same_tree(ours, theirs, X)
    return X, y, weight, ours, theirs


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_cost_complexity_path(kind):
    X, y, weight, ours, theirs = prunable(kind)
    mine, other = (m.cost_complexity_pruning_path(X, y, weight) for m in (ours, theirs))
    assert len(other.ccp_alphas) > 10
    np.testing.assert_allclose(mine.ccp_alphas, other.ccp_alphas, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(mine.impurities, other.impurities, rtol=1e-6)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_ccp_alpha(kind, share):
    X, y, weight, _, theirs = prunable(kind)
    alphas = theirs.cost_complexity_pruning_path(X, y, weight).ccp_alphas
    at = int(share * (len(alphas) - 1))
    alpha = alphas[at : at + 2].mean() if share < 1 else alphas[-1] * 2
    ours, theirs = both(kind, X, y, weight, min_samples_leaf=6, ccp_alpha=alpha)
    assert_same_tree(ours, theirs, X)


@pytest.mark.parametrize("signs", [[1, 1, -1, 1], [1, 0, 0, 0], [-1, 1, 0, 0]], ids=str)
@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
def test_monotonic_constraints(criterion, signs):
    kind = "classes" if criterion == "gini" else "numbers"
    X, y = class_rows() if kind == "classes" else number_rows()
    params = {"monotonic_cst": signs, "max_depth": 5, "min_samples_leaf": 8, "criterion": criterion}
    ours, theirs = both(kind, X, y, odd_weights(len(y)), **params)
    assert ours.get_n_leaves() > 3
    assert same_partition(ours.apply(X), theirs.apply(X))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_missing_values(kind):
    X, y = class_rows() if kind == "classes" else number_rows()
    X[np.random.default_rng(3).random(X.shape) < 0.15] = np.nan
    ours, theirs = both(kind, X, y, odd_weights(len(y)), min_samples_leaf=8)
    assert_same_tree(ours, theirs, X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_iris(dtype):
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    X = (X * 10).round().astype(dtype)
    ours, theirs = both("classes", X, y)
    assert compare(ours, theirs, X, y).same >= 2
