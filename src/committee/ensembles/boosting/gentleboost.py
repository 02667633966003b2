"""GentleBoost: Newton steps on the exponential loss, with a least-squares weak learner.

Friedman, Hastie and Tibshirani, "Additive logistic regression" (2000), algorithm 4:

    f = weighted least-squares fit of y,    F <- F + f,    D(i) <- D(i) exp(-y_i f(x_i)) / Z.

A leaf of f is P(+) - P(-) under the weights, so that steps are bounded and no member, not even one
without error, has an infinite weight.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from committee.core.rounds import Round
from committee.ensembles.boosting.boosting_docs import boosting_documented
from committee.ensembles.boosting.certificate import Certificate, Claim
from committee.ensembles.boosting.number_learning import LearnsNumbers
from committee.ensembles.boosting.one_vs_rest import TwoClassBooster
from committee.ensembles.boosting.record import Rounds
from committee.ensembles.boosting.reweighting import (
    CHANCE,
    NO_BETTER,
    distribution,
    product_claim,
)
from committee.ensembles.boosting.task import Task


@boosting_documented
class GentleBoostClassifier(LearnsNumbers, TwoClassBooster):
    """GentleBoost; more than two classes one against the rest.

    Parameters
    ----------
    {numbers}
    {rest}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from committee import GentleBoostClassifier, load_heart
    >>> X, y = load_heart(as_frame=True)
    >>> model = GentleBoostClassifier(n_estimators=30).fit(X, y)
    >>> bool(model.score(X, y) > 0.85), model.certificate().holds
    (True, True)
    """

    def _rounds(self, task: Task) -> Rounds:
        log_d, t = np.log(task.weight), 0
        while True:
            d = distribution(log_d)
            h = task.fit(d, task.signs)
            u = task.signs * h.said[:, 0]
            edge = float(np.sum(d * u))
            if edge <= CHANCE:
                return NO_BETTER
            t += 1
            log_d -= u
            z = float(np.sum(d * np.exp(-u)))
            yield Round(h.seat(), np.ones(t), {"edge": edge, "z": z})

    def _claims(self, certificate: Certificate) -> Iterator[Claim]:
        yield product_claim(certificate)
