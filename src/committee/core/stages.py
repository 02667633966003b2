"""Stages of a booster: a member is one round, with trees for each output or for all.

Where a round has several trees for an output, their mean is the member: a tree then weighs one
``width``-th of its round, and trees are added one by one in their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias, cast, overload

import numpy as np

from committee import _engine
from committee.core.members import BLOCK, Floats, Member, Members, read_by, running_totals
from committee.data import Schema

Forest: TypeAlias = _engine.Forest | _engine.LinearForest  # both are asked in the same way


class Stages(Members):
    """Rounds of engine trees: one forest for each output, or one whose leaves hold them all.

    Parameters
    ----------
    forests : sequence of _engine.Forest, or of _engine.LinearForest
        Their outputs come one after the other; the first ``width`` trees of each belong to the
        first round.
    schema : Schema
        What :func:`committee.data.read_fit` returned with the training rows.
    width : int
        Trees of a round and output.
    """

    def __init__(self, forests: Sequence[Forest], schema: Schema, width: int = 1) -> None:
        self.forests = tuple(forests)
        self.schema = schema
        self.width = width

    def __len__(self) -> int:
        return self.forests[0].n_trees // self.width

    def tree_weights(self, weights: Floats) -> Floats:
        """Say what each tree weighs where rounds weigh so much."""
        return weights if self.width == 1 else np.repeat(weights / self.width, self.width)

    @overload
    def __getitem__(self, index: int) -> Member: ...
    @overload
    def __getitem__(self, index: slice) -> Stages: ...
    def __getitem__(self, index: int | slice) -> Member | Stages:
        chosen = range(len(self))[index]
        if isinstance(chosen, int):
            return Stage(self[chosen : chosen + 1])
        if chosen.step == 1 or not chosen:
            begin = self.width * (chosen.start if chosen else 0)
            end = begin + self.width * len(chosen)
            return self._of([forest.slice(begin, end) for forest in self.forests])
        single = [[self[k : k + 1].forests[i] for k in chosen] for i in range(len(self.forests))]
        return self._of([end_to_end(trees) for trees in single])

    def _of(self, forests: Sequence[Forest]) -> Stages:
        return Stages(forests, self.schema, self.width)

    def _shape(self) -> tuple[int, ...]:
        """Trees of a round, and the outputs of each forest."""
        return (self.width, *(forest.n_outputs for forest in self.forests))

    def joined(self, others: Sequence[Members]) -> Stages | None:
        """Put other rounds behind these, where they have the same outputs and read rows alike."""
        stages = [part for part in others if isinstance(part, Stages)]
        alike = all(s.schema is self.schema and s._shape() == self._shape() for s in stages)
        if len(stages) < len(others) or not alike:
            return None
        by_output = zip(self.forests, *(part.forests for part in stages), strict=True)
        return self._of([end_to_end(trees) for trees in by_output])

    def each(self, X: Any, n_threads: int = 1) -> Iterator[Floats]:
        """Yield the outputs of one round after the other: of its trees, the mean."""
        trees = self._trees(X, n_threads)
        for _ in range(len(self)):
            total = next(trees)
            for more in islice(trees, self.width - 1):
                total = total + more
            yield total / self.width if self.width > 1 else total

    def running(
        self, X: Any, weights: Floats, intercept: Floats, n_threads: int = 1
    ) -> Iterator[Floats]:
        """Yield the total after 1, 2, .. rounds, tree added to tree as :meth:`total` does."""
        trees = self._trees(X, n_threads)
        totals = running_totals(trees, self.tree_weights(weights), intercept)
        yield from islice(totals, self.width - 1, None, self.width)

    def _trees(self, X: Any, n_threads: int) -> Iterator[Floats]:
        """Yield the outputs of one tree after the other."""
        table = read_by(self.schema, X)
        n_trees = self.forests[0].n_trees
        for begin in range(0, n_trees, BLOCK):
            end = min(begin + BLOCK, n_trees)
            blocks = [f.slice(begin, end).predict_members(table, n_threads) for f in self.forests]
            for trees in zip(*blocks, strict=True):
                yield np.concatenate(trees, axis=1)

    def total(self, X: Any, weights: Floats, intercept: Floats, n_threads: int = 1) -> Floats:
        """Add weight times output to the intercept, in the order of the rounds."""
        table = read_by(self.schema, X)
        n_outputs = sum(forest.n_outputs for forest in self.forests)
        start = intercept if intercept.size == n_outputs else np.full(n_outputs, intercept)
        each, columns, first = self.tree_weights(weights), [], 0
        for forest in self.forests:
            own = start[first : first + forest.n_outputs]
            columns.append(forest.predict(table, each, own, n_threads))
            first += forest.n_outputs
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
        """Give the values of the leaf of each row, in the order of the trees."""
        return next(self.alone.each(X))


def end_to_end(forests: Sequence[Forest]) -> Forest:
    """Put forests of one kind into one, in order."""
    if isinstance(forests[0], _engine.LinearForest):
        return _engine.LinearForest.concatenate(cast(list[_engine.LinearForest], list(forests)))
    return _engine.Forest.concatenate(cast(list[_engine.Forest], list(forests)))
