"""Symmetric trees, L1 and drawn columns against what trying everything finds."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from committee import _engine
from committee._engine import FEATURE_MASK
from tests.estimators import forest_bits
from tests.oracles import newton, symmetric, walk
from tests.oracles.splits import numeric_cuts

few = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
CLOSE = 1e-5  # gradients are summed in fixed point: what two sums differ by, relative to their size


@st.composite
def problems(draw, most=60):
    """Rows with ties, missing values and categories, their derivatives and the rules."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, most))
    categorical = draw(st.sampled_from([(), (0,), (0, 2)]))
    X = rng.integers(0, draw(st.integers(2, 9)), (n, 3)).astype(float)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    g = rng.normal(size=n).astype(np.float32)
    h = rng.uniform(0.2, 1, n).astype(np.float32) if draw(st.booleans()) else None
    rules = symmetric.Rules(
        l1=draw(st.sampled_from([0.0, 0.7])),
        l2=draw(st.sampled_from([0.0, 1.5])),
        min_rows=draw(st.sampled_from([1, 3])),
        min_weight=draw(st.sampled_from([0.0, 1.3])),
        categorical=categorical,
    )
    return X, g, h, rules


def binned(X, categorical):
    table = _engine.Table(np.ascontiguousarray(X), *X.shape)
    levels = [9 if j in categorical else 0 for j in range(X.shape[1])]
    mapper = _engine.BinMapper.fit(table, None, 255, levels, 0, 1)
    return mapper.transform(table, 1), mapper


def grow(problem, depth, n_threads=1, growth="symmetric", **more):
    X, g, h, rules = problem
    params = _engine.TreeParams()
    params.criterion = _engine.Criterion.newton
    params.growth = getattr(_engine.Growth, growth)
    params.max_depth = depth
    params.l1, params.l2, params.min_gain = rules.l1, rules.l2, 0.0
    params.min_rows_leaf, params.min_weight_leaf = rules.min_rows, rules.min_weight
    for name, value in more.items():
        setattr(params, name, value)
    stats = _engine.Stats.gradients(g, h)
    return _engine.grow_tree_with_leaves(*binned(X, rules.categorical), stats, params, n_threads)


def exact(g, h):
    return g.astype(float), np.ones(len(g)) if h is None else h.astype(float)


def split_of(forest, node):
    """The feature with its flags, and the threshold or the set of levels."""
    place = float(forest.threshold[node])
    if forest.feature[node] & _engine.CATEGORICAL:
        begin, end = forest.set_begin[int(place) :][:2]
        return int(forest.feature[node]), forest.set_words[int(begin) : int(end)].tolist()
    return int(forest.feature[node]), place


def splits_of_levels(forest):
    """What each node asks, level by level."""
    assert (forest.n_nodes & (forest.n_nodes + 1)) == 0  # complete
    depth = forest.n_nodes.bit_length() - 1
    return [[split_of(forest, k) for k in range(2**d - 1, 2 ** (d + 1) - 1)] for d in range(depth)]


@pytest.mark.sanitize
@few
@given(problem=problems(), depth=st.integers(1, 4))
def test_every_level_asks_the_best_question(problem, depth):
    X, g32, h32, rules = problem
    forest, leaf = grow(problem, depth)
    g, h = exact(g32, h32)
    nodes = [np.ones(len(g), bool)]
    levels = [nodes]
    for asked in splits_of_levels(forest):
        assert all(split == asked[0] for split in asked)  # one question a level
        first = 2 ** (len(levels) - 1) - 1
        left = np.array([walk.goes_left(forest, first, row) for row in X])
        best = symmetric.best_gain(X, nodes, g, h, rules)
        found = symmetric.level_gain(left, nodes, g, h, rules)
        assert found >= best - CLOSE * max(1.0, best)
        nodes = symmetric.split(nodes, left)
        levels.append(nodes)
    if len(levels) <= depth:  # it stopped before: nothing was to be gained
        assert symmetric.best_gain(X, nodes, g, h, rules) <= CLOSE
    first = forest.n_nodes // 2
    np.testing.assert_allclose(
        forest.values[first:, 0], symmetric.values(levels, g, h, rules), rtol=1e-6, atol=1e-7
    )
    np.testing.assert_array_equal(leaf - first, np.argmax(nodes, axis=0))


@few
@given(problem=problems(), depth=st.integers(1, 6), n_threads=st.sampled_from([2, 4]))
def test_the_same_bits_on_any_threads(problem, depth, n_threads):
    one, leaf = grow(problem, depth)
    many, leaf_many = grow(problem, depth, n_threads)
    assert forest_bits(one) == forest_bits(many)
    np.testing.assert_array_equal(leaf, leaf_many)


@pytest.mark.sanitize
@pytest.mark.parametrize(("n_rows", "least"), [(3000, 20), (80_000, 500)])
def test_large_nodes(n_rows, least):
    """Histograms, their subtraction and all threads together: the sums of the leaves are right."""
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(n_rows, 5)), 2)
    X[rng.random(X.shape) < 0.05] = np.nan
    g = (np.nan_to_num(X[:, 0] * X[:, 1]) + rng.normal(size=n_rows)).astype(np.float32)
    h = rng.uniform(0.1, 1, n_rows).astype(np.float32)
    rules = symmetric.Rules(l2=1.0, min_rows=least)
    problem = X, g, h, rules
    forest, leaf = grow(problem, 7)
    assert forest.n_nodes == 255
    assert forest_bits(forest) == forest_bits(grow(problem, 7, 2)[0])
    value = np.zeros(255)
    for depth in range(8):
        node = ((leaf.astype(int) + 1) >> (7 - depth)) - 1
        rows = np.bincount(node, minlength=255)
        own = -np.bincount(node, g, 255) / (np.bincount(node, h, 255) + 1)
        for k in range(2**depth - 1, 2 ** (depth + 1) - 1):
            assert rows[k] == forest.count[k]
            value[k] = own[k] if rows[k] >= least else value[(k - 1) // 2]
    assert (rows >= least).sum() > 20
    assert ((rows > 0) & (rows < least)).any()
    np.testing.assert_allclose(forest.values[:, 0], value, rtol=1e-5, atol=1e-6)


# --- L1 ---


def check_splits(forest, node, rows, problem):
    """Every node below has the best split of its rows; every leaf the best value."""
    X, g, h, rules = problem
    penalties = {"l1": rules.l1, "l2": rules.l2}
    best = 0.0
    for j in range(X.shape[1]):
        for left in numeric_cuts(X[rows, j]):
            if min(left.sum(), (~left).sum()) >= rules.min_rows:
                best = max(best, newton.gain(g[rows], h[rows], left, **penalties))
    value = newton.leaf(g[rows], h[rows], **penalties)
    np.testing.assert_allclose(forest.values[node, 0], value, rtol=1e-6, atol=1e-7)
    if forest.left[node] == node:
        return best
    left = np.array([walk.goes_left(forest, node, row) for row in X])
    gained = newton.gain(g[rows], h[rows], left[rows], **penalties)
    np.testing.assert_allclose([gained, forest.gain[node]], best, rtol=CLOSE, atol=CLOSE)
    for side, child in ((left, forest.left[node]), (~left, forest.left[node] + 1)):
        check_splits(forest, int(child), rows[side[rows]], problem)
    return 0.0


@few
@given(problem=problems(), growth=st.sampled_from(["best_first", "level", "depth_first"]))
def test_l1_finds_the_best_splits(problem, growth):
    X, g, _, rules = problem
    rules.categorical, rules.min_weight, rules.l1 = (), 0.0, rules.l1 or 0.3
    problem = X, g, None, rules
    forest, _ = grow(problem, 3, growth=growth)
    rest = check_splits(forest, 0, np.arange(len(g)), (X, *exact(g, None), rules))
    assert rest <= CLOSE


def test_l1_by_hand():
    """G = -4 and 1 a side, H = 4 and 1, alpha = 2, lambda = 1: leaves 2/5 and 0, gain 4/5 - 1/6."""
    X = np.array([[0.0]] * 4 + [[1.0]])
    problem = X, np.array([-1, -1, -1, -1, 1], np.float32), None, symmetric.Rules(l1=2.0, l2=1.0)
    for growth in ("best_first", "level", "symmetric"):
        forest, _ = grow(problem, 1, growth=growth)
        np.testing.assert_allclose(forest.values[:, 0], [1 / 6, 2 / 5, 0])
        np.testing.assert_allclose(forest.gain[0], 4 / 5 - 1 / 6, rtol=1e-6)
        assert not np.signbit(forest.values).any()


def test_l1_bounds_by_hand():
    """a must not fall: what lies below a = 0 ends in the middle of both sides' thresholded leaves.

    Gradients -2, -16 (b = 0, 1) and -20 (twice), alpha = 1: leaves (18 - 1)/2 and (40 - 1)/2, in
    the middle 14; below, b = 1 alone would have 16 - 1 = 15.
    """
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
    problem = X, -np.array([2, 16, 20, 20], np.float32), None, symmetric.Rules(l1=1.0)
    forest, leaf = grow(problem, 2, growth="level", monotone=[1, 0])
    assert forest.feature[0] & FEATURE_MASK == 0
    np.testing.assert_allclose(forest.values[leaf[:2], 0], [1, 14])


def test_a_symmetric_tree_by_hand():
    """Two nodes that would part on b and c; together they gain most by c. One cell stays empty."""
    a, b, c, y = np.array(
        [(0, 0, 0, 8.0), (0, 0, 1, 9), (0, 1, 0, 9), (0, 1, 1, 10), (1, 0, 0, 0), (1, 0, 1, 4)]
    ).T
    problem = np.c_[a, b, c], -y.astype(np.float32), None, symmetric.Rules()
    forest, _ = grow(problem, 3)
    feature = forest.feature & FEATURE_MASK
    assert feature[:7].tolist() == [0, 2, 2, 1, 1, 1, 1]
    # a: 36²/4 + 4²/2 - 40²/6; c: (17² + 19²)/2 - 36²/4 and 0 + 16 - 8; b: only where a = 0.
    gains = [332 - 1600 / 6, 1, 8, 0.5, 0.5, 0, 0]
    np.testing.assert_allclose(forest.gain[:7], gains, atol=1e-4)
    # Rows with a = 1 all have b = 0: their cells of b = 1 hold the value of the node above.
    np.testing.assert_allclose(forest.values[7:, 0], [8, 9, 9, 10, 0, 0, 4, 4], atol=1e-9)
    assert forest.count[7:].tolist() == [1, 1, 1, 1, 1, 0, 1, 0]


# --- drawn columns ---


def used(forest):
    """Features of the splits, and their depths."""
    depth = np.zeros(forest.n_nodes, int)
    inner = np.flatnonzero(forest.left != np.arange(forest.n_nodes))
    for node in inner:
        depth[forest.left[node] :][:2] = depth[node] + 1
    return depth[inner], forest.feature[inner] & FEATURE_MASK


@pytest.mark.parametrize("growth", ["best_first", "level", "depth_first", "symmetric"])
@pytest.mark.parametrize("grouped", [False, True])
def test_trees_and_levels_draw_columns(growth, grouped):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 8))
    g = rng.normal(size=600).astype(np.float32)
    problem = X, g, None, symmetric.Rules(min_rows=5)
    more = {"tree_features": 5, "level_features": 2}
    if grouped:
        more["interactions"] = [[0, 1, 2, 3], [4, 5, 6, 7]]
    trees, levels, differ = set(), set(), 0
    for seed in range(12):
        forest, _ = grow(problem, 4, growth=growth, seed=seed, **more)
        assert forest_bits(forest) == forest_bits(
            grow(problem, 4, 2, growth=growth, seed=seed, **more)[0]
        )
        depth, feature = used(forest)
        trees.add(frozenset(feature.tolist()))
        assert len(set(feature.tolist())) <= 5
        differ += len({frozenset(feature[depth == d].tolist()) for d in np.unique(depth)}) > 1
        for d in np.unique(depth):
            assert len(set(feature[depth == d].tolist())) <= 2
            levels.add((int(d), frozenset(feature[depth == d].tolist())))
        if grouped:
            for leaf in range(forest.n_nodes):
                path = set(path_features(forest, leaf))
                assert path <= {0, 1, 2, 3} or path <= {4, 5, 6, 7}
    assert len(trees) > 5
    assert len(levels) > 12
    assert differ > 6  # of one tree, too


def path_features(forest, node):
    parent = np.full(forest.n_nodes, -1)
    for k in np.flatnonzero(forest.left != np.arange(forest.n_nodes)):
        parent[forest.left[k] :][:2] = k
    while parent[node] >= 0:
        node = parent[node]
        yield int(forest.feature[node] & FEATURE_MASK)
