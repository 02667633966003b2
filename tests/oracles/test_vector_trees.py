"""A tree that several outputs share is the one that trying everything gives."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from committee import _engine
from committee.data import read_fit
from committee.data.rows import Rows
from tests.oracles import vector_trees

pytestmark = [pytest.mark.filterwarnings("ignore::committee.DataWarning")]


@st.composite
def problems(draw):
    """Rows with ties, missing values and a category; derivatives that words hold exactly."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k = draw(st.integers(4, 45)), draw(st.sampled_from([2, 3, 9]))
    X = rng.integers(0, draw(st.integers(2, 12)), (n, 3)).astype(float)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    X[0] = 0.0  # no column is all missing
    G = rng.integers(-512, 512, (k, n)) / 64
    H = rng.integers(1, 128, (k, n)) / 64 if draw(st.booleans()) else None
    rules = {
        "min_rows": draw(st.sampled_from([1, 3])),
        "min_weight": draw(st.sampled_from([0.0, 2.0])),
        "l2": draw(st.sampled_from([0.0, 0.5])),
        "least": draw(st.sampled_from([0.0, 4.0])),
    }
    if H is not None:  # the share of the hessian stands for that of rows there
        rules["min_rows"] = 1
    return X, G, H, draw(st.sampled_from([(), (1,)])), rules


def rows_of_nodes(tree, leaf):
    """For each node the mask of the rows that it or its children hold."""
    inside = [leaf == node for node in range(tree.n_nodes)]
    for node in reversed(range(tree.n_nodes)):
        if tree.left[node] != node:
            inside[node] = inside[tree.left[node]] | inside[tree.left[node] + 1]
    return inside


@pytest.mark.sanitize
@settings(max_examples=50, suppress_health_check=list(HealthCheck), deadline=None)
@given(
    problem=problems(),
    growth=st.sampled_from([g for g in _engine.Growth if g != _engine.Growth.symmetric]),
)
def test_vector_tree(problem, growth):
    X, G, H, categorical, rules = problem
    table, _ = read_fit(X, categorical_features=list(categorical) or None)
    rows = Rows.of(table, None, max_bins=255, n_threads=1)
    params = _engine.TreeParams()
    params.criterion = _engine.Criterion.newton
    params.growth = growth
    params.min_rows_leaf = rules["min_rows"]
    params.min_weight_leaf = rules["min_weight"]
    params.min_gain = 1e-9
    params.l2 = rules["l2"]
    params.least_hessian = rules["least"]
    h32 = None if H is None else H.astype(np.float32)
    stats = _engine.Stats.vector_gradients(G.astype(np.float32), h32)
    tree, leaf = _engine.grow_tree_with_leaves(rows.matrix, rows.mapper, stats, params, 1)
    H = np.ones_like(G) if H is None else H
    for node, inside in enumerate(rows_of_nodes(tree, leaf)):
        own = X[inside], G[:, inside], H[:, inside]
        gain, _ = vector_trees.best_split(*own, categorical=categorical, **rules)
        np.testing.assert_allclose(tree.gain[node], gain, rtol=1e-9, atol=1e-8)
        value = vector_trees.leaf_value(*own[1:], rules["l2"], rules["least"])
        np.testing.assert_allclose(tree.values[node], value, rtol=1e-6, atol=1e-9)
