"""Forests: trees grown independently, each on its own bag, and averaged (Breiman 2001).

What random forests and extra trees share. They differ in how a node is split and in whether rows
are resampled; the rest is here: fitting, warm starts, sizing and averaging.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from numbers import Integral
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.core.bags import BagPlan, LeftOut, read_groups
from committee.core.committee import Committee
from committee.core.fitted import replace_fitted
from committee.core.members import Trees
from committee.core.outofbag import compare_plans
from committee.core.params import (
    BAG_CONSTRAINTS,
    check_params,
    choice,
    integer,
    resolve_max_features,
    resolve_seed,
)
from committee.core.rounds import Round, assemble
from committee.core.sizing import AutoSize, ClassJury, NumberJury, Sizer, next_size
from committee.core.watching import CallbackSupport, Watch
from committee.data import (
    InputError,
    forget_unweighted,
    read_fit,
    read_weights,
)
from committee.data.errors import describe, warn
from committee.data.rows import Rows, engine_table
from committee.learners.estimators import EngineEstimator
from committee.learners.forest_growing import ForestGrower
from committee.learners.forest_views import MemberSamples, MemberTrees, forest_paths
from committee.learners.growing import GROWING_CONSTRAINTS, count_rows, tree_params
from committee.learners.left_out_methods import ForestImportances
from committee.learners.left_out_views import LeftOutViews
from committee.learners.targets import ClassTarget, Target

Floats: TypeAlias = npt.NDArray[np.float64]


class ForestEstimator(CallbackSupport, LeftOutViews, ForestImportances, EngineEstimator):
    """A committee of engine trees, averaged."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **EngineEstimator._parameter_constraints,
        **GROWING_CONSTRAINTS,
        **BAG_CONSTRAINTS,
        "n_estimators": [integer(1), choice("auto"), AutoSize],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
    }
    _holder = "forest_"
    _tree: ClassVar[type[Any]]
    splitter: ClassVar[str] = "best"
    stratify: bool = False
    intervals: str | None = None

    n_estimators: Any
    importances_: Floats

    def _keep(self, given: Mapping[str, Any]) -> None:
        """Keep the arguments of the constructor under their names."""
        for name, value in given.items():
            if name != "self":
                setattr(self, name, value)

    def _native(self) -> _engine.Forest:
        return self.forest_

    def _outputs(self, X: Any) -> Floats:
        return self._sums(X) / self.forest_.n_trees

    def _read_target(self, y: Any, n_rows: int) -> Target:
        raise NotImplementedError

    def _set_target(self, target: Target) -> None:
        raise NotImplementedError

    def _knows(self, target: Target) -> bool:
        """Tell whether a target has the classes of the fit before."""
        return True

    def _check_together(self) -> None:
        """Refuse parameters that need left-out rows where there are none."""
        sized = not isinstance(self.n_estimators, Integral)
        asking = {
            "oob_score": bool(self.oob_score),
            "n_estimators": sized,
            "intervals": self.intervals is not None,
        }
        for argument in [name for name, wanted in asking.items() if wanted]:
            if self.bootstrap and self.resampling != "exponential":
                continue
            if not self.bootstrap:
                why = "bootstrap=False; Out of bag estimation only available if bootstrap=True"
            else:
                why = "resampling='exponential', which leaves no row out"
            found = f"{argument}={getattr(self, argument)!r} asks rows that members left out, but "
            fix = f"set bootstrap=True and resampling='replace', or change {argument}"
            raise InputError(describe("P-BAG", argument, found + why, fix=fix))

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, seed: int | None
    ) -> ForestGrower:
        """Read the training rows and plan their bags."""
        name, n_threads = type(self).__name__, self._threads()
        table, schema = read_fit(
            X, categorical_features=self.categorical_features, estimator_name=name
        )
        target = self._read_target(y, table.n_rows)
        weight = read_weights(sample_weight, table.n_rows)
        table, schema = forget_unweighted(table, schema, weight)
        codes = read_groups(groups, table.n_rows)
        factor = target.factor(weight, resampled=self.bootstrap)
        params = tree_params(
            self,
            schema,
            n_rows=count_rows(weight, table.n_rows),
            total_weight=1.0,
            n_classes=target.n_classes,
            n_node_features=resolve_max_features(self.max_features, schema.n_features, name),
            seed=resolve_seed(self.random_state, name) if seed is None else seed,
        )
        rows = Rows.of(
            table, weight if self.bootstrap else factor, max_bins=self.max_bins, n_threads=n_threads
        )
        plan = BagPlan.of(
            _engine.row_keys(rows.matrix, target.content(), n_threads),
            seed=params.seed,
            bootstrap=self.bootstrap,
            resampling=self.resampling,
            max_samples=self.max_samples,
            weight=weight,
            strata=target.strata() if self.stratify else None,
            groups=codes,
            cuts=rows.fingerprint(),
        )
        return ForestGrower(
            engine_table(table),
            schema,
            rows,
            target,
            plan,
            plan.native(),
            factor,
            params,
            self.ccp_alpha,
            n_threads,
        )

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Self:
        check_params(self)
        self._check_together()
        warm = self.warm_start and hasattr(self, "forest_")
        grower = self._prepare(X, y, sample_weight, groups, self.bag_plan_.seed if warm else None)
        sizer = self._sizer(grower)
        limit = sizer.size.limit if sizer is not None else int(self.n_estimators)
        begin = self._begin(grower, limit) if warm else None
        first = 0 if begin is None else len(begin)
        importances = [self.importances_] if warm else []

        def attributes(committee: Committee) -> dict[str, Any]:
            return self._attributes(grower, committee, np.concatenate(importances))

        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        with Watch(
            self, limit - first, X=X, y=y, metadata=metadata, attributes=attributes
        ) as watch:
            grown = assemble(
                self._rounds(grower, first, limit, sizer, importances),
                limit=limit,
                stop=None if sizer is None else sizer.enough,
                watch=watch,
                begin=begin,
            )
            fitted = attributes(grown)
            if grower.plan.leaves_out:
                fitted |= self._left_out_attributes(grower, fitted["forest_"], first)
            if sizer is not None:
                fitted["sizing_"] = sizer.report(len(grown))
            replace_fitted(self, fitted)
        return self

    def _begin(self, grower: ForestGrower, limit: int) -> Committee:
        """Hold a warm start against the members there are."""
        compare_plans(self.bag_plan_, grower.plan, "P-WARM")
        if not self._knows(grower.target):
            found, fix = "other classes than in the fit before", "warm_start=False"
            raise InputError(describe("P-WARM", "y", found, fix=fix))
        n = self.forest_.n_trees
        if n > limit:
            found = (
                f"n_estimators={limit} must be larger or equal to len(estimators_)={n} when "
                "warm_start==True"
            )
            raise InputError(describe("P-WARM", "n_estimators", found, fix="warm_start=False"))
        if n == limit:
            found = "Warm-start fitting without increasing n_estimators does not fit new trees"
            warn(describe("P-WARM", "n_estimators", found))
        return Committee(Trees(self.forest_, grower.schema), np.ones(n))

    def _sizer(self, grower: ForestGrower) -> Sizer | None:
        """Set up what decides on the number of members, where that is left open."""
        if isinstance(self.n_estimators, Integral):
            return None
        size = self.n_estimators if isinstance(self.n_estimators, AutoSize) else AutoSize()
        target, n_threads, drawable = grower.target, grower.n_threads, grower.plan.drawable
        jury: ClassJury | NumberJury
        if isinstance(target, ClassTarget):
            jury = ClassJury(grower.table, target.n_classes, n_threads)
        else:
            jury = NumberJury(grower.table, target.y, drawable, size.precision, n_threads)
        return Sizer(size, jury, drawable)

    def _rounds(
        self,
        grower: ForestGrower,
        begin: int,
        limit: int,
        sizer: Sizer | None,
        importances: list[Floats],
    ) -> Iterator[Round]:
        """Grow members in one call, or batch by batch where somebody looks at them meanwhile."""
        if sizer is not None and begin:
            sizer.hear(self.forest_, self.left_out_)
        watched = bool(getattr(self, "_skl_callbacks", ())) or self.verbose > 0
        while begin < limit:
            end = limit
            if sizer is not None:
                end = next_size(begin, limit)
            elif watched:
                end = min(begin + grower.n_threads, limit)
            forest, gains = grower.grow(begin, end)
            importances.append(gains)
            if sizer is not None:
                sizer.hear(forest, LeftOut.of(grower.bags, begin, end, grower.n_threads))
            if self.verbose > 0:
                print(f"[{type(self).__name__}] {end} of {limit} members")
            yield Round(Trees(forest, grower.schema), np.ones(end))
            begin = end

    def _left_out_attributes(
        self, grower: ForestGrower, forest: _engine.Forest, begin: int
    ) -> dict[str, Any]:
        """Mark what all members left out (of an earlier fit that is known), and what it tells."""
        left_out = LeftOut.of(grower.bags, begin, forest.n_trees, grower.n_threads)
        if begin:
            left_out = self.left_out_ + left_out
        told: dict[str, Any] = {"left_out_": left_out}
        if self.oob_score:
            told |= self._oob_attributes(grower, forest, left_out)
        if self.intervals is not None:
            told |= self._keep_for_intervals(grower, forest, left_out)
        return told

    def _keep_for_intervals(
        self, grower: ForestGrower, forest: _engine.Forest, left_out: LeftOut | None
    ) -> dict[str, Any]:
        """Classes have no intervals."""
        return {}

    def _attributes(
        self, grower: ForestGrower, committee: Committee, importances: Floats
    ) -> dict[str, Any]:
        """Collect what a forest of these members remembers."""
        blank = object.__new__(type(self))
        blank._set_schema(grower.schema)
        blank._set_target(grower.target)
        members = committee.members
        assert isinstance(members, Trees)
        tried = resolve_max_features(self.max_features, grower.schema.n_features)
        return vars(blank) | {
            "forest_": members.forest,
            "importances_": importances[: len(committee)],
            "bag_plan_": grower.plan,
            "max_features_": tried,
        }

    @property
    def estimator_(self) -> Any:
        """An unfitted tree with the parameters of the members."""
        apart = {"random_state", "class_weight", "n_jobs"}  # the forest's own affair
        names = [n for n in self._tree().get_params() if n not in apart and hasattr(self, n)]
        return self._tree(**{name: getattr(self, name) for name in names})

    @property
    def estimators_(self) -> MemberTrees:
        """The members as decision trees, made when they are asked for."""
        check_is_fitted(self)
        return MemberTrees(self)

    @property
    def estimators_samples_(self) -> MemberSamples:
        """The rows in the bag of each member, as often as they were drawn."""
        check_is_fitted(self)
        return MemberSamples(self.bag_plan_, self.forest_.n_trees)

    @property
    def feature_importances_(self) -> Floats:
        """Mean share of the impurity decrease that each feature's splits brought; sums to one."""
        check_is_fitted(self)
        sums = self.importances_.sum(axis=0)
        total = sums.sum()
        return np.asarray(sums / total if total > 0 else sums)

    def __len__(self) -> int:
        check_is_fitted(self)
        return self.forest_.n_trees

    def __getitem__(self, member: Any) -> Any:
        return self.estimators_[member]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Find the leaf of each row in each tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_estimators)
            Indices of nodes inside their trees.
        """
        native = self._read(X)
        return self.forest_.apply(native, self._threads()).astype(np.int64)

    def decision_path(self, X: Any) -> tuple[sparse.csr_matrix, npt.NDArray[np.int64]]:
        """Mark the nodes that each row passes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        csr_matrix of shape (n_samples, n_nodes), ndarray of shape (n_estimators + 1,)
            1 where a row passes a node, and where the nodes of each tree begin.
        """
        native = self._read(X)
        return forest_paths(self.forest_, native, self._threads())

    def _staged(self, X: Any) -> Iterator[Floats]:
        """Average the first 1, 2, .. members."""
        native = self._read(X)
        committee = Committee(Trees(self.forest_, self.schema_), np.ones(self.forest_.n_trees))
        for k, total in enumerate(committee.staged(native, n_threads=self._threads()), start=1):
            yield total / k
