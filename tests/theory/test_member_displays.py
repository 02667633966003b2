"""Displays of members and of the weight of rows: what is drawn is what was computed by hand."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from tests.ensembles.boosting.ten_points import X as TEN
from tests.ensembles.boosting.ten_points import y as TEN_Y
from tests.theory.displayed import ALPHA, EPS, three_classes, written

from committee.data import InputError
from committee.ensembles.boosting.adaboost import AdaBoostClassifier
from committee.ensembles.boosting.adaboost_mh import AdaBoostMHClassifier
from committee.ensembles.boosting.gentleboost import GentleBoostClassifier
from committee.ensembles.boosting.logitboost import LogitBoostClassifier
from committee.theory.displays.decision_regions import DecisionRegionsDisplay
from committee.theory.displays.member_weights import MemberNumbers, MemberWeightsDisplay
from committee.theory.displays.weight_share import WeightShareDisplay, heaviest_share


def test_r1_weights_and_errors_of_members(ten):
    display = MemberWeightsDisplay.from_estimator(ten)
    above, below = display.axes_
    np.testing.assert_allclose(above.lines[0].get_ydata(), ALPHA)
    np.testing.assert_allclose(below.lines[0].get_ydata(), EPS)
    np.testing.assert_array_equal(above.lines[0].get_xdata(), [1, 2, 3])
    assert written(below) == ["chance"]
    assert display.members["AdaBoostClassifier"].chance == 0.5


def test_members_of_several_classes(one_vs_rest):
    X, y = three_classes()
    samme = AdaBoostClassifier(n_estimators=4).fit(X, y)
    (of_samme,) = MemberWeightsDisplay.from_estimator(samme).members.values()
    assert of_samme.chance == pytest.approx(2 / 3)
    display = MemberWeightsDisplay.from_estimator(one_vs_rest)
    assert list(display.members) == [f"{label} against the rest" for label in "abc"]
    for part, found in zip(one_vs_rest.parts_, display.members.values(), strict=True):
        np.testing.assert_array_equal(found.weights, part.estimator_weights_)
        np.testing.assert_array_equal(found.errors, part.rounds_["error"])


def test_errors_come_from_the_edge_where_that_is_all_there_is():
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 2)), rng.integers(0, 2, 60)
    model = GentleBoostClassifier(n_estimators=5).fit(X, y)
    found = MemberWeightsDisplay.from_estimator(model).members["GentleBoostClassifier"]
    np.testing.assert_allclose(found.errors, (1 - model.rounds_["edge"]) / 2)
    alone = MemberWeightsDisplay.from_estimator(LogitBoostClassifier(n_estimators=5).fit(X, y))
    assert len(alone.axes_) == 1


def test_wrong_members(ten):
    with pytest.raises(NotFittedError):
        MemberWeightsDisplay.from_estimator(AdaBoostClassifier())
    with pytest.raises(InputError, match="members"):
        MemberWeightsDisplay(MemberNumbers([0.1, 0.2], [0.1]))
    with pytest.raises(InputError, match="1 axes for weight and weighted error"):
        MemberWeightsDisplay.from_estimator(ten, ax=plt.subplots()[1])
    with pytest.raises(InputError, match="LogisticRegression has no rounds_"):
        MemberWeightsDisplay.from_estimator(LogisticRegression().fit(TEN, TEN_Y))


# The noise alarm.


@pytest.mark.parametrize(
    ("weights", "share", "expected"),
    [
        ([1, 1, 1, 1], 0.05, 0.05),
        ([0, 0, 5, 0], 0.25, 1.0),
        ([1, 2, 3, 4], 0.5, 0.7),
        ([1, 2, 3, 4], 0.375, 0.55),  # the heaviest, and half of the next
        ([4], 0.5, 0.5),
    ],
)
def test_heaviest_share(weights, share, expected):
    assert heaviest_share(weights, share) == pytest.approx(expected)


def test_r2_weight_share_of_the_ten_points(ten):
    display = WeightShareDisplay.from_estimator(ten, TEN, TEN_Y, share=0.3)
    # D1 is even, then the three points that the last stump missed hold one half.
    np.testing.assert_allclose(display.shares["AdaBoostClassifier"], [0.3, 0.5, 0.5, 0.5])
    assert display.final == {"AdaBoostClassifier": pytest.approx(0.5)}
    np.testing.assert_array_equal(display.lines_[0].get_xdata(), [1, 2, 3, 4])
    assert written(display.ax_) == ["if all weighed alike  30 %", "AdaBoostClassifier  50 %"]
    (level,) = [line for line in display.ax_.lines if line not in display.lines_]
    np.testing.assert_array_equal(level.get_ydata(), 0.3)


def test_weight_share_per_class(one_vs_rest):
    X, y = three_classes()
    display = WeightShareDisplay.from_estimator(one_vs_rest, X, y)
    *_, last = one_vs_rest.staged_sample_weight(X, y)
    expected = {
        f"{label} against the rest": heaviest_share(d) for label, d in zip("abc", last, strict=True)
    }
    assert display.final == expected
    two = WeightShareDisplay.from_estimator({"one": one_vs_rest, "other": one_vs_rest}, X, y)
    assert "other: c against the rest" in two.shares


def test_weights_of_pairs_are_summed_by_row():
    X, y = three_classes()
    model = AdaBoostMHClassifier(n_estimators=4).fit(X, y)
    *_, last = model.staged_sample_weight(X, y)
    assert last.shape == (len(X), 3)
    by_hand = np.sort(last.sum(axis=1))[-9:].sum() / last.sum()
    display = WeightShareDisplay.from_estimator(model, X, y, share=0.1)
    assert display.final == {"AdaBoostMHClassifier": pytest.approx(by_hand)}
    regions = DecisionRegionsDisplay.from_estimator(model, X, y, rounds=[2], resolution=20)
    second = list(model.staged_sample_weight(X, y))[1]
    np.testing.assert_allclose(regions.panels[0].weights, second.sum(axis=1))


def test_wrong_weight_share(ten):
    with pytest.raises(NotFittedError):
        WeightShareDisplay.from_estimator(AdaBoostClassifier(), TEN, TEN_Y)
    for share in (0, 1, -0.1, np.nan):
        with pytest.raises(InputError, match="share"):
            WeightShareDisplay.from_estimator(ten, TEN, TEN_Y, share=share)
    for weights in ([], [[1.0]], [-1, 2], [0, 0], [np.nan, 1]):
        with pytest.raises(InputError, match="weights"):
            heaviest_share(weights)
    with pytest.raises(InputError, match="shares"):
        WeightShareDisplay([[0.1]])
