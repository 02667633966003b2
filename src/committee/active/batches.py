"""Batches of rows that are not all alike: farthest first among the most disputed.

The rows that a committee disputes most lie close together, so that the labels of a batch say
nearly the same thing. Zhdanov (2019, "Diverse mini-batch active learning") keeps a multiple of the
batch by informativeness and spreads the batch over it; here the spreading is Gonzalez' (1985)
farthest-first traversal: begin with the most disputed row, then take the row whose nearest chosen
one is farthest away. It is deterministic, and no more than twice as coarse as the best cover.

Distances are Gower's (1971): per column |a - b| over the range in the shortlist, or 0 and 1 for
equal and different categories; a missing value is as far from any other as can be. For sparse
rows they are one minus the cosine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from committee.core.members import Floats
from committee.data.frames import open_frame
from committee.ensembles.any_rows import NUMERIC, column_array, numbers_of

Distances = Callable[[int], Floats]  # from a row to all rows


def farthest_first(distances: Distances, n_rows: int, k: int) -> npt.NDArray[np.intp]:
    """Choose rows that lie far apart.

    Parameters
    ----------
    distances : callable
        Gives the distances from one row to all rows.
    n_rows : int
        How many there are, the most wanted first.
    k : int
        How many to choose.

    Returns
    -------
    ndarray of int, shape (k,)
        The first row, then always the one that is farthest from all chosen ones; of equally far
        ones the first.
    """
    chosen = np.zeros(min(k, n_rows), dtype=np.intp)
    nearest = np.full(n_rows, np.inf)
    taken = np.zeros(n_rows, dtype=bool)
    for step in range(len(chosen)):
        if step:
            chosen[step] = np.argmax(np.where(taken, -1.0, nearest))
        taken[chosen[step]] = True
        # Rounded: of rows equally far the first should win on any machine.
        nearest = np.minimum(nearest, np.round(distances(int(chosen[step])), 12))
    return chosen


def row_distances(X: Any) -> Distances:
    """Prepare the distances among a few rows.

    Parameters
    ----------
    X : ndarray, csr matrix or frame
        The rows.

    Returns
    -------
    callable
        From the index of a row to its distances from all rows.
    """
    if sparse.issparse(X):
        return _cosine(sparse.csr_matrix(X))
    numbers, is_number = _columns(X)
    low, high = _extent(numbers, np.fmin), _extent(numbers, np.fmax)
    spread = np.where(is_number & (high > low), high - low, 1.0)

    def distances(row: int) -> Floats:
        gap = np.abs(numbers - numbers[row])
        gap = np.where(is_number, gap / spread, gap > 0)
        missing = np.isnan(numbers)
        gap = np.where(missing | missing[row], (missing != missing[row]).astype(float), gap)
        return np.asarray(gap.mean(axis=1))

    return distances


def _extent(numbers: Floats, pick: Any) -> Floats:
    return np.asarray(pick.reduce(np.where(np.isnan(numbers), np.nan, numbers), axis=0))


def _columns(X: Any) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Read columns as numbers, and tell which are; the others are hashes of their levels."""
    frame = open_frame(X)
    if frame is not None:
        arrays = [column_array(frame.get_column(name)) for name in frame.columns]
    else:
        arrays = list(np.asarray(X).T)
    is_number = np.array([array.dtype.kind in NUMERIC for array in arrays])
    return np.column_stack([numbers_of(array) for array in arrays]), is_number


def _cosine(X: sparse.csr_matrix) -> Distances:
    rows = X.astype(np.float64)
    length = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())

    def distances(row: int) -> Floats:
        inner = np.asarray((rows @ rows[row].T).todense()).ravel()
        both = length * length[row]
        same = np.divide(inner, both, out=(length == length[row]).astype(float), where=both > 0)
        return np.asarray(np.maximum(1.0 - same, 0.0))

    return distances
