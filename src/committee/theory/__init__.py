"""What resampling and committees tell about learners: errors, bias, variance, diversity."""

from committee.theory.bias_variance import BiasVariance, bootstrap_bias_variance, decompose
from committee.theory.boosting_game import (
    GameSolution,
    boosting_payoff,
    max_edge,
    min_margin,
    solve_game,
)
from committee.theory.comparison import MemberComparison, compare_members
from committee.theory.diversity import Diversity, measure_diversity
from committee.theory.error_law import ErrorLaw, ambiguity, measure_error_law
from committee.theory.margin_theory import (
    MarginTerms,
    NormComparison,
    compare_norms,
    margin_bound,
    margin_limit,
    margin_terms,
)
from committee.theory.resampling_error import BootstrapError, bootstrap_error
from committee.theory.voting_theory import majority_error

__all__ = [
    "BiasVariance",
    "BootstrapError",
    "Diversity",
    "ErrorLaw",
    "GameSolution",
    "MarginTerms",
    "MemberComparison",
    "NormComparison",
    "ambiguity",
    "boosting_payoff",
    "bootstrap_bias_variance",
    "bootstrap_error",
    "compare_members",
    "compare_norms",
    "decompose",
    "majority_error",
    "margin_bound",
    "margin_limit",
    "margin_terms",
    "max_edge",
    "measure_diversity",
    "measure_error_law",
    "min_margin",
    "solve_game",
]
