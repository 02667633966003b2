"""Early stopping: the loss on rows that no tree has seen, round by round.

Rows are held out by a split of the training rows, or given by the user. Fitting ends when the loss
has not become smaller for some rounds, and the committee is then cut back to its best round.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from committee import _engine
from committee.core.members import Floats
from committee.core.rounds import Round
from committee.core.stages import Stages
from committee.losses.answers import checked_values
from committee.losses.loss import Loss

HELD_OUT_LOSS = "held_out_loss"


@dataclass(eq=False)
class HeldOut:
    """Rows that no tree sees, and their scores so far.

    Attributes
    ----------
    table : _engine.Table
        The rows.
    y : ndarray of float64
        Their targets.
    weight : ndarray of float64
        Their weights.
    raw : ndarray of float64, shape (n_rows, n_outputs)
        Their scores.
    loss : Loss
        What they are judged by.
    """

    table: _engine.Table
    y: Floats
    weight: Floats
    raw: Floats
    loss: Loss

    def advance(self, stages: Stages, learning_rate: float, n_threads: int) -> None:
        """Move the scores by one round."""
        self.raw = (
            stages.total(self.table, np.array([learning_rate]), np.zeros(1), n_threads) + self.raw
        )

    def mean_loss(self, round_number: int) -> float:
        """Average the loss over the rows."""
        raw = self.raw[:, 0] if self.raw.shape[1] == 1 else self.raw
        values = checked_values(self.loss, self.y, raw, round_number=round_number)
        return float(np.average(values, weights=self.weight))


@dataclass(eq=False)
class EarlyStop:
    """Decides when a booster has boosted enough.

    Attributes
    ----------
    patience : int
        Rounds without a better loss after which to stop.
    tol : float
        By how much a loss must be smaller to be better.
    losses : list of float
        Of each round, the start first.
    """

    patience: int
    tol: float
    losses: list[float] = field(default_factory=list)
    best: int = 0  # rounds of the best committee

    def hear(self, loss: float) -> bool:
        """Take the loss of one more round; tell whether that was enough."""
        self.losses.append(loss)
        rounds = len(self.losses) - 1
        if rounds == 0 or loss < self.losses[self.best] - self.tol:
            self.best = rounds
        return rounds - self.best >= self.patience

    def __call__(self, made: Round) -> bool:
        """Judge a round by its facts."""
        return self.hear(made.facts[HELD_OUT_LOSS])
