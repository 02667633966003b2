"""The order and the weights in which training rows come to the members.

Rows come in the order of their content, so that nothing hangs on the order in which the user has
them. Weights that are whole multiples of one unit repeat rows: a row of weight k is k rows, for
the size of leaves, for the number of artificial rows, and for learners that take no weights.
Other weights are handed to the learner, 1 on average; an artificial row weighs 1. A row of weight
0 is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from committee.core.bags import repetitions
from committee.core.members import Floats

Codes: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Order:
    """Which rows come when.

    Attributes
    ----------
    rows : ndarray of int
        Indices of the user's rows, in order, some perhaps repeated or left out.
    weight : ndarray or None
        Their weights, 1 on average; None where all are alike.
    """

    rows: Codes
    weight: Floats | None


def in_order(keys: npt.NDArray[np.uint64], given: Floats | None) -> Order:
    """Sort rows by the hash of their content, and read their weights."""
    if given is None:
        return Order(np.argsort(keys, kind="stable"), None)
    order = np.lexsort((given, keys))
    units = repetitions(given)
    if units is not None:
        return Order(np.repeat(order, units[order]), None)
    order = order[given[order] > 0]
    part = given[order] / given.max()
    return Order(order, part * (len(part) / part.sum()))


def enlarged(weight: Floats | None, n_more: int) -> Floats | None:
    """Add the weights of artificial rows."""
    return None if weight is None else np.concatenate([weight, np.ones(n_more)])
