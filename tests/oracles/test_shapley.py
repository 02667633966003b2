"""Shapley values and interactions equal sums over all coalitions, and add up to predictions."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from committee import RandomForestClassifier, RandomForestRegressor, _engine
from tests.oracles import shapley
from tests.oracles.test_walk import probes
from tests.properties.problems import problems

pytestmark = pytest.mark.filterwarnings("ignore::committee.DataWarning")
few = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def table_of(X):
    return _engine.Table(X, *X.shape)


def small_problem(rng, n=400, p=9):
    X = rng.normal(size=(n, p))
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 0] = rng.integers(0, 7, n)
    known = np.nan_to_num(X)
    return X, known[:, 1] * known[:, 2] + (known[:, 0] % 3) + known[:, 3]


@pytest.mark.sanitize
@few
@given(problems(sizes=(3, 10, 40)), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_values_and_interactions_equal_all_coalitions(problem, n_trees, seed):
    grown = [problem.fit(random_state=k, max_features=1).tree_.forest for k in range(n_trees)]
    forest = _engine.Forest.concatenate(grown)
    rng = np.random.default_rng(seed)
    weight = rng.normal(size=n_trees)
    X = rng.permutation(probes(problem))[:4]
    value = forest.shap_values(table_of(X), weight)
    pairs = forest.shap_interactions(table_of(X), weight)
    for r, row in enumerate(X):
        np.testing.assert_allclose(value[r], shapley.values(forest, row, weight), atol=1e-9)
        expected = shapley.interactions(forest, row, weight)
        np.testing.assert_allclose(pairs[r], expected, atol=1e-9)


@pytest.mark.parametrize("n_leaves", [2, 31, 255, None])
def test_they_add_up_to_the_prediction(n_leaves):
    X, y = small_problem(np.random.default_rng(1))
    params = {"max_leaf_nodes": n_leaves, "random_state": 0, "categorical_features": [0]}
    classes = np.digitize(y, [-0.5, 1, 2])
    for model in (
        RandomForestRegressor(10, **params).fit(X, y),
        RandomForestClassifier(10, **params).fit(X, classes),
    ):
        forest, table = model.forest_, table_of(X)
        weight = np.full(10, 0.1)
        value = forest.shap_values(table, weight, n_threads=2)
        assert value.shape == (400, 10, forest.n_outputs)
        np.testing.assert_allclose(value.sum(axis=1), forest.predict(table, weight), atol=1e-12)
        pairs = forest.shap_interactions(table, weight, n_threads=2)
        np.testing.assert_allclose(pairs.sum(axis=2), value, atol=1e-12)
        np.testing.assert_array_equal(pairs, pairs.swapaxes(1, 2))


@pytest.mark.sanitize
def test_same_bits_for_threads_batches_and_containers():
    X, y = small_problem(np.random.default_rng(2), n=150)
    X[np.random.default_rng(3).random(X.shape) < 0.4] = 0.0
    forest = RandomForestRegressor(7, max_leaf_nodes=40, random_state=0).fit(X, y).forest_
    value = forest.shap_values(table_of(X))
    pairs = forest.shap_interactions(table_of(X))
    csr = sparse.csr_array(X)
    arrays = (csr.data, *X.shape, csr.indices.astype(np.int32), csr.indptr.astype(np.int64), True)
    for table in (table_of(np.asfortranarray(X)), _engine.Table(*arrays)):
        for n_threads in (1, 2, 4):
            assert forest.shap_values(table, None, n_threads).tobytes() == value.tobytes()
            assert forest.shap_interactions(table, None, n_threads).tobytes() == pairs.tobytes()
    for first, last in ((0, 1), (5, 12), (40, 150)):
        part = table_of(X[first:last])
        assert forest.shap_values(part).tobytes() == value[first:last].tobytes()
        assert forest.shap_interactions(part).tobytes() == pairs[first:last].tobytes()


@pytest.mark.sanitize
def test_without_cover_they_are_refused():
    X, y = small_problem(np.random.default_rng(4), n=60)
    forest = RandomForestClassifier(3, random_state=0).fit(X, y > 1).forest_
    for ask in ("shap_values", "shap_interactions"):
        with pytest.raises(ValueError, match="weights of all nodes"):
            getattr(forest.votes([2]), ask)(table_of(X))
        with pytest.raises(ValueError, match="weight has 2 entries, must have 3"):
            getattr(forest, ask)(table_of(X), np.ones(2))
        with pytest.raises(ValueError, match="the input has 8 features, the forest 9"):
            getattr(forest, ask)(table_of(X[:, :-1]))
