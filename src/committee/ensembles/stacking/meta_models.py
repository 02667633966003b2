"""Meta-models by name: the mean, the majority, linear and logistic regression, StackingC.

The mean and the majority learn nothing: a stack with them is a plain vote, bit for bit. "linear" of
classes is multi-response linear regression (Ting and Witten 1999): one regression a class of its
indicator on all columns. "per_class" is StackingC (Seewald 2002): the regression of a class sees
the columns of that class alone.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.utils import check_array

from committee.core import voting
from committee.core.members import Floats
from committee.core.params import invalid
from committee.data import InputError
from committee.data.errors import describe
from committee.ensembles.member_fitting import check_instance

BY_MEMBER = ("mean", "majority", "per_class")  # they need to know whose column is whose


class MeanOfMembers(BaseEstimator):
    """The mean of what members say; columns stand member by member.

    Parameters
    ----------
    n_members : int
        How many blocks of columns there are.
    """

    def __init__(self, n_members: int = 1) -> None:
        self.n_members = n_members

    def _outputs(self, M: Any) -> Floats:
        width = M.shape[1] // self.n_members
        return np.asarray(M).reshape(len(M), self.n_members, width).transpose(1, 0, 2)


class MeanClassifier(ClassifierMixin, MeanOfMembers):
    """A soft vote: the mean of the members' probabilities.

    Parameters
    ----------
    n_members : int
        How many blocks of columns there are.
    classes : array-like
        The sorted labels; a block has a column for each.
    """

    def __init__(self, n_members: int = 1, classes: Any = ()) -> None:
        super().__init__(n_members)
        self.classes = classes

    def fit(self, M: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn nothing."""
        self.classes_ = np.asarray(self.classes)
        return self

    def predict_proba(self, M: Any) -> Floats:
        """Average the members."""
        return voting.mean(self._outputs(M))

    def predict(self, M: Any) -> npt.NDArray[Any]:
        """Take the class with the largest mean, of equal ones the first."""
        return np.asarray(self.classes_[self.predict_proba(M).argmax(axis=1)])


class MajorityClassifier(MeanClassifier):
    """A hard vote: each member's whole vote goes to the class it gives most."""

    def predict_proba(self, M: Any) -> Floats:
        """Give the shares of the votes."""
        return voting.vote_counts(self._outputs(M)) / self.n_members


class MeanRegressor(RegressorMixin, MeanOfMembers):
    """The mean of the members' numbers."""

    def fit(self, M: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the number of targets, and nothing else."""
        self.n_targets_ = np.ndim(y)
        return self

    def predict(self, M: Any) -> Floats:
        """Average the members."""
        means = voting.mean(self._outputs(M))
        return means[:, 0] if self.n_targets_ == 1 else means

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class ClassRegressions(ClassifierMixin, BaseEstimator):
    """One linear regression for each class, of 1 for its rows and 0 for others.

    Parameters
    ----------
    classes : array-like
        The sorted labels; rows need not show all of them.
    n_members : int or None
        Where given, columns stand member by member, class by class, and a regression sees the
        columns of its class alone (StackingC). Otherwise each sees all.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_columns)
        0 in columns that a regression does not see.
    intercept_ : ndarray of shape (n_classes,)
        The intercepts.
    """

    def __init__(self, classes: Any = (), n_members: int | None = None) -> None:
        self.classes = classes
        self.n_members = n_members

    def fit(self, M: Any, y: Any, sample_weight: Any = None) -> Self:
        """Regress the indicator of each class."""
        from sklearn.linear_model import LinearRegression  # slow to import

        M = check_array(M, accept_sparse="csr")  # with appended features it may be a frame
        self.classes_ = np.asarray(self.classes)
        n_classes = len(self.classes_)
        coef, intercept = np.zeros((n_classes, M.shape[1])), np.zeros(n_classes)
        for code, label in enumerate(self.classes_):
            seen = slice(None) if self.n_members is None else slice(code, None, n_classes)
            line = LinearRegression().fit(M[:, seen], np.equal(y, label), sample_weight)
            coef[code, seen], intercept[code] = line.coef_, line.intercept_
        self.coef_, self.intercept_ = coef, intercept
        return self

    def predict_proba(self, M: Any) -> Floats:
        """Cut the regressions at 0 and 1 and share them out; equal shares where all are 0."""
        M = check_array(M, accept_sparse="csr")
        shares = np.clip(M @ self.coef_.T + self.intercept_, 0.0, 1.0)
        shares[shares.sum(axis=1) == 0] = 1.0
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(self, M: Any) -> npt.NDArray[Any]:
        """Take the class with the largest share, of equal ones the first."""
        return np.asarray(self.classes_[self.predict_proba(M).argmax(axis=1)])


def meta_model(
    final_estimator: Any, n_members: int, classes: npt.NDArray[Any] | None, owner: str
) -> Any:
    """Make the meta-model of its name, or copy the one that was given.

    Parameters
    ----------
    final_estimator : str, estimator or None
        None is scikit-learn's choice: logistic regression, or ridge regression of numbers.
    n_members : int
        Members of the last level.
    classes : ndarray or None
        The sorted labels, None where it is to tell numbers.
    owner : str
        Used in messages.

    Returns
    -------
    estimator
        Unfitted.
    """
    from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV

    if final_estimator is None:
        return RidgeCV() if classes is None else LogisticRegression()
    if not isinstance(final_estimator, str):
        return _given(final_estimator, classes is not None, owner)
    named: dict[str, Any] = {"mean": MeanRegressor(n_members), "linear": LinearRegression()}
    if classes is not None:
        named = {
            "mean": MeanClassifier(n_members, classes),
            "majority": MajorityClassifier(n_members, classes),
            "linear": ClassRegressions(classes),
            "logistic": LogisticRegression(),
            "per_class": ClassRegressions(classes, n_members),
        }
    if final_estimator not in named:
        allowed = f"None, an estimator, or one of {', '.join(map(repr, named))}"
        raise invalid("final_estimator", owner, allowed, final_estimator)
    return named[final_estimator]


def _given(final_estimator: Any, classes: bool, owner: str) -> Any:
    check_instance(final_estimator, f"final_estimator of {owner}")
    kind, fits = ("classifier", is_classifier) if classes else ("regressor", is_regressor)
    if not fits(final_estimator):
        name = type(final_estimator).__name__
        found = f"'final_estimator' parameter should be a {kind}. Got {name}"
        raise InputError(describe("P-ESTIMATOR", "final_estimator", found))
    return clone(final_estimator)
