"""Where all labels are of one class: a committee that says so, for learners that refuse such rows.

Trees of this library learn a single class; many other classifiers raise an error. A cold start
should not hang on the choice of the members.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _num_samples, check_is_fitted

from committee.core.members import Floats
from committee.data import Schema
from committee.ensembles.any_rows import AnyRows, rows_to_ask


class Unanimous(ClassifierMixin, BaseEstimator):
    """Predicts the one class there is.

    Parameters
    ----------
    owner : str
        What messages call it: its own name is none that a user has written.
    """

    def __init__(self, owner: str) -> None:
        self.owner = owner

    def fit(self, X: Any, y: Any) -> Self:
        """Remember the class, and what rows look like."""
        schema = AnyRows.read(X).schema
        self.classes_ = np.unique(y)
        self.n_features_in_ = schema.n_features
        if schema.feature_names is not None:
            self.feature_names_in_ = schema.feature_names
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Be sure."""
        check_is_fitted(self)
        schema = Schema(self.n_features_in_, getattr(self, "feature_names_in_", None))
        return np.ones((_num_samples(rows_to_ask(X, schema, self.owner)), 1))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Name the class."""
        return np.repeat(self.classes_, len(self.predict_proba(X)))


def learns_one_class(estimator: Any) -> bool:
    """Tell whether an estimator, with all estimators in it, is of this library."""
    if estimator is None:
        return True
    if not hasattr(estimator, "get_params"):
        return False
    parts = [estimator, *estimator.get_params().values()]
    inner = [part for part in parts if hasattr(part, "fit")]
    return all(type(part).__module__.startswith("committee.") for part in inner)
