"""What a level of a stack sees: the answers of the level below, and the features on request.

Of two classes' columns, which sum to 1, the first is dropped, as scikit-learn does; meta-models
that know whose column is whose get them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from committee.core.members import Floats
from committee.ensembles.joining import join_columns
from committee.ensembles.panel.folds import Mask


@dataclass(frozen=True, eq=False)
class StackIntake:
    """The rows of levels above the first.

    Attributes
    ----------
    levels : tuple of tuple of str
        The names of the members, by level.
    methods : tuple of tuple of str
        What they are asked for.
    n_classes : int or None
        None where they tell numbers.
    passthrough : bool
        Whether the features stand behind the answers.
    drop : bool
        Whether the first of two classes' columns is dropped.
    prefix : str
        Of the names of columns.
    widths : tuple of tuple of int
        By level how many columns each member has, which is known once it was asked: decision values
        of pairs of classes are more than there are classes.
    """

    levels: tuple[tuple[str, ...], ...]
    methods: tuple[tuple[str, ...], ...]
    n_classes: int | None
    passthrough: bool
    drop: bool
    prefix: str
    widths: tuple[tuple[int, ...], ...] = ()

    def measured(self, widths: Sequence[Sequence[int]]) -> StackIntake:
        """Note how many columns the members of the levels asked so far have."""
        return replace(self, widths=tuple(tuple(level) for level in widths))

    def kept(self, level: int, *, every: bool = False) -> Mask:
        """Mark the columns of a level that the next one sees."""
        keep = np.ones(sum(self.widths[level]), dtype=np.bool_)
        if self.n_classes == 2 and self.drop and not every:
            begins = np.cumsum([0, *self.widths[level][:-1]])
            asked = np.array(self.methods[level]) != "decision_function"
            keep[begins[asked]] = False
        return keep

    def names(self, level: int, keep: Mask) -> list[str]:
        """Name the columns that are kept, as scikit-learn does."""
        ends = np.cumsum(self.widths[level])
        counts = [int(part.sum()) for part in np.split(keep, ends[:-1])]
        return [
            f"{self.prefix}_{name}{k if count > 1 else ''}"
            for name, count in zip(self.levels[level], counts, strict=True)
            for k in range(count)
        ]

    def choose(self, said: Sequence[Floats]) -> list[Mask]:
        """Keep what the meta-model of a level needs."""
        return [self.kept(level) for level in range(len(said))]

    def join(self, X: Any, said: Sequence[Floats], keep: Sequence[Mask]) -> Any:
        """Take the answers of the last level, and put the features behind them on request."""
        level = len(said) - 1
        columns = np.ascontiguousarray(said[level][:, keep[level]])
        if not self.passthrough:
            return columns
        return join_columns(X, columns, self.names(level, keep[level]), first=True)
