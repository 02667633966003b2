"""Displays: what is drawn is what was found, and the figure is complete."""

import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import Bunch

from committee.core.plot_style import spread_labels
from committee.data import InputError
from committee.learners.random_forest import RandomForestClassifier, RandomForestRegressor
from committee.theory.decomposition import decompose
from committee.theory.displays import (
    BiasVarianceDisplay,
    ImportanceDisplay,
    OutOfBagCurveDisplay,
)

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def numbers(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + 0.3 * rng.normal(size=n)


def squared(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=40)
    return decompose(0.7 * y + 0.5 * rng.normal(size=(15, 40)), y, "squared")


def zero_one(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 40)
    said = np.where(rng.random((15, 40)) < 0.6, y, rng.integers(0, 3, (15, 40)))
    return decompose(said, y, "zero_one")


def bars(ax):
    """Left end and width of every bar, in the order they were drawn."""
    return [(bar.get_x(), bar.get_width()) for bar in ax.patches]


def fits(display):
    """Whether every text lies inside the figure."""
    figure = display.figure_
    figure.canvas.draw()
    box = figure.bbox
    texts = [text for ax in figure.axes for text in [*ax.texts, ax._left_title, ax.xaxis.label]]
    texts += [t for ax in figure.axes if ax.get_legend() for t in ax.get_legend().get_texts()]
    for ax in figure.axes:  # matplotlib keeps ticks beyond the limits, undrawn
        low, high = ax.get_ylim()
        texts += [t for t in ax.get_yticklabels() if low <= t.get_position()[1] <= high]
    extents = [text.get_window_extent() for text in texts if text.get_text() and text.get_visible()]
    return all(
        e.x0 >= box.x0 - 1 and e.x1 <= box.x1 + 1 and e.y0 >= box.y0 - 1 and e.y1 <= box.y1 + 1
        for e in extents
    )


def test_bars_add_up_to_the_loss():
    results = {"one": squared(0), "two": squared(1)}
    display = BiasVarianceDisplay(results).plot()
    drawn = bars(display.ax_)
    for k, result in enumerate(results.values()):
        bias, variance = drawn[k], drawn[k + 2]
        assert bias == (0, pytest.approx(result.overall["bias_squared"]))
        assert variance[0] == pytest.approx(bias[1])
        assert bias[1] + variance[1] == pytest.approx(result.overall["loss"])
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["one", "two"]
    marks = display.ax_.lines[0].get_xdata()
    np.testing.assert_allclose(marks, [r.overall["committee_loss"] for r in results.values()])
    assert display.ax_.get_title("left").startswith("Squared loss = bias² and noise + variance")


def test_domingos_takes_the_biased_variance_off():
    result = zero_one()
    display = BiasVarianceDisplay(result).plot(terms="domingos")
    bias, unbiased, biased = bars(display.ax_)
    assert bias[1] + unbiased[1] - biased[1] == pytest.approx(result.overall["loss"])
    assert biased[0] == pytest.approx(result.overall["loss"])
    assert "Domingos 2000" in display.ax_.get_title("left")


@pytest.mark.parametrize("result", [squared(), zero_one()])
def test_rows_are_all_counted(result):
    display = BiasVarianceDisplay(result).plot(kind="rows")
    filled = [p for p in display.ax_.patches if hasattr(p, "get_height")]
    heights = sum(p.get_height() for p in filled)
    assert heights == 2 * result.counted.sum()


def test_title_names_the_decomposition():
    assert "Kohavi & Wolpert 1996" in BiasVarianceDisplay(zero_one()).plot().ax_.get_title("left")


def test_bias_variance_from_estimator_and_predictions():
    X, y = numbers()
    learners = {"tree": DecisionTreeRegressor(), "line": LinearRegression()}
    display = BiasVarianceDisplay.from_estimator(learners, X, y, n_replicates=10, random_state=0)
    assert list(display.results) == ["tree", "line"]
    assert display.results["tree"].overall["variance"] > display.results["line"].overall["variance"]
    figure, ax = plt.subplots()
    one = BiasVarianceDisplay.from_estimator(
        DecisionTreeClassifier(), X, y > 0, n_replicates=10, random_state=0, ax=ax
    )
    assert one.ax_ is ax
    assert one.figure_ is figure
    assert list(one.results) == ["DecisionTreeClassifier"]
    said = np.random.default_rng(0).normal(size=(5, 60))
    assert BiasVarianceDisplay.from_predictions(said, y, "squared").loss == "squared"


def test_wrong_bias_variance():
    with pytest.raises(InputError, match="side by side"):
        BiasVarianceDisplay({"a": squared(), "b": zero_one()})
    with pytest.raises(InputError, match="nothing to show"):
        BiasVarianceDisplay({})
    with pytest.raises(ValueError, match="kind"):
        BiasVarianceDisplay(squared()).plot(kind="pie")
    with pytest.raises(ValueError, match="terms"):
        BiasVarianceDisplay(squared()).plot(terms="domingos")


def test_curves_are_drawn_to_the_end():
    display = OutOfBagCurveDisplay({"a": np.linspace(0.5, 0.9, 50), "b": [np.nan, 0.7, 0.8]}).plot()
    assert [len(line.get_xdata()) for line in display.lines_] == [50, 3]
    assert display.final == {"a": pytest.approx(0.9), "b": pytest.approx(0.8)}
    written = [text.get_text() for text in display.ax_.texts]
    assert written == ["a (50)  0.9000", "b (3)  0.8000"]
    low, high = display.ax_.get_ylim()
    assert high > 0.9
    assert low < 0.7


def test_curve_of_a_forest_ends_at_its_score():
    X, y = numbers(120)
    model = RandomForestRegressor(15, oob_score=True, random_state=0).fit(X, y)
    display = OutOfBagCurveDisplay.from_estimator(model, X, y)
    assert display.final == {"RandomForestRegressor": pytest.approx(model.oob_score_)}
    assert display.ax_.get_ylabel() == "out-of-bag R²"
    voters = RandomForestClassifier(15, random_state=0).fit(X, y > 0)
    shown = OutOfBagCurveDisplay.from_estimator({"votes": voters}, X, y > 0)
    assert shown.ax_.get_ylabel() == "out-of-bag accuracy"


def test_labels_of_near_curves_do_not_overlap():
    curves = {f"committee {k}": np.full(30, 0.9 + k * 1e-5) for k in range(4)}
    curves["far"] = np.linspace(0.5, 0.7, 30)
    display = OutOfBagCurveDisplay(curves).plot()
    display.figure_.canvas.draw()
    boxes = sorted(text.get_window_extent().y0 for text in display.ax_.texts)
    height = display.ax_.texts[0].get_window_extent().height
    assert (np.diff(boxes) > 0.9 * height).all()


@pytest.mark.parametrize("curves", [[[0.5, 0.6]], [], {"a": 0.5}])
def test_wrong_curves(curves):
    with pytest.raises(InputError, match="score for each number"):
        OutOfBagCurveDisplay(curves)


@pytest.mark.parametrize(
    ("heights", "expected"),
    [([0.0, 10.0], [0.0, 10.0]), ([5.0, 5.0], [4.5, 5.5]), ([1.0, 0.9, 0.95], [1.95, -0.05, 0.95])],
)
def test_spread_labels(heights, expected):
    np.testing.assert_allclose(spread_labels(heights, 1.0), expected)


def importances(mean, features, error=0.01):
    return Bunch(
        importances_mean=np.array(mean),
        importances_se=np.full(len(mean), error),
        features=features,
    )


def test_importances_are_sorted_with_two_errors():
    found = importances([0.1, -0.02, 0.4], ["a", "b", ("c", "d")])
    display = ImportanceDisplay(found).plot()
    ax = display.ax_
    names = [label.get_text() for label in ax.get_yticklabels()]
    places = ax.get_yticks()
    assert [name for _, name in sorted(zip(-places, names, strict=True))] == ["c + d", "a", "b"]
    assert [bar.get_width() for bar in ax.patches] == [0.4, 0.1, -0.02]
    whiskers = ax.collections[0].get_segments()
    np.testing.assert_allclose([s[1][0] - s[0][0] for s in whiskers], 0.04)
    assert "2 standard errors" in ax.get_xlabel()


def test_kinds_share_the_order_of_the_first():
    first, second = importances([1, 3, 2], ["a", "b", "c"]), importances([9, 7, 8], ["c", "b", "a"])
    display = ImportanceDisplay({"one": first, "two": second}, units={"two": "grams"}).plot()
    assert len(display.axes_) == 2
    assert [bar.get_width() for bar in display.axes_[0].patches] == [3, 2, 1]
    assert [bar.get_width() for bar in display.axes_[1].patches] == [7, 9, 8]
    assert display.axes_[1].get_xlabel() == "grams"
    assert [ax.get_title() for ax in display.axes_] == ["one", "two"]


def test_only_the_first_features_are_shown():
    display = ImportanceDisplay(importances(np.arange(30.0), list(range(30)))).plot(max_shown=5)
    assert len(display.ax_.patches) == 5
    assert display.ax_.get_ylabel() == "the first 5 of 30 features"


def test_importance_from_estimator():
    X, y = numbers(120)
    model = RandomForestRegressor(20, random_state=0).fit(X, y)
    display = ImportanceDisplay.from_estimator(model, X, y, random_state=0)
    assert len(display.axes_) == 3
    assert display.order()[0] == "0"
    assert display.axes_[0].get_xlabel().startswith("rise of squared error")
    widths = sorted(bar.get_width() for bar in display.axes_[2].patches)
    np.testing.assert_allclose(widths, np.sort(model.feature_importances_))
    _, ax = plt.subplots()
    assert ImportanceDisplay.from_estimator(model, X, y, kinds="debiased", ax=ax).ax_ is ax
    with pytest.raises(ValueError, match="kinds"):
        ImportanceDisplay.from_estimator(model, X, y, kinds="shap")


def test_wrong_importances():
    with pytest.raises(InputError, match="different features"):
        ImportanceDisplay({"one": importances([1], ["a"]), "two": importances([1], ["b"])})
    with pytest.raises(InputError, match="axes"):
        ImportanceDisplay(importances([1], ["a"])).plot(plt.subplots(1, 2)[1])


def test_nothing_is_cut_off():
    long = "a learner with quite a long name"
    assert fits(BiasVarianceDisplay({long: squared(), "b": squared(1)}).plot())
    assert fits(BiasVarianceDisplay(squared()).plot())
    assert fits(BiasVarianceDisplay({long: zero_one()}).plot(terms="domingos"))
    assert fits(BiasVarianceDisplay(zero_one()).plot(kind="rows"))
    assert fits(OutOfBagCurveDisplay({long: [0.1, 0.5, 0.6], "b": [0.2, 0.4, 0.6]}).plot())
    many = importances(np.arange(25.0), [f"feature number {k}" for k in range(25)])
    assert fits(ImportanceDisplay({"one": many, "two": many}).plot())


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install committee\[plot\]"):
        BiasVarianceDisplay(squared()).plot()
