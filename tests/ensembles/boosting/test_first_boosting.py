"""R50: Schapire's three hypotheses against the theorem and an enumeration."""

from itertools import product

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification

from committee import DataWarning, DecisionTreeClassifier, FirstBoostingClassifier


class Table(ClassifierMixin, BaseEstimator):
    """The best of some given hypotheses on rows that are numbered by their only feature."""

    def __init__(self, hypotheses=None):
        self.hypotheses = hypotheses

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.array([0, 1])
        rows = np.asarray(X)[:, 0].astype(int)
        wrong = np.asarray(self.hypotheses)[:, rows] != np.asarray(y)
        self.said_ = np.asarray(self.hypotheses)[(wrong * sample_weight).sum(axis=1).argmin()]
        return self

    def predict(self, X):
        return self.said_[np.asarray(X)[:, 0].astype(int)]


def test_r50_numbers_of_the_bound():
    for b, bound in ((0.4, 0.352), (0.3, 0.216)):
        assert 3 * b**2 - 2 * b**3 == pytest.approx(bound)


@pytest.mark.parametrize("seed", range(30))
def test_r50_exact_enumeration_on_a_small_domain(seed):
    """The distributions are computed by hand, and the majority errs at most 3 b^2 - 2 b^3."""
    rng = np.random.default_rng(seed)
    y = np.array([0, 1] * 4)
    every = np.array(list(product([0, 1], repeat=8)))
    hypotheses = every[rng.choice(len(every), 12, replace=False)]
    weight = rng.integers(1, 6, 8).astype(float)
    rows, d1 = np.arange(8)[:, None], weight / weight.sum()
    best = hypotheses[(d1 * (hypotheses != y)).sum(axis=1).argmin()]
    e1 = d1[best != y].sum()
    if e1 in (0, 0.5):
        pytest.skip("the first hypothesis leaves nothing to do")
    model = FirstBoostingClassifier(Table(hypotheses)).fit(rows, y, weight)
    found = list(model.staged_sample_weight(rows, y, weight))
    np.testing.assert_allclose(found[0], d1, atol=1e-15)
    assert model.rounds_["error"][0] == pytest.approx(e1)
    if len(model) < 3:
        return
    d2 = np.where(best != y, d1 / (2 * e1), d1 / (2 * (1 - e1)))
    np.testing.assert_allclose(found[1], d2, atol=1e-15)
    assert d2[best != y].sum() == pytest.approx(1 / 2, abs=1e-15)  # h1 is useless on D2
    second = hypotheses[(d2 * (hypotheses != y)).sum(axis=1).argmin()]
    apart = best != second
    np.testing.assert_allclose(found[2], np.where(apart, d1, 0) / d1[apart].sum(), atol=1e-15)
    b = model.rounds_["error"].max()
    if b < 1 / 2:
        wrong = model.predict(rows) != y
        assert d1[wrong].sum() <= 3 * b**2 - 2 * b**3 + 1e-12
    assert model.certificate().holds
    assert model.certificate().verify(rows, y, weight)


@pytest.fixture(scope="module")
def rows():
    return make_classification(400, 8, n_informative=5, flip_y=0.05, random_state=2)


def test_deeper_recursion_errs_less(rows):
    X, y = rows
    scores = [FirstBoostingClassifier(depth=depth).fit(X, y).score(X, y) for depth in (1, 2, 3)]
    assert scores[0] < scores[1] < scores[2]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_it_verifies_at_every_depth(rows, depth):
    X, y = rows
    model = FirstBoostingClassifier(DecisionTreeClassifier(max_depth=2), depth=depth).fit(X, y)
    certificate = model.certificate()
    assert certificate.holds
    assert certificate.verify(X, y)
    flipped = y.copy()
    flipped[5] = 1 - flipped[5]
    assert not certificate.verify(X, flipped)


def test_a_perfect_first_hypothesis_stays_alone():
    model = FirstBoostingClassifier().fit([[0.0], [1.0]], [0, 1])
    assert len(model) == 1
    assert "without error" in model.stop_reason_


def test_no_hypothesis_at_all_is_said():
    with pytest.warns(DataWarning, match="chance"):
        model = FirstBoostingClassifier().fit([[0.0], [0.0]], [0, 1])
    assert model.predict([[0.0]]).tolist() == [0]
