"""Weights by one linear program: optimal among all weights, sparse, and guarded."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from committee import DecisionStump, DecisionTreeClassifier, EnsembleSelectionClassifier
from committee.ensembles.boosting.margin_lp import soft_margin
from committee.ensembles.selection.soft_margin import GROWTH, soft_margin_weights


def margins_of(weights, outputs, codes):
    """Compute row by row the lead of the true class over the best of the others."""
    shares = np.tensordot(weights, outputs, axes=1)
    lead = []
    for row, code in zip(shares, codes, strict=True):
        lead.append(row[code] - max(share for c, share in enumerate(row) if c != code))
    return np.array(lead)


def problem(seed, n_members=5, n_rows=40):
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 5))
    codes = rng.integers(0, n_classes, n_rows)
    tilt = 3 * np.eye(n_classes)[codes] * rng.random((n_members, 1, 1))
    shares = np.exp(rng.normal(size=(n_members, n_rows, n_classes)) + tilt)
    return shares / shares.sum(axis=2, keepdims=True), codes, rng


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.sampled_from([0.2, 0.5, 1.0]), st.booleans())
def test_no_other_weights_have_a_larger_soft_margin(seed, nu, weighted):
    outputs, codes, rng = problem(seed)
    weight = rng.random(len(codes)) + 0.1 if weighted else None
    found = soft_margin_weights(outputs, codes, nu, weight)
    assert found.weights.sum() == pytest.approx(1)
    assert (found.weights >= 0).all()
    assert nu <= found.nu <= 1
    shares = np.full(len(codes), 1 / len(codes)) if weight is None else weight / weight.sum()
    caps = shares / found.nu
    best, _ = soft_margin(margins_of(found.weights, outputs, codes), caps)
    others = [*rng.dirichlet(np.full(5, 0.5), 30), *np.eye(5), np.full(5, 0.2)]
    for other in others:
        assert soft_margin(margins_of(other, outputs, codes), caps)[0] <= best + 1e-9


def test_by_hand():
    """Of three members, the two that err on different rows share the weight."""
    right, wrong = [0.9, 0.1], [0.4, 0.6]
    outputs = np.array([[right, wrong], [wrong, right], [wrong, wrong]])
    found = soft_margin_weights(outputs, np.array([0, 0]), nu=0.5)
    np.testing.assert_allclose(found.weights, [0.5, 0.5, 0])
    assert found.rho == pytest.approx((0.8 - 0.2) / 2)


def test_members_do_not_cancel_each_other():
    """Two members that always contradict tie on every row: rho is 0, and nothing is decided.

    With so small a nu the program would choose them; the guard raises it until the third, right
    on 7 rows of 10, decides.
    """
    vote = np.eye(2)
    codes = np.zeros(10, dtype=int)
    some = np.array([0] * 7 + [1] * 3)
    alternate = np.arange(10) % 2
    outputs = np.stack([vote[alternate], vote[1 - alternate], vote[some]])
    found = soft_margin_weights(outputs, codes, nu=0.1)
    # Twice the error of the plain mean, and one step on: there rho is 0 still.
    assert found.nu == pytest.approx(2 * 0.3 * GROWTH)
    assert found.rho > 0
    assert (margins_of(found.weights, outputs, codes) > 0).mean() == 0.7


def test_one_class_leaves_nothing_to_choose():
    found = soft_margin_weights(np.ones((4, 5, 1)), np.zeros(5, dtype=int), 0.1)
    np.testing.assert_array_equal(found.weights, [0.25] * 4)


def test_a_pool_of_trees_is_compressed():
    X, y = make_classification(300, 8, n_informative=5, flip_y=0.05, random_state=0)
    trees = [
        (f"t{k}", DecisionTreeClassifier(max_depth=3, max_features=2, random_state=k))
        for k in range(20)
    ]
    pool = [*trees, ("stump", DecisionStump()), ("bayes", GaussianNB())]
    model = EnsembleSelectionClassifier(
        pool, method="soft_margin", scoring="accuracy", cv=3, nu=0.3
    ).fit(X, y)
    assert 2 <= len(model.estimators_) < 15
    assert model.soft_margin_.nu >= 0.3
    assert not hasattr(model, "paths_")
    mean = np.tensordot(model.weights_, model.oof_, axes=1)
    assert model.score_ == metrics.accuracy_score(y, mean.argmax(axis=1))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
