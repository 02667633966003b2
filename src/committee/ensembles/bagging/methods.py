"""Importances and intervals of bagged committees: how members of any kind are asked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from committee import _engine
from committee.core.bags import BagPlan, LeftOut
from committee.core.committee import Committee
from committee.core.importance_methods import OutOfBagMethods, Training
from committee.core.interval_methods import IntervalMethods, keep_jackknife, keep_quantiles
from committee.core.intervals import Floats, Ints
from committee.core.outofbag import compare_plans
from committee.data import InputError, Schema
from committee.data.errors import describe
from committee.ensembles.bagging.any_crew import AnyCrew
from committee.ensembles.bagging.bagged import cuts_of
from committee.ensembles.bagging.tree_crew import TreeCrew, asked_forest
from committee.learners.left_out_methods import (
    check_left_out,
    coded,
    cut_rows,
    native_rows,
    tree_training,
)
from committee.learners.targets import ClassTarget


class BaggingImportances(OutOfBagMethods):
    """Mixin of bagging: ``permutation_importance``, and ``debiased_importance`` of engine trees."""

    committee_: Committee
    bag_plan_: BagPlan
    left_out_: LeftOut
    schema_: Schema

    if TYPE_CHECKING:

        def _crew(self, X: Any, y: Any, sample_weight: Any, params: Any) -> TreeCrew | AnyCrew: ...

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        check_left_out(self)
        crew = self._crew(X, y, sample_weight, {})
        compare_plans(self.bag_plan_, replace(self.bag_plan_, keys=crew.keys, cuts=cuts_of(crew)))
        target, members = crew.target, self.committee_.members
        if isinstance(crew, TreeCrew):
            forest: _engine.Forest = self.forest_  # type: ignore[attr-defined]
            rows = cut_rows(X, self.schema_)
            return tree_training(forest, self.left_out_, rows, target, crew.weight, crew)
        return Training(
            rows=crew.rows.X,
            target=coded(target),
            classes=target.labels.classes if isinstance(target, ClassTarget) else None,
            weight=crew.weight,
            left_out=self.left_out_,
            outputs=lambda member, rows: members[member].outputs(rows),
            n_features=crew.schema.n_features,
            feature_names=crew.schema.feature_names,
        )


class BaggingIntervals(IntervalMethods):
    """Mixin of bagging of numbers: ``predict_interval``; quantiles need engine trees."""

    committee_: Committee
    schema_: Schema

    if TYPE_CHECKING:

        def _rows(self, X: Any) -> Any: ...
        def _threads(self) -> int: ...

    def _interval_rows(self, X: Any) -> Any:
        return cut_rows(X, self.schema_) if hasattr(self, "forest_") else self._rows(X)

    def _interval_outputs(self, rows: Any) -> Floats:
        asked = native_rows(rows) if hasattr(self, "forest_") else rows
        return self.committee_.outputs(asked, n_threads=self._threads())

    def _interval_leaves(self, rows: Any) -> Ints:
        forest = asked_forest(self.committee_)
        return forest.apply(native_rows(rows), self._threads()).astype(np.int64)

    def _keep_for_intervals(
        self, crew: TreeCrew | AnyCrew, plan: BagPlan, committee: Committee, left_out: LeftOut
    ) -> dict[str, Any]:
        """Give the fitted attribute that ``predict_interval`` reads, where it is asked for."""
        if self.intervals is None:
            return {}
        y = crew.target.content()
        if self.intervals == "jackknife":
            found = crew.out_of_bag(committee, left_out)
            exact = isinstance(crew, TreeCrew)
            return {"intervals_": keep_jackknife(y, found, left_out, plan.keys, exact)}
        if isinstance(crew, AnyCrew):
            found_text = f"intervals='quantile' with members of {type(crew.base).__name__}"
            allowed = "DecisionTreeRegressor of this library, whose leaves are known"
            text = describe(
                "P-INTERVALS", "intervals", found_text, allowed=allowed, fix="'jackknife'"
            )
            raise InputError(text)
        forest, table = asked_forest(committee), crew.table
        kept = keep_quantiles(y, forest, table, plan.native(), left_out, plan.keys, crew.n_threads)
        return {"intervals_": kept}
