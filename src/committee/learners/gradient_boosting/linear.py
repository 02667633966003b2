"""Linear leaves: what they do not go together with, and the trees of a committee that has them.

The leaves themselves are the engine's (linear.hpp, after Shi, Li and Li 2019).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from committee import _engine
from committee.core.stages import Forest, Stages
from committee.data import InputError
from committee.data.errors import describe
from committee.losses.loss import Loss

# Parameters that linear leaves do not know, the one value that leaves them out, and why.
REFUSED: dict[str, tuple[Any, str]] = {
    "monotonic_cst": (None, "slopes know no order"),
    "sampling_method": ("uniform", "leaves are fitted to the rows as they are"),
    "n_parallel_trees": (1, "a round has one tree for each output"),
    "drop_rate": (0, "no round is left out again"),
    "multi_strategy": ("one_output_per_tree", "a leaf has the slopes of one output"),
    "categorical_encoding": ("native", "slopes are those of numeric features"),
}


def check_linear_leaves(booster: Any, loss: Loss) -> None:
    """Refuse what linear leaves do not go together with, where a booster asks for them."""
    if not booster.linear_leaves:
        return
    if loss.renews_leaves:
        found = f"{loss!r} gives each leaf the best constant of its rows, not a linear model"
        fix = "linear_leaves=False, or a smooth loss as squared_error"
        raise InputError(describe("P-LINEAR", "linear_leaves", found, fix=fix))
    for name, (alone, why) in REFUSED.items():
        value = getattr(booster, name, alone)
        if value is not alone and not (np.isscalar(value) and value == alone):
            found = f"linear_leaves=True with {name}={value!r}: {why}"
            allowed = f"{name}={alone!r} beside linear leaves"
            fix = f"linear_leaves=False, or {name}={alone!r}"
            raise InputError(describe("P-LINEAR", name, found, allowed=allowed, fix=fix))


def check_linear_warm_start(booster: Any, stages: Stages) -> None:
    """Refuse to put linear leaves behind constant ones, or the other way round."""
    linear = has_linear_leaves(stages)
    if linear != bool(booster.linear_leaves):
        found = f"linear_leaves={booster.linear_leaves!r}, in the fit before {linear!r}"
        raise InputError(describe("P-WARM", "linear_leaves", found, fix="warm_start=False"))


def has_linear_leaves(stages: Stages) -> bool:
    """Tell whether leaves are linear models."""
    return isinstance(stages.forests[0], _engine.LinearForest)


def trees_of(forest: Forest) -> _engine.Forest:
    """Give the trees, with the constants of their leaves."""
    return forest.trees if isinstance(forest, _engine.LinearForest) else forest
