"""Gradient boosting: a loss, the engine's trees, and an additive model of both."""

from committee.learners.gradient_boosting.classifier import GradientBoostingClassifier
from committee.learners.gradient_boosting.ranker import GradientBoostingRanker
from committee.learners.gradient_boosting.regressor import GradientBoostingRegressor

__all__ = ["GradientBoostingClassifier", "GradientBoostingRanker", "GradientBoostingRegressor"]
