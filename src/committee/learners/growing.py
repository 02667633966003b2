"""From parameters as users spell them to the engine's plain numbers.

Shared by every estimator whose members are engine trees.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from committee import _engine
from committee.core.params import SEED_CONSTRAINTS, choice, integer, real
from committee.data import InputError, Schema
from committee.data.errors import describe

CRITERIA = {
    "gini": _engine.Criterion.gini,
    "entropy": _engine.Criterion.entropy,
    "log_loss": _engine.Criterion.entropy,
    "gain_ratio": _engine.Criterion.gain_ratio,
    "c45": _engine.Criterion.gain_ratio,
    "normalized_gain": _engine.Criterion.normalized_gain,
    "error": _engine.Criterion.error,
    "exponential": _engine.Criterion.exponential,
    "squared_error": _engine.Criterion.squared_error,
    "absolute_error": _engine.Criterion.absolute_error,
    "poisson": _engine.Criterion.poisson,
}
RULES = {"best": _engine.SplitRule.best, "random": _engine.SplitRule.random}
CLASS_CRITERIA = (
    "gini",
    "entropy",
    "log_loss",
    "gain_ratio",
    "c45",
    "normalized_gain",
    "error",
    "exponential",
)
NUMBER_CRITERIA = ("squared_error", "absolute_error", "poisson")

GROWING_CONSTRAINTS: dict[str, Any] = {
    "max_depth": [integer(1), None],
    "min_samples_split": [integer(2), real(0, 1, "right", no_int=True)],
    "min_samples_leaf": [integer(1), real(0, 1, "neither", no_int=True)],
    "min_weight_fraction_leaf": [real(0, 0.5)],
    "max_features": "no_validation",  # resolve_max_features knows the number of features
    "random_state": SEED_CONSTRAINTS,
    "max_leaf_nodes": [integer(2), None],
    "min_impurity_decrease": [real(0, None, "left")],
    "ccp_alpha": [real(0, None, "left")],
    "monotonic_cst": ["array-like", dict, None],
    "interaction_cst": [list, tuple, choice("pairwise", "no_interactions"), None],
    "max_bins": [integer(2, 65535)],
}


MOST = 2**31 - 1  # a limit beyond it limits nothing


def rows_from(value: int | float, n_rows: int, least: int) -> int:
    """Read a count of rows that may be given as a fraction of all of them."""
    if isinstance(value, (int, np.integer)):
        return min(int(value), MOST)
    return max(least, math.ceil(value * n_rows))


def tree_params(
    estimator: Any,
    schema: Schema,
    *,
    n_rows: int,
    total_weight: float,
    n_classes: list[int],
    n_node_features: int,
    seed: int,
) -> _engine.TreeParams:
    """Fill the engine's parameters from an estimator with scikit-learn's tree parameters."""
    params = _engine.TreeParams()
    params.criterion = CRITERIA[estimator.criterion]
    params.rule = RULES[estimator.splitter]
    params.seed = seed
    if estimator.max_depth is not None:
        params.max_depth = min(int(estimator.max_depth), MOST)
    if estimator.max_leaf_nodes is not None:
        params.max_leaves = min(int(estimator.max_leaf_nodes), MOST)
        params.growth = _engine.Growth.best_first
    params.min_rows_split = rows_from(estimator.min_samples_split, n_rows, 2)
    params.min_rows_leaf = rows_from(estimator.min_samples_leaf, n_rows, 1)
    params.min_weight_leaf = estimator.min_weight_fraction_leaf * total_weight
    if estimator.min_impurity_decrease > 0:
        # The engine asks for more than min_gain, scikit-learn for at least that, up to rounding.
        params.min_gain = estimator.min_impurity_decrease * total_weight * (1 - 1e-10)
    params.node_features = 0 if n_node_features == schema.n_features else n_node_features
    params.multiway = getattr(estimator, "categorical_splits", "subset") == "multiway"
    params.charged_cuts = estimator.criterion == "c45"
    params.in_parts = getattr(estimator, "missing", "side") == "parts"
    params.monotone = monotone_signs(estimator.monotonic_cst, schema)
    params.interactions = interaction_groups(estimator.interaction_cst, schema)
    if params.monotone and (len(n_classes) > 1 or n_classes[0] > 2):
        found = f"{n_classes} classes per output" if max(n_classes) > 1 else "several outputs"
        allowed = "one output, and at most two classes"
        raise InputError(describe("P-MONOTONE", "monotonic_cst", found, allowed=allowed))
    return params


def monotone_signs(value: Any, schema: Schema) -> list[int]:
    """Read ``monotonic_cst``: one of -1, 0, 1 per feature, or a dict by feature name."""
    if value is None:
        return []
    p = schema.n_features
    signs: npt.NDArray[Any]
    if isinstance(value, Mapping):
        signs = np.zeros(p, dtype=object)
        for name, sign in value.items():
            signs[feature_index(name, schema, "monotonic_cst")] = sign
    else:
        signs = np.asarray(value)
        if signs.shape != (p,):
            found = f"monotonic_cst has shape {signs.shape} but the input data X has {p} features"
            raise InputError(describe("P-MONOTONE", "monotonic_cst", found))
    strange = [sign for sign in signs.tolist() if sign not in (-1, 0, 1)]
    if strange:
        found = f"must hold only -1, 0 and 1, got {strange[0]!r}"
        raise InputError(describe("P-MONOTONE", "monotonic_cst", found, allowed="-1, 0 or 1"))
    constrained = [f for f in schema.levels if signs[f] != 0]
    if constrained:
        found = f"feature {constrained[0]} is categorical and has no order to be monotone in"
        raise InputError(describe("P-MONOTONE", "monotonic_cst", found, fix="set its entry to 0"))
    return [int(s) for s in signs] if signs.any() else []


def interaction_groups(value: Any, schema: Schema) -> list[list[int]]:
    """Read ``interaction_cst``: groups of features that may meet on a path.

    Features in no group form a group of their own each, as in scikit-learn's boosting.
    """
    if value is None:
        return []
    p = schema.n_features
    if isinstance(value, str):
        groups = [[f] for f in range(p)]
        if value == "pairwise":
            groups = [[f, g] for f in range(p) for g in range(f + 1, p)] or groups
        return groups
    for group in value if isinstance(value, Iterable) else [value]:
        if isinstance(group, str) or not isinstance(group, Iterable):
            found = f"{group!r} is no group of features"
            fix = "a list of lists, such as [[0, 1], [2]]"
            raise InputError(describe("P-INTERACTION", "interaction_cst", found, fix=fix))
    groups = [[feature_index(f, schema, "interaction_cst") for f in group] for group in value]
    named = {f for group in groups for f in group}
    rest = [f for f in range(p) if f not in named]
    return groups + ([rest] if rest else [])


def feature_index(name: Any, schema: Schema, argument: str) -> int:
    """Turn a feature's name or index into its index."""
    p = schema.n_features
    if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
        if 0 <= name < p:
            return int(name)
    elif schema.feature_names is not None and name in schema.feature_names:
        return int(np.flatnonzero(schema.feature_names == name)[0])
    names = "" if schema.feature_names is None else f" or one of {list(schema.feature_names[:10])}"
    found = f"{name!r} is not a feature of X"
    allowed = f"an index in [0, {p - 1}]{names}"
    raise InputError(describe("P-FEATURE", argument, found, allowed=allowed))


def count_rows(weight: npt.NDArray[np.float64] | None, n_rows: int) -> int:
    """Count the rows that weigh something: fractions are of these."""
    return n_rows if weight is None else int(np.count_nonzero(weight))


def total_of(weight: npt.NDArray[np.float64] | None, n_rows: int) -> float:
    """Total weight of the rows, finite for any weights the door lets in."""
    return float(n_rows) if weight is None else min(float(weight.sum()), np.finfo(float).max)
