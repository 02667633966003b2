"""Forests from strangers: whatever arrays arrive, a clear error or a forest that is safe to use."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from committee import DecisionTreeClassifier, _engine
from tests.estimators import FOREST_ARRAYS, forest_bits


def sound(categories=True):
    """Arrays of a tree with numeric and, if asked for, categorical splits."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": pd.Categorical(rng.choice(list("abcde"), 80)), "x": rng.random(80)})
    y = (frame["x"] > 0.5).to_numpy() ^ frame["c"].isin(["a", "b"]).to_numpy()
    if not categories:
        frame["c"] = frame["c"].cat.codes.astype(float)
    forest = DecisionTreeClassifier(random_state=0).fit(frame, y.astype(int)).tree_.forest
    arrays = {name: np.array(getattr(forest, name)) for name in FOREST_ARRAYS}
    return {"n_features": 2, "n_outputs": 2, **arrays}


SOUND = sound()
NUMERIC = sound(categories=False)  # these are checked in another way
N = len(SOUND["left"])
INNER = int(np.flatnonzero((SOUND["left"] != np.arange(N)) & (SOUND["feature"] < 2**31))[0])
CATEGORICAL = int(np.flatnonzero(SOUND["feature"] >= 2**31)[0])
LEAF = int(np.flatnonzero(SOUND["left"] == np.arange(N))[0])


def changed(name, index, value):
    def change(arrays):
        arrays[name][index] = value

    return change


def replaced(name, make):
    def change(arrays):
        arrays[name] = make(arrays[name])

    return change


HOSTILE = {
    "child behind the end": changed("left", INNER, N),
    "right child behind the end": changed("left", INNER, N - 1),
    "child far out": changed("left", INNER, 2**32 - 1),
    "cycle": changed("left", N - 1, 0),
    "child before its parent": changed("left", INNER + 1, 0),
    "feature out of range": changed("feature", INNER, 2),
    "feature at the mask": changed("feature", INNER, _engine.FEATURE_MASK),
    "NaN threshold": changed("threshold", INNER, np.nan),
    "infinite threshold": changed("threshold", INNER, -np.inf),
    "NaN leaf": changed("values", (LEAF, 0), np.nan),
    "infinite leaf": changed("values", (LEAF, 0), np.inf),
    "set out of range": changed("threshold", CATEGORICAL, 1e6),
    "set negative": changed("threshold", CATEGORICAL, -1.0),
    "set not whole": changed("threshold", CATEGORICAL, 0.5),
    "set huge": changed("threshold", CATEGORICAL, 1e300),
    "set begins beyond its words": changed("set_begin", -1, 2**40),
    "set begins fall": changed("set_begin", 0, 2**63),
    "tree begins beyond the nodes": changed("tree_begin", -1, 2**40),
    "tree begins late": changed("tree_begin", 0, 1),
    "trees without nodes": replaced("tree_begin", lambda a: np.repeat(a[:1], 1000)),
    "no trees but nodes": replaced("tree_begin", lambda a: a[:1]),
    "no tree_begin": replaced("tree_begin", lambda a: a[:0]),
    "short thresholds": replaced("threshold", lambda a: a[:-1]),
    "long features": replaced("feature", lambda a: np.append(a, a[:1])),
    "short values": replaced("values", lambda a: np.ascontiguousarray(a[:-1])),
    "short gain": replaced("gain", lambda a: a[:-1]),
    "short count": replaced("count", lambda a: a[:-1]),
    "no features": lambda arrays: arrays.update(n_features=0),
    "features beyond the mask": lambda arrays: arrays.update(n_features=2**31),
    "no outputs": lambda arrays: arrays.update(n_outputs=0),
    "outputs overflow": lambda arrays: arrays.update(n_outputs=2**62),
}


def flattened(arrays):
    return {name: a.ravel() if name == "values" else a for name, a in arrays.items()}


def built(arrays):
    try:
        return _engine.Forest.from_arrays(**arrays)
    except TypeError:  # values may be wanted flat or as a matrix
        return _engine.Forest.from_arrays(**flattened(arrays))


@pytest.mark.sanitize
def test_sound_arrays_come_back():
    forest = built(copy.deepcopy(SOUND))
    again = pickle.loads(pickle.dumps(forest))
    assert forest_bits(again) == forest_bits(forest)
    for name in FOREST_ARRAYS:
        np.testing.assert_array_equal(getattr(forest, name), SOUND[name])


@pytest.mark.sanitize
@pytest.mark.parametrize("how", HOSTILE)
def test_hostile_arrays_are_refused(how):
    arrays = copy.deepcopy(SOUND)
    HOSTILE[how](arrays)
    with pytest.raises(ValueError, match=r"\w"):
        built(arrays)


def check_harmless(forest):
    """Check that predictions end, at leaves that exist and with finite values."""
    X = np.array([[0.0, 0.1], [4.0, np.nan], [np.nan, 0.9], [77.0, 1e308], [-3.0, -1e308]])
    for rows in (X, X[:1], np.tile(X, (300, 1))):
        table = _engine.Table(rows, *rows.shape)
        assert forest.predict(table).shape == (len(rows), forest.n_outputs)
        assert np.isfinite(forest.predict_members(table)).all()
        assert (forest.apply(table) < N).all()


def restored(state):
    blank = _engine.Forest.__new__(_engine.Forest)
    blank.__setstate__(state)
    return blank


@pytest.mark.sanitize
@pytest.mark.parametrize("length", [0, 1, 4, 5, 10, 20, 100, -1])
def test_pickles_cut_short_are_refused(length):
    state = built(copy.deepcopy(SOUND)).__getstate__()
    for read in (restored, _engine.Forest.unpack):
        with pytest.raises(ValueError, match=r"packed forest: \w"):
            read(state[:length])


@pytest.mark.sanitize
def test_pickles_that_go_on_are_refused():
    state = built(copy.deepcopy(SOUND)).__getstate__()
    with pytest.raises(ValueError, match="3 bytes too many"):
        restored(state + b"abc")


@pytest.mark.sanitize
@settings(max_examples=500)
@given(st.data())
def test_any_change_of_a_pickle_is_refused_or_harmless(data):
    state = bytearray(built(copy.deepcopy(SOUND)).__getstate__())
    for _ in range(data.draw(st.integers(1, 3))):
        # The sizes stand at the beginning: half of the changes go there.
        end = data.draw(st.sampled_from([20, len(state)]))
        state[data.draw(st.integers(0, end - 1))] = data.draw(st.integers(0, 255))
    try:
        forest = restored(bytes(state))
    except ValueError:
        return
    if forest.n_features == 2 and forest.n_nodes <= N:
        check_harmless(forest)


@pytest.mark.parametrize("state", [(), (1,) * 13, "a", None, 3, bytearray(b"cfor"), np.zeros(3)])
def test_senseless_states_are_refused(state):
    with pytest.raises(TypeError):
        restored(state)


def is_sound(arrays):
    """Tell, node by node, whether one numeric tree is a tree."""
    left, feature, threshold = arrays["left"], arrays["feature"], arrays["threshold"]
    parents = np.zeros(len(left), int)
    for i in range(len(left)):
        if left[i] == i:
            if feature[i] != 0 or threshold[i] != np.inf:
                return False
            continue
        is_number = feature[i] & ~np.uint32(1 << 30) < 2 and np.isfinite(threshold[i])
        if not is_number or not i < left[i] < len(left) - 1:
            return False
        parents[left[i] : left[i] + 2] += 1
    return (parents[1:] == 1).all() and parents[0] == 0


@pytest.mark.sanitize
@settings(max_examples=500)
@given(st.sampled_from(["left", "feature", "threshold"]), st.data())
def test_numeric_trees_are_taken_exactly_where_sound(name, data):
    arrays = copy.deepcopy(NUMERIC)
    n = len(arrays[name])
    odd = {
        "left": st.integers(0, n + 2),
        "feature": st.sampled_from([0, 1, 2, 1 << 30, (1 << 30) + 1, (1 << 30) + 2]),
        "threshold": st.sampled_from([np.inf, -np.inf, np.nan, 0.5, -3.0]),
    }
    for _ in range(data.draw(st.integers(0, 2))):
        arrays[name][data.draw(st.integers(0, n - 1))] = data.draw(odd[name])
    try:
        forest = built(arrays)
    except ValueError:
        assert not is_sound(arrays)
        return
    assert is_sound(arrays)
    check_harmless(forest)


@pytest.mark.sanitize
@settings(max_examples=300)
@given(
    st.sampled_from(["left", "feature", "threshold", "set_begin", "set_words", "tree_begin"]),
    st.data(),
)
def test_any_one_change_is_refused_or_harmless(name, data):
    """Whatever one cell becomes: an error, or predictions that end and are finite."""
    arrays = copy.deepcopy(SOUND)
    index = data.draw(st.integers(0, len(arrays[name]) - 1))
    bits = 32 if arrays[name].dtype == np.uint32 else 64
    small = st.integers(0, 2 * N)
    cell = np.array(data.draw(small | st.integers(0, 2**bits - 1)), dtype=f"u{bits // 8}")
    arrays[name][index] = cell.view(arrays[name].dtype) if data.draw(st.booleans()) else 1
    try:
        forest = built(arrays)
    except ValueError:
        return
    check_harmless(forest)
