"""Decision regions: what is drawn is what was computed by hand."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from tests.ensembles.boosting.ten_points import X as TEN
from tests.ensembles.boosting.ten_points import y as TEN_Y
from tests.theory.displayed import ALPHA, EPS, three_classes

from committee.data import InputError
from committee.ensembles.boosting.adaboost import AdaBoostClassifier
from committee.theory.displays.decision_regions import DecisionRegionsDisplay
from committee.theory.displays.region_panels import RegionsPanel


def at(display, panel, x, y):
    """Read the region that a point lies in."""
    column, row = (np.argmin(np.abs(g - v)) for g, v in zip(display.grid, (x, y), strict=True))
    return display.panels[panel].regions[row, column]


def test_r4_regions_of_the_ten_points(ten):
    display = DecisionRegionsDisplay.from_estimator(ten, TEN, TEN_Y)
    assert len(display.axes_) == len(display.panels) == 4
    plus, minus = 1, 0
    grid = [[at(display, 3, x, y) for x in (1.5, 5, 9.5)] for y in (9, 4)]
    assert grid == [[plus, plus, minus], [plus, minus, minus]]
    stumps = {tuple(at(display, k, x, y) for x in (1.5, 5, 9.5) for y in (9, 4)) for k in range(3)}
    assert stumps == {(1, 1, 0, 0, 0, 0), (1, 1, 1, 1, 0, 0), (1, 0, 1, 0, 1, 0)}
    for k, weights in enumerate(list(ten.staged_sample_weight(TEN, TEN_Y))[:3]):
        panel = display.panels[k]
        np.testing.assert_array_equal(panel.weights, weights)
        np.testing.assert_array_equal(panel.wrong, ten.estimators_[k].predict(TEN) != TEN_Y)
        assert panel.title == f"round {k + 1}: error {EPS[k]:.2f}, weight {ALPHA[k]:.2f}"
    assert not display.panels[3].wrong.any()
    assert display.panels[3].title == "vote of 3 members: error 0.00"


def test_marks_are_as_large_as_weights(ten):
    display = DecisionRegionsDisplay.from_estimator(ten, TEN, TEN_Y)
    sizes = [
        np.sort(np.concatenate([c.get_sizes() for c in ax.collections[:2]])) for ax in display.axes_
    ]
    staged = list(ten.staged_sample_weight(TEN, TEN_Y))
    for size, weights in zip(sizes[:3], staged[:3], strict=True):
        np.testing.assert_allclose(size / size.sum(), np.sort(weights))
    assert len(set(np.round(sizes[3], 9))) == 1
    rings = [len(ax.collections[2].get_offsets()) for ax in display.axes_]
    assert rings == [3, 3, 3, 0]


def test_borders_of_all_members_are_in_the_vote_only_where_all_are_shown(ten):
    whole = DecisionRegionsDisplay.from_estimator(ten, TEN, TEN_Y)
    some = DecisionRegionsDisplay.from_estimator(ten, TEN, TEN_Y, rounds=[2])
    assert len(whole.axes_[-1].collections) == 3 + 3
    assert len(some.axes_[-1].collections) == 3
    assert [panel.title[:7] for panel in some.panels] == ["round 2", "vote of"]


def test_regions_of_several_classes(one_vs_rest):
    X, y = three_classes()
    model = AdaBoostClassifier(n_estimators=4).fit(X, y)
    display = DecisionRegionsDisplay.from_estimator(model, X, y, resolution=40)
    expected = [[0, 1, 2][int(3 * np.clip(x, 0, 0.99))] for x in (0.1, 0.5, 0.9)]
    assert [at(display, -1, x, 0.5) for x in (0.1, 0.5, 0.9)] == expected
    parts = DecisionRegionsDisplay.from_estimator(one_vs_rest, X, y, resolution=40)
    titles = [panel.title.split(":")[0] for panel in parts.panels[:-1]]
    assert titles == [f"{label} against the rest" for label in "abc"]
    assert [at(parts, 0, x, 0.5) for x in (0.1, 0.5, 0.9)] == [0, -1, -1]
    assert [at(parts, -1, x, 0.5) for x in (0.1, 0.5, 0.9)] == [0, 1, 2]
    of_one = DecisionRegionsDisplay.from_estimator(
        one_vs_rest.parts_[1], X, (y == "b").astype(int), rounds=[1], resolution=40
    )
    assert len(of_one.panels) == 2


def test_many_rows_are_filled_shapes_with_a_dark_edge_where_wrong():
    X, y = three_classes()
    model = AdaBoostClassifier(n_estimators=3).fit(X, y == "b")
    display = DecisionRegionsDisplay.from_estimator(model, X, y == "b", resolution=10)
    for ax, panel in zip(display.axes_, display.panels, strict=True):
        shapes = ax.collections[:2]
        assert sum(len(shape.get_offsets()) for shape in shapes) == len(X)
        dark = sum((shape.get_edgecolors()[:, 0] < 0.5).sum() for shape in shapes)
        assert dark == panel.wrong.sum()
        sizes = np.concatenate([shape.get_sizes() for shape in shapes])
        assert sizes.min() >= 3
        assert sizes.max() <= 110
    assert display.panels[0].wrong.any()


def test_frames_give_names_and_any_learner_is_asked():
    frame = pd.DataFrame(TEN, columns=["width", "height"])
    model = AdaBoostClassifier(LogisticRegression(), n_estimators=2).fit(frame, TEN_Y)
    display = DecisionRegionsDisplay.from_estimator(model, frame, TEN_Y, resolution=30)
    assert display.ax_.get_xlabel() == "width"
    assert display.ax_.get_ylabel() == "height"
    x, y = np.meshgrid(*display.grid)
    said = model.predict(pd.DataFrame({"width": x.ravel(), "height": y.ravel()}))
    np.testing.assert_array_equal(display.panels[-1].regions.ravel(), said)


def test_wrong_regions(ten, one_vs_rest):
    with pytest.raises(NotFittedError):
        DecisionRegionsDisplay.from_estimator(AdaBoostClassifier(), TEN, TEN_Y)
    with pytest.raises(InputError, match="X-WIDTH"):
        DecisionRegionsDisplay.from_estimator(ten, TEN[:, :1], TEN_Y)
    with pytest.raises(InputError, match="X-DTYPE"):
        DecisionRegionsDisplay.from_estimator(ten, np.full((10, 2), "a"), TEN_Y)
    with pytest.raises(InputError, match="rounds"):
        DecisionRegionsDisplay.from_estimator(ten, TEN, TEN_Y, rounds=[4])
    with pytest.raises(InputError, match=r"parts_\[k\]"):
        DecisionRegionsDisplay.from_estimator(one_vs_rest, *three_classes(), rounds=[1])
    with pytest.raises(InputError, match="resolution"):
        DecisionRegionsDisplay.from_estimator(ten, TEN, TEN_Y, resolution=1)
    with pytest.raises(InputError, match="3 axes for 4"):
        DecisionRegionsDisplay.from_estimator(ten, TEN, TEN_Y, ax=plt.subplots(1, 3)[1])
    panel = RegionsPanel("one", np.zeros((2, 3), dtype=int), None, np.zeros(10, dtype=bool))
    rest = {"rows": TEN, "codes": TEN_Y, "classes": [0, 1]}
    with pytest.raises(InputError, match="shapes"):
        DecisionRegionsDisplay([panel], grid=([0, 1], [0, 1]), **rest)
    with pytest.raises(InputError, match="nothing to show"):
        DecisionRegionsDisplay([], grid=([0, 1], [0, 1]), **rest)
