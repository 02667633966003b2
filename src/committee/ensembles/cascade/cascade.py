"""Cascade generalisation: each level sees the features and what all earlier levels said.

Gama and Brazdil (2000), "Cascade generalization", Machine Learning 41. The class probabilities of a
learner become new features of the next; learners of low variance (naive Bayes, a linear
discriminant) come first, one of low bias (a tree) last, as in "C4.5 over Discrim over Bayes". In
the paper a level says what it says of its own training rows; ``cv`` shows the next levels answers
about rows that were held out instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from committee.core.log_shares import LogShares
from committee.core.members import ClassifierMember, Floats
from committee.core.params import choice
from committee.ensembles.cascade.cascade_docs import cascade_documented
from committee.ensembles.cascade.levels import Cascade, ask_label
from committee.ensembles.panel.seats import given_members


def _has_shares(model: Any) -> bool:
    """Tell whether the last level has probabilities; otherwise the cascade has none."""
    levels = getattr(model, "estimators_", None) or given_members(model.estimators)
    return bool(levels) and getattr(levels[-1], "predict_proba", None) is not None


@cascade_documented
class CascadeClassifier(ClassifierMixin, LogShares, Cascade):
    """Classifiers in order; each sees the features and what all earlier ones said.

    Parameters
    ----------
    {members}
    {cv}
    stack_method : {"auto", "predict_proba", "predict"}, default="auto"
        What levels say: probabilities, or labels as a 1 in the column of their class; "auto" is
        probabilities where a member has them.
    drop_last : bool, default=False
        Whether the column of the last class, which follows from the others, is left out.
    {rest}

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    {attributes}

    Examples
    --------
    >>> from committee import CascadeClassifier, DecisionTreeClassifier
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3))]
    >>> model = CascadeClassifier(members, random_state=0).fit(X, y)
    >>> model.widths_  # four features, and then three classes
    [4, 7]
    >>> model.level_scores(X, y)
    array([0.96, 0.98])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Cascade._parameter_constraints,
        "stack_method": [choice("auto", "predict_proba", "predict")],
        "drop_last": ["boolean"],
    }

    def __init__(
        self,
        estimators: Any,
        *,
        cv: Any = None,
        stack_method: str = "auto",
        drop_last: bool = False,
        check_leak: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.cv = cv
        self.stack_method = stack_method
        self.drop_last = drop_last
        self.check_leak = check_leak
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _answers(self) -> tuple[str, ...]:
        auto = ("predict_proba", "predict")
        return auto if self.stack_method == "auto" else (self.stack_method,)

    def _shares(self, estimator: Any, rows: Any) -> Floats:
        return ClassifierMember(estimator, self.classes_).outputs(rows)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class of each row by the last level.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        return np.asarray(self._last(X, ask_label, self._nothing))

    @available_if(_has_shares)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities by the last level.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return np.asarray(self._last(X, self._shares, self._no_shares))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Predict probabilities with the first level, with the second, and so on.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; of a level without probabilities a 1 for its label.
        """
        yield from self._stages(self._rows(X), self._shares, self._no_shares)


@cascade_documented
class CascadeRegressor(RegressorMixin, Cascade):
    """Regressors in order; each sees the features and what all earlier ones said.

    The paper is about classes; numbers cascade alike.

    Parameters
    ----------
    {members}
    {cv}
    {rest}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from committee import CascadeRegressor, DecisionTreeRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.linspace(-2, 2, 100).reshape(-1, 1)
    >>> y = 3 * X[:, 0] + (X[:, 0] > 0)
    >>> members = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=3))]
    >>> model = CascadeRegressor(members, random_state=0).fit(X, y)
    >>> model.widths_
    [1, 2]
    """

    def __init__(
        self,
        estimators: Any,
        *,
        cv: Any = None,
        check_leak: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.cv = cv
        self.check_leak = check_leak
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def predict(self, X: Any) -> Floats:
        """Predict the target of each row by the last level.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predictions.
        """
        return np.asarray(self._last(X, ask_label, self._nothing))
