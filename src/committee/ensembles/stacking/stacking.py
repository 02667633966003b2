"""Stacking: a meta-model learns how far to trust each of several different members.

Wolpert (1992), "Stacked generalization"; Breiman (1996), "Stacked regressions"; probabilities as
meta-features and one linear regression a class are of Ting and Witten (1999), "Issues in stacked
generalization"; regressions on the columns of their class alone are Seewald's StackingC (2002).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples

from committee.core.log_shares import LogShares
from committee.core.members import ClassifierMember, Floats
from committee.core.params import choice
from committee.data import InputError
from committee.data.errors import describe
from committee.ensembles.levels.answers import AUTO
from committee.ensembles.stacking.stack import Stack
from committee.ensembles.stacking.stacking_docs import stacking_documented

METHODS = ("auto", "predict_proba", "decision_function", "predict")
AUTO_BY_META = {
    "majority": ("predict",),
    "mean": ("predict_proba", "predict"),
    "per_class": ("predict_proba", "predict"),
}


SCORED = (None, "logistic")  # meta-models chosen by name that have decision values
Method = TypeVar("Method", bound=Callable[..., Any])


def _delegates(name: str) -> Callable[[Method], Method]:
    """Have a method where the meta-model has it; those chosen by name have probabilities."""

    def check(model: Any) -> bool:
        final = getattr(model, "final_estimator_", model.final_estimator)
        named = final is None or isinstance(final, str)
        if named and name == "decision_function" and final not in SCORED:
            raise AttributeError(f"final_estimator={final!r} has no {name}")
        return named or bool(getattr(final, name) is not None)

    return cast(Callable[[Method], Method], available_if(check))


@stacking_documented
class StackingClassifier(ClassifierMixin, LogShares, Stack):
    """A meta-model learns to tell classes from what different classifiers say of unseen rows.

    Parameters
    ----------
    {members}
    final_estimator : estimator, str or None, default=None
        The meta-model. None and "logistic": logistic regression. "linear": a linear regression for
        each class on all columns (Ting and Witten). "per_class": a linear regression for each class
        on the columns of that class (StackingC). "mean" and "majority" learn nothing, and are the
        plain soft and hard vote.
    {cv}
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        What members are asked for; "auto" is the first of the three that a member has, for "mean"
        and "per_class" probabilities or labels, for "majority" labels. Labels become a 1 in the
        column of their class.
    {rest}
    drop : {"if_binary"} or None, default="if_binary"
        Whether the first column of two classes is dropped, as scikit-learn does, since both sum to
        1. "mean", "majority" and "per_class" get the columns of all classes.
    {seeds}

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    {attributes}

    Examples
    --------
    >>> from committee import StackingClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> members = [("nb", GaussianNB()), ("one", KNeighborsClassifier(1))]
    >>> model = StackingClassifier(members).fit(X, y)
    >>> print(model.final_estimator_.coef_.round(1))
    [[4.  2.4]]
    >>> print(model.verify_no_leak(X, y))
    No leak: no split of the 569 rows has a row on both sides, and 12 models, ...
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Stack._parameter_constraints,
        "stack_method": [choice(*METHODS)],
        "drop": [choice("if_binary"), None],
    }

    def __init__(
        self,
        estimators: Any = None,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        stack_method: str = "auto",
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
        levels: Any = None,
        drop: str | None = "if_binary",
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.stack_method = stack_method
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose
        self.levels = levels
        self.drop = drop
        self.random_state = random_state

    def _answers(self) -> tuple[str, ...]:
        if self.stack_method == "auto":
            named = self.final_estimator if isinstance(self.final_estimator, str) else ""
            return AUTO_BY_META.get(named, AUTO)
        if self._by_member() and self.stack_method == "decision_function":
            found = f"decision values, while {self.final_estimator!r} needs a column for each class"
            fix = "stack_method='auto', or another final_estimator"
            raise InputError(describe("P-PANEL", "stack_method", found, fix=fix))
        return (self.stack_method,)

    def predict(self, X: Any, **predict_params: Any) -> npt.NDArray[Any]:
        """Predict the class of each row by the meta-model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        **predict_params : dict
            For ``predict`` of the meta-model.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        return self._predicted(X, predict_params)

    @_delegates("predict_proba")
    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities by the meta-model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; 0 for a class of which no row had an honest answer.
        """
        rows = self._rows(X)
        if _num_samples(rows) == 0:
            return self._no_shares()
        return self._final(rows, ClassifierMember(self.final_estimator_, self.classes_).outputs)

    @_delegates("decision_function")
    def decision_function(self, X: Any) -> Floats:
        """Give the decision values of the meta-model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            As the meta-model gives them; of no rows in scikit-learn's form, one column for two
            classes.
        """
        rows = self._rows(X)
        if _num_samples(rows) == 0:
            n_classes = len(self.final_estimator_.classes_)
            return np.empty(0 if n_classes == 2 else (0, n_classes))
        return np.asarray(self._final(rows, self.final_estimator_.decision_function))


@stacking_documented
class StackingRegressor(RegressorMixin, Stack):
    """A meta-model learns numbers from what different regressors say of unseen rows.

    Parameters
    ----------
    {members}
    final_estimator : estimator, str or None, default=None
        The meta-model. None: ridge regression with a chosen penalty, as in scikit-learn. "linear":
        least squares. "mean" learns nothing, and is the plain average.
    {cv}
    {rest}
    {seeds}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from committee import DecisionTreeRegressor, StackingRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(200, 1))
    >>> y = X[:, 0] + np.abs(X[:, 0])
    >>> members = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=4))]
    >>> model = StackingRegressor(members, random_state=0).fit(X, y)
    >>> model.predict([[0.5], [1.0]]).round(1)
    array([1., 2.])
    """

    def __init__(
        self,
        estimators: Any = None,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
        levels: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose
        self.levels = levels
        self.random_state = random_state

    def predict(self, X: Any, **predict_params: Any) -> npt.NDArray[Any]:
        """Predict the target of each row by the meta-model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        **predict_params : dict
            For ``predict`` of the meta-model.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predictions.
        """
        return self._predicted(X, predict_params)
