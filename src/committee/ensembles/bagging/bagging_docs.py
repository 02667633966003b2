"""The descriptions that the bagging classifier and regressor share, each written once."""

from __future__ import annotations

from committee.core.parameter_docs import documented_with

SECTIONS = {
    "members": """\
estimator : estimator or None, default=None
    What is copied for each member, any scikit-learn estimator; None is a decision tree of this
    library. Such trees are grown, asked and stored by the engine.
n_estimators : int, default=10
    The number of members.""",
    "bags": """\
{max_samples}
max_features : int, float, "sqrt", "log2" or "breiman", default=1.0
    How many features each member sees: an int a number, a float a share.
bootstrap : bool, default=True
    Whether rows are drawn anew for each member. Without, all members see all rows, or with
    ``max_samples`` that many of them, drawn without replacement (pasting).
bootstrap_features : bool, default=False
    Whether features are drawn with replacement. Members are then given arrays, not frames.
oob_score : bool or callable, default=False
    Whether to score the committee on the rows that members left out, by accuracy or R², or by a
    callable of true and predicted targets.
{resampling}""",
    "rest": """\
feature_map : None, "subspace", "gaussian", "sparse" or transformer, default=None
    In which representation a member sees the rows. None: the features, or ``max_features`` of
    them. "subspace": half of them (Ho), unless ``max_features`` says otherwise. "gaussian" and
    "sparse": a random projection of the features, scaled by their spread in the bag, with missing
    values at the mean; "sparse" is Achlioptas' and keeps sparse rows sparse. A transformer is
    copied, seeded and fitted for each member on its bag.
n_components : int or None, default=None
    Dimensions of a projection; None is half the number of features.
warm_start : bool, default=False
    Whether ``fit`` adds members to those of the last one, on the same rows. The committee is the
    same as if all had been fitted at once.
n_jobs : int or None, default=None
    Jobs of joblib, or threads of the engine for trees of this library.
    {job_count}
{random_state}
verbose : int, default=0
    Above 0, the number of members is printed as they are made.""",
    "attributes": """\
estimator_ : estimator
    What was copied.
estimators_ : sequence of estimators
    The members; trees of the engine are made when they are asked for.
estimators_samples_ : sequence of ndarray
    The rows of each member's bag, as often as they were drawn.
estimators_features_ : list of ndarray
    The features each member sees.
feature_maps_ : list
    The map through which each member sees rows, None where it sees them as they are.
committee_ : Committee
    Members with weight 1; ``decision`` is their sum.
left_out_ : LeftOut
    The rows that each member left out, where bags leave any.
bag_plan_ : BagPlan
    How the bags are drawn: hashes of the rows and the seed, no rows.
forest_, importances_, feature_importances_
    Where the members are trees of this library: the trees, and what each feature brought.
oob_score_ : float
    With ``oob_score``: the score on rows that members left out.
n_features_in_, feature_names_in_, n_outputs_
    As in scikit-learn.""",
}

bagging_documented = documented_with(SECTIONS)
