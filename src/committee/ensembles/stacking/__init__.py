"""Stacking: meta-models on what members say of rows they have not seen."""

from committee.ensembles.stacking.stacking import StackingClassifier, StackingRegressor

__all__ = ["StackingClassifier", "StackingRegressor"]
