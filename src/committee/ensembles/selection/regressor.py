"""Ensemble selection of regressors: the mean of the chosen members' predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sklearn.base import RegressorMixin

from committee.core.members import Floats
from committee.ensembles.opinions import flat
from committee.ensembles.selection.judges import NUMBER_SCORES
from committee.ensembles.selection.selection import EnsembleSelection
from committee.ensembles.selection.selection_docs import selection_documented


@selection_documented
class EnsembleSelectionRegressor(RegressorMixin, EnsembleSelection):
    """Regressors chosen from a pool, with replacement, by what they say of held-out rows.

    Caruana, Niculescu-Mizil, Crew and Ksikes (2004). The ensemble is the mean of the chosen
    members' predictions.

    Parameters
    ----------
    {estimators}
    scoring : {"neg_mean_squared_error", "neg_mean_absolute_error", "r2"} or callable, \
default="neg_mean_squared_error"
        What the ensemble should be good at; larger is better. A callable is given the true targets
        and the predictions, and ``sample_weight`` where there are weights.
    {selection_parameters}

    Attributes
    ----------
    {selection_attributes}

    Examples
    --------
    >>> from committee import DecisionTreeRegressor, EnsembleSelectionRegressor
    >>> from sklearn.datasets import make_friedman1
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> X, y = make_friedman1(200, random_state=0)
    >>> pool = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=6))]
    >>> pool += [("near", KNeighborsRegressor())]
    >>> model = EnsembleSelectionRegressor(pool, random_state=0).fit(X, y)
    >>> model.best_single_, bool(model.score_ > model.best_single_score_)
    ('line', True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = EnsembleSelection._parameter_constraints
    _scores = NUMBER_SCORES

    def __init__(
        self,
        estimators: Any,
        *,
        scoring: Any = "neg_mean_squared_error",
        cv: Any = None,
        n_rounds: int = 50,
        n_init: int | str = "auto",
        n_bags: int = 1,
        bag_size: float = 0.5,
        prefit: bool = False,
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _asked_methods(self) -> Mapping[str, str]:
        return {"predict": "predict"}

    def predict(self, X: Any, **params: Any) -> Floats:
        """Predict the target of each row: the mean of the chosen members' predictions.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        **params : dict
            Metadata for the members, with scikit-learn's routing enabled.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predictions.
        """
        return flat(self._mean(X, self._routed("predict", params)))
