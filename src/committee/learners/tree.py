"""Decision trees for classes and for numbers, on the engine.

CART (Breiman, Friedman, Olshen and Stone 1984), with C4.5's measures and pruning (Quinlan 1993): a
tree is grown by the split that lowers the impurity most, until nothing is left to gain or a limit
is met, and may then be cut back.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin

from committee import _engine
from committee.core.parameter_docs import documented
from committee.core.params import CLASS_WEIGHT_CONSTRAINTS, check_params, choice, real
from committee.data import (
    Labels,
    Schema,
    Table,
    combine_weights,
    forget_unweighted,
    read_class_weights,
    read_classes,
    read_fit,
    read_numbers,
    read_weights,
)
from committee.learners.cart import PrunableTree, Sums, check_counts
from committee.learners.estimators import TreeClassifier, Weights
from committee.learners.growing import CLASS_CRITERIA, NUMBER_CRITERIA, count_rows
from committee.learners.structure import Tree


@documented
class DecisionTreeClassifier(PrunableTree, TreeClassifier):
    """A decision tree for classes.

    Categories and missing values are split on as they are; several targets, weights and sparse
    input are welcome. The tree is the same for any number of threads and any container.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "gain_ratio", "c45", "normalized_gain", "error", \
"exponential"}, default="gini"
        What a split should improve. "log_loss" is "entropy"; "gain_ratio" is C4.5's information
        gain over the entropy of the split, among splits of at least average gain; "c45" is that of
        its Release 8, where numeric features pay ``log2(cuts) / rows`` for the choice of the cut;
        "normalized_gain" is ``2 I / (H_split + H_class)``; "error" is the weighted
        misclassification; "exponential" is the bound of confidence-rated boosting (Schapire and
        Singer 1999), ``2 sqrt(p (1 - p))`` for two classes, and for more the sum of
        ``sqrt(p (1 - p))`` over the classes, each against the rest.
    splitter : {"best", "random"}, default="best"
        The best cut of each feature, or one drawn uniformly (extra trees).
    {max_depth}
    {min_samples_split}
    {min_samples_leaf}
    {min_weight_fraction_leaf}
    {max_features}
    {random_state}
    {max_leaf_nodes}
    {min_impurity_decrease}
    {class_weight}
    {ccp_alpha}
    {monotonic_cst}
    {interaction_cst}
    {categorical_features}
    categorical_splits : {"subset", "multiway"}, default="subset"
        "subset" parts the levels in two sets, for two classes the best of all; for more classes
        the best prefix of the levels ordered by the share of any one class. "multiway" is C4.5's:
        one branch per level, judged as a whole, drawn as a chain of two-way splits that counts as
        one level of depth.
    {max_bins}
    pruning : {"pessimistic"} or None, default=None
        "pessimistic" is C4.5's: a subtree becomes a leaf where the upper confidence limit of the
        leaf's error does not exceed that of the subtree. Subtrees are replaced, never raised.
    confidence : float, default=0.25
        Of the pessimistic limit; smaller prunes more.
    missing : {"side", "parts"}, default="side"
        Where a row goes whose value is missing. "side" learns the better side of each split.
        "parts" is C4.5's: the split is judged by the rows that know their value, and the others
        go down both sides, in the parts that the known ones have there; a prediction is then the
        mean over the leaves reached. Limits on samples count parts as parts, and ``apply``
        follows the heavier side. It suits small data in which values are missing by chance, and
        costs more time.
    {n_jobs}

    Attributes
    ----------
    classes_ : ndarray, or list of ndarray for several outputs
        The class labels.
    n_classes_ : int, or list of int
        How many there are.
    tree_ : Tree
        The nodes as arrays.
    schema_ : Schema
        Feature names and levels that prediction holds new data against.
    max_features_ : int
        Features looked at for each split.
    n_features_in_, feature_names_in_, n_outputs_
        As in scikit-learn.

    Examples
    --------
    Whether to play, from the weather (Quinlan 1986):

    >>> from committee import DecisionTreeClassifier, export_text, load_weather
    >>> X, y = load_weather(as_frame=True)
    >>> model = DecisionTreeClassifier(criterion="entropy", categorical_splits="multiway")
    >>> print(export_text(model.fit(X, y)))
    outlook in {overcast}: yes (no: 0, yes: 4)
    outlook in {rain, sunny}
    |   outlook in {rain}
    |   |   windy in {false}: yes (no: 0, yes: 3)
    |   |   windy in {true}: no (no: 2, yes: 0)
    |   outlook in {sunny}
    |   |   humidity <= 76.50: yes (no: 0, yes: 2)
    |   |   humidity > 76.50: no (no: 3, yes: 0)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PrunableTree._parameter_constraints,
        "criterion": [choice(*CLASS_CRITERIA)],
        "class_weight": CLASS_WEIGHT_CONSTRAINTS,
        "categorical_splits": [choice("subset", "multiway")],
        "pruning": [choice("pessimistic"), None],
        "confidence": [real(0, 0.5, "right")],
        "missing": [choice("side", "parts")],
    }

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        categorical_features: Any = "from_dtype",
        categorical_splits: str = "subset",
        max_bins: int = 255,
        pruning: str | None = None,
        confidence: float = 0.25,
        missing: str = "side",
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.categorical_features = categorical_features
        self.categorical_splits = categorical_splits
        self.max_bins = max_bins
        self.pruning = pruning
        self.confidence = confidence
        self.missing = missing
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; a row of weight 0 is as good as absent.

        Returns
        -------
        DecisionTreeClassifier
            The fitted model.
        """
        check_params(self)
        name = type(self).__name__
        table, schema = read_fit(
            X, categorical_features=self.categorical_features, estimator_name=name
        )
        labels = read_classes(y, table.n_rows, multi_output=True, estimator_name=name)
        given = read_weights(sample_weight, table.n_rows)
        table, schema = forget_unweighted(table, schema, given)
        sums, classes = self._sum(schema, labels, given), labels.classes
        del labels  # the sums hold what they said: no copy while the tree grows
        return self._grow_sums(table, schema, classes, sums)

    def _sum(self, schema: Schema, labels: Labels, given: Weights) -> Sums:
        """Sum up the labels of rows for a tree."""
        weight = combine_weights(given, read_class_weights(self.class_weight, labels, given))
        codes = np.ascontiguousarray(labels.codes.view(np.uint32))
        n_classes = [len(c) for c in labels.classes]
        params, tried = self._growth(schema, count_rows(weight, len(codes)), weight, n_classes)
        if params.in_parts:
            return _engine.Stats.divisible(codes, n_classes, weight), params, tried, weight
        stats = _engine.Stats.classes(codes, n_classes, weight, params.min_rows_leaf > 1)
        return stats, params, tried, weight

    def _grow_sums(self, table: Table, schema: Schema, classes: list[Any], sums: Sums) -> Self:
        """Grow the tree on rows that were read and summed up."""
        stats, params, tried, weight = sums
        forest = self._grow(table, weight, stats, params)
        if self.pruning == "pessimistic":
            forest = forest.pruned_by_pessimism(self.confidence)
        self._set_schema(schema)
        self._set_classes(classes)
        self.max_features_ = tried
        self.tree_ = Tree(forest, tuple(len(c) for c in classes), in_parts=params.in_parts)
        return self


@documented
class DecisionTreeRegressor(RegressorMixin, PrunableTree):
    """A decision tree for numbers.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        What a split should improve: the variance (leaves are means), the mean distance to the
        median (leaves are medians), or half the Poisson deviance (targets >= 0).
    splitter : {"best", "random"}, default="best"
        The best cut of each feature, or one drawn uniformly (extra trees).
    {max_depth}
    {min_samples_split}
    {min_samples_leaf}
    {min_weight_fraction_leaf}
    {max_features}
    {random_state}
    {max_leaf_nodes}
    {min_impurity_decrease}
    {ccp_alpha}
    {monotonic_cst}
    {interaction_cst}
    {categorical_features}
    {max_bins}
    {n_jobs}

    Attributes
    ----------
    tree_ : Tree
        The nodes as arrays.
    schema_ : Schema
        Feature names and levels that prediction holds new data against.
    max_features_ : int
        Features looked at for each split.
    n_features_in_, feature_names_in_, n_outputs_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from committee import DecisionTreeRegressor
    >>> x = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> model = DecisionTreeRegressor(max_leaf_nodes=4).fit(x, np.sin(x[:, 0]))
    >>> model.predict([[1.5], [4.7]]).round(2)
    array([ 0.83, -0.69])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PrunableTree._parameter_constraints,
        "criterion": [choice(*NUMBER_CRITERIA)],
    }

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        categorical_features: Any = "from_dtype",
        max_bins: int = 255,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.criterion != "absolute_error"
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; a row of weight 0 is as good as absent.

        Returns
        -------
        DecisionTreeRegressor
            The fitted model.
        """
        check_params(self)
        name = type(self).__name__
        table, schema = read_fit(
            X, categorical_features=self.categorical_features, estimator_name=name
        )
        several = self.criterion != "absolute_error"  # a median of vectors is not defined
        targets = read_numbers(y, table.n_rows, multi_output=several, estimator_name=name)
        weight = read_weights(sample_weight, table.n_rows)
        table, schema = forget_unweighted(table, schema, weight)
        if self.criterion == "poisson":
            check_counts(targets)
        targets = np.ascontiguousarray(targets)
        centred = self.criterion != "poisson"
        n_outputs = targets.shape[1]
        params, tried = self._growth(
            schema, count_rows(weight, table.n_rows), weight, [1] * n_outputs
        )
        counted = params.min_rows_leaf > 1
        stats = _engine.Stats.regression(targets, weight, centred, counted)
        forest = self._grow(table, weight, stats, params)
        self._set_schema(schema)
        self.n_outputs_ = n_outputs
        self.max_features_ = tried
        self.tree_ = Tree(forest, (1,) * n_outputs)
        return self

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict the target of each row: the value of its leaf.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predictions.
        """
        outputs = self._outputs(X)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs


OWN_TREES = (DecisionTreeClassifier, DecisionTreeRegressor)


def keeps_rows_whole(base: Any) -> bool:
    """Tell whether an estimator is a tree of this library, no subclass, that divides no row.

    Committees grow such trees on rows that are binned once, and know each row's one leaf.
    """
    return type(base) in OWN_TREES and getattr(base, "missing", "side") == "side"
