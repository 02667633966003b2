"""Steps of bounded length: where the curvature fades, Newton's would be hundreds long."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import log_loss, mean_poisson_deviance
from tests.losses.stock import STOCK, scores, target

from committee import GradientBoostingClassifier, GradientBoostingRegressor
from committee.data import InputError
from committee.losses import Columns, Cox, Loss, Multinomial, Poisson, Squared
from committee.losses.ranking import LambdaMART, Pairwise

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
    assert Pairwise(sigmoid=5).longest_step == LambdaMART(sigmoid=5).longest_step == 0.8


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


def few_ones(seed=0, n_rows=20_000):
    """A few ones at the ends of two features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    y = np.zeros(n_rows)
    y[rng.choice(np.flatnonzero(X[:, 0] > 1.5), 8, replace=False)] = 1
    y[rng.choice(np.flatnonzero(X[:, 1] < -1.5), 3, replace=False)] = 1
    return X, y


@pytest.mark.parametrize("seed", range(8))
def test_monotone_leaves_are_bounded_as_others(seed):
    X, y = few_ones(seed)
    model = GradientBoostingClassifier(
        **{**PLAIN, "n_estimators": 10}, min_samples_leaf=20, monotonic_cst=[1, -1, 0]
    ).fit(X, y)
    shares = [np.full(len(y), y.mean()), *(p[:, 1] for p in model.staged_predict_proba(X))]
    scores = np.log(shares) - np.log1p(np.negative(shares))
    assert np.abs(np.diff(scores, axis=0)).max() <= 4 + 1e-9
    assert max(np.diff([log_loss(y, p) for p in shares])) <= 1e-12


def test_every_column_has_the_bound_of_its_loss():
    X, y = few_ones()
    plain = {**PLAIN, "n_estimators": 50, "min_samples_leaf": 20}
    both, alone = (
        GradientBoostingRegressor(**plain, loss=loss).fit(X, target)
        for loss, target in [
            (Columns((Poisson(), Squared())), np.column_stack([y, 1e4 * X[:, 1]])),
            (Poisson(), y),
        ]
    )
    np.testing.assert_allclose(both.predict(X)[:, 0], alone.predict(X), rtol=1e-12)
    assert np.abs(np.diff([p[:, 1] for p in both.staged_predict(X)], axis=0)).max() > 100


def test_linear_leaves_beside_missing_rows_step_the_right_way():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-1, 1, 20_000))
    y = np.zeros(len(x), int)
    y[-16::4] = 1
    x[:12], y[:12] = np.nan, 1  # too few for a leaf of their own
    plain = {**PLAIN, "n_estimators": 1, "min_samples_leaf": 20, "max_leaf_nodes": 2}
    model = GradientBoostingClassifier(**plain, linear_leaves=True).fit(x[:, None], y)
    assert model.predict_proba(x[-16:, None])[:, 1].min() > 10 * y.mean()


class Distance(Loss):
    """Half the squared distance, with a bound."""

    renews_leaves = True
    longest_step = 0.5

    def value(self, y, raw):
        return (raw - y) ** 2 / 2

    def gradient_hessian(self, y, raw):
        return raw - y, np.ones(len(y))

    def best_constant(self, residual, weight, output=0):
        return float(np.average(residual, weights=weight))


def test_leaves_that_are_renewed_are_bounded():
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = GradientBoostingRegressor(**{**PLAIN, "n_estimators": 5}, loss=Distance())
    model.fit(X, 100 * X[:, 0])
    assert np.abs(np.diff([*model.staged_predict(X)], axis=0)).max() == pytest.approx(0.5)


@pytest.mark.parametrize("step", [0, -1.0, math.nan, None, "far"])
def test_a_bound_that_is_none_is_told(step):
    loss = Distance()
    loss.longest_step = step
    with pytest.raises(InputError, match=r"P-LOSS.*longest_step is .*above 0"):
        GradientBoostingRegressor(loss=loss).fit([[0.0], [1.0]], [0.0, 1.0])
