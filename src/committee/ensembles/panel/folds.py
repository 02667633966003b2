"""Folds: which rows a model learns from and which it is asked about, read from any ``cv``.

A row that is tested must not be trained on, nor any row of its group; splits that break this are
refused. Splits need not cover all rows (time series) and may test a row several times (repeats).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from committee.core.bags import read_groups
from committee.core.params import integer, invalid
from committee.data import InputError
from committee.data.errors import describe, rows_text
from committee.ensembles.panel.task import PanelTask

Rows = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Split = tuple[Rows, Rows]
N_FOLDS = 5
STRATIFIED = ("StratifiedKFold", "StratifiedGroupKFold")  # by name: slow to import
ALLOWED = "None, an int of at least 2, a splitter of scikit-learn, or (train, test) pairs"


@dataclass(frozen=True, eq=False)
class Folds:
    """Splits of the rows, one bit a row.

    Attributes
    ----------
    trained, tested : ndarray of uint8, shape (n_splits, ceil(n_rows / 8))
        Bit ``r % 8`` of byte ``r // 8`` is 1 where the split learns from, or asks about, row r.
    n_rows : int
        How many rows there are.
    """

    trained: npt.NDArray[np.uint8]
    tested: npt.NDArray[np.uint8]
    n_rows: int

    @classmethod
    def of(cls, splits: Sequence[Split], n_rows: int) -> Folds:
        """Pack the rows of each split."""
        sides = np.zeros((2, len(splits), n_rows), dtype=np.bool_)
        for index, (train, test) in enumerate(splits):
            sides[0, index, train] = True
            sides[1, index, test] = True
        trained, tested = np.packbits(sides, axis=2, bitorder="little")
        return cls(trained, tested, n_rows)

    def __len__(self) -> int:
        return len(self.trained)

    def __iter__(self) -> Iterator[Split]:
        for train, test in zip(self.trained, self.tested, strict=True):
            yield self._rows(train), self._rows(test)

    def _rows(self, bits: npt.NDArray[np.uint8]) -> Rows:
        return np.flatnonzero(np.unpackbits(bits, count=self.n_rows, bitorder="little"))


def read_folds(
    cv: Any,
    X: Any,
    y: npt.NDArray[Any],
    groups: npt.NDArray[Any] | None,
    *,
    classes: bool,
    usable: Mask | None = None,
    owner: str = "this estimator",
    allowed: str = ALLOWED,
) -> Folds:
    """Divide the rows as ``cv`` says.

    Parameters
    ----------
    cv : int, splitter of scikit-learn, iterable of (train, test) or None
        None is 5 folds. A number of folds stands for stratified folds where there are classes, and
        for folds that keep groups together where there are groups.
    X, y : rows and targets
        What a splitter may look at.
    groups : ndarray of shape (n_rows,) or None
        For the splitter; and no group may lie on both sides of a split.
    classes : bool
        Whether y holds classes.
    usable : ndarray of bool, shape (n_rows,), optional
        Rows that models may learn from; others, of weight 0, are only asked about.
    owner, allowed : str
        Whose ``cv`` it is and what it may be, for messages.

    Returns
    -------
    Folds
        At least one split; every one has rows on both sides.

    Raises
    ------
    InputError
        Where a class is rarer than the folds, where a split tests what it trains on, or where a
        group lies on both sides.
    """
    usable = np.ones(len(y), dtype=np.bool_) if usable is None else usable
    splitter = _splitter(cv, y, groups, classes)
    if splitter is None:
        raise invalid("cv", owner, allowed, cv)
    if int(usable.sum()) < 2:
        found = f"{int(usable.sum())} sample(s) of positive weight cannot be divided into folds"
        allowed = "2 rows or more: one to be asked about, others to learn from"
        raise InputError(describe("P-FOLDS", "cv", found, allowed=allowed))
    if _is_one_of(splitter, STRATIFIED) and classes:
        _refuse_rare(y[usable], splitter, None if groups is None else groups[usable])
    try:
        with warnings.catch_warnings():
            # Whether groups are kept together is looked at below, whoever ignores them.
            warnings.filterwarnings("ignore", "The groups parameter is ignored")
            pairs = list(splitter.split(X, y, groups))
    except (ValueError, TypeError) as error:
        found = f"{type(splitter).__name__} cannot divide these {len(y)} rows: {error}"
        fix = "fit(X, y, groups=...)" if groups is None and "groups" in str(error) else ""
        raise InputError(describe("P-FOLDS", "cv", found, fix=fix)) from error
    splits = [_checked(k, pair, len(y), groups, usable) for k, pair in enumerate(pairs)]
    if not splits:
        raise InputError(describe("P-FOLDS", "cv", "there is no split", allowed="one or more"))
    return Folds.of(splits, len(y))


def _splitter(cv: Any, y: Any, groups: Any, classes: bool) -> Any:
    """Find the splitter; a bare number of folds keeps groups together. None: there is none."""
    from sklearn.model_selection import (  # slow to import
        GroupKFold,
        StratifiedGroupKFold,
        StratifiedKFold,
        check_cv,
    )

    n_folds = N_FOLDS if cv is None else cv
    if integer(2).is_satisfied_by(n_folds):
        if groups is not None:
            return StratifiedGroupKFold(int(n_folds)) if classes else GroupKFold(int(n_folds))
        # Not check_cv's own choice, which hangs on what y looks like: a classifier has classes.
        return StratifiedKFold(int(n_folds)) if classes else check_cv(int(n_folds))
    divides = hasattr(cv, "split") or isinstance(cv, Iterable)
    if not divides or isinstance(cv, (str, bytes, type)):
        return None
    return check_cv(cv, y, classifier=classes)


def _is_one_of(splitter: Any, names: tuple[str, ...]) -> bool:
    """Tell whether it is a splitter of scikit-learn's of such a name, or of a class made of one."""
    kinds = type(splitter).__mro__
    return any(k.__name__ in names and k.__module__.startswith("sklearn.") for k in kinds)


def _refuse_rare(y: npt.NDArray[Any], splitter: Any, groups: Any) -> None:
    """Refuse classes that cannot be in every fold: some model would never have seen them."""
    labels, codes = np.unique(y, return_inverse=True)
    counts, what, n_folds = np.bincount(codes), "row(s)", splitter.n_splits
    if groups is not None and _is_one_of(splitter, STRATIFIED[1:]):
        # A group goes into one fold as a whole.
        pairs = np.unique(np.stack([codes, np.unique(groups, return_inverse=True)[1]]), axis=1)
        counts, what = np.bincount(pairs[0], minlength=len(labels)), "group(s)"
    rare = int(np.argmin(counts))
    if counts[rare] < n_folds:
        found = f"class {labels.tolist()[rare]!r} has {counts[rare]} {what}, cv has {n_folds} folds"
        allowed = f"at least {n_folds} {what} of every class"
        fix = "fewer folds, more rows of that class, or a cv that does not stratify, such as KFold"
        raise InputError(describe("Y-RARE", "y", found, allowed=allowed, fix=fix))


def _checked(index: int, pair: Any, n_rows: int, groups: Any, usable: Mask) -> Split:
    """Hold a split against the rule that no row, and no group, is on both sides."""
    train, test = (_row_numbers(side, n_rows, index) for side in pair)
    train = train[usable[train]]
    for side, use in ((train, "learn from"), (test, "be asked about")):
        if not len(side):
            found = f"split {index} has no rows to {use}"
            raise InputError(describe("P-FOLDS", "cv", found, fix="fewer folds, or another cv"))
    both = np.intersect1d(train, test)
    if len(both):
        found = f"split {index} is asked about rows it learns from: {rows_text(both, len(both))}"
        raise InputError(describe("P-FOLDS", "cv", found, allowed="sides without a common row"))
    torn = [] if groups is None else np.intersect1d(groups[train], groups[test]).tolist()
    if torn:
        found = f"split {index} has rows of group {torn[0]!r} on both sides"
        fix = "a cv that keeps groups together: cv=5, GroupKFold, LeaveOneGroupOut"
        raise InputError(describe("P-FOLDS", "cv", found, fix=fix))
    return train, test


def _row_numbers(rows: Any, n_rows: int, index: int) -> Rows:
    numbers = np.asarray(rows)
    if numbers.dtype == np.bool_ and numbers.shape == (n_rows,):
        numbers = np.flatnonzero(numbers)
    good = numbers.ndim == 1 and (numbers.dtype.kind in "iu" or not len(numbers))
    if not good or (len(numbers) and not (numbers.min() >= 0 and numbers.max() < n_rows)):
        found = f"split {index} holds something else than numbers of rows"
        allowed = f"whole numbers from 0 to {n_rows - 1}"
        raise InputError(describe("P-FOLDS", "cv", found, allowed=allowed))
    return np.unique(numbers.astype(np.intp))


def read_group_labels(groups: Any, n_rows: int) -> npt.NDArray[Any] | None:
    """Read the fit argument ``groups``: a label for each row, as the user wrote it."""
    codes = read_groups(groups, n_rows)
    return None if codes is None else np.asarray(groups)


def folds_of(cv: Any, task: PanelTask, groups: Any, *, allowed: str = ALLOWED) -> Folds:
    """Divide the rows of a task.

    Parameters
    ----------
    cv : int, splitter of scikit-learn, iterable of (train, test) or None
        See :func:`read_folds`.
    task : PanelTask
        The rows. Nobody learns from those of weight 0.
    groups : array-like of shape (n_rows,) or None
        As given to ``fit``.
    allowed : str
        What ``cv`` may be, for messages.

    Returns
    -------
    Folds
        The splits.
    """
    return read_folds(
        cv,
        task.X,
        task.y,
        read_group_labels(groups, task.n_rows),
        classes=task.classes is not None,
        usable=task.usable,
        owner=task.owner,
        allowed=allowed,
    )
