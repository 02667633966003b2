"""Committees over any learner.

Of one kind: bagging, random subspaces and projections, rotation, boosting, DECORATE. Of different
kinds: voting, selection, stacking, cascades.
"""

from committee.ensembles.bagging import (
    BaggingClassifier,
    BaggingRegressor,
    RotationForestClassifier,
)
from committee.ensembles.boosting import (
    AbstainingAdaBoostClassifier,
    AdaBoostClassifier,
    AdaBoostMHClassifier,
    AdaBoostRegressor,
    AdaBoostStarClassifier,
    BrownBoostClassifier,
    ERLPBoostClassifier,
    FirstBoostingClassifier,
    GentleBoostClassifier,
    LogitBoostClassifier,
    LPBoostClassifier,
    MadaBoostClassifier,
    MultiBoostClassifier,
    RealAdaBoostClassifier,
    RobustBoostClassifier,
    SmoothBoostClassifier,
)
from committee.ensembles.cascade import CascadeClassifier, CascadeRegressor
from committee.ensembles.decorate import DecorateClassifier
from committee.ensembles.selection import EnsembleSelectionClassifier, EnsembleSelectionRegressor
from committee.ensembles.stacking import StackingClassifier, StackingRegressor
from committee.ensembles.voting import VotingClassifier, VotingRegressor

__all__ = [
    "AbstainingAdaBoostClassifier",
    "AdaBoostClassifier",
    "AdaBoostMHClassifier",
    "AdaBoostRegressor",
    "AdaBoostStarClassifier",
    "BaggingClassifier",
    "BaggingRegressor",
    "BrownBoostClassifier",
    "CascadeClassifier",
    "CascadeRegressor",
    "DecorateClassifier",
    "ERLPBoostClassifier",
    "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor",
    "FirstBoostingClassifier",
    "GentleBoostClassifier",
    "LPBoostClassifier",
    "LogitBoostClassifier",
    "MadaBoostClassifier",
    "MultiBoostClassifier",
    "RealAdaBoostClassifier",
    "RobustBoostClassifier",
    "RotationForestClassifier",
    "SmoothBoostClassifier",
    "StackingClassifier",
    "StackingRegressor",
    "VotingClassifier",
    "VotingRegressor",
]
