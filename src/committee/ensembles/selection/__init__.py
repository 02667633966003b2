"""Ensemble selection: members chosen from a pool, and what each counts for."""

from committee.ensembles.selection.classifier import EnsembleSelectionClassifier
from committee.ensembles.selection.greedy import SelectionPath
from committee.ensembles.selection.regressor import EnsembleSelectionRegressor

__all__ = ["EnsembleSelectionClassifier", "EnsembleSelectionRegressor", "SelectionPath"]
