"""Tweedie loss: amounts that are often exactly 0 and otherwise positive, as insurance claims are.

Half the deviance of a compound Poisson-gamma model (Tweedie 1984; Jørgensen, "Exponential
dispersion models", 1987), whose variance is mu^power with 1 < power < 2 and mu = exp(raw):

    y^(2 - p) / ((1 - p)(2 - p)) - y mu^(1 - p) / (1 - p) + mu^(2 - p) / (2 - p).

Poisson (p = 1) and gamma (p = 2) are its limits. Both derivatives' terms have one sign each, so
that the loss is convex in raw.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committee.core.members import Floats
from committee.core.params import invalid, real
from committee.losses.domains import check_counts, positive_mean
from committee.losses.exponents import bounded_exp, log_or_minus_infinity, straight_exp
from committee.losses.loss import LONGEST_STEP, Loss, constant_scores


@dataclass(frozen=True)
class Tweedie(Loss):
    """Half the Tweedie deviance with a log link; predicts means of amounts with many zeros.

    Parameters
    ----------
    power : float, default=1.5
        Between 1 (as the Poisson loss) and 2 (as the gamma loss): the variance is taken to grow
        with that power of the mean.

    Examples
    --------
    >>> import numpy as np
    >>> Tweedie(power=1.5).value(np.array([0.0, 4.0]), np.log([4.0, 4.0]))
    array([4., 0.])
    """

    power: float = 1.5
    longest_step = LONGEST_STEP

    def __post_init__(self) -> None:
        if not real(1, 2, "neither").is_satisfied_by(self.power):
            fix = "loss='poisson' is power 1, loss='gamma' is power 2"
            raise invalid("power", "Tweedie", "a number in (1.0, 2.0)", self.power, fix)

    def check_target(self, y: Floats) -> None:
        """Refuse negative values, and a y of zeros."""
        check_counts(y, "the Tweedie")

    def start(self, y: Floats, weight: Floats) -> Floats:
        """Return the logarithm of the mean."""
        return constant_scores(np.log(positive_mean(y, weight)))

    def value(self, y: Floats, raw: Floats) -> Floats:
        """Return half the deviance."""
        to_one, to_two = self.power - 1, 2 - self.power
        exact = y**to_two / (to_one * to_two)
        part, mean_part = self._exponents(y, raw)
        return straight_exp(part) / to_one + straight_exp(mean_part) / to_two - exact

    def gradient_hessian(self, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
        """Return mu^(2 - p) - y mu^(1 - p), and (2 - p) mu^(2 - p) + (p - 1) y mu^(1 - p)."""
        part, mean_part = (bounded_exp(exponent) for exponent in self._exponents(y, raw))
        return mean_part - part, (2 - self.power) * mean_part + (self.power - 1) * part

    def predict(self, raw: Floats) -> Floats:
        """Return exp(raw)."""
        return bounded_exp(raw)

    def _exponents(self, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
        """Return the logarithms of y mu^(1 - p) and of mu^(2 - p)."""
        return log_or_minus_infinity(y) + (1 - self.power) * raw, (2 - self.power) * raw
