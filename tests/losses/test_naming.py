"""Losses by name."""

import pytest

from committee import InputError
from committee.losses import (
    Absolute,
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
    named,
)
from committee.losses.naming import ELSEWHERE, LOSSES


@pytest.mark.parametrize(
    ("name", "params", "loss"),
    [
        ("squared_error", {}, Squared()),
        ("absolute_error", {}, Absolute()),
        ("huber", {}, Huber(1.0)),
        ("huber", {"delta": 2.0}, Huber(2.0)),
        ("quantile", {}, Quantile(0.5)),
        ("quantile", {"level": 0.9}, Quantile(0.9)),
        ("quantile", {"levels": [0.1, 0.9]}, Quantiles((0.1, 0.9))),
        ("poisson", {}, Poisson()),
        ("gamma", {}, Gamma()),
        ("tweedie", {"power": 1.2}, Tweedie(1.2)),
        ("log_loss", {}, Logistic()),
        ("log_loss", {"n_classes": 2}, Logistic()),
        ("log_loss", {"n_classes": 3}, Multinomial(3)),
        ("exponential", {}, Exponential()),
        ("cox", {}, Cox()),
    ],
)
def test_names_give_losses(name, params, loss):
    assert named(name, **params) == loss


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("mse", "squared_error"),
        ("squared_err", "squared_error"),
        ("MAE", "absolute_error"),
        ("lad", "absolute_error"),
        ("Log-Loss", "log_loss"),
        ("deviance", "log_loss"),
        ("survival:cox", "cox"),
        ("poison", "poisson"),
    ],
)
def test_other_names_are_answered_with_ours(name, meant):
    with pytest.raises(InputError, match=f"did you mean '{meant}'") as caught:
        named(name)
    assert caught.value.code == "L-NAME"


def test_unknown_names_list_what_there_is():
    with pytest.raises(InputError, match="Allowed: squared_error, absolute_error, huber") as caught:
        named("xyz")
    assert "did you mean" not in str(caught.value)
    assert set(ELSEWHERE) == set(LOSSES)


@pytest.mark.parametrize("name", [None, 3, Squared(), Squared])
def test_a_name_is_text(name):
    with pytest.raises(TypeError, match="L-NAME"):
        named(name)


def test_parameters_are_those_of_the_loss():
    with pytest.raises(InputError, match="no parameter 'deltas'; did you mean 'delta'"):
        named("huber", deltas=1.0)
    with pytest.raises(InputError, match=r"no parameter 'delta'\. Allowed: none"):
        named("squared_error", delta=1.0)
    with pytest.raises(InputError, match="one of the two"):
        named("quantile", level=0.5, levels=(0.1, 0.9))
    with pytest.raises(ValueError, match="P-VALUE"):
        named("quantile", level=1.5)
    with pytest.raises(ValueError, match="P-VALUE"):
        named("log_loss", n_classes=1)
