"""Facts about the numbers of a matrix: infinities, empty columns, integers beyond 2**53.

Matrices may be larger than the memory left over, so no check allocates one flag per element: a sum
answers the usual case in one pass, and only suspicious matrices are scanned, in blocks of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from committee.data.errors import (
    FIRST,
    InputError,
    Items,
    column_text,
    describe,
    listing,
    rows_text,
    warn,
)
from committee.data.levels import EXACT
from committee.data.table import Array

BLOCK = 1 << 18  # elements looked at in one go: 2 MB of float64 stay in the cache


def row_blocks(values: Array) -> Iterator[tuple[int, Array]]:
    """Cut a matrix into blocks of whole rows, each with the number of its first row."""
    step = max(1, BLOCK // max(1, values.shape[1]))
    for begin in range(0, values.shape[0], step):
        yield begin, values[begin : begin + step]


def has_infinity(values: Array) -> bool:
    """Tell whether a float array of any shape and strides holds an infinity."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.add.reduce(values, axis=None)):
            return False
        # fmax and fmin pass over NaN, hence they are exact where the sum is not.
        highest = np.fmax.reduce(values, axis=None, initial=-np.inf)
        lowest = np.fmin.reduce(values, axis=None, initial=np.inf)
    if highest == np.inf:
        return True
    # An all-NaN array leaves both initial values standing: highest below lowest.
    return bool(lowest == -np.inf and values.size > 0)


def refuse_infinity(values: Array, names: Items | None) -> None:
    """Refuse a dense matrix that holds infinities, with column, rows and count."""
    if values.dtype.kind != "f" or values.size == 0 or not has_infinity(values):
        return
    per_column = np.zeros(values.shape[1], dtype=np.int64)
    for _, block in row_blocks(values):
        per_column += np.isinf(block).sum(axis=0)
    columns = np.flatnonzero(per_column)
    if len(columns):
        rows = np.flatnonzero(np.isinf(values[:, columns[0]]))
        raise infinity_error(columns, per_column, rows, values.dtype, names)


def refuse_infinity_sparse(
    data: Array, rows: Array, columns: Array, n_features: int, names: Items | None
) -> None:
    """Do the same for the stored elements of a sparse matrix, given with their places."""
    at = np.flatnonzero(np.isinf(data))
    if len(at):
        per_column = np.bincount(columns[at], minlength=n_features)
        found = np.flatnonzero(per_column)
        first = np.sort(rows[at][columns[at] == found[0]])
        raise infinity_error(found, per_column, first, data.dtype, names)


def infinity_error(
    columns: Array,
    per_column: Array,
    rows: Array,
    dtype: np.dtype[Any],
    names: Items | None,
) -> InputError:
    """Compose the error; the wording of scikit-learn stays in front."""
    first = int(columns[0])
    more = "" if len(columns) == 1 else f"; {len(columns)} columns are concerned"
    return InputError(
        describe(
            "X-INFINITE",
            "X",
            f"Input X contains infinity or a value too large for {dtype!r}: "
            f"{column_text(names, first)}, {rows_text(rows, int(per_column[first]))}{more}",
            allowed="finite numbers and missing values (NaN)",
            fix="replace infinities by NaN, np.where(np.isinf(X), np.nan, X), or by a finite bound",
        )
    )


def warn_all_missing(values: Array, names: Items | None) -> None:
    """Warn about the columns of a dense matrix that hold nothing but NaN."""
    if values.dtype.kind != "f" or not len(values):
        return
    suspects = np.flatnonzero(np.isnan(values[0]))
    for _, block in row_blocks(values):
        if not len(suspects):
            return
        suspects = suspects[[bool(np.isnan(block[:, column]).all()) for column in suspects]]
    warn_missing_columns(suspects, names)


def warn_missing_columns(columns: Array, names: Items | None) -> None:
    """Warn that ``columns`` are empty and will not be used."""
    if not len(columns):
        return
    texts = [column_text(names, int(column)) for column in columns[:FIRST]]
    warn(
        describe(
            "X-ALL-MISSING",
            "X",
            f"{listing(texts, len(columns))}: all values are missing; "
            f"{len(columns)} column(s) will not be used",
            fix="drop the column(s), or find out why they are empty",
        )
    )


def warn_rounding(values: npt.NDArray[Any], where: str) -> None:
    """Warn when integers of a column that differ become equal as float64."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not len(values):
        return
    if int(values.max()) <= EXACT and int(values.min()) >= -EXACT:
        return
    distinct = np.unique(values)
    distinct = distinct[
        (distinct >= EXACT) | (distinct <= -EXACT if values.dtype.kind == "i" else False)
    ]
    _, counts = np.unique(distinct.astype(np.float64), return_counts=True)
    colliding = int(counts[counts > 1].sum())
    if colliding:
        warn(
            describe(
                "X-ROUNDED",
                "X",
                f"{where} holds integers beyond 2**53, and {colliding} different values collide "
                "with another one as 64-bit floats",
                allowed="integers up to 2**53 are exact",
                fix="declare an identifier as categorical, or subtract an offset",
            )
        )


def warn_rounding_matrix(values: Array, names: Items | None) -> None:
    """Apply :func:`warn_rounding` to each column of a dense integer matrix."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return
    if int(values.max()) <= EXACT and int(values.min()) >= -EXACT:
        return
    for column in range(values.shape[1]):
        warn_rounding(values[:, column], column_text(names, column))
