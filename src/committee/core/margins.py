"""Margins: how sure a committee is of the right class (Schapire, Freund, Bartlett and Lee 1998).

The margin of a row is the weight of the votes for its class less that of the votes for the
strongest other class, over the total weight: 1 where all agree on the right class, -1 where all
agree on a wrong one. A row is misclassified only if its margin is not positive.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from committee.core.members import Floats

Codes = npt.NDArray[np.intp]


def agreement(outputs: Floats, codes: Codes) -> Floats:
    """Say how far outputs speak for the right class.

    Parameters
    ----------
    outputs : ndarray of shape (n_rows, 1) or (n_rows, n_classes)
        One column speaks for the second of two classes where it is positive and for the first
        where it is negative; several speak for a class each.
    codes : ndarray of int
        The right class of each row.

    Returns
    -------
    ndarray of shape (n_rows,)
        Positive where the right class leads; the lead over the strongest other.
    """
    if outputs.shape[1] == 1:
        return np.where(codes == 1, outputs[:, 0], -outputs[:, 0])
    rows = np.arange(len(outputs))
    right = outputs[rows, codes]
    others = outputs.copy()
    others[rows, codes] = -np.inf
    return np.asarray(right - others.max(axis=1))


def normalised_margins(decision: Floats, codes: Codes, weights: Any) -> Floats:
    """Divide the agreement of a weighted vote by the total weight, so that it lies in [-1, 1].

    Parameters
    ----------
    decision : ndarray of shape (n_rows, 1) or (n_rows, n_classes)
        The sum of weighted votes.
    codes : ndarray of int
        The right class of each row.
    weights : array-like of shape (n_members,)
        The weights of the members.

    Returns
    -------
    ndarray of shape (n_rows,)
        The margins; 0 where all weights are 0.

    Examples
    --------
    >>> normalised_margins(np.array([[0.5], [-1.5]]), np.array([1, 1]), [1.0, 0.5])
    array([ 0.33333333, -1.        ])
    """
    total = float(np.abs(np.asarray(weights)).sum())
    lead = agreement(decision, codes)
    return np.asarray(lead / total) if total > 0 else np.zeros(len(lead))


def log_margin_bound(theta: Any, weights: Any, log_z: Any) -> Floats:
    """Bound the share of rows with a margin of at most theta, as a logarithm.

    A margin of at most theta means that exp(theta sum(alpha) - sum(alpha u)) is at least 1, and
    the mean of exp(-sum(alpha u)) is the product of all Z. With alpha = 1/2 ln((1 - e) / e) the
    bound is the product of 2 sqrt(e^(1 - theta) (1 - e)^(1 + theta)).

    Parameters
    ----------
    theta : float or array-like
        Margins in [-1, 1].
    weights, log_z : array-like of shape (n_members,)
        The weights alpha >= 0, and the logarithms of the normalisers Z.

    Returns
    -------
    ndarray
        Logarithms; above 0 the bound says nothing.
    """
    return np.asarray(np.asarray(theta, dtype=np.float64) * np.sum(weights) + np.sum(log_z))


def share_at_most(margins: Floats, distribution: Floats, theta: Any) -> Floats:
    """Weigh the rows whose margin is at most theta: the cumulative margin distribution.

    Parameters
    ----------
    margins, distribution : ndarray of shape (n_rows,)
        Margins and weights of the rows; the weights sum to 1.
    theta : float or array-like
        Where to read it.

    Returns
    -------
    ndarray
        Shares in [0, 1].
    """
    order = np.argsort(margins, kind="stable")
    steps = np.concatenate([[0.0], np.cumsum(distribution[order])])
    return np.asarray(steps[np.searchsorted(margins[order], theta, side="right")])
