"""Potentials of the error function, and the steps that leave their mean as it is.

A row at position z, in units of the potential's width, has potential erfc(z): the chance, twice,
that a random walk takes it to the wrong side by the end. Its weight is exp(-z^2), the slope. A
booster of this family takes from each hypothesis the step that uses up as much time as it can while
the mean potential stays (Freund 2001, 2009). Tails come from erfc, since 1 - erf cancels; Newton's
iteration is kept in a bracket, or followed by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from committee.core.members import Floats

Curve = Callable[[float], tuple[float, float]]
ITERATIONS = 100
ROUNDING = 4 * np.finfo(np.float64).eps
CONVERGED = 1e-13  # of the mean potential, as a part of the one to keep, and of the edge
SLOPE = 2 / np.sqrt(np.pi)  # of erfc at 0, without its sign


def crossing(curve: Curve, low: float, high: float, start: float | None = None) -> float:
    """Find where a curve that begins at or below 0 and ends at or above it crosses 0.

    Newton's iteration, and halving of the bracket where that leaves it or is slow.

    Parameters
    ----------
    curve : callable
        Gives value and slope.
    low, high : float
        The bracket.
    start : float, optional
        Where to begin; by default in the middle.

    Examples
    --------
    >>> crossing(lambda x: (x**2 - 2, 2 * x), 0.0, 2.0)
    1.41421356...
    """
    at = (low + high) / 2 if start is None else min(max(start, low), high)
    last = high - low
    for _ in range(ITERATIONS):
        value, slope = curve(at)
        if value == 0:
            break
        low, high = (at, high) if value < 0 else (low, at)
        step = -value / slope if slope > 0 else np.inf
        if not low <= at + step <= high or abs(step) > last / 2:
            step = (low + high) / 2 - at
        last, at = abs(step), at + step
        if last <= ROUNDING * max(abs(low), abs(high)):
            break
    return at


def weigh(z: Floats, start: Floats) -> tuple[Floats, float]:
    """Weigh rows by exp(-z^2) and their initial weight.

    Returns
    -------
    weight : ndarray
        Shares that sum to 1: the row nearest to 0 is the unit, so that not all of them underflow.
    slope : float
        By how much the mean of erfc falls where all z grow alike.
    """
    square = z * z
    nearest = float(np.min(square, where=start > 0, initial=np.inf))
    weight = start * np.exp(np.minimum(nearest - square, 0.0))
    total = float(np.sum(weight))
    return weight / total, SLOPE * total * float(np.exp(-nearest))


class Slopes(NamedTuple):
    """The mean potential less the one to keep, the edge of the hypothesis, and their derivatives.

    The derivatives are by vote and by time.
    """

    excess: float
    by_vote: float
    by_time: float
    edge: float
    edge_by_vote: float
    edge_by_time: float

    def newton(self, edge: float = 0.0) -> tuple[float, float]:
        """Give the step to where, in a straight line, no excess is left and the edge is right."""
        scale = self.by_vote * self.edge_by_time - self.by_time * self.edge_by_vote
        if scale == 0:
            return np.nan, np.nan
        above = self.edge - edge
        vote = (self.by_time * above - self.excess * self.edge_by_time) / scale
        time = (self.edge_by_vote * self.excess - self.by_vote * above) / scale
        return vote, time


@dataclass(frozen=True, eq=False)
class BrownianStep:
    """How far one hypothesis takes BrownBoost: the curve of equal potential through the present.

    A vote alpha with time t moves a row to ``ahead + alpha u - t``. The mean potential falls with
    alpha as long as the edge is positive, and rises with t; so each alpha has one t that keeps it,
    and along the curve dt / dalpha is the edge.

    Attributes
    ----------
    ahead : ndarray
        r + s: how far each row is ahead, with the time left.
    u : ndarray
        +1 where the hypothesis is right, -1 where it is wrong.
    start : ndarray
        The initial weights of the rows.
    width : float
        sqrt(c).
    potential : float
        The mean potential to keep.
    """

    ahead: Floats
    u: Floats
    start: Floats
    width: float
    potential: float

    def slopes(self, alpha: float, t: float) -> Slopes:
        """Evaluate at one point."""
        z = (self.ahead + alpha * self.u - t) / self.width
        weight, slope = weigh(z, self.start)
        edge = float(np.sum(weight * self.u))
        turn, drift = float(np.sum(weight * z * self.u)), float(np.sum(weight * z))
        return Slopes(
            float(np.sum(self.start * special.erfc(z))) - self.potential,
            -slope * edge / self.width,
            slope / self.width,
            edge,
            -2 * (drift - edge * turn) / self.width,
            2 * (turn - edge * drift) / self.width,
        )

    def solve(self, left: float, tolerance: float) -> tuple[float, float] | None:
        """Follow the curve from (0, 0) until the time is used up or the edge is.

        Parameters
        ----------
        left : float
            The time left.
        tolerance : float
            The edge at which to stop.

        Returns
        -------
        (alpha, t), or None
            None where neither happens on the part of the curve that float64 can resolve.
        """
        stride = self.width / 4  # on which potential and edge hardly bend
        here = self.slopes(0.0, 0.0)
        fall = -(here.edge_by_vote + here.edge * here.edge_by_time)
        if fall * stride > here.edge - tolerance:
            guess = (here.edge - tolerance) / fall
            with np.errstate(all="ignore"):  # a diverging iteration is given up below
                solved = self._newton(guess, guess * here.edge / 2, min(left, stride), tolerance)
            if solved is not None and solved[0] <= stride:
                return solved
        return self._march(stride, left, tolerance)

    def _newton(
        self, alpha: float, t: float, high: float, tolerance: float
    ) -> tuple[float, float] | None:
        for _ in range(ITERATIONS // 4):
            if not (alpha > 0 and 0 < t < high):
                return None
            at = self.slopes(alpha, t)
            kept = abs(at.excess) <= CONVERGED * self.potential
            if kept and abs(at.edge - tolerance) <= CONVERGED:
                return alpha, t
            by_vote, by_time = at.newton(tolerance)
            alpha, t = alpha + by_vote, t + by_time
        return None

    def _march(self, stride: float, left: float, tolerance: float) -> tuple[float, float] | None:
        """Go along the curve in strides, and look closer at the one that passes the end."""
        alpha, t, edge = 0.0, 0.0, self.slopes(0.0, 0.0).edge
        for _ in range(ITERATIONS):
            further = alpha + stride
            if t + stride >= left and self.slopes(further, left).excess <= 0:
                return self._at_end(alpha, further, left), left
            then = self._time(further, t - stride, min(t + stride, left), t + edge * stride)
            edge = self.slopes(further, then).edge
            if edge <= tolerance:
                spent, peak = self._spent(alpha, further, t, tolerance)
                if peak < left:
                    return spent, peak
                return self._at_end(alpha, spent, left), left
            if then <= t:  # the curve can no longer be told from one without time
                return None
            alpha, t = further, then
        return None

    def _time(self, alpha: float, low: float, high: float, guess: float) -> float:
        """Find the time in [low, high] at which ``alpha`` keeps the potential."""

        def rise(t: float) -> tuple[float, float]:
            at = self.slopes(alpha, t)
            return at.excess, at.by_time

        return crossing(rise, low, high, guess)

    def _at_end(self, low: float, high: float, left: float) -> float:
        """Find the alpha that keeps the potential when the time is used up."""

        def fall(alpha: float) -> tuple[float, float]:
            at = self.slopes(alpha, left)
            return -at.excess, -at.by_vote

        return crossing(fall, low, high)

    def _spent(self, low: float, high: float, t: float, tolerance: float) -> tuple[float, float]:
        """Find where between two points of the curve the edge falls to the tolerance."""
        bracket = t - (high - low), t + (high - low)  # the edge is at most 1
        guess = t

        def lost(alpha: float) -> tuple[float, float]:
            nonlocal guess
            guess = self._time(alpha, *bracket, guess)
            at = self.slopes(alpha, guess)
            return tolerance - at.edge, -(at.edge_by_vote + at.edge * at.edge_by_time)

        alpha = crossing(lost, low, high)
        return alpha, self._time(alpha, *bracket, guess)
