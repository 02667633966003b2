"""Descriptions of parameters that several estimators share, each written once.

A class docstring holds ``{random_state}`` on a line of its own where the description belongs, and
the decorator :func:`documented` puts it there with the right indentation. A family of estimators
has sections of its own, which :func:`documented_with` fills in likewise.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from typing import TypeVar

Class = TypeVar("Class", bound=type)

PARAMETERS: dict[str, str] = {
    "max_depth": """\
max_depth : int or None, default=None
    The largest number of splits between root and leaf; None sets no limit.""",
    "max_leaf_nodes": """\
max_leaf_nodes : int or None, default=None
    The largest number of leaves; the splits with the largest gain are made first. None sets no
    limit.""",
    "min_samples_split": """\
min_samples_split : int or float, default=2
    The fewest rows a node must have to be split; a float is a fraction of all rows.""",
    "min_samples_leaf": """\
min_samples_leaf : int or float, default=1
    The fewest rows on either side of a split; a float is a fraction of all rows.""",
    "min_weight_fraction_leaf": """\
min_weight_fraction_leaf : float, default=0.0
    The smallest share of the total weight on either side of a split.""",
    "min_impurity_decrease": """\
min_impurity_decrease : float, default=0.0
    A split must lower the impurity, weighted by the node's share of the rows, by this much.""",
    "max_features": """\
max_features : None, int, float, "sqrt", "log2" or "breiman", default=None
    How many features, drawn anew at each node, are looked at for a split: None is all of them, an
    int a number, a float a fraction, "sqrt" and "log2" round up, and "breiman" is
    ``int(log2(n_features) + 1)``.""",
    "ccp_alpha": """\
ccp_alpha : float, default=0.0
    Complexity parameter of minimal cost-complexity pruning: the subtree with the largest cost
    below it is kept. 0 prunes nothing.""",
    "monotonic_cst": """\
monotonic_cst : array-like of int, dict or None, default=None
    Per feature 1 (prediction may only rise with it), -1 (only fall) or 0; or a dict by name. For
    two classes it holds for the probability of the second.""",
    "interaction_cst": """\
interaction_cst : {"pairwise", "no_interactions"}, sequence of sequences or None, default=None
    Groups of features (names or indices) that may stand together on a path from root to leaf;
    features in no group form one more group.""",
    "max_bins": """\
max_bins : int, default=255
    The largest number of intervals into which the values of a feature are sorted before training.
    A feature with fewer distinct values is split exactly.""",
    "categorical_features": """\
categorical_features : None, "from_dtype" or array-like, default="from_dtype"
    Which features are categories: those with a categorical dtype ("from_dtype"), none (None), or
    those listed by name, by index or as a boolean mask.""",
    "class_weight": """\
class_weight : dict, list of dict, "balanced" or None, default=None
    Weights by class, 1 where not given; "balanced" weighs each class by
    ``n_samples / (n_classes * count)``. A list has one dict per output.""",
    "random_state": """\
random_state : int, RandomState instance, Generator or None, default=None
    The seed of all random choices. With an int the result is the same in every run and for any
    number of threads.""",
    "n_jobs": """\
n_jobs : int or None, default=None
    The number of threads.
    {job_count}""",
    "categorical_splits": """\
categorical_splits : {"subset", "multiway"}, default="subset"
    Two sets of levels, or one branch per level; see :class:`DecisionTreeClassifier`.""",
    "n_estimators": """\
n_estimators : int, "auto" or AutoSize, default=100
    The number of trees. "auto" grows until more of them would not change the vote, row by row (for
    numbers: the mean), to the confidence of an :class:`AutoSize`; ``sizing_`` says what was
    reached. It needs rows that members left out.""",
    "oob_score": """\
oob_score : bool or callable, default=False
    Whether to score the forest on the rows that members left out, by accuracy or R², or by a
    callable of true and predicted targets.""",
    "verbose": """\
verbose : int, default=0
    Above 0, the number of trees is printed as they are grown, a batch at a time.""",
    "warm_start": """\
warm_start : bool, default=False
    Whether ``fit`` adds trees to those of the last one, on the same rows. The forest is the same
    as if all had been grown at once.""",
    "max_samples": """\
max_samples : int, float or None, default=None
    Draws per bag: a number, or a share of the full bag, which None stands for ("subset": half of
    it). A full bag has one draw per row. Sample weights that are whole multiples of one unit are
    read as repetitions, and then it has one draw per unit; other weights are relative chances.
    With groups, groups are drawn and counted.""",
    "resampling": """\
resampling : {"replace", "subset", "poisson", "exponential"}, default="replace"
    How rows are resampled under ``bootstrap``: drawn with replacement, drawn without, or each row
    by itself with a Poisson count or an exponential weight (wagging; leaves no row out).""",
    "stratify": """\
stratify : bool, default=False
    Whether draws are made within each class, so that every bag has the classes' shares, and a draw
    of each at least where there are as many draws as classes.""",
    "intervals": """\
intervals : {"jackknife", "quantile"} or None, default=None
    What ``fit`` keeps for ``predict_interval``: residuals of left-out rows (jackknife+ after
    bootstrap), the targets in the leaves (quantile leaves, calibrated by left-out rows), or
    nothing.""",
}

# Where one name has several descriptions; parts of descriptions; fitted attributes.
VARIANTS: dict[str, str] = {
    "job_count": """\
None is 1 unless a ``joblib.parallel_config`` says otherwise, -1 is all cores. The result
does not depend on it.""",
    "class_criterion": """\
criterion : {"gini", "entropy", "log_loss", "gain_ratio", "c45", "normalized_gain", "error", \
"exponential"}, default="gini"
    What a split should improve; see :class:`DecisionTreeClassifier`.""",
    "number_criterion": """\
criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
    What a split should improve; see :class:`DecisionTreeRegressor`.""",
    "bootstrap_true": """\
bootstrap : bool, default=True
    Whether each tree sees its own resample of the rows; otherwise all see all rows.""",
    "bootstrap_false": """\
bootstrap : bool, default=False
    Whether each tree sees its own resample of the rows; otherwise all see all rows.""",
    "forest_class_weight": """\
class_weight : dict, list of dict, "balanced", "balanced_subsample" or None, default=None
    Weights by class, 1 where not given; "balanced" weighs each class by
    ``n_samples / (n_classes * count)``, "balanced_subsample" does so in each bag. A list has one
    dict per output. They count inside the trees, not in the draws.""",
    "forest_attributes": """\
forest_ : Forest
    The trees in the engine's arrays.
estimators_ : sequence of decision trees
    The members, each made when it is asked for.
estimators_samples_ : sequence of ndarray
    The rows of each member's bag.
importances_ : ndarray of shape (n_estimators, n_features)
    Each tree's shares of impurity decrease; ``feature_importances_`` is their mean.
left_out_ : LeftOut
    The rows that each member left out, where ``bootstrap`` leaves any.
bag_plan_ : BagPlan
    How the bags are drawn: hashes of the rows and the seed, no rows.
oob_score_ : float
    With ``oob_score``: the score on rows that members left out.
sizing_ : Sizing
    With ``n_estimators="auto"``: what was reached.
max_features_ : int
    Features looked at for each split.
schema_, n_features_in_, feature_names_in_, n_outputs_, estimator_, feature_importances_
    As in :class:`DecisionTreeClassifier` and in scikit-learn.""",
    "max_features_sqrt": PARAMETERS["max_features"].replace("=None", '="sqrt"'),
    "max_features_all": PARAMETERS["max_features"].replace("=None", "=1.0"),
}

_PLACE = re.compile(r"^([ \t]*)\{(\w+)\}[ \t]*$", flags=re.MULTILINE)


def documented_with(*sections: Mapping[str, str]) -> Callable[[Class], Class]:
    """Make a decorator that fills the places in the docstring of a class.

    Parameters
    ----------
    *sections : mapping of str to str
        Texts by name, which may hold places themselves. Of equal names the first counts, and the
        descriptions of this module come last.

    Returns
    -------
    callable
        Changes a class in place and returns it; KeyError where a place names no text.
    """
    texts = PARAMETERS | VARIANTS
    for given in reversed(sections):
        texts |= given

    def filled(text: str) -> str:
        return _PLACE.sub(described, text)

    def described(place: re.Match[str]) -> str:
        return textwrap.indent(filled(texts[place[2]]), place[1])

    def fill(cls: Class) -> Class:
        if cls.__doc__:
            cls.__doc__ = filled(cls.__doc__)
        return cls

    return fill


documented = documented_with()
