"""RobustBoost: BrownBoost with a goal for the margins (Freund 2009).

"A more robust boosting algorithm". With y F = m and z = (m - mu(t)) / sigma(t), at time t in
[0, 1] a row has potential and weight

    min(1, 1 - erf(z)),    exp(-z^2) if z > 0 else 0.

mu rises to the margin goal theta and sigma falls to sigma_f, so that at first all rows are in play
and in the end only those near theta; a row behind mu is given up. From each hypothesis h take the
step ds, dt that keeps the mean potential and after which sum w y h = 0, or that ends at t = 1:

    F <- F exp(-dt) + ds h,    t <- t + dt.

The mean potential stays the error goal eps. At t = 1 each row with y F <= theta has potential 1,
so no more than eps of the rows are there. Late in the game, rows far ahead let the mean potential
fall by mere waiting, and no vote keeps it; then the last step goes to t = 1 with the vote that
lowers it most.
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
from committee.ensembles.boosting.reweighting import CHANCE, NO_BETTER, distribution, warn_perfect
from committee.ensembles.boosting.robust_step import RobustStep, Schedule
from committee.ensembles.boosting.task import Task
from committee.ensembles.boosting.training import TrainingSet
from committee.ensembles.boosting.weighing import ask, given_up, heaviest, log_start

TIME_UP = "the time is up: the error goal is met"
NO_STEP = "no step with the last hypothesis keeps the potential"
GOAL_MET = "the error goal is met when the time runs out without another vote"
END = 0.001  # of the time: what is left of it is not played


@boosting_documented
class RobustBoostClassifier(TwoClassBooster):
    """RobustBoost; more than two classes one against the rest.

    Parameters
    ----------
    {members}
    target_error : float, default=0.1
        The error goal: the share of training rows that may end at or below the margin goal. About
        the share of wrong labels, or a little more; if it is too small the time does not run out.
    target_margin : float, default=0.0
        The margin goal, theta: how far ahead, in y F, rows should be in the end.
    sigma_final : float, default=0.1
        How sharply the potential tells in the end between rows ahead of theta and behind it; the
        smaller, the sharper. At least 1e-6.
    {rest}

    Attributes
    ----------
    {attributes}
    target_error_ : float
        The error goal; smaller than ``target_error`` in each part of a problem of more than two
        classes, where a share eps of wrong labels is one of 2 q eps for a class of share q.

    See Also
    --------
    BrownBoostClassifier : the older form, without a margin goal.

    Notes
    -----
    All members' weights shrink in each round by the time that passes, so ``rounds_["alpha"]``,
    the vote at the time it was given, is larger than ``estimator_weights_``.

    ``predict_proba`` is 1 / (1 + exp(-2 F)), as for AdaBoost: it ranks rows. RobustBoost has no
    model of probabilities, and its F is small, so that they are rarely near 0 or 1. With more than
    two classes, the decision of each is its F divided by the weights of its members.

    Examples
    --------
    >>> from committee import RobustBoostClassifier, load_heart
    >>> X, y = load_heart(as_frame=True)
    >>> model = RobustBoostClassifier(n_estimators=100, target_error=0.15).fit(X, y)
    >>> bool(model.score(X, y) >= 0.85)
    True
    >>> model.certificate().holds
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TwoClassBooster._parameter_constraints,
        "target_error": [real(0, 1, "neither")],
        "target_margin": [real(0, None, "left")],
        "sigma_final": [real(1e-6, None, "left")],
    }

    target_error_: float

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        target_error: float = 0.1,
        target_margin: float = 0.0,
        sigma_final: float = 0.1,
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
        self.target_margin = target_margin
        self.sigma_final = sigma_final

    def _schedule(self, target: float) -> Schedule:
        return Schedule(target, self.target_margin, self.sigma_final)

    def _rounds(self, task: Task) -> Rounds:
        schedule = self._schedule(given_up(self.target_error, task))
        log_first = log_start(task)
        t, m, votes = 0.0, np.zeros(task.n_rows), np.empty(0)
        last: list[tuple[float, float]] = []
        while 1 - t >= END:
            d = distribution(log_first + schedule.log_weight(m, t))
            vote = ask(task, d)
            if vote.edge <= CHANCE:
                return NO_BETTER
            if vote.perfect and not len(votes):
                warn_perfect(task)
            step = RobustStep(schedule, m, vote.u, task.weight, t)
            alpha = np.arctanh(min(vote.edge, 1 - END))
            solved = step.solve([*last, (alpha, alpha**2), (np.sqrt(1 - t), (1 - t) / 2)])
            if solved is None:
                return NO_STEP
            ds, dt = solved
            if ds == 0:
                return GOAL_MET
            last = [solved]
            m, t = step.moved(ds, dt), 1.0 if dt == 1 - t else t + dt
            votes = np.append(votes * np.exp(-dt), ds)
            facts = {
                "error": vote.wrong,
                "alpha": ds,
                "edge": vote.edge,
                "time": t,
                "potential": float(np.sum(task.weight * schedule.potential(m, t))),
                "heaviest": heaviest(d),
            }
            yield Round(vote.hypothesis.seat(), votes, facts)
        return TIME_UP

    def _claims(self, certificate: Certificate) -> Iterator[Claim]:
        schedule, rounds = self._schedule(self.target_error_), certificate.rounds
        largest = float(rounds["potential"].max())
        yield Claim("mean potential, the largest of all rounds", largest, schedule.error)
        t, theta = float(rounds["time"][-1]), schedule.margin
        ahead = certificate.margins * np.sum(certificate.weights)
        if t < 1:
            mu = schedule.centre(t)
            lost = float(np.sum(certificate.distribution, where=ahead <= mu))
            text = f"share of rows that are given up, y F <= {mu:.4g}, at t = {t:.4g}"
            yield Claim(text, lost, schedule.error)
        # A row with y F <= theta has at least the potential of one at theta, which is 1 at t = 1.
        least = float(schedule.potential(np.array([theta]), t)[0])
        bound = schedule.error / least if least > 0 else np.inf
        share = float(np.sum(certificate.distribution, where=ahead <= theta))
        yield Claim(f"share of rows with y F <= {theta:g}, at t = {t:.4g}", share, bound)

    def _attributes(self, train: TrainingSet, *rest: Any) -> dict[str, Any]:
        target = given_up(self.target_error, train)
        return {**super()._attributes(train, *rest), "target_error_": target}

    def _comparable(self, decision: Floats) -> Floats:
        # F is in the terms of its time, and as small as the goal allows: parts agree on no unit.
        return np.asarray(decision / np.sum(self.committee_.weights))
