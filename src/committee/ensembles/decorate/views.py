"""The members of a DECORATE committee as estimators."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from committee.core.params import resolve_max_features
from committee.ensembles.decorate.parted_trees import PartedTrees
from committee.learners.forest_views import MemberViews
from committee.learners.structure import Tree


class DecorateViews(MemberViews):
    """Trees of the engine as decision trees, made when they are asked for."""

    def _view(self, member: int) -> Any:
        model = self._owner
        view = clone(model.estimator_)
        view._set_schema(model.schema_)
        view.classes_, view.n_classes_, view.n_outputs_ = model.classes_, model.n_classes_, 1
        view.max_features_ = resolve_max_features(view.max_features, model.n_features_in_)
        in_parts = isinstance(model.committee_.members, PartedTrees)
        tree = model.forest_.slice(member, member + 1)
        view.tree_ = Tree(tree, (model.n_classes_,), in_parts=in_parts)
        return view
