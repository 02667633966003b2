"""Classifiers that boost: from the weighted vote to labels, probabilities, stages and scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import _num_samples

from committee.core.log_shares import LogShares
from committee.core.members import Floats, Member
from committee.data import InputError, read_classes, read_predict
from committee.data.errors import describe, rows_text
from committee.data.rows import engine_table
from committee.ensembles.boosting.booster import Booster
from committee.ensembles.boosting.constant import constant_member
from committee.ensembles.boosting.record import Rounds
from committee.ensembles.boosting.second_opinions import SecondOpinions
from committee.ensembles.boosting.stopping import Judge
from committee.ensembles.boosting.task import Task
from committee.ensembles.boosting.training import HeldOut, TrainingSet
from committee.ensembles.boosting.views import MemberViewing
from committee.ensembles.boosting.weak_learners import grown_by_engine
from committee.learners.stump import DecisionStump

STUMP_BINS = 255  # exact for features of fewer values; beyond, the engine's fastest


class BoostedClassifier(SecondOpinions, MemberViewing, LogShares, ClassifierMixin, Booster):
    """A booster whose committee votes on classes.

    With two classes the decision is one column, positive for the second class; with more it has a
    column per class.
    """

    classes_: npt.NDArray[Any]

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        resample: bool | str = "auto",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.resample = resample
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _base(self) -> Any:
        return DecisionStump(max_bins=STUMP_BINS) if self.estimator is None else self.estimator

    def _loss(self, train: TrainingSet, held_out: HeldOut) -> Judge:
        """Count misclassified held-out rows, by weight."""
        assert train.classes is not None
        schema, classes = train.rows.schema, train.classes
        asked: Any = held_out.X
        if grown_by_engine(self._base()):
            asked = engine_table(read_predict(asked, schema, estimator_name=type(self).__name__))
        n_rows = len(np.asarray(held_out.y))
        labels = read_classes(held_out.y, n_rows, estimator_name=type(self).__name__)
        truth = labels.classes[0][labels.codes[:, 0]]
        weight = np.ones(n_rows) if held_out.weight is None else held_out.weight

        def loss(decision: Floats) -> float:
            wrong = self._named(decision, classes) != truth
            return float(weight[wrong].sum() / weight.sum())

        return Judge(asked, loss, self.n_iter_no_change)

    def _check_held_out(self, train: TrainingSet, held_out: HeldOut | None) -> None:
        """Refuse labels that the model cannot know: the loss would say nothing about it."""
        assert held_out is not None
        labels, n_rows = np.asarray(held_out.y), _num_samples(held_out.X)
        if labels.shape[:1] != (n_rows,):
            found = f"{labels.shape} labels for {n_rows} rows of X_val"
            raise InputError(describe("Y-LENGTH", "y_val", found, allowed="one label per row"))
        unknown = ~np.isin(labels, np.asarray(train.classes))
        if unknown.any():
            which = np.flatnonzero(unknown)
            found = f"{labels[which[0]]!r} in {rows_text(which, len(which))} is no class of y"
            allowed = f"the classes {np.asarray(train.classes).tolist()[:10]}"
            raise InputError(describe("M-CLASSES", "y_val", found, allowed=allowed))

    def _attributes(self, train: TrainingSet, *rest: Any) -> dict[str, Any]:
        assert train.classes is not None
        classes = {"classes_": train.classes, "n_classes_": len(train.classes)}
        return {**super()._attributes(train, *rest), **classes, **self._certified(train, rest[-1])}

    def _prior(self, task: Task) -> Member:
        """Vote for the heaviest class."""
        shares = np.bincount(task.y, weights=task.weight, minlength=task.n_classes)
        vote = np.zeros(self._width(task.n_classes))
        if task.part:  # parts are compared: the share of the class says more than its sign
            vote[0] = np.clip(np.log(shares[1] / shares[0]) / 2, -1.0, 1.0)
        elif task.n_classes == 2:
            vote[0] = 1.0 if shares[1] > shares[0] else -1.0
        else:
            vote[shares.argmax()] = 1.0
        return constant_member(task.rows, vote)

    def _width(self, n_classes: int) -> int:
        """Columns of the decision."""
        return 1 if n_classes <= 2 else n_classes

    def _rounds_of(self, task: Task) -> Rounds:
        """Begin, unless there is nothing to tell apart."""
        if task.n_classes == 1:
            return _nothing("y has a single class")
        return self._rounds(task)

    # From here on: what a fitted model says.

    def _decision(self, X: Any) -> Floats:
        rows = self._rows(X)
        return self.committee_.decision(rows, n_threads=self._threads_for(X))

    def _staged_decisions(self, X: Any) -> Iterator[Floats]:
        rows = self._rows(X)
        return self.committee_.staged(rows, n_threads=self._threads_for(X))

    def _named(self, decision: Floats, classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Name the class that leads, the first of equal ones."""
        known = getattr(self, "n_classes_", None)
        if not isinstance(classes, np.ndarray) or known not in (None, len(classes)):
            found = f"classes_ no longer holds {known} classes"
            raise InputError(describe("M-CLASSES", "classes_", found, fix="fit the model again"))
        if decision.shape[1] != self._width(len(classes)):
            found = f"classes_ holds {len(classes)} classes, the decision {decision.shape[1]}"
            raise InputError(describe("M-CLASSES", "classes_", found, fix="fit the model again"))
        if len(classes) <= 2:
            second = (decision[:, 0] > 0) & (len(classes) == 2)
            return np.asarray(classes.take(second.astype(np.intp)))
        return np.asarray(classes.take(decision.argmax(axis=1)))

    def _shares(self, decision: Floats) -> Floats:
        """Turn the decision into class probabilities: two classes by 1 / (1 + exp(-2 F))."""
        if len(self.classes_) == 1:
            return np.ones((len(decision), 1))
        if decision.shape[1] == 1:
            return np.asarray(special.expit(np.hstack([-2 * decision, 2 * decision])))
        return np.asarray(special.softmax(2 * decision, axis=1))

    def decision_function(self, X: Any) -> Floats:
        """Add up the weighted votes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes positive where the second leads; for more, a column per class.
        """
        return _flat(self._decision(X))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class of each row: the one with most weighted votes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels; of equal classes the first in the order of ``classes_``.
        """
        decision = self._decision(X)
        return self._named(decision, self.classes_)

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        decision = self._decision(X)
        return self._shares(decision)

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Give the decision of the first member, of the first two, and so on.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            As ``decision_function``, with the members' final weights.
        """
        for decision in self._staged_decisions(X):
            yield _flat(decision)

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """Predict with the first member, with the first two, and so on.

        Weights are those of the end. So this is what fewer rounds would have predicted, unless
        each round weighs all members anew: LPBoost, ERLPBoost and RobustBoost do, and a fit of
        fewer rounds, or a warm start, tells there.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples,)
            Labels.
        """
        for decision in self._staged_decisions(X):
            yield self._named(decision, self.classes_)

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Predict probabilities with the first member, with the first two, and so on.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        for decision in self._staged_decisions(X):
            yield self._shares(decision)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Score the accuracy of the first member, of the first two, and so on.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Yields
        ------
        float
            The accuracy.
        """
        from sklearn.metrics import accuracy_score  # slow to import

        for labels in self.staged_predict(X):
            yield float(accuracy_score(y, labels, sample_weight=sample_weight))


def _nothing(reason: str) -> Rounds:
    return reason
    yield  # a generator without a round


def _flat(decision: Floats) -> Floats:
    return decision[:, 0] if decision.shape[1] == 1 else decision
