"""Importances and intervals of forests: how engine trees are asked about left-out rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.core.bags import BagPlan, LeftOut
from committee.core.importance_methods import OutOfBagMethods, Training, TreeArrays
from committee.core.interval_methods import (
    TREES_AT_ONCE,
    IntervalMethods,
    keep_jackknife,
    keep_quantiles,
)
from committee.core.outofbag import compare_plans, predict_left_out
from committee.data import InputError, Schema, Table, read_predict, read_weights
from committee.data.errors import describe
from committee.data.rows import engine_table
from committee.learners.forest_growing import ForestGrower
from committee.learners.targets import ClassTarget, Target

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]


class ForestImportances(OutOfBagMethods):
    """Mixin of forests: ``permutation_importance`` and ``debiased_importance``."""

    forest_: _engine.Forest
    schema_: Schema
    bag_plan_: BagPlan
    left_out_: LeftOut

    if TYPE_CHECKING:

        def _prepare(
            self, X: Any, y: Any, sample_weight: Any, groups: Any, seed: int | None
        ) -> ForestGrower: ...

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        check_left_out(self)
        grower = self._prepare(X, y, sample_weight, None, self.bag_plan_.seed)
        found = replace(self.bag_plan_, keys=grower.plan.keys, cuts=grower.plan.cuts)
        compare_plans(self.bag_plan_, found)
        weight = read_weights(sample_weight, self.left_out_.n_rows)
        return tree_training(
            self.forest_, self.left_out_, cut_rows(X, self.schema_), grower.target, weight, grower
        )


class ForestIntervals(IntervalMethods):
    """Mixin of forests of numbers: ``predict_interval``."""

    forest_: _engine.Forest
    schema_: Schema

    if TYPE_CHECKING:

        def _threads(self) -> int: ...

    def _interval_rows(self, X: Any) -> Any:
        return cut_rows(X, self.schema_)

    def _interval_outputs(self, rows: Any) -> Floats:
        return self.forest_.predict_members(native_rows(rows), self._threads())

    def _interval_leaves(self, rows: Any) -> Ints:
        return self.forest_.apply(native_rows(rows), self._threads()).astype(np.int64)

    def _keep_for_intervals(
        self, grower: ForestGrower, forest: _engine.Forest, left_out: LeftOut | None
    ) -> dict[str, Any]:
        """Give the fitted attribute that ``predict_interval`` reads, where it is asked for."""
        if self.intervals is None:
            return {}
        assert left_out is not None  # parameters were refused before
        y, n_threads, keys = grower.target.content(), grower.n_threads, grower.plan.keys
        if self.intervals == "jackknife":
            found = predict_left_out(forest, grower.table, left_out, n_threads)
            return {"intervals_": keep_jackknife(y, found, left_out, keys)}
        kept = keep_quantiles(y, forest, grower.table, grower.bags, left_out, keys, n_threads)
        return {"intervals_": kept}


def check_left_out(model: Any) -> None:
    """Refuse a model that is not fitted, or whose bags hold every row."""
    check_is_fitted(model)
    if not model.bag_plan_.leaves_out:
        found = f"no member left a row out: bags are drawn by {model.bag_plan_.draw!r}"
        fix = "fit with bootstrap=True and resampling other than 'exponential'"
        raise InputError(describe("P-BAG", "bootstrap", found, fix=fix))


def tree_training(
    forest: _engine.Forest,
    left_out: LeftOut,
    rows: Any,
    target: Target,
    weight: Floats | None,
    read: Any,
) -> Training:
    """Describe the training rows of a committee of engine trees; ``read`` has table and schema."""

    def outputs(member: int, part: Any) -> Floats:
        return forest.slice(member, member + 1).predict(native_rows(part))

    classes = target.labels.classes if isinstance(target, ClassTarget) else None
    return Training(
        rows=rows,
        target=coded(target),
        classes=classes,
        weight=weight,
        left_out=left_out,
        outputs=outputs,
        n_features=forest.n_features,
        feature_names=read.schema.feature_names,
        trees=tree_arrays(forest, read.table, read.n_threads),
    )


def coded(target: Target) -> Floats:
    """Give the numbers, or the codes of classes, (n_rows, n_targets)."""
    if isinstance(target, ClassTarget):
        return target.labels.codes.astype(np.float64)
    return target.y


def tree_arrays(
    forest: _engine.Forest, table: _engine.Table, n_threads: int
) -> Callable[[int], TreeArrays]:
    """Spread out one tree after the other; leaves of all rows are found for several at once."""
    begins = forest.tree_begin.astype(np.int64)
    left, feature = forest.left.astype(np.int64), forest.feature & _engine.FEATURE_MASK
    values = forest.values
    leaves = np.empty((0, 0), dtype=np.uint32)

    def tree(member: int) -> TreeArrays:
        nonlocal leaves
        first = member - member % TREES_AT_ONCE
        if member == first:
            last = min(first + TREES_AT_ONCE, forest.n_trees)
            leaves = forest.slice(first, last).apply(table, n_threads)
        nodes = slice(begins[member], begins[member + 1])
        children = left[nodes]
        return TreeArrays(
            left=children,
            right=children + 1,
            feature=feature[nodes].astype(np.int64),
            values=values[nodes],
            leaf=leaves[:, member - first].astype(np.int64),
        )

    return tree


def cut_rows(X: Any, schema: Schema) -> Any:
    """Read rows by a schema as an array or a csr matrix, which can be cut by rows."""
    table = read_predict(X, schema)
    if table.indptr is None:
        return table.values
    form = sparse.csr_array if table.by_row else sparse.csc_array
    shape = (table.n_rows, table.n_features)
    return form((table.values, table.indices, table.indptr), shape=shape).tocsr()


def native_rows(rows: Any) -> _engine.Table:
    """Hand an array or a compressed matrix to the engine."""
    if not sparse.issparse(rows):
        return _engine.Table(rows, *rows.shape)
    n_rows, n_features = rows.shape
    indices, indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int64)
    by_row = rows.format == "csr"
    return engine_table(Table(rows.data, n_rows, n_features, indices, indptr, by_row))
