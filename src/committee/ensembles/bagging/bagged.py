"""Bagging without the question of classes or numbers: read, plan the bags, make members, keep.

Members come from one of two crews: trees of this library from the engine, everything else from
scikit-learn's conventions. All that follows, warm starts, left-out rows and their verification,
sees a committee and does not know which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.core.bags import BagPlan, LeftOut, read_groups
from committee.core.committee import Committee
from committee.core.fitted import replace_fitted, schema_attributes
from committee.core.members import Floats
from committee.core.outofbag import compare_plans
from committee.core.params import (
    BAG_CONSTRAINTS,
    SEED_CONSTRAINTS,
    THREAD_CONSTRAINTS,
    NamedParameters,
    check_params,
    integer,
    resolve_seed,
)
from committee.core.rounds import assemble
from committee.core.watching import CallbackSupport, Watch
from committee.data import (
    InputError,
    Schema,
    forget_unweighted,
    read_fit,
    read_predict,
    read_weights,
)
from committee.data.errors import describe
from committee.data.rows import Rows, engine_table
from committee.ensembles.any_rows import AnyRows, container_to_ask
from committee.ensembles.bagging.any_crew import AnyCrew, estimator_of, map_of
from committee.ensembles.bagging.map_draws import PROJECTIONS, draw_of
from committee.ensembles.bagging.tree_crew import TreeCrew, TreeViews
from committee.ensembles.continuing import Addition, Origin, members_to_add
from committee.ensembles.member_fitting import check_instance, check_kind
from committee.ensembles.opinions import MeanOpinion
from committee.learners.forest_views import MemberSamples
from committee.learners.left_out_views import score_known, shaped
from committee.learners.targets import ClassTarget, Target
from committee.learners.tree import keeps_rows_whole

Crew = TreeCrew | AnyCrew


class Bagged(CallbackSupport, MeanOpinion, NamedParameters, BaseEstimator):
    """A committee of copies of one estimator, each fitted on its own bag."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BAG_CONSTRAINTS,
        "estimator": "no_validation",  # check_instance says more
        "n_estimators": [integer(1)],
        "max_features": "no_validation",  # resolve_max_features knows the number of features
        "bootstrap_features": ["boolean"],
        "feature_map": "no_validation",  # draw_of says more
        "n_components": [integer(1), None],
        "warm_start": ["boolean"],
        "n_jobs": THREAD_CONSTRAINTS,
        "random_state": SEED_CONSTRAINTS,
        "verbose": ["verbose"],
    }

    estimator: Any
    n_estimators: int
    n_jobs: int | None
    committee_: Committee
    bag_plan_: BagPlan
    left_out_: LeftOut
    schema_: Schema

    def _base(self) -> Any:
        """Return the estimator to copy."""
        raise NotImplementedError

    def _read_target(self, y: Any, n_rows: int, base: Any) -> Target:
        raise NotImplementedError

    def _target_attributes(self, target: Target) -> dict[str, Any]:
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "committee_")

    def _crew(self, X: Any, y: Any, sample_weight: Any, params: Mapping[str, Any]) -> Crew:
        """Read the training rows for those who will make the members."""
        base, n_threads = self._base(), self._threads()
        check_instance(base, type(self).__name__)
        check_kind(base, self)
        as_it_is = self.feature_map is None or isinstance(self.feature_map, str)
        projected = as_it_is and self.feature_map in PROJECTIONS
        if keeps_rows_whole(base) and as_it_is and not projected and not params:
            check_params(base)
            return self._tree_crew(X, y, sample_weight, base, n_threads)
        rows = AnyRows.read(X)
        target = self._read_target(y, rows.n_rows, base)
        return AnyCrew(
            base=base,
            rows=rows,
            target=target,
            weight=read_weights(sample_weight, rows.n_rows),
            keys=rows.keys(target.content(), n_threads),
            draw_map=self._draw(rows.schema),
            params=params,
            hard=self._hard,
            n_threads=n_threads,
            verbose=self.verbose,
        )

    def _tree_crew(self, X: Any, y: Any, sample_weight: Any, base: Any, n_threads: int) -> TreeCrew:
        table, schema = read_fit(
            X,
            categorical_features=base.categorical_features,
            estimator_name=type(self).__name__,
        )
        target = self._read_target(y, table.n_rows, base)
        weight = read_weights(sample_weight, table.n_rows)
        table, schema = forget_unweighted(table, schema, weight)
        subspace = self._draw(schema)
        binned_by = weight if self.bootstrap else target.factor(weight, resampled=False)
        rows = Rows.of(table, binned_by, max_bins=base.max_bins, n_threads=n_threads)
        return TreeCrew(
            base=base,
            table=engine_table(table),
            schema=schema,
            rows=rows,
            target=target,
            weight=weight,
            keys=_engine.row_keys(rows.matrix, target.content(), n_threads),
            subspace=subspace,
            hard=self._hard,
            n_threads=n_threads,
            verbose=self.verbose,
            watched=bool(getattr(self, "_skl_callbacks", ())),
        )

    @property
    def _hard(self) -> bool:
        return getattr(self, "voting", "soft") == "hard"

    def _draw(self, schema: Schema) -> Any:
        return draw_of(
            self.feature_map,
            n_features=schema.n_features,
            max_features=self.max_features,
            replace=self.bootstrap_features,
            n_components=self.n_components,
            owner=type(self).__name__,
        )

    def _plan(self, crew: Crew, groups: Any, seed: int) -> BagPlan:
        """Plan the bags; ``bootstrap=False`` with a size is a draw without replacement."""
        target = crew.target
        stratify = getattr(self, "stratify", False)
        size = self.max_samples
        everything = size is None or (isinstance(size, float) and size == 1.0)
        pasting = not self.bootstrap and not everything
        return BagPlan.of(
            crew.keys,
            seed=seed,
            bootstrap=self.bootstrap or pasting,
            resampling="subset" if pasting else self.resampling,
            max_samples=size if self.bootstrap or pasting else None,
            weight=crew.weight,
            strata=target.strata() if stratify and isinstance(target, ClassTarget) else None,
            groups=read_groups(groups, len(crew.keys)),
            cuts=cuts_of(crew),
        )

    def _check_left_out(self, plan: BagPlan) -> None:
        """Refuse to be asked about left-out rows where there are none."""
        for name in ("oob_score", "intervals"):
            asked = getattr(self, name, None)
            if asked and not plan.leaves_out:
                how = "bootstrap=False" if plan.draw == "all" else f"resampling={plan.draw!r}"
                found = (
                    f"{name}={asked!r} while {how}: no row is left out. Out of bag estimation only "
                    "available if bootstrap=True"
                )
                fix = f"drop {name}, or bootstrap=True with another resampling"
                raise InputError(describe("P-BAG", name, found, fix=fix))

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, params: Mapping[str, Any]
    ) -> Self:
        check_params(self)
        crew = self._crew(X, y, sample_weight, params)
        add = self._addition(crew)
        plan = self._plan(crew, groups, add.seed)
        self._check_left_out(plan)
        before = None if add.committee is None else self
        if before is not None:
            compare_plans(self.bag_plan_, plan)

        def attributes(committee: Committee) -> dict[str, Any]:
            return self._attributes(crew, plan, committee, before)

        metadata = {"sample_weight": sample_weight}
        with Watch(
            self, len(add.members), X=X, y=y, metadata=metadata, attributes=attributes
        ) as watch:
            committee = assemble(
                crew.rounds(plan, add.members),
                limit=self.n_estimators,
                watch=watch,
                begin=add.committee,
            )
            fitted = attributes(committee) | self._left_out_facts(crew, plan, committee, before)
            replace_fitted(self, fitted)
        return self

    def _addition(self, crew: Crew) -> Addition:
        """Tell which members to make; trees that there are read rows by the schema of this fit."""
        here = Origin(crew.keys, resolve_seed(self.random_state, type(self).__name__))
        known = getattr(self, "bag_plan_", None)
        add = members_to_add(self, here, None if known is None else Origin(known.keys, known.seed))
        if add.committee is None:
            return add
        if hasattr(self, "forest_") != isinstance(crew, TreeCrew):
            found = f"the members there are were made from {type(self.estimator_).__name__}"
            fix = "set warm_start=False to begin anew"
            raise InputError(describe("P-WARM", "estimator", found, fix=fix))
        if isinstance(crew, TreeCrew):
            committee = Committee(crew.seats(self.forest_), add.committee.weights)
            add = replace(add, committee=committee)
        return add

    def _attributes(
        self, crew: Crew, plan: BagPlan, committee: Committee, before: Any
    ) -> dict[str, Any]:
        return {
            "committee_": committee,
            "bag_plan_": plan,
            "estimator_": clone(crew.base),
            **schema_attributes(crew.schema),
            **self._target_attributes(crew.target),
            **crew.attributes(committee, before),
        }

    def _left_out_facts(
        self, crew: Crew, plan: BagPlan, committee: Committee, before: Any
    ) -> dict[str, Any]:
        """Keep what each member left out, and what it says about that where it is asked for."""
        if not plan.leaves_out:
            return {}
        known = 0 if before is None else len(before.left_out_)
        left_out = LeftOut.of(plan.native(), known, len(committee), crew.n_threads)
        if before is not None:
            left_out = before.left_out_ + left_out
        facts: dict[str, Any] = {"left_out_": left_out}
        if self.oob_score:
            found = crew.out_of_bag(committee, left_out)
            found.warn_unknown(plan.drawable)
            classes = isinstance(crew.target, ClassTarget)
            name = "oob_decision_function_" if classes else "oob_prediction_"
            facts[name] = shaped(crew.target, found.means)
            facts["oob_score_"] = score_known(crew.target, found, plan, self.oob_score)
        return facts | self._keep_for_intervals(crew, plan, committee, left_out)

    def _keep_for_intervals(
        self, crew: Crew, plan: BagPlan, committee: Committee, left_out: LeftOut
    ) -> dict[str, Any]:
        """Keep nothing more; regressors may."""
        return {}

    def _rows(self, X: Any) -> Any:
        if hasattr(self, "forest_"):
            if self.forest_.n_features != self.schema_.n_features:
                found = f"{self.forest_.n_features} features, schema_ {self.schema_.n_features}"
                raise InputError(describe("M-TREE", "forest_", found, fix="fit the model again"))
            name = type(self).__name__
            return engine_table(read_predict(X, self.schema_, estimator_name=name))
        return container_to_ask(self, X)

    @property
    def estimators_(self) -> Any:
        """The members, unwrapped: to be asked about the columns of ``estimators_features_``."""
        check_is_fitted(self)
        if hasattr(self, "forest_"):
            return TreeViews(self)
        return [estimator_of(member) for member in self.committee_.members]

    @property
    def feature_maps_(self) -> list[Any]:
        """The map through which each member sees rows, None where it sees them as they are."""
        check_is_fitted(self)
        if not hasattr(self, "forest_"):
            return [map_of(member) for member in self.committee_.members]
        return list(self.subspaces_)

    @property
    def estimators_features_(self) -> list[npt.NDArray[np.int64]]:
        """The features that each member sees."""
        every = np.arange(self.n_features_in_)
        return [getattr(seen, "features", every) for seen in self.feature_maps_]

    @property
    def estimators_samples_(self) -> MemberSamples:
        """The rows in the bag of each member, as often as they were drawn."""
        check_is_fitted(self)
        return MemberSamples(self.bag_plan_, len(self.committee_))

    @property
    def feature_importances_(self) -> Floats:
        """Mean share of impurity decrease by feature, where the members are trees of the engine."""
        check_is_fitted(self)
        if not hasattr(self, "forest_"):
            name = type(self.estimator_).__name__
            raise AttributeError(f"a committee of {name} has no feature_importances_")
        sums = self.importances_.sum(axis=0)
        total = sums.sum()
        return np.asarray(sums / total if total > 0 else sums)

    def __len__(self) -> int:
        check_is_fitted(self)
        return len(self.committee_)

    def __getitem__(self, member: Any) -> Any:
        return self.estimators_[member]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)


def cuts_of(crew: Crew) -> str:
    """Hash what the bins are, where keys are made of bins."""
    return crew.rows.fingerprint() if isinstance(crew.rows, Rows) else ""
