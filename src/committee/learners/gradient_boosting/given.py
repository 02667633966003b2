"""What a fit is given, before it is read by the engine: rows with targets, weights and queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing

from committee.core.members import Floats


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be learned: numbers or class codes, and what the estimator will remember."""

    y: Floats
    attributes: dict[str, Any]
    stratify: bool = False


class HeldOutArguments(NamedTuple):
    """What a user gives to stop by."""

    X: Any = None
    y: Any = None
    weight: Any = None
    groups: Any = None
    margin: Any = None


@dataclass(frozen=True, eq=False)
class GivenRows:
    """Rows of the user, with targets, weights and the scores that they bring along."""

    X: Any
    y: Floats
    weight: Floats | None
    queries: npt.NDArray[np.intp] | None = None
    margin: Floats | None = None

    def take(self, rows: npt.NDArray[np.intp]) -> GivenRows:
        """Take some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        queries = None if self.queries is None else self.queries[rows]
        margin = None if self.margin is None else self.margin[rows]
        return GivenRows(_safe_indexing(self.X, rows), self.y[rows], weight, queries, margin)

    def split(
        self, rows: npt.NDArray[np.intp], fraction: int | float, stratify: bool, seed: int
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Part some of the rows at random: in all queries or none, and class by class."""
        from sklearn.model_selection import GroupShuffleSplit, train_test_split  # slow to import

        if self.queries is not None:
            parting = GroupShuffleSplit(1, test_size=fraction, random_state=seed)
            kept, apart = next(parting.split(rows, groups=self.queries[rows]))
            return rows[kept], rows[apart]
        codes = self.y[rows] if stratify else None
        if codes is not None:
            counts = np.unique(codes, return_counts=True)[1]
            apart = fraction if isinstance(fraction, int) else math.ceil(fraction * len(rows))
            if counts.min() < 2 or min(apart, len(rows) - apart) < len(counts):
                codes = None  # there is no row of each class for both
        parts = train_test_split(rows, test_size=fraction, stratify=codes, random_state=seed)
        return np.sort(parts[0]), np.sort(parts[1])
