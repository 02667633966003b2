"""Gradient boosting for rankings: LambdaMART and its pairwise ancestor."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from committee.core.members import Floats
from committee.core.params import choice, integer
from committee.core.watching import with_callbacks
from committee.data import InputError, read_numbers
from committee.data.errors import describe
from committee.data.groups import read_queries
from committee.learners.gradient_boosting.booster import (
    GivenRows,
    GradientBooster,
    HeldOutArguments,
    Target,
)
from committee.learners.gradient_boosting.gradient_docs import boosting_documented
from committee.losses.loss import Loss
from committee.losses.ranking import LambdaMART, Pairwise, RankingLoss, ndcg


@boosting_documented
class GradientBoostingRanker(GradientBooster):
    """Gradient boosting for rankings: rows of a query are put in order, the best first.

    Parameters
    ----------
    loss : {"lambdamart", "pairwise"} or RankingLoss, default="lambdamart"
        "lambdamart" weighs each pair of rows by what its swap would change of NDCG (Burges 2010),
        "pairwise" weighs all alike (RankNet).
    k : int or None, default=30
        Of "lambdamart": only pairs with a row among the first ``k`` of their query count; None
        is all pairs.
    {boosting}
    {rest}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from committee import GradientBoostingRanker
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 4))
    >>> relevance = np.digitize(X[:, 0] + 0.3 * rng.normal(size=600), [0.5, 1.5])
    >>> query = np.repeat(np.arange(30), 20)
    >>> model = GradientBoostingRanker().fit(X, relevance, groups=query)
    >>> bool(model.score(X, relevance, groups=query) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GradientBooster._parameter_constraints,
        "loss": [choice("lambdamart", "pairwise"), RankingLoss],
        "k": [integer(1), None],
    }

    def __init__(
        self,
        loss: str | RankingLoss = "lambdamart",
        *,
        k: int | None = 30,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        min_child_weight: float = 0.0,
        min_split_gain: float = 0.0,
        subsample: float = 1.0,
        max_features: int | float | str | None = None,
        growth: str = "leaf",
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        early_stopping: bool | str = "auto",
        validation_fraction: int | float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        warm_start: bool = False,
        max_time: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self._keep(locals())

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        groups_val: Any = None,
    ) -> Self:
        """Boost.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            Their relevance: 0, 1, .. for "lambdamart", any numbers for "pairwise".
        groups : array-like of shape (n_samples,), optional
            The query of each row; rows of a query need not lie together. Without, all rows are
            of one.
        X_val, y_val, groups_val : optional
            Rows to stop by, in place of a split of the queries.

        Returns
        -------
        GradientBoostingRanker
            The fitted model.
        """
        held = HeldOutArguments(X_val, y_val, groups=groups_val)
        return self._fit(X, y, None, held, groups)

    def _read_target(self, y: Any, n_rows: int) -> Target:
        numbers = read_numbers(y, n_rows, estimator_name=type(self).__name__)
        return Target(np.ascontiguousarray(numbers[:, 0]), {"n_outputs_": 1})

    def _read_held_out(self, y: Any, n_rows: int, target: Target) -> Floats:
        return self._read_target(y, n_rows).y

    def _read_queries(self, groups: Any, n_rows: int) -> Any:
        return codes_of(groups, n_rows)

    def _loss(self, target: Target, weight: Floats | None) -> Loss:
        if isinstance(self.loss, RankingLoss):
            return self.loss
        return Pairwise() if self.loss == "pairwise" else LambdaMART(k=self.k)

    def _bound(self, loss: Loss, given: GivenRows) -> Loss:
        assert isinstance(loss, RankingLoss)
        groups = read_queries(given.queries, len(given.y))
        return loss.with_groups(groups.begin, groups.order, n_threads=self._threads())

    def predict(self, X: Any) -> Floats:
        """Score the rows: of a query, the higher the better.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores; their scale has no further meaning.
        """
        return self._outputs(X)[:, 0]

    def score(self, X: Any, y: Any, groups: Any = None, *, k: int | None = 10) -> float:
        """Measure the mean NDCG of the queries.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their relevance.
        groups : array-like of shape (n_samples,), optional
            The query of each row.
        k : int or None, default=10
            How far down the list counts.

        Returns
        -------
        float
            At most 1; a query without a relevant row counts as 1.
        """
        scores = self.predict(X)
        relevance = read_numbers(y, len(scores), estimator_name=type(self).__name__)[:, 0]
        if (relevance < 0).any():
            found = f"{int((relevance < 0).sum())} value(s) below 0"
            raise InputError(describe("Y-RELEVANCE", "y", found, allowed="numbers >= 0"))
        return float(np.mean(ndcg(scores, relevance, codes_of(groups, len(scores)), k=k)))


def codes_of(groups: Any, n_rows: int) -> Any:
    """Give each query a number, as they first appear."""
    if groups is None:
        return np.zeros(n_rows, dtype=np.intp)
    found = read_queries(groups, n_rows)
    codes = np.empty(n_rows, dtype=np.intp)
    codes[found.order] = np.repeat(np.arange(len(found)), found.sizes)
    return codes
