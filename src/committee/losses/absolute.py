"""Absolute loss: the distance itself, least at the median.

Friedman 2001, algorithm 3 (LAD TreeBoost): trees are grown on the signs of the residuals, and
each leaf then gets the median of its residuals. Outliers count by their side only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committee.core.members import Floats
from committee.losses.averages import weighted_quantile
from committee.losses.loss import Loss, constant_scores


@dataclass(frozen=True)
class Absolute(Loss):
    """The distance ``abs(y - raw)``; predicts medians.

    The second derivative is 0; the hessian of 1 makes trees split by the mean of the signs.

    Examples
    --------
    >>> import numpy as np
    >>> Absolute().start(np.array([1.0, 2.0, 900.0]), np.ones(3))
    array([2.])
    """

    constant_hessian = True
    exact_hessian = False
    renews_leaves = True

    def start(self, y: Floats, weight: Floats) -> Floats:
        """Return the median."""
        return constant_scores(self.best_constant(y, weight))

    def value(self, y: Floats, raw: Floats) -> Floats:
        """Return the distance."""
        return np.abs(raw - y)

    def gradient_hessian(self, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
        """Return the sign of raw - y (0 for an exact fit), and ones."""
        return np.sign(raw - y), np.ones_like(raw)

    def best_constant(self, residual: Floats, weight: Floats, output: int = 0) -> float:
        """Return the median; of an even number the middle between two."""
        return weighted_quantile(residual, weight, 0.5)
