"""What happened in each round: the numbers, the questions, and why there were no more."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

import numpy as np

from committee.core.members import Floats, Members
from committee.core.rounds import Round
from committee.ensembles.boosting.task import Task

Rounds = Generator[Round, None, str]


@dataclass(eq=False)
class Record:
    """What happened, round by round.

    Attributes
    ----------
    facts : list of dict
        The numbers of each round.
    questions : list of int
        Which question to the weak learner each member answers.
    reason : str or None
        Why the algorithm ended, where it did so itself.
    """

    facts: list[dict[str, float]] = field(default_factory=list)
    questions: list[int] = field(default_factory=list)
    reason: str | None = None

    def follow(self, rounds: Rounds, task: Task) -> Iterator[Round]:
        """Write down what passes."""
        while True:
            try:
                made = next(rounds)
            except StopIteration as end:
                self.reason = end.value
                return
            self.facts.append(dict(made.facts))
            size = len(made.member) if isinstance(made.member, Members) else 1
            self.questions += range(task.asked - size, task.asked)
            yield made

    def columns(self, size: int) -> dict[str, Floats]:
        """Give the numbers of the first rounds by name."""
        facts = self.facts[:size]
        names = facts[0] if facts else {}
        return {name: np.array([float(each[name]) for each in facts]) for name in names}
