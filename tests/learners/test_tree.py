"""Decision trees: what the lectures demand (R40 to R43, R62, R63), and their own parameters."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from tests.estimators import model_bits
from tests.oracles.pessimism import leaves_left

from committee import (
    DataWarning,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    _engine,
    load_heart,
    load_weather,
)
from committee.core.params import resolve_max_features

CRITERIA = ["gini", "entropy", "gain_ratio", "normalized_gain", "error", "exponential"]


def distinct_rows(n=300, p=10, seed=0, n_classes=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.integers(0, n_classes, n)


def leaf_counts(model):
    """Counts of the classes in every leaf, sorted."""
    tree = model.tree_
    counts = tree.value[:, 0] * tree.weighted_n_node_samples[:, None]
    return sorted(map(tuple, counts[tree.is_leaf].round(9).tolist()))


def paths(tree, node=0, above=()):
    """The features on the way to each leaf."""
    if tree.children_left[node] < 0:
        yield set(above)
        return
    for child in (tree.children_left[node], tree.children_right[node]):
        yield from paths(tree, child, (*above, int(tree.feature[node])))


def test_r40_features_are_drawn_at_each_node():
    X, y = distinct_rows()
    tree = DecisionTreeClassifier(max_features=1, random_state=0).fit(X, y).tree_
    used = tree.feature[~tree.is_leaf]
    assert set(used) == set(range(10))
    share = np.bincount(used) / len(used)
    assert share.max() < 0.25  # one draw for the tree would give 1
    other = DecisionTreeClassifier(max_features=1, random_state=1).fit(X, y)
    assert other.tree_.feature.tolist() != tree.feature.tolist()


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("max_features", [1, "sqrt", "log2", 0.5, None])
@pytest.mark.parametrize("splitter", ["best", "random"])
def test_r40_unpruned_trees_know_their_rows(criterion, max_features, splitter):
    X, y = distinct_rows(n=120)
    model = DecisionTreeClassifier(
        criterion=criterion, max_features=max_features, splitter=splitter, random_state=0
    )
    assert model.fit(X, y).score(X, y) == 1


def test_r40_draws_go_on_until_a_feature_varies():
    X, y = distinct_rows(n=100, p=12)
    X[:, 1:] = 0
    assert DecisionTreeClassifier(max_features=1, random_state=3).fit(X, y).score(X, y) == 1


@pytest.mark.parametrize("max_bins", [2, 5, 255])
def test_few_bins_limit_the_tree(max_bins):
    X = np.arange(1000.0).reshape(-1, 1)
    model = DecisionTreeRegressor(max_bins=max_bins).fit(X, X[:, 0])
    assert model.get_n_leaves() == max_bins


@pytest.mark.parametrize(
    ("rule", "counts"),
    [("log2", [1, 2, 4, 6, 6]), ("sqrt", [1, 2, 4, 6, 8]), ("breiman", [1, 3, 4, 6, 6])],
)
def test_r41_numbers_of_features(rule, counts):
    assert [resolve_max_features(rule, p) for p in (1, 4, 10, 34, 60)] == counts
    X, y = distinct_rows(p=34)
    assert DecisionTreeClassifier(max_features=rule).fit(X, y).max_features_ == 6


def quality(criterion, left, right):
    sides = (np.array(side, dtype=float) for side in (left, right))
    return _engine.split_quality(getattr(_engine.Criterion, criterion), *sides)


def entropy(*counts):
    total = sum(counts)
    return -sum(c / total * math.log2(c / total) for c in counts if c)


def test_r42_split_scores_of_the_weather():
    """Wind: false 6 yes 2 no, true 3 yes 3 no; all: 9 yes 5 no. Values by hand, four digits."""
    false, true = [6, 2], [3, 3]
    assert entropy(9, 5) == pytest.approx(0.9403, abs=5e-5)
    assert quality("entropy", false, true) / 14 / math.log(2) == pytest.approx(0.0481, abs=5e-5)
    assert quality("gain_ratio", false, true) == pytest.approx(0.0481 / 0.9852, abs=5e-5)
    assert quality("normalized_gain", false, true) == pytest.approx(
        2 * 0.0481 / (0.9852 + 0.9403), abs=5e-5
    )
    assert quality("gini", false, true) / 14 == pytest.approx(0.4592 - 0.4286, abs=5e-5)
    assert quality("error", false, true) == 0  # yes wins on both sides
    # 2 sqrt(45) - 2 sqrt(12) - 2 sqrt(9)
    assert quality("exponential", false, true) == pytest.approx(0.4882, abs=5e-5)
    # Overcast 4 yes 0 no, against 5 yes 5 no.
    assert quality("entropy", [4, 0], [5, 5]) / 14 / math.log(2) == pytest.approx(
        0.9403 - 10 / 14, abs=5e-5
    )
    # A split into pure halves: everything is gained.
    assert quality("gain_ratio", [7, 0], [0, 7]) == pytest.approx(1)
    assert quality("normalized_gain", [7, 0], [0, 7]) == pytest.approx(1)
    assert quality("exponential", [7, 0], [0, 7]) == 14


def test_r43_the_lecture_tree():
    """Overcast 4/0; sunny by humidity 2/0 and 0/3; rain by wind 0/2 and 3/0 (yes/no)."""
    X, y = load_weather(as_frame=True)
    model = DecisionTreeClassifier(criterion="entropy", categorical_splits="multiway").fit(X, y)
    assert model.score(X, y) == 1
    yes_no = sorted((yes, no) for no, yes in leaf_counts(model))
    assert yes_no == [(0, 2), (0, 3), (2, 0), (3, 0), (4, 0)]


@pytest.mark.parametrize(
    ("outlook", "feature", "counts"),
    [
        ("sunny", "humidity", [(0, 2), (3, 0)]),
        ("rain", "windy", [(0, 3), (2, 0)]),
    ],
)
def test_r43_branches(outlook, feature, counts):
    X, y = load_weather(as_frame=True)
    rows = (X["outlook"] == outlook).to_numpy()
    branch = X[rows].drop(columns="temperature")
    model = DecisionTreeClassifier(criterion="entropy").fit(branch, y[rows])
    assert leaf_counts(model) == counts  # (no, yes)
    assert branch.columns[model.tree_.feature[0]] == feature


def test_r43_root():
    X, y = load_weather(as_frame=True)
    tree = DecisionTreeClassifier(criterion="entropy", max_depth=1).fit(X, y)
    assert leaf_counts(tree) == [(0, 4), (5, 5)]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_r62_r63_weights_are_replications(criterion):
    """Weight .01 is 10 copies, .1 is 100: the same probabilities, and the same entropies."""
    X, y = distinct_rows(n=80, p=3)
    copies = np.random.default_rng(2).choice([10, 100], len(y))
    params = {"criterion": criterion, "max_depth": 3, "random_state": 0}
    weighted = DecisionTreeClassifier(**params).fit(X, y, sample_weight=copies / 1000)
    copied = DecisionTreeClassifier(**params).fit(
        np.repeat(X, copies, axis=0), np.repeat(y, copies)
    )
    np.testing.assert_allclose(weighted.predict_proba(X), copied.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(weighted.tree_.impurity, copied.tree_.impurity, atol=1e-9)
    np.testing.assert_allclose(weighted.tree_.gain * 1000, copied.tree_.gain, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("groups", "allowed"),
    [
        ([[0, 1], [2, 3]], [{0, 1}, {2, 3}, {4, 5}]),
        ([[0, 1, 2], [2, 3]], [{0, 1, 2}, {2, 3}, {4, 5}]),
        ("no_interactions", [{j} for j in range(6)]),
        ("pairwise", [set(pair) for pair in itertools.combinations(range(6), 2)]),
    ],
)
def test_interactions(groups, allowed):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    y = X.prod(axis=1) + X.sum(axis=1)
    model = DecisionTreeRegressor(interaction_cst=groups, random_state=0).fit(X, y)
    met = list(paths(model.tree_))
    assert all(any(path <= group for group in allowed) for path in met)
    assert len(set().union(*met)) > (0 if groups == "no_interactions" else 1)
    free = DecisionTreeRegressor(random_state=0).fit(X, y)
    assert not all(any(path <= group for group in allowed) for path in paths(free.tree_))


@pytest.mark.parametrize("confidence", [0.05, 0.25, 0.5])
def test_pessimistic_pruning(confidence):
    X, y = load_heart(as_frame=True)
    full = DecisionTreeClassifier(criterion="gain_ratio").fit(X, y)
    pruned = DecisionTreeClassifier(
        criterion="gain_ratio", pruning="pessimistic", confidence=confidence
    ).fit(X, y)
    kept = leaves_left(full.tree_, confidence)[1]
    assert pruned.get_n_leaves() == len(kept) < full.get_n_leaves()
    np.testing.assert_array_equal(
        np.sort(pruned.tree_.n_node_samples[pruned.tree_.is_leaf]),
        np.sort(full.tree_.n_node_samples[kept]),
    )


@pytest.mark.parametrize("n_levels", [256, 300, 2000])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_many_levels(n_levels, n_classes):
    rng = np.random.default_rng(0)
    target = rng.integers(0, n_classes, n_levels)
    codes = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, 3 * n_levels)])
    frame = pd.DataFrame({"level": pd.Categorical([f"level {c}" for c in codes])})
    model = DecisionTreeClassifier().fit(frame, target[codes])
    assert model.score(frame, target[codes]) == 1
    assert model.get_n_leaves() == n_classes
    unseen = pd.DataFrame({"level": pd.Categorical(["nowhere"])})
    with pytest.warns(DataWarning, match="nowhere"):
        shares = model.predict_proba(unseen)
    assert shares.sum() == 1


def test_several_outputs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.column_stack([X[:, 0] > 0, np.digitize(X[:, 1], [-0.5, 0.5])]).astype(int)
    model = DecisionTreeClassifier().fit(X, y)
    assert model.n_outputs_ == 2
    assert model.n_classes_ == [2, 3]
    assert [p.shape for p in model.predict_proba(X)] == [(200, 2), (200, 3)]
    np.testing.assert_array_equal(model.predict(X), y)
    numbers = DecisionTreeRegressor().fit(X, X[:, :2])
    np.testing.assert_allclose(numbers.predict(X), X[:, :2], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error"])
def test_monotone_predictions(criterion, sign):
    kind = DecisionTreeRegressor if "error" in criterion else DecisionTreeClassifier
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (500, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.5 * sign * X[:, 0]
    y = y if kind is DecisionTreeRegressor else (y > 0).astype(int)
    model = kind(criterion=criterion, monotonic_cst=[sign, 0], random_state=0).fit(X, y)
    grid = np.linspace(-2, 2, 200)
    for other in (-1.5, 0.0, 1.5):
        rows = np.column_stack([grid, np.full(200, other)])
        outputs = (
            model.predict(rows) if kind is DecisionTreeRegressor else model.predict_proba(rows)
        )
        last = outputs if outputs.ndim == 1 else outputs[:, 1]
        assert (sign * np.diff(last) >= 0).all()
    assert model.get_n_leaves() > 5


def test_random_splitter_draws_thresholds():
    X, y = distinct_rows(n=200, p=2)
    bits = {
        model_bits(DecisionTreeClassifier(splitter="random", random_state=k).fit(X, y))
        for k in range(5)
    }
    assert len(bits) == 5
    roots = [
        DecisionTreeClassifier(splitter="random", max_features=1, max_depth=1, random_state=k)
        .fit(X[:, :1], y)
        .tree_.threshold[0]
        for k in range(200)
    ]
    low, high = X[:, 0].min(), X[:, 0].max()
    uniform = (np.array(roots) - low) / (high - low)
    assert uniform.min() > 0
    assert uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.07  # sigma of the mean is 0.02
    assert abs(uniform.std() - 12**-0.5) < 0.04


def test_seeds():
    X, y = distinct_rows()
    drawn = [
        model_bits(DecisionTreeClassifier(max_features=1, random_state=None).fit(X, y))
        for _ in range(3)
    ]
    assert len(set(drawn)) == 3
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    DecisionTreeClassifier(max_features=1).fit(X, y)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
