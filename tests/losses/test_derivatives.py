"""Gradients and hessians of all losses, against central differences of values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.losses.stock import STOCK, extremes, scores, target

from committee.losses import Absolute, Huber, Multinomial, Quantile, Quantiles, check_loss

STEP = 1e-5
KINKS = (Absolute, Quantile, Quantiles)
ids = [repr(loss) for loss in STOCK]
seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=25)


def central(function, raw, row, output):
    """Differentiate by one score, with the others held: no trust in a loss being separable."""
    place = row if raw.ndim == 1 else (row, output)
    up, down = raw.copy(), raw.copy()
    up[place] += STEP
    down[place] -= STEP
    return (function(up) - function(down)) / (up[place] - down[place])


def away_from_kinks(loss, y, raw):
    """Move scores that lie near a kink, where there is no derivative."""
    wide = raw.reshape(len(raw), -1)
    residual = wide - y[:, None]
    kinks = [0.0] if isinstance(loss, KINKS) else []
    kinks += [loss.delta, -loss.delta] if isinstance(loss, Huber) else []
    for kink in kinks:
        wide = np.where(np.abs(residual - kink) < 3 * STEP, wide + 1e-3, wide)
    return wide.reshape(raw.shape)


@pytest.mark.parametrize("loss", STOCK, ids=ids)
@few
@given(seed=seeds, scale=st.sampled_from([0.1, 1.0, 3.0]))
def test_r65_gradient_is_the_slope_of_the_total_value(loss, seed, scale):
    rng = np.random.default_rng(seed)
    y = target(loss, rng, 9)
    raw = away_from_kinks(loss, y, scores(loss, rng, 9, scale))
    gradient, _ = loss.gradient_hessian(y, raw)
    assert gradient.shape == raw.shape
    size = 1 + np.abs(loss.value(y, raw)).sum()
    for row in range(len(y)):
        for output in range(loss.n_outputs):
            place = row if raw.ndim == 1 else (row, output)
            slope = central(lambda moved: loss.value(y, moved).sum(), raw, row, output)
            # Truncation (step^2) and rounding (eps / step) of the difference quotient.
            assert gradient[place] == pytest.approx(slope, rel=1e-6, abs=1e-9 * size)


@pytest.mark.parametrize("loss", STOCK, ids=ids)
@few
@given(seed=seeds, scale=st.sampled_from([0.1, 1.0, 3.0]))
def test_r65_hessian_is_the_curvature_or_bounds_it(loss, seed, scale):
    rng = np.random.default_rng(seed)
    y = target(loss, rng, 9)
    raw = away_from_kinks(loss, y, scores(loss, rng, 9, scale))
    gradient, hessian = loss.gradient_hessian(y, raw)
    assert hessian.shape == raw.shape
    assert (hessian >= 0).all()
    noise = 1e-9 * (1 + np.abs(gradient).max())
    for row in range(len(y)):
        for output in range(loss.n_outputs):
            place = row if raw.ndim == 1 else (row, output)
            curvature = central(lambda moved: loss.gradient_hessian(y, moved)[0], raw, row, output)
            if loss.exact_hessian:
                assert hessian[place] == pytest.approx(curvature[place], rel=1e-6, abs=noise)
            else:
                assert hessian[place] >= curvature[place] * (1 - 1e-6) - noise


@pytest.mark.parametrize("loss", STOCK, ids=ids)
def test_separable_losses_have_no_curvature_between_rows(loss):
    rng = np.random.default_rng(3)
    y = target(loss, rng, 8)
    raw = scores(loss, rng, 8)
    moved = raw.copy()
    moved[0] += 0.5
    others = loss.gradient_hessian(y, moved)[0][1:] == loss.gradient_hessian(y, raw)[0][1:]
    assert others.all() == loss.separable


@pytest.mark.parametrize("loss", STOCK, ids=ids)
def test_constant_hessians_are_one(loss):
    rng = np.random.default_rng(4)
    hessian = loss.gradient_hessian(target(loss, rng), scores(loss, rng))[1]
    assert (hessian == 1).all() == loss.constant_hessian


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_multinomial_hessian_is_friedmans(n_classes):
    loss = Multinomial(n_classes)
    rng = np.random.default_rng(5)
    raw = scores(loss, rng, 30, 2.0)
    p = loss.predict(raw)
    hessian = loss.gradient_hessian(target(loss, rng, 30), raw)[1]
    np.testing.assert_allclose(hessian, n_classes / (n_classes - 1) * p * (1 - p), rtol=1e-14)


@pytest.mark.parametrize("loss", STOCK, ids=ids)
def test_check_loss_agrees_with_every_stock_loss(loss):
    rng = np.random.default_rng(6)
    y = target(loss, rng, 60)
    check_loss(loss, y)
    check_loss(loss, y, scores(loss, rng, 60, 3.0))


@pytest.mark.parametrize("loss", [loss for loss in STOCK if loss.separable], ids=repr)
@pytest.mark.parametrize("score", [1e3, -1e3])
def test_gradients_far_out_are_still_slopes(loss, score):
    # Beyond the limit exponentials go on straight: the slope over a long way is the gradient.
    y = np.array(extremes(loss))
    raw = np.full(len(y) if loss.n_outputs == 1 else (len(y), loss.n_outputs), score)
    gradient = loss.gradient_hessian(y, raw)[0]
    values = loss.value(y, raw)
    for output in range(loss.n_outputs):
        moved = raw.copy()
        moved.reshape(len(y), -1)[:, output] += 1.0
        slope = loss.value(y, moved) - values
        after = loss.gradient_hessian(y, moved)[0].reshape(len(y), -1)[:, output]
        before = gradient.reshape(len(y), -1)[:, output]
        rounding = 1e-14 * np.abs(values)
        # Convex: the slope of a chord lies between those at its ends.
        assert (slope >= before - 1e-9 * np.abs(before) - rounding).all()
        assert (slope <= after + 1e-9 * np.abs(after) + rounding).all()
