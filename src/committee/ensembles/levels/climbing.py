"""Climbing: fit level after level, each on what the levels below say of rows they have not seen.

At every level a model of part P learns from the honest answers within P, and is asked about rows
outside P, for which the models of P below answer first. All models of a level run in parallel; to
each they are rows of one table, in which every part has a block of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, Self

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from committee.core.members import Floats
from committee.ensembles.levels.parts import Part, Parts
from committee.ensembles.panel import Done, Job, PanelTask, Progress, Seat
from committee.ensembles.panel.folds import Mask, Rows

Said = dict[int, Floats]  # by the index of a part, what its models say of the rows it is asked


class Intake(Protocol):
    """What a level above the first sees."""

    @property
    def passthrough(self) -> bool:
        """Whether that includes the features."""

    def measured(self, widths: Sequence[Sequence[int]]) -> Self:
        """Note, by level below, how many columns each member has."""

    def choose(self, said: Sequence[Floats]) -> list[Mask]:
        """Choose the columns of what each level below said, from its honest answers."""

    def join(self, X: Any, said: Sequence[Floats], keep: Sequence[Mask]) -> Any:
        """Make the rows of a level: from the features and what each level below said of them."""


@dataclass(frozen=True, eq=False)
class Climbed:
    """What came of it.

    Attributes
    ----------
    fitted : list of list of estimators
        By level the members, fitted on all rows.
    oof : list of ndarray of shape (n_rows, n_columns)
        By level the honest answers, NaN in rows without one.
    keep : list of list of ndarray of bool
        By level the columns of the levels below that it sees.
    widths : list of list of int
        By level how many columns each member has.
    """

    fitted: list[list[Any]]
    oof: list[Floats]
    keep: list[list[Mask]]
    widths: list[list[int]] = field(default_factory=list)


def level_names(levels: Sequence[Sequence[Seat]]) -> tuple[tuple[str, ...], ...]:
    """Name the members by level."""
    return tuple(tuple(seat.name for seat in seats) for seats in levels)


def count_jobs(levels: Sequence[Sequence[Seat]], parts: Parts) -> int:
    """Count the models of all levels."""
    return sum(len(seats) * len(own) for seats, own in zip(levels, parts.levels, strict=True))


def climb(
    task: PanelTask,
    levels: Sequence[tuple[Seat, ...]],
    parts: Parts,
    intake: Intake,
    progress: Progress,
) -> Climbed:
    """Fit all levels, each on honest answers of those below.

    Parameters
    ----------
    task : PanelTask
        The rows.
    levels : sequence of tuple of Seat
        The members of each level.
    parts : Parts
        Which rows their models may see.
    intake : Intake
        What a level sees of those below.
    progress : Progress
        Told of :func:`count_jobs` models.

    Returns
    -------
    Climbed
        Members fitted on all rows, and the honest answers.
    """
    below: list[Said] = []
    done = Climbed([], [], [])
    for level, seats in enumerate(levels):
        measured = intake.measured(done.widths)
        keep = measured.choose(done.oof)
        show = partial(_shown, task.X, measured, keep)
        work, jobs, owners = _work(task, seats, parts, level, show, below)
        results = work.run(jobs, progress)
        said: Said = {}
        for part, first in zip(owners, range(0, len(jobs), len(seats)), strict=True):
            made = results[first : first + len(seats)]
            if part is parts.whole:
                done.fitted.append([each.estimator for each in made])
            if len(part.asked):
                blocks = [_outputs(each) for each in made]
                said[part.index] = np.hstack(blocks)
        below.append(said)
        done.widths.append([block.shape[1] for block in blocks])
        done.oof.append(parts.honest(level, parts.whole, said))
        done.keep.append(keep)
    return done


def _outputs(done: Done) -> Floats:
    assert done.outputs is not None
    return done.outputs


def _shown(
    X: Any, intake: Intake, keep: Sequence[Mask], origin: Rows, said: Sequence[Floats]
) -> Any:
    """Make the rows of a level; features that it does not see are not copied for every part."""
    rows = _safe_indexing(X, origin) if intake.passthrough else None
    return intake.join(rows, said, keep)


def _work(
    task: PanelTask,
    seats: tuple[Seat, ...],
    parts: Parts,
    level: int,
    show: Callable[[Rows, Sequence[Floats]], Any],
    below: Sequence[Mapping[int, Floats]],
) -> tuple[PanelTask, list[Job], list[Part]]:
    """List the models of a level, and lay out the rows that they see."""
    owners = parts.levels[level]
    if level == 0:
        places = [(part.rows, part.asked) for part in owners]
        work = replace(task, seats=seats)
    else:
        origin, columns, places = _blocks(owners, parts, level, below)
        params = {
            name: dict(_check_method_params(task.X, params=dict(given), indices=origin))
            for name, given in task.params.items()
        }
        X, y = show(origin, columns), task.y[origin]
        work = replace(task, seats=seats, X=X, y=y, params=params, origin=origin)
    jobs = [
        # A model of all rows tells facts about them; those of parts would repeat these.
        Job(
            seat,
            None if len(train) == work.n_rows else train,
            asked if len(asked) else None,
            keep=part is parts.whole,
        )
        for part, (train, asked) in zip(owners, places, strict=True)
        for seat in seats
    ]
    return work, jobs, owners


def _blocks(
    owners: Sequence[Part], parts: Parts, level: int, below: Sequence[Mapping[int, Floats]]
) -> tuple[Rows, list[Floats], list[tuple[Rows, Rows]]]:
    """Stack the blocks of all parts: the numbers of their rows, what was said, and the places."""
    origin: list[Rows] = []
    columns: list[list[Floats]] = [[] for _ in below]
    places, begin = [], 0
    for part in owners:
        learned = parts.learned(level, part)
        for k, said in enumerate(below):
            honest = parts.honest(k, part, said)[learned]
            columns[k] += [honest, said[part.index]] if len(part.asked) else [honest]
        origin += [learned, part.asked]
        middle, end = begin + len(learned), begin + len(learned) + len(part.asked)
        places.append((np.arange(begin, middle), np.arange(middle, end)))
        begin = end
    return np.concatenate(origin), [np.concatenate(blocks) for blocks in columns], places
