"""What resampling and committees tell about learners: errors, bias, variance, diversity."""

from committee.theory.bias_variance import BiasVariance, bootstrap_bias_variance, decompose
from committee.theory.comparison import MemberComparison, compare_members
from committee.theory.diversity import Diversity, measure_diversity
from committee.theory.error_law import ErrorLaw, ambiguity, measure_error_law
from committee.theory.resampling_error import BootstrapError, bootstrap_error
from committee.theory.voting_theory import majority_error

__all__ = [
    "BiasVariance",
    "BootstrapError",
    "Diversity",
    "ErrorLaw",
    "MemberComparison",
    "ambiguity",
    "bootstrap_bias_variance",
    "bootstrap_error",
    "compare_members",
    "decompose",
    "majority_error",
    "measure_diversity",
    "measure_error_law",
]
