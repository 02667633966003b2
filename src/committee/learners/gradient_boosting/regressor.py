"""Gradient boosting for numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin

from committee.core.members import Floats
from committee.core.params import choice, real
from committee.core.watching import with_callbacks
from committee.data import read_numbers
from committee.learners.gradient_boosting.booster import (
    GradientBooster,
    HeldOutArguments,
    Target,
)
from committee.learners.gradient_boosting.gradient_docs import boosting_documented
from committee.losses import Huber, Loss, named


@boosting_documented
class GradientBoostingRegressor(RegressorMixin, GradientBooster):
    """Gradient boosting for numbers, of the second order, on histograms.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", \
"tweedie", "cox"} or Loss, default="squared_error"
        What is minimised. "poisson", "gamma", "tweedie" model the logarithm of the mean; "cox"
        takes times to an event, negative where the row was lost sight of before it, and predicts
        log hazards. For a loss of your own, subclass ``Loss``.
    quantile : float or list of float, optional
        Of loss "quantile": the level, or several, for which one model predicts as many columns
        that never cross.
    power : float, default=1.5
        Of loss "tweedie": between 1 (Poisson) and 2 (gamma).
    delta : float or None, default=None
        Of loss "huber": from where residuals count by their size alone. None takes the 0.9
        quantile of the distances of y from its median.
    {boosting}
    {rest}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from committee import GradientBoostingRegressor
    >>> x = np.linspace(0, 6, 300).reshape(-1, 1)
    >>> model = GradientBoostingRegressor().fit(x, np.sin(x[:, 0]))
    >>> model.predict([[1.5], [4.7]]).round(2)
    array([ 1., -1.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GradientBooster._parameter_constraints,
        "loss": [
            choice(
                "squared_error",
                "absolute_error",
                "huber",
                "quantile",
                "poisson",
                "gamma",
                "tweedie",
                "cox",
            ),
            Loss,
        ],
        "quantile": [real(0, 1, "neither"), list, tuple, None],
        "power": [real(1, 2, "neither")],
        "delta": [real(0, None, "neither"), None],
    }

    def __init__(
        self,
        loss: str | Loss = "squared_error",
        *,
        quantile: Any = None,
        power: float = 1.5,
        delta: float | None = None,
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
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Boost.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; a row of weight 0 is as good as absent.
        X_val, y_val, sample_weight_val : optional
            Rows to stop by, in place of a split of the training rows.

        Returns
        -------
        GradientBoostingRegressor
            The fitted model.
        """
        return self._fit(X, y, sample_weight, HeldOutArguments(X_val, y_val, sample_weight_val))

    def _read_target(self, y: Any, n_rows: int) -> Target:
        numbers = read_numbers(y, n_rows, estimator_name=type(self).__name__)
        return Target(np.ascontiguousarray(numbers[:, 0]), {"n_outputs_": 1})

    def _read_held_out(self, y: Any, n_rows: int, target: Target) -> Floats:
        return self._read_target(y, n_rows).y

    def _loss(self, target: Target, weight: Floats | None) -> Loss:
        if isinstance(self.loss, Loss):
            return self.loss
        if self.loss == "huber":
            if self.delta is None:
                return Huber.from_target(target.y, weight)
            return named("huber", delta=float(self.delta))
        if self.loss == "quantile" and self.quantile is not None:
            several = not np.isscalar(self.quantile)
            return named("quantile", **{"levels" if several else "level": self.quantile})
        if self.loss == "tweedie":
            return named("tweedie", power=float(self.power))
        return named(self.loss)

    def _numbers(self, raw: Floats) -> Floats:
        numbers: Floats = self.loss_.predict(raw[:, 0] if raw.shape[1] == 1 else raw)
        return numbers

    def predict(self, X: Any) -> Floats:
        """Predict the target of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_levels) for several quantiles
            The predictions, on the scale of y.
        """
        return self._numbers(self._outputs(X))

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Predict the target of each row after each round.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples,)
            By the first 1, 2, .. rounds.
        """
        for raw in self._staged_raw(X):
            yield self._numbers(raw)
