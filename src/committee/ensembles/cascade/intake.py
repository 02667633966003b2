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
    """

    names: tuple[str, ...]
    drop_last: bool

    def measured(self, widths: Sequence[Sequence[int]]) -> Self:
        """Note nothing: a level has one member."""
        return self

    def choose(self, said: Sequence[Floats]) -> list[Mask]:
        """Keep the columns that tell rows apart: constant ones, such as an unseen class, do not."""
        return [self._kept(answers) for answers in said]

    def _kept(self, answers: Floats) -> Mask:
        known = answers[~np.isnan(answers).any(axis=1)]
        keep = np.asarray((known != known[:1]).any(axis=0))
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
