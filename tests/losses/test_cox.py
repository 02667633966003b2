"""Cox's loss against a naive double sum with ties and censoring, and against XGBoost."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.losses.stock import STOCK, target

from committee.losses import Cox

few = settings(max_examples=60)


def naive(y, raw):
    """Breslow's partial likelihood by its definition, O(n^2), with its derivatives."""
    hazard, time = np.exp(raw), np.abs(y)
    values, gradient, hessian = np.zeros(len(y)), np.zeros(len(y)), np.zeros(len(y))
    for i in np.flatnonzero(y > 0):
        at_risk = time >= time[i]
        share = np.where(at_risk, hazard, 0.0) / hazard[at_risk].sum()
        values[i] = np.log(hazard[at_risk].sum()) - raw[i]
        gradient += share
        gradient[i] -= 1
        hessian += share * (1 - share)
    return values, gradient, hessian


@st.composite
def lives(draw):
    rows = draw(
        st.lists(
            st.tuples(st.integers(1, 6), st.booleans(), st.floats(-5, 5)), min_size=1, max_size=25
        )
    )
    y = np.array([float(time if event else -time) for time, event, _ in rows])
    return y, np.array([score for _, _, score in rows])


@few
@given(lives())
def test_it_is_the_naive_double_sum(drawn):
    y, raw = drawn
    gradient, hessian = Cox().gradient_hessian(y, raw)
    for found, expected in zip(
        (Cox().value(y, raw), gradient, hessian), naive(y, raw), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


def test_a_case_by_hand():
    # Two events at 1, one row lost at 1, an event at 2: all four, then one at risk.
    y = np.array([2.0, 1.0, -1.0, 1.0])
    loss = Cox()
    np.testing.assert_allclose(loss.value(y, np.zeros(4)), [0.0, np.log(4), 0.0, np.log(4)])
    gradient, hessian = loss.gradient_hessian(y, np.zeros(4))
    np.testing.assert_allclose(gradient, [2 / 4 + 1 - 1, 2 / 4 - 1, 2 / 4, 2 / 4 - 1], atol=1e-15)
    np.testing.assert_allclose(hessian, 2 * 3 / 16, rtol=1e-14)


@few
@given(lives(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_a_bit(drawn, random):
    y, raw = drawn
    order = list(range(len(y)))
    random.shuffle(order)
    for straight, shuffled in zip(
        (Cox().value(y, raw), *Cox().gradient_hessian(y, raw)),
        (Cox().value(y[order], raw[order]), *Cox().gradient_hessian(y[order], raw[order])),
        strict=True,
    ):
        assert (straight[order] == shuffled).all()


@few
@given(lives(), st.floats(-300, 300))
def test_a_constant_on_all_scores_does_not_matter(drawn, constant):
    y, raw = drawn
    loss = Cox()
    np.testing.assert_allclose(loss.value(y, raw + constant), loss.value(y, raw), atol=1e-10)
    gradient = loss.gradient_hessian(y, raw)[0]
    assert abs(gradient.sum()) <= 1e-10 * len(y)  # so the gradient sums to zero
    np.testing.assert_allclose(loss.gradient_hessian(y, raw + constant)[0], gradient, atol=1e-10)


def test_scores_that_differ_by_far_neither_over_nor_underflow():
    y = np.array([1.0, 2.0, 3.0, 4.0])
    raw = np.array([1000.0, -1000.0, -1500.0, -1500.0])
    gradient, hessian = Cox().gradient_hessian(y, raw)
    # At risk with the third row is one of the same score; the second towers over both.
    np.testing.assert_allclose(Cox().value(y, raw), [0.0, 0.0, np.log(2), 0.0], atol=1e-12)
    np.testing.assert_allclose(gradient, [0.0, 0.0, -0.5, 0.5], atol=1e-12)
    np.testing.assert_allclose(hessian, [0.0, 0.0, 0.25, 0.25], atol=1e-12)


def test_many_rows_sum_as_exactly_as_few():
    rng = np.random.default_rng(0)
    y = rng.exponential(size=2000).round(2) + 0.01
    y *= rng.choice([-1, 1], 2000)
    raw = rng.normal(size=2000)
    gradient, hessian = Cox().gradient_hessian(y, raw)
    expected = naive(y, raw)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(hessian, expected[2], rtol=1e-10, atol=1e-11)


def test_predictions_are_hazard_ratios():
    np.testing.assert_allclose(Cox().predict(np.log([1.0, 2.0])), [1.0, 2.0])


@pytest.mark.parametrize("seed", range(3))
def test_gradients_are_those_of_xgboost(seed):
    # No ties: XGBoost lets an event count only for those tied rows that come after it.
    xgboost = pytest.importorskip("xgboost", reason="compares with XGBoost's survival:cox")
    rng = np.random.default_rng(seed)
    n = 60
    y = rng.permutation(n) + 1.0
    y *= rng.choice([-1.0, 1.0], n)
    raw = rng.normal(size=n)
    gradient, hessian = Cox().gradient_hessian(y, raw)
    # A tree with a leaf for each row shows the derivatives: cover is h, the leaf is -g / h.
    X = gradient.argsort().argsort().astype(float)[:, None]
    rows = xgboost.DMatrix(X, label=y, base_margin=raw)
    params = {"objective": "survival:cox", "tree_method": "exact", "max_depth": 40, "eta": 1.0}
    params |= {"reg_lambda": 0.0, "min_child_weight": 0.0, "gamma": 0.0, "nthread": 1}
    model = xgboost.train(params, rows, num_boost_round=1)
    tree = model.trees_to_dataframe()
    leaves = tree[tree.Feature == "Leaf"].set_index("Node")
    leaf_of_row = model.predict(rows, pred_leaf=True).astype(int).ravel()
    assert len(leaves) > n / 3
    for leaf, row in leaves.iterrows():
        inside = leaf_of_row == leaf
        assert row.Cover == pytest.approx(hessian[inside].sum(), rel=1e-4, abs=1e-6)
        expected = -gradient[inside].sum()
        assert row.Gain * row.Cover == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_stock_targets_have_ties_and_censored_rows():
    (loss,) = (loss for loss in STOCK if isinstance(loss, Cox))
    y = target(loss, np.random.default_rng(0))
    assert len(np.unique(np.abs(y))) < len(y)
    assert (y < 0).any()
