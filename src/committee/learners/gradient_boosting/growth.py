"""From the parameters of a booster to those of its trees."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from committee import _engine
from committee.core.members import Floats
from committee.core.params import choice, integer, real, resolve_max_features
from committee.data import InputError, Schema
from committee.data.errors import describe, warn
from committee.learners.growing import MOST, interaction_groups, monotone_signs
from committee.losses.columns import Columns
from committee.losses.loss import Loss

GROWTH_CONSTRAINTS: dict[str, Any] = {
    "max_leaf_nodes": [integer(2), None],
    "max_depth": [integer(1), None],
    "min_samples_leaf": [integer(1)],
    "l1_regularization": [real(0, None, "left")],
    "l2_regularization": [real(0, None, "left")],
    "min_child_weight": [real(0, None, "left")],
    "min_split_gain": [real(0, None, "left")],
    "retire_features": ["boolean"],
    "max_bins": [integer(2, 65535)],
    "max_features": "no_validation",  # resolve_max_features knows the number of features
    "colsample_bytree": [real(0, 1, "right")],
    "colsample_bylevel": [real(0, 1, "right")],
    "growth": [choice("leaf", "level", "symmetric")],
    "linear_leaves": ["boolean"],
    "linear_l2": [real(0, None, "left")],
    "monotonic_cst": ["array-like", dict, None],
    "interaction_cst": [list, tuple, choice("pairwise", "no_interactions"), None],
    "random_state": ["random_state"],
}
TINY = 1e-3  # rows' worth of hessian that a leaf has at least, as in LightGBM and scikit-learn
SYMMETRIC_DEPTH = 6  # where neither depth nor leaves are bounded, as in CatBoost
MOST_LEVELS = 16  # of symmetric trees, as in CatBoost
VECTOR_LEAST = 1.0  # rows' worth of hessian that each output of a vector leaf counts with at least
LIGHT = 0.1  # mean weight below which the penalty on leaves is likely not meant
USUAL_EXPONENT = 60  # of the largest weight; beyond it weights are scaled


def scaled_weights(weight: Floats | None) -> tuple[Floats | None, float]:
    """Divide weights that derivatives could not bear by a power of two; return it, too."""
    if weight is None:
        return None, 1.0
    exponent = int(np.frexp(weight.max())[1])
    if abs(exponent) <= USUAL_EXPONENT:
        return weight, 1.0
    return np.ldexp(weight, -exponent), float(np.ldexp(1.0, max(-1000, min(exponent, 1000))))


def growth_params(
    booster: Any,
    schema: Schema,
    seed: int,
    loss: Loss,
    weight: Floats | None,
    scale: float,
) -> _engine.TreeParams:
    """Fill the engine's parameters; weights are in units of ``scale``."""
    params = _engine.TreeParams()
    params.criterion = _engine.Criterion.newton
    params.seed = seed
    params.l1 = float(booster.l1_regularization) / scale
    params.l2 = float(booster.l2_regularization) / scale
    params.min_rows_leaf = min(int(booster.min_samples_leaf), MOST)
    typical = 1.0 if weight is None else float(weight.mean())
    params.min_weight_leaf = max(float(booster.min_child_weight) / scale, TINY * typical)
    params.least_hessian = max(params.min_weight_leaf, VECTOR_LEAST * typical)
    params.max_value = [step / float(booster.learning_rate) for step in longest_steps(loss)]
    params.min_gain = float(booster.min_split_gain) / scale
    params.retire = bool(booster.retire_features)
    if params.l2 > 0 and typical * scale < LIGHT:
        found = f"its mean is {typical * scale:.3g}; a leaf is shrunk as by rows of weight"
        found += f" {booster.l2_regularization:g} in all (l2_regularization)"
        fix = "weights whose mean is 1, or l2_regularization=0"
        warn(describe("W-LIGHT", "sample_weight", found, fix=fix))
    _bound(params, booster)
    _draw_columns(params, booster, schema.n_features)
    params.monotone = monotone_signs(booster.monotonic_cst, schema)
    params.interactions = interaction_groups(booster.interaction_cst, schema)
    if params.monotone and loss.n_outputs > 1 and not isinstance(loss, Columns):
        found = f"{loss.n_outputs} outputs"
        allowed = "one output, as in a regression or for two classes, or columns of y"
        raise InputError(describe("P-MONOTONE", "monotonic_cst", found, allowed=allowed))
    if params.monotone and booster.growth == "symmetric":
        found = 'a constraint beside growth="symmetric"'
        fix = 'growth="leaf" or "level", or no constraint'
        raise InputError(describe("P-MONOTONE", "monotonic_cst", found, fix=fix))
    return params


def longest_steps(loss: Loss) -> list[float]:
    """Tell how far a round may move the scores of each output."""
    parts = loss.parts if isinstance(loss, Columns) else (loss,)
    for part in parts:
        step = part.longest_step
        if not isinstance(step, numbers.Real) or not step > 0:
            found = f"{type(part).__name__}.longest_step is {step!r}"
            allowed = "a number above 0, or math.inf for steps of any length"
            raise InputError(describe("P-LOSS", "loss", found, allowed=allowed))
    if len(parts) == loss.n_outputs:
        return [float(part.longest_step) for part in parts]
    return [float(loss.longest_step)] * loss.n_outputs


def _bound(params: _engine.TreeParams, booster: Any) -> None:
    """Set the order of growth and where it ends."""
    if booster.growth == "symmetric":
        params.growth = _engine.Growth.symmetric
        params.max_depth = symmetric_depth(booster.max_depth, booster.max_leaf_nodes)
        return
    leafwise = booster.growth == "leaf"
    params.growth = _engine.Growth.best_first if leafwise else _engine.Growth.level
    if booster.max_depth is not None:
        params.max_depth = min(int(booster.max_depth), MOST)
    if booster.max_leaf_nodes is not None:
        params.max_leaves = min(int(booster.max_leaf_nodes), MOST)


def symmetric_depth(max_depth: int | None, max_leaf_nodes: int | None) -> int:
    """Tell the levels of symmetric trees; d of them make 2**d leaves, whatever these hold."""
    bounds = {}
    if max_depth is not None:
        bounds["max_depth"] = int(max_depth)
    if max_leaf_nodes is not None:
        bounds["max_leaf_nodes"] = int(max_leaf_nodes).bit_length() - 1
    name, depth = min(bounds.items(), key=lambda bound: bound[1], default=("", SYMMETRIC_DEPTH))
    if depth > MOST_LEVELS:
        found = f'{depth} levels of growth="symmetric", which all have twice the nodes of the last'
        allowed = f"at most {MOST_LEVELS} levels, {2**MOST_LEVELS} leaves"
        raise InputError(describe("P-GROWTH", name, found, allowed=allowed))
    return depth


def _draw_columns(params: _engine.TreeParams, booster: Any, n_features: int) -> None:
    """Set how many features a tree, a level and a node draw, each from those of the one before."""
    name = type(booster).__name__
    tree = max(1, int(float(booster.colsample_bytree) * n_features))
    level = max(1, int(float(booster.colsample_bylevel) * tree))
    tried = resolve_max_features(booster.max_features, n_features, name)
    if not isinstance(booster.max_features, numbers.Integral):  # a share is one of what is left
        tried = resolve_max_features(booster.max_features, level, name)
    params.tree_features = 0 if tree == n_features else tree
    params.level_features = 0 if level == tree else level
    params.node_features = 0 if tried >= level else tried
