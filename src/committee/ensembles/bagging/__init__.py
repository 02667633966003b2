"""Bagging: every member sees the rows, or the features, in its own way, and all vote alike."""

from committee.ensembles.bagging.bagging import BaggingClassifier, BaggingRegressor
from committee.ensembles.bagging.rotation_forest import RotationForestClassifier

__all__ = ["BaggingClassifier", "BaggingRegressor", "RotationForestClassifier"]
