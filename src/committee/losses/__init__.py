"""Losses: what a gradient booster minimises. One short file each, over one protocol."""

from committee.losses.absolute import Absolute
from committee.losses.answers import (
    checked_constant,
    checked_gradients,
    checked_start,
    checked_values,
)
from committee.losses.checking import check_loss
from committee.losses.columns import Columns
from committee.losses.cox import Cox
from committee.losses.exponential import Exponential
from committee.losses.gamma import Gamma
from committee.losses.huber import Huber
from committee.losses.logistic import Logistic
from committee.losses.loss import Loss
from committee.losses.multinomial import Multinomial
from committee.losses.naming import named
from committee.losses.poisson import Poisson
from committee.losses.quantile import Quantile, Quantiles
from committee.losses.squared import Squared
from committee.losses.tweedie import Tweedie

__all__ = [
    "Absolute",
    "Columns",
    "Cox",
    "Exponential",
    "Gamma",
    "Huber",
    "Logistic",
    "Loss",
    "Multinomial",
    "Poisson",
    "Quantile",
    "Quantiles",
    "Squared",
    "Tweedie",
    "check_loss",
    "checked_constant",
    "checked_gradients",
    "checked_start",
    "checked_values",
    "named",
]
