"""What the displays of boosters have in common: axes, room for text, refusals."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from tests.ensembles.boosting.ten_points import X as TEN
from tests.ensembles.boosting.ten_points import y as TEN_Y
from tests.theory.displayed import fits, three_classes

from committee.data import InputError
from committee.ensembles import BaggingClassifier
from committee.ensembles.boosting.adaboost import AdaBoostClassifier
from committee.ensembles.boosting.adaboost_mh import AdaBoostMHClassifier
from committee.ensembles.boosting.adaboost_r2 import AdaBoostRegressor
from committee.ensembles.boosting.first_boosting import FirstBoostingClassifier
from committee.ensembles.boosting.logitboost import LogitBoostClassifier
from committee.ensembles.boosting.lpboost import LPBoostClassifier
from committee.ensembles.boosting.multiboost import MultiBoostClassifier
from committee.theory.displays.boosters import label_ends
from committee.theory.displays.boosting_curve import BoostingCurveDisplay
from committee.theory.displays.decision_regions import DecisionRegionsDisplay
from committee.theory.displays.margin_distribution import MarginDistributionDisplay
from committee.theory.displays.member_weights import MemberWeightsDisplay
from committee.theory.displays.weight_share import WeightShareDisplay


def test_axes_are_reused(ten):
    figure, axes = plt.subplots(2, 4)
    curve = BoostingCurveDisplay.from_estimator(ten, TEN, TEN_Y, ax=axes[0, 0])
    margins = MarginDistributionDisplay.from_estimator(ten, TEN, TEN_Y, ax=axes[0, 1])
    share = WeightShareDisplay.from_estimator(ten, TEN, TEN_Y, ax=axes[0, 2])
    for display, ax in zip((curve, margins, share), axes[0], strict=False):
        assert display.ax_ is ax
        assert display.figure_ is figure
        assert ax.lines
    regions = DecisionRegionsDisplay.from_estimator(ten, TEN, TEN_Y, ax=axes[1])
    assert regions.axes_ == list(axes[1])
    members = MemberWeightsDisplay.from_estimator(ten, ax=axes[:, 3])
    assert members.axes_ == list(axes[:, 3])
    assert plt.get_fignums() == [figure.number]


def test_nothing_is_cut_off(ten, one_vs_rest):
    X, y = three_classes()
    name = "a booster with quite a long name"
    assert fits(
        BoostingCurveDisplay.from_estimator(
            {name: ten, "b": ten}, TEN[:4], [1] * 4, X_train=TEN, y_train=TEN_Y
        )
    )
    assert fits(MarginDistributionDisplay.from_estimator(ten, TEN, TEN_Y))
    assert fits(MemberWeightsDisplay.from_estimator({name: one_vs_rest}))
    assert fits(WeightShareDisplay.from_estimator({name: one_vs_rest, "b": one_vs_rest}, X, y))
    assert fits(DecisionRegionsDisplay.from_estimator(ten, TEN, TEN_Y))
    assert fits(DecisionRegionsDisplay.from_estimator(one_vs_rest, X, y))
    long = {f"{name}, number {k}": ten for k in range(3)}
    assert fits(MemberWeightsDisplay.from_estimator(long))


def test_labels_stay_apart_and_above_the_numbers_of_the_rounds():
    figure, ax = plt.subplots(layout="constrained")
    label_ends(ax, [(f"line {k}", 1e-4 * k, "black") for k in range(4)])
    figure.canvas.draw()
    boxes = sorted((text.get_window_extent() for text in ax.texts), key=lambda box: box.y0)
    for lower, upper in pairwise(boxes):
        assert upper.y0 > lower.y1 - 2
    assert boxes[0].y1 > ax.get_window_extent().y0


def drawn(display, model, X, y, **params):
    rows = () if display is MemberWeightsDisplay else (X, y)
    if display is DecisionRegionsDisplay:
        params["resolution"] = 10
    return display.from_estimator(model, *rows, **params)


ALL = (
    BoostingCurveDisplay,
    MarginDistributionDisplay,
    MemberWeightsDisplay,
    WeightShareDisplay,
    DecisionRegionsDisplay,
)


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostMHClassifier(n_estimators=3),
        FirstBoostingClassifier(random_state=0),
        LogitBoostClassifier(n_estimators=3),
        LPBoostClassifier(n_estimators=3),
        MultiBoostClassifier(n_estimators=4, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_kind_of_booster_is_drawn(model):
    X, y = three_classes()
    model.fit(X, y == "b")
    for display in ALL:
        found = drawn(display, model, X, y == "b")
        assert found.figure_ is found.ax_.get_figure(root=True)


@pytest.mark.parametrize("display", ALL)
def test_models_without_what_is_shown_are_refused_with_a_sentence(display):
    forest = BaggingClassifier(n_estimators=2, random_state=0).fit(TEN, TEN_Y)
    number = AdaBoostRegressor(n_estimators=2, random_state=0).fit(TEN, TEN[:, 0])
    with pytest.raises(NotFittedError):
        drawn(display, AdaBoostClassifier(), TEN, TEN_Y)
    if display is not BoostingCurveDisplay:  # any classifier with stages has errors
        with pytest.raises(InputError, match="BaggingClassifier has no"):
            drawn(display, forest, TEN, TEN_Y)
    if display is MemberWeightsDisplay:  # members of a regressor have weights and losses
        assert len(drawn(display, number, TEN, TEN[:, 0]).axes_) == 2
    else:
        with pytest.raises(InputError, match=r"predicts numbers|no staged_sample_weight"):
            drawn(display, number, TEN, TEN[:, 0])
    several = np.column_stack([TEN_Y, TEN[:, 0] > 4]).astype(int)
    model = AdaBoostMHClassifier(n_estimators=2).fit(TEN, several)
    if display in (MemberWeightsDisplay, WeightShareDisplay):  # weights of rows, whatever labels
        assert drawn(display, model, TEN, several).ax_.lines
    else:
        with pytest.raises(InputError, match="AdaBoostMHClassifier is shown with one label a row"):
            drawn(display, model, TEN, several)


def test_boosters_that_ended_early_are_marked(ten):
    longer = AdaBoostClassifier(n_estimators=6).fit(TEN, TEN_Y)
    share = WeightShareDisplay.from_estimator({"short": ten, "long": longer}, TEN, TEN_Y)
    dots = [line.get_xdata().tolist() for line in share.ax_.lines if line.get_marker() == "o"]
    assert dots == [[4]]  # the weights after three rounds
    curve = BoostingCurveDisplay.from_estimator(
        {"short": ten, "long": longer}, TEN, TEN_Y, X_train=TEN, y_train=TEN_Y
    )
    dots = [line.get_xdata().tolist() for line in curve.axes_[0].lines if line.get_marker() == "o"]
    assert dots == [[3]] * 4  # two errors and two bounds
    assert not [line for line in curve.axes_[1].lines if line.get_marker() == "o"]
