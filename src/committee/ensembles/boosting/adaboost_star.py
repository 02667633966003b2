"""AdaBoost*: AdaBoost that is told how large a margin to aim at, and so reaches the largest.

Ratsch and Warmuth, "Efficient margin maximizing with boosting" (2005). No vote has a larger
minimum margin than the smallest edge seen so far, g_hat; aim at nu below it:

    rho = g_hat - nu,    alpha = 1/2 ln((1 + g) / (1 - g)) - 1/2 ln((1 + rho) / (1 - rho)),
    D(i) <- D(i) exp(-alpha y_i h(x_i)) / Z.

Every round multiplies the share of rows with a margin of at most rho, as far as it is bounded, by
exp(-nu^2 / 2) or less. So after 2 ln(m) / nu^2 rounds no row is left with a margin below
g_hat - nu, and the minimum margin is within nu of the largest there is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from committee.core.params import real
from committee.core.rounds import Round
from committee.ensembles.boosting.boosting_docs import boosting_documented
from committee.ensembles.boosting.certificate import Certificate, Claim
from committee.ensembles.boosting.one_vs_rest import TwoClassBooster
from committee.ensembles.boosting.record import Rounds
from committee.ensembles.boosting.reweighting import (
    CHANCE,
    NO_BETTER,
    PERFECT,
    SMALLEST,
    distribution,
    exponential_claims,
    facts,
    warn_perfect,
)
from committee.ensembles.boosting.task import Task
from committee.ensembles.boosting.weighing import ask, log_start

GUARANTEED = "the minimum margin is within nu of the largest, after 2 ln(m) / nu^2 rounds"


@boosting_documented
class AdaBoostStarClassifier(TwoClassBooster):
    """AdaBoost*, which maximises the minimum margin; more than two classes one against the rest.

    Where rows weigh differently, m is 1 / (the smallest share of the total weight).

    Parameters
    ----------
    {members}
    nu : float, default=0.1
        How near the minimum margin is to come to the largest there is, in (0, 1]. It takes
        2 ln(n_samples) / nu^2 rounds, after which the algorithm ends by itself; ``n_estimators``
        may end it before.
    {rest}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from committee import AdaBoostStarClassifier
    >>> X = [[8, 7], [6, 8], [7, 10], [1, 3], [2, 1], [3, 5], [5, 6], [4, 2], [10, 9], [9, 4]]
    >>> y = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> model = AdaBoostStarClassifier(nu=0.1).fit(X, y)
    >>> len(model), round(float(model.train_margins_.min()), 4)  # the largest is 1/3
    (461, 0.3319)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TwoClassBooster._parameter_constraints,
        "nu": [real(0, 1, "right")],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 2000,
        nu: float = 0.1,
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

    def _rounds(self, task: Task) -> Rounds:
        log_d, alphas = log_start(task), np.empty(0)
        enough = rounds_needed(float(task.weight.min()), self.nu)
        g_hat = 1.0
        while len(alphas) < enough:
            d = distribution(log_d)
            vote = ask(task, d)
            # Where all errors are on rows whose weight is below float64, alpha is but very large.
            right, wrong = vote.right, max(vote.wrong, SMALLEST)
            if vote.perfect:
                if not len(alphas):
                    warn_perfect(task)
                told = {**facts(0.0, np.inf, 1.0, 0.0), "least_edge": g_hat, "rho": g_hat - self.nu}
                yield Round(vote.hypothesis.seat(), np.append(0 * alphas, 1.0), told)
                return PERFECT
            edge = right - wrong
            if edge <= CHANCE:
                return NO_BETTER
            g_hat = min(g_hat, edge)
            rho = g_hat - self.nu
            alpha = np.log(right / wrong) / 2 - math.atanh(rho)
            z = right * np.exp(-alpha) + wrong * np.exp(alpha)
            alphas = np.append(alphas, alpha)
            told = {**facts(wrong, alpha, edge, z), "least_edge": g_hat, "rho": rho}
            yield Round(vote.hypothesis.seat(), alphas, told)
            log_d -= alpha * vote.u
        return GUARANTEED

    def _claims(self, certificate: Certificate) -> Iterator[Claim]:
        yield from exponential_claims(certificate, optimal=False)
        rounds, enough = certificate.rounds, rounds_needed(certificate.distribution.min(), self.nu)
        if len(certificate.weights) >= enough and np.isfinite(rounds["alpha"]).all():
            text = "minimum margin >= smallest edge seen - nu"
            least = float(rounds["least_edge"][-1])
            yield Claim(text, float(certificate.margins.min()), least - self.nu, ">=")


def rounds_needed(smallest_weight: float, nu: float) -> int:
    """Say after how many rounds no row is left behind: 2 ln(m) / nu^2 for m rows alike."""
    return max(1, math.ceil(-2 * math.log(smallest_weight) / nu**2))
