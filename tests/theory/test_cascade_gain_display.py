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


def test_the_rows_given_are_called_so_and_training_rows_are_a_line_of_their_own(iris):
    X, y = iris
    model = CascadeClassifier(MEMBERS, cv=3).fit(X[::2], y[::2])
    display = CascadeGainDisplay.from_estimator(
        model, X[1::2], y[1::2], X_train=X[::2], y_train=y[::2]
    )
    assert list(display.scores) == ["training", "out of fold", "given rows"]
    np.testing.assert_array_equal(display.scores["training"], model.level_scores(X[::2], y[::2]))
    np.testing.assert_array_equal(display.scores["out of fold"], model.oof_scores_)
    given = model.level_scores(X[1::2], y[1::2])
    np.testing.assert_array_equal(display.lines_["given rows"].get_ydata(), given)
    assert (display.scores["training"] != given).any()
    labels = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert labels == ["bayes", "+ tree"]
    assert f"given rows  {given[-1]:.3f}" in written(display.ax_)
    gain = f"{given[1] - given[0]:+.3f}".replace("-", "−")
    assert gain in written(display.ax_)
    assert fits(display)


def test_folds_of_the_rows_given_are_judged_by_cascades_that_have_not_seen_them(iris):
    X, y = iris
    model = CascadeClassifier(MEMBERS, random_state=0).fit(X, y)
    display = CascadeGainDisplay.from_estimator(model, X, y, cv=3, X_train=X, y_train=y)
    assert list(display.scores) == ["training", "cross-validated"]
    splits = StratifiedKFold(3).split(X, y)
    each = [clone(model).fit(X[a], y[a]).level_scores(X[b], y[b]) for a, b in splits]
    np.testing.assert_allclose(display.scores["cross-validated"], np.mean(each, axis=0))


def test_rows_alone_are_not_called_training_rows():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = CascadeRegressor([("a", Ridge()), ("b", Ridge())], random_state=0).fit(X, X[:, 0])
    figure, ax = plt.subplots()
    display = CascadeGainDisplay.from_estimator(model, X[:20], X[:20, 0], ax=ax)
    named = CascadeGainDisplay.from_estimator(model, X[:20], X[:20, 0], rows_name="the first 20")
    assert list(named.scores) == ["the first 20"]
    assert display.figure_ is figure
    assert ax.get_ylabel() == "R²"
    assert list(display.gains) == ["given rows"]
    assert len(written(ax)) == 2  # the score at the end, and the gain of the second level


def test_no_gain_is_written_on_training_rows():
    assert len(written(CascadeGainDisplay({"training": [0.8, 1.0]}, ["a", "b"]).plot().ax_)) == 1


def test_bad_scores(iris):
    X, y = iris
    with pytest.raises(InputError, match="nothing to show"):
        CascadeGainDisplay({}, ["a"])
    with pytest.raises(InputError, match=r"'training' has shape \(3,\) for 2"):
        CascadeGainDisplay({"training": [1, 2, 3]}, ["a", "b"])
    with pytest.raises(InputError, match="GaussianNB has no level_scores"):
        CascadeGainDisplay.from_estimator(GaussianNB().fit(X, y), X, y)
    model = CascadeClassifier(MEMBERS, random_state=0).fit(X, y)
    with pytest.raises(InputError, match="'training' is the name of other rows"):
        CascadeGainDisplay.from_estimator(model, X, y, rows_name="training")
    with pytest.raises(InputError, match="X_train and y_train"):
        CascadeGainDisplay.from_estimator(model, X, y, X_train=X)
