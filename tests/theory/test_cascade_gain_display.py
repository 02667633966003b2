"""The display of a cascade's gain: what is drawn is what the levels score."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from tests.theory.displayed import fits, written

from committee import (
    CascadeClassifier,
    CascadeGainDisplay,
    CascadeRegressor,
    DecisionTreeClassifier,
    InputError,
)

MEMBERS = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_scores_of_all_kinds_of_rows(iris):
    X, y = iris
    model = CascadeClassifier(MEMBERS, cv=3).fit(X[::2], y[::2])
    display = CascadeGainDisplay.from_estimator(
        model, X[::2], y[::2], X_test=X[1::2], y_test=y[1::2], cv=3
    )
    assert list(display.scores) == ["training", "out of fold", "cross-validated", "held out"]
    np.testing.assert_array_equal(display.scores["training"], model.level_scores(X[::2], y[::2]))
    np.testing.assert_array_equal(display.scores["out of fold"], model.oof_scores_)
    held = model.level_scores(X[1::2], y[1::2])
    np.testing.assert_array_equal(display.lines_["held out"].get_ydata(), held)
    splits = StratifiedKFold(3).split(X[::2], y[::2])
    X, y = X[::2], y[::2]
    each = [clone(model).fit(X[a], y[a]).level_scores(X[b], y[b]) for a, b in splits]
    np.testing.assert_allclose(display.scores["cross-validated"], np.mean(each, axis=0))
    labels = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert labels == ["bayes", "+ tree"]
    assert f"held out  {held[-1]:.3f}" in written(display.ax_)
    gain = f"{held[1] - held[0]:+.3f}".replace("-", "−")
    assert gain in written(display.ax_)
    assert fits(display)


def test_numbers_and_training_rows_alone():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = CascadeRegressor([("a", Ridge()), ("b", Ridge())], random_state=0).fit(X, X[:, 0])
    figure, ax = plt.subplots()
    display = CascadeGainDisplay.from_estimator(model, X, X[:, 0], ax=ax)
    assert display.figure_ is figure
    assert ax.get_ylabel() == "R²"
    assert list(display.gains) == ["training"]
    assert len(written(ax)) == 1  # no gain is written where nothing is honest


def test_bad_scores(iris):
    X, y = iris
    with pytest.raises(InputError, match="nothing to show"):
        CascadeGainDisplay({}, ["a"])
    with pytest.raises(InputError, match=r"'training' has shape \(3,\) for 2"):
        CascadeGainDisplay({"training": [1, 2, 3]}, ["a", "b"])
    with pytest.raises(InputError, match="GaussianNB has no level_scores"):
        CascadeGainDisplay.from_estimator(GaussianNB().fit(X, y), X, y)
    model = CascadeClassifier(MEMBERS, random_state=0).fit(X, y)
    with pytest.raises(InputError, match="X_test and y_test"):
        CascadeGainDisplay.from_estimator(model, X, y, X_test=X)
