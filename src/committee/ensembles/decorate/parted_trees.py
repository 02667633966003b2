"""Trees of the engine that are asked in parts, C4.5's way with missing values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from committee import _engine
from committee.core.members import Floats, Member, Members, Trees, read_by
from committee.data import Schema


class PartedTrees(Trees):
    """Trees down which a row goes on both sides, in parts, where its value is missing.

    Parameters
    ----------
    forest : _engine.Forest
        The trees, grown in parts.
    schema : Schema
        By which rows are read.
    """

    @overload
    def __getitem__(self, index: int) -> Member: ...
    @overload
    def __getitem__(self, index: slice) -> PartedTrees: ...
    def __getitem__(self, index: int | slice) -> Member | PartedTrees:
        if isinstance(index, slice):
            return PartedTrees(super().__getitem__(index).forest, self.schema)
        chosen = range(len(self))[index]
        return PartedTree(self.forest.slice(chosen, chosen + 1), self.schema)

    def joined(self, others: Sequence[Members]) -> PartedTrees | None:
        """Put others of the kind behind these, where they read rows alike."""
        whole = super().joined(others)
        return None if whole is None else PartedTrees(whole.forest, self.schema)

    def each(self, X: Any, n_threads: int = 1) -> Iterator[Floats]:
        """Yield the outputs of one tree after the other."""
        table = read_by(self.schema, X)
        for tree in range(len(self)):
            yield self.forest.slice(tree, tree + 1).predict_in_parts(table, n_threads)

    def outputs(self, X: Any, n_threads: int = 1) -> Floats:
        """Give the outputs of all trees: [member, row, output]."""
        return np.stack(list(self.each(X, n_threads)))

    def total(self, X: Any, weights: Floats, intercept: Floats, n_threads: int = 1) -> Floats:
        """Add weight times output to the intercept, in the order of the trees."""
        return Members.total(self, X, weights, intercept, n_threads)


@dataclass(frozen=True, eq=False)
class PartedTree:
    """One such tree."""

    forest: _engine.Forest
    schema: Schema

    def outputs(self, X: Any) -> Floats:
        """Give the mean value of the leaves that each row reaches, by its parts."""
        return self.forest.predict_in_parts(read_by(self.schema, X))
