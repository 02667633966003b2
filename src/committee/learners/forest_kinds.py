"""The two kinds of forest: one averages class shares, the other numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin

from committee.core.interval_methods import INTERVAL_CONSTRAINTS
from committee.core.params import CLASS_WEIGHT_CONSTRAINTS, choice
from committee.core.watching import with_callbacks
from committee.data import read_classes, read_numbers
from committee.learners.cart import check_counts
from committee.learners.estimators import ClassOutputs
from committee.learners.forest import ForestEstimator
from committee.learners.growing import CLASS_CRITERIA, NUMBER_CRITERIA
from committee.learners.left_out_methods import ForestIntervals
from committee.learners.targets import ClassTarget, NumberTarget, Target
from committee.learners.tree import DecisionTreeClassifier, DecisionTreeRegressor

Floats: TypeAlias = npt.NDArray[np.float64]


class ForestClassifier(ForestEstimator, ClassOutputs):
    """A forest whose leaves hold class shares; the committee's are their means."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ForestEstimator._parameter_constraints,
        "criterion": [choice(*CLASS_CRITERIA)],
        "class_weight": [*CLASS_WEIGHT_CONSTRAINTS, choice("balanced_subsample")],
        "categorical_splits": [choice("subset", "multiway")],
        "stratify": ["boolean"],
    }
    _tree = DecisionTreeClassifier

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _read_target(self, y: Any, n_rows: int) -> ClassTarget:
        name = type(self).__name__
        labels = read_classes(y, n_rows, multi_output=True, estimator_name=name)
        return ClassTarget(labels, self.class_weight)

    def _set_target(self, target: Target) -> None:
        assert isinstance(target, ClassTarget)
        self._set_classes(target.labels.classes)

    def _knows(self, target: Target) -> bool:
        assert isinstance(target, ClassTarget)
        pairs = zip(self._class_lists(), target.labels.classes, strict=True)
        return all(np.array_equal(before, now) for before, now in pairs)

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows. With ``bootstrap`` they decide how often a row is drawn (see
            ``max_samples``), without they are weights inside the trees.
        groups : array-like of shape (n_samples,), optional
            With ``bootstrap`` the rows of one group are drawn together.

        Returns
        -------
        ForestClassifier
            The fitted model.
        """
        return self._fit(X, y, sample_weight, groups)

    def staged_predict_proba(self, X: Any) -> Iterator[Any]:
        """Predict class probabilities by the first 1, 2, .. members.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples, n_classes), or a list of them for several outputs
            As ``predict_proba`` of a forest of that many members.
        """
        for means in self._staged(X):
            shares = self._split(means)
            yield shares[0] if len(shares) == 1 else shares

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """Predict classes by the first 1, 2, .. members.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            As ``predict`` of a forest of that many members.
        """
        for means in self._staged(X):
            yield self._labels(means)


class ForestRegressor(RegressorMixin, ForestIntervals, ForestEstimator):
    """A forest whose leaves hold numbers; the committee's are their means."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ForestEstimator._parameter_constraints,
        "criterion": [choice(*NUMBER_CRITERIA)],
        "intervals": INTERVAL_CONSTRAINTS,
    }
    _tree = DecisionTreeRegressor

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.criterion != "absolute_error"
        return tags

    def _read_target(self, y: Any, n_rows: int) -> NumberTarget:
        several = self.criterion != "absolute_error"  # a median of vectors is not defined
        name = type(self).__name__
        numbers = read_numbers(y, n_rows, multi_output=several, estimator_name=name)
        if self.criterion == "poisson":
            check_counts(numbers)
        return NumberTarget(np.ascontiguousarray(numbers), self.criterion != "poisson")

    def _set_target(self, target: Target) -> None:
        self.n_outputs_ = len(target.n_classes)

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows. With ``bootstrap`` they decide how often a row is drawn (see
            ``max_samples``), without they are weights inside the trees.
        groups : array-like of shape (n_samples,), optional
            With ``bootstrap`` the rows of one group are drawn together.

        Returns
        -------
        ForestRegressor
            The fitted model.
        """
        return self._fit(X, y, sample_weight, groups)

    def predict(self, X: Any) -> Floats:
        """Predict the target of each row: the mean of the values of its leaves.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predictions.
        """
        outputs = self._outputs(X)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Predict by the first 1, 2, .. members.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            As ``predict`` of a forest of that many members.
        """
        for means in self._staged(X):
            yield means[:, 0] if means.shape[1] == 1 else means
