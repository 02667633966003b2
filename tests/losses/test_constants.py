"""Best constants: starts against scipy's minimiser, leaves against brute force; both weighted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from tests.losses.stock import STOCK, constant, target

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
from committee.losses.averages import huber_centre, weighted_quantile

ids = [repr(loss) for loss in STOCK]
few = settings(max_examples=60)
RENEWING = [Absolute(), Huber(0.5), Huber(3.0), Quantile(0.1), Quantile(0.5), Quantile(0.75)]
small = st.integers(-6, 6).map(lambda k: k / 2)
counts = st.integers(0, 4)


def mean_loss(loss, y, weight, score):
    return float(weight @ loss.value(y, constant(loss, score, len(y)))) / weight.sum()


@pytest.mark.parametrize("loss", STOCK, ids=ids)
@pytest.mark.parametrize("seed", range(3))
def test_start_is_the_minimiser_of_the_mean_loss(loss, seed):
    rng = np.random.default_rng(seed)
    y = target(loss, rng, 50)
    weight = rng.uniform(size=50) * rng.integers(0, 3, 50) + np.eye(50)[0] * 0.5
    weight[: max(2, loss.n_outputs)] += 0.1  # every class has some
    start = loss.start(y, weight)
    assert start.shape == (loss.n_outputs,)
    if loss.separable:
        found = optimize.minimize(
            lambda score: mean_loss(loss, y, weight, score),
            start + 0.3,
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000, "maxfev": 5000},
        )
        assert mean_loss(loss, y, weight, start) <= found.fun + 1e-12 * abs(found.fun)
    else:
        assert mean_loss(loss, y, weight, start) == pytest.approx(
            mean_loss(loss, y, weight, start + 3.0), rel=1e-13
        )


@pytest.mark.parametrize("loss", [Squared(), Poisson(), Gamma(), Tweedie(1.3)], ids=repr)
def test_start_predicts_the_weighted_mean(loss):
    rng = np.random.default_rng(0)
    y, weight = rng.gamma(2.0, size=30), rng.uniform(size=30)
    start = loss.start(y, weight)
    np.testing.assert_allclose(loss.predict(start), np.average(y, weights=weight), rtol=1e-14)


@pytest.mark.parametrize("loss", [Logistic(), Exponential(), Multinomial(2)], ids=repr)
def test_start_predicts_the_shares_of_classes(loss):
    y, weight = np.array([0.0, 1.0, 1.0, 1.0]), np.array([3.0, 1.0, 1.0, 1.0])
    start = loss.start(y, weight)
    raw = start if loss.n_outputs == 1 else start[None]
    np.testing.assert_allclose(loss.predict(raw), [[0.5, 0.5]], rtol=1e-14)
    if loss.n_outputs > 1:
        assert start.sum() == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("loss", [Logistic(), Exponential(), Multinomial(3)], ids=repr)
def test_a_class_without_weight_leaves_the_start_finite(loss):
    start = loss.start(np.array([0.0, 0.0, 1.0]), np.array([1.0, 2.0, 0.0]))
    assert np.isfinite(start).all()
    assert loss.predict(start if loss.n_outputs == 1 else start[None])[0, 0] > 1 - 1e-14


@pytest.mark.parametrize("loss", STOCK, ids=ids)
def test_rows_of_no_weight_change_no_bit_of_the_start(loss):
    rng = np.random.default_rng(1)
    y = target(loss, rng, 300)
    weight = rng.uniform(size=300) * (rng.uniform(size=300) > 0.4)
    kept = weight > 0
    assert (loss.start(y, weight) == loss.start(y[kept], weight[kept])).all()


@pytest.mark.parametrize("loss", STOCK, ids=ids)
@pytest.mark.parametrize("factor", [1 / 3, 1e-290, 1e290])
def test_a_factor_on_all_weights_does_not_matter(loss, factor):
    rng = np.random.default_rng(2)
    y, weight = target(loss, rng, 100), rng.integers(1, 4, 100) * 0.1
    start = loss.start(y, weight)
    np.testing.assert_allclose(loss.start(y, factor * weight), start, rtol=1e-12, atol=1e-15)


@few
@given(
    loss=st.sampled_from(RENEWING),
    rows=st.lists(st.tuples(small, counts), min_size=1, max_size=12).filter(
        lambda rows: any(count for _, count in rows)
    ),
)
def test_leaves_get_the_minimiser(loss, rows):
    residual = np.array([value for value, _ in rows])
    weight = np.array([float(count) for _, count in rows])
    best = loss.best_constant(residual, weight)

    def total(c):
        return float(weight @ loss.value(residual, np.full(len(residual), c)))

    # Kinks are candidates, as is a fine grid between them for Huber's squares.
    candidates = np.concatenate([residual, np.linspace(-7, 7, 561)])
    brute = min(total(c) for c in candidates)
    assert total(best) <= brute + 1e-9
    repeated = np.repeat(residual, weight.astype(int))  # a weight of 3 is three rows
    again = loss.best_constant(repeated, np.ones(len(repeated)))
    assert best == pytest.approx(again, abs=1e-9)


@few
@given(
    delta=st.sampled_from([0.1, 1.0, 10.0]),
    values=st.lists(st.floats(-100, 100), min_size=1, max_size=15),
)
def test_hubers_centre_has_slope_zero_and_beats_friedmans_step(delta, values):
    residual, weight = np.array(values), np.ones(len(values))
    loss = Huber(delta)
    best = loss.best_constant(residual, weight)
    slope = loss.gradient_hessian(residual, np.full(len(values), best))[0].sum()
    assert abs(slope) <= 1e-9 * (delta + 100)
    median = np.median(residual)
    away = residual - median
    friedman = median + np.mean(np.sign(away) * np.minimum(delta, np.abs(away)))
    best_total = loss.value(residual, np.full(len(values), best)).sum()
    friedman_total = loss.value(residual, np.full(len(values), friedman)).sum()
    assert best_total <= friedman_total + 1e-12 * (1 + friedman_total)


def test_hubers_centre_lies_between_median_and_mean():
    values = np.array([0.0, 1.0, 2.0, 100.0])
    ones = np.ones(4)
    assert huber_centre(values, ones, 1e9) == pytest.approx(values.mean(), rel=1e-12)
    assert huber_centre(values, ones, 1e-9) == pytest.approx(1.5, abs=1e-8)
    assert huber_centre(np.array([-5.0, 5.0]), ones[:2], 1.0) == 0.0  # the middle of many
    assert huber_centre(np.array([3.0]), ones[:1], 1.0) == 3.0
    assert huber_centre(np.array([1e150, -1e150, 1e149]), ones[:3], 1.0) == 1e149


def test_a_quantile_is_that_of_numpy_where_the_weights_are_equal():
    rng = np.random.default_rng(3)
    for n in (1, 2, 5, 10, 11):
        values = rng.normal(size=n)
        for level in (0.1, 0.25, 0.5, 0.8):
            expected = np.quantile(values, level, method="averaged_inverted_cdf")
            assert weighted_quantile(values, np.full(n, 0.1), level) == pytest.approx(expected)


def test_ties_of_weights_are_ties_in_any_unit():
    rng = np.random.default_rng(8)
    ties = 0
    for _ in range(200):
        values, weight = rng.permutation(8.0 * np.arange(8)), rng.integers(1, 5, 8).astype(float)
        middle = weighted_quantile(values, weight, 0.5)
        ties += middle not in values
        for unit in (0.1, 1 / 3, 1e-7):
            assert weighted_quantile(values, unit * weight, 0.5) == middle
            centre = huber_centre(values, unit * weight, 1.0)
            assert centre == pytest.approx(huber_centre(values, weight, 1.0), rel=1e-9, abs=1e-9)
    assert ties > 20


def test_friedmans_delta_is_a_quantile_of_the_distances():
    y = np.append(np.arange(10.0), 900.0)  # the median is 5
    assert Huber.from_target(y, alpha=0.9) == Huber(5.0)
    assert Huber.from_target(y, np.append(np.ones(10), 0.0), alpha=0.5) == Huber(2.5)
    assert Huber.from_target(np.full(5, 7.0)) == Huber(1.0)


def test_quantiles_start_and_renew_level_by_level():
    rng = np.random.default_rng(4)
    y, weight = rng.normal(size=60), rng.uniform(size=60)
    loss = Quantiles((0.1, 0.5, 0.8))
    singles = [Quantile(level) for level in loss.levels]
    expected = [single.best_constant(y, weight) for single in singles]
    assert loss.start(y, weight).tolist() == expected
    assert [loss.best_constant(y, weight, output) for output in range(3)] == expected


# --- a start for losses that do not know their own


def without_start(kind):
    return type(f"Plain{kind.__name__}", (kind,), {"start": Loss.start})


@pytest.mark.parametrize(
    "loss", [loss for loss in STOCK if loss.exact_hessian and loss.separable], ids=repr
)
@pytest.mark.parametrize("factor", [1.0, 1e3])
def test_newton_finds_the_start(loss, factor):
    rng = np.random.default_rng(5)
    y = target(loss, rng, 60)
    numbers = not isinstance(loss, (Logistic, Exponential))
    y = factor * y if numbers else y
    weight = rng.uniform(size=60) * rng.integers(0, 2, 60)
    params = {} if not isinstance(loss, Tweedie) else {"power": loss.power}
    plain = without_start(type(loss))(**params)
    np.testing.assert_allclose(plain.start(y, weight), loss.start(y, weight), rtol=1e-5, atol=1e-6)


def test_newton_finds_the_start_of_classes_and_of_kinks():
    rng = np.random.default_rng(6)
    loss = Multinomial(4)
    y, ones = target(loss, rng, 60), np.ones(60)
    shares = loss.predict(without_start(Multinomial)(4).start(y, ones)[None])[0]
    np.testing.assert_allclose(shares, np.bincount(y.astype(int)) / 60, atol=1e-6)
    y = 1e6 + rng.normal(size=61)
    found = without_start(Absolute)().start(y, np.ones(61))
    assert mean_loss(Absolute(), y, np.ones(61), found) <= 1.05 * mean_loss(
        Absolute(), y, np.ones(61), np.median(y)
    )
