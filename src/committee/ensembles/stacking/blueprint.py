"""The blueprint of a stack: all that is settled before the first model is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from committee.core.members import Floats
from committee.data.errors import describe
from committee.ensembles.levels import Climbed, Plan
from committee.ensembles.member_fitting import of_kind, quiet
from committee.ensembles.panel import Job, Progress
from committee.ensembles.panel.folds import Mask
from committee.ensembles.stacking.intake import StackIntake


@dataclass(frozen=True, eq=False)
class Blueprint(Plan):
    """Rows, members, how the rows are divided, and the meta-model.

    Attributes
    ----------
    task, levels, intake, folds, parts
        See :class:`Plan`; rows are not divided where members are fitted already.
    meta : estimator
        The meta-model, unfitted.
    meta_params : mapping
        What its ``fit`` takes besides X and y.
    every : bool
        Whether it sees the columns of all classes.
    """

    intake: StackIntake
    meta: Any
    meta_params: Mapping[str, Any]
    every: bool

    def undivided(self, progress: Progress) -> Climbed:
        """Ask the members that are fitted already."""
        (seats,), every = self.levels, np.arange(self.task.n_rows)
        jobs = [Job(seat, test=every, prefit=True, keep=False) for seat in seats]
        said = [cast(Floats, done.outputs) for done in self.task.run(jobs, progress)]
        fitted = [seat.estimator for seat in seats]  # the same objects, also from processes
        return Climbed([fitted], [np.hstack(said)], [[]], [[each.shape[1] for each in said]])

    def known(self) -> Mask:
        """Mark the rows that have an honest answer of the last level."""
        if self.parts is None:
            return np.ones(self.task.n_rows, dtype=np.bool_)
        return self.parts.known(len(self.levels) - 1, self.parts.whole)

    def seen(self, climbed: Climbed) -> tuple[StackIntake, list[Mask]]:
        """Tell what a level sees of the one below, and mark by level the columns it sees."""
        intake = self.intake.measured(climbed.widths)
        *lower, _ = intake.choose(climbed.oof)
        return intake, [*lower, intake.kept(len(lower), every=self.every)]

    def fit_meta(self, climbed: Climbed) -> Any:
        """Fit the meta-model on the rows that have an honest answer, and a weight."""
        task = self.task
        rows = np.flatnonzero(self.known() & task.usable)
        oof = [answers[rows] for answers in climbed.oof]
        X = _safe_indexing(task.X, rows) if self.intake.passthrough else None
        intake, columns = self.seen(climbed)
        seen = intake.join(X, oof, columns)
        params = _check_method_params(task.X, params=dict(self.meta_params), indices=rows)
        try:
            with quiet():
                return self.meta.fit(seen, task.y[rows], **params)
        except Exception as error:
            name = type(self.meta).__name__
            found = f"{name} raised {type(error).__name__} on {len(rows)} rows: {error}"
            fix = "fit it alone on oof_ of a stack with final_estimator='mean' to see more"
            raise of_kind(error, describe("M-FIT", "final_estimator", found, fix=fix)) from error
