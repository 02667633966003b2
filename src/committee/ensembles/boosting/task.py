"""A task: the rows of a two-class, many-class or numeric problem and the weak learner to ask.

The n-th question to the learner draws its random numbers from (seed, n). So the members of a
fitted committee can be asked again in the learner's place, and the algorithm takes every step once
more without knowing: that is how a fit is continued, how its weights are shown, and how its
certificate is verified.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from committee.core.committee import Committee
from committee.core.margins import agreement
from committee.core.members import Floats, Member, Members, Trees
from committee.core.randomness import member_rng
from committee.ensembles.boosting.hypothesis import Hypothesis, SeatedHypothesis
from committee.ensembles.boosting.rows import BoostingRows
from committee.ensembles.boosting.weak_learners import Resampled, WeakLearner

Codes = npt.NDArray[np.intp]


@dataclass(eq=False)
class Task:
    """What an algorithm works on.

    Attributes
    ----------
    rows : BoostingRows
        The training rows; each weighs something.
    y : ndarray of int, or of float64
        Class codes, or numbers.
    n_classes : int
        0 for numbers.
    weight : ndarray of float64
        The initial distribution over the rows: positive, sum 1.
    learner : WeakLearner
        To be asked through :meth:`fit`.
    seed : int
        Of the committee.
    size : int
        How many rows there are, where one of weight k stands for k rows.
    keys : ndarray of uint64
        The content of the rows: what is drawn by it does not depend on their order.
    seated : mapping of int to Member or Trees
        Answers that are known: the member that came of the n-th question.
    recall_only : bool
        Whether to stop, by :class:`AllRecalled`, at the first question after the last known answer,
        and to keep the weights of each question.
    part : bool
        Whether this is one class against the rest, of several such tasks.
    asked : int
        Questions so far.
    distributions : list of ndarray
        The weights of each question, where they are kept.
    """

    rows: BoostingRows
    y: npt.NDArray[Any]
    n_classes: int
    weight: Floats
    learner: WeakLearner
    seed: int
    size: int
    keys: npt.NDArray[np.uint64]
    seated: Mapping[int, Member | Members] = field(default_factory=dict)
    recall_only: bool = False
    part: bool = False
    asked: int = 0
    distributions: list[Floats] = field(default_factory=list)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.y)

    @property
    def draws(self) -> bool:
        """Whether the learner is given a sample drawn by the weights."""
        return isinstance(self.learner, Resampled)

    @cached_property
    def signs(self) -> Floats:
        """Two classes as -1 and +1."""
        return np.where(self.y == 1, 1.0, -1.0)

    def agreement(self, h: Hypothesis) -> Floats:
        """Say for each row how far a hypothesis speaks for its class: for votes -1, 0 or +1."""
        if self.n_classes == 2:
            return self.signs * h.said[:, 0]
        return agreement(h.said, self.y)

    def fit(self, weight: Floats, y: Any = None) -> Hypothesis:
        """Ask the weak learner for a hypothesis.

        Parameters
        ----------
        weight : ndarray
            A distribution over the rows.
        y : ndarray, optional
            What it should learn instead of the classes or numbers of the rows.
        """
        question, self.asked = self.asked, self.asked + 1
        if self.recall_only:
            self.distributions.append(weight)
        known = self.seated.get(question)
        if known is not None:
            return self.recall(known)
        if self.recall_only and question > max(self.seated, default=-1):
            raise AllRecalled
        rng = member_rng(self.seed, question)
        target = self.y if y is None else y
        return self.learner.fit(self.rows, target, weight * self.size, rng)

    def recall(self, member: Member | Members) -> SeatedHypothesis:
        """Ask a member of a committee about the training rows."""
        asked = self.rows.asked
        said = member.outputs(asked)
        return SeatedHypothesis(member, said[0] if isinstance(member, Members) else said)


class AllRecalled(Exception):
    """All known answers were given."""


def answers(committee: Committee, questions: npt.NDArray[np.int64]) -> dict[int, Member | Members]:
    """Tell which member came of which question; trees stay in the engine.

    A member that is made of others knows itself which questions these answer.
    """
    members = committee.members
    if isinstance(members, Trees):
        seats: list[Member | Members] = [members[t : t + 1] for t in range(len(members))]
    else:
        seats = list(members)
    known: dict[int, Member | Members] = {}
    for question, seat in zip(questions.tolist(), seats, strict=True):
        known |= getattr(seat, "answers", {question: seat})
    return known
