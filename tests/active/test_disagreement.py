"""Measures of disagreement: numbers by hand, the plain loops beside them, and trees natively."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra import numpy as hnp
from tests.active import naive

from committee.active.disagreement import (
    MEASURES,
    cast_votes,
    find_measure,
    measure_disagreement,
    tally,
)
from committee.data import InputError

# Four members, three classes: three to one, two to two, all alike, one to one to two.
HAND = np.array(
    [
        [[0.8, 0.1, 0.1], [1, 0, 0], [0, 0, 1], [0, 1, 0]],
        [[0.6, 0.4, 0.0], [0.5, 0.5, 0], [0, 0, 1], [1, 0, 0]],
        [[0.6, 0.2, 0.2], [0, 1, 0], [0, 0, 1], [0, 0, 1]],
        [[0.2, 0.7, 0.1], [0, 0.9, 0.1], [0, 0, 1], [0, 0, 1]],
    ]
)


def test_vote_margin_by_hand():
    np.testing.assert_allclose(measure_disagreement(HAND, "vote_margin"), [0.5, 0, 1, 0.25])


def test_weighted_vote_margin_by_hand():
    found = measure_disagreement(HAND, "weighted_vote_margin", weights=[1, 1, 1, 5])
    # Votes of the first row: 3 for a, 5 for b; of the last: 1 for b, 1 for a, 6 for c.
    np.testing.assert_allclose(found, [2 / 8, 4 / 8, 1, 5 / 8])


def test_vote_entropy_by_hand():
    found = measure_disagreement(HAND, "vote_entropy")
    quarter, half = 0.25 * np.log(4), 0.5 * np.log(2)
    np.testing.assert_allclose(
        found, [0.75 * np.log(4 / 3) + quarter, 2 * half, 0, 2 * quarter + half], atol=1e-15
    )


def test_margin_by_hand():
    found = measure_disagreement(HAND, "margin")
    np.testing.assert_allclose(found, [0.55 - 0.35, 0.6 - 0.375, 1, 0.25], atol=1e-15)


def test_divergences_of_two_opposite_members_are_a_bit():
    outputs = [[[1, 0], [0.5, 0.5]], [[0, 1], [0.5, 0.5]]]
    for name in ("kl_to_mean", "jensen_shannon"):
        found = measure_disagreement(outputs, name)
        np.testing.assert_allclose(found, [np.log(2), 0], atol=1e-15)


SHARES = hnp.arrays(
    np.float64,
    st.tuples(st.integers(2, 6), st.integers(1, 5), st.integers(2, 4)),
    elements=st.sampled_from([0.0, 0.125, 0.25, 0.5, 1.0, 2.0]),
)


@settings(max_examples=40)
@given(numbers=SHARES, name=st.sampled_from(sorted(MEASURES)), data=st.data())
def test_measures_equal_the_plain_loops(numbers, name, data):
    numbers[..., 0] += ~numbers.any(axis=2)
    outputs = numbers / numbers.sum(axis=2, keepdims=True)
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=6, max_size=6))
    weights = np.array(weights[: len(outputs)])
    found = measure_disagreement(outputs, name, weights)
    np.testing.assert_allclose(found, naive.measure(name, outputs, weights), atol=1e-12)
    # Neither the order of the members nor that of the classes matters but for ties of a vote.
    order = data.draw(st.permutations(range(len(outputs))))
    again = measure_disagreement(outputs[list(order)], name, weights[list(order)])
    np.testing.assert_allclose(again, found, atol=1e-12)
    disagreement = find_measure(name).disagreement(found)
    assert (disagreement >= -1e-12).all()


@settings(max_examples=40)
@given(numbers=SHARES)
def test_kl_to_the_mean_is_jensen_shannon_of_equal_members(numbers):
    numbers[..., 0] += ~numbers.any(axis=2)
    outputs = numbers / numbers.sum(axis=2, keepdims=True)
    found = [measure_disagreement(outputs, name) for name in ("kl_to_mean", "jensen_shannon")]
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)
    assert (found[0] <= np.log(min(outputs.shape[0], outputs.shape[2])) + 1e-12).all()


def test_a_member_that_says_nothing_abstains():
    np.testing.assert_array_equal(cast_votes(np.array([[0, 0], [0.5, 0.5]])), [[0, 0], [1, 0]])
    found = tally(iter([np.zeros((1, 2)), np.array([[0.0, 1.0]])]), None, 2, ["votes"])
    np.testing.assert_array_equal(found.votes, [[0, 0.5]])


def test_b73_committee_of_one():
    with pytest.raises(InputError, match=r"Q-ALONE.*1 member.*at least 2 members"):
        measure_disagreement(HAND[:1])


@pytest.mark.parametrize("outputs", [HAND[0], HAND[:, :0], np.zeros((0, 2, 2))])
def test_outputs_without_extent(outputs):
    with pytest.raises(InputError, match=r"\[member, row, class\]|at least 2 members"):
        measure_disagreement(outputs)


def test_wrong_measures_and_weights():
    with pytest.raises(InputError, match=r"got 'entropy'.*'vote_entropy'"):
        measure_disagreement(HAND, "entropy")
    with pytest.raises(InputError, match=r"member 1 has the weight -2"):
        measure_disagreement(HAND, "jensen_shannon", weights=[1, -2, 1, 1])
    with pytest.raises(InputError, match=r"no probabilities.*vote_margin"):
        measure_disagreement(HAND * 2, "kl_to_mean")
    assert (measure_disagreement(HAND * 2) == measure_disagreement(HAND)).all()
