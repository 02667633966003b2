"""Committees over any learner: bagging, random subspaces and projections, rotation forests."""

from committee.ensembles.bagging import BaggingClassifier, BaggingRegressor
from committee.ensembles.rotation_forest import RotationForestClassifier

__all__ = ["BaggingClassifier", "BaggingRegressor", "RotationForestClassifier"]
