"""Ensemble selection of classifiers: the mean of the chosen members' probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from committee.core.members import Floats
from committee.core.params import choice, real
from committee.ensembles.panel import PanelTask
from committee.ensembles.selection.judges import CLASS_SCORES, Judge
from committee.ensembles.selection.selection import EnsembleSelection
from committee.ensembles.selection.selection_docs import selection_documented
from committee.ensembles.selection.soft_margin import soft_margin_weights


@selection_documented
class EnsembleSelectionClassifier(ClassifierMixin, EnsembleSelection):
    """Classifiers chosen from a pool, with replacement, by what they say of held-out rows.

    Caruana, Niculescu-Mizil, Crew and Ksikes (2004). The ensemble is the mean of the chosen
    members' probabilities; one without ``predict_proba`` gives its whole vote to a class.

    Parameters
    ----------
    {estimators}
    scoring : {"neg_log_loss", "accuracy", "neg_brier_score"} or callable, default="neg_log_loss"
        What the ensemble should be good at; larger is better. A callable is given the true labels
        and the probabilities of all classes, and ``sample_weight`` where there are weights.
    {selection_parameters}
    method : {"greedy", "soft_margin"}, default="greedy"
        The climb of the paper, or one linear program: the weights with the largest soft margin on
        the held-out rows, most of them 0. Rounds and bags belong to the climb; ``scoring`` chooses
        there, and only reports here: margins know nothing of log-loss.
    nu : float, default=0.1
        For "soft_margin": the share of rows, those with the smallest margins, that the program
        looks at. It is raised to twice the error of the plain mean, and further until the margin
        of the other rows is above 0; smaller ones let members cancel each other.

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    {selection_attributes}
    soft_margin_ : SoftMargin
        With "soft_margin": the nu that was used, and the margin reached. There are no ``paths_``.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier, EnsembleSelectionClassifier
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> pool = [(f"near{k}", KNeighborsClassifier(k)) for k in (1, 5, 15)]
    >>> pool += [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3))]
    >>> model = EnsembleSelectionClassifier(pool, random_state=0).fit(X, y)
    >>> model.best_single_
    'near15'
    >>> bool(model.score_ > model.best_single_score_)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **EnsembleSelection._parameter_constraints,
        "method": [choice("greedy", "soft_margin")],
        "nu": [real(0, 1, "right")],
    }
    _scores = CLASS_SCORES

    def __init__(
        self,
        estimators: Any,
        *,
        scoring: Any = "neg_log_loss",
        cv: Any = None,
        n_rounds: int = 50,
        n_init: int | str = "auto",
        n_bags: int = 1,
        bag_size: float = 0.5,
        prefit: bool = False,
        method: str = "greedy",
        nu: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.scoring = scoring
        self.cv = cv
        self.n_rounds = n_rounds
        self.n_init = n_init
        self.n_bags = n_bags
        self.bag_size = bag_size
        self.prefit = prefit
        self.method = method
        self.nu = nu
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _weigh(self, task: PanelTask, oof: Floats, judge: Judge, singles: Floats) -> dict[str, Any]:
        if self.method == "greedy":
            return super()._weigh(task, oof, judge, singles)
        assert task.codes is not None
        known = judge.known
        weight = None if task.weight is None else task.weight[known]
        found = soft_margin_weights(oof[:, known], task.codes[known], self.nu, weight)
        return {"weights_": found.weights, "soft_margin_": found}

    def _asked_methods(self) -> Mapping[str, str]:
        return {"predict": "predict_proba", "predict_proba": "predict_proba"}

    def predict(self, X: Any, **params: Any) -> npt.NDArray[Any]:
        """Predict the class of each row: the one with the largest mean probability.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        **params : dict
            Metadata for the members, with scikit-learn's routing enabled.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels; of equal classes the first in the order of ``classes_``.
        """
        shares = self._mean(X, self._routed("predict", params))
        return np.asarray(self.classes_.take(shares.argmax(axis=1)))

    def predict_proba(self, X: Any, **params: Any) -> Floats:
        """Average the probabilities of the chosen members.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        **params : dict
            Metadata for the members, with scikit-learn's routing enabled.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._mean(X, self._routed("predict_proba", params))
