"""Committees over any learner: bagging, random subspaces and projections, rotation, boosting."""

from committee.ensembles.bagging import BaggingClassifier, BaggingRegressor
from committee.ensembles.boosting import (
    AbstainingAdaBoostClassifier,
    AdaBoostClassifier,
    AdaBoostRegressor,
    FirstBoostingClassifier,
    GentleBoostClassifier,
    LogitBoostClassifier,
    MadaBoostClassifier,
    MultiBoostClassifier,
    RealAdaBoostClassifier,
)
from committee.ensembles.rotation_forest import RotationForestClassifier

__all__ = [
    "AbstainingAdaBoostClassifier",
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "FirstBoostingClassifier",
    "GentleBoostClassifier",
    "LogitBoostClassifier",
    "MadaBoostClassifier",
    "MultiBoostClassifier",
    "RealAdaBoostClassifier",
    "RotationForestClassifier",
]
