"""The descriptions that boosters share, each written once."""

from __future__ import annotations

from committee.core.parameter_docs import documented_with

STOPPING = """\
early_stopping : bool, default=False
    Whether to hold rows out, to stop when the error on them has not fallen for
    ``n_iter_no_change`` rounds, and to go back to the round of the smallest error. Rows given to
    ``fit`` as ``X_val`` and ``y_val`` are used in any case.
validation_fraction : float, default=0.1
    The share of rows held out.
n_iter_no_change : int, default=10
    Rounds without improvement before stopping early.
warm_start : bool, default=False
    Whether ``fit`` adds rounds to those of the last one, on the same rows. The committee is the
    same as if all had been made at once.
{n_jobs}
{random_state}
verbose : int, default=0
    Above 0, the rounds are counted in print."""

SECTIONS = {
    "members": """\
estimator : estimator or None, default=None
    The weak learner, any scikit-learn classifier; None is a :class:`DecisionStump` with 255 bins.
    Trees of this library are grown, asked and stored by the engine.
n_estimators : int, default=50
    The most rounds.""",
    "numbers": """\
estimator : estimator or None, default=None
    The weak learner, any scikit-learn regressor; None is a :class:`DecisionTreeRegressor` of
    depth 1. Trees of this library are grown, asked and stored by the engine.
n_estimators : int, default=50
    The most rounds.""",
    "rest": """\
resample : bool or "auto", default="auto"
    Whether the weak learner is given a sample of the rows drawn by their weights instead of the
    weights; "auto" does so where its ``fit`` takes no ``sample_weight``. Members are judged on all
    rows, with their weights, all the same.
"""
    + STOPPING,
    "stopping": STOPPING,
    "attributes": """\
classes_ : ndarray
    The class labels.
committee_ : Committee
    The members and their weights.
estimators_ : sequence of estimators
    The members; trees of the engine are made when they are asked for.
estimator_weights_ : ndarray
    The members' weights, alpha; scikit-learn and WEKA print twice that.
estimator_errors_ : ndarray
    The members' weighted errors, each in its round.
rounds_ : dict of ndarray
    All numbers of the rounds by name.
stop_reason_ : str
    Why there are no more rounds.
feature_importances_ : ndarray
    Where the members are trees of this library.
validation_losses_ : ndarray
    With early stopping: the error on held-out rows after each round.
train_margins_ : ndarray
    The margins of the training rows.
n_features_in_, feature_names_in_, n_classes_, estimator_, schema_
    As in scikit-learn and in :class:`DecisionTreeClassifier`.""",
}

boosting_documented = documented_with(SECTIONS)
