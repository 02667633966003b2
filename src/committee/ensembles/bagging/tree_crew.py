"""Members that are trees of this library: grown by the engine on bins that all of them share.

Whole forests come from one native call. Trees that are cut back, or that see a subspace only, are
grown one by one on the same bins; a subspace is a group of features beside which no other may
stand on a path.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from committee import _engine
from committee.core.bags import BagPlan, LeftOut
from committee.core.committee import Committee
from committee.core.members import Floats, Trees
from committee.core.outofbag import OutOfBag, outputs_one_by_one, predict_left_out
from committee.core.params import resolve_max_features
from committee.core.randomness import member_rng
from committee.core.rounds import Round
from committee.data import Schema
from committee.data.rows import Rows
from committee.ensembles.bagging.feature_maps import FeatureSubset
from committee.ensembles.bagging.map_draws import SubspaceDraw
from committee.learners.forest_growing import ForestGrower, mixed
from committee.learners.forest_views import MemberViews
from committee.learners.growing import tree_params
from committee.learners.structure import Tree
from committee.learners.targets import Target
from committee.learners.tree import DecisionTreeClassifier

ARRAYS = (
    "tree_begin",
    "threshold",
    "feature",
    "left",
    "values",
    "set_begin",
    "set_words",
    "gain",
    "impurity",
    "weight",
    "count",
)


@dataclass(eq=False)
class TreeCrew:
    """Makes trees, and asks them.

    Attributes
    ----------
    base : DecisionTreeClassifier or DecisionTreeRegressor
        Whose parameters the members have.
    table, schema, rows : Table, Schema, Rows
        The training rows, as they are and binned.
    target : ClassTarget or NumberTarget
        What is to be explained.
    weight : ndarray or None
        Weights of the rows as given to ``fit``.
    keys : ndarray of uint64
        Their content.
    subspace : SubspaceDraw
        The features of each member.
    hard : bool
        Whether a tree gives a whole vote to one class.
    n_threads : int
        Threads to grow and predict with.
    verbose : int
        Whether to print the number of members as they are grown.
    watched : bool
        Whether somebody looks on, so that trees should come a few at a time.
    """

    base: Any
    table: _engine.Table
    schema: Schema
    rows: Rows
    target: Target
    weight: Floats | None
    keys: npt.NDArray[np.uint64]
    subspace: SubspaceDraw
    hard: bool
    n_threads: int
    verbose: int = 0
    watched: bool = False
    _forests: list[_engine.Forest] = field(default_factory=list)
    _importances: list[Floats] = field(default_factory=list)
    _subspaces: list[FeatureSubset | None] = field(default_factory=list)

    def rounds(self, plan: BagPlan, members: range) -> Iterator[Round]:
        """Grow members and yield them, all at once where the engine can."""
        if not len(members):
            return
        resampled = plan.draw != "all"
        factor = self.target.factor(self.weight, resampled=resampled)
        grower = ForestGrower(
            self.table,
            self.schema,
            self.rows,
            self.target,
            plan,
            plan.native(),
            factor,
            self._params(plan.seed, np.arange(self.schema.n_features)),
            0.0,
            self.n_threads,
        )
        at_once = self.subspace.whole and not self._cut_back
        step = 1
        if at_once:
            step = self.n_threads if self.watched or self.verbose > 0 else len(members)
        for begin in range(members.start, members.stop, step):
            end = min(begin + step, members.stop)
            grown = grower.grow(begin, end) if at_once else self._grow_one(grower, begin)
            if self.verbose > 0:
                print(f"[{type(self.base).__name__}] {end} of {members.stop} members")
            yield self._round(*grown, end)

    def _round(self, forest: _engine.Forest, importances: Floats, end: int) -> Round:
        self._forests.append(forest)
        self._importances.append(importances)
        if self.subspace.whole:
            self._subspaces += [None] * forest.n_trees
        return Round(self.seats(forest), np.ones(end))

    def seats(self, forest: _engine.Forest) -> Trees:
        """Seat trees as they are to be asked: for their shares or for their votes."""
        asked = forest.votes(self.target.n_classes) if self.hard else forest
        return Trees(asked, self.schema)

    @property
    def _cut_back(self) -> bool:
        return self.base.ccp_alpha > 0 or getattr(self.base, "pruning", None) is not None

    def _params(self, seed: int, features: npt.NDArray[np.int64]) -> _engine.TreeParams:
        """Fill the parameters of a tree on some features; weights are for a total of one."""
        params = tree_params(
            self.base,
            self.schema,
            n_rows=len(self.keys),
            total_weight=1.0,
            n_classes=self.target.n_classes,
            n_node_features=resolve_max_features(
                self.base.max_features, len(features), type(self.base).__name__
            ),
            seed=seed,
        )
        if len(features) < self.schema.n_features:
            groups = params.interactions or [features.tolist()]
            allowed = [sorted(set(group) & set(features.tolist())) for group in groups]
            params.interactions = [group for group in allowed if group]
        return params

    def _grow_one(self, grower: ForestGrower, member: int) -> tuple[_engine.Forest, Floats]:
        """Grow one member as the native call does, and cut it back."""
        seed = grower.plan.seed
        features = np.arange(self.schema.n_features)
        if not self.subspace.whole:
            seen = self.subspace.subset(member_rng(seed, member))
            self._subspaces.append(seen)
            features = np.unique(seen.features)
        params = self._params(mixed(seed, member), features)
        weight = grower.bags.weights(member)
        if grower.factor is not None:
            weight = weight * grower.factor
        total = float(weight.sum())
        params.min_weight_leaf *= total
        if math.isfinite(params.min_gain):
            params.min_gain *= total
        stats = self.target.stats(weight, params.min_rows_leaf > 1)
        rows = self.rows
        tree = _engine.grow_tree(rows.matrix, rows.mapper, stats, params, self.n_threads)
        if self.base.ccp_alpha > 0:
            tree = tree.pruned_by_cost(self.base.ccp_alpha)
        if getattr(self.base, "pruning", None) == "pessimistic":
            tree = tree.pruned_by_pessimism(self.base.confidence)
        return tree, Tree(tree, (1,)).compute_feature_importances()[None]

    def attributes(self, committee: Committee, before: Any) -> dict[str, Any]:
        """Name what a fitted model keeps of the trees; ``before`` is a model that is continued."""
        forests = [] if before is None else [before.forest_]
        importances = [] if before is None else [before.importances_]
        subspaces = [] if before is None else before.subspaces_
        size = len(committee)
        return {
            "subspaces_": (subspaces + self._subspaces)[:size],
            "forest_": _engine.Forest.concatenate([*forests, *self._forests]).slice(0, size),
            "importances_": np.concatenate([*importances, *self._importances])[:size],
        }

    def out_of_bag(self, committee: Committee, left_out: LeftOut) -> OutOfBag:
        """Predict each row by the trees that left it out."""
        return predict_left_out(asked_forest(committee), self.table, left_out, self.n_threads)

    def one_by_one(self, committee: Committee, left_out: LeftOut) -> Iterator[Floats]:
        """Yield what each tree says about all rows, walked alone."""
        return outputs_one_by_one(asked_forest(committee), self.table)


def asked_forest(committee: Committee) -> _engine.Forest:
    """Return the forest that a committee asks: the trees themselves, or their votes."""
    return committee.members.forest  # type: ignore[attr-defined,no-any-return]


class TreeViews(MemberViews):
    """The members as decision trees that read the columns of their own subspace.

    Of their nodes, trees grown all at once know splits and values; counts and impurities are not
    kept.
    """

    def _view(self, member: int) -> Any:
        model = self._owner
        view = clone(model.estimator_)
        features = model.estimators_features_[member]
        tree = model.forest_.slice(member, member + 1)
        importances = model.importances_[member]
        schema = model.schema_
        if len(features) != schema.n_features or (np.diff(features) != 1).any():
            tree, schema = narrowed(tree, features), selected(schema, features)
            importances = importances[features]
        view._set_schema(schema)
        if isinstance(view, DecisionTreeClassifier):
            view.classes_, view.n_classes_ = model.classes_, model.n_classes_
        view.n_outputs_ = model.n_outputs_
        view.max_features_ = resolve_max_features(view.max_features, schema.n_features)
        counts = (getattr(model, "n_classes_", 1),) * model.n_outputs_
        view.tree_ = Tree(tree, counts, importances)
        return view


def narrowed(tree: _engine.Forest, features: npt.NDArray[np.int64]) -> _engine.Forest:
    """Renumber the features of a tree by their places in a subspace."""
    place = np.zeros(tree.n_features, dtype=np.uint32)
    place[features[::-1]] = np.arange(len(features), dtype=np.uint32)[::-1]  # the first of equals
    word = np.array(tree.feature)
    split = tree.left != np.arange(tree.n_nodes)
    mask = np.uint32(_engine.FEATURE_MASK)
    word[split] = (word[split] & ~mask) | place[word[split] & mask]
    arrays = {name: np.ascontiguousarray(getattr(tree, name)).ravel() for name in ARRAYS}
    return _engine.Forest.from_arrays(len(features), tree.n_outputs, **arrays | {"feature": word})


def selected(schema: Schema, features: npt.NDArray[np.int64]) -> Schema:
    """Describe some of the features."""
    names = None if schema.feature_names is None else schema.feature_names[features]
    places = list(enumerate(features.tolist()))
    levels = {k: schema.levels[f] for k, f in places if f in schema.levels}
    dtypes = {k: schema.dtypes[f] for k, f in places if f in schema.dtypes}
    return Schema(len(features), names, levels, dtypes)
