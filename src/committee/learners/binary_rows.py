"""Rows of features that are on or off: where they are on, and where nothing is known.

Both are sparse matrices of ones, made alike of dense and of compressed tables, so that whatever is
added up over them is added in the same order and has the same bits. A dense table is taken in
blocks of rows and a compressed one is never made dense.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from committee.data import InputError, Table
from committee.data.compressed import places
from committee.data.errors import column_text, describe, rows_text
from committee.data.finite import row_blocks

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class BinaryRows:
    """Some rows of a table.

    Attributes
    ----------
    begin : int
        The number of the first of them.
    on : csr_array
        1 where a feature is on.
    missing : csr_array or None
        1 where a feature is missing; None where none is.
    """

    begin: int
    on: Any
    missing: Any

    @property
    def span(self) -> slice:
        """Their place among all rows."""
        return slice(self.begin, self.begin + self.on.shape[0])


def binary_rows(table: Table, threshold: float) -> Iterator[BinaryRows]:
    """Cut a table into blocks of rows in which features above ``threshold`` >= 0 are on."""
    above = np.float64(threshold)  # of 64 bits, so that float32 is not compared in float32
    if table.sparse:
        holes = _missing(table.values)
        on = _marked(table, table.values > above)
        yield BinaryRows(0, on, None if holes is None else _marked(table, holes))
        return
    for begin, block in row_blocks(table.values):
        holes = _missing(block)
        on = _ones(block > above)
        yield BinaryRows(begin, on, None if holes is None else _ones(holes))


def _missing(values: npt.NDArray[Any]) -> Flags | None:
    if values.dtype.kind != "f":
        return None
    holes = np.isnan(values)
    return holes if holes.any() else None


def _ones(flags: Flags) -> Any:
    return sparse.csr_array(flags, dtype=np.float64)


def _marked(table: Table, flags: Flags) -> Any:
    """Keep the flagged ones of the stored elements."""
    assert table.indptr is not None
    assert table.indices is not None
    before = np.concatenate([[0], np.cumsum(flags)])
    kept = (np.ones(before[-1]), table.indices[flags], before[table.indptr])
    layout = sparse.csr_array if table.by_row else sparse.csc_array
    return layout(kept, shape=(table.n_rows, table.n_features)).tocsr()


def refuse_other_than_binary(table: Table) -> None:
    """Refuse values that are neither 0, 1 nor missing, with column, rows and count."""
    if table.sparse:
        at = np.flatnonzero(_other(table.values))
        rows, columns = (place[at] for place in places(table))
        values = table.values[at]
    else:
        cells = [np.add(np.argwhere(_other(b)), (i, 0)) for i, b in row_blocks(table.values)]
        rows, columns = np.concatenate([*cells, np.empty((0, 2), dtype=np.intp)]).T
        values = table.values[rows, columns]
    if len(rows) == 0:
        return
    column = int(columns.min())
    own = np.flatnonzero(columns == column)
    own = own[np.argsort(rows[own], kind="stable")]
    found = (
        f"{column_text(table.feature_names, column)} holds {values[own[0]]} in "
        f"{rows_text(rows[own], len(own))}, and binarize=None leaves values as they are"
    )
    fix = "binarize=0.0 takes what is above 0 as on"
    allowed = "0, 1 and missing values"
    raise InputError(describe("X-BINARY", "X", found, allowed=allowed, fix=fix))


def _other(values: npt.NDArray[Any]) -> Flags:
    known = ~np.isnan(values) if values.dtype.kind == "f" else True
    return np.asarray((values != 0) & (values != 1) & known)
