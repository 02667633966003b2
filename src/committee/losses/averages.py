"""Weighted constants of least loss: mean, quantile, Huber's centre, and shares of classes.

Rows of weight 0 are left out first, so that they change no bit. Where an interval of constants
is best, its middle is taken; sums within rounding of a tie count as a tie, so that a factor on all
weights does not change the answer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from committee.core.members import Floats

SLACK = 1e-12  # share of the total weight that is rounding
RAREST = 1e-15  # share of a class without a row, so that its logarithm is finite


def weighted_mean(values: Floats, weight: Floats) -> float:
    """Return the mean of ``values``, each counted by its weight; of equal ones exactly that."""
    values, weight = _counted(values, weight)
    first = values[0]
    return float(first + (weight * (values - first)).sum() / weight.sum())


def weighted_quantile(values: Floats, weight: Floats, level: float) -> float:
    """Return the quantile at ``level``: the minimiser of the weighted pinball loss.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_quantile(np.array([4.0, 1.0, 2.0, 9.0]), np.ones(4), 0.5)
    3.0
    >>> weighted_quantile(np.array([4.0, 1.0, 2.0, 9.0]), np.array([1.0, 1.0, 1.0, 4.0]), 0.5)
    9.0
    """
    values, weight = _counted(values, weight)
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    goal, slack = level * below[-1], SLACK * below[-1]
    first = int(np.searchsorted(below, goal - slack, side="left"))
    last = min(int(np.searchsorted(below, goal + slack, side="right")), len(values) - 1)
    return _middle(values[order[first]], values[order[last]])


def huber_centre(values: Floats, weight: Floats, delta: float) -> float:
    """Return the constant of least Huber loss.

    The slope of the loss is a broken line in the constant, with corners ``delta`` beside the
    values. The two corners around its zero are found by bisection.
    """
    values, weight = _counted(values, weight)
    corners = np.sort(np.concatenate([values - delta, values + delta]))
    slack = SLACK * delta * weight.sum()

    def slope(k: int) -> float:
        return float((weight * np.clip(corners[k] - values, -delta, delta)).sum())

    after = _first(len(corners), lambda k: slope(k) >= -slack)
    if after == len(corners) or (after > 0 and slope(after) > slack):
        high = min(after, len(corners) - 1)
        falling, rising = slope(high - 1), slope(high)
        share = falling / (falling - rising)
        return float(corners[high - 1] + share * (corners[high] - corners[high - 1]))
    last = _first(len(corners), lambda k: slope(k) > slack) - 1
    return _middle(corners[after], corners[last])


def class_shares(y: Floats, weight: Floats, n_classes: int) -> Floats:
    """Return the share of the weight that each class has, none of them 0."""
    codes, weight = _counted(y, weight)
    mass = np.bincount(codes.astype(np.intp), weights=weight, minlength=n_classes)
    shares: Floats = np.maximum(mass / mass.sum(), RAREST)
    return shares


def _counted(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Leave out what has no weight, and scale the weights so that no sum overflows."""
    if not weight.all():
        values, weight = values[weight > 0], weight[weight > 0]
    return values, weight / weight.max()


def _middle(low: float, high: float) -> float:
    return float(low + (high - low) / 2)


def _first(count: int, holds: Callable[[int], bool]) -> int:
    """Return the first index at which a property holds that holds from there on, or ``count``."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
