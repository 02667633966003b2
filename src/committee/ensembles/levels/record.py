"""Who saw what: the record of a stack, and a second fit that shows whether it is true.

A model is named by its level, its member and its part of the rows; the bitmap of a part marks the
rows that its models left out. A model of a higher level has seen, through the answers it learned
from, nothing but rows of its own part, since these come from smaller parts; that parts nest so is
tested against naive nested cross-validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.frozen import FrozenEstimator

from committee.core.bags import LeftOut
from committee.core.members import Floats
from committee.data import InputError
from committee.data.errors import describe, listing, rows_text
from committee.ensembles.levels.answers import StackTask
from committee.ensembles.levels.parts import Parts
from committee.ensembles.panel import Seat
from committee.ensembles.panel.folds import Folds, read_group_labels


@dataclass(frozen=True)
class Model:
    """One fitted model of a stack.

    Attributes
    ----------
    level : int
        0 is the first.
    member : str
        Its name.
    part : int
        The part of the rows it was fitted on; 0 is all of them.
    """

    level: int
    member: str
    part: int


@dataclass(frozen=True, eq=False)
class StackRecord:
    """Who saw what.

    Attributes
    ----------
    folds : Folds
        The splits.
    left_out : LeftOut
        By part the rows that its models have not seen.
    models : tuple of Model
        All that were fitted; those of part 0 answer for new rows.
    keys : ndarray of uint64
        A hash of each training row and its target.
    seed : int
        Of the members.
    """

    folds: Folds
    left_out: LeftOut
    models: tuple[Model, ...]
    keys: npt.NDArray[np.uint64]
    seed: int

    @classmethod
    def of(
        cls,
        folds: Folds,
        parts: Parts,
        names: tuple[tuple[str, ...], ...],
        keys: npt.NDArray[np.uint64],
        seed: int,
    ) -> StackRecord:
        """Write down the models of all parts."""
        models = tuple(
            Model(level, member, part.index)
            for level, members in enumerate(names)
            for part in parts.levels[level]
            for member in members
        )
        return cls(folds, parts.left_out(), models, keys, seed)

    def saw(self, row: int) -> list[Model]:
        """List the models that have seen a row, themselves or through what they learned from."""
        blind = set(self.left_out.members_of(row).tolist())
        return [model for model in self.models if model.part not in blind]

    def answered(self, row: int) -> list[Model]:
        """List the models of the last level that answer for a row in ``oof_``."""
        top = max(model.level for model in self.models)
        having = {model.part for model in self.models if model.level == top}
        parts = {self._part(train) for train, test in self.folds if row in test}
        return [m for m in self.models if m.level == top and m.part in parts & having]

    def _part(self, rows: npt.NDArray[np.intp]) -> int:
        mask = np.ones(self.left_out.n_rows, dtype=np.bool_)
        mask[rows] = False
        bits = LeftOut.of_masks(mask[None]).bitmap[0]
        return int(np.flatnonzero((self.left_out.bitmap == bits).all(axis=1))[0])


@dataclass(frozen=True)
class StackReport:
    """What was verified; printed as a sentence.

    Attributes
    ----------
    n_models, n_parts, n_rows : int
        Models fitted again, the parts of the rows they were fitted on, and training rows.
    n_answers : int
        Rows whose out-of-fold answers were compared, summed over the levels.
    in_groups : bool
        Whether there were groups to hold against the splits.
    """

    n_models: int
    n_parts: int
    n_rows: int
    n_answers: int
    in_groups: bool = False

    def __str__(self) -> str:
        unit = "a row or a group" if self.in_groups else "a row"
        return (
            f"No leak: no split of the {self.n_rows} rows has {unit} on both sides, and "
            f"{self.n_models} models, fitted again on nothing but their {self.n_parts} parts, give "
            f"the {self.n_answers} out-of-fold answers bit for bit."
        )


def refuse_frozen(seats: Sequence[Seat]) -> None:
    """Refuse to vouch for members that are frozen, or hold what is.

    ``fit`` leaves them as they are, so that a second fit gives the answers of the first whatever
    they have seen before.

    Raises
    ------
    InputError
        Naming them.
    """
    frozen = [str(seat) for seat in seats if _holds_frozen(seat.estimator)]
    if frozen:
        found = f"frozen, and what they have seen is known to nobody here: {listing(frozen)}"
        raise _leak("estimators", found, "members that are fitted by this model")


def _holds_frozen(estimator: Any) -> bool:
    inside = estimator.get_params(deep=True).values()
    return any(isinstance(part, FrozenEstimator) for part in (estimator, *inside))


def check_record(record: StackRecord, task: StackTask, parts: Parts, groups: Any) -> None:
    """Refuse rows that are not those of the fit, and a record that does not follow from them.

    Raises
    ------
    InputError
        Naming the rows, the split with a row or group on both sides, or the part whose bitmap is
        not what the splits give.
    """
    _check_rows(record, task.keys())
    _check_sides(record.folds, read_group_labels(groups, task.n_rows))
    _check_parts(record, parts)


def compare_answers(
    known: Sequence[Floats], again: Sequence[Floats], record: StackRecord
) -> StackReport:
    """Compare the answers of all levels with those of models that were fitted again."""
    for level, (before, now) in enumerate(zip(known, again, strict=True)):
        _compare(level, before, now)
    answered = sum(int((~np.isnan(answers[:, 0])).sum()) for answers in again)
    left_out = record.left_out
    return StackReport(len(record.models), len(left_out), left_out.n_rows, answered)


def _check_rows(record: StackRecord, keys: npt.NDArray[np.uint64]) -> None:
    """Refuse rows that are not those of the fit."""
    if len(keys) != len(record.keys):
        found = f"{len(keys)} rows, the model was fitted on {len(record.keys)}"
    elif (keys != record.keys).any():
        rows = np.flatnonzero(keys != record.keys)
        found = f"content or target is not that of fit: {rows_text(rows, len(rows))}"
    else:
        return
    raise _leak("X, y", found, "pass the training rows, in their order")


def _check_sides(folds: Folds, groups: Any) -> None:
    """Refuse splits with a row, or a group, on both sides."""
    for index, (train, test) in enumerate(folds):
        sides = (train, test) if groups is None else (groups[train], groups[test])
        shared = np.intersect1d(*sides).tolist()
        if shared:
            what = "row" if groups is None else "group"
            found = f"split {index} has {what} {shared[0]!r} on both sides"
            raise _leak("record_", found, "fit the model again")


def _check_parts(record: StackRecord, parts: Parts) -> None:
    """Refuse a bitmap that is not what the splits give."""
    again = parts.left_out()
    if again.bitmap.shape != record.left_out.bitmap.shape:
        shape = record.left_out.bitmap.shape
        found = f"bitmap of shape {shape}, the splits give {again.bitmap.shape}"
        raise _leak("record_", found, "fit the model again")
    wrong = np.argwhere(again.bitmap != record.left_out.bitmap)
    if len(wrong):
        part, byte = wrong[0].tolist()
        bits = again.bitmap[part, byte] ^ record.left_out.bitmap[part, byte]
        row = 8 * byte + int(np.argmax(np.unpackbits(bits, bitorder="little")))
        found = f"part {part}, row {row}: the bitmap is not what the splits give"
        raise _leak("record_", found, "fit the model again")


def _compare(level: int, known: Floats, again: Floats) -> None:
    """Name the first row whose answers are not those of the models fitted again."""
    if known.shape != again.shape:
        found = f"level {level} has answers of shape {known.shape}, expected {again.shape}"
        raise _leak("level_oof_", found, "fit the model again")
    same = (known == again) | (np.isnan(known) & np.isnan(again))
    if not same.all():
        rows = np.flatnonzero(~same.all(axis=1))
        found = (
            f"level {level}: answers are not those of models fitted on their parts alone: "
            f"{rows_text(rows, len(rows))}"
        )
        fix = "fit the model again; members must give the same with the same random_state"
        raise _leak("level_oof_", found, fix)


def _leak(argument: str, found: str, fix: str) -> InputError:
    return InputError(describe("M-LEAK", argument, found, fix=fix))
