"""Different regressors are averaged, or their median taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from committee.core.members import Floats
from committee.core.params import choice
from committee.ensembles.opinions import flat
from committee.ensembles.voting.rules import Rule, number_rule
from committee.ensembles.voting.voting import Voting
from committee.ensembles.voting.voting_docs import voting_documented

NUMBER_RULES = ("mean", "median", "trimmed_mean")


@voting_documented
class VotingRegressor(RegressorMixin, Voting):
    """Different regressors are averaged.

    Parameters
    ----------
    {estimators}
    {weights}
    {panel_parameters}
    voting : {"mean", "median", "trimmed_mean"}, default="mean"
        How predictions are combined. Median and trimmed mean bear members that are far off.
    {trim}
    {prefit}

    Attributes
    ----------
    {voting_attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from committee import DecisionTreeRegressor, VotingRegressor
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> members = [
    ...     ("line", LinearRegression()),
    ...     ("tree", DecisionTreeRegressor()),
    ...     ("far_off", DummyRegressor(strategy="constant", constant=1e6)),
    ... ]
    >>> VotingRegressor(members, voting="median").fit(X, 3 * X[:, 0]).predict([[2.0], [30.0]])
    array([ 6., 90.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Voting._parameter_constraints,
        "voting": [choice(*NUMBER_RULES)],
    }

    def __init__(
        self,
        estimators: Any,
        *,
        weights: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        voting: str = "mean",
        trim: float = 0.1,
        prefit: bool = False,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.voting = voting
        self.trim = trim
        self.prefit = prefit
        self.random_state = random_state

    def _rule(self) -> Rule:
        return number_rule(self.voting, self.trim)

    def _asked_methods(self) -> Mapping[str, str]:
        return {"predict": "predict"}

    def predict(self, X: Any, **params: Any) -> Floats:
        """Predict the target of each row: the members' predictions, combined.

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
        return flat(self._combined(X, self._routed("predict", params)))

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Predict with the first member, with the first two, and so on.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predictions; members of weight 0 have no stage.
        """
        for numbers in self._staged(X):
            yield flat(numbers)

    def transform(self, X: Any) -> Floats:
        """Give what each member says, as features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_members * n_outputs)
            Predictions, those of one member side by side.
        """
        return np.hstack(list(self._outputs(X)))

    def _columns_per_member(self) -> int | None:
        return None if self.n_outputs_ == 1 else self.n_outputs_
