"""What one round of boosting asks of the engine: shares, leaves of all rows, other values."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.estimators import forest_bits
from tests.properties.problems import CLASSIFIERS, native, problems

from committee import _engine

pytestmark = pytest.mark.filterwarnings("ignore::committee.DataWarning")
few = settings(max_examples=60, suppress_health_check=list(HealthCheck))


@pytest.mark.sanitize
@few
@given(problems(), st.sampled_from([1, 2, 9]), st.sampled_from([1, 2, 5]))
def test_leaves_are_those_of_apply(problem, depth, n_threads):
    """For every row, one of weight zero too."""
    parts = native(problem, max_depth=depth)
    forest, leaves = _engine.grow_tree_with_leaves(*parts, n_threads)
    assert forest_bits(forest) == forest_bits(_engine.grow_tree(*parts, 1))
    assert leaves.dtype == np.uint32
    table = _engine.Table(np.ascontiguousarray(problem.X), *problem.X.shape)
    np.testing.assert_array_equal(leaves, forest.apply(table)[:, 0])


@pytest.mark.sanitize
@few
@given(
    problems(criteria=CLASSIFIERS, weighted=False), st.integers(-60, 60), st.integers(0, 2**32 - 1)
)
def test_shares_of_whole_weights_grow_the_same_tree(problem, power, seed):
    """Weights that units hold exactly, and times any power of two."""
    matrix, mapper, _, params = native(problem, max_depth=4)
    rng = np.random.default_rng(seed)
    codes = np.ascontiguousarray(problem.y, dtype=np.uint32).reshape(-1, 1)
    weight = rng.integers(1, 9, len(codes)).astype(float)
    weight /= 2.0 ** (np.floor(np.log2(weight.sum())) + 1)  # a total in [1/2, 1)
    exact = _engine.Stats.classes(codes, [problem.n_classes], weight)
    expected = _engine.grow_tree(matrix, mapper, exact, params, 1)
    for n_threads in (1, 3):
        stats = _engine.Stats.shares(codes, [problem.n_classes], weight, n_threads)
        found = _engine.grow_tree(matrix, mapper, stats, params, n_threads)
        assert forest_bits(found) == forest_bits(expected)
    scaled = _engine.Stats.shares(codes, [problem.n_classes], weight * 2.0**power)
    found = _engine.grow_tree(matrix, mapper, scaled, params, 1)
    for name in ("threshold", "feature", "left", "values", "impurity", "count"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_array_equal(found.weight, expected.weight * 2.0**power)
    np.testing.assert_array_equal(found.gain, expected.gain * 2.0**power)


def test_shares_refuse():
    codes = np.array([[0], [1], [1]], dtype=np.uint32)
    for bad in (np.nan, np.inf, -1.0):
        with pytest.raises(ValueError, match="at row 2"):
            _engine.Stats.shares(codes, [2], np.array([1.0, 2.0, bad]))
    with pytest.raises(ValueError, match="no row has a positive weight"):
        _engine.Stats.shares(codes, [2], np.zeros(3))
    with pytest.raises(ValueError, match="wrong length"):
        _engine.Stats.shares(codes, [2], np.ones(2))
    with pytest.raises(ValueError, match="out of range"):
        _engine.Stats.shares(codes, [1], np.ones(3))
    with pytest.raises(ValueError, match="per output"):
        _engine.Stats.shares(codes, [2, 2], np.ones(3))


@few
@given(problems(), st.integers(1, 4))
def test_revalued(problem, n_outputs):
    forest = problem.fit().tree_.forest
    values = np.random.default_rng(0).normal(size=(forest.n_nodes, n_outputs))
    other = forest.revalued(values)
    assert other.n_outputs == n_outputs
    np.testing.assert_array_equal(other.values, values)
    table = _engine.Table(np.ascontiguousarray(problem.X), *problem.X.shape)
    np.testing.assert_array_equal(other.predict(table), values[forest.apply(table)[:, 0]])
    assert forest_bits(other.revalued(np.array(forest.values))) == forest_bits(forest)
    with pytest.raises(ValueError, match=rf"values has {forest.n_nodes + 1} rows"):
        forest.revalued(np.zeros((forest.n_nodes + 1, 2)))
    values[-1, -1] = np.nan
    with pytest.raises(ValueError, match="must be finite"):
        forest.revalued(values)
