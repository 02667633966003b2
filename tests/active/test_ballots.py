"""Any fitted committee is asked: what it says is what its members say one by one."""

import numpy as np
import pytest
import sklearn.ensemble
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier as SklearnTree
from tests.active import naive

from committee import (
    AbstainingAdaBoostClassifier,
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    DecorateClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    SmoothBoostClassifier,
)
from committee.active import ballots
from committee.active.ballots import ballots_of, committee_disagreement
from committee.active.disagreement import MEASURES
from committee.data import InputError

LABELS = np.array(["ant", "bee", "cat"])


def rows(n_classes, n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = (n_classes * rng.random(n) * 0.6 + X[:, 0] + 2).astype(int).clip(1, n_classes) - 1
    return X, LABELS[y]


def said_by(model, X):
    """Ask the members one by one, without any of the code under test."""
    classes = model.classes_.tolist()
    found = []
    for member in model.estimators_:
        shares = np.zeros((len(X), len(classes)))
        known = [c if c in classes else classes[int(c)] for c in member.classes_.tolist()]
        shares[:, [classes.index(c) for c in known]] = member.predict_proba(X)
        found.append(shares)
    return np.array(found)


COMMITTEES = {
    "forest": RandomForestClassifier(9, random_state=0),
    "extra trees": ExtraTreesClassifier(8, max_depth=3, random_state=0),
    "bagging": BaggingClassifier(DecisionTreeClassifier(max_depth=2), 7, random_state=0),
    "bagging of others": BaggingClassifier(GaussianNB(), 5, random_state=0),
    "decorate": DecorateClassifier(n_estimators=4, random_state=0),
    "sklearn forest": sklearn.ensemble.RandomForestClassifier(6, random_state=0),
    "sklearn voting": sklearn.ensemble.VotingClassifier(
        [("a", GaussianNB()), ("b", LogisticRegression()), ("c", "drop")]
    ),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", COMMITTEES)
def test_any_committee_is_asked(name, n_classes):
    X, y = rows(n_classes)
    model = clone(COMMITTEES[name]).fit(X, y)
    pool = rows(n_classes, 40, seed=1)[0]
    outputs = said_by(model, pool)
    for measure in MEASURES:
        found = committee_disagreement(model, pool, measure)
        np.testing.assert_allclose(found, naive.measure(measure, outputs), atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_booster_votes_by_alpha(n_classes):
    X, y = rows(n_classes)
    model = AdaBoostClassifier(n_estimators=9).fit(X, y)
    pool = rows(n_classes, 60, seed=1)[0]
    votes = np.array(
        [(member.predict(pool)[:, None] == model.classes_) * 1.0 for member in model.estimators_]
    )
    for measure in MEASURES:
        expected = naive.measure(measure, votes, model.estimator_weights_)
        found = committee_disagreement(model, pool, measure)
        np.testing.assert_allclose(found, expected, atol=1e-12)
    if n_classes == 2:  # what Abe and Mamitsuka minimise
        decision = np.abs(model.decision_function(pool)) / model.estimator_weights_.sum()
        found = committee_disagreement(model, pool, "weighted_vote_margin")
        np.testing.assert_allclose(found, decision, atol=1e-12)


def test_boosters_over_any_learner_and_of_scikit_learn():
    X, y = rows(2)
    ours = AdaBoostClassifier(SklearnTree(max_depth=1), n_estimators=5).fit(X, y)
    decision = np.abs(ours.decision_function(X)) / ours.estimator_weights_.sum()
    found = committee_disagreement(ours, X, "weighted_vote_margin")
    np.testing.assert_allclose(found, decision, atol=1e-12)
    theirs = sklearn.ensemble.AdaBoostClassifier(n_estimators=5).fit(X, y)
    votes = np.array([(m.predict(X)[:, None] == theirs.classes_) * 1.0 for m in theirs.estimators_])
    found = committee_disagreement(theirs, X, "weighted_vote_margin")
    weights = theirs.estimator_weights_[: len(votes)]
    np.testing.assert_allclose(found, naive.measure("weighted_vote_margin", votes, weights))


def test_members_that_abstain_have_no_vote():
    X, y = rows(2)
    model = AbstainingAdaBoostClassifier(n_estimators=6, random_state=0).fit(X, y)
    signs = np.sign(model.committee_.outputs(X)[..., 0])
    expected = np.abs(signs.sum(axis=0)) / len(signs)
    np.testing.assert_allclose(committee_disagreement(model, X, "vote_margin"), expected)


def test_members_that_see_some_features():
    X, y = rows(2)
    bags = sklearn.ensemble.BaggingClassifier(GaussianNB(), 5, max_features=2, random_state=0)
    model = bags.fit(X, y)
    outputs = np.array(
        [
            member.predict_proba(X[:, seen])
            for member, seen in zip(model.estimators_, model.estimators_features_, strict=True)
        ]
    )
    found = committee_disagreement(model, X, "kl_to_mean")
    np.testing.assert_allclose(found, naive.measure("kl_to_mean", outputs), atol=1e-12)


def test_a_list_of_different_minds():
    X, y = rows(3)
    two = y != "cat"
    members = [
        GaussianNB().fit(X, y),
        SklearnTree(max_depth=2).fit(X[two], y[two]),  # has not seen every class
        SVC().fit(X, y),  # has no probabilities: it votes
    ]
    outputs = [np.zeros((len(X), 3)) for _ in members]
    outputs[0] = members[0].predict_proba(X)
    outputs[1][:, :2] = members[1].predict_proba(X)
    outputs[2] = (members[2].predict(X)[:, None] == LABELS) * 1.0
    for measure in MEASURES:
        found = committee_disagreement(members, X, measure)
        np.testing.assert_allclose(found, naive.measure(measure, outputs), atol=1e-12)


def test_blocks_of_rows_and_threads_change_nothing(monkeypatch):
    X, y = rows(3)
    for name in ("forest", "bagging of others", "decorate"):
        model = clone(COMMITTEES[name]).fit(X, y)
        for measure in MEASURES:
            whole = committee_disagreement(model, X, measure)
            monkeypatch.setattr(ballots, "BLOCK_ROWS", 50)
            np.testing.assert_array_equal(committee_disagreement(model, X, measure), whole)
            found = committee_disagreement(model, X, measure, n_jobs=2)
            np.testing.assert_array_equal(found, whole)
            monkeypatch.undo()


def test_sparse_rows():
    X, y = rows(2)
    X[X < 0] = 0
    model = RandomForestClassifier(5, random_state=0).fit(sparse.csr_matrix(X), y)
    found = committee_disagreement(model, sparse.csr_matrix(X))
    np.testing.assert_array_equal(found, committee_disagreement(model, X))


def test_a_million_opinions_are_never_held(monkeypatch):
    """Trees are added up by the engine: nobody asks for what single trees say."""
    X, y = rows(2)
    model = RandomForestClassifier(30, random_state=0).fit(X, y)
    asked = ballots_of(model)
    assert isinstance(asked, ballots.TreeBallots)
    monkeypatch.setattr(type(asked.trees), "each", None)
    monkeypatch.setattr(type(asked.trees), "outputs", None)
    for measure in MEASURES.values():
        asked.tally(X, measure)


def test_what_has_no_opinions_is_refused():
    X, y = rows(3)
    booster = GradientBoostingClassifier(n_estimators=3).fit(X, y)
    with pytest.raises(InputError, match=r"Q-OPINIONS.*GradientBoostingClassifier add to a score"):
        ballots_of(booster)
    with pytest.raises(InputError, match=r"SmoothBoostClassifier has a committee for each class"):
        ballots_of(SmoothBoostClassifier(n_estimators=3).fit(X, y))
    with pytest.raises(InputError, match=r"GaussianNB has no members"):
        ballots_of(GaussianNB().fit(X, y))
    with pytest.raises(InputError, match=r"no classifier"):
        ballots_of(RandomForestRegressor(2).fit(X, X[:, 0]))
    with pytest.raises(InputError, match=r"Q-OPINIONS.*GradientBoostingClassifier has no"):
        ballots_of(sklearn.ensemble.GradientBoostingClassifier(n_estimators=2).fit(X, y))
    with pytest.raises(InputError, match=r"member 1 is str"):
        ballots_of([GaussianNB().fit(X, y), "tree"])
    with pytest.raises(InputError, match=r"at least 2 members"):
        ballots_of([])


def test_b73_fitted_committee_of_one():
    X, y = rows(2)
    with pytest.raises(InputError, match=r"at least 2 members"):
        committee_disagreement(RandomForestClassifier(1).fit(X, y), X)
    with pytest.raises(InputError, match=r"at least 2 members"):
        committee_disagreement([GaussianNB().fit(X, y)], X)
