"""The descriptions that the gradient boosters share, each written once."""

from __future__ import annotations

import textwrap
from typing import TypeVar

from committee.core.parameter_docs import documented

Class = TypeVar("Class", bound=type)

SECTIONS = {
    "boosting": """\
n_estimators : int, default=100
    The most rounds; each makes a tree, or one for each class of more than two.
learning_rate : float, default=0.1
    What a tree counts. Smaller ones need more rounds and usually err less.
max_leaf_nodes : int or None, default=31
    The most leaves of a tree.
max_depth : int or None, default=None
    The most splits between the root and a leaf.
min_samples_leaf : int, default=20
    Rows that each leaf holds at least. Sides of a split are counted by their share of the
    hessian first, and by rows where that leaves a doubt: no leaf ever holds fewer.
l2_regularization : float, default=0
    Added to the hessian of a leaf: its value is -G / (H + l2).
min_child_weight : float, default=0
    Hessian that each leaf holds at least.
min_split_gain : float, default=0
    A split must gain more, in units of GL^2 / (HL + l2) + GR^2 / (HR + l2) - G^2 / (H + l2).
subsample : float, default=1
    The share of the rows that a round sees, each drawn by itself.
max_features : int, float, "sqrt", "log2" or None, default=None
    Features that each split looks at, drawn anew for each; None is all.
growth : {"leaf", "level"}, default="leaf"
    Whether the split of the largest gain comes first, or level after level.
{max_bins}
{categorical_features}
{monotonic_cst}
{interaction_cst}""",
    "rest": """\
early_stopping : bool or "auto", default="auto"
    Whether to stop when the loss on held-out rows has not become smaller for
    ``n_iter_no_change`` rounds; the model then is that of the best round. "auto" does so from
    10,000 rows on, and where ``fit`` is given ``X_val``.
validation_fraction : int or float, default=0.1
    Rows that are held out, as a number or a share, where ``fit`` is given none.
n_iter_no_change : int, default=10
    Rounds without a better loss.
tol : float, default=1e-7
    By how much a loss must be smaller to be better.
warm_start : bool, default=False
    Whether ``fit`` adds rounds to those of the last one. On the same rows the model is the same
    as if all had been made at once.
max_time : float or None, default=None
    Seconds after which no new round is begun.
{random_state}
verbose : int, default=0
    Above 0, rounds are printed as they are made.
{n_jobs}""",
    "attributes": """\
committee_ : Committee
    The rounds, what they weigh, and the score that boosting starts from.
loss_ : Loss
    What was minimised.
n_estimators_ : int
    Rounds of the model.
held_out_loss_ : ndarray
    With early stopping: the mean loss on held-out rows, at the start and after each round.
feature_importances_ : ndarray of shape (n_features,)
    Share of the gain that the splits on each feature brought.
schema_ : Schema
    Feature names and levels that prediction holds new data against.
n_features_in_, feature_names_in_
    As in scikit-learn.""",
}


def boosting_documented(cls: Class) -> Class:
    """Fill the places in the docstring of a gradient booster."""
    text = cls.__doc__ or ""
    for name, section in SECTIONS.items():
        text = text.replace("    {" + name + "}", textwrap.indent(section, "    "))
    cls.__doc__ = text
    return documented(cls)
