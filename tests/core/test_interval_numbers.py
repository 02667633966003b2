"""Intervals of targets that are far from zero, far apart, or tiny."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from committee.ensembles.bagging import BaggingRegressor
from committee.learners.random_forest import RandomForestRegressor


@pytest.mark.parametrize("shift", [0.0, 1e6, 1e12])
def test_an_offset_moves_the_bounds_and_nothing_else(shift):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    forest = RandomForestRegressor(60, intervals="jackknife", random_state=0)
    bounds = forest.fit(X, shift + X[:, 0]).predict_interval(X[:100])
    apart = 1e-3 + 2.0**-50 * shift
    plain = forest.fit(X, X[:, 0]).predict_interval(X[:100])
    np.testing.assert_allclose(bounds - shift, plain, atol=50 * apart)


def test_an_outlier_or_an_absent_row_does_not_blur_the_rest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0].copy()
    y[0] = 1e13
    forest = RandomForestRegressor(60, intervals="jackknife", random_state=0)
    low = forest.fit(X, y).predict_interval(X[1:100])[:, 0]
    assert len(np.unique(low)) > 50
    weight = np.r_[np.zeros(1), np.ones(299)]
    y[0] = 1e30
    weighted = forest.fit(X, y, sample_weight=weight).predict_interval(X[1:100])
    absent = forest.fit(X[1:], y[1:]).predict_interval(X[1:100])
    np.testing.assert_array_equal(weighted, absent)


def test_denormal_targets_have_finite_bounds():
    X = np.random.default_rng(0).normal(size=(100, 2))
    forest = RandomForestRegressor(40, intervals="jackknife", random_state=0)
    assert np.isfinite(forest.fit(X, X[:, 0] * 1e-320).predict_interval(X)).all()


def test_members_that_are_no_trees_keep_small_differences_beside_an_offset():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = 1e9 + X[:, 0] + 0.1 * rng.normal(size=300)
    model = BaggingRegressor(LinearRegression(), 40, intervals="jackknife", random_state=0)
    bounds = model.fit(X[:200], y[:200]).predict_interval(X[200:])
    covered = (bounds[:, 0] <= y[200:]) & (y[200:] <= bounds[:, 1])
    assert 0.8 < covered.mean() < 0.99
    np.testing.assert_array_equal(model.predict_interval(X[200:201]), bounds[:1])
