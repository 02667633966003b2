"""What the classifier and the regressor share: growing by a criterion, cutting back by cost.

Growing stops at a limit or where nothing is left to gain; minimal cost-complexity pruning then
removes the subtrees whose leaves do not pay for themselves (Breiman et al. 1984, chapter 3).
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import Bunch

from committee import _engine
from committee.core.params import choice, resolve_max_features, resolve_seed
from committee.data import InputError, Schema, Table
from committee.data.errors import describe
from committee.data.rows import Rows
from committee.learners.estimators import TreeEstimator, Weights
from committee.learners.growing import GROWING_CONSTRAINTS, total_of, tree_params

# The statistics of rows, how to grow on them, the features tried at a node, weights of the rows.
Sums: TypeAlias = tuple[_engine.Stats, _engine.TreeParams, int, Weights]


class PrunableTree(TreeEstimator):
    """A tree that is grown by a criterion and cut back by cost."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TreeEstimator._parameter_constraints,
        "splitter": [choice("best", "random")],
        **GROWING_CONSTRAINTS,
    }

    def _growth(
        self, schema: Schema, n_rows: int, weight: Weights, n_classes: list[int]
    ) -> tuple[_engine.TreeParams, int]:
        """Resolve the parameters; return them and the number of features tried at a node."""
        name = type(self).__name__
        tried = resolve_max_features(self.max_features, schema.n_features, name)
        params = tree_params(
            self,
            schema,
            n_rows=n_rows,
            total_weight=total_of(weight, n_rows),
            n_classes=n_classes,
            n_node_features=tried,
            seed=resolve_seed(self.random_state, name),
        )
        return params, tried

    def _grow(
        self, table: Table, weight: Weights, stats: _engine.Stats, params: _engine.TreeParams
    ) -> _engine.Forest:
        """Bin, grow and cut back by cost."""
        n_threads = self._threads()
        rows = Rows.of(table, weight, max_bins=self.max_bins, n_threads=n_threads)
        grow = _engine.grow_tree_in_parts if params.in_parts else _engine.grow_tree
        forest = grow(rows.matrix, rows.mapper, stats, params, n_threads)
        return forest.pruned_by_cost(self.ccp_alpha) if self.ccp_alpha > 0 else forest

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Compute the alphas at which pruning removes a subtree.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.

        Returns
        -------
        Bunch
            ``ccp_alphas`` and the ``impurities`` of the leaves after each step.
        """
        full = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight=sample_weight)
        alphas, impurities = full.tree_.forest.cost_complexity_path()
        return Bunch(ccp_alphas=alphas, impurities=impurities)


def check_counts(y: npt.NDArray[np.float64]) -> None:
    """Refuse targets that no Poisson model has."""
    if (y < 0).any():
        row = int(np.argmax((y < 0).any(axis=1)))
        found = (
            "Some value(s) of y are negative which is not allowed for Poisson regression: "
            f"{int((y < 0).sum())} value(s), first at row {row}"
        )
        raise InputError(describe("Y-NEGATIVE", "y", found, allowed="values >= 0"))
    if (y.sum(axis=0) <= 0).any():
        found = "Sum of y is not strictly positive which is necessary for Poisson regression"
        raise InputError(describe("Y-ZERO", "y", found, allowed="some values > 0"))
