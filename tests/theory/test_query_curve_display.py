"""The display of questions against random rows: what is drawn is what was measured."""

import numpy as np
import pytest
from tests.theory.displayed import fits, written

from committee.active import ActiveLoop, QueryByBagging, QueryCurve, SimulatedAnnotator
from committee.data import InputError
from committee.theory.displays.query_curve import QueryCurveDisplay

ERRORS = {"queries": [[0.4, 0.2, 0.1], [0.3, 0.2, 0.0]], "random": [[0.4, 0.3, 0.2]] * 2}


def test_lines_bands_and_gain():
    curve = QueryCurve([10, 12, 20], ERRORS, 50)
    display = QueryCurveDisplay(curve).plot()
    for name in ERRORS:
        line = display.lines_["QueryCurve"][name]
        np.testing.assert_array_equal(line.get_xdata(), [10, 12, 20])
        np.testing.assert_allclose(line.get_ydata(), np.mean(ERRORS[name], axis=0))
        low, high = curve.interval(name)
        path = display.bands_["QueryCurve"][name].get_paths()[0].vertices
        np.testing.assert_allclose([path[:, 1].min(), path[:, 1].max()], [low.min(), high.max()])
    gain = curve.gain("queries")
    title = display.ax_.get_title(loc="left")
    assert f"{gain.mean:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}]" in title
    assert "95 % of the mean of 2 runs" in title
    assert set(written(display.ax_)) == {"queries  0.050", "random  0.200"}
    assert display.gains["QueryCurve"].mean == gain.mean
    assert fits(display)


def test_a_panel_for_each_task_on_its_own_scale():
    small = {name: np.array(error) / 100 for name, error in ERRORS.items()}
    curves = {"easy": QueryCurve([1, 2, 3], small, 5), "hard": QueryCurve([1, 2, 3], ERRORS, 5)}
    display = QueryCurveDisplay(curves).plot()
    assert len(display.axes_) == 2
    assert display.axes_[0].get_ylim()[1] < display.axes_[1].get_ylim()[1]
    assert fits(display)
    again = QueryCurveDisplay(curves).plot(display.axes_)
    assert again.axes_ == display.axes_


def test_a_loop_and_a_curve_without_random_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = (X[:, 0] > 0).astype(int)
    loop = ActiveLoop(
        QueryByBagging(n_estimators=3),
        X[:40],
        SimulatedAnnotator(y[:40]),
        X_test=X[40:],
        y_test=y[40:],
        baseline=False,
        random_state=0,
    ).run(3)
    display = QueryCurveDisplay({"loop": loop}).plot()
    assert list(display.lines_["loop"]) == ["queries"]
    assert display.gains == {"loop": None}
    assert "over 40 test rows" in display.ax_.get_title(loc="left")


def test_wrong_curves():
    with pytest.raises(InputError, match=r"'a' is list.*QueryCurve or ActiveLoop"):
        QueryCurveDisplay({"a": [1, 2]})
    with pytest.raises(InputError, match="nothing to show"):
        QueryCurveDisplay({})
    with pytest.raises(InputError, match="2 axes"):
        QueryCurveDisplay(QueryCurve([1], {"queries": [0.1]}, 5)).plot([None, None])
