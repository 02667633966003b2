"""A cascade without the question of classes or numbers: fit level after level, ask them in turn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils.validation import _num_samples

from committee.core.members import Floats
from committee.core.watching import Watch, with_callbacks
from committee.data import InputError
from committee.data.errors import describe
from committee.ensembles.cascade.chain import CascadePlan
from committee.ensembles.cascade.intake import CascadeIntake
from committee.ensembles.cascade.leaking import probe, warn_of_leaks
from committee.ensembles.joining import refuse_taken
from committee.ensembles.levels import Leveled, Parts, StackTask
from committee.ensembles.panel import Progress
from committee.ensembles.panel.folds import Folds, Mask, folds_of
from committee.ensembles.panel.remarks import Remark, heard, tell

Answer = TypeVar("Answer")


class Cascade(Leveled):
    """What the classifier and the regressor say alike."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Leveled._parameter_constraints,
        "check_leak": ["boolean"],
    }
    _unrecorded = (
        "cv=None: levels learned from answers about their own training rows",
        "fit with cv=5",
    )

    check_leak: bool
    drop_last: bool = False
    intake_: CascadeIntake
    columns_: list[list[Mask]]

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **fit_params: Any
    ) -> Self:
        """Fit the members in order, each on the features and on what all earlier ones say.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            For all members. None learns from rows of weight 0.
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
        task, n_models = plan.task, plan.n_models
        if plan.parts is None and self.check_leak:
            # The last level shows nothing to anybody.
            stream = len(self.estimators)
            probes = [probe(task, seat, task.usable, stream) for seat in task.seats[:-1]]
            warn_of_leaks([each for each in probes if each is not None], task.classes is None)
        with Watch(self, n_models, X=X, y=y, metadata={"sample_weight": sample_weight}) as watch:
            with heard() as remarks:
                climbed = plan.climb(Progress(n_models, watch))
            tell(remarks)
            attributes: dict[str, Any] = {
                "intake_": plan.intake,
                "columns_": climbed.keep,
                "stack_method_": list(task.asked(task.seats)),
                "n_outputs_": task.n_targets,
                "widths_": [task.schema.n_features + _columns(keep) for keep in climbed.keep],
                **plan.recorded(),
            }
            if plan.parts is not None:
                attributes |= {
                    "level_oof_": climbed.oof,
                    "oof_scores_": np.array([_honest_score(task, said) for said in climbed.oof]),
                }
            self._keep(task, [estimator for (estimator,) in climbed.fitted], attributes)
        return self

    def _plan(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        fit_params: Mapping[str, Any],
        folds: Folds | None = None,
    ) -> CascadePlan:
        task = StackTask.of(self._read(X, y, sample_weight, fit_params), self._answers())
        task.asked(task.seats)
        names = [seat.name for seat in task.seats]
        taken = "|".join(re.escape(name) for name in names)
        refuse_taken(task.schema.feature_names, rf"({taken})_\d+")
        levels = tuple((seat,) for seat in task.seats)
        intake = CascadeIntake(tuple(names), self.drop_last, drop_constant=self.cv is None)
        if self.cv is None:
            if groups is not None:
                found = "groups are given, while cv=None: in sample no row is held out"
                raise InputError(describe("P-FOLDS", "groups", found, fix="cv=5, or no groups"))
            return CascadePlan(task, levels, intake, None, None)
        if folds is None:
            folds = folds_of(self.cv, task, groups)
        else:
            intake = self.intake_  # that of the fit, whatever drop_last is by now
        parts = Parts(folds, len(levels), task.usable)
        return CascadePlan(task, levels, intake, folds, parts)

    def _sk_visual_block_(self) -> Any:
        """Draw the levels one after the other in notebooks."""
        from sklearn.utils._repr_html.estimator import _VisualBlock  # for notebooks alone

        names, members = zip(*self.estimators, strict=True)
        return _VisualBlock("serial", members, names=names)

    def _stages(
        self, rows: Any, ask: Callable[[Any, Any], Answer], none: Callable[[], Answer]
    ) -> Iterator[Answer]:
        """Ask each level in turn; what several of them warn of is told once.

        Where there is no row, which many a member refuses, nobody is asked.
        """
        self._check_classes()
        if _num_samples(rows) == 0:
            yield from (none() for _ in self.estimators_)
            return
        said: list[Floats] = []
        told: set[Remark] = set()
        for estimator, keep in zip(self.estimators_, self.columns_, strict=True):
            with heard() as remarks:
                seen = self.intake_.join(rows, said, keep)
                answer = ask(estimator, seen)
                if len(said) < len(self.columns_) - 1:
                    said.append(self._answering(estimator).outputs(seen))
            tell(remark for remark in remarks if remark not in told)
            told.update(remarks)
            yield answer

    def _last(self, X: Any, ask: Callable[[Any, Any], Any], none: Callable[[], Any]) -> Any:
        """Ask the last level."""
        rows = self._rows(X)
        n_levels, level = len(self.columns_), 0

        def last(estimator: Any, seen: Any) -> Any:
            nonlocal level
            level += 1
            return ask(estimator, seen) if level == n_levels else None

        *_, answer = self._stages(rows, last, none)
        return answer

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """Predict with the first level, with the second, and so on.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            What the level says by itself; the last is ``predict``.
        """
        yield from self._stages(self._rows(X), ask_label, self._nothing)

    def level_scores(self, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """Score each level: what it adds is the difference to the level before.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows; of the training rows in-sample scores come out.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        ndarray of shape (n_levels,)
            Accuracy, or R².
        """
        from sklearn.metrics import accuracy_score, r2_score  # slow to import

        score = accuracy_score if is_classifier(self) else r2_score
        said = self.staged_predict(X)
        return np.array([score(y, labels, sample_weight=sample_weight) for labels in said])


def ask_label(estimator: Any, rows: Any) -> npt.NDArray[Any]:
    """Ask a level what it predicts."""
    return np.asarray(estimator.predict(rows))


def _columns(keep: Sequence[Mask]) -> int:
    return sum(int(mask.sum()) for mask in keep)


def _honest_score(task: StackTask, said: Floats) -> float:
    """Score the answers of a level on the rows that have one."""
    from sklearn.metrics import r2_score  # slow to import

    rows = np.flatnonzero(~np.isnan(said).any(axis=1) & task.usable)
    weight = None if task.weight is None else task.weight[rows]
    if task.codes is not None:
        right = said[rows].argmax(axis=1) == task.codes[rows]
        return float(np.average(right, weights=weight))
    if len(rows) < 2:
        return float("nan")
    numbers = said[rows].reshape(task.y[rows].shape)
    return float(r2_score(task.y[rows], numbers, sample_weight=weight))
