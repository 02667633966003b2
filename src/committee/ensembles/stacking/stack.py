"""A stack without the question of classes or numbers: read, divide, climb, fit the meta-model.

The members' answers are the features of a meta-model (Wolpert 1992). It learns from answers about
rows that a member has not seen, since what a member says of its own training rows tells how well
it remembers, not how well it predicts; for new rows it is given the members fitted on all rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled
from sklearn.utils.validation import _check_feature_names_in, _num_samples, check_is_fitted

from committee.core.members import Floats, Members
from committee.core.randomness import fill_seeds
from committee.core.watching import Watch, with_callbacks
from committee.data import InputError, InputTypeError
from committee.data.errors import describe
from committee.ensembles.joining import refuse_taken
from committee.ensembles.levels import Climbed, Parts, StackTask
from committee.ensembles.levels.climbing import level_names
from committee.ensembles.member_fitting import takes_weights
from committee.ensembles.panel import PanelTask, Progress, Seat, check_prefit
from committee.ensembles.panel.folds import ALLOWED, Folds, Mask, folds_of
from committee.ensembles.panel.remarks import fresh, heard, tell
from committee.ensembles.panel.routing import router_of
from committee.ensembles.panel.seats import given_members
from committee.ensembles.stacking.blueprint import Blueprint
from committee.ensembles.stacking.intake import StackIntake
from committee.ensembles.stacking.listing import Listed
from committee.ensembles.stacking.meta_models import BY_MEMBER, MeanClassifier, meta_model

Answer = TypeVar("Answer")


class Stack(TransformerMixin, Listed):
    """What the classifier and the regressor say alike."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Listed._parameter_constraints,
        "levels": "no_validation",  # Listed says more
        "final_estimator": "no_validation",  # meta_model says more
        "passthrough": ["boolean"],
    }
    _unrecorded = (
        "cv='prefit': what the members have seen is known to nobody here",
        "fit with another cv",
    )

    final_estimator: Any
    final_estimator_: Any
    passthrough: bool
    levels_: list[list[Any]]
    intake_: StackIntake
    columns_: list[Mask]
    drop: str | None = None

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **fit_params: Any
    ) -> Self:
        """Fit the members, out of fold and on all rows, and the meta-model on what they said.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows. With ``cv="prefit"`` they must be rows that the members have not
            seen: of its own training rows a member says too much.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            For all members and the meta-model. No model learns from rows of weight 0.
        groups : array-like of shape (n_samples,), optional
            For ``cv``; rows of one group are never on both sides of a split.
        **fit_params : dict
            For ``fit`` of the members, with scikit-learn's metadata routing enabled.

        Returns
        -------
        estimator
            The fitted model.
        """
        plan = self._plan(X, y, sample_weight, groups, fit_params)
        n_models = plan.n_models
        with Watch(self, n_models, X=X, y=y, metadata={"sample_weight": sample_weight}) as watch:
            climbed = plan.climb(Progress(n_models, watch))
            self._keep_stack(plan, climbed, plan.fit_meta(climbed))
        return self

    def _plan(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        fit_params: Mapping[str, Any],
        folds: Folds | None = None,
    ) -> Blueprint:
        """Check everything and divide the rows, unless folds are given."""
        prefit = isinstance(self.cv, str) and self.cv == "prefit"
        self._check_level_names()
        read: PanelTask = self._flat()._read(X, y, sample_weight, fit_params, prefit=prefit)
        task = StackTask.of(read, self._answers())
        levels = self._by_level(task.seats)
        intake = self._intake(task, levels)
        meta = self._meta(task, levels)
        params = self._meta_params(meta, task.weight, fit_params)
        every = self._by_member() or isinstance(meta, MeanClassifier)
        parts = None
        if prefit:
            if len(levels) > 1:
                found = "cv='prefit' with several levels, of which one at most was fitted before"
                raise InputError(describe("P-PANEL", "cv", found, fix="another cv"))
            if groups is not None:
                found = "groups given, but the members are fitted and all rows are held out"
                raise InputError(describe("M-PREFIT", "groups", found, fix="groups=None"))
            check_prefit(task.seats, task.schema.n_features, task.classes)
        else:
            if folds is None:
                folds = folds_of(self.cv, task, groups, allowed=f"{ALLOWED}, or 'prefit'")
            parts = Parts(folds, len(levels), task.usable)
        return Blueprint(task, levels, intake, folds, parts, meta, params, every)

    def _intake(self, task: StackTask, levels: Sequence[Sequence[Seat]]) -> StackIntake:
        name, classes = type(self).__name__, task.classes
        methods = tuple(task.asked(seats) for seats in levels)
        n_classes = None if classes is None else len(classes)
        names, drop = level_names(levels), self.drop is not None
        # Of one class the meta-model is a plain mean, which has no use for features.
        passthrough = bool(self.passthrough) and n_classes != 1
        if passthrough:
            members = "|".join(re.escape(member) for level in names for member in level)
            refuse_taken(task.schema.feature_names, rf"{name.lower()}_({members})\d*")
        return StackIntake(names, methods, n_classes, passthrough, drop, name.lower())

    def _by_member(self) -> bool:
        return isinstance(self.final_estimator, str) and self.final_estimator in BY_MEMBER

    def _meta(self, task: StackTask, levels: Sequence[Sequence[Seat]]) -> Any:
        """Make the meta-model, and refuse what it cannot be given."""
        n_members, owner = len(levels[-1]), type(self).__name__
        meta = meta_model(self.final_estimator, n_members, task.classes, owner)
        if self._by_member() and self.passthrough:
            found = f"passthrough=True, while {self.final_estimator!r} has no use for features"
            fix = "passthrough=False, or another final_estimator"
            raise InputError(describe("P-PANEL", "passthrough", found, fix=fix))
        if task.classes is not None and len(task.classes) == 1:
            meta = MeanClassifier(n_members, task.classes)  # there is nothing to tell apart
        if task.n_targets > 1 and not get_tags(meta).target_tags.multi_output:
            found = f"{task.n_targets} targets, while {type(meta).__name__} learns one"
            raise InputError(describe("Y-SHAPE", "y", found, fix="another final_estimator"))
        return fill_seeds(meta, task.seed, len(self._listed))

    def _meta_params(
        self, meta: Any, weight: Floats | None, fit_params: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Find what ``fit`` of the meta-model is given besides X and y."""
        ours = isinstance(self.final_estimator, str) or self.final_estimator is None
        if routing_enabled() and not ours:
            given = dict(fit_params) if weight is None else {**fit_params, "sample_weight": weight}
            return dict(process_routing(self, "fit", **given).final_estimator.fit) if given else {}
        if weight is None:
            return {}
        if not ours and not takes_weights(meta):
            found = f"the final_estimator {type(meta).__name__} takes no sample_weight"
            fix = "another final_estimator, or fit without sample_weight"
            raise InputTypeError(describe("W-FIT", "sample_weight", found, fix=fix))
        return {"sample_weight": weight}

    def _keep_stack(self, plan: Blueprint, climbed: Climbed, final: Any) -> None:
        """Replace what an earlier fit left."""
        intake, columns = plan.seen(climbed)
        attributes = {
            "final_estimator_": final,
            "levels_": climbed.fitted,
            "level_oof_": climbed.oof,
            "intake_": intake,
            "columns_": columns,
            "stack_method_": [method for level in intake.methods for method in level],
            "n_unanswered_": int((~plan.known()).sum()),
            "n_outputs_": plan.task.n_targets,
            **plan.recorded(),
        }
        flat = [estimator for level in climbed.fitted for estimator in level]
        self._keep(plan.task, flat, attributes)

    @property
    def oof_(self) -> Floats:
        """The honest answers that the meta-model learned from: NaN in rows without one.

        The columns are those of ``get_feature_names_out``, without appended features.
        """
        check_is_fitted(self)
        keep = self.columns_[-1]
        return self.level_oof_[-1] if keep.all() else self.level_oof_[-1][:, keep]

    def transform(self, X: Any) -> Any:
        """Give what the meta-model is given for rows: the answers of the members.

        For the training rows these are no honest answers; those are in ``oof_``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array, sparse matrix or frame of shape (n_samples, n_columns)
            Answers of the last level; with ``passthrough`` the features behind them, in the
            container of ``X``.
        """
        return self._seen(self._rows(X), set())

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Name the columns of ``transform``.

        Parameters
        ----------
        input_features : array-like of str or None
            Names of the features, used with ``passthrough`` where fit has seen none.

        Returns
        -------
        ndarray of str
            The class in small letters, the member, and a number where it has several columns.
        """
        check_is_fitted(self)
        names = self.intake_.names(len(self.levels_) - 1, self.columns_[-1])
        appended = self.intake_.passthrough
        given = _check_feature_names_in(self, input_features, generate_names=appended)
        return np.array([*names, *(given if appended else ())], dtype=object)

    def _predicted(self, X: Any, params: dict[str, Any]) -> npt.NDArray[Any]:
        """Ask the meta-model what it predicts."""
        rows = self._rows(X)
        if _num_samples(rows) == 0:
            return self._nothing()
        if routing_enabled() and params:
            params = dict(process_routing(self, "predict", **params).final_estimator.predict)
        return np.asarray(self._final(rows, partial(self.final_estimator_.predict, **params)))

    def _final(self, rows: Any, ask: Callable[[Any], Answer]) -> Answer:
        """Ask level after level, and the meta-model last; what several warn of is told once."""
        told: set[str] = set()
        seen = self._seen(rows, told)
        with heard() as remarks:
            answer = ask(seen)
        tell(fresh(remarks, told))
        return answer

    def _seen(self, rows: Any, told: set[str]) -> Any:
        """Ask level after level; give the rows that the meta-model sees, and note what is told."""
        self._check_classes()
        if _num_samples(rows) == 0:  # which many a member would refuse
            none = [np.empty((0, len(columns))) for columns in self.columns_]
            return self.intake_.join(rows, none, self.columns_)
        n_threads = self._threads_for(rows)
        said: list[Floats] = []
        below = rows
        for level in self.levels_:
            members = Members([self._answering(estimator) for estimator in level])
            with heard() as remarks:
                said.append(np.hstack(list(members.each(below, n_threads))))
            tell(fresh(remarks, told))
            below = self.intake_.join(rows, said, self.columns_)
        return below

    def get_metadata_routing(self) -> MetadataRouter:
        """Describe which metadata go to which member, and to the meta-model.

        Returns
        -------
        MetadataRouter
            scikit-learn's description.
        """
        router = router_of(self._flat(), {})
        if self.final_estimator is not None and not isinstance(self.final_estimator, str):
            mapping = MethodMapping().add(caller="fit", callee="fit")
            mapping.add(caller="predict", callee="predict")
            router.add(final_estimator=self.final_estimator, method_mapping=mapping)
        return router

    def _seeing(self) -> list[Any]:
        final = self.final_estimator if self.passthrough else None
        return given_members([*(self._listed or ()), ("final", final)])

    def _learning(self) -> list[Any]:
        return given_members([*(self._listed or ()), ("final", self.final_estimator)])
