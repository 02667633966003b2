"""Judges of an ensemble by what it says of rows that its members have not seen.

A judge keeps of the members' outputs what it needs, so that sums of members can be judged without
looking at anything else. Larger scores are better, as in scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from committee.core.members import Floats
from committee.core.params import invalid
from committee.data import InputError
from committee.data.errors import describe

CLASS_SCORES = ("neg_log_loss", "accuracy", "neg_brier_score")
NUMBER_SCORES = ("neg_mean_squared_error", "neg_mean_absolute_error", "r2")
TINY = float(np.finfo(np.float64).eps)  # scikit-learn's bound of probabilities in log loss
Score = Callable[[Floats], float]


class Judge:
    """Scores means of members.

    Parameters
    ----------
    outputs : ndarray of shape (n_members, n_rows, n_outputs)
        What the members say; rows with NaN are left out, as nobody can be judged by them.
    target : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Codes of classes, or numbers.
    scoring : str or callable
        One of scikit-learn's names, or a function of the true targets and the mean outputs.
    labels : ndarray of shape (n_rows,), optional
        The true labels, for a callable; by default the target.
    weight : ndarray of shape (n_rows,), optional
        What rows count for.

    Attributes
    ----------
    known : ndarray of bool, shape (n_rows,)
        The rows that count.
    members : ndarray of shape (n_members, n_known, ...)
        What of the outputs is needed for the score.
    """

    def __init__(
        self,
        outputs: Floats,
        target: npt.NDArray[Any],
        scoring: Any,
        *,
        labels: npt.NDArray[Any] | None = None,
        weight: Floats | None = None,
    ) -> None:
        known = ~np.isnan(outputs).any(axis=(0, 2))
        if weight is not None:
            known &= weight > 0
        if not known.any():
            found = "no row was held out of all folds it could be judged by"
            raise InputError(describe("P-FOLDS", "cv", found, fix="a splitter with test rows"))
        self.known = known
        self.members: Floats = outputs[:, known]
        self._target = target[known]
        self._labels = self._target if labels is None else labels[known]
        self._weight = None if weight is None else weight[known]
        self._scoring = scoring
        self._score = self._scorer(scoring)

    def __len__(self) -> int:
        return len(self.members)

    def score(self, total: Floats, n_members: float) -> float:
        """Score the mean of members: their sum, over how many they are."""
        return self._score(total / n_members)

    def _scorer(self, scoring: Any) -> Score:
        if callable(scoring):
            return self._called
        if scoring == "neg_log_loss":
            # Only the share of the true class counts.
            place = np.asarray(self._target, dtype=np.intp)[None, :, None]
            self.members = np.take_along_axis(self.members, place, axis=2)
            return lambda mean: self._average(np.log(np.clip(mean[:, 0], TINY, 1 - TINY)))
        if scoring == "accuracy":
            return lambda mean: self._average(mean.argmax(axis=1) == self._target)
        truth = self._target
        if scoring == "neg_brier_score":
            n_classes = self.members.shape[2]
            truth, scale = np.eye(n_classes)[self._target], 0.5 if n_classes == 2 else 1.0
            return lambda mean: -scale * self._average(((mean - truth) ** 2).sum(axis=1))
        truth = truth.reshape(len(truth), -1)
        if scoring == "neg_mean_absolute_error":
            return lambda mean: -self._average(np.abs(mean - truth).mean(axis=1))
        if scoring == "neg_mean_squared_error":
            return lambda mean: -self._average(((mean - truth) ** 2).mean(axis=1))
        centre = np.average(truth, axis=0, weights=self._weight)
        spread = np.average((truth - centre) ** 2, axis=0, weights=self._weight)
        if not spread.all():
            found = "y is constant, so that r2 is not defined"
            raise InputError(describe("P-SCORE", "scoring", found, allowed=str(NUMBER_SCORES[:2])))
        return lambda mean: 1 - self._average(((mean - truth) ** 2 / spread).mean(axis=1))

    def _average(self, values: npt.NDArray[Any]) -> float:
        return float(np.average(values, weights=self._weight))

    def _called(self, mean: Floats) -> float:
        given = {} if self._weight is None else {"sample_weight": self._weight}
        flat = mean[:, 0] if mean.shape[1] == 1 else mean
        found = self._scoring(self._labels, flat, **given)
        number = float(found) if isinstance(found, Real) else float("nan")
        if not np.isfinite(number):
            name = getattr(self._scoring, "__name__", type(self._scoring).__name__)
            text = f"{name} gave {found!r}"
            raise InputError(describe("P-SCORE", "scoring", text, allowed="one finite number"))
        return number


def check_scoring(scoring: Any, allowed: tuple[str, ...], owner: str) -> None:
    """Refuse what is neither one of the names nor a callable."""
    if not (callable(scoring) or (isinstance(scoring, str) and scoring in allowed)):
        raise invalid("scoring", owner, f"one of {allowed} or a callable", scoring)
