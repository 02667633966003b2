"""LogitBoost: Newton steps on the logistic loss, with a least-squares weak learner.

Friedman, Hastie and Tibshirani, "Additive logistic regression" (2000), algorithms 3 and 6:

    w = p (1 - p),  z = (y* - p) / w,  f = weighted least-squares fit of z by w,
    two classes:  F <- F + f / 2,  p = 1 / (1 + exp(-2 F));
    K classes:    F_j <- F_j + (K - 1) / K (f_j - mean of all f),  p = softmax(F).

The responses z are 1 / p or -1 / (1 - p), and clipped: where the model is sure and wrong they are
huge, where it is sure and right their weight vanishes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special

from committee.core.members import Floats, Members, join
from committee.core.params import real
from committee.core.rounds import Round
from committee.ensembles.boosting.boosting_docs import boosting_documented
from committee.ensembles.boosting.certificate import Certificate, Claim
from committee.ensembles.boosting.hypothesis import Hypothesis
from committee.ensembles.boosting.number_learning import LearnsNumbers
from committee.ensembles.boosting.record import Rounds
from committee.ensembles.boosting.task import Task
from committee.ensembles.boosting.training import TrainingSet

FLOOR = 2 * np.finfo(np.float64).eps  # of the weights, so that no row is lost
CERTAIN = "the model is certain of every training row"
FLAT = "no member changes the model"


@boosting_documented
class LogitBoostClassifier(LearnsNumbers):
    """LogitBoost for two and for more classes.

    With K > 2 classes a round makes K members, one regression per class.

    Parameters
    ----------
    {numbers}
    learning_rate : float, default=1.0
        Factor on every step; WEKA calls it shrinkage.
    z_max : float, default=3.0
        The largest response; 2 to 4 are usual.
    {rest}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from committee import LogitBoostClassifier, load_heart
    >>> X, y = load_heart(as_frame=True)
    >>> model = LogitBoostClassifier(n_estimators=30).fit(X, y)
    >>> bool(model.score(X, y) > 0.85)
    True
    >>> model.rounds_["loss"][0] > model.rounds_["loss"][-1]
    np.True_
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LearnsNumbers._parameter_constraints,
        "learning_rate": [real(0, None, "neither")],
        "z_max": [real(1, None, "left")],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        z_max: float = 3.0,
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
        self.z_max = z_max

    def _members_per_round(self, train: TrainingSet) -> int:
        assert train.classes is not None
        return 1 if len(train.classes) <= 2 else len(train.classes)

    def _rounds(self, task: Task) -> Rounds:
        return self._two(task) if task.n_classes == 2 else self._many(task)

    def _two(self, task: Task) -> Rounds:
        F, step, t = np.zeros(task.n_rows), self.learning_rate / 2, 0
        while True:
            h = self._newton(task, special.expit(2 * F), task.y == 1)
            if h is None:
                return CERTAIN
            if not h.said.any():
                return FLAT
            t += 1
            F += step * h.said[:, 0]
            loss = float(np.sum(task.weight * np.logaddexp(0, -2 * task.signs * F))) / np.log(2)
            yield Round(h.seat(), np.full(t, step), {"loss": loss})

    def _many(self, task: Task) -> Rounds:
        K, rows, t = task.n_classes, np.arange(task.n_rows), 0
        F, step = np.zeros((task.n_rows, K)), self.learning_rate * (K - 1) / K
        while True:
            p = special.softmax(F, axis=1)
            round_of: list[Hypothesis] = []
            for j in range(K):
                h = self._newton(task, p[:, j], task.y == j)
                if h is None:
                    return CERTAIN
                round_of.append(h.through(OneClass(j, K)))
            moves = sum(h.said for h in round_of)
            if not np.any(moves):
                return FLAT
            t += 1
            F += step * moves
            right = special.log_softmax(F, axis=1)[rows, task.y]
            loss = float(-np.sum(task.weight * right)) / np.log(2)
            yield Round(_together(round_of), np.full(K * t, step), {"loss": loss})

    def _newton(self, task: Task, p: Floats, own: Any) -> Hypothesis | None:
        """Fit the step for one class by weighted least squares; None where all is certain."""
        w = p * (1 - p)
        if w.max() <= FLOOR:
            return None
        with np.errstate(divide="ignore"):
            z = np.where(own, 1 / p, -1 / (1 - p))
        weight = task.weight * np.maximum(w, FLOOR)
        return task.fit(weight / weight.sum(), np.clip(z, -self.z_max, self.z_max))

    def _shares(self, decision: Floats) -> Floats:
        if decision.shape[1] == 1:
            return super()._shares(decision)
        return np.asarray(special.softmax(decision, axis=1))

    def _claims(self, certificate: Certificate) -> Iterator[Claim]:
        # A row that is wrong has a probability of at most 1/2, so that its loss is at least 1 bit.
        loss = float(certificate.rounds["loss"][-1])
        yield Claim("training error <= logistic loss in bits", certificate.training_error, loss)


@dataclass(frozen=True)
class OneClass:
    """Reads a number as a step of one class away from the mean of all."""

    code: int
    n_classes: int

    def __call__(self, numbers: Floats) -> Floats:
        """Spread the number over all classes."""
        step = np.full(self.n_classes, -1 / self.n_classes)
        step[self.code] += 1
        return np.asarray(numbers[:, :1] * step)


def _together(hypotheses: list[Hypothesis]) -> Members:
    """Seat the members of a round side by side."""
    seats = [h.seat() for h in hypotheses]
    return join([seat if isinstance(seat, Members) else Members([seat]) for seat in seats])
