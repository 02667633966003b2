"""criterion="c45": numeric features pay for the choice of their cut (Quinlan 1996)."""

import math
from itertools import pairwise

import numpy as np
import pytest
from tests.estimators import forest_bits

from committee import DecisionTreeClassifier


def entropy(y):
    shares = np.bincount(y)[np.bincount(y) > 0] / len(y)
    return float(-(shares * np.log2(shares)).sum())


def naive_root(X, y):
    """Return the ratio of each feature that may be split on, by Quinlan's formulas."""
    found = {}
    for j, x in enumerate(X.T):
        values = np.unique(x)
        if len(values) < 2:
            continue
        gain, best = -1.0, None
        for low, high in pairwise(values.tolist()):
            left = x <= (low + high) / 2
            rest = entropy(y) - left.mean() * entropy(y[left]) - (~left).mean() * entropy(y[~left])
            if rest > gain + 1e-12:
                gain, best = rest, left
        charged = gain - math.log2(len(values) - 1) / len(y)
        if charged > 0:
            found[j] = (charged, charged / entropy(best.astype(int)))
    average = np.mean([charged for charged, _ in found.values()]) if found else 0
    return {j: ratio for j, (charged, ratio) in found.items() if charged >= average - 1e-12}


@pytest.mark.parametrize("missing", ["side", "parts"])
def test_the_root_is_that_of_quinlans_formulas(missing):
    rng = np.random.default_rng(0)
    leaves = 0
    for _ in range(150):
        n = int(rng.integers(6, 40))
        X = np.column_stack([rng.integers(0, k, n) for k in (3, 8, 40, 90)]).astype(float)
        y = ((X[:, 0] + X[:, 1] / 8 + 2 * rng.normal(size=n)) > 1).astype(int)
        tree = DecisionTreeClassifier(criterion="c45", max_depth=1, missing=missing).fit(X, y).tree_
        allowed = naive_root(X, y)
        if not allowed:
            assert tree.node_count == 1
            leaves += 1
            continue
        best = max(allowed.values())
        assert allowed[int(tree.feature[0])] == pytest.approx(best, rel=1e-9)
    assert 10 < leaves < 140


def test_a_cut_among_many_must_gain_more_than_its_price():
    """Eight rows, of which the best cut of seven gains .549 bits: log2(7) / 8 = .351 is paid."""
    x = np.arange(8.0)[:, None]
    y = np.array([0, 0, 0, 0, 0, 1, 0, 1])
    assert DecisionTreeClassifier(criterion="c45", max_depth=1).fit(x, y).tree_.node_count == 3
    y = np.array([1, 0, 0, 1, 0, 1, 0, 1])  # .138 bits at best: not worth a cut
    assert DecisionTreeClassifier(criterion="c45").fit(x, y).tree_.node_count == 1
    assert DecisionTreeClassifier(criterion="gain_ratio").fit(x, y).tree_.node_count > 1


def test_the_price_has_the_unit_of_the_weights():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + X[:, 1] > rng.normal(size=60)).astype(int)
    tree = DecisionTreeClassifier(criterion="c45")
    plain = tree.fit(X, y).tree_
    assert plain.node_count > 3
    for scale in (2.0**-40, 3.0, 2.0**40):
        scaled = tree.fit(X, y, np.full(60, scale)).tree_
        np.testing.assert_array_equal(scaled.feature, plain.feature)
        np.testing.assert_array_equal(scaled.threshold, plain.threshold)


@pytest.mark.parametrize("missing", ["side", "parts"])
def test_the_tree_is_the_same_for_any_threads_and_order_of_rows(missing):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(3000, 4)).round(2)
    y = (X[:, 0] + X[:, 1] > rng.normal(size=3000)).astype(int)
    X[::7, 2] = np.nan
    tree = DecisionTreeClassifier(criterion="c45", missing=missing, max_depth=6)
    alone = forest_bits(tree.fit(X, y).tree_.forest)
    mixed = rng.permutation(3000)
    other = tree.set_params(n_jobs=2).fit(X[mixed], y[mixed]).tree_
    assert forest_bits(other.forest) == alone
    assert other.node_count > 10
