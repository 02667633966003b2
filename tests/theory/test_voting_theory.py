import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from tests.oracles.stumps import smallest_error

from committee import DecisionTreeClassifier, InputError
from committee.theory.decomposition import decompose
from committee.theory.voting_theory import majority_error

# The 10-point example of R1: five positives, then five negatives.
POINTS = np.array(
    [(8, 7), (6, 8), (7, 10), (1, 3), (2, 1), (3, 5), (5, 6), (4, 2), (10, 9), (9, 4)], dtype=float
)
SIGNS = np.repeat([1, -1], 5)


@pytest.mark.parametrize(
    ("n_voters", "expected"), [(1, 0.3), (3, 0.2160), (5, 0.1631), (11, 0.0782), (21, 0.0264)]
)
def test_r21_majority_of_independent_voters(n_voters, expected):
    assert majority_error(0.3, n_voters) == pytest.approx(expected, abs=5e-5)
    assert majority_error(np.full(n_voters, 0.3)) == pytest.approx(majority_error(0.3, n_voters))


def test_r21_simulated_voters_meet_the_law_and_identical_ones_gain_nothing():
    rng = np.random.default_rng(0)
    wrong = rng.random((21, 200_000)) < 0.3
    majority = wrong.sum(axis=0) > 10.5
    assert majority.mean() == pytest.approx(majority_error(0.3, 21), abs=0.002)
    identical = np.repeat(wrong[:1], 21, axis=0).sum(axis=0) > 10.5
    assert identical.mean() == wrong[0].mean()


def test_voters_at_chance_stay_there_and_bad_ones_get_worse():
    assert majority_error(0.5, 101) == pytest.approx(0.5)
    assert majority_error(0.6, 101) > 0.97
    assert majority_error(0.3, 10_001) < 1e-100


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_unequal_voters_equal_enumeration(errors):
    expected = 0.0
    for wrong in itertools.product([0, 1], repeat=len(errors)):
        chance = np.prod([e if w else 1 - e for e, w in zip(errors, wrong, strict=True)])
        lead = 2 * sum(wrong) - len(errors)
        expected += chance * (np.sign(lead) + 1) / 2  # a tie counts half
    assert majority_error(errors) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("error", [-0.1, 1.1, np.nan, [], [[0.3]]])
def test_an_error_is_a_probability(error):
    with pytest.raises(InputError, match="P-VALUE"):
        majority_error(error, 3)


@pytest.mark.parametrize("n_voters", [0, 2.5, None, True])
def test_voters_are_counted(n_voters):
    with pytest.raises(ValueError, match="n_voters"):
        majority_error(0.3, n_voters)


def test_r23_statistical_averaging_equally_good_stumps_cuts_variance():
    """Every feature carries the same signal: each stump is as good, their vote is steadier."""
    rng = np.random.default_rng(0)

    def sample(n):
        y = rng.integers(0, 2, n)
        return (2 * y - 1)[:, None] + rng.normal(scale=2, size=(n, 15)), y

    X_test, y_test = sample(1000)
    stumps, voted = [], []
    for _ in range(15):
        X, y = sample(60)
        votes = [
            DecisionTreeClassifier(max_depth=1).fit(X[:, [j]], y).predict(X_test[:, [j]])
            for j in range(15)
        ]
        stumps.append(votes)
        voted.append(np.mean(votes, axis=0) > 0.5)
    accuracy = (np.array(stumps) == y_test).mean(axis=(0, 2))
    assert np.ptp(accuracy) < 0.06  # no feature is better than another
    one = decompose([votes[0] for votes in stumps], y_test, "zero_one").overall
    vote = decompose(np.array(voted, dtype=int), y_test, "zero_one").overall
    assert vote["variance"] < one["variance"] / 2
    assert vote["loss"] < one["loss"] / 2


def test_r23_representational_weighted_stumps_draw_a_diagonal():
    """No stump follows x + y > 1; a weighted sum of stumps in x and y does, ever more finely."""
    grid = (np.arange(40) + 0.5) / 40
    X = np.array(list(itertools.product(grid, grid)))
    truth = X.sum(axis=1) > 1
    off = np.abs(X.sum(axis=1) - 1) > 1e-9
    best = smallest_error(X[off], truth[off].astype(int), np.ones(off.sum()))
    cuts = (np.arange(39) + 1) / 40
    score = sum((X[:, j] > cut).astype(float) for j in (0, 1) for cut in cuts) / 39 - 1
    assert best > 0.2
    np.testing.assert_array_equal(score[off] > 0, truth[off])


class LocalSearch(ClassifierMixin, BaseEstimator):
    """A linear separator by greedy flips of its signs: it stops at the first local optimum."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        rng = np.random.default_rng(self.random_state)
        self.w_ = rng.choice([-1, 0, 1], X.shape[1])
        self.hits_ = self._hits(self.w_, X, y)
        while True:
            steps = [(j, v) for j in range(X.shape[1]) for v in (-1, 0, 1) if v != self.w_[j]]
            tried = [np.where(np.arange(X.shape[1]) == j, v, self.w_) for j, v in steps]
            hits = [self._hits(w, X, y) for w in tried]
            if max(hits) <= self.hits_:
                return self
            self.w_, self.hits_ = tried[int(np.argmax(hits))], max(hits)

    @staticmethod
    def _hits(w, X, y):
        return int(((X @ w > 0) == y).sum())

    def predict(self, X):
        return X @ self.w_ > 0


def test_r23_computational_restarts_beat_one_start():
    """The target has interacting signs, so that single flips get stuck; restarts do not all."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 12)) + 1.0  # a common shift makes the signs depend on each other
    w = np.tile([1, -1], 6)
    y = X @ w > 0
    X_test = rng.normal(size=(4000, 12)) + 1.0
    y_test = X_test @ w > 0
    starts = [LocalSearch(random_state=k).fit(X, y) for k in range(25)]
    accuracy = np.array([(model.predict(X_test) == y_test).mean() for model in starts])
    vote = np.mean([model.predict(X_test) for model in starts], axis=0) > 0.5
    best = max(starts, key=lambda model: model.hits_)
    assert accuracy.mean() < 0.99  # some starts end in a local optimum
    assert (vote == y_test).mean() > accuracy.mean()
    assert (best.predict(X_test) == y_test).mean() == accuracy.max() > accuracy.mean()


def test_r24_three_stumps_classify_what_no_single_stump_can():
    y = (SIGNS > 0).astype(int)
    assert smallest_error(POINTS, y, np.ones(10)) == pytest.approx(0.3)
    x, height = POINTS.T
    stumps = np.where([x <= 2.5, x <= 8.5, height > 6.5], 1, -1)
    alpha = [0.423649, 0.649641, 0.922913]
    np.testing.assert_array_equal((stumps != SIGNS).sum(axis=1), [3, 3, 3])
    np.testing.assert_array_equal(np.sign(alpha @ stumps), SIGNS)
    np.testing.assert_array_equal(np.sign(stumps.sum(axis=0)), SIGNS)  # the plain majority, too


def test_r24_members_learnt_on_reweighted_points_are_these_stumps():
    """The same three regions from a learner: stumps on the weights D1, D2, D3 of R2."""
    D1, D2 = np.full(10, 1 / 10), np.array([1 / 6] * 3 + [1 / 14] * 7)
    D3 = np.array([7 / 66] * 3 + [1 / 22] * 2 + [1 / 6] * 3 + [1 / 22] * 2)
    y = (SIGNS > 0).astype(int)
    errors = []
    for weight in (D1, D2, D3):
        stump = DecisionTreeClassifier(max_depth=1, criterion="error")
        said = stump.fit(POINTS, y, sample_weight=weight).predict(POINTS)
        errors.append(weight @ (said != y))
        assert errors[-1] == pytest.approx(smallest_error(POINTS, y, weight))
    assert errors == pytest.approx([3 / 10, 3 / 14, 3 / 22])


@pytest.mark.parametrize("n_voters", [2, 10, 1000])
@pytest.mark.parametrize("error", [0.0, 0.2, 0.5, 1.0])
def test_a_tie_counts_half(n_voters, error):
    """An even number of voters errs like one voter fewer, as the last one can only make a tie."""
    assert majority_error(error, n_voters) == pytest.approx(
        majority_error(error, n_voters - 1), rel=1e-9, abs=1e-15
    )
