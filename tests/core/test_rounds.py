"""The one loop: limits, stops, deadlines, warm starts, and what it refuses."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from committee import DecisionTreeClassifier, InputError, _engine
from committee.core.committee import Committee
from committee.core.members import Members, Trees
from committee.core.randomness import member_rng
from committee.core.rounds import Round, assemble

few = settings(max_examples=60)
ROWS = np.arange(4)[:, None]


class Toy:
    def __init__(self, seed, index):
        self.table = member_rng(seed, index).normal(size=(4, 2))

    def outputs(self, X):
        return self.table[X[:, 0]]


def averaged(seed, begin=0, end=None):
    """Bagging's shape: every member has weight one."""
    for index in itertools.count(begin) if end is None else range(begin, end):
        yield Round(Toy(seed, index), np.ones(index + 1), {"index": float(index)})


def corrected(seed, begin=0):
    """Totally corrective boosting's shape: a round rewrites the weights of all members."""
    for index in itertools.count(begin):
        yield Round(Toy(seed, index), 1 / np.arange(index + 1, 0, -1), {})


def batches(seed, size, begin=0):
    """A forest's shape: one round brings several members."""
    for first in itertools.count(begin, size):
        members = Members([Toy(seed, index) for index in range(first, first + size)])
        yield Round(members, np.ones(first + size), {"first": float(first)})


def bits(committee):
    parts = (committee.decision(ROWS), committee.outputs(ROWS), committee.weights)
    return tuple(part.tobytes() for part in parts)


def test_the_limit_is_kept_and_nothing_is_made_beyond_it():
    made = []

    def algorithm():
        for made_round in averaged(0):
            made.append(made_round)
            yield made_round

    committee = assemble(algorithm(), limit=3)
    assert len(committee) == len(made) == 3
    np.testing.assert_array_equal(committee.weights, np.ones(3))
    np.testing.assert_array_equal(committee.intercept, [0.0])


def test_an_algorithm_that_ends_is_heard_to_its_end():
    assert len(assemble(averaged(0, end=4), limit=None)) == 4
    assert len(assemble(averaged(0, end=4), limit=9)) == 4
    assert len(assemble(list(averaged(0, end=4)), limit=9)) == 4


def test_the_last_weights_are_those_of_the_committee():
    committee = assemble(corrected(0), limit=4)
    np.testing.assert_array_equal(committee.weights, [1 / 4, 1 / 3, 1 / 2, 1])


def test_no_member_is_refused_with_a_sentence():
    with pytest.raises(InputError, match="no member could be made") as error:
        assemble([], limit=3)
    assert error.value.code == "M-EMPTY"
    with pytest.raises(InputError, match="no member beat chance on the weighted sample"):
        assemble([], limit=3, empty="no member beat chance on the weighted sample")
    with pytest.raises(InputError, match="no member"):
        assemble(averaged(0), limit=0)


def test_stop_sees_each_round_and_keeps_the_last():
    seen = []

    def stop(made):
        seen.append(made.facts["index"])
        return made.facts["index"] == 2

    assert len(assemble(averaged(0), limit=10, stop=stop)) == 3
    assert seen == [0, 1, 2]


def test_a_deadline_begins_no_new_round_and_lets_the_first_be_made():
    assert len(assemble(averaged(0), limit=10, max_time=0)) == 1

    def slow():
        for made in averaged(0):
            time.sleep(0.02)
            yield made

    assert 2 <= len(assemble(slow(), limit=100, max_time=0.2)) <= 11


def test_the_intercept_is_passed_on():
    committee = assemble(averaged(0), limit=2, intercept=[1.0, -1.0])
    np.testing.assert_array_equal(committee.intercept, [1, -1])
    longer = assemble(averaged(0, begin=2), limit=3, begin=committee)
    np.testing.assert_array_equal(longer.intercept, [1, -1])


def test_the_algorithm_is_closed_also_after_an_error():
    closed = []

    def algorithm(fail):
        try:
            yield from averaged(0, end=1)
            if fail:
                raise RuntimeError("member 1 does not converge")
            yield from averaged(0, begin=1)
        finally:
            closed.append(fail)

    endless = algorithm(False)
    assemble(endless, limit=1)
    assert closed == [False]
    with pytest.raises(RuntimeError, match="does not converge"):
        assemble(algorithm(True), limit=5)
    assert closed == [False, True]


def test_a_member_without_a_weight_is_noticed():
    with pytest.raises(InputError, match=r"1 weights for 2 member\(s\)"):
        assemble([Round(Toy(0, 0), np.ones(1)), Round(Toy(0, 1), np.ones(1))], limit=5)


# --- warm start


@few
@given(st.integers(1, 5), st.integers(0, 5), st.sampled_from([averaged, corrected]))
def test_going_on_is_the_same_as_never_stopping(a, b, algorithm):
    at_once = assemble(algorithm(7), limit=a + b, intercept=[0.5, 0.1])
    first = assemble(algorithm(7), limit=a, intercept=[0.5, 0.1])
    resumed = assemble(algorithm(7, begin=a), limit=a + b, begin=first)
    assert bits(at_once) == bits(resumed)
    assert len(first) == a


@few
@given(st.integers(1, 12), st.integers(1, 5), st.integers(1, 5), st.integers(0, 6))
def test_batches_are_members_one_by_one(limit, size, other, extra):
    one_by_one = assemble(averaged(3), limit=limit)
    assert bits(assemble(batches(3, size), limit=limit)) == bits(one_by_one)
    longer = assemble(batches(3, other, begin=limit), limit=limit + extra, begin=one_by_one)
    assert bits(longer) == bits(assemble(averaged(3), limit=limit + extra))


def test_a_limit_already_reached_asks_for_nothing():
    committee = assemble(averaged(0), limit=3)

    def refuse():
        raise AssertionError("no round is wanted")
        yield

    assert bits(assemble(refuse(), limit=3, begin=committee)) == bits(committee)
    assert bits(assemble([], limit=None, begin=committee)) == bits(committee)


# --- engine trees


def test_trees_are_joined_into_one_forest():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    models = [
        DecisionTreeClassifier(max_depth=4, max_features=1, random_state=t).fit(X, y)
        for t in range(9)
    ]
    schema = models[0].schema_

    def rounds(size, begin=0):
        for first in range(begin, 9, size):
            grown = [model.tree_.forest for model in models[first : first + size]]
            trees = Trees(_engine.Forest.concatenate(grown), schema)
            yield Round(trees, np.ones(first + len(grown)))

    alone = Committee([Trees(m.tree_.forest, schema)[0] for m in models], np.ones(9))
    for size in (1, 2, 9):
        committee = assemble(rounds(size), limit=None)
        assert isinstance(committee.members, Trees)
        assert committee.decision(X).tobytes() == alone.decision(X).tobytes()
    first = assemble(rounds(4), limit=6)
    assert len(first.members.forest.tree_begin) == 6 + 1
    resumed = assemble(rounds(1, begin=6), limit=None, begin=first)
    assert isinstance(resumed.members, Trees)
    assert resumed.decision(X).tobytes() == alone.decision(X).tobytes()
