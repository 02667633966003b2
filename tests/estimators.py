"""The public estimators, and what tests need to know to treat them alike.

A new estimator joins the estimator checks, the table of bad inputs and the fault tests by being
listed in ESTIMATORS.
"""

import hashlib
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier

from committee import (
    AbstainingAdaBoostClassifier,
    AdaBoostClassifier,
    AdaBoostMHClassifier,
    AdaBoostRegressor,
    AdaBoostStarClassifier,
    BernoulliNB,
    BrownBoostClassifier,
    CascadeClassifier,
    CascadeRegressor,
    DecisionStump,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    DecorateClassifier,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
    ERLPBoostClassifier,
    FirstBoostingClassifier,
    GentleBoostClassifier,
    GradientBoostingClassifier,
    GradientBoostingRanker,
    GradientBoostingRegressor,
    LogitBoostClassifier,
    LPBoostClassifier,
    MadaBoostClassifier,
    MultiBoostClassifier,
    RealAdaBoostClassifier,
    RobustBoostClassifier,
    SingleFeatureNB,
    SmoothBoostClassifier,
    StackingClassifier,
    StackingRegressor,
    SubsetNeighborClassifier,
    VotingClassifier,
    VotingRegressor,
)
from committee._engine import Forest
from committee.active import ActiveDecorate, QueryByBagging, QueryByBoosting, QueryByCommittee
from committee.core.stages import Stages
from committee.ensembles.bagging import BaggingClassifier, BaggingRegressor
from committee.ensembles.bagging.rotation_forest import RotationForestClassifier
from committee.ensembles.boosting.cell_rules import CellRules
from committee.learners.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from committee.learners.random_forest import RandomForestClassifier, RandomForestRegressor

TREES: list[BaseEstimator] = [
    DecisionTreeClassifier(random_state=0),
    DecisionTreeRegressor(random_state=0),
    DecisionStump(),
]
# Four members: few, so that tests are fast, and their mean of equal numbers is exact.
FORESTS: list[BaseEstimator] = [
    RandomForestClassifier(4, random_state=0),
    RandomForestRegressor(4, random_state=0),
    ExtraTreesClassifier(4, random_state=0),
    ExtraTreesRegressor(4, random_state=0),
]
# As they are by default, but for the rounds.
GRADIENT_BOOSTERS: list[BaseEstimator] = [
    GradientBoostingClassifier(n_estimators=30, random_state=0),
    GradientBoostingRegressor(n_estimators=30, random_state=0),
]
# No classifier, no regressor, no weights: it has tests of its own beside scikit-learn's checks.
RANKER = GradientBoostingRanker("pairwise", n_estimators=30, random_state=0)
ESTIMATORS = [*TREES, *FORESTS, *GRADIENT_BOOSTERS]
# Over any learner, so that parameters of trees are nested; tests/ensembles runs the tables on them.
COMMITTEES: list[BaseEstimator] = [
    BaggingClassifier(None, 4, random_state=0),
    BaggingRegressor(None, 4, random_state=0),
    RotationForestClassifier(None, 4, random_state=0),
]
# Few trials; over C4.5's tree, which divides rows, and over one that keeps them whole.
DECORATED: list[BaseEstimator] = [
    DecorateClassifier(n_estimators=4, max_trials=8, random_state=0),
    DecorateClassifier(DecisionTreeClassifier(), 4, max_trials=8, random_state=0),
]
BOOSTERS: list[BaseEstimator] = [
    # Before its gap closes LPBoost may keep a single vote; ten rounds let it mix on easy rows.
    LPBoostClassifier(n_estimators=10, random_state=0),
    ERLPBoostClassifier(n_estimators=4, random_state=0),
    AdaBoostStarClassifier(n_estimators=4, random_state=0),
    AdaBoostMHClassifier(n_estimators=4, random_state=0),
    AbstainingAdaBoostClassifier(n_estimators=4, random_state=0),
    AdaBoostClassifier(n_estimators=4, random_state=0),
    AdaBoostRegressor(n_estimators=4, random_state=0),
    BrownBoostClassifier(n_estimators=4, random_state=0),
    FirstBoostingClassifier(random_state=0),
    GentleBoostClassifier(n_estimators=4, random_state=0),
    LogitBoostClassifier(n_estimators=4, random_state=0),
    MadaBoostClassifier(n_estimators=4, random_state=0),
    MultiBoostClassifier(n_estimators=16, random_state=0),  # four would not tell three classes
    RealAdaBoostClassifier(n_estimators=4, random_state=0),
    RobustBoostClassifier(n_estimators=4, random_state=0),
    SmoothBoostClassifier(n_estimators=10, random_state=0),
]
# Named members that differ.
TREE_CLASSIFIERS = [
    ("deep", DecisionTreeClassifier()),
    ("flat", DecisionTreeClassifier(max_depth=2)),
]
TREE_REGRESSORS = [("deep", DecisionTreeRegressor()), ("flat", DecisionTreeRegressor(max_depth=2))]
PANELS: list[BaseEstimator] = [
    VotingClassifier(TREE_CLASSIFIERS, voting="soft", random_state=0),
    VotingRegressor(TREE_REGRESSORS, random_state=0),
    EnsembleSelectionClassifier(TREE_CLASSIFIERS, cv=2, n_rounds=4, random_state=0),
    EnsembleSelectionRegressor(TREE_REGRESSORS, cv=2, n_rounds=4, random_state=0),
    StackingClassifier(TREE_CLASSIFIERS, "linear", cv=3, random_state=0),
    StackingRegressor(TREE_REGRESSORS, DecisionTreeRegressor(), cv=3, random_state=0),
    # The tree that remembers its rows comes last: otherwise the cascade would warn of it.
    # Trees remember the few rows of tables, which is warned of elsewhere.
    CascadeClassifier(TREE_CLASSIFIERS[::-1], check_leak=False, random_state=0),
    CascadeRegressor(TREE_REGRESSORS[::-1], check_leak=False, random_state=0),
    # Features beside answers, and labels alone.
    StackingClassifier(
        TREE_CLASSIFIERS, DecisionTreeClassifier(), cv=2, passthrough=True, random_state=0
    ),
    VotingClassifier(TREE_CLASSIFIERS, voting="hard", random_state=0),
]
WEAK_LEARNERS: list[BaseEstimator] = [
    BernoulliNB(),
    SingleFeatureNB(),
    SubsetNeighborClassifier(random_state=0),
]
# Committees that ask for labels; tests/active runs the tables on them.
ACTIVE: list[BaseEstimator] = [
    ActiveDecorate(n_estimators=3, max_trials=4, random_state=0),
    QueryByBagging(n_estimators=4, random_state=0),
    QueryByBoosting(n_estimators=4, random_state=0),
    QueryByCommittee(RandomForestClassifier(4), random_state=0),
]
# What one tree learns these know to the last bit: a boosted tree is shrunken.
EXACT = [*TREES, *FORESTS]
SEE_ALL_ROWS = [e for e in EXACT if not getattr(e, "bootstrap", False)]

FOREST_ARRAYS = (
    "tree_begin",
    "threshold",
    "feature",
    "left",
    "values",
    "set_begin",
    "set_words",
    "gain",
    "impurity",
    "weight",
    "count",
)


def name_of(estimator: BaseEstimator) -> str:
    return type(estimator).__name__


def forest_of(model: Any) -> Any:
    """Return the native forest of a fitted model."""
    if hasattr(model, "labelled_"):
        return forest_of(model.estimator_)
    if hasattr(model, "committee_") and not hasattr(model, "forest_"):
        members = model.committee_.members
        if isinstance(members, Stages):
            return Forest.concatenate(members.forests)
        return members.forest
    return model.forest_ if hasattr(model, "forest_") else model.tree_.forest


def only_leaves(model: Any) -> bool:
    """Tell whether every tree of a fitted model is a single leaf."""
    forest = forest_of(model)
    return bool(forest.n_nodes == forest.n_trees)


def forest_bits(forest: Any, without: tuple[str, ...] = ()) -> str:
    """Hash all arrays of a forest, so that one flipped bit shows."""
    digest = hashlib.sha256()
    for name in FOREST_ARRAYS:
        if name not in without:
            array = np.ascontiguousarray(getattr(forest, name))
            digest.update(f"{name} {array.dtype} {array.shape}".encode())
            digest.update(array.tobytes())
    return digest.hexdigest()


def model_bits(model: Any, without: tuple[str, ...] = ()) -> str:
    if hasattr(model, "named_estimators_"):
        return "".join(model_bits(member, without) for member in model.estimators_)
    members = model.committee_.members if hasattr(model, "committee_") else None
    if isinstance(members, CellRules):
        rules = (members.features, members.cuts, members.values, model.estimator_weights_)
        return hashlib.sha256(b"".join(array.tobytes() for array in rules)).hexdigest()
    return forest_bits(forest_of(model), without)


def rows_for(estimator: BaseEstimator, n: int = 40, p: int = 3, seed: int = 0) -> tuple[Any, Any]:
    """Make rows with a target that suits the estimator: two classes, or numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    score = X[:, 0] + X[:, -1] ** 2 + 0.1 * rng.normal(size=n)
    if is_classifier(estimator):
        return X, (score > np.median(score)).astype(np.int64)
    return X, score


def outputs_of(model: Any, X: Any) -> Any:
    """Return the most detailed prediction there is."""
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def fitted(estimator: BaseEstimator, *data: Any, **params: Any) -> Any:
    """Fit a fresh copy; parameters the estimator does not have are an error."""
    X, y, *rest = data or rows_for(estimator)
    return clone(estimator).set_params(**params).fit(X, y, *rest)
