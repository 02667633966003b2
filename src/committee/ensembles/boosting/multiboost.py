"""MultiBoost: sub-committees of AdaBoost, each begun with weights of wagging (Webb 2000).

Boosting lowers bias most, wagging variance. T rounds are divided into about sqrt(T)
sub-committees; at each boundary, and wherever a hypothesis is no better than chance or has no
error, the weights are drawn anew, -ln(U) for uniform U, and AdaBoost begins again. All members
vote, each by 1/2 ln((1 - e) / e) of its own round.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from committee.core.bags import BagPlan
from committee.core.margins import agreement
from committee.core.members import Floats
from committee.core.params import integer
from committee.core.rounds import Round
from committee.data import InputError
from committee.data.errors import describe
from committee.ensembles.boosting.boosted_classifier import BoostedClassifier
from committee.ensembles.boosting.boosting_docs import boosting_documented
from committee.ensembles.boosting.certificate import Certificate, Claim
from committee.ensembles.boosting.hypothesis import signs, votes
from committee.ensembles.boosting.record import Rounds
from committee.ensembles.boosting.reweighting import CHANCE, NO_BETTER, distribution, weight_of
from committee.ensembles.boosting.task import Task

RETRIES = 10  # sub-committees that may fail at once before the learner is given up
NO_ERROR = 1e-10  # beta of a member without error, as in the paper


@boosting_documented
class MultiBoostClassifier(BoostedClassifier):
    """MultiBoost for two and for more classes; a member must err on less than half.

    Parameters
    ----------
    {members}
    subcommittee_size : int or None, default=None
        Rounds of a sub-committee; None divides the rounds into as many sub-committees as the root
        of ``n_estimators``. 1 is wagging, up to the weights of the votes. A warm start needs a
        number.
    {rest}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from committee import DecisionTreeClassifier, MultiBoostClassifier, load_heart
    >>> X, y = load_heart(as_frame=True)
    >>> model = MultiBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=25)
    >>> bool(model.set_params(random_state=0).fit(X, y).score(X, y) > 0.9)
    True
    >>> model.rounds_["subcommittee"][[0, 5, 24]]
    array([0., 1., 4.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BoostedClassifier._parameter_constraints,
        "subcommittee_size": [integer(1), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        subcommittee_size: int | None = None,
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
        self.subcommittee_size = subcommittee_size

    def _rounds(self, task: Task) -> Rounds:
        ends, vote = self._boundaries(), signs if task.n_classes == 2 else votes
        wagging = Wagging(task)
        begin, log_d = task.weight, np.log(task.weight)
        alphas, decision = np.empty(0), np.zeros(1)
        sub, failures = 0, 0
        while failures < RETRIES:
            d = distribution(log_d)
            h = task.fit(d).through(vote)
            u = task.agreement(h)
            right, wrong = weight_of(d, u > 0), weight_of(d, u < 0)
            if right - wrong <= CHANCE:
                failures, sub = failures + 1, sub + 1
                begin = wagging.draw(sub)
                log_d = np.log(begin)
                decision = np.zeros(1)
                continue
            failures = 0
            alpha = np.log(right / wrong) / 2 if wrong > 0 else -np.log(NO_ERROR) / 2
            alphas = np.append(alphas, alpha)
            log_d = log_d - alpha * u
            decision = decision + alpha * h.said
            facts = {"error": wrong, "alpha": alpha, "edge": right - wrong}
            facts["z"] = right * np.exp(-alpha) + wrong * np.exp(alpha)
            facts["vote_error"] = weight_of(begin, agreement(decision, task.y) <= 0)
            yield Round(h.seat(), alphas, facts | {"subcommittee": sub})
            if len(alphas) in ends or wrong == 0:
                sub += 1
                begin = wagging.draw(sub)
                log_d, decision = np.log(begin), np.zeros(1)
        return NO_BETTER

    def _boundaries(self) -> set[int]:
        """Place the ends of the sub-committees: round ceil(i T / n) for the i-th of n."""
        T = self.n_estimators
        if self.subcommittee_size is not None:
            return set(range(self.subcommittee_size, T + 1, self.subcommittee_size))
        if self.warm_start:
            found = "subcommittee_size=None divides all rounds, whose number a warm start changes"
            fix = "give subcommittee_size a number"
            raise InputError(describe("P-WARM", "subcommittee_size", found, fix=fix))
        n = math.isqrt(T)
        return {math.ceil(i * T / n) for i in range(1, n + 1)}

    def _claims(self, certificate: Certificate) -> Iterator[Claim]:
        rounds = certificate.rounds
        for sub in np.unique(rounds["subcommittee"]):
            own = rounds["subcommittee"] == sub
            product = float(np.exp(np.log(rounds["z"][own]).sum()))
            text = f"error of sub-committee {sub:.0f} on its weights <= its product of Z"
            yield Claim(text, float(rounds["vote_error"][own][-1]), product)


class Wagging:
    """Draws weights for the rows: an exponential variable each, by what a row holds."""

    def __init__(self, task: Task) -> None:
        plan = BagPlan.of(
            task.keys, seed=task.seed, resampling="exponential", weight=task.weight * task.size
        )
        self._bags = plan.native()

    def draw(self, sub: int) -> Floats:
        """Draw the initial distribution of a sub-committee."""
        weight = np.maximum(self._bags.weights(sub), np.finfo(np.float64).tiny)
        return np.asarray(weight / weight.sum())
