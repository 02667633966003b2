"""Gradient boosting for classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from committee.core.members import Floats
from committee.core.params import CLASS_WEIGHT_CONSTRAINTS, choice
from committee.core.watching import with_callbacks
from committee.data import (
    InputError,
    Labels,
    combine_weights,
    read_class_weights,
    read_classes,
    read_weights,
)
from committee.data.errors import describe, listing
from committee.learners.gradient_boosting.booster import GradientBooster
from committee.learners.gradient_boosting.given import HeldOutArguments, Target
from committee.learners.gradient_boosting.gradient_docs import boosting_documented
from committee.learners.gradient_boosting.permutation import PermutedFeatures
from committee.learners.gradient_boosting.targets import check_shares
from committee.losses import Loss, Squared, named
from committee.losses.answers import checked_predictions


@boosting_documented
class GradientBoostingClassifier(ClassifierMixin, PermutedFeatures):
    """Gradient boosting for classes, of the second order, on histograms.

    Parameters
    ----------
    loss : {"log_loss", "exponential"} or Loss, default="log_loss"
        What is minimised; "exponential", which is AdaBoost's, takes two classes. A ``Loss`` of
        yours gets class codes as y.
    {boosting}
    {outputs}
    class_weight : dict, "balanced" or None, default=None
        Weights of classes, as in scikit-learn.
    {rest}

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    {attributes}

    Examples
    --------
    >>> from committee import GradientBoostingClassifier, load_heart
    >>> X, y = load_heart(as_frame=True)
    >>> model = GradientBoostingClassifier(n_estimators=30).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 1)
    0.8
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GradientBooster._parameter_constraints,
        "multi_strategy": [choice("one_output_per_tree", "multi_output_tree")],
        "loss": [choice("log_loss", "exponential"), Loss],
        "class_weight": CLASS_WEIGHT_CONSTRAINTS,
    }

    def __init__(
        self,
        loss: str | Loss = "log_loss",
        *,
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
        class_weight: Any = None,
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
        y : array-like of shape (n_samples,)
            Their classes.
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
        GradientBoostingClassifier
            The fitted model.
        """
        held = HeldOutArguments(X_val, y_val, sample_weight_val, margin=base_margin_val)
        return self._fit(X, y, sample_weight, held, base_margin=base_margin)

    def _read_target(self, y: Any, n_rows: int) -> Target:
        labels = read_classes(y, n_rows, estimator_name=type(self).__name__)
        classes = labels.classes[0]
        warm = self.warm_start and hasattr(self, "classes_")
        if warm and not np.array_equal(classes, self.classes_):
            found, fix = "other classes than in the fit before", "warm_start=False"
            raise InputError(describe("P-WARM", "y", found, fix=fix))
        told = {"classes_": classes, "n_classes_": len(classes), "n_outputs_": 1}
        return Target(labels.codes[:, 0].astype(np.float64), told, stratify=True)

    def _read_weights(self, sample_weight: Any, target: Target) -> Floats | None:
        given = read_weights(sample_weight, len(target.y))
        codes = target.y.astype(np.int32)[:, None]
        labels = Labels([target.attributes["classes_"]], codes)
        return combine_weights(given, read_class_weights(self.class_weight, labels, given))

    def _read_held_out(self, y: Any, n_rows: int, target: Target, name: str = "y_val") -> Floats:
        labels = read_classes(y, n_rows, estimator_name=type(self).__name__, remark=False)
        known, found = target.attributes["classes_"], labels.classes[0]
        strange = np.setdiff1d(found, known)
        if len(strange):
            text = f"classes that fit has not seen: {listing(strange.tolist())}"
            allowed = listing(known.tolist())
            raise InputError(describe("P-SPLIT", name, text, allowed=allowed))
        codes = np.searchsorted(known, found)[labels.codes[:, 0]]
        return np.asarray(codes, dtype=np.float64)

    def _loss(self, target: Target, weight: Floats | None) -> Loss:
        n_classes = target.attributes["n_classes_"]
        if isinstance(self.loss, Loss):
            check_shares(self.loss, n_classes)
            return self.loss
        if n_classes == 1:
            return Squared()  # of zeros: nothing to learn
        if self.loss == "log_loss":
            return named("log_loss", n_classes=n_classes)
        if n_classes > 2:
            found = f"{n_classes} classes"
            fix = 'loss="log_loss"'
            raise InputError(describe("P-LOSS", "loss", found, allowed="two classes", fix=fix))
        return named(self.loss)

    def _probabilities(self, raw: Floats) -> Floats:
        n_classes = len(self.classes_)
        if n_classes != self.n_classes_ or raw.shape[1] not in (1, n_classes):
            found = f"classes_ holds {n_classes} classes, the model {self.n_classes_}"
            raise InputError(describe("M-CLASSES", "classes_", found, fix="fit the model again"))
        if n_classes == 1:
            return np.ones((len(raw), 1))
        return checked_predictions(self.loss_, raw, n_classes)

    def _told(self, raw: Floats) -> Floats:
        return self._probabilities(raw)

    def _labels(self, shares: Floats) -> npt.NDArray[Any]:
        return np.asarray(self.classes_.take(shares.argmax(axis=1)))

    def predict_proba(self, X: Any, *, base_margin: Any = None) -> Floats:
        """Predict class probabilities.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        base_margin : array-like of shape (n_samples,) or (n_samples, n_outputs), optional
            Raw scores to add. A model that was fitted with some and is asked without gives its own
            part alone.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._probabilities(self._scores(X, base_margin))

    def predict_log_proba(self, X: Any, *, base_margin: Any = None) -> Floats:
        """Predict the logarithm of ``predict_proba``; minus infinity where a share is zero.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        base_margin : array-like of shape (n_samples,) or (n_samples, n_outputs), optional
            Raw scores to add. A model that was fitted with some and is asked without gives its own
            part alone.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.predict_proba(X, base_margin=base_margin))
        return logs

    def predict(self, X: Any, *, base_margin: Any = None) -> npt.NDArray[Any]:
        """Predict the class of each row, the most probable one.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        base_margin : array-like of shape (n_samples,) or (n_samples, n_outputs), optional
            Raw scores to add. A model that was fitted with some and is asked without gives its own
            part alone.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels; of equally probable ones the first in the order of ``classes_``.
        """
        return self._labels(self._probabilities(self._scores(X, base_margin)))

    def decision_function(self, X: Any, *, base_margin: Any = None) -> Floats:
        """Compute the raw scores.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        base_margin : array-like of shape (n_samples,) or (n_samples, n_outputs), optional
            Raw scores to add. A model that was fitted with some and is asked without gives its own
            part alone.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One score for two classes, above 0 for the second; else one for each.
        """
        raw = self._scores(X, base_margin)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def staged_predict_proba(self, X: Any, *, base_margin: Any = None) -> Iterator[Floats]:
        """Predict class probabilities after each round.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        base_margin : array-like of shape (n_samples,) or (n_samples, n_outputs), optional
            Raw scores to add. A model that was fitted with some and is asked without gives its own
            part alone.

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
            By the first 1, 2, .. rounds.
        """
        for raw in self._staged_raw(X, base_margin):
            yield self._probabilities(raw)

    def staged_predict(self, X: Any, *, base_margin: Any = None) -> Iterator[npt.NDArray[Any]]:
        """Predict the class of each row after each round.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        base_margin : array-like of shape (n_samples,) or (n_samples, n_outputs), optional
            Raw scores to add. A model that was fitted with some and is asked without gives its own
            part alone.

        Yields
        ------
        ndarray of shape (n_samples,)
            By the first 1, 2, .. rounds.
        """
        for shares in self.staged_predict_proba(X, base_margin=base_margin):
            yield self._labels(shares)
