"""What a level of a cascade sees: the features, then all that earlier levels said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from committee.core.members import Floats
from committee.ensembles.joining import join_columns
from committee.ensembles.panel.folds import Mask


@dataclass(frozen=True, eq=False)
class CascadeIntake:
    """The rows of each level.

    Attributes
    ----------
    names : tuple of str
        The members, in order.
    drop_last : bool
        Whether the column of the last class, which follows from the others, is dropped.
    drop_constant : bool
        Whether columns that tell no rows apart are dropped. Where rows are divided they stay: which
        are constant is a fact of all rows, and models of a part must not know the others.
    """

    names: tuple[str, ...]
    drop_last: bool
    drop_constant: bool

    @property
    def passthrough(self) -> bool:
        """Tell that every level sees the features."""
        return True

    def measured(self, widths: Sequence[Sequence[int]]) -> Self:
        """Note nothing: a level has one member."""
        return self

    def choose(self, said: Sequence[Floats]) -> list[Mask]:
        """Keep the columns of use: constant ones, such as an unseen class, tell no rows apart."""
        return [self._kept(answers) for answers in said]

    def _kept(self, answers: Floats) -> Mask:
        keep = np.ones(answers.shape[1], dtype=np.bool_)
        if self.drop_constant:
            keep = np.asarray((answers != answers[:1]).any(axis=0))
        if self.drop_last and len(keep) > 1:
            keep[-1] = False
        return keep

    def join(self, X: Any, said: Sequence[Floats], keep: Sequence[Mask]) -> Any:
        """Put what all earlier levels said behind the features."""
        if not said:
            return X
        columns = np.hstack([answers[:, mask] for answers, mask in zip(said, keep, strict=False)])
        names = [
            f"{name}_{column}"
            for name, mask in zip(self.names, keep[: len(said)], strict=False)
            for column in np.flatnonzero(mask)
        ]
        return join_columns(X, columns, names, first=False)
