"""One step of RobustBoost: the vote that a hypothesis gets, and how far the clock goes on for it.

Rows that are m ahead at time t are at z = (m - mu(t)) / sigma(t); their potential is
min(1, erfc(z)), and their weight exp(-z^2) where z > 0: a row behind mu is given up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from committee.core.members import Floats
from committee.ensembles.boosting.potential import (
    CONVERGED,
    ITERATIONS,
    Slopes,
    crossing,
    weigh,
)

ALL = 1 - 1e-9  # an edge above it may be that of rows that are all right


@dataclass(frozen=True)
class Schedule:
    """Where rows have to be at what time.

    sigma^2 = (sigma_f^2 + 1) e^(2 (1 - t)) - 1 and mu = (theta - 2 rho) e^(1 - t) + 2 rho, with
    rho such that a row that is nowhere at time 0 has potential eps.

    Attributes
    ----------
    error, margin, sigma : float
        The goals: eps, theta and sigma_f.
    """

    error: float
    margin: float
    sigma: float

    def width(self, t: float) -> float:
        """Give sigma(t)."""
        return float(np.hypot(self.sigma * np.exp(1 - t), np.sqrt(np.expm1(2 * (1 - t)))))

    @cached_property
    def begin(self) -> float:
        """How far rows are ahead of mu at time 0, where they have potential eps."""
        return float(self.width(0.0) * special.erfcinv(self.error))

    @cached_property
    def rho(self) -> float:
        """The drift of the rows that the goals ask for."""
        return float((self.begin + np.e * self.margin) / (2 * (np.e - 1)))

    def centre(self, t: float) -> float:
        """Give mu(t), with rho put in, so that large terms do not cancel."""
        gone, left = -np.e * np.expm1(-t), np.expm1(1 - t)
        return float((self.margin * gone - self.begin * left) / (np.e - 1))

    def position(self, m: Floats, t: float) -> Floats:
        """Give z."""
        return np.asarray((m - self.centre(t)) / self.width(t))

    def potential(self, m: Floats, t: float) -> Floats:
        """Give the potential of rows."""
        return np.asarray(special.erfc(np.maximum(self.position(m, t), 0.0)))

    def log_weight(self, m: Floats, t: float) -> Floats:
        """Give the logarithms of the weights; minus infinity for rows that are given up."""
        z = self.position(m, t)
        return np.where(z > 0, -z * z, -np.inf)


@dataclass(frozen=True, eq=False)
class RobustStep:
    """Solves for the vote ds and the time dt that a hypothesis is worth.

    A row moves from m to m e^(-dt) + ds u. Of all steps that keep the mean potential, the one with
    sum w u = 0 goes furthest in time: for its dt it has the smallest potential that ds can reach.

    Attributes
    ----------
    schedule : Schedule
        The goals.
    m, u, start : ndarray
        How far rows are ahead, whether the hypothesis gets them right, their initial weights.
    t : float
        The time.
    """

    schedule: Schedule
    m: Floats
    u: Floats
    start: Floats
    t: float

    def moved(self, ds: float, dt: float) -> Floats:
        """Move the rows."""
        return np.asarray(self.m * np.exp(-dt) + ds * self.u)

    def slopes(self, ds: float, dt: float) -> Slopes:
        """Evaluate both equations, with z' = (ds u - 2 rho) / sigma + z / sigma^2 in time."""
        sigma = self.schedule.width(self.t + dt)
        z = self.schedule.position(self.moved(ds, dt), self.t + dt)
        in_play = np.where(z > 0, self.start, 0.0)
        z = np.maximum(z, 0.0)
        excess = float(np.sum(self.start * special.erfc(z))) - self.schedule.error
        if not in_play.any():
            return Slopes(excess, 0.0, 0.0, 0.0, 0.0, 0.0)
        weight, slope = weigh(z, in_play)
        edge = float(np.sum(weight * self.u))
        turn, drift = float(np.sum(weight * z * self.u)), float(np.sum(weight * z))
        speed = (ds * self.u - 2 * self.schedule.rho) / sigma + z / sigma**2
        return Slopes(
            excess,
            -slope * edge / sigma,
            -slope * float(np.sum(weight * speed)),
            edge,
            -2 * (drift - edge * turn) / sigma,
            -2 * float(np.sum(weight * z * speed * (self.u - edge))),
        )

    def solve(self, starts: Iterable[tuple[float, float]]) -> tuple[float, float] | None:
        """Find a step: by Newton's iteration from several starts, or else by bracketing.

        Returns
        -------
        (ds, dt), or None
            With dt > 0 and t + dt <= 1; the mean potential is kept, or falls where it does so by
            waiting alone. ds is 0 where waiting is best. None where float64 finds no step.
        """
        for ds, dt in starts:
            with np.errstate(all="ignore"):  # a diverging iteration is given up below
                solved = self._newton(ds, dt)
            if solved is not None:
                return solved
        return self._bracketed()

    def _newton(self, ds: float, dt: float) -> tuple[float, float] | None:
        left = 1 - self.t
        for _ in range(ITERATIONS // 4):
            if not (ds > 0 and 0 < dt < left):
                return None
            at = self.slopes(ds, dt)
            kept = abs(at.excess) <= CONVERGED * self.schedule.error
            if kept and abs(at.edge) <= CONVERGED:
                return ds, dt
            by_vote, by_time = at.newton()
            ds, dt = ds + by_vote, dt + by_time
        return None

    def _bracketed(self) -> tuple[float, float] | None:
        """Find the time at which the lowest potential that a vote can reach is the one to keep."""
        left = 1 - self.t
        if self._lowest(left)[1].excess <= 0:
            return self._vote(left), left

        def rise(dt: float) -> tuple[float, float]:
            lowest = self._lowest(dt)[1]
            return lowest.excess, lowest.by_time

        dt = crossing(rise, 0.0, left)
        if self._lowest(dt)[1].excess > CONVERGED * self.schedule.error:
            dt = self._last_before(dt)
        return (self._vote(dt), dt) if dt > 0 else None

    def _last_before(self, high: float) -> float:
        """Halve the time to the last moment before a valley ends and the lowest potential jumps."""
        low = 0.0
        for _ in range(ITERATIONS):
            middle = (low + high) / 2
            if not low < middle < high:
                break
            low, high = (middle, high) if self._lowest(middle)[1].excess <= 0 else (low, middle)
        return low

    def _vote(self, dt: float) -> float:
        """Find the vote that keeps the potential, before the one that lowers it most."""
        lowest = self._lowest(dt)[0]
        if self.slopes(0.0, dt).excess <= 0 or self.slopes(lowest, dt).excess >= 0:
            return lowest

        def fall(vote: float) -> tuple[float, float]:
            at = self.slopes(vote, dt)
            return -at.excess, -at.by_vote

        return crossing(fall, 0.0, lowest)

    def _all_right(self, ds: float, dt: float) -> bool:
        """Tell whether only rows that the hypothesis gets right are in play.

        A larger vote takes these further ahead and the others further behind, so it stays so.
        """
        in_play = self.schedule.position(self.moved(ds, dt), self.t + dt) > 0
        return bool(np.all(self.u > 0, where=in_play & (self.start > 0)))

    def _lowest(self, dt: float) -> tuple[float, Slopes]:
        """Go downhill from no vote to the next valley; give the vote, and what is there."""
        stride = self.schedule.width(self.t + dt) / 2
        low, at = 0.0, self.slopes(0.0, dt)
        if at.edge <= 0:
            return 0.0, at
        for done in range(ITERATIONS):
            if at.edge > ALL and self._all_right(low, dt):  # there is no valley ahead
                for _ in range(done, ITERATIONS):
                    low += stride
                return low, self.slopes(low, dt)
            high = low + stride
            at = self.slopes(high, dt)
            if at.edge <= 0:
                break
            low = high
        else:
            return low, at

        def climb(vote: float) -> tuple[float, float]:
            at = self.slopes(vote, dt)
            return -at.edge, -at.edge_by_vote

        ds = crossing(climb, low, high)
        return ds, self.slopes(ds, dt)
