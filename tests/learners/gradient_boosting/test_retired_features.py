"""A feature that gains nothing in a node is not tried below it: beside a page of plain Python."""

import numpy as np
import pytest
from scipy import sparse
from tests.estimators import model_bits

from committee import GradientBoostingClassifier, GradientBoostingRegressor

DEPTH, L2 = 6, 8.0


def best_cut(values, residual):
    """Return the largest gain of a cut of one feature, and the cut."""
    total, n = residual.sum(), len(residual)
    found = (0.0, None)
    for value in np.unique(values)[:-1]:
        left = residual[values <= value]
        sums = left.sum(), total - left.sum()
        gain = sums[0] ** 2 / (len(left) + L2) + sums[1] ** 2 / (n - len(left) + L2)
        gain -= total**2 / (n + L2)
        if gain > found[0] + 1e-12:
            found = (gain, value)
    return found


def grow(X, residual, features, retire, depth=0):
    """Return each row's value in a tree of squared loss."""
    cuts = {f: best_cut(X[:, f], residual) for f in features}
    staying = [f for f in features if cuts[f][1] is not None]
    if depth == DEPTH or not staying:
        return np.full(len(residual), residual.sum() / (len(residual) + L2))
    top = max(staying, key=lambda f: cuts[f][0])
    left = X[:, top] <= cuts[top][1]
    values = np.empty(len(residual))
    for side in (left, ~left):
        below = staying if retire else features
        values[side] = grow(X[side], residual[side], below, retire, depth + 1)
    return values


def one_tree(**params):
    given = {
        "n_estimators": 1,
        "learning_rate": 1.0,
        "max_leaf_nodes": None,
        "max_depth": DEPTH,
        "l2_regularization": L2,
        "max_features": None,
    }
    return GradientBoostingRegressor(**{**given, **params})


@pytest.mark.parametrize("n_values", [2, 4])
@pytest.mark.parametrize("growth", ["leaf", "level"])
def test_a_page_of_plain_python(growth, n_values):
    changed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, n_values, size=(150, 8)).astype(float)
        y = rng.normal(size=150) + X[:, 0]
        expected = {r: y.mean() + grow(X, y - y.mean(), range(8), r) for r in (False, True)}
        for retire in (False, True):
            tree = one_tree(growth=growth, retire_features=retire).fit(X, y)
            np.testing.assert_allclose(tree.predict(X), expected[retire], atol=2e-3)
        changed += bool(np.abs(expected[False] - expected[True]).max() > 0.01)
    assert changed >= 10  # the rule shows


def test_what_retires_comes_back_in_another_branch():
    """Feature 1 gains nothing on the left, where it is noise, and everything on the right."""
    X = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)] * 10, dtype=float)
    y = 10 * X[:, 0] + 8 * X[:, 0] * X[:, 1]
    tree = one_tree(retire_features=True).fit(X, y)
    plain = one_tree(retire_features=False).fit(X, y)
    np.testing.assert_array_equal(tree.predict(X), plain.predict(X))
    assert len(np.unique(tree.predict(X))) == 3


@pytest.mark.parametrize("max_features", [None, 0.5])
@pytest.mark.parametrize("n_values", [2, 5])
def test_wide_sparse_and_dense_rows_on_any_threads(n_values, max_features):
    rng = np.random.default_rng(3)
    X = rng.integers(1, n_values, (400, 700)) * (rng.random((400, 700)) < 0.1).astype(float)
    y = (X[:, :30].sum(axis=1) + rng.normal(size=400) > 4).astype(int)

    def fit(rows, n_jobs):
        model = GradientBoostingClassifier(
            n_estimators=5,
            retire_features=True,
            max_features=max_features,
            l2_regularization=1.0,
            random_state=0,
            n_jobs=n_jobs,
        )
        return model.fit(rows, y)

    expected = fit(X, 1)
    assert model_bits(fit(X, 3)) == model_bits(expected)
    for n_jobs in (1, 3):
        other = fit(sparse.csr_matrix(X), n_jobs)
        np.testing.assert_array_equal(other.predict_proba(X), expected.predict_proba(X))
    free = GradientBoostingClassifier(
        n_estimators=5, max_features=max_features, l2_regularization=1.0, random_state=0
    ).fit(X, y)
    assert (free.predict_proba(X) != expected.predict_proba(X)).any()


def test_no_feature_gains():
    X = np.array([[0.0], [1.0]] * 20)
    y = np.repeat([0.0, 1.0], 20)
    tree = one_tree(retire_features=True).fit(X, y)
    np.testing.assert_array_equal(tree.predict(X), 0.5)
