"""Artificial rows in the user's own container: arrays, sparse matrices, frames of any make.

A frame's column keeps its type. Of numbers it gets new ones, rounded where they are integers;
anything else, text and truth and dates, is a category whose levels are the values that occur, and
an artificial row gets a copy of one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse

from committee.data import InputTypeError
from committee.data.errors import describe
from committee.data.frames import category_mask, open_frame
from committee.data.levels import is_missing, resolve_categorical
from committee.ensembles.any_rows import AnyRows
from committee.ensembles.decorate.artificial import DenseModel, Floats, Ints, SparseModel
from committee.ensembles.decorate.training_rows import Codes


@dataclass(frozen=True, eq=False)
class ContainerModel:
    """Draws artificial rows in the container of the training rows.

    Attributes
    ----------
    rows : ndarray, csr matrix or frame
        The training rows as the user has them.
    model : DenseModel or SparseModel
        What is known of their columns.
    sources : list of ndarray of int
        For each column of a dense container: rows that hold its levels, one each. Of numbers, and
        where nothing is known, any row.
    """

    rows: Any
    model: DenseModel | SparseModel
    sources: list[Ints]

    @classmethod
    def learn(
        cls, read: AnyRows, order: Codes, weight: Floats, categorical: npt.NDArray[np.bool_]
    ) -> ContainerModel:
        """Learn from rows.

        Parameters
        ----------
        read : AnyRows
            The rows.
        order : ndarray of int
            Those that count, as often as they do.
        weight : ndarray of shape (len(order),)
            Their weights, 1 on average.
        categorical : ndarray of bool, shape (n_features,)
            What :func:`categories` told.
        """
        if sparse.issparse(read.X):
            return cls(read.X, SparseModel.learn(read.X[order], weight), [])
        values = contents(read, categorical)
        n_levels = np.zeros(values.shape[1], dtype=np.intp)
        sources = []
        for j in range(values.shape[1]):
            known = order[~np.isnan(values[order, j])]
            sources.append(known[:1] if len(known) else order[:1])
            if categorical[j] and len(known):
                held = np.unique(values[known, j], return_index=True, return_inverse=True)
                values[known, j], sources[j], n_levels[j] = held[2], known[held[1]], len(held[0])
        return cls(read.X, DenseModel.learn(values[order], weight, n_levels), sources)

    def draw(self, size: int, rng: np.random.Generator) -> Any:
        """Draw artificial rows."""
        drawn = self.model.draw(size, rng)
        if isinstance(self.model, SparseModel):
            return drawn.astype(self.rows.dtype)
        numbers = np.zeros(self.model.n_features, dtype=np.bool_)
        numbers[self.model.numbers] = True
        code = np.where(np.isnan(drawn) | numbers, 0.0, drawn).astype(np.intp)
        taken = np.column_stack([at[c] for at, c in zip(self.sources, code.T, strict=True)])
        frame = open_frame(self.rows)
        if frame is not None:
            return _frame_of(frame, taken, drawn, numbers)
        return _array_of(self.rows, taken, drawn, numbers)


def categories(read: AnyRows, categorical_features: Any) -> npt.NDArray[np.bool_]:
    """Tell which columns are categories: those that are said to be, and those without numbers."""
    n_features, frame = read.schema.n_features, open_frame(read.X)
    by_dtype = None if frame is None else category_mask(frame)
    mask = resolve_categorical(
        categorical_features, read.schema.feature_names, n_features, by_dtype
    )
    if sparse.issparse(read.X):
        if mask.any():
            found = "a sparse matrix cannot hold categorical columns: zeros are not stored"
            fix = "X.toarray(), or encode the categories as indicator columns"
            raise InputTypeError(describe("X-SPARSE-CATEGORICAL", "X", found, fix=fix))
        return mask
    if frame is not None:
        types = [frame.get_column(name).dtype for name in frame.columns]
        numbers = [kind.is_integer() or kind.is_float() for kind in types]
    elif read.X.dtype.kind in "iuf":
        numbers = [True] * n_features
    else:
        numbers = [_all_numbers(column) for column in read.X.T]
    return np.asarray(mask | ~np.array(numbers))


def contents(read: AnyRows, categorical: npt.NDArray[np.bool_]) -> Floats:
    """Give numbers as numbers, and for everything else numbers that stand for it."""
    values = np.array(read.table.values, dtype=np.float64)
    if isinstance(read.X, np.ndarray) and read.X.dtype.kind == "O":  # not hashed where numbers
        for j in np.flatnonzero(~categorical).tolist():
            values[:, j] = [np.nan if is_missing(item) else item for item in read.X[:, j]]
    return values


def _all_numbers(column: npt.NDArray[Any]) -> bool:
    if column.dtype.kind != "O":
        return False
    held = [item for item in column.tolist() if not is_missing(item)]
    return all(isinstance(item, Real) and not isinstance(item, bool) for item in held)


def _array_of(
    rows: npt.NDArray[Any], taken: Ints, drawn: Floats, numbers: npt.NDArray[np.bool_]
) -> npt.NDArray[Any]:
    """Write the rows of an array; integers become floats, unless all are categories."""
    kept = rows.dtype.kind not in "iu" or not numbers.any()
    made = np.empty(drawn.shape, dtype=rows.dtype if kept else np.float64)
    made[:, numbers] = drawn[:, numbers]
    for j in np.flatnonzero(~numbers).tolist():
        made[:, j] = rows[taken[:, j], j]
    return made


def _frame_of(
    frame: nw.DataFrame[Any], taken: Ints, drawn: Floats, numbers: npt.NDArray[np.bool_]
) -> Any:
    """Write the rows of a frame, column by column, each in its own type."""
    columns = []
    for j, name in enumerate(frame.columns):
        column = frame.get_column(name)
        made = nw.maybe_reset_index(column[taken[:, j].tolist()])
        if numbers[j]:
            kind = np.dtype(str(column.dtype).lower())
            fresh = drawn[:, j] if kind.kind == "f" else _whole(drawn[:, j], kind)
            made = made.scatter(range(len(fresh)), fresh.astype(kind))
        columns.append(made.alias(name).to_frame())
    return nw.concat(columns, how="horizontal").to_native()


def _whole(numbers: Floats, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """Round to whole numbers that the type holds."""
    limits = np.iinfo(kind)
    high = float(limits.max)
    if int(high) > limits.max:  # 64 bits: the float is one too many
        high = float(np.nextafter(high, 0))
    return np.clip(np.rint(numbers), float(limits.min), high).astype(kind)
