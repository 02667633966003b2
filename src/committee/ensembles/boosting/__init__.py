"""Boosting: each member is made by what the members before it leave to do."""

from committee.ensembles.boosting.abstaining import AbstainingAdaBoostClassifier
from committee.ensembles.boosting.adaboost import AdaBoostClassifier
from committee.ensembles.boosting.adaboost_r2 import AdaBoostRegressor
from committee.ensembles.boosting.first_boosting import FirstBoostingClassifier
from committee.ensembles.boosting.gentleboost import GentleBoostClassifier
from committee.ensembles.boosting.logitboost import LogitBoostClassifier
from committee.ensembles.boosting.madaboost import MadaBoostClassifier
from committee.ensembles.boosting.multiboost import MultiBoostClassifier
from committee.ensembles.boosting.real_adaboost import RealAdaBoostClassifier

__all__ = [
    "AbstainingAdaBoostClassifier",
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "FirstBoostingClassifier",
    "GentleBoostClassifier",
    "LogitBoostClassifier",
    "MadaBoostClassifier",
    "MultiBoostClassifier",
    "RealAdaBoostClassifier",
]
