"""Rows: the training data as the engine wants them, binned once.

The cuts are a function of the rows alone, so every model that shares the rows shares the bins.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from committee import _engine
from committee.data.table import Table

CUT_SEED = 0  # which rows are sampled for cuts never depends on the model's own seed
FEW_CELLS = 2**14  # that one thread bins sooner than it wakes another


def engine_table(table: Table) -> _engine.Table:
    """Hand a table to the engine, without a copy."""
    if table.sparse:
        return _engine.Table(
            table.values, table.n_rows, table.n_features, table.indices, table.indptr, table.by_row
        )
    return _engine.Table(table.values, table.n_rows, table.n_features)


@dataclass(frozen=True, eq=False)
class Rows:
    """Binned rows and the cuts they were binned by.

    Attributes
    ----------
    mapper : BinMapper
        Cuts of every feature.
    matrix : BinnedMatrix
        The bins.
    """

    mapper: _engine.BinMapper
    matrix: _engine.BinnedMatrix

    @classmethod
    def of(
        cls,
        table: Table,
        weight: npt.NDArray[np.float64] | None,
        *,
        max_bins: int,
        n_threads: int,
    ) -> Rows:
        """Choose cuts and bin the table."""
        native = engine_table(table)
        levels = table.n_levels().tolist()
        if table.n_rows * table.n_features < FEW_CELLS:
            n_threads = 1
        mapper = _engine.BinMapper.fit(native, weight, max_bins, levels, CUT_SEED, n_threads)
        return cls(mapper, mapper.transform(native, n_threads))

    def fingerprint(self) -> str:
        """Hash the cuts, in which rows of the same bins may still differ."""
        digest = hashlib.blake2b(digest_size=16)
        for feature in range(self.mapper.n_features):
            digest.update(np.ascontiguousarray(self.mapper.cuts(feature)).tobytes())
            digest.update(b"|")
        return digest.hexdigest()
