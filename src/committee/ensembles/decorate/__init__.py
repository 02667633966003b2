"""DECORATE: committees made diverse by artificial rows."""

from committee.ensembles.decorate.decorate import DecorateClassifier

__all__ = ["DecorateClassifier"]
