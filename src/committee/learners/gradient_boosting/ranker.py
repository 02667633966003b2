"""Gradient boosting for rankings: LambdaMART and its pairwise ancestor."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from committee.core.members import Floats
from committee.core.params import choice, integer
from committee.core.watching import with_callbacks
from committee.data import InputError, read_numbers, read_weights
from committee.data.errors import describe, rows_text
from committee.data.groups import read_queries
from committee.learners.gradient_boosting.booster import GradientBooster
from committee.learners.gradient_boosting.dividing import Parts
from committee.learners.gradient_boosting.given import GivenRows, HeldOutArguments, Target
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
        n_estimators: int = 300,
        learning_rate: float = 0.05,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 3.0,
        min_child_weight: float = 0.0,
        min_split_gain: float = 0.0,
        retire_features: bool = False,
        subsample: float = 1.0,
        sampling_method: str = "uniform",
        max_features: int | float | str | None = 0.5,
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        growth: str = "leaf",
        linear_leaves: bool = False,
        linear_l2: float = 0.0,
        n_parallel_trees: int = 1,
        drop_rate: float = 0.0,
        skip_drop: float = 0.5,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        categorical_encoding: str = "native",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        early_stopping: bool | str | None = None,
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
        query_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        groups_val: Any = None,
        query_weight_val: Any = None,
        base_margin: Any = None,
        base_margin_val: Any = None,
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
        query_weight : array-like of shape (n_samples,), optional
            The weight of each row's query, the same for all rows of one: what all pairs of the
            query count. A query of weight 2 is as good as two of them, one of weight 0 is absent.
        X_val, y_val, groups_val, query_weight_val : optional
            Rows to stop by, in place of a split of the queries.
        base_margin : array-like of shape (n_samples,), optional
            Raw scores that the rows bring along (an offset). They take the place of the constant
            that boosting otherwise starts from, so that the model is what is to be added to them.
        base_margin_val : array-like, optional
            The same of the rows to stop by; needed if both are given.

        Returns
        -------
        GradientBoostingRanker
            The fitted model.
        """
        held = HeldOutArguments(X_val, y_val, query_weight_val, groups_val, base_margin_val)
        return self._fit(X, y, query_weight, held, groups, base_margin)

    def _read_target(self, y: Any, n_rows: int) -> Target:
        numbers = read_numbers(y, n_rows, estimator_name=type(self).__name__)
        return Target(np.ascontiguousarray(numbers[:, 0]), {"n_outputs_": 1})

    def _read_held_out(self, y: Any, n_rows: int, target: Target, name: str = "y_val") -> Floats:
        return self._read_target(y, n_rows).y

    def _read_queries(self, groups: Any, n_rows: int) -> Any:
        return codes_of(groups, n_rows)

    def _loss(self, target: Target, weight: Floats | None) -> Loss:
        if isinstance(self.loss, RankingLoss):
            return self.loss
        return Pairwise() if self.loss == "pairwise" else LambdaMART(k=self.k)

    def _divide(
        self, given: GivenRows, target: Target, held: HeldOutArguments, seed: int, loss: Loss
    ) -> Parts:
        query_weights(given.queries, given.weight, "query_weight")
        parts = super()._divide(given, target, held, seed, loss)
        if parts.left is not None:
            query_weights(parts.left.queries, parts.left.weight, "query_weight_val")
        return parts

    def _bound(self, loss: Loss, given: GivenRows) -> Loss:
        assert isinstance(loss, RankingLoss)
        groups = read_queries(given.queries, len(given.y))
        weight = query_weights(given.queries, given.weight, "query_weight")
        return loss.with_groups(
            groups.begin, groups.order, weight=weight, n_threads=self._threads()
        )

    def predict(self, X: Any, *, base_margin: Any = None) -> Floats:
        """Score the rows: of a query, the higher the better.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        base_margin : array-like of shape (n_samples,), optional
            Raw scores to add. A model that was fitted with some and is asked without gives its own
            part alone.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores; their scale has no further meaning.
        """
        return self._scores(X, base_margin)[:, 0]

    def score(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        *,
        k: int | None = 10,
        query_weight: Any = None,
    ) -> float:
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
        query_weight : array-like of shape (n_samples,), optional
            The weight of each row's query, the same for all rows of one.

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
        codes = codes_of(groups, len(scores))
        weight = query_weights(codes, read_weights(query_weight, len(scores)), "query_weight")
        return float(np.average(ndcg(scores, relevance, codes, k=k), weights=weight))


def codes_of(groups: Any, n_rows: int) -> Any:
    """Give each query a number, as they first appear."""
    if groups is None:
        return np.zeros(n_rows, dtype=np.intp)
    found = read_queries(groups, n_rows)
    codes = np.empty(n_rows, dtype=np.intp)
    codes[found.order] = np.repeat(np.arange(len(found)), found.sizes)
    return codes


def query_weights(queries: Any, weight: Floats | None, argument: str) -> Floats | None:
    """Give the weight of each query, as they first appear; rows of one must agree on it."""
    if weight is None:
        return None
    groups = read_queries(queries, len(weight))
    by_query: Floats = weight[groups.order[groups.begin[:-1]]]
    expected = np.empty(len(weight))
    expected[groups.order] = np.repeat(by_query, groups.sizes)
    bad = np.flatnonzero(weight != expected)
    if len(bad):
        row = bad[0]
        found = (
            f"{rows_text(bad, len(bad))} differ from the first row of their query; "
            f"row {row} has {weight[row]:.6g}, there {expected[row]:.6g}"
        )
        allowed = "one weight for all rows of a query: it multiplies the pairs of the query"
        fix = "weight_of_query[query] as query_weight, or groups if they are missing"
        raise InputError(describe("W-QUERY", argument, found, allowed=allowed, fix=fix))
    return by_query
