"""Growing the members of a forest: many trees on the same bins, each on its own bag.

A member is a function of (rows, parameters, seed, its number), so members may be grown in any
number of calls. Unpruned ones come from one native call. Those that are cut back by cost are grown
one by one, as pruning needs what a single tree remembers of its nodes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from committee import _engine
from committee.core.bags import BagPlan
from committee.data import InputError, Schema
from committee.data.errors import describe
from committee.data.rows import Rows
from committee.learners.structure import Tree
from committee.learners.targets import Target

Floats: TypeAlias = npt.NDArray[np.float64]
WORD = 2**64 - 1


@dataclass(frozen=True, eq=False)
class ForestGrower:
    """All that the members of one forest have in common.

    Attributes
    ----------
    table : _engine.Table
        The training rows as the trees read them.
    schema : Schema
        Their names and levels.
    rows : Rows
        The training rows, binned.
    target : ClassTarget or NumberTarget
        What is to be explained.
    plan : BagPlan
        Which rows each member sees.
    bags : _engine.Bags
        The same, ready to draw.
    factor : ndarray of shape (n_rows,) or None
        Weights of the rows inside the trees, besides those of the bag.
    params : TreeParams
        Of every tree; limits in units of weight are for a total of one.
    ccp_alpha : float
        Each tree is cut back by this; 0 for not at all.
    n_threads : int
        Threads to grow with.
    """

    table: _engine.Table
    schema: Schema
    rows: Rows
    target: Target
    plan: BagPlan
    bags: _engine.Bags
    factor: Floats | None
    params: _engine.TreeParams
    ccp_alpha: float
    n_threads: int

    def grow(self, begin: int, end: int) -> tuple[_engine.Forest, Floats]:
        """Grow the members ``begin`` to ``end``.

        Returns
        -------
        Forest, ndarray of shape (end - begin, n_features)
            The trees, and each tree's share of impurity decrease by feature.
        """
        self._refuse_empty_bags(begin, end)
        if self.ccp_alpha > 0 and end > begin:
            pruned = [self._pruned(member) for member in range(begin, end)]
            importances = [Tree(tree, (1,)).compute_feature_importances() for tree in pruned]
            return _engine.Forest.concatenate(pruned), np.stack(importances)
        return _engine.grow_forest(
            self.rows.matrix,
            self.rows.mapper,
            self.target.native(self.factor, resampled=self.plan.draw != "all"),
            self.bags,
            self.params,
            begin,
            end,
            self.n_threads,
        )

    def _refuse_empty_bags(self, begin: int, end: int) -> None:
        """Name a member that drew only rows of classes that weigh nothing."""
        if self.factor is None or self.factor.all():
            return
        for member in range(begin, end):
            if not (self.bags.weights(member) * self.factor).any():
                found = f"the bag of member {member} has only rows of classes of weight 0"
                fix = "weights above 0 for all classes, larger bags, or stratify=True"
                raise InputError(describe("P-BAG", "class_weight", found, fix=fix))

    def weights(self, member: int) -> Floats:
        """Weigh the rows as a member sees them: how often drawn, and what its class is worth."""
        weight = self.bags.weights(member)
        if self.target.balanced and self.plan.draw != "all":
            weight = self.target.balance(weight)
        return weight if self.factor is None else weight * self.factor

    def _pruned(self, member: int) -> _engine.Forest:
        """Grow one member as the native call does, and cut it back."""
        weight = self.weights(member)
        params = self.params
        limits = params.min_weight_leaf, params.min_gain, params.seed
        total = float(weight.sum())
        try:
            params.seed = mixed(params.seed, member)
            params.min_weight_leaf *= total
            if math.isfinite(params.min_gain):
                params.min_gain *= total
            stats = self.target.stats(weight, params.min_rows_leaf > 1)
            tree = _engine.grow_tree(
                self.rows.matrix, self.rows.mapper, stats, params, self.n_threads
            )
        finally:
            params.min_weight_leaf, params.min_gain, params.seed = limits
        return tree.pruned_by_cost(self.ccp_alpha)


def mixed(key: int, word: int) -> int:
    """Mix a seed with a member's number, as the engine does (splitmix64's finaliser)."""
    return _mix(key ^ _mix(word))


def _mix(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)
