"""Losses against scikit-learn's: private losses row by row, public metrics on the whole."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn import metrics
from sklearn._loss import loss as peers
from tests.losses.stock import scores, target

from committee.losses import (
    Absolute,
    Exponential,
    Gamma,
    Huber,
    Logistic,
    Loss,
    Multinomial,
    Poisson,
    Quantile,
    Quantiles,
    Squared,
    Tweedie,
)

PAIRS = [
    (Squared(), peers.HalfSquaredError()),
    (Absolute(), peers.AbsoluteError()),
    (Huber(0.7), peers.HuberLoss(delta=0.7)),
    (Quantile(0.8), peers.PinballLoss(quantile=0.8)),
    (Poisson(), peers.HalfPoissonLoss()),
    (Gamma(), peers.HalfGammaLoss()),
    (Tweedie(1.5), peers.HalfTweedieLoss(power=1.5)),
    (Tweedie(1.9), peers.HalfTweedieLoss(power=1.9)),
    (Logistic(), peers.HalfBinomialLoss()),
    (Exponential(), peers.ExponentialLoss()),
]


def drawn(loss, n=200, scale=1.5):
    rng = np.random.default_rng(7)
    return target(loss, rng, n), scores(loss, rng, n, scale)


@pytest.mark.parametrize(("loss", "peer"), PAIRS, ids=[repr(loss) for loss, _ in PAIRS])
def test_values_and_derivatives_are_those_of_scikit_learn(loss, peer):
    y, raw = drawn(loss)
    known = {"y_true": y, "raw_prediction": raw}
    theirs = peer.loss(**known) + peer.constant_to_optimal_zero(y)
    np.testing.assert_allclose(loss.value(y, raw), theirs, rtol=1e-11, atol=1e-12)
    gradient, hessian = loss.gradient_hessian(y, raw)
    peer_gradient, peer_hessian = peer.gradient_hessian(**known)
    np.testing.assert_allclose(gradient, peer_gradient, rtol=1e-11, atol=1e-13)
    if loss.exact_hessian:
        np.testing.assert_allclose(hessian, peer_hessian, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("n_classes", [3, 6])
def test_multinomial_is_that_of_scikit_learn(n_classes):
    loss, peer = Multinomial(n_classes), peers.HalfMultinomialLoss(n_classes=n_classes)
    y, raw = drawn(loss)
    np.testing.assert_allclose(loss.value(y, raw), peer.loss(y, raw), rtol=1e-12, atol=1e-14)
    gradient, hessian = loss.gradient_hessian(y, raw)
    peer_gradient, peer_hessian = peer.gradient_hessian(y, raw)
    np.testing.assert_allclose(gradient, peer_gradient, rtol=1e-11, atol=1e-14)
    factor = n_classes / (n_classes - 1)  # Friedman's, which scikit-learn leaves out
    np.testing.assert_allclose(hessian, factor * peer_hessian, rtol=1e-11, atol=1e-14)
    assert loss.value(y, raw).mean() == pytest.approx(metrics.log_loss(y, softmax(raw, axis=1)))


@pytest.mark.parametrize("seed", range(4))
def test_two_classes_take_the_step_of_the_logistic_loss(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 30).astype(float)
    raw = rng.normal()
    logistic_g, logistic_h = Logistic().gradient_hessian(y, np.full(30, raw))
    g, h = Multinomial(2).gradient_hessian(y, np.tile([-raw / 2, raw / 2], (30, 1)))
    step = -g.sum(axis=0) / h.sum(axis=0)
    assert step[1] - step[0] == pytest.approx(-logistic_g.sum() / logistic_h.sum(), rel=1e-12)


@pytest.mark.parametrize(
    ("loss", "metric"),
    [
        (Squared(), lambda y, p: metrics.mean_squared_error(y, p) / 2),
        (Absolute(), metrics.mean_absolute_error),
        (Quantile(0.8), lambda y, p: metrics.mean_pinball_loss(y, p, alpha=0.8)),
        (Poisson(), lambda y, p: metrics.mean_poisson_deviance(y, p) / 2),
        (Gamma(), lambda y, p: metrics.mean_gamma_deviance(y, p) / 2),
        (Tweedie(1.5), lambda y, p: metrics.mean_tweedie_deviance(y, p, power=1.5) / 2),
        (Logistic(), metrics.log_loss),
    ],
    ids=lambda case: repr(case) if isinstance(case, Loss) else "",
)
def test_mean_values_are_known_metrics(loss, metric):
    y, raw = drawn(loss)
    assert loss.value(y, raw).mean() == pytest.approx(metric(y, loss.predict(raw)), rel=1e-12)


def test_quantiles_are_the_sum_of_single_ones():
    loss = Quantiles((0.1, 0.5, 0.9))
    y, raw = drawn(loss)
    singles = [Quantile(level) for level in loss.levels]
    values = sum(single.value(y, raw[:, k]) for k, single in enumerate(singles))
    np.testing.assert_allclose(loss.value(y, raw), values, rtol=1e-14)
    for k, single in enumerate(singles):
        expected = single.gradient_hessian(y, raw[:, k])[0]
        assert (loss.gradient_hessian(y, raw)[0][:, k] == expected).all()


@pytest.mark.parametrize("power", [1 + 1e-6, 2 - 1e-6])
def test_tweedie_lies_between_poisson_and_gamma(power):
    limit = Poisson() if power < 1.5 else Gamma()
    y, raw = drawn(limit)
    loss = Tweedie(power)
    np.testing.assert_allclose(loss.value(y, raw), limit.value(y, raw), rtol=1e-4, atol=1e-4)
    ours, theirs = loss.gradient_hessian(y, raw), limit.gradient_hessian(y, raw)
    for found, expected in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_probabilities_of_a_row_do_not_depend_on_the_others():
    """One row alone is answered another way than many."""
    drawn = scores(Logistic(), np.random.default_rng(5), n=200, scale=20.0)
    raw = np.concatenate([drawn, [0.0, -0.0, 1e3, -1e3]])
    together = Logistic().predict(raw)
    alone = np.concatenate([Logistic().predict(raw[i : i + 1]) for i in range(len(raw))])
    assert together.tobytes() == alone.tobytes()
