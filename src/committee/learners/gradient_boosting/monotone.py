"""Monotonic constraints where a loss renews the values of leaves.

A split on a constrained feature puts the middle of its children's values between all leaves of the
two sides. The engine does so by Newton steps while the tree grows; medians and other constants of
least loss have an order of their own, and so a middle of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from committee import _engine
from committee.core.members import Floats

RowIds = npt.NDArray[np.uint32]


def in_order(
    tree: _engine.Forest,
    signs: Sequence[int],
    rows_of: Mapping[int, RowIds],
    constant: Callable[[RowIds], float],
    values: Floats,
) -> Floats:
    """Move the values of leaves by as little as the constraints ask for.

    Parameters
    ----------
    tree : _engine.Forest
        One tree.
    signs : sequence of int
        For each feature 1, -1, or 0 where it is free.
    rows_of : mapping
        The rows of each leaf.
    constant : callable
        The best constant of rows.
    values : ndarray of float64, shape (n_nodes,)
        The best constants of the leaves.

    Returns
    -------
    ndarray of float64, shape (n_nodes,)
        The values, each between the bounds of its node.
    """
    left, feature = tree.left.astype(np.intp), tree.feature & _engine.FEATURE_MASK
    lower, upper = np.full(len(left), -np.inf), np.full(len(left), np.inf)
    for node in np.flatnonzero(left != np.arange(len(left))):  # parents before their children
        sides = low, high = left[node], left[node] + 1
        lower[[*sides]], upper[[*sides]] = lower[node], upper[node]
        sign = signs[feature[node]]
        if sign == 0:
            continue
        best = [constant(np.concatenate(_below(left, side, rows_of))) for side in sides]
        middle = np.clip(best, lower[node], upper[node]).mean()
        if sign < 0:
            low, high = high, low
        upper[low] = lower[high] = middle
    return np.where(left == np.arange(len(left)), np.clip(values, lower, upper), values)


def _below(left: npt.NDArray[np.intp], node: int, rows_of: Mapping[int, RowIds]) -> list[RowIds]:
    """Collect the rows of all leaves below a node, from left to right."""
    rows, waiting = [], [node]
    while waiting:
        at = waiting.pop()
        if left[at] == at:
            rows.append(rows_of[at])
        else:
            waiting += [left[at] + 1, left[at]]
    return rows
