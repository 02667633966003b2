"""Bags: the bootstrap's counts (R31 to R33), what weights mean, and the bitmap of left-out rows."""

import itertools

import numpy as np
import pytest

from committee import InputError
from committee.core.bags import BagPlan, LeftOut, read_groups, repetitions


def keys(n, seed=0):
    return np.random.default_rng(seed).integers(0, 2**63, n).astype(np.uint64)


def weights(plan, n_members):
    bags = plan.native()
    return np.array([bags.weights(member) for member in range(n_members)])


def test_r31_share_of_distinct_rows():
    for n, share, sd in ((10, 0.6513, 0.0996), (100, 0.6340, 0.0312), (1000, 0.6323, 0.0099)):
        drawn = weights(BagPlan.of(keys(n), seed=1), 200)
        assert (drawn.sum(axis=1) == n).all()
        distinct = (drawn > 0).mean(axis=1)
        assert abs(distinct.mean() - share) < 3.5 * sd / np.sqrt(200)
        assert 0.8 * sd < distinct.std() < 1.2 * sd


def test_r32_three_of_five():
    """125 ordered samples, 35 multisets, 2.44 distinct rows on average."""
    drawn = weights(BagPlan.of(keys(5), seed=0, max_samples=3), 4000)
    assert (drawn.sum(axis=1) == 3).all()
    multisets, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(multisets) == 35
    assert abs((drawn > 0).sum(axis=1).mean() - 2.44) < 0.03
    ways = [6 / np.prod([np.prod(np.arange(1, k + 1)) for k in m]) for m in multisets]
    assert np.abs(counts / 4000 - np.array(ways) / 125).max() < 0.02
    assert len(list(itertools.combinations_with_replacement("abcde", 3))) == 35


def test_r33_left_out_counts_are_binomial():
    n, n_members = 400, 300
    left_out = LeftOut.of(BagPlan.of(keys(n), seed=2).native(), 0, n_members)
    share = (1 - 1 / n) ** n
    counts = left_out.counts()
    assert abs(counts.mean() / n_members - share) < 0.003
    expected = np.sqrt(n_members * share * (1 - share))
    assert 0.85 * expected < counts.std() < 1.15 * expected


@pytest.mark.parametrize("resampling", ["replace", "subset", "poisson", "exponential"])
def test_bags_are_keyed_by_content_and_member(resampling):
    plan = BagPlan.of(keys(60), seed=3, resampling=resampling)
    drawn = weights(plan, 5)
    assert len(np.unique(drawn, axis=0)) == 5
    np.testing.assert_array_equal(drawn, weights(plan, 5))
    assert (drawn != weights(plan.seeded(4), 5)).any()
    order = np.random.default_rng(0).permutation(60)
    moved = weights(BagPlan.of(plan.keys[order], seed=3, resampling=resampling), 5)
    np.testing.assert_array_equal(moved, drawn[:, order])


@pytest.mark.parametrize("resampling", ["replace", "subset", "poisson"])
@pytest.mark.parametrize("max_samples", [None, 0.7, 30])
def test_weight_k_is_k_copies(resampling, max_samples):
    rng = np.random.default_rng(4)
    times = rng.integers(0, 5, 50)
    content = keys(50)
    common = {"seed": 5, "resampling": resampling, "max_samples": max_samples}
    weighted = weights(BagPlan.of(content, weight=times * 0.25, **common), 4)
    copied = weights(BagPlan.of(np.repeat(content, times), **common), 4)
    row = np.repeat(np.arange(50), times)
    for alone, together in zip(copied, weighted, strict=True):
        np.testing.assert_array_equal(np.bincount(row, alone, minlength=50), together)


def test_repetitions():
    def read(*weight):
        units = repetitions(np.array(weight, dtype=float))
        return None if units is None else units.tolist()

    assert read(1, 2, 3) == [1, 2, 3]
    assert read(0.5, 1, 1.5) == [1, 2, 3]
    assert read(2, 0, 4) == [1, 0, 2]
    assert read(6, 10, 15) == [6, 10, 15]
    assert read(1e300, 3e300) == [1, 3]
    assert read(1e-300, 3e-300, 0) == [1, 3, 0]
    assert read(0.1, 0.2, 0.3, 0.7) == [1, 2, 3, 7]
    assert read(1, np.sqrt(2)) is None
    assert read(1, 1000) is None
    assert read(5e-324, 1e308) is None
    assert read(*([1.0] * 100), 1000.0)[-1] == 1000


def test_other_weights_are_relative_chances():
    weight = np.random.default_rng(6).exponential(size=40)
    weight[:5] = 0
    plan = BagPlan.of(keys(40), seed=0, weight=weight)
    assert plan.units is None
    assert plan.size == 35
    drawn = weights(plan, 2000)
    assert not drawn[:, :5].any()
    np.testing.assert_allclose(drawn.mean(axis=0) / 35, weight / weight.sum(), atol=0.006)
    assert not LeftOut.of(plan.native(), 0, 50).counts()[:5].any()


def test_sizes():
    def size(**plan):
        return BagPlan.of(keys(10), seed=0, **plan).size

    assert size() == 10
    assert size(max_samples=3) == 3
    assert size(max_samples=0.55) == 5
    assert size(max_samples=0.01) == 1
    assert size(max_samples=2.0) == 20
    assert size(resampling="subset") == 5
    assert size(weight=np.arange(10.0)) == 45
    assert size(weight=np.arange(10.0), max_samples=0.1) == 4
    assert size(groups=np.repeat(np.arange(5, dtype=np.uint32), 2)) == 5
    with pytest.raises(InputError, match=r"P-BAG.*11 different rows, there are 10"):
        size(resampling="subset", max_samples=11)
    with pytest.raises(InputError, match="bootstrap=False"):
        size(bootstrap=False, max_samples=3)


def test_without_bootstrap_every_row_once():
    plan = BagPlan.of(keys(7), seed=0, bootstrap=False, weight=np.arange(7.0))
    np.testing.assert_array_equal(weights(plan, 2), np.ones((2, 7)))
    assert not plan.leaves_out


def test_strata_keep_their_shares():
    strata = np.repeat(np.arange(3, dtype=np.uint32), [60, 30, 10])
    drawn = weights(BagPlan.of(keys(100), seed=0, strata=strata), 20)
    for code, count in enumerate([60, 30, 10]):
        assert (drawn[:, strata == code].sum(axis=1) == count).all()
    plain = weights(BagPlan.of(keys(100), seed=0), 20)
    assert (plain[:, strata == 0].sum(axis=1) != 60).any()


def test_groups_are_drawn_together():
    groups = read_groups(list("abcdefgh") * 4, 32)
    drawn = weights(BagPlan.of(keys(32), seed=0, groups=groups), 20)
    for member in drawn:
        for code in range(8):
            assert len(set(member[groups == code])) == 1
    assert (drawn.sum(axis=1) == 32).all()


def test_groups_are_checked():
    assert read_groups(None, 3) is None
    assert read_groups(["b", "a", "b"], 3).tolist() == [1, 0, 1]
    with pytest.raises(InputError, match=r"G-SHAPE.*\(2,\)"):
        read_groups(["a", "b"], 3)
    with pytest.raises(InputError, match=r"G-MISSING.*row 1"):
        read_groups(["a", None, "b"], 3)
    with pytest.raises(InputError, match="different classes: row 2"):
        BagPlan.of(
            keys(3),
            seed=0,
            groups=np.array([0, 1, 1], dtype=np.uint32),
            strata=np.array([0, 0, 1], dtype=np.uint32),
        )


def test_left_out_is_what_the_bag_lacks():
    plan = BagPlan.of(keys(37), seed=9, weight=np.arange(37) % 3 * 1.0)
    bags = plan.native()
    left_out = LeftOut.of(bags, 2, 12)
    drawn = np.array([bags.weights(member) for member in range(2, 12)])
    masks = (drawn == 0) & (plan.weight is None) & (np.arange(37) % 3 > 0)
    for member in range(10):
        np.testing.assert_array_equal(left_out.mask(member), masks[member])
    np.testing.assert_array_equal(left_out.counts(), masks.sum(axis=0))
    for row in (0, 1, 8, 36):
        np.testing.assert_array_equal(left_out.members_of(row), np.flatnonzero(masks[:, row]))
    joined = left_out[:4] + left_out[4:]
    np.testing.assert_array_equal(joined.bitmap, left_out.bitmap)
    np.testing.assert_array_equal(LeftOut.of_masks(masks).bitmap, left_out.bitmap)
