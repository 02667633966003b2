"""Trees that all outputs share: a leaf holds a number for each of them.

A split gains the sum over outputs of G_k^2 / (H_k + l2), and a leaf's value for output k is
-G_k / (H_k + l2) (Zhang and Jung, "GBDT-MO: gradient-boosted decision trees for multiple outputs",
2020; ``multi_output_tree`` of XGBoost). One tree a round is grown instead of one for each output,
and outputs that depend on the same regions learn them together.
"""

from __future__ import annotations

from typing import Any

from committee.core.stages import Stages
from committee.data import InputError
from committee.data.errors import describe
from committee.losses.loss import Loss

# What such trees cannot do: parameter -> the value that asks for nothing.
USUAL: dict[str, Any] = {
    "l1_regularization": 0,
    "sampling_method": "uniform",
    "n_parallel_trees": 1,
    "drop_rate": 0,
}


def shares_trees(booster: Any, loss: Loss) -> bool:
    """Tell whether the outputs share trees, and refuse what these cannot do."""
    strategy = getattr(booster, "multi_strategy", "one_output_per_tree")
    if strategy == "one_output_per_tree" or loss.n_outputs == 1:
        return False
    asked = {name: getattr(booster, name) for name, usual in USUAL.items()}
    refused = [name for name, value in asked.items() if value != USUAL[name]]
    if booster.growth == "symmetric":
        refused.append("growth")
    if booster.monotonic_cst is not None:
        refused.append("monotonic_cst")
    if not refused:
        return True
    name = refused[0]
    found = f'{name}={getattr(booster, name)!r} beside multi_strategy="multi_output_tree"'
    fix = f'multi_strategy="one_output_per_tree", or leave {name} as it is by default'
    raise InputError(describe("P-OUTPUTS", name, found, fix=fix))


def check_same_strategy(stages: Stages, vectors: bool) -> None:
    """Refuse a warm start whose rounds would be of another kind than those before."""
    before = any(forest.n_outputs > 1 for forest in stages.forests)
    if before == vectors:
        return
    found = "another value than in the fit before, whose trees "
    found += "hold all outputs" if before else "hold one output each"
    raise InputError(describe("P-WARM", "multi_strategy", found, fix="warm_start=False"))
