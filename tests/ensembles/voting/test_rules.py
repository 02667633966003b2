"""The rules of combination, held against hand-made numbers, NumPy, SciPy and repetition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from committee.core.voting import mean
from committee.ensembles.voting.rules import (
    class_rule,
    maximum,
    median,
    number_rule,
    product,
    trimmed_mean,
)

few = settings(max_examples=20)
NAMES = ["hard", "soft", "product", "max", "median", "trimmed_mean"]


def said(*numbers):
    return np.array(numbers, dtype=float).reshape(len(numbers), 1, -1)


@st.composite
def shares(draw):
    """Probabilities of up to 6 members, with zeros and ties, and whole weights."""
    shape = draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(st.integers(2, 4))
    counts = draw(hnp.arrays(float, shape, elements=st.integers(0, 4).map(float)))
    counts[counts.sum(axis=2) == 0] = 1.0
    weights = draw(st.lists(st.integers(0, 3), min_size=shape[0], max_size=shape[0]))
    return counts / counts.sum(axis=2, keepdims=True), weights if any(weights) else [1] * shape[0]


def test_medians_by_hand():
    assert median(said(5, 1, 3)).item() == 3
    assert median(said(5, 1, 3, 4)).item() == 3.5
    assert median(said(5, 1, 3), [3, 1, 1]).item() == 5
    assert median(said(5, 1, 3), [2, 1, 1]).item() == 4  # half on either side of (3, 5)
    assert median(said(5, 1, 3), [0, 1, 1]).item() == 2


@few
@given(
    hnp.arrays(
        float, st.tuples(st.integers(1, 7), st.just(3), st.just(2)), elements=st.floats(-9, 9)
    )
)
def test_equal_members_are_numpy_and_scipy(outputs):
    np.testing.assert_allclose(median(outputs), np.median(outputs, axis=0), atol=1e-12)
    n = len(outputs)
    for cut in range((n - 1) // 2 + 1):
        np.testing.assert_allclose(
            trimmed_mean(outputs, trim=cut / n),
            stats.trim_mean(outputs, cut / n, axis=0),
            atol=1e-9,
        )
    np.testing.assert_allclose(trimmed_mean(outputs, trim=0), mean(outputs), atol=1e-12)
    np.testing.assert_allclose(trimmed_mean(outputs, trim=0.4999999), median(outputs), atol=1e-5)


def test_a_member_at_the_edge_counts_with_the_rest_of_its_weight():
    """Five members, a tenth of the weight cut: half of the first and of the last one."""
    assert trimmed_mean(said(0, 1, 2, 3, 100), trim=0.1).item() == pytest.approx(
        (0.5 * 0 + 1 + 2 + 3 + 0.5 * 100) / 4
    )


@few
@given(shares())
def test_weight_k_counts_like_k_members(vote):
    outputs, weights = vote
    repeated = np.repeat(outputs, weights, axis=0)
    for name in NAMES:
        rule = class_rule(name, trim=0.2)
        found, expected = rule(outputs, weights), rule(repeated, None)
        if name == "hard":  # equal weights count 1 each, whatever they are
            found, expected = found / found.sum(), expected / expected.sum()
        np.testing.assert_allclose(found, expected, atol=1e-9)
    for name in ("mean", "median", "trimmed_mean"):
        rule = number_rule(name, trim=0.3)
        np.testing.assert_allclose(rule(outputs, weights), rule(repeated, None), atol=1e-9)


@few
@given(shares())
def test_shares_sum_to_one_and_unanimous_members_are_heard(vote):
    outputs, weights = vote
    for name in NAMES[1:]:
        found = class_rule(name)(outputs, weights)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        assert (found >= 0).all()
        same = np.repeat(outputs[:1], len(outputs), axis=0)
        np.testing.assert_allclose(class_rule(name)(same, weights), outputs[0], atol=1e-12)


@few
@given(shares())
def test_the_order_of_members_does_not_matter(vote):
    outputs, weights = vote
    for name in NAMES:
        rule = class_rule(name)
        forth, back = rule(outputs, weights), rule(outputs[::-1], weights[::-1])
        np.testing.assert_allclose(forth, back, atol=1e-9)


def test_product_by_hand():
    outputs = said([0.5, 0.5], [0.9, 0.1])
    root = np.sqrt([[0.45, 0.05]])
    np.testing.assert_allclose(product(outputs), root / root.sum())
    cubed = np.array([[0.5 * 0.9**3, 0.5 * 0.1**3]]) ** 0.25
    np.testing.assert_allclose(product(outputs, [1, 3]), cubed / cubed.sum())


def test_a_zero_is_a_veto_unless_all_are_vetoed():
    np.testing.assert_array_equal(product(said([0, 0.2, 0.8], [0.9, 0.1, 0])), [[0, 1, 0]])
    np.testing.assert_array_equal(product(said([1, 0], [0, 1]), [1, 3]), [[0.25, 0.75]])
    np.testing.assert_array_equal(product(said([1, 0], [0.5, 0.5]), [0, 1]), [[0.5, 0.5]])


def test_a_product_of_many_does_not_vanish():
    outputs = np.repeat(said([1e-300, 1.0]), 50, axis=0)
    np.testing.assert_allclose(product(outputs), [[1e-300, 1]], rtol=1e-6)


def test_medians_of_classes_may_all_be_zero():
    """Three members are sure of three classes: no median is left, and the mean decides."""
    found = class_rule("median")(np.eye(3)[:, None, :], None)
    np.testing.assert_allclose(found, [[1 / 3] * 3])


def test_maximum_by_hand():
    found = maximum(said([0.6, 0.4], [0.7, 0.3], [0.1, 0.9]), [1, 1, 0])
    np.testing.assert_allclose(found, [[0.7 / 1.1, 0.4 / 1.1]])
