"""The descriptions that both forms of ensemble selection share, each written once."""

from __future__ import annotations

from committee.core.parameter_docs import documented_with
from committee.ensembles.panel.panel_docs import SECTIONS as PANEL

SECTIONS = {
    "selection_parameters": """\
cv : int, splitter, iterable of (train, test) or None, default=None
    {folds}
    Rows that are never held out have no part in the selection.
n_rounds : int, default=50
    How many members are added, one after the other. A member may be added again.
n_init : int or "auto", default="auto"
    With how many of the best members to begin: a number, 1 for the plain greedy climb, or
    that with the best mean.
n_bags : int, default=1
    Climbs, each in its own random part of the pool, whose ensembles are averaged. One climb sees
    the whole pool. The paper takes 20, for pools of hundreds; in a pool of a few members a part
    without the good ones gives weight to bad ones.
bag_size : float, default=0.5
    With several bags, the share of the pool that each sees.
{panel_parameters}
prefit : bool, default=False
    Whether the members are fitted already, on other rows: then the rows given to ``fit`` are
    the held-out ones.""",
    "selection_attributes": """\
pool_ : tuple of str
    The names of all members.
weights_ : ndarray of shape (n_pool,)
    What each counts for; the sum is 1.
scores_ : ndarray of shape (n_pool,)
    The score of each alone, on the held-out rows.
best_single_ : str
    The member with the best score, which one would have selected instead.
best_single_score_, score_ : float
    Its score and that of the ensemble, on the same held-out rows. Both were chosen by these
    rows, which flatters both, the ensemble more.
paths_ : list of SelectionPath
    For each bag the members added, and the scores on the way.
oof_ : ndarray of shape (n_pool, n_samples, n_outputs)
    What members say of rows they were not fitted on; NaN for rows that were never held out.
committee_ : Committee
    The chosen members with their weights.
{panel_attributes}""",
}

selection_documented = documented_with(SECTIONS, PANEL)
