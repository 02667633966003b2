"""Poisson loss: counts whose logarithmic mean is the score.

Half the deviance of the Poisson model (Nelder and Wedderburn, "Generalized linear models", 1972):
y log(y / mu) - y + mu with mu = exp(raw), 0 for an exact fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from committee.core.members import Floats
from committee.losses.domains import check_counts, positive_mean
from committee.losses.exponents import bounded_exp, straight_exp
from committee.losses.loss import LONGEST_STEP, Loss, constant_scores


@dataclass(frozen=True)
class Poisson(Loss):
    """Half the Poisson deviance with a log link; predicts means of counts or rates.

    Examples
    --------
    >>> import numpy as np
    >>> loss = Poisson()
    >>> loss.predict(loss.start(np.array([0.0, 1.0, 5.0]), np.ones(3)))
    array([2.])
    """

    longest_step = LONGEST_STEP

    def check_target(self, y: Floats) -> None:
        """Refuse negative values, and a y of zeros."""
        check_counts(y, "the Poisson")

    def start(self, y: Floats, weight: Floats) -> Floats:
        """Return the logarithm of the mean."""
        return constant_scores(np.log(positive_mean(y, weight)))

    def value(self, y: Floats, raw: Floats) -> Floats:
        """Return half the deviance."""
        exact: Floats = xlogy(y, y) - y
        return straight_exp(raw) - y * raw + exact

    def gradient_hessian(self, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
        """Return exp(raw) - y, and exp(raw)."""
        mean = bounded_exp(raw)
        return mean - y, mean

    def predict(self, raw: Floats) -> Floats:
        """Return exp(raw)."""
        return bounded_exp(raw)
