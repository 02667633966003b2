"""What the documentation promises of queries and loops, at its edges."""

import math

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import StackingClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from committee import RandomForestClassifier
from committee.active import (
    ActiveLoop,
    LabelLog,
    QueryByBagging,
    QueryByCommittee,
    SimulatedAnnotator,
    advise_stop,
    measure_disagreement,
    save_log,
)
from committee.data import InputError, InputTypeError


def shuffled_iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    return X[order], y[order]


X, y = shuffled_iris()
first, pool = slice(30), slice(30, None)


@pytest.mark.filterwarnings("ignore:.*Y-ONE-CLASS")
@pytest.mark.parametrize(
    "model",
    [
        QueryByBagging(GaussianNB()),
        QueryByBagging(),
        QueryByCommittee([GaussianNB(), DecisionTreeClassifier()], measure="vote_margin"),
    ],
)
def test_members_of_one_class_agree(model):
    asked = clone(model).fit(X[:2], [0, 0])
    np.testing.assert_array_equal(asked.disagreement(X[:3]), np.ones(3))


def test_a_fitted_committee_is_asked_without_its_rows():
    forest = RandomForestClassifier(20, random_state=0).fit(X[first], y[first])
    model = QueryByCommittee(forest, prefit=True, random_state=0)
    found = model.query(X[pool], 5)
    assert not found.random
    told = model.fit(X[first], y[first]).query(X[pool], 5)
    assert found.disagreement.tolist() == told.disagreement.tolist()
    pair = [GaussianNB().fit(X[first], y[first]), DecisionTreeClassifier().fit(X[first], y[first])]
    listed = QueryByCommittee(pair, prefit=True, random_state=0)
    assert listed.query(X[pool], 1).disagreement[0] == pytest.approx(math.log(2))
    with pytest.raises(InputError, match="X-WIDTH"):
        listed.query(X[pool, :2], 1)
    with pytest.raises(InputError, match="at least 2 members"):
        QueryByCommittee(pair[:1], prefit=True).query(X[pool], 1)


def test_a_loop_fits_copies_and_takes_no_fitted_committee():
    forest = RandomForestClassifier(5, random_state=0).fit(X[first], y[first])
    with pytest.raises(InputError, match=r"P-ESTIMATOR.*prefit=True"):
        ActiveLoop(QueryByCommittee(forest, prefit=True), X, SimulatedAnnotator(y))


def test_a_stack_of_scikit_learn_is_asked_by_its_first_level():
    stack = StackingClassifier([("bayes", GaussianNB()), ("tree", DecisionTreeClassifier())])
    model = QueryByCommittee(stack, random_state=0).fit(X[first], y[first])
    assert len(model.query(X[pool], 2)) == 2


def test_candidates_are_as_many_as_are_asked_for():
    model = QueryByBagging(n_candidates=3, random_state=0).fit(X[first], y[first])
    found = model.query(X[pool], 10)
    assert len(found) == found.n_candidates == 10


def started_by_hand(**params):
    loop = ActiveLoop(QueryByBagging(n_estimators=5), X, random_state=0, **params)
    rows = loop.ask().indices
    return loop.tell(rows, ["good" if y[row] else "bad" for row in rows])


def test_b74_a_slip_of_the_pen_is_no_class():
    loop = started_by_hand()
    rows, known = loop.ask().indices, len(loop.log)
    with pytest.raises(InputError, match=r"Q-CLASS.*'god'.*bad, good.*new_classes=True"):
        loop.tell(rows, ["god"])
    assert len(loop.log) == known
    assert loop.model.classes_.tolist() == ["bad", "good"]
    loop.tell(rows, ["god"], new_classes=True)
    assert loop.model.classes_.tolist() == ["bad", "god", "good"]


def test_an_annotator_without_classes_may_name_any():
    loop = ActiveLoop(
        QueryByBagging(n_estimators=5), X, lambda ids, rows: y[ids], n_initial=2, random_state=0
    ).run(12)
    assert loop.model.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("annotator", [SimulatedAnnotator(y), lambda ids, rows: y[ids]])
def test_test_labels_of_another_kind_are_refused(annotator):
    with pytest.raises(InputError, match=r"Y-CLASSES.*y_test.*'[012]'"):
        ActiveLoop(
            QueryByBagging(n_estimators=5),
            X,
            annotator,
            X_test=X,
            y_test=y.astype(str),
            random_state=0,
        ).run(1)


def test_missing_test_labels_are_refused():
    with pytest.raises(InputError, match=r"Y-NAN.*y_test"):
        ActiveLoop(QueryByBagging(), X, X_test=X, y_test=np.full(150, np.nan))


@pytest.mark.parametrize("strange", [np.nan, np.inf, -0.1])
def test_votes_are_numbers_not_below_zero(strange):
    with pytest.raises(InputError, match=r"Q-OPINIONS.*row 1"):
        measure_disagreement([[[0.5, 0.5], [strange, 0.2]], [[0.5, 0.5], [0.5, 0.5]]])


def test_what_is_no_log_and_no_count_is_told(tmp_path):
    with pytest.raises(InputTypeError, match="LabelLog"):
        save_log([1], tmp_path / "labels")
    with pytest.raises(InputError, match="at least 0"):
        LabelLog().replay(-1)
    with pytest.raises(InputError, match="500 wrong of 400 rows"):
        advise_stop([500, 900], [400, 900])
