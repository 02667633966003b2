"""The fitted tree as arrays, under the names scikit-learn gives them.

The native forest keeps a node in 16 bytes; here its fields are spread out for reading, drawing and
measuring. Nothing is stored twice: every array is made when it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from committee._engine import CATEGORICAL, FEATURE_MASK, MISSING_LEFT, Forest, Table

LEAF = -1
UNDEFINED = -2


@dataclass(frozen=True, eq=False)
class Tree:
    """One decision tree: nodes in level order, the two children of a node side by side.

    Attributes
    ----------
    forest : Forest
        The native form: one tree.
    n_classes : tuple of int
        Classes of each output; one 1 per output of a regression.
    importances : ndarray of shape (n_features,) or None
        Where facts about the nodes are not kept, as in a forest: each feature's share of the
        impurity decrease.
    in_parts : bool
        Whether a row goes down both sides, in parts, where its value is missing.
    """

    forest: Forest
    n_classes: tuple[int, ...]
    importances: npt.NDArray[np.float64] | None = None
    in_parts: bool = False

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return self.forest.n_nodes

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.is_leaf.sum())

    @property
    def max_depth(self) -> int:
        """Splits between the root and the deepest leaf."""
        return self.forest.max_depth(0)

    @property
    def n_features(self) -> int:
        """Features of the fitted matrix."""
        return self.forest.n_features

    @property
    def n_outputs(self) -> int:
        """Targets."""
        return len(self.n_classes)

    @property
    def is_leaf(self) -> npt.NDArray[np.bool_]:
        """Whether each node is a leaf."""
        return np.asarray(self.forest.left == np.arange(self.node_count))

    @property
    def children_left(self) -> npt.NDArray[np.int64]:
        """Left child of each node, -1 for leaves."""
        return np.where(self.is_leaf, LEAF, self.forest.left.astype(np.int64))

    @property
    def children_right(self) -> npt.NDArray[np.int64]:
        """Right child of each node, -1 for leaves."""
        return np.where(self.is_leaf, LEAF, self.forest.left.astype(np.int64) + 1)

    @property
    def feature(self) -> npt.NDArray[np.int64]:
        """Feature each node splits on, -2 for leaves."""
        return np.where(
            self.is_leaf, UNDEFINED, (self.forest.feature & FEATURE_MASK).astype(np.int64)
        )

    @property
    def threshold(self) -> npt.NDArray[np.float64]:
        """Numeric splits: values up to it go left. -2 for leaves and categorical splits."""
        numeric = ~self.is_leaf & ~self.is_categorical
        return np.where(numeric, self.forest.threshold, float(UNDEFINED))

    @property
    def is_categorical(self) -> npt.NDArray[np.bool_]:
        """Whether each node splits on a set of levels."""
        return np.asarray((self.forest.feature & CATEGORICAL) != 0)

    @property
    def missing_go_to_left(self) -> npt.NDArray[np.uint8]:
        """Whether missing values go left at each node."""
        return np.asarray((self.forest.feature & MISSING_LEFT) != 0, dtype=np.uint8)

    def left_levels(self, node: int) -> npt.NDArray[np.int64]:
        """Codes of the levels that go left at a categorical split."""
        index = int(self.forest.threshold[node])
        begin, end = self.forest.set_begin[index : index + 2]
        words = self.forest.set_words[int(begin) : int(end)]
        bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
        return np.flatnonzero(bits)

    @property
    def has_facts(self) -> bool:
        """Whether counts and impurities of nodes are kept: a forest keeps weights only."""
        return len(self.forest.count) == self.node_count

    def _fact(self, name: str) -> npt.NDArray[Any]:
        if not self.has_facts:
            raise AttributeError(
                f"The {name} of nodes is not kept by the members of a forest, which know "
                "splits, values and weights (weighted_n_node_samples)."
            )
        return np.asarray(getattr(self.forest, name))

    @property
    def impurity(self) -> npt.NDArray[np.float64]:
        """Impurity of each node under the criterion it was grown with."""
        return self._fact("impurity")

    @property
    def gain(self) -> npt.NDArray[np.float64]:
        """Weighted impurity removed by each split, 0 for leaves."""
        return self._fact("gain")

    @property
    def n_node_samples(self) -> npt.NDArray[np.int64]:
        """Training rows in each node."""
        return self._fact("count").astype(np.int64)

    @property
    def rows_or_draws(self) -> npt.NDArray[np.int64]:
        """Training rows in each node; of a forest's member, as often as they were drawn."""
        return self.n_node_samples if self.has_facts else np.rint(self.forest.weight).astype(int)

    @property
    def weighted_n_node_samples(self) -> npt.NDArray[np.float64]:
        """Training weight in each node."""
        return self.forest.weight

    @cached_property
    def value(self) -> npt.NDArray[np.float64]:
        """Value of each node, shape (node_count, n_outputs, max_n_classes): shares or means."""
        widest = max(self.n_classes)
        out = np.zeros((self.node_count, self.n_outputs, widest))
        first = 0
        for output, k in enumerate(self.n_classes):
            out[:, output, :k] = self.forest.values[:, first : first + k]
            first += k
        return out

    def compute_feature_importances(self, normalize: bool = True) -> npt.NDArray[np.float64]:
        """Sum the weighted impurity decrease of the splits on each feature."""
        if self.importances is not None:
            return self.importances
        split = ~self.is_leaf
        decrease = self.gain[split] / self.forest.weight[0]
        sums = np.bincount(self.feature[split], weights=decrease, minlength=self.n_features)
        out = np.asarray(sums, dtype=np.float64)
        total = out.sum()
        return out / total if normalize and total > 0 else out

    def predict(self, table: Table, n_threads: int = 1) -> npt.NDArray[np.float64]:
        """Value of each row's leaf, or the mean of those that it reaches in parts."""
        if self.in_parts:
            return self.forest.predict_in_parts(table, n_threads)
        return self.forest.predict(table, n_threads=n_threads)

    def apply(self, table: Table, n_threads: int = 1) -> npt.NDArray[np.int64]:
        """Leaf of each row; in parts, the one at the end of the heavier sides."""
        return self.forest.apply(table, n_threads)[:, 0].astype(np.int64)

    def decision_path(self, table: Table, n_threads: int = 1) -> sparse.csr_matrix:
        """Mark the nodes each row passes, shape (n_rows, node_count)."""
        left = self.children_left
        parent = np.full(self.node_count, LEAF)
        inner = np.flatnonzero(left >= 0)
        parent[left[inner]] = inner
        parent[left[inner] + 1] = inner
        at = self.apply(table, n_threads)
        rows = np.arange(len(at))
        shape = (len(at), self.node_count)
        passing, passed = [rows], [at]
        while len(at):
            above = parent[at]
            rows, at = rows[above >= 0], above[above >= 0]
            passing.append(rows)
            passed.append(at)
        index = (np.concatenate(passing), np.concatenate(passed))
        ones = np.ones(len(index[0]), dtype=np.int64)
        path = sparse.csr_matrix((ones, index), shape=shape)
        path.sort_indices()
        return path
