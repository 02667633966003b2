"""ERLPBoost: LPBoost whose weights stay near the initial ones, so that it ends in time.

Warmuth, Glocer and Vishwanathan, "Entropy regularized LPBoost" (2008), the successor of SoftBoost
(Warmuth, Glocer and Ratsch 2007). The weights of round t are

    d_t = argmin  max_{q<t} edge_q(d) + KL(d || w) / eta,      0 <= d <= w / nu,   sum d = 1,
    eta = max((2 / tol) ln(1 / nu), 1/2),

with w the initial weights and nu a share of the rows (the paper's nu counts rows: m times this
one). The vertices that LPBoost jumps between become one smooth path, and the rounds until the soft
margin is within tol of the largest are at most max(8 / tol, (32 / tol^2) ln(1 / nu)), whatever the
weak learner answers. The votes are those of the linear program of LPBoost on the same members.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from committee.core.members import Floats
from committee.core.params import real
from committee.core.rounds import Round
from committee.ensembles.boosting.boosting_docs import boosting_documented
from committee.ensembles.boosting.certificate import Certificate, Claim
from committee.ensembles.boosting.entropic_dual import compromise
from committee.ensembles.boosting.lpboost import (
    CONVERGED,
    NO_MARGIN,
    converged,
    soft_margin_claims,
)
from committee.ensembles.boosting.margin_lp import MarginLP
from committee.ensembles.boosting.one_vs_rest import TwoClassBooster
from committee.ensembles.boosting.record import Rounds
from committee.ensembles.boosting.reweighting import CHANCE, NO_BETTER, PERFECT, warn_perfect
from committee.ensembles.boosting.task import Task
from committee.ensembles.boosting.training import TrainingSet
from committee.ensembles.boosting.weighing import ask, given_up, growth

# How much of tol the weights of a round may miss their objective by. The stop does not rest on it:
# both sides of the gap are computed from the weights and votes as they are.
PRECISION = 1e-4


@boosting_documented
class ERLPBoostClassifier(TwoClassBooster):
    """Entropy-regularised LPBoost; more than two classes one against the rest.

    As long as no vote of the members has a positive soft margin, because ``nu`` is too small for
    the noise in the rows, the votes are the multipliers of the regularised problem instead.

    Parameters
    ----------
    {members}
    nu : float, default=0.5
        A share of the rows, by weight, in (0, 1]: the most that may have a margin below the one
        aimed at. No row ever weighs more than its initial weight divided by ``nu``.
    tol : float, default=0.01
        Stop when the soft margin is within ``tol`` of the largest possible, in (0, 1]. This is
        exact where the weak learner finds the smallest weighted error.
    {rest}

    Attributes
    ----------
    {attributes}
    nu_ : float
        The share of rows; smaller than ``nu`` in each part of a problem of more than two classes,
        where a share eps of wrong labels is one of 2 q eps for a class of share q.

    Examples
    --------
    >>> from committee import ERLPBoostClassifier, load_heart
    >>> X, y = load_heart(as_frame=True)
    >>> model = ERLPBoostClassifier(nu=0.3).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.stop_reason_
    (True, 'the soft margin is within tol of the best there is')
    >>> model.certificate().holds
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TwoClassBooster._parameter_constraints,
        "nu": [real(0, 1, "right")],
        "tol": [real(0, 1, "right")],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 500,
        nu: float = 0.5,
        tol: float = 0.01,
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
        w, nu = task.weight, given_up(self.nu, task)
        eta = max(2 / self.tol * np.log(1 / nu), 0.5)
        program, said = MarginLP(w / nu), np.empty((0, task.n_rows))
        d, votes, objective, entropy = w, np.empty(0), -1.0, 0.0  # no edge is below -1
        best, least_edge, enough = np.inf, np.inf, CHANCE
        while True:
            vote = ask(task, d, enough)
            if vote.perfect:
                if not len(votes):
                    warn_perfect(task)
                told = _facts(1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0)
                yield Round(vote.hypothesis.seat(), np.append(0 * votes, 1.0), told)
                return PERFECT
            if not len(votes) and vote.edge <= CHANCE:
                return NO_BETTER
            best, least_edge = min(best, vote.edge + entropy / eta), min(least_edge, vote.edge)
            gap, crowd = best - objective, growth(d, w) * nu
            said = np.vstack([said, vote.u])
            begin = np.append(votes, 0.0 if len(votes) else 1.0)
            after = compromise(said, w, nu, eta, begin, PRECISION * self.tol)
            d, votes, objective, entropy = after.weight, after.votes, after.objective, after.entropy
            optimum = program.add(vote.u)
            weights = optimum.votes if optimum.value > CHANCE else votes
            left, enough = least_edge - optimum.value, optimum.value + self.tol
            told = _facts(vote.edge, gap, left, optimum.value, optimum.rho, crowd, entropy)
            yield Round(vote.hypothesis.seat(), weights, told)
            if gap <= self.tol / 2 or left <= self.tol:
                return CONVERGED if optimum.value > CHANCE else NO_MARGIN

    def _claims(self, certificate: Certificate) -> Iterator[Claim]:
        rounds = certificate.rounds
        yield from soft_margin_claims(certificate, self.nu_)
        crowd = float(rounds["crowd"].max())
        yield Claim("largest weight of a row as a share of its cap, w / nu", crowd, 1.0)
        if converged(certificate):
            text = "the smallest edge asked for, which no soft margin exceeds, less the value"
            yield Claim(text, float(rounds["gap"][-1]), self.tol)

    def _attributes(self, train: TrainingSet, *rest: Any) -> dict[str, Any]:
        return {**super()._attributes(train, *rest), "nu_": given_up(self.nu, train)}

    def _comparable(self, decision: Floats) -> Floats:
        return decision  # the votes of every part sum to 1, those of a perfect member too


def _facts(
    edge: float, lag: float, gap: float, value: float, rho: float, crowd: float, entropy: float
) -> dict[str, float]:
    return {
        "error": (1 - edge) / 2,
        "edge": edge,
        "value": value,
        "rho": rho,
        "gap": gap,
        "lag": lag,
        "crowd": crowd,
        "entropy": entropy,
    }
