"""The descriptions that the voting classifier and regressor share, each written once."""

from __future__ import annotations

from committee.core.parameter_docs import documented_with
from committee.ensembles.panel.panel_docs import SECTIONS as PANEL

SECTIONS = {
    "weights": """\
weights : array-like of shape (n_estimators,) or None, default=None
    What members count for, not negative; one of weight k counts like k members.""",
    "trim": """\
trim : float, default=0.1
    For "trimmed_mean": the share of the weight that is cut on either side, below 0.5.""",
    "voting_attributes": """\
committee_ : Committee
    The members with their weights.
{panel_attributes}""",
}

voting_documented = documented_with(SECTIONS, PANEL)
