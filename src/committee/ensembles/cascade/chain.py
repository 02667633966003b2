"""The chain of Gama and Brazdil (2000): D_{t+1} = phi(D_t, A_t(D_t)), in sample.

A_t is fitted on D_t, and what it says of the very rows of D_t is put beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from committee.ensembles.cascade.intake import CascadeIntake
from committee.ensembles.levels import Climbed, Intake, Plan
from committee.ensembles.panel import Job, PanelTask, Progress, Seat
from committee.ensembles.panel.folds import Mask


def chain(
    task: PanelTask, seats: Sequence[Seat], intake: Intake, usable: Mask, progress: Progress
) -> Climbed:
    """Fit each level on the features and on what all earlier levels say of the training rows.

    Parameters
    ----------
    task : PanelTask
        The rows.
    seats : sequence of Seat
        A member for each level, in order.
    intake : Intake
        What a level sees of the earlier ones.
    usable : ndarray of bool
        The rows to learn from.
    progress : Progress
        Told of each level.

    Returns
    -------
    Climbed
        The fitted members, and what each said of the rows it was fitted on, which is no honest
        answer.
    """
    train, every = np.flatnonzero(usable), np.arange(task.n_rows)
    learned = None if usable.all() else train
    done = Climbed([], [], [])
    for seat in seats:
        keep = intake.choose([said[train] for said in done.oof])
        rows = intake.join(task.X, done.oof, keep)
        (made,) = replace(task, seats=(seat,), X=rows).run([Job(seat, learned, every)], progress)
        assert made.outputs is not None
        done.fitted.append([made.estimator])
        done.oof.append(made.outputs)
        done.keep.append(keep)
    return done


@dataclass(frozen=True, eq=False)
class CascadePlan(Plan):
    """A cascade; where rows are not divided its levels learn in sample.

    Attributes
    ----------
    task, levels, intake, folds, parts
        See :class:`Plan`.
    """

    intake: CascadeIntake

    def undivided(self, progress: Progress) -> Climbed:
        """Fit level after level, in sample."""
        return chain(self.task, self.task.seats, self.intake, self.task.usable, progress)
