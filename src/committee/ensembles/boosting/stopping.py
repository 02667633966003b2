"""Early stopping: held-out rows judge the committee after every round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from committee.core.members import Floats, Member, Members
from committee.core.rounds import Round


@dataclass(eq=False)
class Judge:
    """Follows the loss on held-out rows, and says when it has not fallen for too long.

    Attributes
    ----------
    asked : rows
        In the form in which members are asked.
    loss : callable
        From the committee's decision on these rows to a number.
    patience : int
        Rounds without improvement after which to stop.
    losses : list of float
        After each round.
    best : Round or None
        The round of the smallest loss, the first of equal ones.
    best_size : int
        How many members there were.
    """

    asked: Any
    loss: Callable[[Floats], float]
    patience: int
    losses: list[float] = field(default_factory=list)
    best: Round | None = None
    best_size: int = 0
    _members: list[Member | Members] = field(default_factory=list)
    _weights: Floats = field(default_factory=lambda: np.empty(0))
    _decision: Floats | None = None

    def __call__(self, made: Round) -> bool:
        """Judge a round; True where it should be the last."""
        self._members.append(made.member)
        self._decision = self._decide(made)
        self._weights = made.weights
        self.losses.append(self.loss(self._decision))
        if self.best is None or self.losses[-1] < self.losses[self.best_size - 1]:
            self.best, self.best_size = made, len(self.losses)
        return len(self.losses) - self.best_size >= self.patience

    def _decide(self, made: Round) -> Floats:
        """Add the new members; where the weights of others changed, ask all of them again."""
        known = len(self._weights)
        if self._decision is not None and np.array_equal(made.weights[:known], self._weights):
            new = zip(made.weights[known:], self._say(made.member), strict=True)
            return np.asarray(self._decision + sum(weight * said for weight, said in new))
        each = chain.from_iterable(map(self._say, self._members))
        terms = zip(made.weights, each, strict=True)
        return np.asarray(sum(weight * said for weight, said in terms))

    def _say(self, member: Member | Members) -> Floats:
        """Ask one or several members: [member, row, output]."""
        said = member.outputs(self.asked)
        return said if isinstance(member, Members) else said[None]
