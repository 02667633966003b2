"""Weights of the largest soft margin: members chosen by one linear program instead of a climb.

With shares p_m(c) of member m, row i has for each wrong class c the margin

    sum_m w_m (p_m(y_i) - p_m(c)),        w >= 0,    sum w = 1.

The program of Demiriz, Bennett and Shawe-Taylor (2002) makes the mean of the smallest margins, of a
share nu of the rows, as large as it can be: max rho - 1/(nu n) sum_i xi_i, where every margin of
row i is at least rho - xi_i. Most members get no weight at all.

nu is guarded. Where it is below the share of rows that must fail, rho is 0 or less and the best
the program can do is to let members cancel each other: such weights decide nothing. So nu begins
at twice the error of the plain mean, if that is more, and grows until rho is above 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import linprog

from committee.core.members import Floats
from committee.core.voting import mean

GROWTH = 1.25  # of nu, as long as rho is not above 0
DUST = 1e-9  # weights below it are the solver's, not the program's
METHODS = ("highs-ds", "highs-ipm")  # the second where the first gives up


@dataclass(frozen=True, eq=False)
class SoftMargin:
    """A solution.

    Attributes
    ----------
    weights : ndarray of shape (n_members,)
        Not negative, sum 1.
    nu : float
        The share of rows that was used, after the guard.
    rho : float
        The margin of all rows but that share; not above 0 only where nu is 1.
    """

    weights: Floats
    nu: float
    rho: float


def soft_margin_weights(
    outputs: Floats, codes: npt.NDArray[Any], nu: float, weight: Floats | None = None
) -> SoftMargin:
    """Find the weights of members with the largest soft margin.

    Parameters
    ----------
    outputs : ndarray of shape (n_members, n_rows, n_classes)
        Shares of classes, best of rows that members have not seen.
    codes : ndarray of int, shape (n_rows,)
        The true classes.
    nu : float
        The share of rows whose margins count, in (0, 1]; the guard may raise it.
    weight : ndarray of shape (n_rows,), optional
        What rows count for, above 0.

    Returns
    -------
    SoftMargin
        The weights, and the nu that was used.

    Examples
    --------
    Two members err on different rows, a third is the worst of both:

    >>> right, wrong = [0.9, 0.1], [0.4, 0.6]
    >>> outputs = np.array([[right, wrong], [wrong, right], [wrong, wrong]])
    >>> soft_margin_weights(outputs, np.array([0, 0]), nu=0.5).weights
    array([0.5, 0.5, 0. ])
    """
    if outputs.shape[2] == 1:  # one class, and nothing to be wrong about
        return SoftMargin(np.full(len(outputs), 1 / len(outputs)), nu, 1.0)
    shares = np.full(len(codes), 1 / len(codes)) if weight is None else weight / weight.sum()
    failed = float(shares[mean(outputs).argmax(axis=1) != codes].sum())
    nu = float(np.clip(max(nu, 2 * failed), 1 / len(codes), 1.0))
    gaps = _gaps(outputs, codes)
    while True:
        weights, rho = _solve(gaps, shares / nu)
        if rho > 0 or nu == 1:
            return SoftMargin(weights, nu, rho)
        nu = min(1.0, GROWTH * nu)


def _gaps(outputs: Floats, codes: npt.NDArray[Any]) -> Floats:
    """Compute the lead of the true class over each other: [member, row, wrong class]."""
    n_rows, n_classes = len(codes), outputs.shape[2]
    wrong = np.argsort(np.eye(n_classes)[codes], axis=1, kind="stable")[:, : n_classes - 1]
    rows = np.arange(n_rows)
    return np.asarray(outputs[:, rows, codes][:, :, None] - outputs[:, rows[:, None], wrong])


def _solve(gaps: Floats, caps: Floats) -> tuple[Floats, float]:
    """Solve the program; variables are the weights, rho, and a slack for each row."""
    n_members, n_rows, n_wrong = gaps.shape
    leads = gaps.reshape(n_members, -1).T
    slack = sparse.kron(sparse.eye_array(n_rows), np.ones((n_wrong, 1)))
    left = sparse.hstack([sparse.csr_array(-leads), np.ones((n_rows * n_wrong, 1)), -slack])
    cost = np.concatenate([np.zeros(n_members), [-1.0], caps])
    total = np.zeros((1, len(cost)))
    total[0, :n_members] = 1.0
    bounds = np.zeros((len(cost), 2))
    bounds[:, 1] = np.inf
    bounds[n_members, 0] = -np.inf
    for method in METHODS:
        solved = linprog(
            cost,
            A_ub=left.tocsc(),
            b_ub=np.zeros(n_rows * n_wrong),
            A_eq=sparse.csc_array(total),
            b_eq=[1.0],
            bounds=bounds,
            method=method,
        )
        if solved.status == 0:
            break
    else:
        raise RuntimeError(f"the linear program was not solved: {solved.message}")
    weights = np.where(solved.x[:n_members] > DUST, solved.x[:n_members], 0.0)
    return weights / weights.sum(), float(solved.x[n_members])
