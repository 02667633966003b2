"""The member that says the same of every row: what is left where no hypothesis beats chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from committee import _engine
from committee.core.members import Floats, Member, Trees
from committee.ensembles.boosting.rows import BoostingRows, TreeRows


@dataclass(frozen=True, eq=False)
class ConstantMember:
    """Says ``values`` of every row."""

    values: Floats

    def outputs(self, X: Any) -> Floats:
        """Repeat the values for each row."""
        return np.tile(self.values, (_num_samples(X), 1))


def constant_member(rows: BoostingRows, values: Floats) -> Member | Trees:
    """Make a member for these rows: a tree of one leaf where the engine asks."""
    if not isinstance(rows, TreeRows):
        return ConstantMember(values)
    none = np.zeros(1)
    leaf = _engine.Forest.from_arrays(
        rows.schema.n_features,
        len(values),
        tree_begin=np.array([0, 1], dtype=np.uint64),
        threshold=np.array([np.inf]),
        feature=np.zeros(1, dtype=np.uint32),
        left=np.zeros(1, dtype=np.uint32),
        values=np.ascontiguousarray(values, dtype=np.float64),
        set_begin=np.zeros(1, dtype=np.uint64),
        set_words=np.empty(0, dtype=np.uint64),
        gain=none,
        impurity=none,
        weight=np.ones(1),
        count=np.full(1, rows.n_rows, dtype=np.uint64),
    )
    return Trees(leaf, rows.schema)
