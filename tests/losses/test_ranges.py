"""Losses at the ends of their domain: finite, no warning, and refusals outside of it."""

import copy
import pickle

import numpy as np
import pytest
from tests.losses.stock import CLASSES, EXTREME_SCORES, STOCK, constant, extremes, scores, target

from committee import InputError
from committee.losses import (
    Cox,
    Exponential,
    Gamma,
    Huber,
    Logistic,
    Multinomial,
    Poisson,
    Quantile,
    Quantiles,
    Squared,
    Tweedie,
)

ids = [repr(loss) for loss in STOCK]


@pytest.mark.parametrize("loss", STOCK, ids=ids)
@pytest.mark.parametrize("score", EXTREME_SCORES)
def test_everything_is_finite_at_extreme_scores_and_targets(loss, score):
    y = np.array(extremes(loss) * 2)
    raw = constant(loss, score, len(y))
    raw[::2] = -raw[::2]  # rows that disagree
    loss.check_target(y)
    gradient, hessian = loss.gradient_hessian(y, raw)
    for result in (loss.value(y, raw), gradient, hessian, loss.predict(raw)):
        assert np.isfinite(result).all()
    assert (hessian >= 0).all()
    assert np.isfinite(loss.start(y, np.ones(len(y)))).all()


@pytest.mark.parametrize("loss", [loss for loss in STOCK if loss.n_outputs > 1], ids=repr)
def test_outputs_that_disagree_by_far_are_finite(loss):
    y = np.array(extremes(loss))
    raw = np.where(np.arange(loss.n_outputs) % 2, 1e3, -1e3) * np.ones((len(y), 1))
    for result in (loss.value(y, raw), *loss.gradient_hessian(y, raw), loss.predict(raw)):
        assert np.isfinite(result).all()


@pytest.mark.parametrize("loss", STOCK, ids=ids)
def test_values_are_not_negative(loss):
    rng = np.random.default_rng(0)
    values = loss.value(target(loss, rng, 200), scores(loss, rng, 200, 4.0))
    assert values.shape == (200,)
    assert (values >= -1e-12).all()


@pytest.mark.parametrize("loss", STOCK, ids=ids)
def test_inputs_are_not_written_to(loss):
    rng = np.random.default_rng(1)
    y, raw, weight = target(loss, rng), scores(loss, rng), rng.uniform(size=40)
    for array in (y, raw, weight):
        array.flags.writeable = False
    loss.check_target(y)
    loss.start(y, weight)
    loss.value(y, raw)
    loss.gradient_hessian(y, raw)
    loss.predict(raw)


@pytest.mark.parametrize("loss", STOCK, ids=ids)
def test_losses_are_values(loss):
    for copied in (pickle.loads(pickle.dumps(loss)), copy.deepcopy(loss)):
        assert copied == loss
        assert hash(copied) == hash(loss)
        assert copied.n_outputs == loss.n_outputs
    with pytest.raises(AttributeError):
        loss.delta = 3.0


@pytest.mark.parametrize("loss", CLASSES, ids=repr)
def test_predictions_are_probabilities(loss):
    rng = np.random.default_rng(2)
    shares = loss.predict(scores(loss, rng, 50, 5.0))
    assert shares.shape == (50, max(2, loss.n_outputs))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-14)


def test_exponential_predicts_by_twice_the_score():
    raw = np.array([-2.0, 0.0, 0.3])
    np.testing.assert_allclose(Exponential().predict(raw)[:, 1], 1 / (1 + np.exp(-2 * raw)))


def test_sure_and_right_rows_keep_their_digits():
    loss = Logistic()
    gradient, hessian = loss.gradient_hessian(np.array([1.0, 0.0]), np.array([50.0, -50.0]))
    np.testing.assert_allclose(gradient, [-np.exp(-50.0), np.exp(-50.0)], rtol=1e-12)
    np.testing.assert_allclose(hessian, np.exp(-50.0), rtol=1e-12)
    np.testing.assert_allclose(loss.value(np.ones(1), np.array([50.0])), np.exp(-50.0), rtol=1e-12)


@pytest.mark.parametrize(
    ("loss", "y", "code", "where"),
    [
        (Poisson(), [1.0, -1.0, 2.0], "Y-NEGATIVE", "row 1"),
        (Poisson(), [0.0, 0.0], "Y-ZERO", "sum to zero"),
        (Tweedie(), [1.0, 2.0, -0.5], "Y-NEGATIVE", "row 2"),
        (Tweedie(), [0.0], "Y-ZERO", "sum to zero"),
        (Gamma(), [0.0, 1.0, -3.0], "Y-POSITIVE", "rows 0, 2"),
        (Logistic(), [0.0, 1.0, 2.0], "Y-CODES", "row 2"),
        (Exponential(), [-1.0, 1.0], "Y-CODES", "row 0"),
        (Multinomial(3), [0.0, 1.5, 2.0], "Y-CODES", "row 1"),
        (Multinomial(3), [0.0, np.nan, 2.0], "Y-CODES", "row 1"),
        (Cox(), [1.0, 0.0], "Y-EVENTS", "row 1"),
        (Cox(), [-1.0, -2.0], "Y-EVENTS", "no event"),
    ],
)
def test_targets_outside_the_domain_are_refused(loss, y, code, where):
    with pytest.raises(InputError, match=where) as caught:
        loss.check_target(np.array(y))
    assert caught.value.code == code


@pytest.mark.parametrize("loss", [Poisson(), Tweedie()], ids=repr)
def test_counts_that_all_have_no_weight_are_refused(loss):
    with pytest.raises(InputError, match="Y-ZERO"):
        loss.start(np.array([0.0, 3.0]), np.array([1.0, 0.0]))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Huber(delta=0.0),
        lambda: Huber(delta=np.inf),
        lambda: Huber(delta="auto"),
        lambda: Huber.from_target(np.ones(3), alpha=1.0),
        lambda: Quantile(level=1.0),
        lambda: Quantile(level=np.nan),
        lambda: Quantiles(levels=()),
        lambda: Quantiles(levels=(0.5, 0.5)),
        lambda: Quantiles(levels=(0.9, 0.1)),
        lambda: Quantiles(levels=(0.1, 1.1)),
        lambda: Quantiles(levels="0.5"),
        lambda: Quantiles(levels=0.5),
        lambda: Tweedie(power=1.0),
        lambda: Tweedie(power=2),
        lambda: Multinomial(1),
        lambda: Multinomial(2.0),
        lambda: Multinomial(True),
    ],
)
def test_parameters_outside_their_range_are_refused(make):
    with pytest.raises(ValueError, match="P-VALUE"):
        make()


def test_levels_may_come_as_an_array():
    assert Quantiles(np.array([0.2, 0.8])) == Quantiles((0.2, 0.8))
    assert Quantiles([0.2, 0.8]).n_outputs == 2


def test_equality_knows_parameters_and_kinds():
    assert Squared() == Squared()
    assert Huber(1.0) != Huber(2.0)
    assert Logistic() != Exponential()
