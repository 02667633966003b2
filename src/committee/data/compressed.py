"""SciPy sparse matrices and arrays, brought into the one compressed form that the engine reads.

Duplicates are summed and indices sorted on a copy; the user's object is never changed, not even by
the in-place conveniences of SciPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.data.arrays import dtype_error, numeric
from committee.data.errors import InputError, Items, describe
from committee.data.finite import has_infinity, refuse_infinity_sparse, warn_missing_columns
from committee.data.table import Array, Table

INDEX_LIMIT = 2**31 - 1


def read_sparse(X: Any, names: Items | None = None, *, warn: bool = False) -> Table:
    """Return a sparse matrix of any format as a CSR or CSC table.

    Parameters
    ----------
    X : scipy.sparse matrix or array
        The data; absent elements are zeros, stored NaN are missing.
    names : sequence or None
        Column names for messages.
    warn : bool
        Whether to report columns that are missing altogether.

    Returns
    -------
    Table
        The compressed matrix.
    """
    n_rows, n_features = X.shape
    by_row = X.format != "csc" or n_rows > INDEX_LIMIT
    if n_features > INDEX_LIMIT:
        raise InputError(
            describe(
                "X-SIZE",
                "X",
                f"{n_features} columns",
                allowed=f"up to {INDEX_LIMIT} columns",
                fix="drop columns or hash them",
            )
        )
    if X.dtype.kind not in "biuf":
        raise dtype_error(np.empty(1, dtype=X.dtype), "the sparse matrix")
    matrix = X.tocsr() if by_row else X.tocsc()  # returns X itself when it has that format
    begins = matrix.indptr
    if begins[0] != 0 or (np.diff(begins) < 0).any() or begins[-1] > len(matrix.indices):
        found = "the row pointers of the sparse matrix do not ascend within its entries"
        raise InputError(describe("X-DAMAGED", "X", found, fix="build the matrix again"))
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    table = Table(
        values=np.ascontiguousarray(numeric(matrix.data, "the sparse matrix")),
        n_rows=n_rows,
        n_features=n_features,
        indices=np.ascontiguousarray(matrix.indices, dtype=np.int32),
        indptr=np.ascontiguousarray(matrix.indptr, dtype=np.int64),
        by_row=by_row,
    )
    _check_values(table, names, warn)
    return table


def places(table: Table) -> tuple[Array, Array]:
    """Return row and column of every stored element."""
    assert table.indptr is not None
    assert table.indices is not None
    outer = np.repeat(np.arange(len(table.indptr) - 1), np.diff(table.indptr))
    return (outer, table.indices) if table.by_row else (table.indices, outer)


def _check_values(table: Table, names: Items | None, warn: bool) -> None:
    if table.values.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(table.values.sum()):
            return
    rows, columns = places(table)
    if has_infinity(table.values):
        refuse_infinity_sparse(table.values, rows, columns, table.n_features, names)
    if warn and table.n_rows:
        missing = np.bincount(columns[np.isnan(table.values)], minlength=table.n_features)
        warn_missing_columns(np.flatnonzero(missing == table.n_rows), names)
