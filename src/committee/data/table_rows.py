"""Rows of a table: some of them, other ones, or more below them, dense or compressed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from committee.data.table import Table


def matrix_of(table: Table) -> Any:
    """See a compressed table as SciPy's matrix."""
    kind = sparse.csr_matrix if table.by_row else sparse.csc_matrix
    shape = (table.n_rows, table.n_features)
    return kind((table.values, table.indices, table.indptr), shape=shape)


def table_like(table: Table, rows: Any) -> Table:
    """Make a table of other rows: an array, or where the table is compressed a csr matrix."""
    if not table.sparse:
        return replace(table, values=rows, n_rows=len(rows))
    rows.sort_indices()
    return replace(
        table,
        values=rows.data,
        n_rows=rows.shape[0],
        indices=rows.indices.astype(np.int32),
        indptr=rows.indptr.astype(np.int64),
        by_row=True,
    )


def taken(table: Table, rows: npt.NDArray[np.intp]) -> Table:
    """Keep some rows of a table."""
    return table_like(table, (matrix_of(table).tocsr() if table.sparse else table.values)[rows])


def stacked(table: Table, more: Table) -> Table:
    """Put more rows below those of a table."""
    if not table.sparse:
        return table_like(table, np.concatenate([table.values, more.values]))
    return table_like(table, sparse.vstack([matrix_of(table), matrix_of(more)], format="csr"))
