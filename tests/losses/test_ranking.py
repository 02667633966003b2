"""LambdaMART, RankNet and NDCG: by hand, against all pairs, and what must not change them."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score
from tests.oracles import ranking as oracle

from committee.data import InputError
from committee.data.groups import read_queries
from committee.losses.ranking import LambdaMART, Pairwise, ndcg

LOG2_3 = math.log2(3)
PARAMS = {
    "k": st.sampled_from([None, 1, 3, 10]),
    "normalize": st.booleans(),
    "gain": st.sampled_from(["exponential", "linear"]),
    "sigmoid": st.sampled_from([1.0, 0.5, 2.0]),
}


@st.composite
def lists(draw, *, distinct=False):
    """Scores and relevances of one to four groups: (score, y, sizes)."""
    sizes = draw(st.lists(st.integers(1, 12), min_size=1, max_size=4))
    n = sum(sizes)
    scale = draw(st.sampled_from([0.01, 1.0, 100.0]))  # the last goes beyond the table of powers
    whole = draw(st.lists(st.integers(-40, 40), min_size=n, max_size=n, unique=distinct))
    y = draw(st.lists(st.sampled_from([0, 0, 1, 2, 3, 0.5]), min_size=n, max_size=n))
    return scale * np.array(whole, dtype=float), np.array(y, dtype=float), sizes


def begin_of(sizes):
    return np.concatenate([[0], np.cumsum(sizes)])


def by_group(sizes, *arrays):
    begin = begin_of(sizes)
    return [[a[i:j].tolist() for a in arrays] for i, j in itertools.pairwise(begin)]


def close(found, expected, scale=1.0):
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-13 * scale)


def test_three_documents_by_hand():
    """Scores 2, 1, 0 and relevances 0, 1, 2: every pair is in the wrong order."""
    y, raw = np.array([0.0, 1, 2]), np.array([2.0, 1, 0])
    ideal = 3 + 1 / LOG2_3
    p1, p2 = 1 / (1 + math.exp(-1)), 1 / (1 + math.exp(-2))
    w01 = (1 - 0) * (1 - 1 / LOG2_3) / ideal
    w02 = (3 - 0) * (1 - 1 / 2) / ideal
    w12 = (3 - 1) * (1 / LOG2_3 - 1 / 2) / ideal
    gradient, hessian = LambdaMART(normalize=False).with_groups([0, 3]).gradient_hessian(y, raw)
    close(gradient, [w01 * p1 + w02 * p2, w12 * p1 - w01 * p1, -w02 * p2 - w12 * p1])
    h1, h2 = p1 * (1 - p1), p2 * (1 - p2)
    close(hessian, [w01 * h1 + w02 * h2, w01 * h1 + w12 * h1, w02 * h2 + w12 * h1])
    gradient, _ = Pairwise().with_groups([0, 3]).gradient_hessian(y, raw)
    close(gradient, [p1 + p2, 0, -p1 - p2])
    close(ndcg(raw, y, [7, 7, 7]), (1 / LOG2_3 + 3 / 2) / ideal)


def test_truncation_by_hand():
    """k = 1: the pair of the second and third document is left out, and the ideal is 3."""
    y, raw = np.array([0.0, 1, 2]), np.array([2.0, 1, 0])
    loss = LambdaMART(k=1, normalize=False).with_groups([0, 3])
    p1, p2 = 1 / (1 + math.exp(-1)), 1 / (1 + math.exp(-2))
    first, last = (1 - 1 / LOG2_3) / 3 * p1, 1 / 2 * p2
    close(loss.gradient_hessian(y, raw)[0], [first + last, -first, -last])


@given(lists(), st.fixed_dictionaries(PARAMS))
def test_lambdas_are_those_of_all_pairs(problem, params):
    raw, y, sizes = problem
    gradient, hessian = LambdaMART(**params).with_groups(begin_of(sizes)).gradient_hessian(y, raw)
    linear = params["gain"] == "linear"
    expected = [
        oracle.lambdas(s, r, params["k"], linear, params["normalize"], params["sigmoid"])
        for s, r in by_group(sizes, raw, y)
    ]
    close(gradient, np.concatenate([g for g, _ in expected]))
    close(hessian, np.concatenate([h for _, h in expected]))


@given(lists(), st.fixed_dictionaries(PARAMS))
def test_lambdas_of_a_group_sum_to_zero(problem, params):
    raw, y, sizes = problem
    gradient, hessian = LambdaMART(**params).with_groups(begin_of(sizes)).gradient_hessian(y, raw)
    sums = np.add.reduceat(gradient, begin_of(sizes)[:-1])
    assert np.abs(sums).max() <= 1e-14 * (1 + np.abs(gradient).sum())
    assert (hessian >= 0).all()


@given(lists(), st.fixed_dictionaries(PARAMS))
def test_lambdas_are_a_gradient_where_weights_are_fixed(problem, params):
    """The sum of weight * logistic loss, whose weights are those at the scores, has this slope."""
    raw, y, sizes = problem
    raw, y = raw[: sizes[0]] / max(1.0, np.abs(raw).max() / 3), y[: sizes[0]]
    weights = oracle.pair_weights(raw.tolist(), y.tolist(), params["k"], normalize=False)

    def surrogate(scores):
        return sum(
            w * math.log1p(math.exp(-(scores[i] - scores[j]))) for (i, j), w in weights.items()
        )

    loss = LambdaMART(k=params["k"], normalize=False).with_groups([0, len(y)])
    slopes = finite_differences(surrogate, raw)
    np.testing.assert_allclose(loss.gradient_hessian(y, raw)[0], slopes, atol=1e-8)


def finite_differences(function, raw, step=1e-5):
    out = []
    for i in range(len(raw)):
        moved = [raw + side * step * (np.arange(len(raw)) == i) for side in (1, -1)]
        out.append((function(moved[0]) - function(moved[1])) / (2 * step))
    return np.array(out)


@given(lists(), PARAMS["sigmoid"])
def test_pairwise_is_that_of_all_pairs(problem, sigmoid):
    raw, y, sizes = problem
    loss = Pairwise(sigmoid=sigmoid).with_groups(begin_of(sizes))
    gradient, hessian = loss.gradient_hessian(y, raw)
    groups = by_group(sizes, raw, y)
    values = [oracle.pairwise_value(s, r, sigmoid) for s, r in groups]
    pairs = [oracle.gradients(s, dict.fromkeys(oracle.pairs(r), 1.0), sigmoid) for s, r in groups]
    close(loss.value(y, raw), np.concatenate(values))
    close(gradient, np.concatenate([g for g, _, _ in pairs]), 100)
    close(hessian, np.concatenate([h for _, h, _ in pairs]), 100)


@given(lists())
def test_pairwise_gradient_is_the_slope_of_its_value(problem):
    raw, y, sizes = problem
    raw = raw / max(1.0, np.abs(raw).max() / 3)
    loss = Pairwise().with_groups(begin_of(sizes))
    gradient, hessian = loss.gradient_hessian(y, raw)
    slopes = finite_differences(lambda scores: loss.value(y, scores).sum(), raw)
    np.testing.assert_allclose(gradient, slopes, atol=1e-8)
    jacobian = finite_differences(lambda scores: loss.gradient_hessian(y, scores)[0], raw)
    np.testing.assert_allclose(hessian, np.diag(jacobian), atol=1e-8)


@given(lists(distinct=True), st.fixed_dictionaries(PARAMS), st.randoms(use_true_random=False))
def test_order_of_rows_changes_no_bit(problem, params, random):
    raw, y, sizes = problem
    ids = np.repeat(np.arange(len(sizes)), sizes)
    shuffled = np.array(random.sample(range(len(y)), len(y)))
    groups = read_queries(ids[shuffled], len(y))
    for loss in (LambdaMART(**params), Pairwise()):
        plain = loss.with_groups(begin_of(sizes))
        mixed = loss.with_groups(groups.begin, groups.order)
        for a, b in zip(
            plain.gradient_hessian(y, raw),
            mixed.gradient_hessian(y[shuffled], raw[shuffled]),
            strict=True,
        ):
            assert (a[shuffled] == b).all()
        assert np.allclose(plain.value(y, raw)[shuffled], mixed.value(y[shuffled], raw[shuffled]))


@pytest.mark.sanitize
@pytest.mark.parametrize("k", [None, 10])
def test_threads_change_no_bit(k):
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 120, 300)
    n = sizes.sum()
    raw, y = rng.normal(size=n), rng.integers(0, 5, n).astype(float)
    for loss in (LambdaMART(k=k), Pairwise()):
        one, many = (loss.with_groups(begin_of(sizes), n_threads=t) for t in (1, 4))
        for a, b in zip(one.gradient_hessian(y, raw), many.gradient_hessian(y, raw), strict=True):
            assert (a == b).all()
        assert (one.value(y, raw) == many.value(y, raw)).all()


@given(lists(), PARAMS["k"], PARAMS["gain"])
def test_ndcg_is_that_of_the_definition(problem, k, gain):
    raw, y, sizes = problem
    ids = np.repeat(np.arange(len(sizes)), sizes)
    expected = [oracle.ndcg(s, r, k, gain == "linear") for s, r in by_group(sizes, raw, y)]
    close(ndcg(raw, y, ids, k, gain=gain), expected)


@pytest.mark.parametrize("k", [None, 1, 5, 50])
def test_ndcg_is_scikit_learns_without_ties(k):
    rng = np.random.default_rng(1)
    for _ in range(20):
        raw, y = rng.permutation(30) / 7, rng.integers(0, 5, 30)
        ids = np.zeros(30)
        assert ndcg(raw, y, ids, k, gain="linear")[0] == pytest.approx(
            ndcg_score([y], [raw], k=k), abs=1e-13
        )
        assert ndcg(raw, y, ids, k)[0] == pytest.approx(
            ndcg_score([2.0**y - 1], [raw], k=k), abs=1e-13
        )


def test_ties_rank_by_row_and_nothing_relevant_counts_one():
    assert ndcg([1, 1], [1, 0], [0, 0])[0] == 1
    assert ndcg([1, 1], [0, 1], [0, 0])[0] == pytest.approx(1 / LOG2_3, abs=1e-15)
    assert ndcg([3, 1, 2], [0, 0, 0], ["a", "b", "a"]).tolist() == [1, 1]


def test_mean_of_values_counts_groups_alike():
    y, raw = np.array([0.0, 1, 1, 0, 0, 2]), np.array([2.0, 1, 6, 5, 4, 3])
    loss = LambdaMART(k=5).with_groups([0, 2, 6])
    1 - ndcg(raw, y, [0, 0, 1, 1, 1, 1], 5).mean()
    assert loss.value(y, raw).mean() == pytest.approx(
        1 - ndcg(raw, y, [0, 0, 1, 1, 1, 1], 5).mean()
    )


@pytest.mark.parametrize("loss", [LambdaMART(), LambdaMART(normalize=False, k=2), Pairwise()])
def test_everything_is_finite(loss):
    y = np.array([0.0, 1, 2, 3, 0])
    for raw in (
        [1e308, -1e308, 0, 5, 5],
        [-1e150, 1e150, 1e-300, -1e-300, 0],
        [0, 800, -800, 1, 2],
    ):
        bound = loss.with_groups([0, 4, 5])
        gradient, hessian = bound.gradient_hessian(y, np.array(raw, dtype=float))
        assert np.isfinite(gradient).all()
        assert np.isfinite(hessian).all()
        assert (hessian >= 0).all()
        assert gradient[4] == 0  # alone in its group


def test_a_gradient_that_almost_vanishes_stays():
    """log2(1 + S) / S by the plain formula is 0 for S below 1e-16."""
    loss = LambdaMART().with_groups([0, 2])
    gradient, _ = loss.gradient_hessian(np.array([1.0, 0]), np.array([60.0, 0]))
    pair = math.exp(-60) * (1 - 1 / LOG2_3) / 60.01
    assert gradient[0] == pytest.approx(-pair / math.log(2), rel=1e-12)


def test_a_loss_is_bound_to_groups_in_a_copy():
    loss = LambdaMART(k=3)
    bound = loss.with_groups([0, 2])
    assert loss.queries is None
    assert bound == loss
    assert repr(bound) == repr(loss)
    assert bound.start(np.zeros(2), np.ones(2)).tolist() == [0]
    again = pickle.loads(pickle.dumps(copy.deepcopy(bound)))
    y, raw = np.array([0.0, 1]), np.array([0.5, 0.1])
    assert (again.gradient_hessian(y, raw)[0] == bound.gradient_hessian(y, raw)[0]).all()
    assert (bound.predict(raw) == raw).all()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"k": 0}, "k"),
        ({"k": 2.5}, "k"),
        ({"k": True}, "k"),
        ({"gain": "cubic"}, "gain"),
        ({"sigmoid": 0}, "sigmoid"),
        ({"sigmoid": math.inf}, "sigmoid"),
        ({"sigmoid": "1"}, "sigmoid"),
    ],
)
def test_parameters_are_checked(arguments, name):
    with pytest.raises(ValueError, match=rf"P-VALUE.*{name}"):
        LambdaMART(**arguments)


def test_targets_and_groups_are_checked():
    with pytest.raises(InputError, match=r"Y-RELEVANCE.*row 1, first value -1"):
        LambdaMART().check_target(np.array([0.0, -1]))
    with pytest.raises(InputError, match=r"Y-RELEVANCE.*row 0, first value 32.*linear"):
        LambdaMART().check_target(np.array([32.0, 1]))
    LambdaMART(gain="linear").check_target(np.array([32.0, 0]))
    Pairwise().check_target(np.array([-5.0, 1e9]))
    with pytest.raises(InputError, match=r"G-SHAPE.*LambdaMART does not know.*with_groups"):
        LambdaMART().value(np.zeros(2), np.zeros(2))
    with pytest.raises(InputError, match=r"G-SHAPE.*the groups have 2 rows"):
        Pairwise().with_groups([0, 2]).value(np.zeros(3), np.zeros(3))
    for begin in ([], [1, 2], [0, 3, 2]):
        with pytest.raises(InputError, match=r"G-SHAPE.*begin"):
            Pairwise().with_groups(begin)
    for order in ([0], [0, 0], [1, 2]):
        with pytest.raises(InputError, match=r"G-SHAPE.*order"):
            Pairwise().with_groups([0, 2], order)
