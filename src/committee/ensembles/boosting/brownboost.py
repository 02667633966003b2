"""BrownBoost: boosting with a clock, which gives up on rows that are too far behind (Freund 2001).

"An adaptive version of the boost by majority algorithm". The target error eps sets the time that
the game lasts, erf(sqrt(c)) = 1 - eps. A row that is r = y F ahead with time s left weighs

    w = exp(-(r + s)^2 / c),

most where its fate is open, and less again where it is lost. From each hypothesis, with u = y h,
take the step along

    dt / dalpha = sum w u / sum w,    w = exp(-(r + alpha u + s - t)^2 / c),

from (0, 0) to where the right side is nu or t = s; then r += alpha u, s -= t. All along, the mean
of 1 - erf((r + s) / sqrt(c)) stays eps; when the time is up a row that is wrong adds 1 or more to
that mean, so no more than eps of the rows are wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from scipy import special

from committee.core.members import Floats
from committee.core.params import real
from committee.core.rounds import Round
from committee.ensembles.boosting.boosting_docs import boosting_documented
from committee.ensembles.boosting.certificate import Certificate, Claim
from committee.ensembles.boosting.one_vs_rest import TwoClassBooster
from committee.ensembles.boosting.potential import BrownianStep
from committee.ensembles.boosting.record import Rounds
from committee.ensembles.boosting.reweighting import CHANCE, NO_BETTER, distribution, warn_perfect
from committee.ensembles.boosting.task import Task
from committee.ensembles.boosting.training import TrainingSet
from committee.ensembles.boosting.weighing import ask, given_up, heaviest, log_start

TIME_UP = "the time is up: the target error is met"
NO_STEP = "no step with the last hypothesis keeps the potential"


@boosting_documented
class BrownBoostClassifier(TwoClassBooster):
    """BrownBoost; more than two classes one against the rest.

    Parameters
    ----------
    {members}
    target_error : float, default=0.1
        The share of training rows to give up: about the share of wrong labels. It sets the time
        that the game lasts, which ends by itself when the target is met. The smaller, the longer
        the game, and the more BrownBoost is like AdaBoost.
    edge_tolerance : float, default=0.0
        The edge down to which a hypothesis is used, nu; one that does not exceed it ends the
        game. At 0 the next hypothesis has to tell something that the last did not. oneDAL solves
        for 0, too; its ``degenerateCasesThreshold`` of 0.01 ends Newton's iteration.
    {rest}

    Attributes
    ----------
    {attributes}
    target_error_ : float
        The target error; smaller than ``target_error`` in each part of a problem of more than two
        classes, where a share eps of wrong labels is one of 2 q eps for a class of share q.
    clock_ : float
        The time c that the game lasts.

    See Also
    --------
    RobustBoostClassifier : the same idea with a margin to reach, and with less weight on rows that
        are far ahead.

    Notes
    -----
    ``predict_proba`` is (1 + erf(F / sqrt(c))) / 2, the chance that a row which is F ahead when
    the time is up stays ahead on the random walk that the potential belongs to. With more than two
    classes the decision of each is in units of its own sqrt(c), and the chances are divided by
    their sum.

    Examples
    --------
    >>> from committee import BrownBoostClassifier, load_heart
    >>> X, y = load_heart(as_frame=True)
    >>> model = BrownBoostClassifier(n_estimators=100, target_error=0.15).fit(X, y)
    >>> bool(model.score(X, y) >= 0.85)
    True
    >>> model.certificate().holds
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TwoClassBooster._parameter_constraints,
        "target_error": [real(0, 1, "neither")],
        "edge_tolerance": [real(0, 1, "left")],
    }

    target_error_: float
    clock_: float

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        target_error: float = 0.1,
        edge_tolerance: float = 0.0,
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
        self.target_error = target_error
        self.edge_tolerance = edge_tolerance

    def _rounds(self, task: Task) -> Rounds:
        target, log_first = given_up(self.target_error, task), log_start(task)
        c = special.erfcinv(target) ** 2
        r, s, alphas = np.zeros(task.n_rows), c, np.empty(0)
        least = max(self.edge_tolerance, CHANCE)
        while s > 0:
            d = distribution(log_first - (r + s) ** 2 / c)
            vote = ask(task, d, least)
            if vote.edge <= least:
                return NO_BETTER
            if vote.perfect and not len(alphas):
                warn_perfect(task)
            step = BrownianStep(r + s, vote.u, task.weight, np.sqrt(c), target)
            solved = step.solve(s, self.edge_tolerance)
            if solved is None:
                return NO_STEP
            alpha, t = solved
            r, s = r + alpha * vote.u, s - t
            alphas = np.append(alphas, alpha)
            facts = {
                "error": vote.wrong,
                "alpha": alpha,
                "edge": vote.edge,
                "time_left": s,
                "potential": float(np.sum(task.weight * special.erfc((r + s) / np.sqrt(c)))),
                "heaviest": heaviest(d),
            }
            yield Round(vote.hypothesis.seat(), alphas, facts)
        return TIME_UP

    def _claims(self, certificate: Certificate) -> Iterator[Claim]:
        target, rounds = self.target_error_, certificate.rounds
        apart = float(np.abs(rounds["potential"] - target).max())
        yield Claim("largest difference of mean potential and target error", apart, 0.0, "=")
        left = float(rounds["time_left"][-1])
        ahead = certificate.margins * np.sum(certificate.weights)
        if left > 0:
            lost = float(np.sum(certificate.distribution, where=ahead <= -left))
            text = f"share of rows that are lost, y F <= -{left:.4g}, the time left"
            yield Claim(text, lost, target)
        # A wrong row, r <= 0, has a potential of at least erfc(s / sqrt(c)), 1 when the time is up.
        bound = target / float(special.erfc(left / special.erfcinv(target)))
        when = f"{left:.4g} of the time left" if left > 0 else "the time is up"
        yield Claim(f"training error, {when}", certificate.training_error, bound)

    def _attributes(self, train: TrainingSet, *rest: Any) -> dict[str, Any]:
        target = given_up(self.target_error, train)
        clock = {"target_error_": target, "clock_": float(special.erfcinv(target) ** 2)}
        return {**super()._attributes(train, *rest), **clock}

    def _comparable(self, decision: Floats) -> Floats:
        return np.asarray(decision / np.sqrt(self.clock_))

    def _shares(self, decision: Floats) -> Floats:
        if len(self.classes_) == 1:
            return np.ones((len(decision), 1))
        if decision.shape[1] == 1:
            z = decision / np.sqrt(self.clock_)
            return np.asarray(special.erfc(np.hstack([z, -z])) / 2)
        each = special.erfc(-decision) / 2
        total = each.sum(axis=1, keepdims=True)
        even = np.full_like(each, 1 / each.shape[1])
        return np.asarray(np.divide(each, total, out=even, where=total > 0))
