"""The weights nearest to the initial ones under which no hypothesis has a large edge.

    min over d in the capped simplex   max_j edge_j(d) + KL(d || w) / eta        0 <= d <= w / nu

Its dual has one variable per hypothesis instead of one per row: the largest value, over votes a
that are not negative and sum to 1, of

    min_d  sum_i d_i margin_i(a) + KL(d || w) / eta,

attained at d_i = w_i min(1/nu, c exp(-eta margin_i)) with c such that d sums to 1. It is concave
and smooth; its gradient is the vector of edges. Newton steps on the votes that are in use find it,
while votes that reach 0 leave and the hypothesis of the largest edge joins. What the largest edge
exceeds the mean edge by bounds what is left to gain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committee.core.members import Floats

STEPS = 2000  # the most; some tens are usual
SHORTEST = 2.0**-40
RIDGE = 1e-12
ROUNDING = 1e-15  # of the objective, near whose top the slope still tells up from down


@dataclass(frozen=True, eq=False)
class Compromise:
    """Weights between the initial ones and those that are hard for the hypotheses.

    Attributes
    ----------
    votes : ndarray of shape (n_hypotheses,)
        a, the multipliers: not negative, sum 1.
    weight : ndarray of shape (n_rows,)
        d, a distribution within the caps.
    objective : float
        The value of the dual at ``votes``: no weights have a smaller one.
    entropy : float
        KL(d || w).
    left : float
        By how much the objective may be too small, at most.
    """

    votes: Floats
    weight: Floats
    objective: float
    entropy: float
    left: float


def capped_weights(margins: Floats, start: Floats, nu: float, eta: float) -> Floats:
    """Weigh rows by w_i min(1/nu, c exp(-eta margin_i)), with c such that they sum to 1.

    Parameters
    ----------
    margins, start : ndarray of shape (n_rows,)
        Margins, and the initial weights w, which sum to 1.
    nu : float
        No row weighs more than w_i / nu.
    eta : float
        How much margins count.
    """
    order = np.argsort(margins, kind="stable")
    share, log = start[order], np.log(start[order]) - eta * margins[order]
    capped = np.append(0.0, np.cumsum(share)[:-1]) / nu  # if all before this row are at the cap
    rest = np.logaddexp.accumulate(log[::-1])[::-1]  # of this row and all after it
    with np.errstate(divide="ignore"):
        log_c = np.log(np.maximum(1.0 - capped, 0.0)) - rest
    fits = log_c - eta * margins[order] <= -np.log(nu) + 1e-15
    first = int(np.argmax(fits)) if fits.any() else len(order) - 1
    weight = share / nu
    weight[first:] = np.exp(log[first:] + log_c[first])
    d = np.empty_like(start)
    d[order] = weight / np.sum(weight)
    return d


def compromise(
    agrees: Floats, start: Floats, nu: float, eta: float, votes: Floats, precision: float
) -> Compromise:
    """Maximise the dual.

    Parameters
    ----------
    agrees : ndarray of shape (n_hypotheses, n_rows)
        +1 where a hypothesis is right, -1 where it is wrong.
    start : ndarray of shape (n_rows,)
        The initial weights w.
    nu, eta : float
        As above.
    votes : ndarray of shape (n_hypotheses,)
        Where to begin: not negative, sum 1.
    precision : float
        How much may be left to gain.
    """
    here = _look(agrees, start, nu, eta, votes)
    for _ in range(STEPS):
        if here[0].left <= precision:
            break
        moved = _ascend(agrees, start, nu, eta, *here)
        if moved is None:  # rounding hides what is left
            break
        here = moved
    return here[0]


def _look(
    agrees: Floats, start: Floats, nu: float, eta: float, votes: Floats
) -> tuple[Compromise, Floats]:
    """Compute the dual at some votes, and its gradient."""
    margins = np.zeros(len(start))
    for vote, row in zip(votes, agrees, strict=True):
        if vote > 0:
            margins += vote * row
    d = capped_weights(margins, start, nu, eta)
    positive = d > 0
    entropy = float(np.sum(d[positive] * np.log(d[positive] / start[positive])))
    edges = np.sum(agrees * d, axis=1)
    objective = float(np.sum(d * margins)) + entropy / eta
    left = float(edges.max() - np.sum(votes * edges))
    return Compromise(votes, d, objective, entropy, left), edges


def _ascend(
    agrees: Floats, start: Floats, nu: float, eta: float, at: Compromise, edges: Floats
) -> tuple[Compromise, Floats] | None:
    """Take the Newton step on the votes in use, else move from the worst of them to the best."""
    best = int(np.argmax(edges))
    used = at.votes > 0
    used[best] = True
    chosen = np.flatnonzero(used)
    newton = np.zeros(len(edges))
    newton[chosen] = _newton(agrees[chosen], at.weight, start / nu, eta, edges[chosen])
    exchange = np.zeros(len(edges))
    exchange[best] += 1.0
    exchange[chosen[int(np.argmin(np.where(at.votes > 0, edges, np.inf)[chosen]))]] -= 1.0
    for direction in (newton, exchange):
        slope = float(np.sum(direction * edges))
        if not slope > 0:
            continue
        down = direction < 0
        step = float(np.min(at.votes[down] / -direction[down], initial=np.inf))
        full, step = step, min(1.0, step)
        while step * np.abs(direction).max() > SHORTEST:
            votes = np.maximum(at.votes + step * direction, 0.0)
            if step == full:  # exactly 0, whatever rounding says
                votes[down & (at.votes <= -step * direction * (1 + 1e-12))] = 0.0
            there = _look(agrees, start, nu, eta, votes / np.sum(votes))
            along = float(np.sum(direction * there[1]))  # falls with the step: it is concave
            gain = there[0].objective - at.objective
            if gain >= 1e-4 * step * slope or (abs(along) <= slope / 2 and gain >= -ROUNDING):
                return there
            step *= float(np.clip(slope / max(slope - along, slope), 0.05, 0.5))
    return None


def _newton(rows: Floats, d: Floats, caps: Floats, eta: float, edges: Floats) -> Floats:
    """Solve for the step that makes all edges equal, by the curvature on rows below the cap."""
    free = (d < caps * (1 - 1e-12)) & (d > 0)
    part, weight = np.ascontiguousarray(rows[:, free]), d[free]
    size, total = len(rows), float(np.sum(weight))
    system = np.zeros((size + 1, size + 1))
    if total > 0:
        weighted = part * weight
        mean = np.sum(weighted, axis=1)
        system[:-1, :-1] = np.einsum("ir,jr->ij", weighted, part) - np.outer(mean, mean) / total
    system[:-1, :-1] = eta * (system[:-1, :-1] + RIDGE * np.eye(size))
    system[-1, :-1] = system[:-1, -1] = 1.0
    solved = np.linalg.lstsq(system, np.append(edges, 0.0), rcond=None)[0]
    return np.asarray(solved[:-1])
