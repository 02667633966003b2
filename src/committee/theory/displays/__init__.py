"""Pictures of what committees tell, with scikit-learn's display interface; they need matplotlib."""

from committee.theory.displays.bias_variance import BiasVarianceDisplay
from committee.theory.displays.boosting_curve import BoostingCurveDisplay
from committee.theory.displays.cascade_gain import CascadeGainDisplay
from committee.theory.displays.decision_regions import DecisionRegionsDisplay
from committee.theory.displays.importance import ImportanceDisplay
from committee.theory.displays.kappa_error import KappaErrorDisplay
from committee.theory.displays.margin_distribution import MarginDistributionDisplay
from committee.theory.displays.member_correlation import MemberCorrelationDisplay
from committee.theory.displays.member_weights import MemberWeightsDisplay
from committee.theory.displays.meta_weights import MetaWeightsDisplay
from committee.theory.displays.out_of_bag import OutOfBagCurveDisplay
from committee.theory.displays.query_curve import QueryCurveDisplay
from committee.theory.displays.weight_share import WeightShareDisplay

__all__ = [
    "BiasVarianceDisplay",
    "BoostingCurveDisplay",
    "CascadeGainDisplay",
    "DecisionRegionsDisplay",
    "ImportanceDisplay",
    "KappaErrorDisplay",
    "MarginDistributionDisplay",
    "MemberCorrelationDisplay",
    "MemberWeightsDisplay",
    "MetaWeightsDisplay",
    "OutOfBagCurveDisplay",
    "QueryCurveDisplay",
    "WeightShareDisplay",
]
