"""AdaBoost: weigh up the rows that the last hypothesis got wrong, and ask again.

Two classes: Freund and Schapire, "A decision-theoretic generalization of on-line learning and an
application to boosting" (1997), in the notation of Schapire and Singer (1999),

    alpha = 1/2 ln((1 - e) / e),  D(i) <- D(i) exp(-alpha y_i h(x_i)) / Z,  H = sign(sum alpha h).

K classes: SAMME (Zhu, Zou, Rosset and Hastie 2009) adds 1/2 ln(K - 1) to alpha, so that a
hypothesis need only beat a guess among K; M1 (Freund and Schapire 1996) does not, and asks for e <
1/2. M2, the pseudo-loss, is in :mod:`~committee.ensembles.boosting.adaboost_m2`.

Printed forms that keep the weights alike: beta = e / (1 - e) times the weights of the rows that
are right, with votes ln(1 / beta); or exp(2 alpha) times those that are wrong, with votes 2 alpha.
scikit-learn and WEKA vote by 2 alpha, too; here ``estimator_weights_`` holds alpha.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from committee.core.margins import agreement
from committee.core.members import Floats
from committee.core.params import choice, real
from committee.core.rounds import Round
from committee.data.errors import describe, warn
from committee.ensembles.boosting.adaboost_m2 import pseudo_loss_rounds
from committee.ensembles.boosting.boosted_classifier import BoostedClassifier
from committee.ensembles.boosting.boosting_docs import boosting_documented
from committee.ensembles.boosting.certificate import Certificate, Claim
from committee.ensembles.boosting.hypothesis import Hypothesis, signs, votes
from committee.ensembles.boosting.pseudo_loss_cut import CutSearch
from committee.ensembles.boosting.record import Rounds
from committee.ensembles.boosting.reweighting import (
    ALL_RIGHT,
    CHANCE,
    NO_BETTER,
    PERFECT,
    REDRAWS,
    SMALLEST,
    distribution,
    exponential_claims,
    facts,
    warn_perfect,
    weight_of,
)
from committee.ensembles.boosting.task import Task
from committee.learners.stump import DecisionStump

ALONE = "no member beat chance, an error of 1/2; the first is better than the heaviest class"


@boosting_documented
class AdaBoostClassifier(BoostedClassifier):
    """AdaBoost for two classes, and SAMME, M1 or M2 for more.

    Parameters
    ----------
    {members}
    learning_rate : float, default=1.0
        Factor on every alpha; below 1 more rounds are needed.
    algorithm : {"samme", "m1", "m2"}, default="samme"
        For more than two classes: SAMME, or AdaBoost.M1, which stops where a member's error is
        not below 1/2 (the first stays, alone, where it is better than the heaviest class), or
        AdaBoost.M2 with the pseudo-loss, whose members judge the plausibility of every class.
        For two classes the first two are one.
    stop_at_zero_error : bool, default=False
        Whether to stop as soon as every training row is classified. Margins, and often the error
        on other rows, improve after that.
    {rest}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from committee import AdaBoostClassifier, load_heart
    >>> X, y = load_heart(as_frame=True)
    >>> model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    >>> bool(model.score(X, y) > 0.85)
    True
    >>> model.certificate().holds
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BoostedClassifier._parameter_constraints,
        "learning_rate": [real(0, None, "neither")],
        "algorithm": [choice("samme", "m1", "m2")],
        "stop_at_zero_error": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        algorithm: str = "samme",
        stop_at_zero_error: bool = False,
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
        self.learning_rate = learning_rate
        self.algorithm = algorithm
        self.stop_at_zero_error = stop_at_zero_error

    def _rounds(self, task: Task) -> Rounds:
        if self.algorithm == "m2" and task.n_classes > 2:
            return pseudo_loss_rounds(task, self.learning_rate, self._cut_search(task))
        return self._votes(task)

    def _cut_search(self, task: Task) -> CutSearch | None:
        """Search the cuts of plain stumps by pseudo-loss, unless rows are drawn or sparse."""
        base = self._base()
        plain = type(base) is DecisionStump and base.class_weight is None and not task.draws
        return CutSearch(task.rows.table) if plain and not task.rows.table.sparse else None

    def _votes(self, task: Task) -> Rounds:
        log_d = np.log(task.weight)
        alphas, decision = np.empty(0), 0.0
        guess = np.log(task.n_classes - 1) / 2 if self.algorithm == "samme" else 0.0
        while True:
            d = distribution(log_d)
            h, u, right, wrong = self._ask(task, d, guess)
            if (u > 0).all():
                warn_perfect(task, len(alphas))
                yield Round(h.seat(), np.append(0 * alphas, 1.0), facts(0.0, np.inf, 1.0, 0.0))
                return PERFECT
            alpha = np.log(right / wrong) / 2 + guess
            if alpha <= CHANCE:
                if len(alphas) or right <= heaviest(task) + CHANCE:
                    return NO_BETTER
                warn_alone(task)
                yield Round(h.seat(), np.ones(1), facts(wrong, 0.0, right - wrong, 1.0))
                return ALONE
            alpha *= self.learning_rate
            alphas = np.append(alphas, alpha)
            z = right * np.exp(-alpha) + wrong * np.exp(alpha)
            yield Round(h.seat(), alphas, facts(wrong, alpha, right - wrong, z))
            log_d -= alpha * u
            if self.stop_at_zero_error:
                decision = decision + alpha * h.said
                if (agreement(decision, task.y) > 0).all():
                    return ALL_RIGHT

    def _ask(self, task: Task, d: Floats, guess: float) -> tuple[Hypothesis, Floats, float, float]:
        """Ask for a hypothesis; where rows are drawn for it, again if the draw was unlucky."""
        for _ in range(REDRAWS if task.draws else 1):
            h = task.fit(d).through(signs if task.n_classes == 2 else votes)
            u = task.agreement(h)
            # A weight may be too small for a float64, and the row is wrong all the same.
            wrong = max(weight_of(d, u < 0), SMALLEST)
            right = 1 - wrong
            if np.log(right / wrong) / 2 + guess > CHANCE:
                break
        return h, u, right, wrong

    def _claims(self, certificate: Certificate) -> Iterator[Claim]:
        two = self.n_classes_ == 2
        return exponential_claims(
            certificate,
            optimal=two and self.learning_rate == 1.0,
            n_wrong=self.n_classes_ - 1 if self.algorithm == "m2" and not two else 1,
        )


def heaviest(task: Task) -> float:
    """Weigh the class that a model without members would predict."""
    return float(np.bincount(task.y, weights=task.weight).max())


def warn_alone(task: Task) -> None:
    """Say that many classes leave nothing to boost for M1."""
    if task.recall_only:
        return
    found = "no member beat chance, which for M1 is an error of 1/2; the first is the committee"
    warn(describe("M-ALONE", "estimator", found, fix='algorithm="samme" or "m2"'))
