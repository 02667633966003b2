"""What passes from the user's objects to the engine, and what a fitted estimator remembers of it.

A :class:`Table` is one matrix, dense or compressed; a :class:`Schema` is the part of it that
prediction needs to read new data by the same rule: width, names, and the levels of categories.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from committee.data.target_statistics import TargetStatistics

Array: TypeAlias = npt.NDArray[Any]
Levels: TypeAlias = Mapping[int, Array]


@dataclass(frozen=True, eq=False)
class Table:
    """The feature matrix as the engine reads it; NaN is missing, infinities never occur.

    Attributes
    ----------
    values : ndarray
        Dense: two-dimensional, of any order and strides, aligned and native, float32, float64,
        (u)int8 to (u)int64 or bool; it may be the user's own array and is never written to.
        Sparse: the stored elements, one-dimensional, of one of these types.
    n_rows, n_features : int
        The shape.
    indices : ndarray of int32 or None
        Sparse: the column (CSR) or row (CSC) of each element, sorted and unique; None when dense.
    indptr : ndarray of int64 or None
        Sparse: where each row (CSR) or column (CSC) begins; None when dense.
    by_row : bool
        Sparse: whether the layout is CSR.
    feature_names : ndarray of str or None
        Column names, where the input has them and all are text.
    levels : mapping of int to ndarray
        For every categorical feature its levels (int64, float64, or str objects); the matrix holds
        the positions in that array. Features that are not in the mapping are numeric.
    """

    values: Array
    n_rows: int
    n_features: int
    indices: npt.NDArray[np.int32] | None = None
    indptr: npt.NDArray[np.int64] | None = None
    by_row: bool = True
    feature_names: Array | None = None
    levels: Levels = field(default_factory=dict)

    @classmethod
    def of_array(cls, values: Array) -> Table:
        """Wrap a dense numeric array; a third of the time of the constructor, for single rows."""
        table = object.__new__(cls)
        n_rows, n_features = values.shape
        table.__dict__.update(values=values, n_rows=n_rows, n_features=n_features, levels={})
        return table

    @property
    def sparse(self) -> bool:
        """Whether the matrix is compressed."""
        return self.indptr is not None

    def n_levels(self) -> npt.NDArray[np.uint32]:
        """Count the levels of each feature: 0 for numeric ones."""
        return count_levels(self.levels, self.n_features)


@dataclass(frozen=True, eq=False)
class Schema:
    """What a fitted estimator knows about its features.

    Attributes
    ----------
    n_features : int
        The width of the fitted matrix.
    feature_names : ndarray of str or None
        The column names at fit, ``feature_names_in_`` of the estimator.
    levels : mapping of int to ndarray
        The levels of the categorical features, see :class:`Table`.
    dtypes : mapping of int to str
        How the categorical and frame columns were typed at fit; used in messages only.
    encoding : TargetStatistics or None
        The numbers that stand for levels, where the model was not given the levels themselves.
    """

    n_features: int
    feature_names: Array | None = None
    levels: Levels = field(default_factory=dict)
    dtypes: Mapping[int, str] = field(default_factory=dict)
    encoding: TargetStatistics | None = None
    plain: bool = field(init=False)  # neither names nor levels: prediction may take the short way

    def __post_init__(self) -> None:
        object.__setattr__(self, "plain", self.feature_names is None and not self.levels)

    @property
    def width(self) -> int:
        """The columns that the model sees."""
        return self.n_features if self.encoding is None else len(self.encoding.source)

    def n_levels(self) -> npt.NDArray[np.uint32]:
        """Count the levels of each feature: 0 for numeric ones."""
        return count_levels(self.levels, self.n_features)


def count_levels(levels: Levels, n_features: int) -> npt.NDArray[np.uint32]:
    """Spread the mapping ``levels`` over all features as counts."""
    counts = np.zeros(n_features, dtype=np.uint32)
    for feature, values in levels.items():
        counts[feature] = len(values)
    return counts
