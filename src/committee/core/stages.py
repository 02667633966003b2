"""Stages of a booster: a member is one round, which has a tree for each output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from committee import _engine
from committee.core.members import BLOCK, Floats, Member, Members, read_by
from committee.data import Schema


class Stages(Members):
    """Rounds of engine trees: one forest for each output, with as many trees as rounds.

    Parameters
    ----------
    forests : sequence of _engine.Forest
        One for each output; the k-th tree of each belongs to the k-th round.
    schema : Schema
        What :func:`committee.data.read_fit` returned with the training rows.
    """

    def __init__(self, forests: Sequence[_engine.Forest], schema: Schema) -> None:
        self.forests = tuple(forests)
        self.schema = schema

    def __len__(self) -> int:
        return self.forests[0].n_trees

    @overload
    def __getitem__(self, index: int) -> Member: ...
    @overload
    def __getitem__(self, index: slice) -> Stages: ...
    def __getitem__(self, index: int | slice) -> Member | Stages:
        chosen = range(len(self))[index]
        if isinstance(chosen, int):
            return Stage(self[chosen : chosen + 1])
        if chosen.step == 1 or not chosen:
            begin = chosen.start if chosen else 0
            end = begin + len(chosen)
            return Stages([forest.slice(begin, end) for forest in self.forests], self.schema)
        single = [[f.slice(tree, tree + 1) for tree in chosen] for f in self.forests]
        return Stages([_engine.Forest.concatenate(trees) for trees in single], self.schema)

    def joined(self, others: Sequence[Members]) -> Stages | None:
        """Put other rounds behind these, where they have as many outputs and read rows alike."""
        stages = [part for part in others if isinstance(part, Stages)]
        alike = all(s.schema is self.schema and len(s.forests) == len(self.forests) for s in stages)
        if len(stages) < len(others) or not alike:
            return None
        by_output = zip(self.forests, *(part.forests for part in stages), strict=True)
        return Stages([_engine.Forest.concatenate(trees) for trees in by_output], self.schema)

    def each(self, X: Any, n_threads: int = 1) -> Iterator[Floats]:
        """Yield the outputs of one round after the other."""
        table = read_by(self.schema, X)
        for begin in range(0, len(self), BLOCK):
            end = min(begin + BLOCK, len(self))
            blocks = [f.slice(begin, end).predict_members(table, n_threads) for f in self.forests]
            for trees in zip(*blocks, strict=True):
                yield np.concatenate(trees, axis=1)

    def total(self, X: Any, weights: Floats, intercept: Floats, n_threads: int = 1) -> Floats:
        """Add weight times output to the intercept, in the order of the rounds."""
        table = read_by(self.schema, X)
        start = np.ascontiguousarray(np.broadcast_to(intercept, len(self.forests)))
        columns = [
            forest.predict(table, weights, start[k : k + 1], n_threads)
            for k, forest in enumerate(self.forests)
        ]
        return columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1)


class Stage:
    """One round as a member.

    Parameters
    ----------
    alone : Stages
        Of this round only.
    """

    def __init__(self, alone: Stages) -> None:
        self.alone = alone

    def outputs(self, X: Any) -> Floats:
        """Give the value of the leaf of each row, an output for each tree."""
        return next(self.alone.each(X))
