"""The twin of a learner that asks: taught random rows, as many, so that questions can be judged.

It begins with the rows of the learner's first labels, and goes on with rows drawn by lot, a label
each: as many labels are the first so many events of its log, even where the learner has lost some
to a conflict. The log is replayed like that of the learner, so that nobody is asked twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from committee.active.content import Keys, shuffled
from committee.active.course import Course
from committee.active.event_files import LabelJournal
from committee.active.events import LabelLog, RowId
from committee.data import InputError
from committee.data.errors import describe


class Twin:
    """A learner that is told about random rows.

    Parameters
    ----------
    model : ActiveClassifier
        Unfitted; it is copied.
    log : LabelLog
        Where it keeps what it is told, and what it was told before.
    keys : ndarray of uint64
        Of the rows of the pool: the lot depends on what they hold.
    seed : int
        Of the lot.

    Attributes
    ----------
    course : Course
        The learner as it grows.
    log : LabelLog
        What it was told.
    """

    def __init__(self, model: Any, log: LabelLog, keys: Keys, seed: int) -> None:
        self.course = Course(model)
        self.log = log
        self._lot: list[int] = np.argsort(shuffled(keys, seed), kind="stable").tolist()
        self._order: list[int] = []

    def begin(self, first: Sequence[int], place: Mapping[RowId, int]) -> None:
        """Order the rows: those of its log, the first ones of the learner, then those by lot.

        Parameters
        ----------
        first : sequence of int
            The places of the rows that the learner has begun with; none before it has.
        place : mapping of row id to int
            The place of each row in the pool.

        Raises
        ------
        InputError
            Where the log is not that of a twin of this learner.
        """
        told = [_place_of(event.row, place) for event in self.log.events]
        if len(set(told)) < len(told):
            again = next(row for k, row in enumerate(told) if row in told[:k])
            raise _not_its_own(f"row {self.log.events[told.index(again)].row!r} is there twice")
        if told and (not first or told[: len(first)] != list(first[: len(told)])):
            raise _not_its_own("it begins with other rows than log")
        if first:
            self._order = list(dict.fromkeys([*told, *first, *self._lot]))

    @property
    def begun(self) -> bool:
        """Whether it is known which rows it begins with."""
        return bool(self._order)

    def lacks(self, count: int) -> list[int]:
        """List the places of the rows that it has to be told of to know ``count`` labels."""
        return self._order[len(self.log) : count]


def check_apart(log: LabelLog | None, baseline_log: LabelLog | None) -> None:
    """Refuse one log, or one file, for the learner and its twin."""
    if log is None or baseline_log is None:
        return
    one_file = (
        isinstance(log, LabelJournal)
        and isinstance(baseline_log, LabelJournal)
        and log.path.resolve() == baseline_log.path.resolve()
    )
    if log is baseline_log or one_file:
        found = "it is the log of the learner itself"
        raise InputError(describe("E-EVENT", "baseline_log", found, fix="a log of its own"))


def check_taught(baseline_log: LabelLog | None) -> None:
    """Refuse the log of a twin for a loop that has none."""
    if baseline_log is not None:
        found = "it is given to a loop without a twin"
        allowed = "with baseline=True, an annotator, X_test and y_test"
        fix = "give these, or baseline_log=None"
        raise InputError(describe("E-EVENT", "baseline_log", found, allowed=allowed, fix=fix))


def _place_of(row: RowId, place: Mapping[RowId, int]) -> int:
    if row not in place:
        raise _not_its_own(f"row {row!r} is not in the pool")
    return place[row]


def _not_its_own(found: str) -> InputError:
    fix = "the baseline_log that was kept beside log, or None"
    return InputError(describe("E-EVENT", "baseline_log", found, fix=fix))
