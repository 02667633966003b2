"""Steps of bounded length: where the curvature fades, Newton's would be hundreds long."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import log_loss, mean_poisson_deviance
from tests.losses.stock import STOCK, scores, target

from committee import GradientBoostingClassifier, GradientBoostingRegressor
from committee.losses import Columns, Cox, Multinomial, Poisson, Squared

BOUNDED = [loss for loss in STOCK if math.isfinite(loss.longest_step)]
OF_ONE_ROW = [loss for loss in BOUNDED if loss.separable and loss.n_outputs == 1]
PLAIN = {
    "n_estimators": 100,
    "learning_rate": 0.1,
    "l2_regularization": 0.0,
    "max_features": None,
}


def test_losses_of_exponentials_are_bounded():
    assert {type(loss).__name__ for loss in OF_ONE_ROW} == {
        *("Poisson", "Gamma", "Tweedie", "Logistic", "Exponential")
    }
    assert Cox().longest_step == Poisson().longest_step == 4
    assert math.isinf(Squared().longest_step)
    assert math.isinf(Columns((Squared(), Poisson())).longest_step)
    assert Columns((Poisson(), Poisson())).longest_step == 4


@pytest.mark.parametrize("loss", OF_ONE_ROW, ids=repr)
@settings(max_examples=200)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 40),
    scale=st.sampled_from([0.5, 3.0, 10.0]),
    rate=st.floats(0.001, 0.3),
)
def test_r65_a_step_of_a_leaf_lowers_the_loss_of_its_rows(loss, seed, n_rows, scale, rate):
    rng = np.random.default_rng(seed)
    y, raw = target(loss, rng)[-n_rows:], scores(loss, rng, n_rows, scale)
    gradient, hessian = loss.gradient_hessian(y, raw)
    step = -rate * gradient.sum() / hessian.sum()
    step = np.clip(step, -loss.longest_step, loss.longest_step)
    before, after = (loss.value(y, moved).sum() for moved in (raw, raw + step))
    assert after <= before + 1e-12 * (1 + abs(before))


def test_r65_the_bound_is_needed():
    """One row in twenty of a class whose chance is 1e-4: the whole step makes it near 1 for all."""
    y, raw = np.arange(20) == 0, np.full(20, np.log(1e-4))
    loss = next(loss for loss in BOUNDED if type(loss).__name__ == "Logistic")
    gradient, hessian = loss.gradient_hessian(y.astype(float), raw)
    step = -0.1 * gradient.sum() / hessian.sum()
    assert step > 45
    values = [loss.value(y.astype(float), raw + s).sum() for s in (0.0, 4.0, step)]
    assert values[1] < values[0] < values[2] / 50


def rare_classes(n_rows=12_000, n_each=8):
    """Two large classes, and eight of a few rows among those of the first."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6))
    y = np.where(X[:, 0] > 0, 0, 1)
    for k in range(2, 10):
        y[rng.choice(np.flatnonzero(X[:, 1 + k % 4] > 1.5), n_each, replace=False)] = k
    return X, y


@pytest.mark.parametrize("linear", [False, True])
def test_rare_classes_without_a_penalty_are_learned(monkeypatch, linear):
    X, y = rare_classes()
    model = GradientBoostingClassifier(
        **PLAIN, min_samples_leaf=20, linear_leaves=linear, random_state=0
    )
    losses = [log_loss(y, p) for p in model.fit(X, y).staged_predict_proba(X)]
    assert max(np.diff(losses)) <= 1e-3  # the scores of classes move together: almost monotone
    assert losses[-1] < 0.01
    monkeypatch.setattr(Multinomial, "longest_step", math.inf)
    assert log_loss(y, model.fit(X, y).predict_proba(X)) > 1


@pytest.mark.parametrize("rate", [0.1, 0.3])
def test_r65_training_loss_of_two_classes_never_rises(rate):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(4000, 5))
    y = (X[:, 0] > 1.5) & (rng.random(4000) < 0.1)
    model = GradientBoostingClassifier(**{**PLAIN, "learning_rate": rate}, random_state=0).fit(X, y)
    losses = [log_loss(y, p) for p in model.staged_predict_proba(X)]
    assert max(np.diff(losses)) <= 1e-12


def test_counts_that_were_not_expected_do_not_overflow():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = np.where(X[:, 0] > 2, 1e6, 0.0) * rng.random(2000)
    model = GradientBoostingRegressor(**PLAIN, loss="poisson", random_state=0).fit(X, y)
    losses = [mean_poisson_deviance(y, mean) for mean in model.staged_predict(X)]
    assert max(np.diff(losses)) <= 1e-12 * losses[0]
