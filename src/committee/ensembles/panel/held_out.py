"""Predictions by members that did not see the row: one out-of-fold matrix for the whole panel.

Stacking, selection and everything else that judges members reads this matrix, and never what a
member says of rows it was fitted on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from committee.core.members import Floats
from committee.data import InputError
from committee.data.errors import describe
from committee.ensembles.panel.task import Ask, Ints, Job, PanelTask, Progress

Splits = Sequence[tuple[Ints, Ints]]


def fold_jobs(
    task: PanelTask, splits: Splits, *, ask: Ask | None = None, prefit: bool = False
) -> list[Job]:
    """List the jobs of :func:`out_of_fold`: the folds of the first member, of the second, ..."""
    return [
        Job(seat, train, test, prefit=prefit, ask=ask, keep=False)
        for seat in task.seats
        for train, test in splits
    ]


def out_of_fold(
    task: PanelTask,
    splits: Splits,
    progress: Progress | None = None,
    *,
    ask: Ask | None = None,
    prefit: bool = False,
) -> Floats:
    """Ask each member, fitted without them, about the rows held out of each fold.

    Parameters
    ----------
    task : PanelTask
        Rows and members.
    splits : sequence of (train, test)
        Rows to learn, and rows held out.
    progress : Progress, optional
        Told of ``len(task.seats) * len(splits)`` jobs.
    ask : callable, optional
        Makes a fitted estimator a member; by default one that gives class shares or numbers. All
        must give as many outputs.
    prefit : bool
        Whether members are asked as they are; the rows must be new to them.

    Returns
    -------
    ndarray of shape (n_members, n_rows, n_outputs)
        NaN in rows that were never held out, and the mean where one was held out several times. A
        class that a member did not see has the share 0.
    """
    for train, test in splits:
        if not prefit and len(np.intersect1d(train, test)):
            found = f"{len(np.intersect1d(train, test))} row(s) are learned and held out at once"
            raise InputError(describe("P-FOLDS", "cv", found, fix="a splitter without overlap"))
    jobs = fold_jobs(task, splits, ask=ask, prefit=prefit)
    said = [cast(Floats, done.outputs) for done in task.run(jobs, progress)]
    times: npt.NDArray[np.int64] = np.zeros(task.n_rows, dtype=np.int64)
    for _, test in splits:
        times[test] += 1
    matrix = np.full((len(task.seats), task.n_rows, said[0].shape[1]), np.nan)
    matrix[:, times > 0] = 0.0
    for k, outputs in enumerate(said):
        member, fold = divmod(k, len(splits))
        matrix[member, splits[fold][1]] += outputs
    matrix[:, times > 1] /= times[times > 1, None]
    return matrix
