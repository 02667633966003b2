"""The descriptions that stacks and cascades share, each written once."""

from __future__ import annotations

from committee.ensembles.panel.panel_docs import SECTIONS as PANEL

SECTIONS = {
    **PANEL,
    "level_attributes": """\
{panel_attributes}
stack_method_ : list of str
    What each member is asked for.
n_outputs_ : int
    Columns of y.
record_ : StackRecord
    Where ``cv`` divides the rows: who saw what, by the splits, a bitmap of the rows that each part
    leaves out, and the models.""",
}
