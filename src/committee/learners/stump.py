"""The decision stump: one feature, one threshold, and the smallest weighted error there is.

Both polarities and the two constants compete with every threshold of every feature, so the stump is
the exact weak learner that boosting theory speaks of (Freund and Schapire 1997).
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from committee import _engine
from committee.core.parameter_docs import documented
from committee.core.params import CLASS_WEIGHT_CONSTRAINTS, check_params, integer
from committee.data import (
    combine_weights,
    forget_unweighted,
    read_class_weights,
    read_classes,
    read_fit,
    read_weights,
)
from committee.data.errors import column_text, describe, warn
from committee.data.rows import Rows
from committee.data.table import Table
from committee.learners.estimators import TreeClassifier, TreeEstimator
from committee.learners.structure import Tree

EXACT_BINS = 65535


@documented
class DecisionStump(TreeClassifier):
    """The best split of the data in two, by weighted error.

    Each side predicts its heavier class, so for two classes both polarities are covered; where no
    split does better than predicting one class everywhere, the stump is that constant. Ties go to
    the lower feature, then the lower threshold, then the first class. The minimum is exact for
    features of up to 65,535 distinct values; beyond that a warning names the feature.

    Parameters
    ----------
    {class_weight}
    {categorical_features}
    max_bins : int, default=65535
        The largest number of intervals into which the values of a feature are sorted. A feature
        with fewer distinct values is split exactly.
    {n_jobs}

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    tree_ : Tree
        One split, or a single leaf.
    error_ : float
        The weighted training error, as a share of the total weight.
    n_features_in_, feature_names_in_, n_outputs_, n_classes_, schema_
        As in :class:`DecisionTreeClassifier`.

    Examples
    --------
    >>> from committee import DecisionStump
    >>> stump = DecisionStump().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> stump.predict([[2.4], [2.6]])
    array(['no', 'yes'], dtype='<U3')
    >>> stump.error_
    0.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TreeEstimator._parameter_constraints,
        "class_weight": CLASS_WEIGHT_CONSTRAINTS,
        "max_bins": [integer(2, EXACT_BINS)],
    }

    def __init__(
        self,
        *,
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        max_bins: int = EXACT_BINS,
        n_jobs: int | None = None,
    ) -> None:
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # two leaves cannot tell three classes apart
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the split of the smallest weighted error.

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
        DecisionStump
            The fitted stump.
        """
        check_params(self)
        name = type(self).__name__
        table, schema = read_fit(
            X, categorical_features=self.categorical_features, estimator_name=name
        )
        labels = read_classes(y, table.n_rows, estimator_name=name)
        given = read_weights(sample_weight, table.n_rows)
        table, schema = forget_unweighted(table, schema, given)
        weight = combine_weights(given, read_class_weights(self.class_weight, labels, given))
        n_threads = self._threads()
        rows = Rows.of(table, weight, max_bins=self.max_bins, n_threads=n_threads)
        if self.max_bins == EXACT_BINS:
            warn_coarse(rows, table)
        codes = np.ascontiguousarray(labels.codes.view(np.uint32))
        n_classes = [len(labels.classes[0])]
        stats = _engine.Stats.classes(codes, n_classes, weight)
        forest = _engine.grow_tree(rows.matrix, rows.mapper, stats, stump_params(), n_threads)
        self._set_schema(schema)
        self._set_classes(labels.classes)
        self.tree_ = Tree(forest, tuple(n_classes))
        leaves = self.tree_.is_leaf
        share = forest.weight[leaves] / forest.weight[0]
        self.error_ = float(share @ forest.impurity[leaves])
        return self


def stump_params() -> _engine.TreeParams:
    """Ask the engine for one split, or none, by weighted error."""
    params = _engine.TreeParams()
    params.criterion = _engine.Criterion.error
    params.max_depth = 1
    params.min_gain = 0.0
    return params


def warn_coarse(rows: Rows, table: Table) -> None:
    """Say which features have more distinct values than can be told apart."""
    full = [f for f in range(table.n_features) if rows.mapper.n_bins(f) == EXACT_BINS]
    full = [f for f in full if table.sparse or len(np.unique(table.values[:, f])) > EXACT_BINS]
    if full:
        names = column_text(table.feature_names, full[0])
        found = f"{names} has more than {EXACT_BINS} distinct values; thresholds lie between groups"
        warn(describe("X-COARSE", "X", found, fix="round the column, or accept the coarser cuts"))
