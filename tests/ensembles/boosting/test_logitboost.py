"""2I: LogitBoost on the ten points, against naive code, and where numbers get extreme."""

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LinearRegression
from tests.ensembles.boosting.ten_points import X as TOY
from tests.ensembles.boosting.ten_points import y as TOY_Y

from committee import LogitBoostClassifier


def test_2i_first_two_rounds_on_ten_points():
    model = LogitBoostClassifier(n_estimators=2).fit(TOY, TOY_Y)
    first, second = (member.tree_ for member in model.estimators_)
    assert (first.feature[0], first.threshold[0]) == (0, 2.5)
    np.testing.assert_allclose(first.value.ravel()[1:], [2.0, -0.5], atol=1e-12)
    assert (second.feature[0], second.threshold[0]) == (1, 6.5)
    np.testing.assert_allclose(second.value.ravel()[1:], [-1.105874, 1.584908], atol=1e-6)
    side, low = TOY[:, 0] <= 2.5, TOY[:, 1] <= 6.5
    p = expit(2 * np.where(side, 1.0, -0.25))
    w, z = p * (1 - p), np.where(TOY_Y == 1, 1 / p, -1 / (1 - p))
    exact = [np.average(np.clip(z, -3, 3)[part], weights=w[part]) for part in (low, ~low)]
    np.testing.assert_allclose(second.value.ravel()[1:], exact, atol=1e-12)


def least_squares_stump(X, z, w):
    best = None
    for column in X.T:
        for cut in np.unique(column)[:-1]:
            side = column <= cut
            f = np.where(side, *(np.average(z[part], weights=w[part]) for part in (side, ~side)))
            loss = np.sum(w * (z - f) ** 2)
            if best is None or loss < best[0] - 1e-9:
                best = (loss, f)
    return best[1]


def naive_logitboost(X, y, rounds, z_max=3.0):
    K = y.max() + 1
    F = np.zeros((len(y), K))
    for _ in range(rounds):
        p = softmax(F, axis=1)
        f = np.empty_like(F)
        for j in range(K):
            z = np.where(y == j, 1 / p[:, j], -1 / (1 - p[:, j]))
            f[:, j] = least_squares_stump(X, np.clip(z, -z_max, z_max), p[:, j] * (1 - p[:, j]))
        F += (K - 1) / K * (f - f.mean(axis=1, keepdims=True))
    return F


def test_many_classes_against_a_naive_one():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 7, size=(90, 2)).astype(float)
    y = np.digitize(X.sum(axis=1) + rng.normal(size=90), [4, 8])
    model = LogitBoostClassifier(n_estimators=4).fit(X, y)
    assert len(model) == 12
    naive = naive_logitboost(X, y, 4)
    np.testing.assert_allclose(model.decision_function(X), naive, atol=1e-8)
    np.testing.assert_allclose(model.predict_proba(X), softmax(naive, axis=1), atol=1e-8)
    stages = list(model.staged_predict_proba(X))
    np.testing.assert_allclose(stages[-1], model.predict_proba(X), atol=1e-12)


def test_loss_falls_and_bounds_the_training_error():
    X, y = load_breast_cancer(return_X_y=True)
    model = LogitBoostClassifier(n_estimators=60).fit(X, y)
    loss = model.rounds_["loss"]
    assert loss[0] < 1
    assert loss[-1] < loss[0] / 5
    p = model.predict_proba(X)[np.arange(len(y)), y]
    assert loss[-1] == pytest.approx(-np.mean(np.log2(p)), rel=1e-9)
    certificate = model.certificate()
    assert certificate.holds
    assert certificate.verify(X, y)
    assert model.score(X, y) > 0.98


def test_n12_many_rounds_on_separable_rows_stay_finite():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    model = LogitBoostClassifier(n_estimators=10_000).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert "certain" in model.stop_reason_
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_many_classes_verify_warm_start_and_stop_early():
    X, y = load_iris(return_X_y=True)
    whole = LogitBoostClassifier(n_estimators=20).fit(X, y)
    assert whole.certificate().verify(X, y)
    steps = LogitBoostClassifier(n_estimators=8, warm_start=True).fit(X, y)
    steps.set_params(n_estimators=20).fit(X, y)
    np.testing.assert_array_equal(steps.decision_function(X), whole.decision_function(X))
    early = LogitBoostClassifier(n_estimators=200, n_iter_no_change=5).fit(
        X[::2], y[::2], X_val=X[1::2], y_val=y[1::2]
    )
    best = early.validation_losses_.argmin() + 1
    assert len(early) == 3 * best
    assert early.score(X[1::2], y[1::2]) == pytest.approx(1 - early.validation_losses_.min())


def test_any_regressor_is_a_weak_learner():
    X, y = load_breast_cancer(return_X_y=True)
    model = LogitBoostClassifier(LinearRegression(), n_estimators=3).fit(X, y)
    assert model.score(X, y) > 0.93
    assert model.certificate().verify(X, y)
