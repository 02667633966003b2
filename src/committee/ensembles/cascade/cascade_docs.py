"""The descriptions that the cascade classifier and regressor share, each written once."""

from __future__ import annotations

from committee.core.parameter_docs import documented_with
from committee.ensembles.levels.levels_docs import SECTIONS as LEVELS

SECTIONS = {
    "members": """\
estimators : list of (str, estimator)
    The levels, in order; "drop" in the place of one leaves it out. The last one predicts.""",
    "cv": """\
cv : int, splitter, iterable of (train, test) or None, default=None
    None: a level is shown what earlier ones say of the rows they were fitted on, as in the paper.
    Otherwise how rows are divided, as in scikit-learn, so that a level learns from answers about
    rows that were held out, at every depth. That is for levels that remember their rows; others say
    the same of them in sample, and are better shown so. It takes more folds than levels, and for K
    folds and L levels C(K, 0) + .. + C(K, L) models of the first.""",
    "rest": """\
check_leak : bool, default=True
    Whether to warn, with ``cv=None``, of a level that shows the next ones the labels of its
    training rows, such as 1-NN. A copy of each learner but the last is fitted on four fifths of 20
    to 1,000 rows, on other fifths in turn until 200 rows or all were held out; it leaks where its
    error on these is below a quarter (for numbers: the absolute error below half) of that on the
    rest, and the difference above three standard errors.
{n_jobs}
    In sample a level waits for the one before.
{verbose}
{random_state}""",
    "attributes": """\
{level_attributes}
widths_ : list of int
    Columns that each level sees: the features, and what earlier levels said; with ``cv=None`` but
    for constant columns, such as that of a class a level has never seen.
level_oof_ : list of ndarray
    With ``cv``: the honest answers of each level, NaN in rows without one.
oof_scores_ : ndarray of shape (n_levels,)
    With ``cv``: accuracy or R² of the honest answers of each level.""",
}

cascade_documented = documented_with(SECTIONS, LEVELS)
