"""Schapire's first booster: three hypotheses, each on what the ones before leave unsettled.

Schapire, "The strength of weak learnability" (1990). h1 learns the rows as they are; h2 learns
them reweighted so that h1 is right on exactly one half; h3 learns those on which h1 and h2
disagree; the majority decides. If none errs on more than a share b of what it was given, the
majority errs on at most 3 b^2 - 2 b^3 < b, and three such committees can again be three
hypotheses: depth d has 3^d members.

The paper draws examples until it has enough of each kind; on a given sample the same distributions
are made by weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from committee.core.members import Floats, Member, Members
from committee.core.params import integer
from committee.core.rounds import Round
from committee.data import InputError
from committee.data.errors import describe
from committee.ensembles.boosting.boosting_docs import boosting_documented
from committee.ensembles.boosting.certificate import Certificate, Claim
from committee.ensembles.boosting.hypothesis import Hypothesis, SeatedHypothesis, signs
from committee.ensembles.boosting.one_vs_rest import TwoClassBooster
from committee.ensembles.boosting.record import Rounds
from committee.ensembles.boosting.reweighting import NO_BETTER, PERFECT, weight_of
from committee.ensembles.boosting.task import Task
from committee.ensembles.boosting.training import HeldOut, TrainingSet

THREE = "three hypotheses are all there are"
AGREE = "the first two hypotheses agree on every row"


@boosting_documented
class FirstBoostingClassifier(TwoClassBooster):
    """Schapire's three hypotheses, to any depth; more than two classes one against the rest.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The weak learner, any scikit-learn classifier; None is a :class:`DecisionStump` with 255
        bins.
    depth : int, default=1
        Levels of recursion: the committee of depth d asks for at most 3^d hypotheses.
    resample : bool or "auto", default="auto"
        Whether the weak learner is given a sample of the rows drawn by their weights instead of
        the weights; "auto" does so where its ``fit`` takes no ``sample_weight``.
    {n_jobs}
    {random_state}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from committee import FirstBoostingClassifier, load_heart
    >>> X, y = load_heart(as_frame=True)
    >>> model = FirstBoostingClassifier(depth=2).fit(X, y)
    >>> model.certificate().holds
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: TwoClassBooster._parameter_constraints[name]
        for name in ("estimator", "resample", "n_jobs", "random_state")
    } | {"depth": [integer(1, 8)]}

    n_estimators = 4  # one more than are made, so that the generator says why it ends
    early_stopping = False
    warm_start = False
    verbose = 0

    def __init__(
        self,
        estimator: Any = None,
        *,
        depth: int = 1,
        resample: bool | str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.depth = depth
        self.resample = resample
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _rounds(self, task: Task) -> Rounds:
        weights = np.ones(3)
        for t, step in enumerate(three(task, task.weight, self.depth)):
            if isinstance(step, str):
                return step
            facts = {"error": step.error, "edge": 1 - 2 * step.error}
            yield Round(step.h.seat(), weights[: t + 1], facts)
        return THREE

    def _check_held_out(self, train: TrainingSet, held_out: HeldOut | None) -> None:
        found = "three hypotheses are made, and none is left for held-out rows to judge"
        raise InputError(describe("P-SPLIT", "X_val", found, fix="leave X_val and y_val out"))

    def _claims(self, certificate: Certificate) -> Iterator[Claim]:
        b = float(certificate.rounds["error"].max())
        if len(certificate.weights) < 3:
            yield Claim("training error of one hypothesis", certificate.training_error, b)
        elif b < 1 / 2:
            bound = 3 * b**2 - 2 * b**3
            yield Claim("training error <= 3 b^2 - 2 b^3", certificate.training_error, bound)


@dataclass(frozen=True, eq=False)
class Step:
    """A hypothesis and its error on what it was given."""

    h: Hypothesis
    error: float
    answers: dict[int, Member | Members]


def three(task: Task, d: Floats, depth: int) -> Iterator[Step | str]:
    """Ask for h1 on d, h2 where h1 is right on one half, h3 where both disagree.

    Where there is nothing left to ask for, say why.
    """
    h1 = ask(task, d, depth - 1)
    if h1.error >= 1 / 2:
        yield NO_BETTER
        return
    yield h1
    if h1.error == 0:
        yield PERFECT
        return
    wrong = h1.h.said[:, 0] != task.signs
    h2 = ask(task, np.where(wrong, d / h1.error, d / (1 - h1.error)) / 2, depth - 1)
    apart = h1.h.said[:, 0] != h2.h.said[:, 0]
    total = weight_of(d, apart)
    if total == 0:
        yield AGREE
        return
    yield h2
    yield ask(task, np.where(apart, d / total, 0.0), depth - 1)


def ask(task: Task, d: Floats, depth: int) -> Step:
    """Ask the weak learner, or, above it, a committee of three that speaks with one voice."""
    question = task.asked
    if depth == 0:
        h: Hypothesis = task.fit(d).through(signs)
        answers = {question: h.seat()}
    else:
        parts = [step for step in three(task, d, depth) if not isinstance(step, str)]
        if not parts:  # no better than chance: left to the caller, who sees its error
            parts = [ask(task, d, 0)]
        answers = {q: seat for part in parts for q, seat in part.answers.items()}
        said = np.sign(sum(part.h.said for part in parts))
        seats = tuple(part.h.seat() for part in parts)
        h = SeatedHypothesis(Majority(seats, answers), np.asarray(said))
    return Step(h, weight_of(d, h.said[:, 0] != task.signs), answers)


@dataclass(frozen=True, eq=False)
class Majority:
    """Members that speak with one voice, as one member.

    Attributes
    ----------
    parts : tuple of Member
        Three of them, or one where the others were not needed.
    answers : dict of int to Member
        All members below by the question to the weak learner that they answer.
    """

    parts: tuple[Member | Members, ...]
    answers: dict[int, Member | Members]

    def outputs(self, X: Any) -> Floats:
        """Vote: -1 or +1."""
        total: Any = 0.0
        for part in self.parts:
            said = part.outputs(X)
            total = total + (said[0] if isinstance(part, Members) else said)
        return np.asarray(np.sign(total))
