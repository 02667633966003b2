"""Voting over different learners."""

from committee.ensembles.voting.classifier import VotingClassifier
from committee.ensembles.voting.regressor import VotingRegressor

__all__ = ["VotingClassifier", "VotingRegressor"]
