"""Squared loss: half the squared distance, least at the mean.

Legendre (1805) and Gauss (1809). Its gradient is the residual, so that boosting fits residuals
(Friedman 2001, algorithm 2), and a leaf's Newton step is the mean of its residuals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committee.core.members import Floats
from committee.losses.averages import weighted_mean
from committee.losses.loss import Loss, constant_scores


@dataclass(frozen=True)
class Squared(Loss):
    """Half the squared distance, (y - raw)^2 / 2; predicts means.

    Examples
    --------
    >>> import numpy as np
    >>> Squared().value(np.array([3.0, 5.0]), np.array([3.0, 3.0]))
    array([0., 2.])
    """

    constant_hessian = True

    def start(self, y: Floats, weight: Floats) -> Floats:
        """Return the mean."""
        return constant_scores(weighted_mean(y, weight))

    def value(self, y: Floats, raw: Floats) -> Floats:
        """Return half the squared distance."""
        return 0.5 * (raw - y) ** 2

    def gradient_hessian(self, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
        """Return raw - y, and ones."""
        return raw - y, np.ones_like(raw)
