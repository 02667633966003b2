"""Exponential loss: the one that AdaBoost minimises.

Friedman, Hastie and Tibshirani, "Additive logistic regression" (2000): AdaBoost descends on
exp(-s raw), s = -1, +1, whose minimiser is half the log-odds. A row that is wrong by far has a
weight without bound, so that label noise hurts more than with the logistic loss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from committee.core.members import Floats
from committee.losses.averages import class_shares
from committee.losses.domains import check_codes
from committee.losses.exponents import bounded_exp, straight_exp
from committee.losses.loss import LONGEST_STEP, Loss, constant_scores


@dataclass(frozen=True)
class Exponential(Loss):
    """AdaBoost's loss exp(-s raw) of two classes; predicts probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> Exponential().value(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    array([1.        , 2.71828183])
    """

    longest_step = LONGEST_STEP

    def check_target(self, y: Floats) -> None:
        """Refuse what is neither 0 nor 1."""
        check_codes(y, 2)

    def start(self, y: Floats, weight: Floats) -> Floats:
        """Return half the log-odds; a class without a row gets a share of 1e-15."""
        first, second = class_shares(y, weight, 2)
        return constant_scores(0.5 * np.log(second / first))

    def value(self, y: Floats, raw: Floats) -> Floats:
        """Return exp(-s raw)."""
        return straight_exp(np.where(y > 0, -raw, raw))

    def gradient_hessian(self, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
        """Return -s exp(-s raw), and exp(-s raw)."""
        weight = bounded_exp(np.where(y > 0, -raw, raw))
        return np.where(y > 0, -weight, weight), weight

    def predict(self, raw: Floats) -> Floats:
        """Return the probabilities 1 / (1 + exp(2 s raw)) of both classes, (n, 2)."""
        return np.column_stack([expit(-2 * raw), expit(2 * raw)])
