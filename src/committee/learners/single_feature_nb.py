"""Naive Bayes on one feature: a weak learner that knows more than one threshold.

For every feature a naive Bayes classifier of that feature alone is fitted to the weighted rows,
and the one with the smallest weighted error is kept: a Gaussian per class, or a Bernoulli variable
per class for features that are on or off.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from committee.core.members import Floats
from committee.core.params import NamedParameters, check_params, choice, real
from committee.data import InputError, read_classes, read_weights
from committee.data.errors import describe

TINY = np.finfo(np.float64).tiny


class SingleFeatureNB(NamedParameters, ClassifierMixin, BaseEstimator):
    """The best naive Bayes classifier that looks at one feature.

    Parameters
    ----------
    distribution : {"gaussian", "bernoulli"}, default="gaussian"
        What a feature is drawn from in each class; "bernoulli" asks whether it is above
        ``binarize``.
    var_smoothing : float, default=1e-9
        Share of a feature's variance that is added to its variance in each class.
    alpha : float, default=1.0
        Weight of the pseudo-counts of a Bernoulli variable, in rows of average weight.
    binarize : float, default=0.0
        Above it a feature is on.

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    feature_ : int
        The feature that was kept, the first of equal ones.
    error_ : float
        Its weighted training error.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithms of the classes' shares.
    theta_ : ndarray of shape (n_classes,)
        The means of the feature, or the probabilities that it is on.
    var_ : ndarray of shape (n_classes,)
        The variances of the feature; only for "gaussian".
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from committee import SingleFeatureNB
    >>> X = [[0, 1], [1, 2], [5, 1], [6, 2]]
    >>> model = SingleFeatureNB().fit(X, ["a", "a", "b", "b"])
    >>> model.feature_, model.predict([[5.5, 0]])
    (0, array(['b'], dtype='<U1'))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "distribution": [choice("gaussian", "bernoulli")],
        "var_smoothing": [real(0, None, "left")],
        "alpha": [real(0, None, "neither")],
        "binarize": [real()],
    }

    def __init__(
        self,
        distribution: str = "gaussian",
        *,
        var_smoothing: float = 1e-9,
        alpha: float = 1.0,
        binarize: float = 0.0,
    ) -> None:
        self.distribution = distribution
        self.var_smoothing = var_smoothing
        self.alpha = alpha
        self.binarize = binarize

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # one feature cannot tell everything apart
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit every feature by itself and keep the best.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training rows: finite numbers.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        SingleFeatureNB
            The fitted model.
        """
        check_params(self)
        matrix = validate_data(self, X, dtype=np.float64)
        labels = read_classes(y, len(matrix), estimator_name=type(self).__name__)
        weight = read_weights(sample_weight, len(matrix))
        weight = np.ones(len(matrix)) if weight is None else weight
        kept = weight > 0
        codes, weight = labels.codes[kept, 0], weight[kept] / weight[kept].mean()
        self._choose(matrix[kept], codes, weight, len(labels.classes[0]))
        self.classes_ = labels.classes[0]
        return self

    def _choose(self, X: Floats, codes: Any, weight: Floats, n_classes: int) -> None:
        """Estimate all features, measure each by its weighted error, and keep the first best."""
        own = np.zeros((n_classes, len(codes)))
        own[codes, np.arange(len(codes))] = weight
        mass = own.sum(axis=1)
        with np.errstate(divide="ignore"):
            log_prior = np.log(mass / mass.sum())
        theta, var = self._estimate(X, own, mass)
        errors = []
        for x, mean, spread in zip(X.T, theta.T, var.T, strict=True):
            wrong = self._scores(x, mean, spread, log_prior).argmax(axis=1) != codes
            errors.append(weight[wrong].sum())
        best = int(np.argmin(errors))
        self.feature_, self.error_ = best, float(errors[best] / weight.sum())
        self.class_log_prior_ = log_prior
        self.theta_ = theta[:, best]
        if self.distribution == "gaussian":
            self.var_ = var[:, best]
        elif hasattr(self, "var_"):
            del self.var_

    def _estimate(self, X: Floats, own: Floats, mass: Floats) -> tuple[Floats, Floats]:
        """Estimate the parameters of each class (rows) and feature (columns)."""
        share = own / np.where(mass > 0, mass, 1)[:, None]
        if self.distribution == "bernoulli":
            on = np.stack([np.sum(own * (x > self.binarize), axis=1) for x in X.T], axis=1)
            theta = (on + self.alpha) / (mass + 2 * self.alpha)[:, None]
            return theta, theta
        theta = np.stack([np.sum(share * x, axis=1) for x in X.T], axis=1)
        every = own.sum(axis=0) / mass.sum()
        middle = np.sum(every[:, None] * X, axis=0)
        # An infinite variance tells nothing apart.
        with np.errstate(over="ignore", invalid="ignore"):
            apart = (X[None] - theta[:, None]) ** 2  # [class, row, feature]
            var = np.sum(share[:, :, None] * apart, axis=1)
            whole = np.sum(every[:, None] * (X - middle) ** 2, axis=0)
            var = np.nan_to_num(var + self.var_smoothing * whole, nan=np.inf)
            return theta, np.maximum(var, TINY)

    def _scores(self, x: Floats, theta: Floats, var: Floats, log_prior: Floats) -> Floats:
        """Add the logarithms of prior and likelihood of each class (columns)."""
        if self.distribution == "bernoulli":
            on = (x > self.binarize)[:, None]
            return np.asarray(log_prior + np.where(on, np.log(theta), np.log1p(-theta)))
        with np.errstate(over="ignore", invalid="ignore"):
            apart = (x[:, None] - theta) ** 2 / var
            scores = log_prior - (np.log(2 * np.pi * var) + apart) / 2
        return np.asarray(np.where(np.isnan(scores), -np.inf, scores))

    def _joint(self, X: Any) -> Floats:
        check_is_fitted(self)
        matrix = validate_data(self, X, dtype=np.float64, reset=False)
        if not 0 <= self.feature_ < self.n_features_in_:
            found = f"feature_ is {self.feature_}, of {self.n_features_in_} features"
            raise InputError(describe("P-FEATURE", "feature_", found, fix="fit the model again"))
        var = getattr(self, "var_", self.theta_)
        scores = self._scores(matrix[:, self.feature_], self.theta_, var, self.class_log_prior_)
        lost = np.isneginf(scores).all(axis=1)  # so far away that no class has any density
        scores[lost] = self.class_log_prior_
        return scores

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels; of equal classes the first.
        """
        best = self._joint(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities by Bayes' rule.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return np.asarray(special.softmax(self._joint(X), axis=1))
