"""The descriptions that the stacking classifier and regressor share, each written once."""

from __future__ import annotations

from committee.core.parameter_docs import documented_with
from committee.ensembles.levels.levels_docs import SECTIONS as LEVELS

SECTIONS = {
    "members": """\
estimators : list of (str, estimator), or None
    The members by name; "drop" in the place of one leaves it out. Parameters of members are set by
    ``set_params(name=other, name__parameter=value)``. None where ``levels`` are given.""",
    "cv": """\
cv : int, splitter, iterable of (train, test), "prefit" or None, default=None
    {folds}
    Splits need not cover all rows (``TimeSeriesSplit``): rows without an honest answer are not used
    for the meta-model, and counted in ``n_unanswered_``. Of several answers for a row (repeats) the
    mean is taken. Several levels need more folds than levels. "prefit": the members are fitted
    already, and ``fit`` must be given rows they have not seen.""",
    "rest": """\
{n_jobs}
passthrough : bool, default=False
    Whether the features stand behind the answers in what the meta-model, and every level above the
    first, sees. Frames stay frames, sparse rows sparse. Where y has one class nothing is appended.
{verbose}
levels : list of lists of (str, estimator), or None, default=None
    Several levels, the first of which sees the features, the next its answers, and so on. A model
    learns from answers about rows of its own part of the rows by models of smaller parts, so that
    none, at any depth, has seen a row it is asked about. K folds and L levels take
    C(K, 0) + .. + C(K, L) models of each member of the first level.""",
    "seeds": """\
{random_state}
    The meta-model is seeded likewise, as if it stood behind the last member.""",
    "attributes": """\
{level_attributes}
final_estimator_ : estimator
    The meta-model.
levels_ : list of list of estimators
    The members by level, fitted on all rows.
oof_ : ndarray of shape (n_samples, n_columns)
    What the meta-model learned from, without the features that ``passthrough`` adds: answers about
    each row by models that have not seen it, NaN in rows without one.
level_oof_ : list of ndarray
    The honest answers of each level, with the columns of all classes.
n_unanswered_ : int
    Rows without an honest answer.""",
}

stacking_documented = documented_with(SECTIONS, LEVELS)
