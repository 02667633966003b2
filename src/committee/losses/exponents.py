"""Exponentials that do not overflow: beyond a limit they go on in a straight line.

exp(350) is 1e152: more than any target that is accepted (1e150), and its square is still a
float64. Up to the limit nothing is changed. Beyond it the loss stays convex and its gradient stays
the slope of its value; the hessian is an upper bound there.
"""

from __future__ import annotations

import numpy as np

from committee.core.members import Floats

LIMIT = 350.0


def straight_exp(x: Floats) -> Floats:
    """Return exp(x), continued by its tangent where x exceeds the limit."""
    beyond: Floats = np.maximum(x - LIMIT, 0.0)
    return bounded_exp(x) * (1 + beyond)


def bounded_exp(x: Floats) -> Floats:
    """Return the slope of :func:`straight_exp`: exp(x), constant beyond the limit."""
    return np.exp(np.minimum(x, LIMIT))


def log_or_minus_infinity(y: Floats) -> Floats:
    """Return log(y), with -inf for 0 and no warning about it."""
    with np.errstate(divide="ignore"):
        return np.log(y)
