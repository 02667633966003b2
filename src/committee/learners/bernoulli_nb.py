"""Bernoulli naive Bayes: every feature is on or off, and in each class by itself.

A row x of class k is seen with the probability theta_k * prod_j theta_jk^x_j (1 - theta_jk)^(1 -
x_j), where theta_k is the share of class k and theta_jk the share of its rows with feature j on.
Taken by logarithms that is linear in x, so that only the features that are on need be touched:

    log theta_k + sum_j log(1 - theta_jk) + sum_{j: x_j = 1} log theta_jk - log(1 - theta_jk).

McCallum and Nigam (1998), "A comparison of event models for naive Bayes text classification"; that
a word is absent counts here too, which is the difference from the multinomial model.

A missing value says nothing: the factor of that feature is left out of the row's product, which is
what summing over both of its values comes to, and the row is left out of that feature's shares.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from committee.core.fitted import set_schema
from committee.core.members import Floats
from committee.core.params import NamedParameters, check_params, invalid, real
from committee.data import (
    InputError,
    InputTypeError,
    Schema,
    Table,
    read_classes,
    read_fit,
    read_predict,
    read_weights,
)
from committee.data.errors import class_name, column_text, describe, listing, warn
from committee.data.known_classes import codes_among, read_all_classes
from committee.learners.binary_counts import Counts
from committee.learners.binary_rows import BinaryRows, binary_rows, refuse_other_than_binary

LEAST_ALPHA = 1e-10  # without force_alpha, as in scikit-learn
SUM_TOLERANCE = 1e-8  # how far given priors may be from 1 together


class BernoulliNB(NamedParameters, ClassifierMixin, BaseEstimator):
    """Naive Bayes for text and other features that are on or off.

    Sparse rows stay sparse. Missing values are left out, of a row's score and of the counts. The
    weights of rows are counts: a row of weight 2 is two rows, and ``alpha`` is weighed against
    them.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Pseudo-counts: so many rows of each class, on top of those there are, have a feature on,
        and as many have it off. They must be above 0, since a probability of 0 would make
        ``0 log 0`` of rows that are possible.
    force_alpha : bool, default=True
        Whether to take an ``alpha`` below 1e-10 as it is; otherwise it is raised to that, with a
        warning.
    binarize : float or None, default=0.0
        Above it a feature is on. None takes rows that hold 0 and 1 alone.
    fit_prior : bool, default=True
        Whether the priors of the classes are their shares of the weight; otherwise they are equal.
    class_prior : array-like of shape (n_classes,) or None, default=None
        Priors in the order of ``classes_``, which sum to 1; None learns them.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    class_count_ : ndarray of shape (n_classes,)
        The weight of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithms of the priors. A class without weight has the share 0 and its logarithm, minus
        infinity, and is never predicted, as if it were not there.
    feature_count_ : ndarray of shape (n_classes, n_features)
        The weight of the rows of a class in which a feature is on.
    missing_count_ : ndarray of shape (n_classes, n_features)
        The weight of those in which it is missing.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Logarithms of the probabilities that a feature is on.
    feature_log_off_prob_ : ndarray of shape (n_classes, n_features)
        Logarithms of the probabilities that it is off.
    n_features_in_, feature_names_in_, schema_
        As in :class:`DecisionTreeClassifier`.

    See Also
    --------
    SingleFeatureNB : Keeps the one best feature.

    Notes
    -----
    The boosters of this library hand it weights that sum to the number of rows, so that ``alpha``
    keeps its meaning. Those of scikit-learn's AdaBoost sum to 1: there ``alpha=1 / n_rows`` is the
    same, and 1 outweighs all rows. Boosted for several classes it needs many rounds: fitted to the
    rows weighed up it is nearly right about these and wrong about others, so that the first votes
    swing. On reuters-r8 the test accuracy after 1, 2, 3, 4, 9, 10 and 30 rounds of SAMME is .79,
    .47, .84, .51, .88, .56 and .91, in either library.

    Examples
    --------
    >>> from committee import BernoulliNB
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> texts = ["cheap pills", "cheap flights today", "lunch today", "lunch with Ann"]
    >>> words = CountVectorizer(binary=True)
    >>> model = BernoulliNB().fit(words.fit_transform(texts), ["spam", "spam", "ham", "ham"])
    >>> model.predict(words.transform(["cheap lunch pills", "Ann has lunch"]))
    array(['spam', 'ham'], dtype='<U4')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [real(0, None, "left"), "array-like"],
        "force_alpha": ["boolean"],
        "binarize": [real(0, None, "left"), None],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.classifier_tags.poor_score = True  # above binarize or not is all it sees of a number
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count, for every class, its rows and where they are on.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        BernoulliNB
            The fitted model.
        """
        check_params(self)
        table, schema = self._read_first(X)
        labels = read_classes(y, table.n_rows, estimator_name=type(self).__name__)
        classes = labels.classes[0]
        counts = Counts.none(len(classes), table.n_features)
        return self._learn(table, schema, classes, counts, labels.codes[:, 0], sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those counted so far; in any portions the model is that of all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            More rows.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like of shape (n_classes,), optional
            All classes that may ever come; required the first time.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        BernoulliNB
            The model, fitted to all rows so far.
        """
        check_params(self)
        name = type(self).__name__
        known = read_all_classes(classes, getattr(self, "classes_", None))
        if hasattr(self, "classes_"):
            schema = self._checked()
            counts = Counts(self.class_count_, self.feature_count_, self.missing_count_)
            table = read_predict(X, schema, estimator_name=name)
            if table.n_rows == 0:
                read_fit(X)  # refuses it in the words of fit
        else:
            table, schema = self._read_first(X)
            counts = Counts.none(len(known), table.n_features)
        codes = codes_among(known, y, table.n_rows, estimator_name=name)
        return self._learn(table, schema, known, counts, codes, sample_weight)

    def _read_first(self, X: Any) -> tuple[Table, Schema]:
        """Read the first rows; categories have no order, so that none of them is on or off."""
        table, schema = read_fit(X, estimator_name=type(self).__name__)
        for column, levels in schema.levels.items():
            found = (
                f"{column_text(schema.feature_names, column)} is categorical "
                f"({listing(levels.tolist())}), neither on nor off"
            )
            raise InputTypeError(
                describe(
                    "X-CATEGORICAL",
                    "X",
                    found,
                    allowed="numbers and booleans",
                    fix="make an indicator of each level: sklearn.preprocessing.OneHotEncoder",
                )
            )
        return table, schema

    def _learn(
        self,
        table: Table,
        schema: Schema,
        classes: npt.NDArray[Any],
        before: Counts,
        codes: Any,
        sample_weight: Any,
    ) -> Self:
        """Count the rows of a table on top of those before, and make probabilities of counts."""
        given = read_weights(sample_weight, table.n_rows)
        weight = np.ones(table.n_rows) if given is None else given
        alpha = self._smoothing(table.n_features)
        prior = self._given_prior(len(classes))
        counts = before.plus(self._blocks(table), codes, weight)
        if not np.isfinite(counts.rows.sum() + 2 * alpha.max()):
            found = "the weights of all rows, and alpha, sum to more than float64 can hold"
            fix = "divide the weights by their largest value"
            raise InputError(describe("W-OVERFLOW", "sample_weight", found, fix=fix))
        off = np.maximum(counts.rows[:, None] - counts.missing - counts.on, 0)
        total = np.log(counts.on + off + 2 * alpha)
        with np.errstate(divide="ignore"):  # a class without weight
            if prior is not None:
                log_prior = np.log(prior)
            elif self.fit_prior:
                log_prior = np.log(counts.rows) - np.log(counts.rows.sum())
            else:
                log_prior = np.full(len(classes), -np.log(len(classes)))
        set_schema(self, schema)
        self.classes_ = classes
        self.class_count_, self.class_log_prior_ = counts.rows, log_prior
        self.feature_count_, self.missing_count_ = counts.on, counts.missing
        self.feature_log_prob_ = np.log(counts.on + alpha) - total
        self.feature_log_off_prob_ = np.log(off + alpha) - total
        return self

    def _smoothing(self, n_features: int) -> Floats:
        """Give the pseudo-counts: one, or one per feature."""
        name = type(self).__name__
        try:
            alpha = np.asarray(self.alpha, dtype=np.float64)
        except (TypeError, ValueError):
            raise invalid("alpha", name, "a number or an array of numbers", self.alpha) from None
        if alpha.ndim and alpha.shape != (n_features,):
            must_be = f"a number, or one for each of the {n_features} features"
            raise invalid("alpha", name, must_be, self.alpha)
        if not np.isfinite(alpha).all() or (alpha < 0).any():
            raise invalid("alpha", name, "finite and above 0", self.alpha)
        if not self.force_alpha and (alpha < LEAST_ALPHA).any():
            found = f"{alpha.min()} is too small and set to {LEAST_ALPHA}"
            warn(describe("P-VALUE", "alpha", found, fix="force_alpha=True keeps it"))
            return np.maximum(alpha, LEAST_ALPHA)
        if (alpha == 0).any():
            fix = "alpha=1e-10 hardly smooths"
            raise invalid("alpha", name, "above 0, or 0 log 0 is no number", self.alpha, fix)
        return alpha

    def _given_prior(self, n_classes: int) -> Floats | None:
        """Read ``class_prior``."""
        if self.class_prior is None:
            return None
        name = type(self).__name__
        try:
            prior = np.asarray(self.class_prior, dtype=np.float64)
        except (TypeError, ValueError):
            raise invalid("class_prior", name, "an array of numbers", self.class_prior) from None
        if prior.shape != (n_classes,):
            must_be = f"one number for each of the {n_classes} classes"
            raise invalid("class_prior", name, must_be, self.class_prior)
        if not (prior >= 0).all() or not abs(prior.sum() - 1) <= SUM_TOLERANCE:
            must_be = "numbers >= 0 that sum to 1"
            raise invalid("class_prior", name, must_be, self.class_prior, "divide by their sum")
        return prior

    def _blocks(self, table: Table) -> Iterator[BinaryRows]:
        if self.binarize is None:
            refuse_other_than_binary(table)
        return binary_rows(table, self.binarize or 0.0)

    def _checked(self) -> Schema:
        """Hold what was fitted against each other: a tampered attribute is an error."""
        check_is_fitted(self)
        shape = self.feature_log_prob_.shape
        if not isinstance(self.schema_, Schema) or self.schema_.n_features != shape[1]:
            found = f"schema_ is {class_name(self.schema_)} of other features than were counted"
            raise InputError(describe("M-TREE", "schema_", found, fix="fit the model again"))
        if not isinstance(self.classes_, np.ndarray) or self.classes_.shape != shape[:1]:
            found = f"classes_ does not hold the {shape[0]} classes that were counted"
            raise InputError(describe("M-CLASSES", "classes_", found, fix="fit the model again"))
        return self.schema_

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Add the logarithms of prior and likelihood of each class.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        schema = self._checked()
        table = read_predict(X, schema, estimator_name=type(self).__name__)
        off = np.ascontiguousarray(self.feature_log_off_prob_.T)
        gain = np.ascontiguousarray(self.feature_log_prob_.T) - off
        scores = np.empty((table.n_rows, len(self.classes_)))
        scores[:] = self.class_log_prior_ + self.feature_log_off_prob_.sum(axis=1)
        for block in self._blocks(table):
            scores[block.span] += block.on @ gain
            if block.missing is not None:
                scores[block.span] -= block.missing @ off
        return scores

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels; of equal classes the first.
        """
        best = self.predict_joint_log_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_log_proba(self, X: Any) -> Floats:
        """Predict logarithms of class probabilities by Bayes' rule.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return np.asarray(special.log_softmax(self.predict_joint_log_proba(X), axis=1))

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities by Bayes' rule.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return np.asarray(special.softmax(self.predict_joint_log_proba(X), axis=1))
