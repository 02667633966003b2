"""AdaBoost.R2: the formulas of the paper, the weighted median, and scikit-learn's."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.ensemble import AdaBoostRegressor as OtherAdaBoost
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

from committee import AdaBoostRegressor, DecisionTreeRegressor
from committee.ensembles.boosting.adaboost_r2 import weighted_median


@pytest.fixture(scope="module")
def rows():
    return make_friedman1(400, noise=1.0, random_state=0)


def test_weighted_median_by_hand():
    outputs = np.array([[1.0, 5.0], [2.0, 4.0], [3.0, 3.0]])
    np.testing.assert_array_equal(weighted_median(outputs, np.ones(3)), [2.0, 4.0])
    np.testing.assert_array_equal(weighted_median(outputs, np.array([5.0, 1.0, 1.0])), [1.0, 5.0])
    # Exactly half of the weight is enough.
    np.testing.assert_array_equal(weighted_median(outputs, np.array([1.0, 1.0, 2.0])), [2.0, 3.0])


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_rounds_against_the_formulas(rows, loss):
    X, y = rows
    model = AdaBoostRegressor(n_estimators=8, loss=loss, resample=False).fit(X, y)
    d = np.full(len(y), 1 / len(y))
    for member, alpha, error in zip(
        model.estimators_, model.estimator_weights_, model.estimator_errors_, strict=True
    ):
        apart = np.abs(member.predict(X) - y)
        share = apart / apart.max()
        L = {"linear": share, "square": share**2, "exponential": 1 - np.exp(-share)}[loss]
        mean = np.sum(d * L)
        beta = mean / (1 - mean)
        assert error == pytest.approx(mean, rel=1e-9)
        assert alpha == pytest.approx(np.log(1 / beta) / 2, rel=1e-9)
        d = d * beta ** (1 - L)
        d /= d.sum()
    stages = list(model.staged_predict(X))
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    np.testing.assert_array_equal(stages[0], model.estimators_[0].predict(X))


def test_as_good_as_scikit_learns(rows):
    X, y = make_friedman1(1200, noise=1.0, random_state=1)
    ours, theirs = [], []
    for seed in range(6):
        ours.append(
            AdaBoostRegressor(random_state=seed).fit(X[:400], y[:400]).score(X[400:], y[400:])
        )
        other = OtherAdaBoost(random_state=seed).fit(X[:400], y[:400])
        theirs.append(other.score(X[400:], y[400:]))
    spread = np.hypot(np.std(ours), np.std(theirs)) / np.sqrt(6)
    assert np.mean(ours) > np.mean(theirs) - 3 * spread - 0.01


def test_it_stops_at_a_perfect_member_and_at_a_bad_one(rows):
    X = np.arange(8.0)[:, None]
    exact = AdaBoostRegressor(LinearRegression(), resample=False).fit(X, 2 * X[:, 0])
    assert len(exact) == 1
    assert "without error" in exact.stop_reason_
    y = np.array([0.0, 1.0] * 20)
    bad = AdaBoostRegressor(DecisionTreeRegressor(max_depth=1), resample=False)
    bad.fit(np.zeros((40, 1)), y)
    assert "mean loss" in bad.stop_reason_
    np.testing.assert_allclose(bad.predict([[0.0]]), [0.5])


def test_learners_without_weights_and_early_stopping(rows):
    X, y = rows
    model = AdaBoostRegressor(KNeighborsRegressor(5), n_estimators=6, random_state=0).fit(X, y)
    assert len(model) == 6
    early = AdaBoostRegressor(n_estimators=300, random_state=0, n_iter_no_change=6).fit(
        X[:200], y[:200], X_val=X[200:], y_val=y[200:]
    )
    best = early.validation_losses_.argmin()
    assert len(early) == best + 1
    mse = np.mean((early.predict(X[200:]) - y[200:]) ** 2)
    assert mse == pytest.approx(early.validation_losses_[best], rel=1e-12)


def test_warm_start_threads_and_large_batches(rows, monkeypatch):
    X, y = rows
    whole = AdaBoostRegressor(n_estimators=9, random_state=0).fit(X, y)
    steps = AdaBoostRegressor(n_estimators=4, random_state=0, warm_start=True, n_jobs=2).fit(X, y)
    steps.set_params(n_estimators=9).fit(X, y)
    np.testing.assert_array_equal(steps.predict(X), whole.predict(X))
    monkeypatch.setattr("committee.ensembles.boosting.adaboost_r2.CHUNK", 100)
    np.testing.assert_array_equal(steps.predict(X), whole.predict(X))
