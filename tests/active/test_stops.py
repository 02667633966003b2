"""Loops that end where they are advised to, and committees that can give no advice."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import VotingClassifier as SklearnVoting
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from tests.active.tasks import stripe

from committee import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
)
from committee.active import (
    ActiveDecorate,
    ActiveLoop,
    QueryByBagging,
    QueryByBoosting,
    QueryByCommittee,
    SimulatedAnnotator,
    advise_stop,
)
from committee.active.left_out import leaves_rows_out
from committee.data import DataWarning, InputError


def late(n=60):
    """Rows of which the second class is rare: a cold start."""
    X = np.linspace(0, 1, n).reshape(-1, 1)
    return X, (X[:, 0] > 0.9).astype(int)


@pytest.mark.parametrize("base", [GaussianNB(), None], ids=["foreign", "tree"])
def test_one_class_is_no_reason_to_stop(base):
    X, y = late()
    model = QueryByBagging(base, n_estimators=5)
    loop = ActiveLoop(model, X, SimulatedAnnotator(y), n_initial=2, random_state=1)
    loop.run(3, until_advised=True)
    assert set(loop.log.labels.values()) == {0}
    assert loop.n_rounds == 4
    assert str(loop.stop_advice()).startswith("go on: one class so far")
    loop.run(30, until_advised=True)
    assert set(loop.log.labels.values()) == {0, 1}
    assert "class" not in loop.stop_advice().reason


def test_a_pool_of_one_class_is_asked_to_its_end():
    X = np.arange(100.0).reshape(-1, 1)
    loop = ActiveLoop(
        QueryByBagging(n_estimators=5), X, SimulatedAnnotator([0] * 100), random_state=0
    )
    loop.run(200, until_advised=True)  # the error is 0 in every round, and known of no other class
    assert len(loop.log) == 100


TWO = [("a", GaussianNB()), ("b", LogisticRegression())]
NONE_OUT = {
    "voting": QueryByCommittee(SklearnVoting(TWO)),
    "boosting": QueryByBoosting(n_estimators=3),
    "boosters in a committee": QueryByCommittee(AdaBoostClassifier(n_estimators=3)),
    "decorate": ActiveDecorate(n_estimators=3),
    "list": QueryByCommittee([GaussianNB(), LogisticRegression()]),
    "all rows": QueryByCommittee(ExtraTreesClassifier(3)),
    "all rows in bags": QueryByCommittee(BaggingClassifier(n_estimators=3, bootstrap=False)),
    "weights": QueryByCommittee(RandomForestClassifier(3, resampling="exponential")),
}


@pytest.mark.parametrize("name", NONE_OUT)
def test_committees_that_leave_no_rows_out_are_refused_before_any_question(name):
    X, y = late()
    loop = ActiveLoop(NONE_OUT[name], X, SimulatedAnnotator(y), random_state=0)
    committee = "a list" if name == "list" else type(NONE_OUT[name]._committee(0, 1)).__name__
    said = rf"Q-STOP.*{committee}, the committee of {type(NONE_OUT[name]).__name__}, leaves no rows"
    with pytest.raises(InputError, match=said):
        loop.run(5, until_advised=True)
    assert loop.annotator.n_asked == len(loop.log) == 0
    with pytest.raises(InputError, match=said):
        loop.stop_advice()


def test_why_there_is_no_error_of_left_out_rows_is_said_in_the_users_words():
    X, y = late()
    with pytest.raises(InputError, match=r"Q-STOP.*: a list leaves no rows out"):
        QueryByCommittee([GaussianNB(), GaussianNB()]).fit(X, y).out_of_bag_error()
    with pytest.warns(DataWarning, match="Y-ONE-CLASS"):
        alone = QueryByBagging(GaussianNB()).fit(X, y[:1].repeat(len(y)))
    with pytest.raises(InputError, match=r"Q-STOP.*: all labels are of one class"):
        alone.out_of_bag_error()


@pytest.mark.parametrize(
    "committee",
    [
        RandomForestClassifier(4),
        RandomForestClassifier(4, bootstrap=False),
        RandomForestClassifier(4, resampling="exponential"),
        ExtraTreesClassifier(4),
        ExtraTreesClassifier(4, bootstrap=True, resampling="poisson"),
        BaggingClassifier(n_estimators=4),
        BaggingClassifier(n_estimators=4, bootstrap=False),
        BaggingClassifier(n_estimators=4, bootstrap=False, max_samples=1.0),
        BaggingClassifier(n_estimators=4, bootstrap=False, max_samples=0.5),
        BaggingClassifier(n_estimators=4, resampling="exponential"),
    ],
    ids=str,
)
def test_what_parameters_promise_is_what_a_fit_keeps(committee):
    X, y = late()
    assert leaves_rows_out(committee) == hasattr(clone(committee).fit(X, y), "left_out_")


def test_a_loop_stops_where_it_is_advised():
    X, y = stripe(np.random.default_rng(0), 300)
    model = QueryByBagging(n_estimators=15)
    loop = ActiveLoop(model, X, SimulatedAnnotator(y), n_initial=40, k=10, random_state=0)
    loop.run(1)
    assert str(loop.stop_advice()).startswith("go on: ")
    judged = loop._courses["queries"].judged
    assert judged[-1] == loop.model.out_of_bag_error()
    loop.run(20, until_advised=True)
    wrong, known = zip(*judged, strict=True)
    advised = [bool(advise_stop(wrong[:r], known[:r])) for r in range(1, len(judged) + 1)]
    assert advised == [False] * (len(judged) - 1) + [True]
    assert judged[-4:] == [(0, 60), (0, 70), (0, 80), (0, 90)]  # half as many again as 60
    assert loop.n_rounds == len(judged) == 6
    assert loop.stop_advice()
