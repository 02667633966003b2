"""The plan of a model with levels: all that is settled before the first model is fitted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from committee.core.members import Floats
from committee.ensembles.levels.answers import StackTask
from committee.ensembles.levels.climbing import Climbed, Intake, climb, count_jobs, level_names
from committee.ensembles.levels.parts import Parts
from committee.ensembles.levels.record import (
    StackRecord,
    StackReport,
    check_record,
    compare_answers,
    refuse_frozen,
)
from committee.ensembles.panel import Folds, Progress, Seat


@dataclass(frozen=True, eq=False)
class Plan:
    """Rows, members, and how the rows are divided.

    Attributes
    ----------
    task : StackTask
        The rows.
    levels : tuple of tuple of Seat
        The members by level.
    intake : Intake
        What a level sees of those below.
    folds, parts : Folds and Parts, or None
        How rows are divided; None where they are not.
    """

    task: StackTask
    levels: tuple[tuple[Seat, ...], ...]
    intake: Intake
    folds: Folds | None
    parts: Parts | None

    @property
    def n_models(self) -> int:
        """Models of all levels; where rows are not divided one for each member."""
        if self.parts is None:
            return len(self.task.seats)
        return count_jobs(self.levels, self.parts)

    def climb(self, progress: Progress) -> Climbed:
        """Fit all levels."""
        if self.parts is None:
            return self.undivided(progress)
        return climb(self.task, self.levels, self.parts, self.intake, progress)

    def undivided(self, progress: Progress) -> Climbed:
        """Fit, or ask, members where rows are not divided."""
        raise NotImplementedError

    def recorded(self) -> dict[str, StackRecord]:
        """Write down as ``record_`` who sees what; nothing where rows are not divided."""
        if self.folds is None or self.parts is None:
            return {}
        names, task = level_names(self.levels), self.task
        return {"record_": StackRecord.of(self.folds, self.parts, names, task.keys(), task.seed)}

    def verify(self, record: StackRecord, known: list[Floats], groups: Any) -> StackReport:
        """Fit all models again, and compare what they say with what is known; see ``Leveled``."""
        assert self.parts is not None
        refuse_frozen(self.task.seats)
        check_record(record, self.task, self.parts, groups)
        again = replace(self, task=replace(self.task, seed=record.seed, verbose=0))
        report = compare_answers(known, again.climb(Progress(self.n_models)).oof, record)
        return replace(report, in_groups=groups is not None)
