"""The descriptions that the gradient boosters share, each written once."""

from __future__ import annotations

from committee.core.parameter_docs import documented_with

SECTIONS = {
    "boosting": """\
n_estimators : int, default=300
    The most rounds; each makes a tree, or one for each class of more than two.
learning_rate : float, default=0.05
    What a tree counts. Smaller ones need more rounds and usually err less.
max_leaf_nodes : int or None, default=31
    The most leaves of a tree.
max_depth : int or None, default=None
    The most splits between the root and a leaf.
min_samples_leaf : int, default=1
    Rows that each leaf holds at least, whatever they weigh; symmetric trees tell rows by their
    share of the hessian, see ``growth``. Rows that add neither gradient nor hessian to a round,
    as those of a query whose relevances are equal, are not counted.
l1_regularization : float, default=0
    By so much the gradient G of a leaf is drawn towards 0, though not past it, in its value and
    in all gains (alpha in XGBoost).
l2_regularization : float, default=3
    Added to the hessian of a leaf: its value is -G / (H + l2) (lambda in XGBoost). Hessians are
    sums of weights, so weights far from 1 ask for another penalty. Scores that are log-odds or
    logarithms of means move by at most 4 a round, whatever the penalty (``longest_step`` of the
    loss).
min_child_weight : float, default=0
    Hessian that each leaf holds at least.
min_split_gain : float, default=0
    A split must gain more, in units of GL^2 / (HL + l2) + GR^2 / (HR + l2) - G^2 / (H + l2)
    (gamma in XGBoost).
retire_features : bool, default=False
    Whether a feature none of whose splits gains in a node is not tried again below it, as in
    LightGBM; else all are tried everywhere, as in XGBoost. Trees then have fewer leaves where rows
    are few. Symmetric trees try all.
subsample : float, default=1
    The share of the rows that a round sees, each drawn by itself.
sampling_method : {"uniform", "gradient_based"}, default="uniform"
    Whether all rows are drawn alike, or those with large gradients more often; what is drawn then
    counts by one over its chance (minimal variance sampling, Ibragimov and Gusev 2019). A row's
    chance goes by the root of the sum over outputs of g^2 + (sum |g| / sum h)^2 h^2.
max_features : int, float, "sqrt", "log2" or None, default=0.5
    Features that each split looks at, drawn anew for each; None is all. A share is one of the
    features that ``colsample_bytree`` and ``colsample_bylevel`` leave.
colsample_bytree, colsample_bylevel : float, default=1
    The share of the features that a tree may use, and, of these, each level of it; rounded down,
    but at least one.
growth : {"leaf", "level", "symmetric"}, default="leaf"
    Whether the split of the largest gain comes first, or level after level. "symmetric" splits all
    nodes of a level alike, where the sum of their gains is largest, and above ``min_split_gain``
    (oblivious trees, Kohavi and Li 1995, as in CatBoost): d levels make 2^d leaves.
    ``max_leaf_nodes`` then bounds d by its logarithm, 4 for 31 leaves; with neither bound d is 6;
    16 is the most. Nodes with too little on either side of a split gain nothing by it; a leaf too
    small for ``min_samples_leaf`` or ``min_child_weight``, or empty, has the value of the nearest
    node above that is not. Monotonic constraints are refused.
linear_leaves : bool, default=False
    Whether each leaf holds a linear model of the numeric features on its path (Shi et al. 2019).
    Beyond the range of a leaf's training rows it goes on with the value at the end of it; a row
    that misses one of the leaf's features gets the constant of a plain leaf. For losses with a
    second derivative; there are no Shapley values.
linear_l2 : float, default=0
    Of linear leaves: penalty on their slopes, added to the hessian of each.
n_parallel_trees : int, default=1
    Trees of a round (and output), made of the same gradients, whose mean counts. Each draws rows
    and features of its own: one round of ``learning_rate=1`` is a random forest.
drop_rate : float, default=0
    Share of the earlier rounds that a new one leaves out of the scores (DART, Rashmi and
    Gilad-Bachrach 2015); 0 is plain boosting. With k left out the new round weighs
    eta / (k + eta), where eta is ``learning_rate``, and theirs are multiplied by k / (k + eta). So
    weights change until the end: staged predictions take rounds by their last ones. Scores are
    summed anew for it, from a byte for each row and tree. Not with ``linear_leaves``.
skip_drop : float, default=0.5
    Of DART: the chance that a round leaves none out.
{max_bins}
{categorical_features}
categorical_encoding : {"native", "ordered_target"}, default="native"
    Whether splits part the levels of a category, or the mean target of a row's level among the
    rows before it, in a random order, stands for it, so that no row sees its own target
    (Prokhorenkova et al. 2018). There is one order for the whole fit, and a number for each class
    of more than two. New rows see all training rows of their level, unseen levels the mean.
{monotonic_cst}
{interaction_cst}""",
    "outputs": """\
multi_strategy : {"one_output_per_tree", "multi_output_tree"}, default="one_output_per_tree"
    With several outputs (classes, columns of y, quantiles): whether each has trees of its own, or
    all share trees whose leaves hold a number for each. A shared tree gains the sum over outputs,
    ``min_child_weight`` is for their mean hessian, and none of them counts with a smaller hessian
    than that, or than 1 times the mean weight of rows, lest one unlikely row throw its score far
    away. Shared trees take no monotonic constraints, and need more leaves to say as much.""",
    "rest": """\
early_stopping : bool, "auto", "oob" or None, default=None
    Whether to stop when the loss on held-out rows has not become smaller for
    ``n_iter_no_change`` rounds; the model then is that of the best round. None does so where
    ``fit`` is given ``X_val``; "auto" also from 10,000 rows on, as scikit-learn. "oob" needs
    ``subsample < 1`` and sums, round by round, how much the loss changes on the rows that the
    round did not see; no row is held out. It tends to stop somewhat early.
validation_fraction : int or float, default=0.1
    Rows that are held out, as a number or a share, where ``fit`` is given none.
n_iter_no_change : int, default=10
    Rounds without a better loss.
tol : float, default=1e-7
    By how much a loss must be smaller to be better.
warm_start : bool, default=False
    Whether ``fit`` adds rounds to those of the last one. On the same rows the model is the same
    as if all had been made at once.
max_time : float or None, default=None
    Seconds after which no new round is begun.
{random_state}
verbose : int, default=0
    Above 0, rounds are printed as they are made. Callbacks of scikit-learn (``set_callbacks``, from
    1.9 on) are shown each round with the model so far, its loss to stop by in ``context.facts``;
    one that returns True ends the fit.
{n_jobs}""",
    "attributes": """\
committee_ : Committee
    The rounds, what they weigh, and the score that boosting starts from.
loss_ : Loss
    What was minimised.
n_estimators_ : int
    Rounds of the model.
has_base_margin_ : bool
    Whether the rows brought scores along; then the committee starts from 0, and what it says is to
    be added to the ``base_margin`` that prediction is given.
held_out_loss_ : ndarray
    With early stopping, of the last fit: the mean loss on held-out rows, before its first round and
    after each.
validation_split_ : int, float or None
    How many of the training rows the last fit held out to stop by, as a number or a share.
oob_improvement_, oob_scores_ : ndarray
    With early stopping "oob", of each round of the last fit: by how much the mean loss on the rows
    that the round did not see fell, and what it then was.
feature_importances_ : ndarray of shape (n_features,)
    Share of the gain that the splits on each feature brought.
schema_ : Schema
    Feature names and levels that prediction holds new data against.
n_features_in_, feature_names_in_
    As in scikit-learn.""",
}

boosting_documented = documented_with(SECTIONS)
