"""Descriptions of parameters that several estimators share, each written once.

A class docstring holds ``{random_state}`` on a line of its own where the description belongs, and
the decorator :func:`documented` puts it there with the right indentation.
"""

from __future__ import annotations

import re
import textwrap
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
    The number of threads; None is 1 unless a ``joblib.parallel_config`` says otherwise, -1 is all
    cores. The result does not depend on it.""",
}

_PLACE = re.compile(r"^([ \t]*)\{(\w+)\}[ \t]*$", flags=re.MULTILINE)


def documented(cls: Class) -> Class:
    """Fill the places in the docstring of ``cls`` with the shared descriptions.

    Parameters
    ----------
    cls : type
        The class; changed in place.

    Returns
    -------
    type
        The same class.

    Raises
    ------
    KeyError
        When a place names no shared parameter.
    """
    if cls.__doc__:

        def described(place: re.Match[str]) -> str:
            return textwrap.indent(PARAMETERS[place.group(2)], place.group(1))

        cls.__doc__ = _PLACE.sub(described, cls.__doc__)
    return cls
