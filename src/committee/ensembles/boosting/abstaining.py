"""AdaBoost with hypotheses that may abstain: h(x) in {-1, 0, +1} (Schapire and Singer 1999).

W+, W- and W0 weigh the rows that h gets right, gets wrong, and leaves open. Then

    Z = W0 + W+ exp(-alpha) + W- exp(alpha),  least at  alpha = 1/2 ln(W+ / W-),
    where it is W0 + 2 sqrt(W+ W-);

the lectures share W0 out, alpha = 1/2 ln((W+ + W0/2) / (W- + W0/2)), which is never infinite while
something is left open. A hypothesis abstains where it is least sure, on just as many rows as make Z
the least. Rows left open keep their weight before it is normalised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from committee.core.members import Floats
from committee.core.params import choice
from committee.core.rounds import Round
from committee.ensembles.boosting.boosting_docs import boosting_documented
from committee.ensembles.boosting.certificate import Certificate, Claim
from committee.ensembles.boosting.one_vs_rest import TwoClassBooster
from committee.ensembles.boosting.record import Rounds
from committee.ensembles.boosting.reweighting import (
    CHANCE,
    NO_BETTER,
    PERFECT,
    distribution,
    exponential_claims,
    warn_perfect,
    weight_of,
)
from committee.ensembles.boosting.task import Task


@boosting_documented
class AbstainingAdaBoostClassifier(TwoClassBooster):
    """AdaBoost whose members may abstain; more than two classes one against the rest.

    A member speaks where its lead, the difference of its two class shares, is large enough. Members
    without ``predict_proba`` never abstain.

    Parameters
    ----------
    {members}
    alpha : {"optimal", "shared"}, default="optimal"
        The weight of a member: the one that makes Z the least, or that of the lectures, which
        counts half of what is left open as right and half as wrong.
    {rest}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from committee import AbstainingAdaBoostClassifier, load_heart
    >>> X, y = load_heart(as_frame=True)
    >>> model = AbstainingAdaBoostClassifier(n_estimators=30).fit(X, y)
    >>> bool(model.score(X, y) > 0.85), model.certificate().holds
    (True, True)
    """

    _members_vote: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TwoClassBooster._parameter_constraints,
        "alpha": [choice("optimal", "shared")],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        alpha: str = "optimal",
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
        self.alpha = alpha

    def _rounds(self, task: Task) -> Rounds:
        s = 1 / (2 * task.size)
        log_d, alphas = np.log(task.weight), np.empty(0)
        while True:
            d = distribution(log_d)
            h = task.fit(d)
            h = h.through(Abstention(least_lead(lead_of(h.said), d, task.signs)))
            u = task.signs * h.said[:, 0]
            right, wrong = weight_of(d, u > 0), weight_of(d, u < 0)
            open_ = weight_of(d, u == 0)
            facts = {"right": right, "error": wrong, "open": open_, "edge": right - wrong}
            if (u > 0).all():
                warn_perfect(task, len(alphas))
                weights = np.append(0 * alphas, 1.0)
                yield Round(h.seat(), weights, facts | {"alpha": np.inf, "z": 0.0})
                return PERFECT
            if right - wrong <= CHANCE:
                return NO_BETTER
            alpha = member_weight(right, wrong, open_, s, shared=self.alpha == "shared")
            alphas = np.append(alphas, alpha)
            log_d -= alpha * u
            z = open_ + right * np.exp(-alpha) + wrong * np.exp(alpha)
            yield Round(h.seat(), alphas, facts | {"alpha": alpha, "z": z})

    def _claims(self, certificate: Certificate) -> Iterator[Claim]:
        yield from exponential_claims(certificate, optimal=False)
        rounds = certificate.rounds
        right, wrong, open_, z = (rounds[name] for name in ("right", "error", "open", "z"))
        shared = 2 * np.sqrt((right + open_ / 2) * (wrong + open_ / 2))
        if self.alpha == "shared":
            worst = float((z - shared).max())
            yield Claim("Z less 2 sqrt((W+ + W0/2) (W- + W0/2)), the largest", worst, 0.0)
        least = float((z - open_ - 2 * np.sqrt(right * wrong)).min())
        yield Claim("Z less W0 + 2 sqrt(W+ W-), the smallest", least, 0.0, ">=")


def member_weight(right: float, wrong: float, open_: float, s: float, *, shared: bool) -> float:
    """Compute alpha from W+, W- and W0; ``s`` keeps the optimal one finite where W- is 0."""
    if shared:
        return float(np.log((right + open_ / 2) / (wrong + open_ / 2)) / 2)
    if wrong == 0:
        right, wrong = right + s, s
    return float(np.log(right / wrong) / 2)


def lead_of(said: Floats) -> Floats:
    """Take the lead of the second class over the first."""
    return said[:, 0] if said.shape[1] == 1 else said[:, 1] - said[:, 0]


def least_lead(lead: Floats, d: Floats, signs: Floats) -> float:
    """Find how sure a hypothesis should be before it speaks: the lead that makes Z the least."""
    order = np.argsort(-np.abs(lead), kind="stable")
    sure = np.abs(lead)[order]
    good = (np.sign(lead) == signs)[order]
    right = np.cumsum(np.where(good, d[order], 0.0))
    wrong = np.cumsum(np.where(good, 0.0, d[order]))
    z = 1 - right - wrong + 2 * np.sqrt(right * wrong)
    ends = np.append(sure[1:] < sure[:-1], True) & (sure > 0)  # equally sure rows go together
    if not ends.any():
        return np.inf
    # Of equal Z the one that speaks of most rows; rounding must not decide between them.
    best = z[ends].min() + CHANCE
    return float(sure[ends & (z <= best)][-1])


@dataclass(frozen=True)
class Abstention:
    """Reads class shares as a vote of -1 or +1 where the lead is large enough, else as 0."""

    least_lead: float

    def __call__(self, shares: Floats) -> Floats:
        """Vote or abstain."""
        lead = lead_of(shares)
        return np.where(np.abs(lead) >= self.least_lead, np.sign(lead), 0.0)[:, None]
