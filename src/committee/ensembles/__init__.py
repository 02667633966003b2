"""Committees over any learner: bagging, random subspaces and projections, rotation, boosting."""

from committee.ensembles.bagging import (
    BaggingClassifier,
    BaggingRegressor,
    RotationForestClassifier,
)
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
