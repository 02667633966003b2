"""The nearest of some rows: 1-NN as a weak learner.

On all training rows 1-NN makes no error and takes no notice of weights, so that there is nothing to
boost. Here it remembers only some rows, drawn without replacement by their weights.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from committee import _engine
from committee.core.bags import BagPlan
from committee.core.members import ClassifierMember, Floats
from committee.core.parameter_docs import documented
from committee.core.params import (
    BAG_CONSTRAINTS,
    SEED_CONSTRAINTS,
    NamedParameters,
    check_params,
    resolve_seed,
)
from committee.data import Table, read_classes, read_weights
from committee.data.rows import engine_table


@documented
class SubsetNeighborClassifier(NamedParameters, ClassifierMixin, BaseEstimator):
    """1-NN on some of the rows, drawn by their weights.

    Rows are drawn by what they hold, so that their order is no matter and a row of weight k is
    drawn like k rows.

    Parameters
    ----------
    max_samples : int or float, default=0.25
        How many rows are remembered: a number, or a share of all.
    {random_state}

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    subset_ : ndarray of int
        The rows that are remembered.
    neighbors_ : KNeighborsClassifier
        scikit-learn's, fitted to them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from committee import AdaBoostClassifier, SubsetNeighborClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(SubsetNeighborClassifier(50), n_estimators=20, random_state=0)
    >>> len(model.fit(X, y))
    20
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_samples": BAG_CONSTRAINTS["max_samples"],
        "random_state": SEED_CONSTRAINTS,
    }

    def __init__(self, max_samples: int | float = 0.25, *, random_state: Any = None) -> None:
        self.max_samples = max_samples
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw the rows to remember.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training rows: finite numbers.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows: how likely each is drawn.

        Returns
        -------
        SubsetNeighborClassifier
            The fitted model.
        """
        check_params(self)
        matrix = validate_data(self, X, dtype=np.float64)
        labels = read_classes(y, len(matrix), estimator_name=type(self).__name__)
        weight = read_weights(sample_weight, len(matrix))
        codes = np.ascontiguousarray(labels.codes[:, :1], dtype=np.float64)
        keys = _engine.table_keys(engine_table(Table.of_array(matrix)), codes, 1)
        plan = BagPlan.of(
            keys,
            seed=resolve_seed(self.random_state, type(self).__name__),
            resampling="subset",
            max_samples=self.max_samples,
            weight=weight,
        )
        drawn = np.flatnonzero(plan.native().weights(0))
        drawn = drawn[np.argsort(keys[drawn], kind="stable")]  # the order of rows is no matter
        known = labels.classes[0][labels.codes[drawn, 0]]
        from sklearn.neighbors import KNeighborsClassifier  # slow to import

        self.neighbors_ = KNeighborsClassifier(1).fit(matrix[drawn], known)
        self.subset_ = drawn
        self.classes_ = labels.classes[0]
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class of the nearest row that is remembered.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        nearest = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[nearest])

    def predict_proba(self, X: Any) -> Floats:
        """Give the class of the nearest row all the probability.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        check_is_fitted(self)
        matrix = validate_data(self, X, dtype=np.float64, reset=False)
        return ClassifierMember(self.neighbors_, self.classes_).outputs(matrix)
