"""Rows for members of any kind: kept in their container, and hashed by what they hold.

A pipeline may want a frame with text in it, which the engine cannot read. So members get the
user's own container, cut by rows, while bags are drawn by a table of numbers that stands for the
content: text and other objects are hashed, numbers are themselves.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse

from committee import _engine
from committee.data import Schema, Table, read_fit
from committee.data.arrays import as_matrix, complex_error, numeric
from committee.data.compressed import read_sparse
from committee.data.frames import feature_names, open_frame
from committee.data.ingest import compare_names, compare_width
from committee.data.levels import is_missing
from committee.data.rows import engine_table

NUMERIC = "biuf"


@dataclass(frozen=True, eq=False)
class AnyRows:
    """Training rows as members get them.

    Attributes
    ----------
    X : ndarray, csr matrix or frame
        The rows, which can be cut.
    table : Table
        Numbers that stand for their content.
    schema : Schema
        Width and names.
    """

    X: Any
    table: Table
    schema: Schema

    @classmethod
    def read(cls, X: Any) -> AnyRows:
        """Read rows; only their shape and names are checked, the rest is the members' business."""
        if sparse.issparse(X):
            refuse_empty(X)
            rows = X.tocsr()
            return cls(rows, read_sparse(rows), Schema(X.shape[1]))
        frame = open_frame(X)
        if frame is not None:
            names = feature_names(frame)
            if 0 in frame.shape:
                refuse_empty(X)
            columns = [numbers_of(column_array(frame.get_column(name))) for name in frame.columns]
            table = Table.of_array(np.column_stack(columns))
            return cls(frame.to_native(), table, Schema(table.n_features, names))
        matrix = as_matrix(X)
        refuse_empty(matrix)
        if matrix.dtype.kind == "c":
            raise complex_error("X", "all columns")
        if matrix.dtype.kind in NUMERIC:
            matrix = values = numeric(matrix, "all columns")
        else:
            values = np.column_stack([numbers_of(column) for column in matrix.T])
        return cls(matrix, Table.of_array(values), Schema(matrix.shape[1]))

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return self.table.n_rows

    def keys(self, target: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[np.uint64]:
        """Hash each row with its target."""
        return _engine.table_keys(engine_table(self.table), target, n_threads)


def container_to_ask(model: Any, X: Any) -> Any:
    """Hold rows to predict against those that a model was fitted on, and keep their container."""
    schema = Schema(model.n_features_in_, getattr(model, "feature_names_in_", None))
    return rows_to_ask(X, schema, type(model).__name__)


def rows_to_ask(X: Any, schema: Schema, owner: str) -> Any:
    """Hold rows to predict against the schema of the fit, and keep their container."""
    names, frame = None, None if sparse.issparse(X) else open_frame(X)
    rows: Any = X
    if sparse.issparse(X):
        rows = X.tocsr()
    elif frame is None:
        rows = as_matrix(X)
    else:
        names = feature_names(frame)
    compare_names(names, schema, owner)
    compare_width(rows.shape if frame is None else frame.shape, schema, owner)
    return rows


def refuse_empty(X: Any) -> None:
    """Leave rows without extent to the common door, which knows what to say."""
    if 0 in X.shape:
        read_fit(X)


def column_array(column: nw.Series[Any]) -> npt.NDArray[Any]:
    """Take a column out of a frame; numbers as numbers, with NaN for nulls."""
    if column.dtype.is_numeric() and column.null_count():
        column = column.cast(nw.Float64)
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        return np.asarray(column.to_numpy())
    return np.array(column.to_list(), dtype=object)


def numbers_of(column: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Replace what is no number by a hash of it, equal for equal values in any process.

    What is missing is NaN, however the container writes it.
    """
    if column.dtype.kind in NUMERIC:
        return column.astype(np.float64)
    texts = ["" if is_missing(value) else repr(value) for value in column.tolist()]
    known = {"": np.nan}
    for text in set(texts) - {""}:
        digest = hashlib.blake2b(text.encode(), digest_size=6).digest()
        known[text] = float(int.from_bytes(digest, "little"))
    return np.array([known[text] for text in texts], dtype=np.float64)
