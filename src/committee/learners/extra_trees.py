"""Extra trees: extremely randomised trees, whose cuts are drawn at random.

Geurts, Ernst and Wehenkel (2006). A node looks at a few random features, draws one cut for each,
uniformly between the least and the largest value in the node, and takes the best of these.
"""

from __future__ import annotations

from typing import Any

from committee.core.parameter_docs import documented
from committee.core.sizing import AutoSize
from committee.learners.forest_kinds import ForestClassifier, ForestRegressor


@documented
class ExtraTreesClassifier(ForestClassifier):
    """Extremely randomised trees for classes.

    All rows are used by each tree; what differs are the features looked at and the cuts, which are
    drawn at random; of a category each level goes to a side drawn for it. With
    ``criterion="normalized_gain"`` cuts are chosen as in the paper.

    Parameters
    ----------
    {n_estimators}
    {class_criterion}
    {max_depth}
    {min_samples_split}
    {min_samples_leaf}
    {min_weight_fraction_leaf}
    {max_features_sqrt}
    {max_leaf_nodes}
    {min_impurity_decrease}
    {bootstrap_false}
    {oob_score}
    {n_jobs}
    {random_state}
    {verbose}
    {warm_start}
    {forest_class_weight}
    {ccp_alpha}
    {max_samples}
    {monotonic_cst}
    {resampling}
    {stratify}
    {interaction_cst}
    {max_bins}
    {categorical_features}
    {categorical_splits}

    Attributes
    ----------
    classes_ : ndarray, or list of ndarray for several outputs
        The class labels.
    n_classes_ : int, or list of int
        How many there are.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        With ``oob_score``: class probabilities by the members that left the row out, NaN where
        none did.
    {forest_attributes}

    Examples
    --------
    >>> from committee import load_heart
    >>> from committee.learners.extra_trees import ExtraTreesClassifier
    >>> X, y = load_heart(as_frame=True)
    >>> model = ExtraTreesClassifier(random_state=0).fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 1)
    0.8
    """

    splitter = "random"

    def __init__(
        self,
        n_estimators: int | str | AutoSize = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        resampling: str = "replace",
        stratify: bool = False,
        interaction_cst: Any = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        categorical_splits: str = "subset",
    ) -> None:
        self._keep(locals())


@documented
class ExtraTreesRegressor(ForestRegressor):
    """Extremely randomised trees for numbers.

    All rows are used by each tree; what differs are the cuts, which are drawn at random. The levels
    of a category are put in the order of their means, and cut there, where the paper would draw a
    side for each level: that parts many levels into halves that differ little.

    Parameters
    ----------
    {n_estimators}
    {number_criterion}
    {max_depth}
    {min_samples_split}
    {min_samples_leaf}
    {min_weight_fraction_leaf}
    {max_features_all}
    {max_leaf_nodes}
    {min_impurity_decrease}
    {bootstrap_false}
    {oob_score}
    {n_jobs}
    {random_state}
    {verbose}
    {warm_start}
    {ccp_alpha}
    {max_samples}
    {monotonic_cst}
    {resampling}
    {intervals}
    {interaction_cst}
    {max_bins}
    {categorical_features}

    Attributes
    ----------
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        With ``oob_score``: means over the members that left the row out, NaN where none did.
    {forest_attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from committee.learners.extra_trees import ExtraTreesRegressor
    >>> x = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> model = ExtraTreesRegressor(random_state=0).fit(x, np.sin(x[:, 0]))
    >>> model.predict([[1.5], [4.7]]).round(1)
    array([ 1., -1.])
    """

    splitter = "random"

    def __init__(
        self,
        n_estimators: int | str | AutoSize = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        resampling: str = "replace",
        intervals: str | None = None,
        interaction_cst: Any = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
    ) -> None:
        self._keep(locals())
