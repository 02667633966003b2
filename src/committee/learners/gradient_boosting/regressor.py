"""Gradient boosting for numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from committee.core.members import Floats
from committee.core.params import choice, real
from committee.core.watching import with_callbacks
from committee.data import InputError, read_numbers, read_weights
from committee.data.errors import describe
from committee.learners.gradient_boosting.booster import GradientBooster
from committee.learners.gradient_boosting.conformal import (
    INTERVAL_CONSTRAINTS,
    BoostedIntervals,
    check_intervals,
)
from committee.learners.gradient_boosting.given import HeldOutArguments, Target
from committee.learners.gradient_boosting.gradient_docs import boosting_documented
from committee.learners.gradient_boosting.permutation import PermutedFeatures
from committee.learners.gradient_boosting.targets import check_target
from committee.losses import Columns, Cox, Huber, Loss, Quantiles, named
from committee.losses.answers import checked_predictions, checked_start, checked_values


@boosting_documented
class GradientBoostingRegressor(RegressorMixin, PermutedFeatures, BoostedIntervals):
    """Gradient boosting for numbers, of the second order, on histograms.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", \
"tweedie", "cox"} or Loss, default="squared_error"
        What is minimised. "poisson", "gamma", "tweedie" model the logarithm of the mean; "cox"
        takes times to an event, negative where the row was lost sight of before it, and predicts
        log hazards. For a loss of your own, subclass ``Loss``. Where y has several columns, each
        has the loss of one score; a ``Loss`` of several scores gets y as it is, and
        ``losses.Columns`` gives each column its own.
    quantile : float or list of float, optional
        Of loss "quantile": the level, or several, for which one model predicts as many columns
        that never cross.
    power : float, default=1.5
        Of loss "tweedie": between 1 (Poisson) and 2 (gamma).
    delta : float or None, default=None
        Of loss "huber": from where residuals count by their size alone. None takes the 0.9
        quantile of the distances of y from its median.
    intervals : {"conformal", "quantile"} or None, default=None
        What ``predict_interval`` gives. "conformal" holds rows out, which no tree and no early
        stopping sees, and takes from them how far targets lie from predictions; with several
        quantiles, from the lowest and the highest, so that widths follow x. "quantile" gives these
        two as they are. Held-out rows count alike, whatever they weigh.
    calibration_fraction : int or float, default=0.2
        Of intervals "conformal": the rows that are held out, as a number or a share.
    {boosting}
    {outputs}
    {rest}

    Attributes
    ----------
    {attributes}
    intervals_ : KeptIntervals
        What ``predict_interval`` needs, where ``intervals`` is set.

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
        "multi_strategy": [choice("one_output_per_tree", "multi_output_tree")],
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
        "quantile": [real(0, 1, "neither"), list, tuple, np.ndarray, None],
        "power": [real(1, 2, "neither")],
        "delta": [real(0, None, "neither"), None],
        **INTERVAL_CONSTRAINTS,
    }

    def __init__(
        self,
        loss: str | Loss = "squared_error",
        *,
        quantile: Any = None,
        power: float = 1.5,
        delta: float | None = None,
        intervals: str | None = None,
        calibration_fraction: int | float = 0.2,
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
        multi_strategy: str = "one_output_per_tree",
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

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
        base_margin: Any = None,
        base_margin_val: Any = None,
    ) -> Self:
        """Boost.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_columns)
            Their targets. Of several columns the losses are added.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; a row of weight 0 is as good as absent.
        X_val, y_val, sample_weight_val : optional
            Rows to stop by, in place of a split of the training rows.
        base_margin : array-like of shape (n_samples,) or (n_samples, n_outputs), optional
            Raw scores that the rows bring along (an offset). They take the place of the constant
            that boosting otherwise starts from, so that the model is what is to be added to them.
        base_margin_val : array-like, optional
            The same of the rows to stop by; needed if both are given.

        Returns
        -------
        GradientBoostingRegressor
            The fitted model.
        """
        held = HeldOutArguments(X_val, y_val, sample_weight_val, margin=base_margin_val)
        return self._fit(X, y, sample_weight, held, base_margin=base_margin)

    def _read_target(self, y: Any, n_rows: int) -> Target:
        numbers = read_numbers(y, n_rows, multi_output=True, estimator_name=type(self).__name__)
        n_columns = numbers.shape[1]
        given = np.ascontiguousarray(numbers[:, 0] if n_columns == 1 else numbers)
        return Target(given, {"n_outputs_": n_columns})

    def _read_held_out(self, y: Any, n_rows: int, target: Target, name: str = "y_val") -> Floats:
        held_out = self._read_target(y, n_rows)
        found, known = held_out.attributes["n_outputs_"], target.attributes["n_outputs_"]
        if found != known:
            text = f"{found} columns, and y has {known}"
            raise InputError(describe("P-SPLIT", name, text, allowed="the columns of y"))
        return held_out.y

    def _loss(self, target: Target, weight: Floats | None) -> Loss:
        loss = self._chosen_loss(target, weight)
        check_intervals(self.intervals, loss)
        return loss

    def _chosen_loss(self, target: Target, weight: Floats | None) -> Loss:
        n_columns = target.attributes["n_outputs_"]
        if n_columns == 1:
            return self._loss_of(target.y, weight)
        own = self.loss
        if isinstance(own, Loss) and own.n_outputs > 1 and not isinstance(own, Quantiles):
            if own.renews_leaves and own.n_outputs != n_columns:
                found = f"{own!r} renews leaves, and y has {n_columns} columns"
                allowed = f"{own.n_outputs} columns, one for each score"
                raise InputError(describe("P-LOSS", "loss", found, allowed=allowed))
            return own  # it knows what columns are
        return Columns(tuple(self._loss_of(y, weight) for y in target.y.T))

    def _loss_of(self, y: Floats, weight: Floats | None) -> Loss:
        """Find the loss of one column."""
        if isinstance(self.loss, Loss):
            return self.loss
        if self.loss == "huber":
            if self.delta is None:
                return Huber.from_target(y, weight)
            return named("huber", delta=float(self.delta))
        if self.loss == "quantile" and self.quantile is not None:
            if np.isscalar(self.quantile):
                return named("quantile", level=self.quantile)
            return named("quantile", levels=[*self.quantile])
        if self.loss == "tweedie":
            return named("tweedie", power=float(self.power))
        return named(self.loss)

    def _numbers(self, raw: Floats) -> Floats:
        return checked_predictions(self.loss_, raw)

    def _told(self, raw: Floats) -> Floats:
        return self._numbers(raw).reshape(len(raw), -1)

    def predict(self, X: Any, *, base_margin: Any = None) -> Floats:
        """Predict the target of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        base_margin : array-like of shape (n_samples,) or (n_samples, n_outputs), optional
            Raw scores to add. A model that was fitted with some and is asked without gives its own
            part alone.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_levels) for several quantiles
            The predictions, on the scale of y; (n_samples, n_columns) where y had several columns.
        """
        return self._numbers(self._scores(X, base_margin))

    def staged_predict(self, X: Any, *, base_margin: Any = None) -> Iterator[Floats]:
        """Predict the target of each row after each round.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        base_margin : array-like of shape (n_samples,) or (n_samples, n_outputs), optional
            Raw scores to add. A model that was fitted with some and is asked without gives its own
            part alone.

        Yields
        ------
        ndarray
            Shaped as by ``predict``, by the first 1, 2, .. rounds.
        """
        for raw in self._staged_raw(X, base_margin):
            yield self._numbers(raw)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score the predictions: at most 1, and 0 for the best constant.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_columns)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
            R squared. For several quantiles and for Cox's loss, whose predictions are no single
            number like y, the share of the constant's loss that the model takes away.
        """
        check_is_fitted(self)
        loss = self.loss_
        if not isinstance(loss, Cox | Quantiles):
            return float(super().score(X, y, sample_weight))
        raw = self._scores(X, None)
        target = self._read_target(y, len(raw)).y
        weight = read_weights(sample_weight, len(raw))
        check_target(loss, target, weight)
        ones = np.ones(len(raw)) if weight is None else weight
        constant = np.broadcast_to(checked_start(loss, target, ones), raw.shape)
        lost, least = (
            np.average(
                checked_values(loss, target, s[:, 0] if s.shape[1] == 1 else s), weights=ones
            )
            for s in (raw, constant)
        )
        return float(1 - lost / least) if least > 0 else float(lost == least)
