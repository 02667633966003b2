"""Estimators whose members are engine trees, and other weak learners."""

from committee.learners.bernoulli_nb import BernoulliNB
from committee.learners.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from committee.learners.gradient_boosting import (
    GradientBoostingClassifier,
    GradientBoostingRanker,
    GradientBoostingRegressor,
)
from committee.learners.random_forest import RandomForestClassifier, RandomForestRegressor
from committee.learners.single_feature_nb import SingleFeatureNB
from committee.learners.stump import DecisionStump
from committee.learners.subset_neighbor import SubsetNeighborClassifier
from committee.learners.svg_drawing import export_svg
from committee.learners.text_drawing import export_text
from committee.learners.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = [
    "BernoulliNB",
    "DecisionStump",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRanker",
    "GradientBoostingRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "SingleFeatureNB",
    "SubsetNeighborClassifier",
    "export_svg",
    "export_text",
]
