"""Boosting: each member is made by what the members before it leave to do."""

from committee.ensembles.boosting.abstaining import AbstainingAdaBoostClassifier
from committee.ensembles.boosting.adaboost import AdaBoostClassifier
from committee.ensembles.boosting.adaboost_mh import AdaBoostMHClassifier
from committee.ensembles.boosting.adaboost_r2 import AdaBoostRegressor
from committee.ensembles.boosting.adaboost_star import AdaBoostStarClassifier
from committee.ensembles.boosting.brownboost import BrownBoostClassifier
from committee.ensembles.boosting.erlpboost import ERLPBoostClassifier
from committee.ensembles.boosting.first_boosting import FirstBoostingClassifier
from committee.ensembles.boosting.gentleboost import GentleBoostClassifier
from committee.ensembles.boosting.logitboost import LogitBoostClassifier
from committee.ensembles.boosting.lpboost import LPBoostClassifier
from committee.ensembles.boosting.madaboost import MadaBoostClassifier
from committee.ensembles.boosting.multiboost import MultiBoostClassifier
from committee.ensembles.boosting.real_adaboost import RealAdaBoostClassifier
from committee.ensembles.boosting.robustboost import RobustBoostClassifier
from committee.ensembles.boosting.smoothboost import SmoothBoostClassifier

__all__ = [
    "AbstainingAdaBoostClassifier",
    "AdaBoostClassifier",
    "AdaBoostMHClassifier",
    "AdaBoostRegressor",
    "AdaBoostStarClassifier",
    "BrownBoostClassifier",
    "ERLPBoostClassifier",
    "FirstBoostingClassifier",
    "GentleBoostClassifier",
    "LPBoostClassifier",
    "LogitBoostClassifier",
    "MadaBoostClassifier",
    "MultiBoostClassifier",
    "RealAdaBoostClassifier",
    "RobustBoostClassifier",
    "SmoothBoostClassifier",
]
