"""Cascade generalisation: each level sees the features and what all earlier levels said."""

from committee.ensembles.cascade.cascade import CascadeClassifier, CascadeRegressor

__all__ = ["CascadeClassifier", "CascadeRegressor"]
