"""Importances and intervals of bagged committees."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from committee import DecisionTreeRegressor
from committee.data import InputError
from committee.ensembles.bagging import BaggingClassifier, BaggingRegressor


def numbers(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("estimator", [None, LinearRegression()])
def test_permutation(estimator):
    X, y = numbers()
    model = BaggingRegressor(estimator, 20, random_state=0).fit(X, y)
    found = model.permutation_importance(X, y, random_state=0)
    assert found.importances_mean[0] > found.importances_mean[1] > 0.2
    assert np.abs(found.importances_mean[2:]).max() < 0.02


def test_debiased_needs_trees_of_the_engine():
    X, y = numbers()
    model = BaggingRegressor(DecisionTreeRegressor(), 20, random_state=0).fit(X, y)
    assert model.debiased_importance(X, y).importances_mean.argmax() == 0
    with pytest.raises(InputError, match="permutation_importance"):
        BaggingRegressor(LinearRegression(), 5, random_state=0).fit(X, y).debiased_importance(X, y)


def test_pipelines_over_frames_with_text():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=200), "b": rng.choice(["x", "y", "z"], 200)})
    y = np.where(frame["b"] == "x", "no", "yes")
    coding = make_column_transformer((OneHotEncoder(), ["b"]), remainder="passthrough")
    model = BaggingClassifier(make_pipeline(coding, LogisticRegression()), 8, random_state=0)
    found = model.fit(frame, y).permutation_importance(frame, y, random_state=0)
    assert found.features == ["a", "b"]
    assert found.importances_mean[1] > 0.3
    assert found.importances_mean[0] == 0


@pytest.mark.parametrize(
    ("estimator", "kind"),
    [(None, "jackknife"), (None, "quantile"), (LinearRegression(), "jackknife")],
)
def test_intervals_cover(estimator, kind):
    X, y = numbers(600)
    test, truth = numbers(2000, 1)
    model = BaggingRegressor(estimator, 40, intervals=kind, random_state=0).fit(X, y)
    bounds = model.predict_interval(test)
    assert 0.87 < ((bounds[:, 0] <= truth) & (truth <= bounds[:, 1])).mean() < 0.94
    assert (model.predict_interval(test[:1]) == bounds[:1]).all()


def test_wrong_intervals():
    X, y = numbers(60)
    with pytest.raises(InputError, match="whose leaves are known"):
        BaggingRegressor(LinearRegression(), 5, intervals="quantile").fit(X, y)
    with pytest.raises(InputError, match="no row is left out"):
        BaggingRegressor(None, 5, intervals="jackknife", bootstrap=False).fit(X, y)
    with pytest.raises(ValueError, match="intervals"):
        BaggingRegressor(None, 5, intervals="bayes").fit(X, y)
    with pytest.raises(InputError, match="fit kept nothing"):
        BaggingRegressor(None, 5).fit(X, y).predict_interval(X)
