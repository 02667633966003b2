"""Training rows as weak learners want them: binned once for trees, or in the user's container.

A booster asks for a new hypothesis every round on the same rows with new weights, so all that
does not depend on the weights is done here, once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing

from committee import _engine
from committee.core.members import Floats
from committee.data import Schema, Table, forget_unweighted, read_fit
from committee.data.rows import Rows, engine_table
from committee.data.table_rows import taken
from committee.ensembles.any_rows import AnyRows

Keys: TypeAlias = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class TreeRows:
    """Rows that the engine reads.

    Attributes
    ----------
    table, schema : Table, Schema
        As they were read.
    binned : Rows
        Their bins.
    n_threads : int
        Threads to grow and ask trees with.
    """

    table: Table
    schema: Schema
    binned: Rows
    n_threads: int

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return self.table.n_rows

    @property
    def asked(self) -> _engine.Table:
        """The rows in the form in which members are asked about them."""
        return engine_table(self.table)

    def keys(self, target: Floats, n_threads: int) -> Keys:
        """Hash each row with its target."""
        return _engine.table_keys(engine_table(self.table), target, n_threads)


@dataclass(frozen=True, eq=False)
class PlainRows(AnyRows):
    """Rows for estimators of any kind."""

    @property
    def asked(self) -> Any:
        """The rows in the form in which members are asked about them."""
        return self.X


BoostingRows: TypeAlias = TreeRows | PlainRows


def tree_rows(
    X: Any, weight: Floats | None, *, base: Any, n_threads: int, estimator_name: str
) -> TreeRows:
    """Read and bin rows for a tree of this library; rows of weight 0 are left out."""
    table, schema = read_fit(
        X, categorical_features=base.categorical_features, estimator_name=estimator_name
    )
    if weight is not None and not weight.all():
        table, schema = forget_unweighted(table, schema, weight)
        table, weight = taken(table, np.flatnonzero(weight)), weight[weight > 0]
    binned = Rows.of(table, weight, max_bins=base.max_bins, n_threads=n_threads)
    return TreeRows(table, schema, binned, n_threads)


def plain_rows(X: Any, weight: Floats | None) -> PlainRows:
    """Read rows for estimators of any kind; rows of weight 0 are left out."""
    read = AnyRows.read(X)
    if weight is None or weight.all():
        return PlainRows(read.X, read.table, read.schema)
    kept = np.flatnonzero(weight)
    return PlainRows(_safe_indexing(read.X, kept), taken(read.table, kept), read.schema)
