"""Boosters of rows with labels: one label per row, or any number of them.

The decision has one column for two classes and one per label otherwise. What is read, named,
judged and certified here is common to any algorithm that weighs pairs of row and label.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import special
from sklearn.utils.validation import check_is_fitted

from committee.core.committee import Committee
from committee.core.members import Floats
from committee.core.params import check_params
from committee.core.watching import with_callbacks
from committee.data import InputError, Table, read_predict
from committee.data.errors import describe
from committee.ensembles.boosting.boosted_classifier import BoostedClassifier
from committee.ensembles.boosting.cell_rules import CellRules, RuleRows
from committee.ensembles.boosting.certificate import Certificate
from committee.ensembles.boosting.label_sets import (
    LabelSet,
    has_several,
    one_error,
    read_labelled,
    read_target,
)
from committee.ensembles.boosting.stopping import Judge
from committee.ensembles.boosting.training import HeldOut, TrainingSet
from committee.ensembles.boosting.verification import TOLERANCE, Verification


class LabelBooster(BoostedClassifier):
    """A booster whose rules are its own and speak of every label."""

    several_: bool
    train_one_error_: float

    def _base(self) -> None:
        """Have no weak learner to copy."""

    def _check(self) -> None:
        check_params(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_label = True
        return tags

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, X_val: Any = None, y_val: Any = None
    ) -> Self:
        """Find rules, one after the other.

        Parameters
        ----------
        X : sparse matrix, array-like or data frame of shape (n_samples, n_features)
            The training rows: counts of words, or numbers.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            One label per row, or a matrix with 1 where the row has the label and 0 elsewhere.
        sample_weight : array-like of shape (n_samples,), optional
            The weights of the first round; by default all alike. A row of weight 0 is left out.
        X_val, y_val : optional
            Rows to judge by, for early stopping, instead of a ``validation_fraction`` of X.

        Returns
        -------
        estimator
            The fitted model.
        """
        self._check()
        given = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        seed = self._seed()
        X, y, sample_weight, held_out = self._hold_out(X, y, sample_weight, X_val, y_val, seed)
        train = self._read(X, y, sample_weight)
        if X_val is not None:
            self._check_held_out(train, held_out)
        self._fit_rows(train, held_out, seed, given)
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any) -> LabelSet:
        owner = type(self).__name__
        return read_labelled(X, y, sample_weight, n_threads=self._threads(), owner=owner)

    def _reread(self, X: Any, y: Any, sample_weight: Any) -> LabelSet:
        check_is_fitted(self)
        train = self._read(X, y, sample_weight)
        same = np.array_equal(np.asarray(train.classes), self.classes_)
        if not same or train.several != self.several_:
            found = f"{train.classes} are not the labels of the fit, {self.classes_}"
            raise InputError(describe("M-CLASSES", "y", found, fix="give what fit was given"))
        return train

    def _splits_by_class(self, y: Any) -> bool:
        return not has_several(y)

    def _check_held_out(self, train: TrainingSet, held_out: HeldOut | None) -> None:
        assert isinstance(train, LabelSet)
        if not train.several:  # else the matrix is checked where it is read
            super()._check_held_out(train, held_out)

    def _loss(self, train: TrainingSet, held_out: HeldOut) -> Judge:
        """Count what is wrong of the held-out rows, by weight: rows, or labels of rows."""
        assert isinstance(train, LabelSet)
        assert train.classes is not None
        owner, classes, several = type(self).__name__, train.classes, train.several
        rows = read_predict(held_out.X, train.rows.schema, estimator_name=owner)
        target = read_target(held_out.y, rows.n_rows, owner)
        truth = target.y if several else target.classes[target.y]

        def loss(decision: Floats) -> float:
            from sklearn.metrics import accuracy_score, hamming_loss  # slow to import

            labels = _named(decision, classes, several)
            if several:
                return float(hamming_loss(truth, labels, sample_weight=held_out.weight))
            return 1 - float(accuracy_score(truth, labels, sample_weight=held_out.weight))

        return Judge(rows, loss, self.n_iter_no_change)

    def _attributes(self, train: TrainingSet, *rest: Any) -> dict[str, Any]:
        assert isinstance(train, LabelSet)
        *others, committee = rest
        assert isinstance(train.rows, RuleRows)
        members = train.rows.KIND.of(committee.members, train.rows.schema)
        committee = Committee(members, committee.weights)
        return {**super()._attributes(train, *others, committee), "several_": train.several}

    def _certified(self, train: TrainingSet, committee: Committee) -> dict[str, Any]:
        assert isinstance(train, LabelSet)
        kept = super()._certified(train, committee)
        decision = committee.decision(train.rows.asked)
        return {**kept, "train_one_error_": one_error(decision, train)}

    def _shares_of(self, train: TrainingSet) -> Floats:
        assert isinstance(train, LabelSet)
        n_columns = train.signs.shape[1]
        return np.repeat(train.distribution / n_columns, n_columns)

    def _margins(self, train: TrainingSet, committee: Committee, weights: Floats) -> Floats:
        """Give Y F over the most that all rules together could say, for each row and label."""
        assert isinstance(train, LabelSet)
        assert isinstance(committee.members, CellRules)
        most = np.abs(committee.members.values).max(axis=(1, 2))
        total = float(np.sum(np.abs(weights) * most[: len(weights)]))
        lead = train.signs * committee.decision(train.rows.asked)
        return lead.ravel() / total if total > 0 else np.zeros(lead.size)

    def _compare(self, certificate: Certificate, train: TrainingSet) -> Verification:
        assert isinstance(train, LabelSet)
        found = super()._compare(certificate, train)
        again = one_error(self.committee_.decision(train.rows.asked), train)
        if abs(again - self.train_one_error_) <= TOLERANCE:
            return found
        text = f"one-error: recorded {self.train_one_error_:.10g}, recomputed {again:.10g}"
        return Verification(found.n_members, found.n_rows, (*found.findings, text))

    # From here on: what a fitted model says.

    @property
    def _rules(self) -> CellRules:
        members = self.committee_.members
        assert isinstance(members, CellRules)
        return members

    def _of_rows(self, weight: Floats) -> Floats:
        if self.several_:
            found = "a row has several labels, and one weight for each"
            fix = "staged_sample_weight shows the weights of all pairs of row and label"
            raise InputError(describe("Y-SHAPE", "y", found, fix=fix))
        return np.asarray(weight.sum(axis=1))

    def _rows(self, X: Any) -> Table:
        check_is_fitted(self)
        return read_predict(X, self.schema_, estimator_name=type(self).__name__)

    def _named(self, decision: Floats, classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if self.several_:
            return _named(decision, classes, True)
        return super()._named(decision, classes)

    def _shares(self, decision: Floats) -> Floats:
        """Turn scores into probabilities by 1 / (1 + exp(-2 F)); of one label they sum to 1."""
        if decision.shape[1] == 1:
            return super()._shares(decision)
        each = special.expit(2 * decision)
        if self.several_:
            return np.asarray(each)
        total = each.sum(axis=1, keepdims=True)
        even = np.full_like(each, 1 / each.shape[1])
        return np.asarray(np.divide(each, total, out=even, where=total > 0))

    def rank(self, X: Any) -> npt.NDArray[Any]:
        """Rank the labels of each row by their scores.

        Parameters
        ----------
        X : sparse matrix, array-like or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Labels, the highest score first; of equal ones the first in the order of ``classes_``.
        """
        decision = self._decision(X)
        if decision.shape[1] < len(self.classes_):
            decision = np.hstack([-decision, decision])
        return np.asarray(self.classes_[np.argsort(-decision, axis=1, kind="stable")])


def _named(decision: Floats, classes: npt.NDArray[Any], several: bool) -> npt.NDArray[Any]:
    """Name the label that leads, or mark all that have a positive score."""
    if several:
        return (decision > 0).astype(np.int64)
    if len(classes) <= 2:
        return np.asarray(
            classes.take(((decision[:, 0] > 0) & (len(classes) == 2)).astype(np.intp))
        )
    return np.asarray(classes.take(decision.argmax(axis=1)))
