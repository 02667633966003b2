"""Votes and averages of toy members, held against hand loops and exact arithmetic."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.svm import SVC

from committee import DecisionTreeClassifier, InputError, _engine
from committee.core.committee import Committee
from committee.core.members import ClassifierMember, Trees
from committee.core.voting import (
    majority,
    majority_label,
    mean,
    vote_counts,
    vote_until_decided,
)

few = settings(max_examples=80)
weights_of_all_kinds = st.one_of(
    st.none(),
    st.integers(1, 4).map(lambda n: [n]),
    st.lists(st.integers(-2, 5).map(float), min_size=9, max_size=9),
    st.lists(st.sampled_from([0.1, 0.2, 0.3, 1 / 3, 1e-9, 1e9]), min_size=9, max_size=9),
    st.lists(st.floats(-10, 10), min_size=9, max_size=9),
)


class Asked:
    """A member that knows its outputs by row number, and counts the rows it is asked about."""

    def __init__(self, table):
        self.table = table
        self.asked = 0

    def outputs(self, X):
        rows = X.to_numpy() if isinstance(X, pd.DataFrame) else X
        rows = rows.toarray() if sparse.issparse(rows) else np.asarray(rows)
        self.asked += len(rows)
        return self.table[rows[:, 0].astype(int)]


@st.composite
def votes(draw):
    n_members, n_rows = draw(st.integers(1, 9)), draw(st.integers(1, 6))
    n_classes = draw(st.integers(1, 4))
    outputs = draw(
        hnp.arrays(float, (n_members, n_rows, n_classes), elements=st.integers(0, 3).map(float))
    )
    weights = draw(weights_of_all_kinds)
    if weights is not None:
        weights = (weights * n_members)[:n_members]
        weights = weights if np.any(weights) else None
    return outputs, weights


# --- R27, R35: the vote


def test_r27_cat_or_dog():
    rules = [["cat"], ["cat"], ["dog"], ["cat"], ["dog"]]
    assert majority_label(rules).tolist() == ["cat"]
    assert majority_label([["dog"], *rules, ["dog"]]).tolist() == ["dog"]


def test_r27_a_tie_goes_to_the_lowest_label():
    for order in ([["dog"], ["cat"]], [["cat"], ["dog"]]):
        assert majority_label(order).tolist() == ["cat"]
    assert majority_label([[7], [3], [7], [3], [9]]).tolist() == [3]
    assert majority_label([[-1], [1]]).tolist() == [-1]
    assert majority(np.array([[[0.5, 0.5]], [[0.0, 1.0]]])).tolist() == [0]  # also inside a member


def test_r27_weights_decide():
    rules = [["cat"], ["cat"], ["dog"]]
    assert majority_label(rules, weights=[1, 1, 3]).tolist() == ["dog"]
    assert majority_label(rules, weights=[1, 1, 2]).tolist() == ["cat"]
    # Ten tenths are one by count, though their sum in floats is not.
    assert majority_label([["dog"]] * 3 + [["cat"]] * 3, weights=[0.1] * 6).tolist() == ["cat"]


@few
@given(votes())
def test_r35_hard_vote_is_the_hand_loop(vote):
    outputs, weights = vote
    for row in range(outputs.shape[1]):
        count = Counter({k: Fraction(0) for k in range(outputs.shape[2])})
        for t, member in enumerate(outputs):
            said = member[row].tolist()
            favourite = said.index(max(said))
            count[favourite] += 1 if weights is None else Fraction(weights[t])
        best = max(count.values())
        second = max((c for c in count.values() if c != best), default=best - 1)
        if best - second > Fraction(1, 10**6):  # sums in floats tell these apart
            tied = [k for k in count if count[k] == best]
            exact = weights is None or all(float(w).is_integer() for w in weights)
            winner = majority(outputs, weights)[row]
            assert winner == tied[0] if exact else winner in tied
        np.testing.assert_allclose(
            vote_counts(outputs, weights)[row] * scale(weights),
            [float(count[k]) for k in range(outputs.shape[2])],
            rtol=1e-9,
            atol=1e-6,
        )


def scale(weights):
    """Equal positive weights count as one each."""
    equal = weights is not None and len(set(weights)) == 1 and weights[0] > 0
    return weights[0] if equal else 1


@few
@given(votes())
def test_r35_soft_vote_is_the_hand_loop(vote):
    outputs, weights = vote
    if weights is not None and (np.min(weights) < 0 or np.sum(weights) < 1e-6):
        weights = None
    total, whole = np.zeros(outputs.shape[1:]), 0.0
    for t, member in enumerate(outputs):
        weight = 1.0 if scale(weights) != 1 or weights is None else weights[t]
        total = total + weight * member
        whole += weight
    np.testing.assert_array_equal(mean(outputs, weights), total / whole)
    by_numpy = np.average(outputs, axis=0, weights=weights)
    np.testing.assert_allclose(mean(outputs, weights), by_numpy, rtol=1e-9, atol=1e-12)


def test_r35_hard_and_soft_may_differ():
    outputs = np.array([[[0.9, 0.1]], [[0.4, 0.6]], [[0.4, 0.6]]])
    assert majority(outputs).tolist() == [1]
    assert mean(outputs).argmax(axis=1).tolist() == [0]


def test_one_row_is_the_row_in_a_batch():
    outputs = np.random.default_rng(0).random((101, 50, 3))
    one_by_one = [mean(outputs[:, row : row + 1])[0] for row in range(50)]
    np.testing.assert_array_equal(mean(outputs), one_by_one)
    single = [mean(outputs[:, row : row + 1, :1])[0] for row in range(50)]
    np.testing.assert_array_equal(mean(outputs)[:, :1], single)


@pytest.mark.parametrize("weights", [[1.0], [1.0, np.nan], [0.0, 0.0], [[1.0, 1.0]]])
def test_weights_that_cannot_vote(weights):
    for combine in (mean, majority):
        with pytest.raises(InputError) as error:
            combine(np.zeros((2, 1, 2)), weights)
        assert error.value.code == "M-COMMITTEE"


# --- R28: the average


@few
@given(
    hnp.arrays(np.int64, st.sampled_from([(2, 5), (4, 3), (8, 4)]), elements=st.integers(-99, 99))
)
def test_r28_the_gap_is_the_ambiguity(guesses):
    """Krogh and Vedelsby (1995). Whole guesses of 2^k members: every step is exact in floats."""
    truth = 17.0
    outputs = guesses[:, :, None].astype(float)
    group = mean(outputs)
    of_the_mean = (group - truth) ** 2
    of_members = mean((outputs - truth) ** 2)
    ambiguity = mean((outputs - group) ** 2)
    assert (of_the_mean <= of_members).all()
    np.testing.assert_array_equal(of_members - of_the_mean, ambiguity)


def test_r28_with_weights_and_any_numbers():
    rng = np.random.default_rng(0)
    outputs, truth, weights = rng.normal(size=(11, 40, 2)), rng.normal(size=(40, 2)), rng.random(11)
    group = mean(outputs, weights)
    gap = mean((outputs - truth) ** 2, weights) - (group - truth) ** 2
    assert (gap >= 0).all()
    np.testing.assert_allclose(gap, mean((outputs - group) ** 2, weights), rtol=1e-10)


# --- R29: no member is asked in vain


@settings(max_examples=120)
@given(votes())
def test_r29_early_exit_gives_the_same_labels(vote):
    outputs, weights = vote
    n_rows = outputs.shape[1]
    members = [Asked(table) for table in outputs]
    early = vote_until_decided(members, np.arange(n_rows)[:, None], weights)
    np.testing.assert_array_equal(early.codes, majority(outputs, weights))
    assert sum(member.asked for member in members) == early.asked.sum()
    assert early.saved == early.n_members * n_rows - early.asked.sum()
    assert (early.asked >= 1).all()


@few
@given(votes())
def test_r29_whole_votes_stop_as_soon_as_they_can(vote):
    """One question fewer, and the members left could have turned the vote."""
    outputs, _ = vote
    n_members, n_rows, n_classes = outputs.shape
    early = vote_until_decided([Asked(t) for t in outputs], np.arange(n_rows)[:, None])
    for row, asked in enumerate(early.asked):
        if n_classes > 1 and asked > 1:
            counts = vote_counts(outputs[: asked - 1])[row]
            hoped = counts + (n_members - asked + 1) * np.eye(n_classes)
            assert len(set(hoped.argmax(axis=1))) > 1


def test_r29_a_unanimous_vote_takes_a_majority_of_questions():
    members = [Asked(np.tile([0.0, 1.0], (4, 1))) for _ in range(9)]
    early = vote_until_decided(members, np.arange(4)[:, None])
    assert early.codes.tolist() == [1] * 4
    assert early.asked.tolist() == [5] * 4
    assert early.saved == 4 * 4
    assert str(early) == "20 of 36 questions to 9 members settled 4 rows"
    assert [member.asked for member in members] == [4] * 5 + [0] * 4


def test_r29_rounding_settles_no_vote():
    """0.4 - 0.1 > 0.3 in floats, and yet 0.1 + 0.3 ties with 0.4: the last member counts."""
    outputs = np.eye(2)[[0, 1, 0]][:, None, :]
    weights = [0.1, 0.4, 0.3]
    early = vote_until_decided([Asked(table) for table in outputs], [[0]], weights)
    assert majority(outputs, weights).tolist() == early.codes.tolist() == [0]
    assert early.asked.tolist() == [3]


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, sparse.csr_matrix, list])
def test_r29_rows_in_any_container(container):
    outputs = np.random.default_rng(0).random((15, 40, 3))
    early = vote_until_decided([Asked(t) for t in outputs], container(np.arange(40)[:, None]))
    np.testing.assert_array_equal(early.codes, majority(outputs))
    assert early.saved > 0


def test_r29_staged_votes_end_at_the_vote():
    """Prediction in stages: the label after k members is that of the first k."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 5))
    y = rng.integers(0, 3, 200)
    trees = [
        DecisionTreeClassifier(max_depth=3, max_features=2, random_state=t).fit(X, y)
        for t in range(25)
    ]
    forest = _engine.Forest.concatenate([tree.tree_.forest for tree in trees])
    committee = Committee(Trees(forest, trees[0].schema_), np.ones(25))
    labels = [stage.argmax(axis=1) for stage in committee.staged(X)]
    for k in (1, 10, 25):
        np.testing.assert_array_equal(labels[k - 1], mean(committee[:k].outputs(X)).argmax(axis=1))
    early = vote_until_decided(committee.members, X)
    np.testing.assert_array_equal(early.codes, majority(committee.outputs(X)))
    assert 0 < early.saved < 25 * 200


def test_r25_different_learners_and_copies_of_one_vote_alike():
    X, y = make_classification(200, 6, random_state=0)
    classes = np.unique(y)
    different = [SVC().fit(X, y), LinearDiscriminantAnalysis().fit(X, y)]
    copies = []
    for k in range(10):
        rows = np.random.default_rng(k).integers(0, 200, 200)
        copies.append(clone(different[1]).fit(X[rows], y[rows]))
    for fitted in (different, copies):
        members = [ClassifierMember(m, classes, votes=True) for m in fitted]
        committee = Committee(members, np.ones(len(members)))
        votes = np.stack([m.predict(X) for m in fitted])
        expected = (2 * (votes == 1).sum(axis=0) > len(fitted)).astype(int)  # ties: the lower
        np.testing.assert_array_equal(majority(committee.outputs(X)), expected)
        assert (expected == y).mean() > 0.8
