"""Out of bag: equal to brute force bit for bit, NaN where nobody left the row out."""

import numpy as np
import pytest

from committee import DataWarning, InputError, RandomForestClassifier
from committee.core.bags import BagPlan, LeftOut
from committee.core.outofbag import (
    LeakReport,
    OutOfBag,
    accumulate,
    compare_bags,
    compare_plans,
    compare_predictions,
)


def plan_of(n=20, **plan):
    keys = np.random.default_rng(0).integers(0, 2**63, n).astype(np.uint64)
    return BagPlan.of(keys, seed=0, **plan)


def test_sums_and_counts_by_hand():
    masks = np.array([[1, 0, 0], [1, 1, 0]], dtype=bool)
    outputs = [np.array([[1.0], [2.0], [3.0]]), np.array([[10.0], [20.0], [30.0]])]
    stages = [
        (s.sums.copy(), s.counts.copy(), s.means)
        for s in accumulate(outputs, LeftOut.of_masks(masks))
    ]
    np.testing.assert_array_equal(stages[0][0], [[1], [0], [0]])
    np.testing.assert_array_equal(stages[1][0], [[11], [20], [0]])
    np.testing.assert_array_equal(stages[1][1], [2, 1, 0])
    np.testing.assert_array_equal(stages[1][2], [[5.5], [20], [np.nan]])


def test_r33_never_left_out_is_nan_and_said():
    found = OutOfBag(np.zeros((3, 1)), np.array([1, 0, 0], dtype=np.uint32))
    np.testing.assert_array_equal(found.means, [[0], [np.nan], [np.nan]])
    with pytest.warns(DataWarning, match=r"B-NEVER-OUT.*row 1\b"):
        found.warn_unknown(np.array([True, True, False]))
    found.warn_unknown(np.array([True, False, False]))


def test_bags_are_compared_member_by_member():
    bags = plan_of().native()
    left_out = LeftOut.of(bags, 0, 40)
    compare_bags(bags, left_out)
    for member, row in ((0, 0), (17, 13), (39, 19)):
        masks = np.array([left_out.mask(m) for m in range(40)])
        masks[member, row] ^= True
        with pytest.raises(InputError, match=rf"M-LEAK.*member {member}, row {row}: "):
            compare_bags(bags, LeftOut.of_masks(masks))


def test_plans_are_compared():
    known = plan_of(weight=np.arange(20.0))
    compare_plans(known, plan_of(weight=np.arange(20.0)))
    with pytest.raises(InputError, match="19 rows, the model was fitted on 20"):
        compare_plans(known, plan_of(19))
    changed = plan_of(weight=np.arange(20.0))
    changed.keys[3] += np.uint64(1)
    with pytest.raises(InputError, match=r"M-LEAK.*row 3"):
        compare_plans(known, changed)
    with pytest.raises(InputError, match=r"P-WARM.*sample_weight"):
        compare_plans(known, plan_of(), "P-WARM")
    with pytest.raises(InputError, match="other units than in fit"):
        compare_plans(known, plan_of(weight=np.roll(np.arange(20.0), 1)))


def test_predictions_are_compared():
    one = np.array([[1.0], [np.nan]])
    compare_predictions(one, one.copy(), "x")
    with pytest.raises(InputError, match="row 1"):
        compare_predictions(one, np.array([[1.0], [0.0]]), "x")
    with pytest.raises(InputError, match="row 0"):
        compare_predictions(one, np.nextafter(one, 2), "x")
    with pytest.raises(InputError, match="shape"):
        compare_predictions(one, one[:1], "x")


def test_report_is_a_sentence():
    text = str(LeakReport(7, 30, 80))
    assert text.startswith("No leak: the bags of 7 members over 30 rows")
    assert "80 out-of-bag predictions" in text


def test_other_values_in_the_same_order_are_not_the_training_rows():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] > 0
    model = RandomForestClassifier(10, random_state=0).fit(X, y)
    model.verify_no_leak(X, y)
    for ask in (model.verify_no_leak, model.oob_curve, model.permutation_importance):
        with pytest.raises(InputError, match="values are not those of fit"):
            ask(X + 1, y)
