"""Pinball loss: least at a quantile; one level, or several in one model that do not cross.

Koenker and Bassett, "Regression quantiles" (1978). Several levels are several scores a row, and
trees know nothing of their order, so that scores may cross. They are sorted on prediction
(Chernozhukov, Fernández-Val and Galichon, "Quantile and probability curves without crossing",
2010). Sorted numbers do not cross, and sorting never loses anything: with r the score,

    pinball(level) = max(r - y, 0) + level (y - r).

The first term summed over levels does not depend on which score belongs to which level. The second
is least when larger scores go with larger levels: two that cross, r_a > r_b at levels a < b, gain
(b - a)(r_a - r_b) > 0 by changing places. So each row's loss falls or stays, whatever y is.

The other way, a first score and positive increments (a softplus of scores), does not cross either,
but its loss is not convex, and its leaves have no closed form: levels far from the start are
reached slowly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from committee.core.members import Floats
from committee.core.params import invalid, real
from committee.losses.averages import weighted_quantile
from committee.losses.loss import Loss, constant_scores

BETWEEN = real(0, 1, "neither")


@dataclass(frozen=True)
class Quantile(Loss):
    """The pinball loss; predicts the quantile at ``level``.

    The second derivative is 0; the hessian of 1 makes trees split by the mean of the gradients,
    and leaves get the quantile of their residuals.

    Parameters
    ----------
    level : float, default=0.5
        Between 0 and 1: the share of targets that are to lie below the prediction.

    Examples
    --------
    >>> import numpy as np
    >>> Quantile(level=0.9).value(np.array([10.0, 10.0]), np.array([8.0, 12.0]))
    array([1.8, 0.2])
    """

    level: float = 0.5

    constant_hessian = True
    exact_hessian = False
    renews_leaves = True

    def __post_init__(self) -> None:
        if not BETWEEN.is_satisfied_by(self.level):
            raise invalid("level", "Quantile", "a number in (0.0, 1.0)", self.level)

    def start(self, y: Floats, weight: Floats) -> Floats:
        """Return the quantile."""
        return constant_scores(self.best_constant(y, weight))

    def value(self, y: Floats, raw: Floats) -> Floats:
        """Return level (y - raw) below the target, (1 - level) (raw - y) above it."""
        return _pinball(y, raw, self.level)

    def gradient_hessian(self, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
        """Return -level below the target, 1 - level above it, 0 at it; and ones."""
        return _pinball_slope(y, raw, self.level), np.ones_like(raw)

    def best_constant(self, residual: Floats, weight: Floats, output: int = 0) -> float:
        """Return the quantile; where an interval would do, its middle."""
        return weighted_quantile(residual, weight, self.level)


@dataclass(frozen=True)
class Quantiles(Loss):
    """Pinball losses at several levels, a score for each; predictions never cross.

    Parameters
    ----------
    levels : sequence of float, default=(0.1, 0.5, 0.9)
        Increasing, between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> loss = Quantiles(levels=(0.1, 0.5, 0.9))
    >>> loss.start(np.arange(11.0), np.ones(11))
    array([1., 5., 9.])
    >>> loss.predict(np.array([[1.0, 7.0, 6.0]]))
    array([[1., 6., 7.]])
    """

    levels: Sequence[float] = (0.1, 0.5, 0.9)

    constant_hessian = True
    exact_hessian = False
    renews_leaves = True

    def __post_init__(self) -> None:
        allowed = "one or more increasing numbers in (0.0, 1.0)"
        if isinstance(self.levels, str) or not np.iterable(self.levels):
            raise invalid("levels", "Quantiles", allowed, self.levels)
        levels = tuple(self.levels)
        inside = bool(levels) and all(BETWEEN.is_satisfied_by(level) for level in levels)
        if not inside or any(a >= b for a, b in pairwise(levels)):
            raise invalid("levels", "Quantiles", allowed, self.levels)
        object.__setattr__(self, "levels", tuple(float(level) for level in levels))
        object.__setattr__(self, "n_outputs", len(levels))

    def start(self, y: Floats, weight: Floats) -> Floats:
        """Return the quantiles."""
        return np.array([weighted_quantile(y, weight, level) for level in self.levels])

    def value(self, y: Floats, raw: Floats) -> Floats:
        """Return the sum of the pinball losses of all levels."""
        values: Floats = _pinball(*self._aligned(y, raw)).reshape(len(y), -1).sum(axis=1)
        return values

    def gradient_hessian(self, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
        """Return the slope for each level, and ones."""
        return _pinball_slope(*self._aligned(y, raw)), np.ones_like(raw)

    def predict(self, raw: Floats) -> Floats:
        """Return the scores of each row in increasing order."""
        return raw if raw.ndim == 1 else np.sort(raw, axis=1)

    def best_constant(self, residual: Floats, weight: Floats, output: int = 0) -> float:
        """Return the quantile at the level of ``output``."""
        return weighted_quantile(residual, weight, self.levels[output])

    def _aligned(self, y: Floats, raw: Floats) -> tuple[Floats, Floats, Floats]:
        """Shape y and the levels so that they meet raw: one level has scores of shape (n,)."""
        return (y if raw.ndim == 1 else y[:, None]), raw, np.array(self.levels)


def _pinball(y: Floats, raw: Floats, level: float | Floats) -> Floats:
    residual = y - raw
    return np.maximum(level * residual, (level - 1) * residual)


def _pinball_slope(y: Floats, raw: Floats, level: float | Floats) -> Floats:
    return np.where(raw == y, 0.0, (raw > y) - level)
