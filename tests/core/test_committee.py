"""Committees of toys, of scikit-learn estimators and of engine trees, held against hand loops."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB

from committee import DecisionTreeClassifier, DecisionTreeRegressor, InputError, _engine
from committee.core.committee import Committee
from committee.core.members import ClassifierMember, Members, RegressorMember, Trees, join

numbers = st.floats(-1e3, 1e3, allow_nan=False)
few = settings(max_examples=60)


class Toy:
    """Remembers a matrix and repeats the entries of the rows it is asked about."""

    def __init__(self, table):
        self.table = np.asarray(table, dtype=float)

    def outputs(self, X):
        return self.table[np.asarray(X, dtype=int)[:, 0]]


@st.composite
def committees(draw, n_rows=3, n_outputs=2):
    n = draw(st.integers(1, 6))
    tables = draw(hnp.arrays(float, (n, n_rows, n_outputs), elements=numbers))
    weights = draw(hnp.arrays(float, n, elements=numbers))
    intercept = draw(hnp.arrays(float, n_outputs, elements=numbers))
    return Committee([Toy(table) for table in tables], weights, intercept)


ROWS = np.arange(3)[:, None]


def forest_committee(n_trees=7, seed=0, y=None):
    """Small trees on different halves of the rows, read by one schema."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4)).round(1)
    y = rng.integers(0, 3, 60) if y is None else y
    model = DecisionTreeRegressor if y.dtype.kind == "f" else DecisionTreeClassifier
    trees = [
        model(max_depth=3).fit(X, y, sample_weight=rng.permutation(np.arange(60) % 2 + 0.01))
        for _ in range(n_trees)
    ]
    forest = _engine.Forest.concatenate([tree.tree_.forest for tree in trees])
    schema = trees[0].schema_
    weights, intercept = rng.normal(size=n_trees), rng.normal(size=forest.n_outputs)
    return Committee(Trees(forest, schema), weights, intercept), trees, X


# --- the noun itself


@few
@given(committees())
def test_decision_is_the_hand_loop(committee):
    expected = np.tile(committee.intercept, (3, 1))
    for weight, member in zip(committee.weights, committee.members, strict=True):
        expected = expected + weight * member.outputs(ROWS)
    np.testing.assert_array_equal(committee.decision(ROWS), expected)
    np.testing.assert_array_equal(committee.decision(ROWS, n_threads=2), expected)


@few
@given(committees(), st.data())
def test_slice_is_the_stage(committee, data):
    stages = list(committee.staged(ROWS))
    assert len(stages) == len(committee)
    k = data.draw(st.integers(1, len(committee)))
    np.testing.assert_array_equal(committee[:k].decision(ROWS), stages[k - 1])
    np.testing.assert_array_equal(committee.decision(ROWS), stages[-1])
    np.testing.assert_array_equal(committee[:k].outputs(ROWS), committee.outputs(ROWS)[:k])


@few
@given(committees(), committees(), committees())
def test_addition_seats_both_and_is_associative(a, b, c):
    left, right = (a + b) + c, a + (b + c)
    assert list(left.members) == list(right.members) == [*a.members, *b.members, *c.members]
    np.testing.assert_array_equal(left.weights, right.weights)
    np.testing.assert_array_equal(left.weights, [*a.weights, *b.weights, *c.weights])
    np.testing.assert_allclose(left.intercept, right.intercept, rtol=1e-12, atol=1e-9)
    both = (a + b).decision(ROWS)
    np.testing.assert_allclose(both, a.decision(ROWS) + b.decision(ROWS), rtol=1e-9, atol=1e-6)


@few
@given(committees(), st.data())
def test_halves_add_up_to_the_whole(committee, data):
    if len(committee) > 1:
        k = data.draw(st.integers(1, len(committee) - 1))
        tail = Committee(committee.members[k:], committee.weights[k:])
        whole = committee[:k] + tail
        np.testing.assert_array_equal(whole.decision(ROWS), committee.decision(ROWS))


def test_nothing_can_be_changed():
    weights = np.ones(1)
    committee = Committee([Toy(np.zeros((3, 1)))], weights)
    weights[0] = 5
    assert committee.weights[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        committee.weights[0] = 2
    with pytest.raises(AttributeError):
        committee.weights = weights


def test_stages_are_arrays_of_their_own():
    committee = Committee([Toy(np.ones((3, 1)))] * 3, np.ones(3))
    assert [stage[0, 0] for stage in committee.staged(ROWS)] == [1, 2, 3]
    assert [stage[0, 0] for stage in list(committee.staged(ROWS))] == [1, 2, 3]


def test_broken_committees_are_refused():
    toy = Toy(np.zeros((3, 1)))
    with pytest.raises(InputError, match="at least one member") as error:
        Committee([], [])
    assert error.value.code == "M-EMPTY"
    for weights, intercept in (([1.0, 2.0], [0.0]), ([[1.0]], [0.0]), ([np.nan], [0.0]), ([1], 0)):
        with pytest.raises(InputError) as error:
            Committee([toy], weights, intercept)
        assert error.value.code == "M-COMMITTEE"
    with pytest.raises(InputError, match="at least one member"):
        Committee([toy], [1.0])[:0]
    with pytest.raises(TypeError, match="slice"):
        Committee([toy], [1.0])[0]
    with pytest.raises(TypeError):
        Committee([toy], [1.0]) + 1


# --- engine trees


@pytest.mark.parametrize("n_trees", [1, 7, 40])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_engine_gives_the_bits_of_the_loop(n_trees, kind):
    y = None if kind == "classes" else np.random.default_rng(1).normal(size=60)
    native, trees, X = forest_committee(n_trees, y=y)
    loop = Committee(list(native.members), native.weights, native.intercept)
    assert isinstance(native.members, Trees)
    assert not isinstance(loop.members, Trees)
    for rows in (X, X[:1]):
        for n_threads in (1, 2):
            assert native.decision(rows, n_threads=n_threads).tobytes() == (
                loop.decision(rows).tobytes()
            )
            assert native.outputs(rows, n_threads=n_threads).tobytes() == (
                loop.outputs(rows).tobytes()
            )
    by_hand = [
        tree.predict_proba(X) if kind == "classes" else tree.predict(X)[:, None] for tree in trees
    ]
    np.testing.assert_array_equal(native.outputs(X), by_hand)


def test_engine_stages_are_slices():
    committee, _, X = forest_committee(40)
    stages = list(committee.staged(X, n_threads=2))
    for k in (1, 2, 15, 16, 17, 33, 40):
        assert isinstance(committee[:k].members, Trees)
        assert committee[:k].decision(X).tobytes() == stages[k - 1].tobytes()


def test_engine_trees_stay_in_the_engine_when_added():
    committee, _, X = forest_committee(6)
    tail = Committee(committee.members[2:], committee.weights[2:])
    whole = committee[:2] + tail
    assert isinstance(whole.members, Trees)
    assert whole.decision(X).tobytes() == committee.decision(X).tobytes()


def test_trees_that_read_rows_differently_are_asked_apart():
    """The same text may be another level in another training set."""
    colours = pd.DataFrame({"colour": pd.Categorical(["red", "green"] * 10)})
    others = pd.DataFrame({"colour": pd.Categorical(["blue", "red"] * 10)})
    models = [
        DecisionTreeRegressor().fit(X, y)
        for X, y in ((colours, [1.0, 0.0] * 10), (others, [0.0, 1.0] * 10))
    ]
    committees = [Committee(Trees(m.tree_.forest, m.schema_), [1.0]) for m in models]
    both = committees[0] + committees[1]
    assert not isinstance(both.members, Trees)
    red = colours.iloc[:1]
    assert both.decision(red).item() == 2


def test_other_slices_of_trees():
    committee, _, X = forest_committee(7)
    outputs = committee.outputs(X)
    for cut in (slice(None, None, 2), slice(None, None, -1), slice(5, 1, -3), slice(-2, None)):
        np.testing.assert_array_equal(committee[cut].outputs(X), outputs[cut])
        np.testing.assert_array_equal(committee[cut].weights, committee.weights[cut])
    for empty in (slice(3, 1), slice(-10, None, -1)):
        assert len(committee.members[empty]) == 0
    np.testing.assert_array_equal(committee.members[-1].outputs(X), outputs[-1])
    with pytest.raises(IndexError):
        committee.members[7]


def test_rows_may_be_read_before():
    committee, _, X = forest_committee()
    table = _engine.Table(X, *X.shape)
    for question in (committee.decision, committee.outputs, committee.members[0].outputs):
        np.testing.assert_array_equal(question(table), question(X))


def test_trees_and_schema_must_agree():
    committee, trees, _ = forest_committee(1)
    other = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InputError) as error:
        Trees(trees[0].tree_.forest, other.schema_)
    assert error.value.code == "M-TREE"
    with pytest.raises(ValueError, match="features"):
        committee.decision([[0.0]])


def test_committees_are_pickled():
    for committee in (forest_committee()[0], Committee([Toy(np.ones((3, 2)))], [2.0])):
        X = forest_committee()[2] if isinstance(committee.members, Trees) else ROWS
        again = pickle.loads(pickle.dumps(committee))
        assert type(again.members) is type(committee.members)
        assert again.decision(X).tobytes() == committee.decision(X).tobytes()


def test_join_of_one_part_is_that_part():
    part = Members([Toy(np.ones((3, 1)))])
    assert join([part]) is part


# --- scikit-learn estimators

CLASSES = np.array(["a", "b", "c"])
X = np.random.default_rng(0).normal(size=(30, 3))
Y = CLASSES[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]


def test_classifier_gives_its_probabilities():
    model = GaussianNB().fit(X, Y)
    np.testing.assert_array_equal(
        ClassifierMember(model, CLASSES).outputs(X), model.predict_proba(X)
    )


@pytest.mark.parametrize("unseen", CLASSES)
@pytest.mark.parametrize("model", [GaussianNB(), Perceptron(), LogisticRegression()])
def test_an_unseen_class_is_a_zero_column(model, unseen):
    seen = unseen != Y
    model.fit(X[seen], Y[seen])
    outputs = ClassifierMember(model, CLASSES).outputs(X)
    assert (outputs[:, unseen == CLASSES] == 0).all()
    np.testing.assert_allclose(outputs.sum(axis=1), 1)
    np.testing.assert_array_equal(CLASSES[outputs.argmax(axis=1)], model.predict(X))
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(outputs[:, unseen != CLASSES], model.predict_proba(X))


def test_votes_are_one_hot_labels():
    for model, votes in ((Perceptron(), False), (GaussianNB(), True)):
        model.fit(X, Y)
        outputs = ClassifierMember(model, CLASSES, votes=votes).outputs(X)
        assert set(np.unique(outputs)) == {0.0, 1.0}
        np.testing.assert_array_equal(outputs.sum(axis=1), 1)
        np.testing.assert_array_equal(CLASSES[outputs.argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize("votes", [False, True])
def test_a_label_of_no_class_is_named(votes):
    model = GaussianNB().fit(X, np.where(Y == "c", "z", Y))
    with pytest.raises(InputError, match="z") as error:
        ClassifierMember(model, CLASSES, votes=votes).outputs(X)
    assert error.value.code == "M-CLASSES"


@pytest.mark.parametrize("n_targets", [0, 1, 3])
def test_regressor_gives_a_column_per_target(n_targets):
    y = X @ np.ones((3, n_targets)) if n_targets else X[:, 0]
    model = LinearRegression().fit(X, y)
    outputs = RegressorMember(model).outputs(X)
    assert outputs.shape == (30, max(n_targets, 1))
    np.testing.assert_array_equal(outputs, model.predict(X).reshape(30, -1))


def test_one_row_and_no_row():
    model = LinearRegression().fit(X, X[:, 0])
    assert RegressorMember(model).outputs(X[:1]).shape == (1, 1)
    committee, _, rows = forest_committee()
    assert committee.decision(rows[:0]).shape == (0, 3)
    assert committee.outputs(rows[:0]).shape == (7, 0, 3)


def test_any_members_sit_together():
    committee, _, _ = forest_committee()
    rows = np.random.default_rng(3).normal(size=(20, 4))
    naive = GaussianNB().fit(rows, np.arange(20) % 3)
    mixed = committee + Committee([ClassifierMember(naive, np.arange(3))], [0.5])
    expected = committee.decision(rows) + 0.5 * naive.predict_proba(rows)
    np.testing.assert_array_equal(mixed.decision(rows), expected)
    np.testing.assert_array_equal(mixed.decision(rows, n_threads=2), expected)
    assert mixed.outputs(rows).shape == (8, 20, 3)
