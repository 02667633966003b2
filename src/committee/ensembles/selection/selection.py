"""What the two forms of ensemble selection share: one out-of-fold matrix, a climb, the members.

Every member and the ensemble are scored on the same held-out rows, so that selecting a single
member and combining several can be compared: ``best_single_`` stands beside the ensemble.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import metadata_routing

from committee.core.committee import Committee
from committee.core.members import Floats
from committee.core.params import choice, integer, real
from committee.core.voting import mean
from committee.core.watching import Watch, with_callbacks
from committee.data import InputError
from committee.data.errors import describe
from committee.ensembles.panel import (
    Panel,
    PanelTask,
    Progress,
    check_prefit,
    folds_of,
    out_of_fold,
)
from committee.ensembles.selection.greedy import (
    SelectionPath,
    climb,
    draw_pools,
    single_scores,
)
from committee.ensembles.selection.judges import Judge, check_scoring


class EnsembleSelection(Panel):
    """Selection from a pool, without the question of classes or numbers."""

    __metadata_request__fit: ClassVar[dict[str, Any]] = {
        "sample_weight": metadata_routing.UNUSED,
        "groups": metadata_routing.UNUSED,
    }

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Panel._parameter_constraints,
        "scoring": "no_validation",  # check_scoring says more
        "cv": "no_validation",  # folds_of says more
        "n_rounds": [integer(0)],
        "n_init": [integer(1), choice("auto")],
        "n_bags": [integer(1)],
        "bag_size": [real(0, 1, "right")],
        "prefit": ["boolean"],
    }
    _scores: ClassVar[tuple[str, ...]]

    scoring: Any
    cv: Any
    n_rounds: int
    n_init: int | str
    n_bags: int
    bag_size: float
    prefit: bool
    committee_: Committee
    pool_: tuple[str, ...]
    weights_: Floats
    paths_: list[SelectionPath]

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the pool fold by fold, select by what was held out, and fit the chosen on all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows; with ``prefit`` rows that the members have not seen.
        y : array-like of shape (n_samples,), for regressors also (n_samples, n_outputs)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weighs rows in the score, and in ``fit`` of the members, all of which must take it. No
            row of weight 0 is judged by.
        groups : array-like of shape (n_samples,), optional
            For ``cv``; rows of one group are never on both sides of a split.
        **fit_params : dict
            For ``fit`` of the members, with scikit-learn's metadata routing enabled.

        Returns
        -------
        estimator
            The fitted model.
        """
        task = self._read(X, y, sample_weight, fit_params, prefit=bool(self.prefit))
        check_scoring(self.scoring, self._scores, type(self).__name__)
        splits = self._splits(task, groups)
        n_jobs = len(task.seats) * (len(splits) + (not self.prefit))
        with Watch(self, n_jobs, X=X, y=y, metadata={"sample_weight": sample_weight}) as watch:
            progress = Progress(n_jobs, watch)
            oof = out_of_fold(task, splits, progress, prefit=self.prefit)
            found = self._select(task, oof)
            chosen = np.flatnonzero(found["weights_"])
            part = replace(task, seats=tuple(task.seats[k] for k in chosen))
            progress.n_jobs -= 0 if self.prefit else len(task.seats) - len(chosen)
            fitted = self._fit_members(part, progress, prefit=self.prefit)
            members = [task.member(estimator) for estimator in fitted]
            found["committee_"] = Committee(members, found["weights_"][chosen])
            self._keep(part, fitted, {**found, "n_outputs_": task.n_targets, "oof_": oof})
        return self

    def _splits(self, task: PanelTask, groups: Any) -> Any:
        if not self.prefit:
            return list(folds_of(self.cv, task, groups))
        for name, given in (("cv", self.cv), ("groups", groups)):
            if given is not None:
                found = f"{name} given, but the members are fitted and all rows are held out"
                raise InputError(describe("M-PREFIT", name, found, fix=f"{name}=None"))
        check_prefit(task.seats, task.schema.n_features, task.classes)
        return [(np.empty(0, dtype=np.intp), np.arange(task.n_rows))]

    def _select(self, task: PanelTask, oof: Floats) -> dict[str, Any]:
        """Weigh the members, and score each and all of them on the same rows."""
        target = task.y if task.codes is None else task.codes
        judge = Judge(oof, target, self.scoring, labels=task.y, weight=task.weight)
        singles = single_scores(judge)
        names, best = tuple(seat.name for seat in task.seats), int(singles.argmax())
        found = self._weigh(task, oof, judge, singles)
        total = np.tensordot(found["weights_"], judge.members, axes=1)
        return {
            "score_": judge.score(total, 1),  # unless a climb knows better
            **found,
            "pool_": names,
            "scores_": singles,
            "best_single_": names[best],
            "best_single_score_": float(singles[best]),
        }

    def _weigh(self, task: PanelTask, oof: Floats, judge: Judge, singles: Floats) -> dict[str, Any]:
        """Climb in each bag, and average what was chosen."""
        pools = draw_pools(len(judge), self.n_bags, self.bag_size, task.seed)
        paths = [
            climb(judge, pool, singles, n_rounds=self.n_rounds, n_init=self.n_init)
            for pool in pools
        ]
        weights = sum(path.weights(len(judge)) for path in paths) / len(paths)
        found: dict[str, Any] = {"weights_": weights, "paths_": paths}
        return found | ({"score_": paths[0].score} if len(paths) == 1 else {})

    def _mean(self, X: Any, metadata: Any = None) -> Floats:
        return mean(self._outputs(X, metadata=metadata), self.committee_.weights)
