"""Predictions by members that did not see the row: one out-of-fold matrix for the whole panel.

Stacking, selection and everything else that judges members reads this matrix, and never what a
member says of rows it was fitted on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import check_cv

from committee.core.members import Floats
from committee.data import InputError
from committee.data.errors import describe
from committee.ensembles.panel.task import Ask, Ints, Job, PanelTask, Progress

Splits = Sequence[tuple[Ints, Ints]]


def read_splits(cv: Any, task: PanelTask, **split_params: Any) -> list[tuple[Ints, Ints]]:
    """Split the rows of a task into rows to learn and rows held out.

    Parameters
    ----------
    cv : int, None, splitter or iterable of (train, test)
        As in scikit-learn; whole numbers are stratified by class.
    task : PanelTask
        The rows.
    **split_params : dict
        For ``split`` of the splitter, such as ``groups``.

    Returns
    -------
    list of (ndarray of int, ndarray of int)
        Rows to learn, and rows held out.
    """
    counts = None if task.codes is None else np.bincount(task.codes)
    splitter = check_cv(cv, task.y, classifier=task.classes is not None)
    folds = splitter.get_n_splits(task.X, task.y, **split_params)
    counted = cv is None or isinstance(cv, (int, np.integer))
    if counted and task.n_rows < folds:
        found = f"n_samples={task.n_rows} for {folds} folds"
        raise InputError(describe("P-SPLIT", "cv", found, fix="more rows, or fewer folds"))
    if counts is not None and counted:
        assert task.classes is not None
        rare, fewest = task.classes.tolist()[counts.argmin()], int(counts.min())
        if fewest < folds:
            found = f"class {rare!r} has {fewest} row(s) for {folds} folds"
            fix = f"cv={fewest}" if fewest > 1 else f"more rows of class {rare!r}, or none"
            allowed = "as many rows of every class as folds, or more"
            raise InputError(describe("P-SPLIT", "cv", found, allowed=allowed, fix=fix))
    splits = splitter.split(task.X, task.y, **split_params)
    return [(np.asarray(train), np.asarray(test)) for train, test in splits]


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
            raise InputError(describe("P-SPLIT", "cv", found, fix="a splitter without overlap"))
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
