"""LPBoost: the vote with the largest soft margin there is, by column generation.

Demiriz, Bennett and Shawe-Taylor, "Linear programming boosting via column generation" (2002). With
the initial weights w of the rows, which sum to 1,

    max  rho - (1/nu) sum_i w_i xi_i    y_i sum_j a_j h_j(x_i) + xi_i >= rho,  sum a = 1, a, xi >= 0
    min  b                              sum_i u_i y_i h_j(x_i) <= b,  sum u = 1,  0 <= u <= w / nu

Each round asks for the hypothesis of the largest edge under u and solves again, all votes anew.
That edge is the value of a feasible point of the second program over *all* hypotheses of the
learner, so no vote whatever has a larger soft margin: the gap between the two is what is left to
gain. The value is the mean margin of the worst share nu of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from committee.core.margins import share_at_most
from committee.core.members import Floats
from committee.core.params import real
from committee.core.rounds import Round
from committee.ensembles.boosting.boosting_docs import boosting_documented
from committee.ensembles.boosting.certificate import SLACK, Certificate, Claim
from committee.ensembles.boosting.margin_lp import MarginLP, Optimum, soft_margin
from committee.ensembles.boosting.one_vs_rest import TwoClassBooster
from committee.ensembles.boosting.record import Rounds
from committee.ensembles.boosting.reweighting import CHANCE, NO_BETTER, PERFECT, warn_perfect
from committee.ensembles.boosting.task import Task
from committee.ensembles.boosting.training import TrainingSet
from committee.ensembles.boosting.weighing import ask, given_up

CONVERGED = "the soft margin is within tol of the best there is"
NO_MARGIN = "no vote has a positive soft margin: nu is too small for these rows"


@boosting_documented
class LPBoostClassifier(TwoClassBooster):
    """LPBoost with soft margins; more than two classes one against the rest.

    The votes, which sum to 1, maximise the mean margin of the worst share ``nu`` of the rows. As
    long as no vote of the members has a positive one, because ``nu`` is too small for the noise in
    the rows, the optimum is a vote that cancels itself out; the member with the smallest error on
    the initial weights decides alone instead, and ``stop_reason_`` says so if that is the end.
    Where a share q of labels is wrong at random, ``nu`` has to be well above 2 q.

    Parameters
    ----------
    {members}
    nu : float, default=0.5
        A share of the rows, by weight, in (0, 1]: the most that may have a margin below the one
        aimed at. No row ever weighs more than its initial weight divided by ``nu``. At 1 the best
        single member wins; if no larger than the smallest initial weight, 1 / n_samples where all
        are alike, the smallest margin of all is maximised: the hard margin.
    tol : float, default=1e-6
        Stop when the soft margin is within ``tol`` of the largest possible. This is exact where
        the weak learner finds the smallest weighted error, as a :class:`DecisionStump` does. Every
        round solves a linear program of all members; a smaller ``nu`` usually takes more rounds.
    {rest}

    Attributes
    ----------
    {attributes}
    nu_ : float
        The share of rows; smaller than ``nu`` in each part of a problem of more than two classes,
        where a share eps of wrong labels is one of 2 q eps for a class of share q. With ``nu``
        itself a class of a smaller share could be given up whole.

    Examples
    --------
    >>> from committee import LPBoostClassifier, load_heart
    >>> X, y = load_heart(as_frame=True)
    >>> model = LPBoostClassifier(nu=0.3).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.stop_reason_
    (True, 'the soft margin is within tol of the best there is')
    >>> model.certificate().holds
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TwoClassBooster._parameter_constraints,
        "nu": [real(0, 1, "right")],
        "tol": [real(0, None, "left")],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 500,
        nu: float = 0.5,
        tol: float = 1e-6,
        resample: bool | str = "auto",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            n_estimators=n_estimators,
            resample=resample,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.nu = nu
        self.tol = tol

    def _rounds(self, task: Task) -> Rounds:
        program = MarginLP(task.weight / given_up(self.nu, task))
        near = max(self.tol, SLACK)
        u, bound, enough, leads = task.weight, np.inf, CHANCE, np.empty(0)
        while True:
            vote = ask(task, u, enough)
            if vote.perfect:
                if not len(leads):
                    warn_perfect(task)
                told = _facts(1.0, 1.0, 1.0, 1.0, 1.0)
                yield Round(vote.hypothesis.seat(), np.append(0 * leads, 1.0), told)
                return PERFECT
            if not len(leads) and vote.edge <= CHANCE:
                return NO_BETTER
            leads = np.append(leads, np.sum(task.weight * vote.u))
            optimum = program.add(vote.u)
            bound = min(bound, vote.edge)
            facts = _facts(vote.edge, bound, optimum.value, optimum.rho, optimum.edge)
            yield Round(vote.hypothesis.seat(), usable(optimum, leads), facts)
            if bound - optimum.value <= near:
                return CONVERGED if optimum.value > CHANCE else NO_MARGIN
            u, enough = optimum.weight / np.sum(optimum.weight), optimum.value + near

    def _claims(self, certificate: Certificate) -> Iterator[Claim]:
        rounds = certificate.rounds
        yield from soft_margin_claims(certificate, self.nu_)
        text = "largest edge of a member under the weights that follow <= value, in every round"
        yield Claim(text, float(np.max(rounds["past_edge"] - rounds["value"])), 0.0)
        if converged(certificate):
            text = "the smallest edge asked for, which no soft margin exceeds, less the value"
            yield Claim(text, float(rounds["gap"][-1]), self.tol)

    def _attributes(self, train: TrainingSet, *rest: Any) -> dict[str, Any]:
        return {**super()._attributes(train, *rest), "nu_": given_up(self.nu, train)}

    def _comparable(self, decision: Floats) -> Floats:
        return decision  # the votes of every part sum to 1, those of a perfect member too


def usable(optimum: Optimum, leads: Floats) -> Floats:
    """Give the optimal votes; where they cancel out, all to the best member by initial weights."""
    if optimum.value > CHANCE:
        return optimum.votes
    alone = np.zeros(len(leads))
    alone[int(np.argmax(leads))] = 1.0
    return alone


def converged(certificate: Certificate) -> bool:
    """Say whether the last round is that at which the gap was closed: held-out rows may cut."""
    judged = getattr(certificate.model, "validation_losses_", certificate.weights)
    closed = certificate.stop_reason in (CONVERGED, NO_MARGIN)
    return closed and len(judged) == len(certificate.weights)


def soft_margin_claims(certificate: Certificate, nu: float) -> Iterator[Claim]:
    """State what a soft margin says of the margins of the rows; ``value`` and ``rho`` are facts."""
    value, rho = (float(certificate.rounds[name][-1]) for name in ("value", "rho"))
    if value <= CHANCE:
        yield Claim("largest soft margin of a vote of the members: none is positive", value, 0.0)
        return
    again, _ = soft_margin(certificate.margins, certificate.distribution / nu)
    yield Claim("mean margin of the worst share nu of the rows = value", again, value, "=")
    below = share_at_most(certificate.margins, certificate.distribution, rho - SLACK)
    yield Claim("share of rows with a margin below rho <= nu", float(below), nu)
    # The mean of the worst is at most what their part that is right could make it: rho.
    bound = nu * (1 - value / rho)
    yield Claim("training error <= nu (1 - value / rho)", certificate.training_error, bound)


def _facts(edge: float, bound: float, value: float, rho: float, past: float) -> dict[str, float]:
    return {
        "error": (1 - edge) / 2,
        "edge": edge,
        "value": value,
        "rho": rho,
        "gap": bound - value,
        "past_edge": past,
    }
