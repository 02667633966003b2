"""The members of a booster as estimators, and what their features brought."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.core.members import Floats, Members, Trees
from committee.ensembles.boosting.booster import Booster
from committee.ensembles.boosting.hypothesis import ReadMember
from committee.learners.forest_views import MemberViews
from committee.learners.structure import Tree
from committee.learners.tree import DecisionTreeRegressor


class MemberViewing(Booster):
    """A booster whose members can be looked at one by one."""

    _members_vote: ClassVar[bool] = True  # otherwise they say numbers

    @property
    def estimators_(self) -> Any:
        """The members: trees, made when they are asked for, or the fitted weak learners."""
        check_is_fitted(self)
        members = self.committee_.members
        if isinstance(members, Trees):
            return BoosterViews(self)
        return [_estimator(member) for member in members]

    @property
    def feature_importances_(self) -> Floats:
        """Mean share of impurity decrease by feature over the trees, by the trees' weights."""
        check_is_fitted(self)
        members = self.committee_.members
        if not isinstance(members, Trees):
            name = type(self.estimator_).__name__
            raise AttributeError(f"a committee of {name} has no feature_importances_")
        each = [_importances(_tree(members, t)) for t in range(len(members))]
        total = np.abs(self.committee_.weights) @ np.array(each)
        return np.asarray(total / total.sum() if total.sum() > 0 else total)

    def __getitem__(self, member: Any) -> Any:
        return self.estimators_[member]


class BoosterViews(MemberViews):
    """Trees as estimators of the weak learner's kind; those that say numbers, as regressors."""

    def __len__(self) -> int:
        return len(self._owner.committee_)

    def _view(self, member: int) -> Any:
        model = self._owner
        tree = _tree(model.committee_.members, member)
        view = clone(model.estimator_) if model._members_vote else DecisionTreeRegressor()
        view._set_schema(model.schema_)
        view.n_outputs_, counts = 1, (1,)
        if model._members_vote:
            view.classes_, view.n_classes_ = model.classes_, len(model.classes_)
            counts = (len(model.classes_),)
            if tree.n_outputs == 1 and len(model.classes_) == 2:
                vote = np.asarray(tree.values)
                tree = tree.revalued(np.ascontiguousarray(np.hstack([1 - vote, 1 + vote]) / 2))
        view.tree_ = Tree(tree, counts, _importances(tree))
        return view


def _tree(members: Members, index: int) -> _engine.Forest:
    assert isinstance(members, Trees)
    return members.forest.slice(index, index + 1)


def _importances(tree: _engine.Forest) -> Floats:
    return Tree(tree, (1,)).compute_feature_importances()


def _estimator(member: Any) -> Any:
    """Take the estimator out of its seat."""
    while isinstance(member, ReadMember):
        member = member.member
    return getattr(member, "estimator", member)
