"""Huber loss: squared near the target, absolute beyond a distance delta.

Huber, "Robust estimation of a location parameter" (1964); for boosting Friedman 2001, algorithm 4
(M TreeBoost). Two things differ from Friedman's. His delta is a quantile of the residuals of each
round, so that the loss changes from round to round and its values cannot be compared; here delta is
fixed, and :meth:`Huber.from_target` chooses it once by his rule. His leaves take one step from the
median, median + mean(sign(r - median) min(delta, abs(r - median))); here they take the minimiser
itself, which costs a sort as well and never loses more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committee.core.members import Floats
from committee.core.params import invalid, real
from committee.losses.averages import huber_centre, weighted_quantile
from committee.losses.loss import Loss, constant_scores


@dataclass(frozen=True)
class Huber(Loss):
    """Squared up to a distance of ``delta`` and straight beyond; between mean and median.

    The hessian is 1 everywhere, an upper bound: beyond ``delta`` the second derivative is 0.

    Parameters
    ----------
    delta : float, default=1.0
        The distance, in units of y, from which a residual counts as an outlier.

    Examples
    --------
    >>> import numpy as np
    >>> Huber(delta=2.0).value(np.array([0.0, 0.0]), np.array([1.0, 10.0]))
    array([ 0.5, 18. ])
    >>> y = np.append(np.arange(10.0), 900.0)
    >>> Huber.from_target(y, alpha=0.9)
    Huber(delta=5.0)
    """

    delta: float = 1.0

    constant_hessian = True
    exact_hessian = False
    renews_leaves = True

    def __post_init__(self) -> None:
        if not real(0, None, "neither").is_satisfied_by(self.delta):
            raise invalid("delta", "Huber", "a finite number above 0", self.delta)

    @classmethod
    def from_target(cls, y: Floats, weight: Floats | None = None, alpha: float = 0.9) -> Huber:
        """Choose delta so that a share ``alpha`` of y lies within it around the median.

        Parameters
        ----------
        y, weight : ndarray of shape (n,)
            The target and the weights of rows, by default ones.
        alpha : float, default=0.9
            The share, between 0 and 1.

        Returns
        -------
        Huber
            With delta 1 where that share of y equals the median.
        """
        if not real(0, 1, "neither").is_satisfied_by(alpha):
            raise invalid("alpha", "Huber.from_target", "a number in (0.0, 1.0)", alpha)
        weight = np.ones(len(y)) if weight is None else weight
        distance = np.abs(y - weighted_quantile(y, weight, 0.5))
        return cls(delta=weighted_quantile(distance, weight, alpha) or 1.0)

    def start(self, y: Floats, weight: Floats) -> Floats:
        """Return the constant of least loss."""
        return constant_scores(self.best_constant(y, weight))

    def value(self, y: Floats, raw: Floats) -> Floats:
        """Return half the square up to delta, and delta (distance - delta / 2) beyond."""
        distance = np.abs(raw - y)
        near = np.minimum(distance, self.delta)
        return near * (distance - 0.5 * near)

    def gradient_hessian(self, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
        """Return raw - y, cut off at delta on both sides, and ones."""
        return np.clip(raw - y, -self.delta, self.delta), np.ones_like(raw)

    def best_constant(self, residual: Floats, weight: Floats, output: int = 0) -> float:
        """Return the constant of least loss; of many the middle."""
        return huber_centre(residual, weight, self.delta)
