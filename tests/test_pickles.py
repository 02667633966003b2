"""Models that travel: pickles, copies and other processes give back every bit, in few bytes."""

import copy
import io
import pickle
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from committee import DecisionTreeClassifier, DecisionTreeRegressor, _engine
from tests.estimators import ESTIMATORS, fitted, forest_bits, model_bits, name_of, outputs_of

IDS = [name_of(e) for e in ESTIMATORS]


def through_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


WAYS = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "oldest pickle with state": lambda model: pickle.loads(pickle.dumps(model, protocol=2)),
    "joblib": through_joblib,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def mixed_rows(n=300):
    """Numbers, categories, missing cells, and weights that are no whole numbers."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "c": pd.Categorical(rng.choice(list("abcdef"), n)),
            "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "z": rng.integers(0, 4, n).astype(float),
        }
    )
    score = frame["x"].fillna(0.5) + frame["c"].isin(["a", "b"]) + 0.2 * rng.normal(size=n)
    return frame, score.to_numpy(), rng.random(n)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=IDS)
def test_every_way_gives_back_every_bit(estimator, way):
    model = fitted(estimator)
    again = WAYS[way](model)
    assert model_bits(again) == model_bits(model)
    X = np.random.default_rng(1).normal(size=(50, 3))
    np.testing.assert_array_equal(outputs_of(again, X), outputs_of(model, X))


@pytest.mark.parametrize("Tree", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_categories_weights_and_facts_survive(Tree):
    frame, score, weight = mixed_rows()
    y = score if Tree is DecisionTreeRegressor else (score > np.median(score)).astype(int)
    model = Tree(random_state=0).fit(frame, y, weight)
    again = pickle.loads(pickle.dumps(model))
    assert model_bits(again) == model_bits(model)
    assert len(again.tree_.forest.gain) == len(again.tree_.forest.count) > 10
    np.testing.assert_array_equal(outputs_of(again, frame), outputs_of(model, frame))


def test_another_process_predicts_the_same(tmp_path):
    frame, score, _ = mixed_rows()
    model = DecisionTreeRegressor(random_state=0).fit(frame, score)
    (tmp_path / "model").write_bytes(pickle.dumps((model, frame)))
    script = (
        "import pickle, sys\n"
        "model, frame = pickle.load(open(sys.argv[1], 'rb'))\n"
        "sys.stdout.buffer.write(model.predict(frame).tobytes())\n"
        "sys.stdout.buffer.write(pickle.dumps(model.tree_.forest))\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "model")]
    out = subprocess.run(command, capture_output=True, check=True).stdout
    n_bytes = 8 * len(frame)
    np.testing.assert_array_equal(np.frombuffer(out[:n_bytes]), model.predict(frame))
    assert forest_bits(pickle.loads(out[n_bytes:])) == forest_bits(model.tree_.forest)


def grown(X, y, n_trees, max_features):
    """Unpruned trees on bootstrap bags."""
    n, p = X.shape
    table = _engine.Table(X, n, p)
    mapper = _engine.BinMapper.fit(table, None, 255, [0] * p, 0, 1)
    matrix = mapper.transform(table, 1)
    params = _engine.TreeParams()
    params.node_features = max_features
    if y.dtype.kind == "i":
        params.criterion = _engine.Criterion.gini
        target = _engine.Target.classes(y.astype(np.uint32)[:, None], [int(y.max()) + 1])
    else:
        params.criterion = _engine.Criterion.squared_error
        target = _engine.Target.regression(y[:, None])
    keys = _engine.row_keys(matrix, y.astype(float)[:, None], 1)
    bags = _engine.Bags(keys, draw=_engine.Draw.replace, size=n, seed=0)
    return _engine.grow_forest(matrix, mapper, target, bags, params, 0, n_trees, 1)[0]


@pytest.mark.parametrize("classes", [2, 5, None], ids=["two classes", "five classes", "numbers"])
def test_forests_take_at_most_a_tenth_of_scikit_learn(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=2000)
    if classes is not None:
        y = (np.argsort(np.argsort(y)) * classes // len(y)).astype(np.int64)
    forest = grown(X, y, 50, 3)
    packed = pickle.dumps(forest)
    assert forest_bits(pickle.loads(packed)) == forest_bits(forest)
    Theirs = RandomForestRegressor if classes is None else RandomForestClassifier
    theirs = Theirs(50, max_features=3, random_state=0).fit(X, y)
    n_theirs = sum(tree.tree_.node_count for tree in theirs.estimators_)
    assert forest.n_nodes == pytest.approx(n_theirs, rel=0.1)  # as deep as theirs
    assert 10 * len(packed) <= len(pickle.dumps(theirs))
    assert len(packed) < 4 * forest.n_nodes


def test_inner_nodes_of_a_forest_are_means_of_their_leaves():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(300, 4)), rng.normal(size=300)
    forest = grown(X, y, 3, 2)
    assert len(forest.weight) == forest.n_nodes
    assert len(forest.gain) == len(forest.impurity) == len(forest.count) == 0
    for begin, end in zip(forest.tree_begin[:-1], forest.tree_begin[1:], strict=True):
        left = forest.left[begin:end].astype(int)
        weight, value = forest.weight[begin:end], forest.values[begin:end, 0]
        inner = left != np.arange(end - begin)
        children = np.stack([left[inner], left[inner] + 1])
        np.testing.assert_array_equal(weight[inner], weight[children].sum(axis=0))
        mean = (value * weight)[children].sum(axis=0) / weight[inner]
        np.testing.assert_allclose(value[inner], mean, rtol=1e-12, atol=1e-15)


def test_pack_and_unpack_by_name():
    forest = fitted(DecisionTreeClassifier(random_state=0)).tree_.forest
    packed = forest.pack()
    assert isinstance(packed, bytes)
    assert packed == forest.__getstate__()
    again = _engine.Forest.unpack(packed)
    assert forest_bits(again) == forest_bits(forest)
    assert again.pack() == packed
