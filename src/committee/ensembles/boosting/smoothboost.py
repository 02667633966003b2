"""SmoothBoost: boosting on smooth distributions, in which no row ever weighs much (Servedio 2003).

"Smooth boosting and learning with malicious noise". The learner promises an edge of 2 gamma in
every round. With theta = gamma / (2 + gamma) and u = y h, rows have the measure

    N(i) = sum over rounds of (u - theta),    M(i) = 1 if N(i) < 0 else (1 - gamma)^(N(i) / 2),

and D is M, times the initial weight, over its sum. The rounds end when the mean of M is below
kappa. As M <= 1, no row ever weighs more than 1 / kappa times its initial weight, however wrong the
committee is about it; and a row whose margin is at most theta has M = 1, so that less than kappa of
the rows have one in the end. All members have one vote.
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
from committee.ensembles.boosting.one_vs_rest import TwoClassBooster
from committee.ensembles.boosting.record import Rounds
from committee.ensembles.boosting.reweighting import CHANCE, PERFECT, distribution, warn_perfect
from committee.ensembles.boosting.task import Task
from committee.ensembles.boosting.training import TrainingSet
from committee.ensembles.boosting.weighing import ask, given_up, growth, heaviest, log_start

FINISHED = "less than kappa of the rows are left to learn"
BROKEN = "a member broke the promise of an edge of 2 gamma"


@boosting_documented
class SmoothBoostClassifier(TwoClassBooster):
    """SmoothBoost; more than two classes one against the rest.

    Parameters
    ----------
    {members}
    kappa : float, default=0.1
        The share of training rows to give up. No row ever weighs more than 1 / kappa times its
        initial weight.
    gamma : float, default=0.05
        What the weak learner promises: a weighted error of at most 1/2 - gamma in every round, an
        edge of 2 gamma. A member that breaks the promise ends the rounds, and ``stop_reason_``
        says so. The larger gamma, the fewer rounds, at most
        2 / (kappa gamma^2 sqrt(1 - gamma)); the smaller, the less a learner has to keep.
    {rest}

    Attributes
    ----------
    {attributes}
    kappa_ : float
        The share of rows to give up; smaller than ``kappa`` in each part of a problem of more than
        two classes, where a share eps of wrong labels is one of 2 q eps for a class of share q.

    Notes
    -----
    Weights move slowly, by a factor of sqrt(1 - gamma) a round, so ``n_estimators`` should be a
    few hundred: the rounds end by themselves. Where they do not, the certificate states the
    smaller claim that then holds.

    ``predict_proba`` is the share of the votes; for more than two classes the share of the votes
    for a class in its own committee, divided by the sum of these shares.

    Examples
    --------
    >>> from committee import SmoothBoostClassifier, load_heart
    >>> X, y = load_heart(as_frame=True)
    >>> model = SmoothBoostClassifier(n_estimators=300, kappa=0.2).fit(X, y)
    >>> bool(model.score(X, y) > 0.85)
    True
    >>> model.certificate().holds
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TwoClassBooster._parameter_constraints,
        "kappa": [real(0, 1, "neither")],
        "gamma": [real(0, 0.5, "neither")],
    }

    kappa_: float

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        kappa: float = 0.1,
        gamma: float = 0.05,
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
        self.kappa = kappa
        self.gamma = gamma

    def _theta(self) -> float:
        return self.gamma / (2 + self.gamma)

    def _rounds(self, task: Task) -> Rounds:
        kappa, decay = given_up(self.kappa, task), np.log1p(-self.gamma) / 2
        log_first = log_start(task)
        lead, log_measure = np.zeros(task.n_rows), np.zeros(task.n_rows)  # lead: sum of u
        n_members, left = 0, 1.0  # left: the mean of M
        least = 2 * self.gamma - CHANCE  # an edge of 2 gamma, up to rounding, keeps the promise
        while left >= kappa:
            d = distribution(log_first + log_measure)
            vote = ask(task, d, least)
            told = {"error": vote.wrong, "edge": vote.edge}
            told |= {"growth": growth(d, task.weight), "heaviest": heaviest(d)}
            if vote.perfect:
                if not n_members:
                    warn_perfect(task)
                weights = np.append(np.zeros(n_members), 1.0)
                yield Round(vote.hypothesis.seat(), weights, {**told, "left": 0.0})
                return PERFECT
            if vote.edge <= least:
                return BROKEN
            n_members, lead = n_members + 1, lead + vote.u
            log_measure = decay * np.maximum(lead - n_members * self._theta(), 0.0)
            left = float(np.sum(task.weight * np.exp(log_measure)))
            yield Round(vote.hypothesis.seat(), np.ones(n_members), {**told, "left": left})
        return FINISHED

    def _claims(self, certificate: Certificate) -> Iterator[Claim]:
        rounds, kappa, gamma = certificate.rounds, self.kappa_, self.gamma
        cap = "largest weight of a row, as a multiple of its initial one, <= 1 / kappa"
        yield Claim(cap, float(rounds["growth"].max()), 1 / kappa)
        theta, left = self._theta(), float(rounds["left"][-1])
        if left == 0:
            yield Claim("training error of a member without error", certificate.training_error, 0.0)
            return
        share = float(certificate.margin_distribution(theta))
        # A row with a margin of at most theta has M = 1.
        yield Claim(f"share of margins <= {theta:.4g} <= mean of M", share, left)
        if left < kappa:
            yield Claim(f"share of margins <= {theta:.4g} <= kappa", share, kappa)
        if certificate.stop_reason != BROKEN:
            most = 2 / (kappa * gamma**2 * np.sqrt(1 - gamma))
            text = "rounds <= 2 / (kappa gamma^2 sqrt(1 - gamma))"
            yield Claim(text, float(len(certificate.weights)), most)

    def _attributes(self, train: TrainingSet, *rest: Any) -> dict[str, Any]:
        return {**super()._attributes(train, *rest), "kappa_": given_up(self.kappa, train)}

    def _comparable(self, decision: Floats) -> Floats:
        return np.asarray(decision / np.sum(self.committee_.weights))

    def _shares(self, decision: Floats) -> Floats:
        if len(self.classes_) == 1:
            return np.ones((len(decision), 1))
        if decision.shape[1] == 1:
            lead = decision / np.sum(self.committee_.weights)
            return np.hstack([1 - lead, 1 + lead]) / 2
        each = (1 + decision) / 2
        total = each.sum(axis=1, keepdims=True)
        even = np.full_like(each, 1 / each.shape[1])
        return np.asarray(np.divide(each, total, out=even, where=total > 0))
