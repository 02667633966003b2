"""Random forests: bagged unpruned trees that look at a few random features per node.

Breiman (2001). Resampling and the random features make the trees differ, averaging removes most of
the variance that a single tree has.
"""

from __future__ import annotations

from typing import Any

from committee.core.parameter_docs import documented
from committee.core.sizing import AutoSize
from committee.learners.forest_kinds import ForestClassifier, ForestRegressor


@documented
class RandomForestClassifier(ForestClassifier):
    """A random forest for classes.

    Each tree is grown on a bootstrap resample, looking at a few features per node, and not pruned;
    the class shares of the trees are averaged. Categories and missing values are split on as they
    are. The forest is the same for any number of threads, any container and any order of the rows.

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
    {bootstrap_true}
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
    >>> from committee.learners.random_forest import RandomForestClassifier
    >>> X, y = load_heart(as_frame=True)
    >>> model = RandomForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> round(model.oob_score_, 2)
    0.8
    >>> print(model.verify_no_leak(X, y))
    No leak: the bags of 100 members over 303 rows are those that the seed and the rows give...
    """

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
        bootstrap: bool = True,
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
class RandomForestRegressor(ForestRegressor):
    """A random forest for numbers.

    Each tree is grown on a bootstrap resample and not pruned; the trees' numbers are averaged.

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
    {bootstrap_true}
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
    >>> from committee.learners.random_forest import RandomForestRegressor
    >>> x = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> model = RandomForestRegressor(random_state=0).fit(x, np.sin(x[:, 0]))
    >>> model.predict([[1.5], [4.7]]).round(1)
    array([ 1., -1.])
    """

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
        bootstrap: bool = True,
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
