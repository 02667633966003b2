"""Symmetric trees: which node a leaf too small for a value of its own has its value from.

All nodes of a level are split alike, so some leaves hold fewer rows than leaves must, or none. The
engine gives them the value of the nearest node above that is large enough; where a loss renews the
values of leaves, the same is done here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from committee import _engine

Nodes = npt.NDArray[np.int64]
ROUNDED = 1 - 2.0**-20  # hessians are rounded; limits on them are taken with this much leave


def lenders(tree: _engine.Forest, params: _engine.TreeParams) -> Nodes:
    """Find for each node of a symmetric tree the nearest one, itself or above, large enough."""
    count = np.asarray(tree.count).astype(np.int64)
    small = count < max(1, params.min_rows_leaf)
    small |= np.asarray(tree.weight) < params.min_weight_leaf * ROUNDED
    lender = np.arange(len(count), dtype=np.int64)
    begin = 1  # the tree is complete and in the order of levels: node k has 2k + 1 and 2k + 2
    while begin < len(lender):
        level = lender[begin : 2 * begin + 1]
        level[:] = np.where(small[begin : 2 * begin + 1], lender[(level - 1) // 2], level)
        begin = 2 * begin + 1
    return lender


def below(leaf: npt.NDArray[Any], node: int) -> npt.NDArray[np.bool_]:
    """Tell which leaves of a symmetric tree lie below a node."""
    name = leaf.astype(np.int64) + 1  # from 1, the bits of a name are the way down from the root
    n_bits = int(name.max()).bit_length() - (node + 1).bit_length()
    found: npt.NDArray[np.bool_] = (name >> n_bits) == node + 1
    return found
