"""Ensembles of models, scikit-learn compatible, on one fast tree engine."""

from committee.core.committee import Committee
from committee.core.sizing import AutoSize
from committee.data import DataWarning, InputError, InputTypeError, ResourceError
from committee.datasets import load_heart, load_weather
from committee.ensembles import BaggingClassifier, BaggingRegressor, RotationForestClassifier
from committee.learners import (
    DecisionStump,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    export_svg,
    export_text,
)
from committee.theory import (
    BiasVariance,
    BootstrapError,
    Diversity,
    ErrorLaw,
    MemberComparison,
    ambiguity,
    bootstrap_bias_variance,
    bootstrap_error,
    compare_members,
    decompose,
    majority_error,
    measure_diversity,
    measure_error_law,
)
from committee.theory.displays import BiasVarianceDisplay, ImportanceDisplay, OutOfBagCurveDisplay

__version__ = "0.1.0.dev0"

__all__ = [
    "AutoSize",
    "BaggingClassifier",
    "BaggingRegressor",
    "BiasVariance",
    "BiasVarianceDisplay",
    "BootstrapError",
    "Committee",
    "DataWarning",
    "DecisionStump",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "Diversity",
    "ErrorLaw",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "ImportanceDisplay",
    "InputError",
    "InputTypeError",
    "MemberComparison",
    "OutOfBagCurveDisplay",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "ResourceError",
    "RotationForestClassifier",
    "ambiguity",
    "bootstrap_bias_variance",
    "bootstrap_error",
    "compare_members",
    "decompose",
    "export_svg",
    "export_text",
    "load_heart",
    "load_weather",
    "majority_error",
    "measure_diversity",
    "measure_error_law",
]
