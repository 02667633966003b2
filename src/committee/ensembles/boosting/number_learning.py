"""Boosters of classifiers whose weak learner fits numbers by least squares."""

from __future__ import annotations

from typing import Any, ClassVar

from committee.ensembles.boosting.boosted_classifier import BoostedClassifier
from committee.learners.tree import DecisionTreeRegressor


class LearnsNumbers(BoostedClassifier):
    """The weak learner is a regressor, by default a regression stump."""

    _learns_classes: ClassVar[bool] = False
    _members_vote: ClassVar[bool] = False

    def _base(self) -> Any:
        return DecisionTreeRegressor(max_depth=1) if self.estimator is None else self.estimator
