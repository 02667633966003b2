"""Boosting as a game between rows and hypotheses (von Neumann 1928; Freund and Schapire 1996).

A matrix of payoffs M is a game: one side draws a row by p and pays, the other a column by q and
receives p' M q on average. Neither gains by knowing the other's p or q in advance:

    min_p max_j (p' M)_j  =  max_q min_i (M q)_i  =  the value.

In boosting rows are examples, columns hypotheses, and the payoff is +1 where a hypothesis is right
and -1 where it is wrong. Then p weighs the examples, the first side is the largest edge, q is a
vote, and the second is the smallest margin. So there is a hypothesis of edge 2 gamma under any
weights exactly if some vote has a margin of 2 gamma on every example.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from sklearn.utils.validation import check_is_fitted

from committee.core.members import Floats
from committee.core.params import invalid
from committee.data import InputError, read_classes
from committee.data.errors import describe

SCALES = ("sign", "share")
OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True, eq=False)
class GameSolution:
    """Optimal strategies of a matrix game, and what each guarantees whatever the other side does.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        p, of the side that pays; in boosting the weights of the examples.
    columns : ndarray of shape (n_columns,)
        q, of the side that receives; in boosting the votes.
    most : float
        With ``rows`` no column receives more: in boosting the largest edge.
    least : float
        With ``columns`` no row pays less: in boosting the smallest margin. The value of the game
        lies between ``least`` and ``most``, whatever the solver's tolerances.
    """

    rows: Floats
    columns: Floats
    most: float
    least: float

    @property
    def value(self) -> float:
        """The value, half way between the guarantees."""
        return (self.least + self.most) / 2

    @property
    def gap(self) -> float:
        """How far the guarantees are apart; 0 up to rounding."""
        return self.most - self.least

    def __str__(self) -> str:
        used = f"{np.count_nonzero(self.rows)} of {len(self.rows)} rows"
        also = f"{np.count_nonzero(self.columns)} of {len(self.columns)} columns"
        return f"Value {self.value:.6g} (gap {self.gap:.1e}), by {used} and {also}"


def solve_game(payoff: Any) -> GameSolution:
    """Solve a matrix game by two linear programs, one for each side.

    Parameters
    ----------
    payoff : array-like of shape (n_rows, n_columns)
        What the side that chooses a row pays to the side that chooses a column.

    Returns
    -------
    GameSolution
        Both strategies and their guarantees.

    Examples
    --------
    >>> game = solve_game([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])  # rock, paper, scissors
    >>> round(abs(game.value), 12), game.rows.round(4)
    (0.0, array([0.3333, 0.3333, 0.3333]))
    """
    matrix = _read_payoff(payoff)
    columns = _safest(matrix)
    rows = _safest(-matrix.T)
    return GameSolution(
        rows, columns, most=max_edge(matrix, rows), least=min_margin(matrix, columns)
    )


def max_edge(payoff: Any, weights: Any) -> float:
    """Compute the largest edge of a hypothesis: what the best column receives.

    Parameters
    ----------
    payoff : array-like of shape (n_rows, n_columns)
        The game.
    weights : array-like of shape (n_rows,)
        Of the rows, >= 0; they are divided by their sum.

    Returns
    -------
    float
        max_j sum_i weights_i payoff_ij. No vote whatever has a larger smallest margin.

    Examples
    --------
    >>> max_edge([[1, -1], [-1, 1], [1, 1]], [1, 1, 0])
    0.0
    """
    matrix = _read_payoff(payoff)
    return float((_shares("weights", weights, len(matrix)) @ matrix).max())


def min_margin(payoff: Any, votes: Any) -> float:
    """Compute the smallest margin of a vote: what the cheapest row pays.

    Parameters
    ----------
    payoff : array-like of shape (n_rows, n_columns)
        The game.
    votes : array-like of shape (n_columns,)
        Of the columns, >= 0; they are divided by their sum.

    Returns
    -------
    float
        min_i sum_j payoff_ij votes_j. Under no weights are all edges smaller.

    Examples
    --------
    >>> min_margin([[1, -1], [-1, 1], [1, 1]], [1, 1])
    0.0
    """
    matrix = _read_payoff(payoff)
    return float((matrix @ _shares("votes", votes, matrix.shape[1])).min())


def boosting_payoff(X: Any, y: Any, model: Any = None, *, scale: str = "sign") -> Floats:
    """Lay out the boosting game: which hypothesis is right about which row.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows; numbers without NaN where ``model`` is None.
    y : array-like of shape (n_samples,)
        Their classes, two.
    model : fitted booster or None, default=None
        Its members are the hypotheses; None takes every distinct stump on X: each feature, each
        threshold between two values, both directions, and the two constants.
    scale : {"sign", "share"}, default="sign"
        "sign" pays +1 where a hypothesis is right and -1 where it is wrong: an advantage of gamma
        under all weights makes the value at least 2 gamma. "share" pays 1 and 0: at least
        1/2 + gamma.

    Returns
    -------
    ndarray of shape (n_samples, n_hypotheses)
        The payoffs.

    Examples
    --------
    >>> X = [[8, 7], [6, 8], [7, 10], [1, 3], [2, 1], [3, 5], [5, 6], [4, 2], [10, 9], [9, 4]]
    >>> y = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> game = boosting_payoff(X, y)
    >>> game.shape
    (10, 38)
    >>> print(f"{solve_game(game).value:.12f}")
    0.333333333333
    """
    if scale not in SCALES:
        raise invalid("scale", "boosting_payoff", f"one of {SCALES}", scale)
    labels = read_classes(y, len(y), estimator_name="boosting_payoff")
    if labels.codes.shape[1] != 1 or len(labels.classes[0]) != 2:
        found = f"y holds {len(labels.classes[0])} class(es)"
        raise InputError(describe("M-CLASSES", "y", found, allowed="two classes"))
    codes = labels.codes[:, 0]
    if model is None:
        right = _stumps(X, len(codes)) == (codes == 1)
    else:
        truth = labels.classes[0][codes]
        right = np.array([member.predict(X) == truth for member in _members(model)])
    signs = np.where(right.T, 1.0, -1.0)
    return signs if scale == "sign" else (1 + signs) / 2


def _members(model: Any) -> Any:
    check_is_fitted(model)
    if hasattr(model, "parts_"):
        found = f"{type(model).__name__} has one committee per class, and so a game per class"
        fix = "pass model.parts_[k], with (y == model.classes_[k]).astype(int) for y"
        raise InputError(describe("P-VALUE", "model", found, fix=fix))
    return model.estimators_


def _stumps(X: Any, n_rows: int) -> npt.NDArray[np.bool_]:
    """Give what every distinct stump says, [stump, row]: whether a row is of the second class."""
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2 or len(values) != n_rows or not np.isfinite(values).all():
        found = f"X of shape {values.shape} for {n_rows} labels, or numbers that are not finite"
        allowed = "finite numbers, (n_samples, n_features)"
        raise InputError(describe("X-SHAPE", "X", found, allowed=allowed))
    above = [column > cut for column in values.T for cut in np.unique(column)[:-1]]
    above.append(np.ones(n_rows, dtype=np.bool_))
    half = np.array(above)
    return np.asarray(np.unique(np.concatenate([half, ~half]), axis=0))


def _safest(matrix: Floats) -> Floats:
    """Find the mixture of columns whose smallest entry is the largest."""
    n_rows, n_columns = matrix.shape
    solved = linprog(
        np.append(np.zeros(n_columns), -1.0),
        A_ub=np.hstack([-matrix, np.ones((n_rows, 1))]),
        b_ub=np.zeros(n_rows),
        A_eq=np.append(np.ones(n_columns), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * n_columns + [(None, None)],
        method="highs",
        options=OPTIONS,
    )
    if solved.status != 0:
        raise RuntimeError(f"HiGHS could not solve the game: {solved.message}")
    mixture = np.maximum(solved.x[:-1], 0.0)
    return np.asarray(mixture / mixture.sum())


def _read_payoff(payoff: Any) -> Floats:
    matrix = np.asarray(payoff, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape or not np.isfinite(matrix).all():
        found = f"an array of shape {matrix.shape}, or numbers that are not finite"
        allowed = "finite numbers, (n_rows, n_columns)"
        raise InputError(describe("P-VALUE", "payoff", found, allowed=allowed))
    return matrix


def _shares(name: str, given: Any, size: int) -> Floats:
    mixture = np.asarray(given, dtype=np.float64)
    if mixture.shape != (size,) or not (mixture >= 0).all() or not 0 < mixture.sum() < np.inf:
        found = f"shape {mixture.shape} for {size}, or not all of them >= 0 and finite"
        allowed = f"{size} numbers >= 0, not all 0"
        raise InputError(describe("P-VALUE", name, found, allowed=allowed))
    return np.asarray(mixture / mixture.sum())
