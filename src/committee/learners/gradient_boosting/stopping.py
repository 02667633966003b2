"""Early stopping: the loss on rows that no tree has seen, round by round.

Rows are held out by a split of the training rows, or given by the user. Fitting ends when the loss
has not become smaller for some rounds, and the committee is then cut back to its best round.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from committee import _engine
from committee.core.committee import Committee
from committee.core.members import Floats
from committee.core.rounds import Round
from committee.core.stages import Stages
from committee.learners.gradient_boosting.ledger import ScoreLedger
from committee.losses.answers import checked_values
from committee.losses.loss import Loss


class Judge(Protocol):
    """Judges rounds by rows that they have not seen."""

    @property
    def fact(self) -> str:
        """The name of the judgement among the facts of a round."""

    @property
    def one_by_one(self) -> bool:
        """Whether it must be asked before the next round is made."""

    def start(self, number: int) -> float:
        """Judge the scores before the first round of this fit; ``number`` were made before."""

    def judge(self, made: Stages, weights: Floats) -> float:
        """Judge the committee after one more round, by the weights of all; less is better."""

    def remembered(self, stop: EarlyStop) -> dict[str, Any]:
        """Collect what the estimator keeps of it."""


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
    n_threads : int
        Threads that may be used.
    ledger : ScoreLedger or None
        Their leaves, where weights of earlier rounds may change.
    """

    fact: ClassVar[str] = "held_out_loss"
    one_by_one: ClassVar[bool] = False

    table: _engine.Table
    y: Floats
    weight: Floats
    raw: Floats
    loss: Loss
    n_threads: int
    ledger: ScoreLedger | None = None

    def start(self, number: int) -> float:
        """Average the loss over the rows."""
        raw = self.raw[:, 0] if self.raw.shape[1] == 1 else self.raw
        values = checked_values(self.loss, self.y, raw, round_number=number)
        return float(np.average(values, weights=self.weight))

    def judge(self, made: Stages, weights: Floats) -> float:
        """Move the scores by one round, and average the loss."""
        if self.ledger is not None:
            self.ledger.follow(made, self.table)
            self.raw = np.ascontiguousarray(self.ledger.scores(weights).T)
        else:
            *_, self.raw = made.running(self.table, weights[-1:], self.raw, self.n_threads)
        return self.start(len(weights))

    def remembered(self, stop: EarlyStop) -> dict[str, Any]:
        """Collect what the estimator keeps of it."""
        return {"held_out_loss_": np.array(stop.losses)}


@dataclass(eq=False)
class EarlyStop:
    """Decides when a booster has boosted enough.

    Attributes
    ----------
    patience : int
        Rounds without a better loss after which to stop.
    tol : float
        By how much a loss must be smaller to be better.
    fact : str
        Which fact of a round is its loss.
    losses : list of float
        Of each round, the start first.
    """

    patience: int
    tol: float
    fact: str = HeldOut.fact
    losses: list[float] = field(default_factory=list)
    best: int = 0  # rounds of the best committee
    weights: Floats | None = None  # what they weighed then: later rounds may change it (dart.py)

    def hear(self, loss: float) -> bool:
        """Take the loss of one more round; tell whether that was enough."""
        self.losses.append(loss)
        rounds = len(self.losses) - 1
        if rounds == 0 or loss < self.losses[self.best] - self.tol:
            self.best = rounds
        return rounds - self.best >= self.patience

    def __call__(self, made: Round) -> bool:
        """Judge a round by its facts."""
        enough = self.hear(made.facts[self.fact])
        if self.best == len(self.losses) - 1 or self.weights is None:
            self.weights = made.weights
        return enough

    def cut(self, committee: Committee, begin: Committee | None) -> Committee:
        """Go back to the best round: that of the fit before, or the first, at least."""
        if self.best == 0 and begin is not None:
            return begin
        assert self.weights is not None
        members = committee.members[: len(self.weights)]
        return Committee(members, self.weights, committee.intercept)
