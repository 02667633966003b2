"""Scores that can be summed anew when earlier rounds come to weigh something else.

Kept are the leaves of the rows, a byte for each row and tree of up to 128 leaves; scores are then
summed from the start in the order of the trees, as a committee does it. Subtracting what a round
weighs less would be cheaper by a small factor, but its rounding would depend on the way to the
weights: a fit that goes on after a warm start would no longer be the one made at once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from committee import _engine
from committee.core.members import Floats
from committee.core.stages import Stages


class ScoreLedger:
    """The leaves of some rows in all trees.

    Parameters
    ----------
    start : ndarray of float64, shape (n_rows, n_outputs)
        The scores before the first tree.
    width : int
        Trees of a round and output.
    n_threads : int
        Threads that may be used; sums do not depend on it.
    """

    def __init__(self, start: Floats, width: int, n_threads: int) -> None:
        self.start = np.ascontiguousarray(start.T)
        self.width = width
        self.n_threads = n_threads
        self.leaves = [_engine.LeafLedger(len(start)) for _ in self.start]

    def add(self, output: int, leaf: npt.NDArray[np.uint32], value: Floats) -> None:
        """Note one more tree of an output: the leaf of each row, the values of the nodes."""
        self.leaves[output].add(leaf, value)

    def follow(self, stages: Stages, table: _engine.Table) -> None:
        """Note the trees of rounds that these rows have not been led through."""
        for output, forest in enumerate(stages.forests):
            assert isinstance(forest, _engine.Forest)  # linear leaves are refused beside DART
            for k in range(forest.n_trees):
                tree = forest.slice(k, k + 1)
                leaf = np.ascontiguousarray(tree.apply(table, self.n_threads)[:, 0])
                self.add(output, leaf, np.ascontiguousarray(tree.values[:, 0]))

    def scores(self, weights: Floats) -> Floats:
        """Sum what rounds of these weights score: (n_outputs, n_rows)."""
        raw = self.start.copy()
        each = np.repeat(weights / self.width, self.width)
        for leaves, scores in zip(self.leaves, raw, strict=True):
            leaves.sum(each, scores, self.n_threads)
        return raw
