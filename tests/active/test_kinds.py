"""Which ensembles have members to ask: those that judge all classes by the columns of X."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.naive_bayes import GaussianNB
from tests.active import naive

from committee import (
    CascadeClassifier,
    DecisionTreeClassifier,
    EnsembleSelectionClassifier,
    StackingClassifier,
    VotingClassifier,
)
from committee.active import QueryByCommittee
from committee.active.ballots import ballots_of, committee_disagreement
from committee.data import InputError

TWO = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2))]
MEASURED = ("vote_entropy", "kl_to_mean")


def rows(labels=(0, 1, 2), n=90):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    code = (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int) + (X[:, 1] > 0.5)
    return X, np.array(labels)[code]


def assert_asks(model, members, X):
    said = np.array([member.predict_proba(X) for member in members])
    for measure in MEASURED:
        found = committee_disagreement(model, X, measure)
        np.testing.assert_allclose(found, naive.measure(measure, said), atol=1e-12)


STRANGE = {
    "one vs rest": OneVsRestClassifier(LogisticRegression()),
    "one vs one": OneVsOneClassifier(LogisticRegression()),
    "codes": OutputCodeClassifier(LogisticRegression(), random_state=0),
    "cascade": CascadeClassifier(TWO, check_leak=False),
    "alone": GaussianNB(),
}


@pytest.mark.parametrize("name", STRANGE)
def test_members_of_some_classes_or_of_wider_rows_are_refused(name):
    X, y = rows()  # integer labels, which binary members seem to know
    model = clone(STRANGE[name]).fit(X, y)
    said = rf"Q-OPINIONS\] committee.*{type(model).__name__} has no members.*Allowed: bagging, fore"
    with pytest.raises(InputError, match=said):
        committee_disagreement(model, X)


@pytest.mark.parametrize("name", STRANGE)
def test_they_are_refused_before_anything_is_fitted(name, monkeypatch):
    X, y = rows()
    monkeypatch.setattr(type(STRANGE[name]), "fit", None)
    with pytest.raises(InputError, match=r"Q-OPINIONS\] estimator.*has no members"):
        QueryByCommittee(STRANGE[name]).fit(X, y)


@pytest.mark.parametrize("labels", [(5, 7, 9), ("ant", "bee", "cat")])
def test_of_a_stack_the_first_level_is_asked(labels):
    X, y = rows(labels)
    members = [GaussianNB().fit(X, y), DecisionTreeClassifier(max_depth=2).fit(X, y)]
    ours = StackingClassifier(TWO, cv=2, random_state=0).fit(X, y)
    assert_asks(ours, members, X)
    tall = StackingClassifier(
        levels=[TWO, [("a", LogisticRegression()), ("b", GaussianNB()), ("c", GaussianNB())]],
        cv=3,
        random_state=0,
    ).fit(X, y)
    assert len(tall.estimators_) == 5
    assert len(ballots_of(tall).weights) == 2
    assert_asks(tall, members, X)
    theirs = sklearn.ensemble.StackingClassifier(TWO, cv=2).fit(X, y)
    assert_asks(theirs, members, X)
    named = [("a", members[0]), ("b", members[1])]
    assert_asks(sklearn.ensemble.StackingClassifier(named, cv="prefit").fit(X, y), members, X)


def test_members_that_are_committees_are_members():
    """A forest is a sequence of trees, and counts as one member."""
    X, y = rows()
    forests = [
        ("a", sklearn.ensemble.RandomForestClassifier(4, random_state=0)),
        ("b", sklearn.ensemble.ExtraTreesClassifier(4, random_state=0)),
    ]
    model = sklearn.ensemble.VotingClassifier(forests).fit(X, y)
    assert_asks(model, model.estimators_, X)


def test_panels_are_asked():
    X, y = rows()
    members = [GaussianNB().fit(X, y), DecisionTreeClassifier(max_depth=2).fit(X, y)]
    assert_asks(VotingClassifier(TWO, voting="soft").fit(X, y), members, X)
    chosen = EnsembleSelectionClassifier(TWO, random_state=0).fit(X, y)
    assert len(ballots_of(chosen).weights) == len(chosen.estimators_)


def test_a_pool_with_other_columns_is_refused_in_our_words():
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = QueryByCommittee([GaussianNB(), DecisionTreeClassifier()]).fit(frame[:60], y[:60])
    with pytest.raises(InputError, match=r"(?s)X-NAMES.*yet now missing:\n- a"):
        model.query(frame[60:].rename(columns={"a": "z"}))
    with pytest.raises(InputError, match=r"(?s)X-NAMES.*in that order \(a, b, c, d\)"):
        model.query(frame[60:][["b", "a", "c", "d"]])
    with pytest.raises(InputError, match=r"X-WIDTH.*X has 3 features, but QueryByCommittee"):
        QueryByCommittee([GaussianNB(), GaussianNB()]).fit(X[:60], y[:60]).query(X[60:, :3])


@pytest.mark.parametrize(("n_rows", "prefit"), [(60, False), (60, True), (1, False)])
@pytest.mark.filterwarnings("ignore:.*Y-ONE-CLASS")
def test_a_list_is_called_by_the_name_that_the_user_has_written(n_rows, prefit):
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcd"))
    minds = [GaussianNB(), DecisionTreeClassifier()]
    if prefit:
        minds = [mind.fit(frame[:n_rows], y[:n_rows]) for mind in minds]
    model = QueryByCommittee(minds, prefit=prefit).fit(frame[:n_rows], y[:n_rows])
    for ask in (model.predict, model.predict_proba):
        with pytest.warns(UserWarning, match="but QueryByCommittee was fitted with feature names"):
            ask(X)
        with (
            pytest.warns(UserWarning, match="QueryByCommittee"),
            pytest.raises(InputError, match=r"X-WIDTH.*3 features, but QueryByCommittee is expect"),
        ):
            ask(X[:, :3])
