"""Losses by name, as scikit-learn calls them."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import Any

from committee.data import InputError, InputTypeError
from committee.data.errors import class_name, describe
from committee.losses.absolute import Absolute
from committee.losses.cox import Cox
from committee.losses.exponential import Exponential
from committee.losses.gamma import Gamma
from committee.losses.huber import Huber
from committee.losses.logistic import Logistic
from committee.losses.loss import Loss
from committee.losses.multinomial import Multinomial
from committee.losses.poisson import Poisson
from committee.losses.quantile import Quantile, Quantiles
from committee.losses.squared import Squared
from committee.losses.tweedie import Tweedie


def _log_loss(n_classes: int = 2) -> Loss:
    return Logistic() if n_classes == 2 else Multinomial(n_classes=n_classes)


def _quantile(level: float | None = None, levels: Any = None) -> Loss:
    if level is not None and levels is not None:
        found = f"both level={level!r} and levels={levels!r}"
        raise InputError(describe("P-VALUE", "level", found, allowed="one of the two"))
    if levels is not None:
        return Quantiles(levels=levels)
    return Quantile() if level is None else Quantile(level=level)


LOSSES: dict[str, Callable[..., Loss]] = {
    "squared_error": Squared,
    "absolute_error": Absolute,
    "huber": Huber,
    "quantile": _quantile,
    "poisson": Poisson,
    "gamma": Gamma,
    "tweedie": Tweedie,
    "log_loss": _log_loss,
    "exponential": Exponential,
    "cox": Cox,
}

# What the same losses are called elsewhere: answered with our name, not accepted.
ELSEWHERE = {
    "squared_error": ("squared_loss", "ls", "mse", "l2", "rmse", "regression", "reg:squarederror"),
    "absolute_error": ("lad", "mae", "l1", "regression_l1", "reg:absoluteerror"),
    "huber": ("reg:pseudohubererror",),
    "quantile": ("pinball", "multiquantile", "reg:quantileerror"),
    "poisson": ("count:poisson",),
    "gamma": ("reg:gamma",),
    "tweedie": ("reg:tweedie",),
    "log_loss": (
        *("deviance", "logistic", "logloss", "binary", "binary:logistic", "binary_crossentropy"),
        *("multinomial", "multiclass", "multi:softprob", "multi:softmax", "cross_entropy"),
        *("crossentropy", "categorical_crossentropy"),
    ),
    "exponential": ("adaboost",),
    "cox": ("survival:cox",),
}


def named(name: str, **params: Any) -> Loss:
    """Make the loss of a name.

    Parameters
    ----------
    name : str
        "squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie",
        "log_loss", "exponential" or "cox".
    **params
        Those of the loss: ``delta`` for "huber", ``level`` or ``levels`` for "quantile",
        ``power`` for "tweedie", ``n_classes`` for "log_loss" (by default 2).

    Returns
    -------
    Loss
        The loss.

    Examples
    --------
    >>> from committee.losses import named
    >>> named("quantile", level=0.9)
    Quantile(level=0.9)
    >>> named("log_loss", n_classes=7)
    Multinomial(n_classes=7)
    >>> named("mae")
    Traceback (most recent call last):
    committee.data.errors.InputError: [L-NAME] loss: there is no loss 'mae'; did you mean
    'absolute_error'? Allowed: ...
    """
    if not isinstance(name, str):
        found = f"{name!r} is a {class_name(name)}"
        allowed = f"one of {', '.join(LOSSES)}"
        raise InputTypeError(describe("L-NAME", "loss", found, allowed=allowed))
    if name not in LOSSES:
        raise InputError(
            describe(
                "L-NAME",
                "loss",
                f"there is no loss {name!r}{_meant(name)}",
                allowed=", ".join(LOSSES),
                fix="for a loss of your own, subclass committee.losses.Loss",
            )
        )
    known = _known(name)
    for param in params:
        if param not in known:
            found = f"loss {name!r} has no parameter {param!r}{_guess(param, known)}"
            allowed = ", ".join(known) or "none"
            raise InputError(describe("P-UNKNOWN", param, found, allowed=allowed))
    return LOSSES[name](**params)


@functools.cache
def _known(name: str) -> list[str]:
    """Name the parameters of a loss."""
    return list(inspect.signature(LOSSES[name]).parameters)


def _meant(name: str) -> str:
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    for ours, others in ELSEWHERE.items():
        if key == ours or key in others:
            return f"; did you mean {ours!r}?"
    return _guess(key, list(LOSSES))


def _guess(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
