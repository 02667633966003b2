"""A fitted forest seen member by member: its trees as estimators, their bags, the paths of rows.

Nothing of it is stored: every view is made when it is asked for.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt
from scipy import sparse

from committee import _engine
from committee.core.bags import BagPlan
from committee.learners.structure import Tree

Ints: TypeAlias = npt.NDArray[np.int64]


class MemberViews(Sequence[Any]):
    """The trees of ``forest_`` as estimators, made when asked for.

    Parameters
    ----------
    owner : estimator
        The fitted committee.
    """

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    def __len__(self) -> int:
        return int(self._owner.forest_.n_trees)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        chosen = range(len(self))[index]
        return self._view(chosen) if isinstance(chosen, int) else [self._view(k) for k in chosen]

    @abstractmethod
    def _view(self, member: int) -> Any:
        """Make the estimator of one tree."""


class MemberTrees(MemberViews):
    """The members of a forest as decision trees.

    They share the forest's classes and schema, so that they predict labels and read data frames. Of
    their nodes they know splits and values; counts and impurities are not kept.
    """

    def _view(self, member: int) -> Any:
        owner = self._owner
        view = owner.estimator_
        view._set_schema(owner.schema_)
        for name in ("classes_", "n_classes_", "n_outputs_", "max_features_"):
            if hasattr(owner, name):
                setattr(view, name, getattr(owner, name))
        classes = np.atleast_1d(getattr(owner, "n_classes_", np.ones(owner.n_outputs_, int)))
        tree = owner.forest_.slice(member, member + 1)
        view.tree_ = Tree(tree, tuple(classes.tolist()), owner.importances_[member])
        return view


class MemberSamples(Sequence[Ints]):
    """The rows in the bag of each member, as often as they were drawn, ascending.

    Parameters
    ----------
    plan : BagPlan
        How the bags are drawn.
    n_members : int
        How many there are.
    """

    def __init__(self, plan: BagPlan, n_members: int) -> None:
        self._bags = plan.native()
        self._n_members = n_members
        self._counted = plan.draw not in ("all", "exponential")

    def __len__(self) -> int:
        return self._n_members

    @overload
    def __getitem__(self, index: int) -> Ints: ...
    @overload
    def __getitem__(self, index: slice) -> list[Ints]: ...
    def __getitem__(self, index: int | slice) -> Ints | list[Ints]:
        chosen = range(len(self))[index]
        return self._rows(chosen) if isinstance(chosen, int) else [self._rows(k) for k in chosen]

    def _rows(self, member: int) -> Ints:
        weights = self._bags.weights(member)
        if self._counted and (weights == np.rint(weights)).all():
            return np.repeat(np.arange(len(weights)), weights.astype(np.int64))
        return np.flatnonzero(weights)


def forest_paths(
    forest: _engine.Forest, table: _engine.Table, n_threads: int
) -> tuple[sparse.csr_matrix, Ints]:
    """Mark the nodes that each row passes in every tree.

    Returns
    -------
    csr_matrix of shape (n_rows, n_nodes), ndarray of shape (n_trees + 1,)
        1 where a row passes a node, and where the nodes of each tree begin.
    """

    def paths() -> Iterator[sparse.csr_matrix]:
        for tree in range(forest.n_trees):
            single = Tree(forest.slice(tree, tree + 1), (1,))
            yield single.decision_path(table, n_threads)

    return sparse.hstack(list(paths()), format="csr"), forest.tree_begin.astype(np.int64)
