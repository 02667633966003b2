"""MadaBoost: AdaBoost whose weights never exceed the initial ones (Domingo and Watanabe 2000).

"MadaBoost: a modification of AdaBoost":

    D(i) proportional to D_1(i) min(1, exp(-y_i F(x_i))),    alpha = 1/2 ln((1 - e) / e)

A row that the committee gets ever more wrong, such as a mislabelled one, stops gaining weight. The
cap delays what noise does to AdaBoost; it does not prevent it, so stop early.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from committee.core.members import Floats
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
    warn_perfect,
)
from committee.ensembles.boosting.task import Task
from committee.ensembles.boosting.weighing import ask, growth, heaviest, log_start


@boosting_documented
class MadaBoostClassifier(TwoClassBooster):
    """MadaBoost; more than two classes one against the rest.

    Parameters
    ----------
    {members}
    {rest}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    ``predict_proba`` is 1 / (1 + exp(-F)). The weights balance where p exp(-F) = 1 - p, so F is an
    estimate of the log-odds; for AdaBoost, which lets the wrong rows grow by exp(F), of half.

    Examples
    --------
    >>> from committee import MadaBoostClassifier, load_heart
    >>> X, y = load_heart(as_frame=True)
    >>> bool(MadaBoostClassifier(n_estimators=30).fit(X, y).score(X, y) > 0.85)
    True
    """

    def _rounds(self, task: Task) -> Rounds:
        log_first = log_start(task)
        lead, alphas = np.zeros(task.n_rows), np.empty(0)  # lead: y F
        while True:
            d = distribution(log_first + np.minimum(0.0, -lead))
            vote = ask(task, d)
            told = {"error": vote.wrong, "edge": vote.edge}
            told |= {"growth": growth(d, task.weight), "heaviest": heaviest(d)}
            if vote.perfect:
                if not len(alphas):
                    warn_perfect(task)
                told |= {"alpha": np.inf, "kept": 0.0}
                yield Round(vote.hypothesis.seat(), np.append(0 * alphas, 1.0), told)
                return PERFECT
            if vote.edge <= CHANCE:
                return NO_BETTER
            alpha = np.log(vote.right / max(vote.wrong, SMALLEST)) / 2  # wrong rows may weigh 0
            alphas = np.append(alphas, alpha)
            lead += alpha * vote.u
            kept = float(np.sum(task.weight * np.exp(np.minimum(0.0, -lead))))
            yield Round(vote.hypothesis.seat(), alphas, {**told, "alpha": alpha, "kept": kept})

    def _claims(self, certificate: Certificate) -> Iterator[Claim]:
        rounds, kept = certificate.rounds, certificate.rounds["kept"]
        # What the weights of a round are divided by is what the one before has kept of them.
        before = np.append(1.0, kept[:-1])
        largest = float((rounds["growth"] * before).max())
        yield Claim("largest weight of a row, as a multiple of its initial one", largest, 1.0)
        # A row that is wrong has min(1, exp(-y F)) = 1.
        text = "training error <= mean of min(1, exp(-y F))"
        yield Claim(text, certificate.training_error, float(kept[-1]))

    def _shares(self, decision: Floats) -> Floats:
        return super()._shares(decision / 2)
