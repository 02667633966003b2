"""What margins promise (Schapire, Freund, Bartlett and Lee 1998), and margins of other norms.

After rounds with errors e_t the share of training rows with a margin of at most theta is at most

    prod_t 2 sqrt(e_t^(1 - theta) (1 - e_t)^(1 + theta)).

With e_t <= 1/2 - gamma every factor is below 1 as long as theta is below :func:`margin_limit`,
which is a little more than gamma, and the share falls exponentially. The risk is at most the share
plus a term that knows nothing of the number of rounds (:func:`margin_terms`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls

from committee.core.margins import log_margin_bound, share_at_most
from committee.core.members import Floats
from committee.core.params import integer, invalid, real
from committee.data import InputError, read_weights
from committee.data.errors import describe
from committee.theory.boosting_game import min_margin, solve_game

SIGN = 1e-9  # the row sums of payoffs +1 and -1 are whole numbers


def margin_bound(errors: Any, theta: Any) -> Floats:
    """Bound the share of training rows with a margin of at most theta.

    Parameters
    ----------
    errors : array-like of shape (n_rounds,)
        The weighted errors of AdaBoost's members, in (0, 1/2].
    theta : float or array-like
        Margins in [-1, 1].

    Returns
    -------
    ndarray
        The product over the rounds; from 1 on it says nothing.

    Examples
    --------
    >>> margin_bound([0.3, 3 / 14, 3 / 22], [0.0, 0.1, 0.2]).round(4)
    array([0.5162, 0.6303, 0.7695])
    """
    e, at = np.asarray(errors, dtype=np.float64), np.asarray(theta, dtype=np.float64)
    if e.ndim != 1 or not ((e > 0) & (e <= 0.5)).all():
        found = "errors that are no list of numbers, or not all of them in (0, 1/2]"
        raise InputError(describe("P-VALUE", "errors", found, allowed="numbers in (0, 1/2]"))
    if not ((at >= -1) & (at <= 1)).all():
        raise invalid("theta", "margin_bound", "in the range [-1, 1]", theta)
    alpha = (np.log1p(-e) - np.log(e)) / 2
    log_z = np.log(2) + (np.log1p(-e) + np.log(e)) / 2
    return np.asarray(np.exp(log_margin_bound(at, alpha, log_z)))


def margin_limit(gamma: float) -> float:
    """Give the margin up to which an advantage of gamma in every round makes the bound fall.

    Parameters
    ----------
    gamma : float
        What every weighted error is below 1/2 by, in (0, 1/2).

    Returns
    -------
    float
        The theta at which sqrt((1 - 2 gamma)^(1 - theta) (1 + 2 gamma)^(1 + theta)) is 1. It lies
        between gamma and 2 gamma.

    Examples
    --------
    >>> round(margin_limit(0.2), 4)
    0.2058
    """
    if not real(0, 0.5, "neither").is_satisfied_by(gamma):
        raise invalid("gamma", "margin_limit", "a float in the range (0, 0.5)", gamma)
    return float(-np.log1p(-4 * gamma**2) / (2 * np.arctanh(2 * gamma)))


@dataclass(frozen=True)
class MarginTerms:
    """The two terms of the bound on the risk of a vote; no constant between them is claimed.

    Attributes
    ----------
    theta : float
        The margin.
    share : float
        The weight of training rows with a margin of at most theta.
    complexity : float
        sqrt((d ln(m / d)^2 / theta^2 + ln(1 / delta)) / m).
    """

    theta: float
    share: float
    complexity: float


def margin_terms(
    margins: Any, theta: float, *, dimension: int, delta: float = 0.05, sample_weight: Any = None
) -> MarginTerms:
    """Compute both terms of theorem 5: risk <= share + O(complexity), with chance 1 - delta.

    Parameters
    ----------
    margins : array-like of shape (n_rows,)
        Of the training rows, such as ``model.certificate().margins``.
    theta : float
        A margin in (0, 1].
    dimension : int
        d, the VC dimension of the weak hypotheses; p + 1 at most for stumps on p <= 3 features.
    delta : float, default=0.05
        The chance to be wrong, in (0, 1).
    sample_weight : array-like of shape (n_rows,) or None, default=None
        The weights of the rows in the share. The theorem itself is about rows that count alike.

    Returns
    -------
    MarginTerms
        The terms. The number of rounds is in neither of them.

    Examples
    --------
    >>> terms = margin_terms([0.1, 0.3, 0.5, 0.7] * 1000, 0.3, dimension=3)
    >>> round(terms.share, 6), round(terms.complexity, 3)
    (0.5, 0.657)
    """
    rows = np.asarray(margins, dtype=np.float64)
    if rows.ndim != 1 or not len(rows) or not np.isfinite(rows).all():
        found = f"an array of shape {rows.shape}, or numbers that are not finite"
        raise InputError(describe("P-VALUE", "margins", found, allowed="a margin for each row"))
    if not real(0, 1, "right").is_satisfied_by(theta):
        raise invalid("theta", "margin_terms", "a float in the range (0, 1]", theta)
    if not integer(1, len(rows)).is_satisfied_by(dimension):
        raise invalid("dimension", "margin_terms", f"an int in [1, {len(rows)}]", dimension)
    if not real(0, 1, "neither").is_satisfied_by(delta):
        raise invalid("delta", "margin_terms", "a float in the range (0, 1)", delta)
    given = read_weights(sample_weight, len(rows))
    weight = np.ones(len(rows)) if given is None else given
    share = float(share_at_most(rows, weight / weight.sum(), theta))
    m = len(rows)
    capacity = dimension * np.log(m / dimension) ** 2 / theta**2
    return MarginTerms(float(theta), share, float(np.sqrt((capacity - np.log(delta)) / m)))


@dataclass(frozen=True, eq=False)
class NormComparison:
    """Two votes over the same hypotheses: the largest margin by the norms of boosting and of SVMs.

    Attributes
    ----------
    payoff : ndarray of shape (n_rows, n_hypotheses)
        +1 where a hypothesis is right, -1 where it is wrong.
    boosting, machine : ndarray of shape (n_hypotheses,)
        Votes of either sign, absolute sum 1: the largest margin y (a . h) / (|a|_1 |h|_inf), and
        the largest y (a . h) / (|a|_2 |h|_2).
    """

    payoff: Floats
    boosting: Floats
    machine: Floats

    def l1_margin(self, votes: Floats) -> float:
        """Compute the smallest margin with the votes' absolute sum and the rows' largest entry."""
        return float((self.payoff @ votes).min() / np.abs(votes).sum())

    def l2_margin(self, votes: Floats) -> float:
        """Compute the smallest margin with Euclidean norms of the votes and of the rows."""
        length = np.linalg.norm(votes) * np.sqrt(self.payoff.shape[1])
        return float((self.payoff @ votes).min() / length)


def compare_norms(payoff: Any) -> NormComparison:
    """Find the votes of the largest margin by both pairs of norms.

    Boosting's is a linear program, and its vote has few members; that of support vector machines
    is a quadratic one, and all members share.

    Parameters
    ----------
    payoff : array-like of shape (n_rows, n_hypotheses)
        +1 and -1, as :func:`boosting_payoff` gives it. A vote may be negative, so that of two
        opposite hypotheses one is enough. Some vote has to be right about every row.

    Returns
    -------
    NormComparison
        The votes.

    Examples
    --------
    >>> found = compare_norms([[1, 1, -1], [1, -1, 1], [-1, 1, 1]])
    >>> found.boosting.round(4)
    array([0.3333, 0.3333, 0.3333])
    """
    matrix = np.asarray(payoff, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape or not (np.abs(matrix) == 1).all():
        found = f"an array of shape {matrix.shape}, or other numbers than +1 and -1"
        raise InputError(describe("P-VALUE", "payoff", found, allowed="+1 and -1"))
    both = np.hstack([matrix, -matrix])
    columns = solve_game(both).columns
    if min_margin(both, columns) <= SIGN:
        found = "no vote of these hypotheses is right about every row"
        raise InputError(describe("P-VALUE", "payoff", found, fix="more hypotheses"))
    size = matrix.shape[1]
    signed = columns[:size] - columns[size:]
    machine = _shortest(matrix)
    return NormComparison(
        matrix, signed / np.abs(signed).sum(), np.asarray(machine / np.abs(machine).sum())
    )


def _shortest(matrix: Floats) -> Floats:
    """Find the shortest a with matrix a >= 1: Lawson and Hanson's least distance programming."""
    system = np.vstack([matrix.T, np.ones(len(matrix))])
    aim = np.append(np.zeros(matrix.shape[1]), 1.0)
    dual, _ = nnls(system, aim)
    left = aim - system @ dual
    return np.asarray(-left[:-1] / left[-1])
