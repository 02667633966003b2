"""From the parameters of a booster to those of its trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee import _engine
from committee.core.members import Floats
from committee.core.params import choice, integer, real, resolve_max_features
from committee.data import InputError, Schema
from committee.data.errors import describe
from committee.learners.growing import MOST, interaction_groups, monotone_signs
from committee.losses.loss import Loss

GROWTH_CONSTRAINTS: dict[str, Any] = {
    "max_leaf_nodes": [integer(2), None],
    "max_depth": [integer(1), None],
    "min_samples_leaf": [integer(1)],
    "l2_regularization": [real(0, None, "left")],
    "min_child_weight": [real(0, None, "left")],
    "min_split_gain": [real(0, None, "left")],
    "max_bins": [integer(2, 65535)],
    "max_features": "no_validation",  # resolve_max_features knows the number of features
    "growth": [choice("leaf", "level")],
    "monotonic_cst": ["array-like", dict, None],
    "interaction_cst": [list, tuple, choice("pairwise", "no_interactions"), None],
    "random_state": ["random_state"],
}
TINY = 1e-3  # rows' worth of hessian that a leaf has at least, as in LightGBM and scikit-learn
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
    params.l2 = float(booster.l2_regularization) / scale
    params.min_rows_leaf = min(int(booster.min_samples_leaf), MOST)
    typical = 1.0 if weight is None else float(weight.mean())
    params.min_weight_leaf = max(float(booster.min_child_weight) / scale, TINY * typical)
    params.min_gain = float(booster.min_split_gain) / scale
    if booster.max_depth is not None:
        params.max_depth = min(int(booster.max_depth), MOST)
    leafwise = booster.growth == "leaf"
    params.growth = _engine.Growth.best_first if leafwise else _engine.Growth.level
    if booster.max_leaf_nodes is not None:
        params.max_leaves = min(int(booster.max_leaf_nodes), MOST)
    name = type(booster).__name__
    tried = resolve_max_features(booster.max_features, schema.n_features, name)
    params.node_features = 0 if tried == schema.n_features else tried
    params.monotone = monotone_signs(booster.monotonic_cst, schema)
    params.interactions = interaction_groups(booster.interaction_cst, schema)
    if params.monotone and loss.n_outputs > 1:
        found = f"{loss.n_outputs} outputs"
        allowed = "one output: a regression, or two classes"
        raise InputError(describe("P-MONOTONE", "monotonic_cst", found, allowed=allowed))
    return params
