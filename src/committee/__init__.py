"""Ensembles of models, scikit-learn compatible, on one fast tree engine."""

from committee.data import DataWarning, InputError, InputTypeError, ResourceError
from committee.datasets import load_heart, load_weather
from committee.learners import (
    DecisionStump,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    export_svg,
    export_text,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "DataWarning",
    "DecisionStump",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "InputError",
    "InputTypeError",
    "ResourceError",
    "export_svg",
    "export_text",
    "load_heart",
    "load_weather",
]
