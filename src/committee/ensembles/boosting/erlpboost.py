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

from committee.core.params import real
from committee.core.rounds import Round
from committee.ensembles.boosting.boosting_docs import boosting_documented
from committee.ensembles.boosting.certificate import Certificate, Claim
from committee.ensembles.boosting.entropic_dual import compromise
from committee.ensembles.boosting.hypothesis import signs
from committee.ensembles.boosting.lpboost import CONVERGED, NO_MARGIN, soft_margin_claims
from committee.ensembles.boosting.margin_lp import MarginLP
from committee.ensembles.boosting.one_vs_rest import TwoClassBooster
from committee.ensembles.boosting.record import Rounds
from committee.ensembles.boosting.reweighting import CHANCE, NO_BETTER, PERFECT, warn_perfect
from committee.ensembles.boosting.task import Task

PRECISION = 1e-11  # of the objective of a round; the stop does not rest on it


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

    Examples
    --------
    >>> from committee import ERLPBoostClassifier, load_heart
    >>> X, y = load_heart(as_frame=True)
    >>> model = ERLPBoostClassifier(nu=0.6).fit(X, y)
    >>> bool(model.score(X, y) > 0.8), model.stop_reason_
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
        w, nu = task.weight, self.nu
        eta = max(2 / self.tol * np.log(1 / nu), 0.5)
        program, said = MarginLP(w / nu), np.empty((0, task.n_rows))
        d, votes, objective, entropy = w, np.empty(0), -1.0, 0.0  # no edge is below -1
        best = least_edge = np.inf
        while True:
            h = task.fit(d).through(signs)
            agrees = task.signs * h.said[:, 0]
            edge = float(np.sum(d * agrees))
            if (agrees > 0).all():
                if not len(votes):
                    warn_perfect(task)
                told = _facts(1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0)
                yield Round(h.seat(), np.append(0 * votes, 1.0), told)
                return PERFECT
            if not len(votes) and edge <= CHANCE:
                return NO_BETTER
            best, least_edge = min(best, edge + entropy / eta), min(least_edge, edge)
            gap, crowd = best - objective, float((d / w).max() * nu)
            said = np.vstack([said, agrees])
            begin = np.append(votes, 0.0 if len(votes) else 1.0)
            after = compromise(said, w, nu, eta, begin, PRECISION)
            d, votes, objective, entropy = after.weight, after.votes, after.objective, after.entropy
            optimum = program.add(agrees)
            weights = optimum.votes if optimum.value > CHANCE else votes
            left = least_edge - optimum.value
            told = _facts(edge, gap, left, optimum.value, optimum.rho, crowd, entropy)
            yield Round(h.seat(), weights, told)
            if gap <= self.tol / 2 or left <= self.tol:
                return CONVERGED if optimum.value > CHANCE else NO_MARGIN

    def _claims(self, certificate: Certificate) -> Iterator[Claim]:
        rounds = certificate.rounds
        yield from soft_margin_claims(certificate, self.nu)
        crowd = float(rounds["crowd"].max())
        yield Claim("largest weight of a row as a share of its cap, w / nu", crowd, 1.0)
        if certificate.stop_reason in (CONVERGED, NO_MARGIN):
            text = "the smallest edge asked for, which no soft margin exceeds, less the value"
            yield Claim(text, float(rounds["gap"][-1]), self.tol)


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
