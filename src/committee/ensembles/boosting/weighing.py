"""Weighing: a vote asked for by weights of the rows, and what the weights themselves tell.

The boosters that bear noise share this: none of them needs more of a hypothesis than which rows it
gets right, and all of them limit what a row can weigh.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committee.core.members import Floats
from committee.ensembles.boosting.hypothesis import Hypothesis, signs
from committee.ensembles.boosting.reweighting import CHANCE, REDRAWS, SMALLEST
from committee.ensembles.boosting.task import Task
from committee.ensembles.boosting.training import TrainingSet

HEAVIEST = 0.05  # the share of rows whose weight is an alarm for noise


@dataclass(frozen=True, eq=False)
class Vote:
    """A hypothesis that votes -1 or +1, and what it is worth on weighted rows.

    Attributes
    ----------
    hypothesis : Hypothesis
        Says -1 or +1.
    u : ndarray of shape (n_rows,)
        +1 where it is right, -1 where it is wrong.
    right, wrong : float
        The weight of either kind of rows.
    """

    hypothesis: Hypothesis
    u: Floats
    right: float
    wrong: float

    @property
    def edge(self) -> float:
        """The weighted mean of ``u``."""
        return self.right - self.wrong

    @property
    def perfect(self) -> bool:
        """Whether every row is right: a weight of 0 may be but a very small one."""
        return bool((self.u > 0).all())


def ask(task: Task, d: Floats, least: float = CHANCE) -> Vote:
    """Ask for a vote; where rows are drawn for it, again if the draw was unlucky.

    Parameters
    ----------
    task : Task
        Of two classes.
    d : ndarray
        The weights of the rows, which sum to 1.
    least : float
        The edge above which a vote is of use. A learner that is given the weights themselves
        would answer the same again, so it is asked once.
    """
    for _ in range(REDRAWS if task.draws else 1):
        h = task.fit(d).through(signs)
        u = task.signs * h.said[:, 0]
        right, wrong = float(np.sum(d, where=u > 0)), float(np.sum(d, where=u < 0))
        vote = Vote(h, u, right, wrong)
        if vote.edge > least:
            break
    return vote


def log_start(task: Task) -> Floats:
    """Give the logarithms of the initial weights; minus infinity where float64 holds none."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(task.weight))


def heaviest(d: Floats) -> float:
    """Weigh the heaviest twentieth of the rows.

    Rows that are mislabelled gather weight, so a share far above 1/20 is an alarm for noise.
    """
    count = max(1, round(HEAVIEST * len(d)))
    return float(np.sum(np.partition(d, len(d) - count)[len(d) - count :]))


def growth(d: Floats, start: Floats) -> float:
    """Say how much the share of a row has grown at most, as a multiple of its initial share."""
    kept = start >= SMALLEST
    return float(np.max(d[kept] / start[kept]))


def given_up(share: float, rows: Task | TrainingSet) -> float:
    """Say which share of the rows to give up, of the ``share`` of all rows that a user names.

    One class against the rest is a problem of its own. Where a share eps of all labels is wrong, a
    class that has a share q of the rows loses eps q of them and gets about as many from others, so
    that 2 q eps of the labels of that problem are wrong; else a rare class would be given up whole.
    """
    if not rows.part:
        return share
    weight = rows.weight if isinstance(rows, Task) else rows.distribution
    own = float(np.sum(weight, where=rows.y == 1))
    return share * 2 * min(own, 1 - own)
