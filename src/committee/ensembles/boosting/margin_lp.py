"""The linear programs of boosting: the vote of the largest soft margin, the weights it is hard for.

Demiriz, Bennett and Shawe-Taylor, "Linear programming boosting via column generation" (2002). With
margins (M a)_i = y_i sum_j a_j h_j(x_i) and caps c_i, which add up to at least 1,

    max  rho - sum_i c_i xi_i        (M a)_i + xi_i >= rho,    sum a = 1,    a, xi >= 0
    min  b                           (M' u)_j <= b for all j,  sum u = 1,    0 <= u <= c

have one value. For given a the first is the mean of the smallest margins, each with as much weight
as its cap allows (:func:`soft_margin`); for given u the second is the largest edge. Both are
computed from what the solver returns, so no claim rests on the solver's own tolerances.

The solver is HiGHS by SciPy, dual simplex, on the second form: few constraints, many boxed
variables. Most rows are far from rho: u is 0 above it and c below. So all but the rows near rho
keep their u, and rows whose u turns out to be wrong are let go until there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import linprog

from committee.core.members import Floats

Flags = npt.NDArray[np.bool_]

NEAR = 400  # rows near rho to begin with, and
NEAR_EACH = 4  # per hypothesis
DUST = 1e-13  # rows that cannot weigh more keep the weight 0
METHODS = ("highs-ds", "highs-ipm")  # the second where the first gives up
OPTIONS = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-10}
PRECISION = 1e-10  # of the value, where rows were left out


def soft_margin(margins: Floats, caps: Floats) -> tuple[float, float]:
    """Average the smallest margins, each with as much weight as its cap allows.

    Parameters
    ----------
    margins, caps : ndarray of shape (n_rows,)
        Margins, and caps that add up to at least 1. With caps w_i / nu it is the mean margin of
        the worst share nu of the rows; with caps of 1 it is the smallest margin.

    Returns
    -------
    value, rho : float
        The mean, and the largest margin in it. Rows with a smaller margin than rho weigh less
        than nu.

    Examples
    --------
    >>> soft_margin(np.array([0.5, -0.1, 0.1, 0.3]), np.full(4, 0.5))
    (0.0, 0.1)
    """
    order = np.argsort(margins, kind="stable")
    taken = np.cumsum(caps[order])
    last = min(int(np.searchsorted(taken, 1.0 - 1e-14)), len(margins) - 1)
    weight = caps[order[: last + 1]].copy()
    weight[last] = 1.0 - (taken[last - 1] if last else 0.0)
    rho = float(margins[order[last]])
    return float(np.sum(weight * margins[order[: last + 1]])), rho


@dataclass(frozen=True, eq=False)
class Optimum:
    """A pair of optimal solutions.

    Attributes
    ----------
    votes : ndarray of shape (n_hypotheses,)
        a: not negative, sum 1.
    margins : ndarray of shape (n_rows,)
        Of the rows, by these votes.
    value, rho : float
        Their soft margin.
    weight : ndarray of shape (n_rows,)
        u: a distribution within the caps.
    edge : float
        The largest edge of a hypothesis under it; equals ``value`` up to rounding.
    """

    votes: Floats
    margins: Floats
    value: float
    rho: float
    weight: Floats
    edge: float


class MarginLP:
    """The pair of linear programs, solved again after each new hypothesis.

    Parameters
    ----------
    caps : ndarray of shape (n_rows,)
        The largest weight of each row.
    """

    def __init__(self, caps: Floats) -> None:
        self.caps = caps
        self._wrong: Flags = np.empty((8, len(caps)), dtype=np.bool_)
        self._size = 0
        self._last: Optimum | None = None

    def add(self, agrees: Floats) -> Optimum:
        """Add a hypothesis and solve.

        Parameters
        ----------
        agrees : ndarray of shape (n_rows,)
            +1 where the hypothesis is right, -1 where it is wrong.
        """
        if self._size == len(self._wrong):
            self._wrong = np.concatenate([self._wrong, np.empty_like(self._wrong)])
        self._wrong[self._size] = agrees < 0
        self._size += 1
        self._last = self._solve()
        return self._last

    def _solve(self) -> Optimum:
        """Free the rows near rho, solve, free those whose weight turned out wrong, solve, ..."""
        caps, wrong = self.caps, self._wrong[: self._size]
        last = self._last
        if last is None:
            free, full = caps > DUST, np.zeros(len(caps), dtype=np.bool_)
        else:
            full = last.weight >= caps / 2
            apart = np.abs(last.margins - last.rho)
            free = (last.weight > 0) & (last.weight < caps)
            free[np.argsort(apart, kind="stable")[: NEAR + NEAR_EACH * self._size]] = True
            free &= caps > DUST
        while True:
            found, line = self._solve_for(wrong, free, full & ~free)
            miss = np.where(full, found.margins - line, line - found.margins)
            miss[free | (caps <= DUST)] = 0.0
            late = np.flatnonzero(miss > 0)
            if found.edge - found.value <= PRECISION or not len(late):
                return found
            worst = np.argsort(-miss[late], kind="stable")[: NEAR + NEAR_EACH * self._size]
            free[late[worst]] = True

    def _solve_for(self, wrong: Flags, free: Flags, full: Flags) -> tuple[Optimum, float]:
        """Solve where only the free rows may change their weight; also give the solver's rho."""
        caps, chosen = self.caps, np.flatnonzero(free)
        fixed = _errors(wrong, np.where(full, caps, 0.0))
        rest = float(np.clip(1.0 - np.sum(caps, where=full), 0.0, np.sum(caps[chosen])))
        votes, part, line = hardest_weights(wrong[:, chosen], caps[chosen], fixed, rest)
        weight = np.where(full, caps, 0.0)
        weight[chosen] = part
        margins = np.ones(len(caps))
        for vote, row in zip(votes, wrong, strict=True):
            if vote > 0:
                margins -= (2 * vote) * row
        value, rho = soft_margin(margins, caps)
        edge = 1 - 2 * float(_errors(wrong, weight).min())
        return Optimum(votes, margins, value, rho, weight, edge), line


def hardest_weights(
    wrong: Flags, caps: Floats, fixed: Floats, total: float
) -> tuple[Floats, Floats, float]:
    """Find the weights under which even the best hypothesis errs most: one linear program.

    Parameters
    ----------
    wrong : ndarray of bool, shape (n_hypotheses, n_rows)
        Where each hypothesis errs.
    caps : ndarray of shape (n_rows,)
        The largest weight of each row.
    fixed : ndarray of shape (n_hypotheses,)
        The error that each hypothesis has already, on other rows.
    total : float
        What the weights add up to.

    Returns
    -------
    votes : ndarray of shape (n_hypotheses,)
        The multipliers of the hypotheses, which add up to 1.
    weight : ndarray of shape (n_rows,)
        The weights.
    rho : float
        The margin at which a row may have any weight.
    """
    size, n_rows = wrong.shape
    unit = float(np.mean(caps))  # caps of about 1, or the solver takes small weights for 0
    left: Any = sparse.hstack([sparse.csc_array(-wrong.astype(np.float64)), np.ones((size, 1))])
    bounds = np.zeros((n_rows + 1, 2))
    bounds[:-1, 1], bounds[-1] = caps / unit, (-np.inf, np.inf)
    for method in METHODS:
        solved = linprog(
            np.append(np.zeros(n_rows), -1.0),
            A_ub=left.tocsc(),
            b_ub=fixed / unit,
            A_eq=sparse.csc_array(np.append(np.ones(n_rows), 0.0)[None]),
            b_eq=[total / unit],
            bounds=bounds,
            method=method,
            options=OPTIONS,
        )
        if solved.status == 0:
            break
    else:
        raise RuntimeError(f"HiGHS could not solve the linear program: {solved.message}")
    votes = np.maximum(-solved.ineqlin.marginals, 0.0)  # of a minimum: not positive
    votes /= np.sum(votes)
    weight = np.clip(solved.x[:-1] * unit, 0.0, caps)
    weight[weight > caps * (1 - 1e-9)] = caps[weight > caps * (1 - 1e-9)]
    return votes, weight, 1 + 2 * float(solved.eqlin.marginals[0])


def _errors(wrong: Flags, weight: Floats) -> Floats:
    """Weigh what each hypothesis gets wrong; only rows that weigh something are read."""
    some = np.flatnonzero(weight)
    return np.asarray(np.sum(np.where(wrong[:, some], weight[some], 0.0), axis=1))
