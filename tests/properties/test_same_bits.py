"""The same model to the last bit: for any number of threads, container, layout, shard and run."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.estimators import forest_bits, model_bits, outputs_of
from tests.properties.problems import SMALL, Problem, native, problems

from committee import DecisionStump, _engine

pytestmark = pytest.mark.filterwarnings("ignore::committee.DataWarning")
few = settings(max_examples=60, suppress_health_check=list(HealthCheck))
MEDIUM = (*SMALL, 150, 700)


def named(problem: Problem):
    return pd.DataFrame(problem.X, columns=[f"c{j}" for j in range(problem.X.shape[1])])


@pytest.mark.sanitize
@few
@given(problems())
def test_threads(problem):
    expected = model_bits(problem.fit(n_jobs=1))
    for n_jobs in (2, 4, 7):
        assert model_bits(problem.fit(n_jobs=n_jobs)) == expected, n_jobs


def test_threads_when_large():
    """Enough rows and features for every parallel branch."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30000, 12))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=30000) > 0).astype(int)
    wide = rng.normal(size=(300, 900))
    for problem in (Problem(X, y, None, 2), Problem(wide, wide[:, 0] ** 2, None, 0)):
        expected = model_bits(problem.fit(n_jobs=1))
        for n_jobs in (2, 4, 7):
            assert model_bits(problem.fit(n_jobs=n_jobs)) == expected, n_jobs


@few
@given(problems())
def test_two_runs(problem):
    assert model_bits(problem.fit()) == model_bits(problem.fit())


@few
@given(problems(sizes=MEDIUM))
def test_dense_layouts(problem):
    expected = model_bits(problem.fit())
    padded = np.zeros((problem.X.shape[0], problem.X.shape[1] + 3))
    padded[:, :-3] = problem.X
    for same in (
        np.asfortranarray(problem.X),
        problem.X.astype(np.float32),
        np.asfortranarray(problem.X, dtype=np.float32),
        padded[:, :-3],
    ):
        np.testing.assert_array_equal(same, problem.X)
        assert model_bits(problem.on(same)) == expected


@few
@given(problems(sizes=MEDIUM))
def test_frames(problem):
    expected = model_bits(problem.fit())
    import polars as pl  # not at the top: it cannot be loaded under ThreadSanitizer

    frame = named(problem)
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    for same in (frame, pl.DataFrame(problem.X, schema=list(frame)), arrow):
        assert model_bits(problem.on(same)) == expected, type(same)


@few
@given(problems(sizes=MEDIUM))
def test_categories_by_dtype(problem):
    columns = problem.params.pop("categorical_features", [])
    expected = model_bits(problem.fit(categorical_features=columns or None))
    frame = named(problem)
    for j in columns:
        values = frame[f"c{j}"]
        frame[f"c{j}"] = pd.Categorical(values.where(values.isna(), values.astype("Int64")))
    assert model_bits(problem.on(frame)) == expected


@pytest.mark.sanitize
@few
@given(problems(sizes=MEDIUM, categorical=False), st.sampled_from([0.0, 0.5, 0.9]))
def test_sparse_equals_dense(problem, zeros):
    rng = np.random.default_rng(0)
    problem.X[rng.random(problem.X.shape) < zeros] = 0.0
    expected = problem.fit()
    for layout in (sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.coo_matrix):
        model = problem.on(layout(problem.X))
        assert model_bits(model) == model_bits(expected), layout
        for X in (layout(problem.X), problem.X):
            np.testing.assert_array_equal(outputs_of(model, X), outputs_of(expected, problem.X))
            np.testing.assert_array_equal(model.apply(X), expected.apply(problem.X))


def test_sparse_with_stored_zeros():
    X = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 3.0], [-1.0, 0.0]])
    stored = sparse.csr_matrix((X.ravel(), np.tile([0, 1], 4), np.arange(0, 9, 2)), shape=X.shape)
    y = np.array([0, 1, 0, 1])
    assert stored.nnz == 8
    assert model_bits(DecisionStump().fit(stored, y)) == model_bits(DecisionStump().fit(X, y))


@pytest.mark.sanitize
@few
@given(
    problems(criteria=("gini", "entropy", "gain_ratio", "error", "exponential")) | problems(),
    st.sampled_from([1, 2, 4, 7]),
    st.integers(1, 7),
)
def test_shards(problem, n_shards, depth):
    if problem.params["criterion"] == "absolute_error":
        problem.params["criterion"] = "squared_error"  # medians need rows, not sums
    parts = native(problem, max_depth=depth, growth=_engine.Growth.level)
    expected = forest_bits(_engine.grow_tree(*parts, 1))
    order = np.random.default_rng(n_shards).permutation(len(problem.X)).astype(np.uint32)
    shards = [np.ascontiguousarray(rows) for rows in np.array_split(order, n_shards)]
    for n_threads in (1, 3):
        assert forest_bits(_engine.grow_tree_sharded(*parts, shards, n_threads)) == expected


def test_shards_that_share_a_row_are_refused():
    rows = np.array([[0.0], [1.0], [2.0]])
    mapper = _engine.BinMapper.fit(_engine.Table(rows, 3, 1), None, 255, [0], 0, 1)
    matrix = mapper.transform(_engine.Table(rows, 3, 1), 1)
    stats = _engine.Stats.newton(np.array([1.0, -1.0, 2.0]), np.ones(3))
    params = _engine.TreeParams()
    params.criterion = _engine.Criterion.newton
    shards = [np.array([0, 1], dtype=np.uint32), np.array([2, 1], dtype=np.uint32)]
    with pytest.raises(ValueError, match="row 1 twice"):
        _engine.grow_tree_sharded(matrix, mapper, stats, params, shards, 1)
    for l2 in (-1.0, np.nan):
        params.l2 = l2
        with pytest.raises(ValueError, match="l2 must be"):
            _engine.grow_tree(matrix, mapper, stats, params, 1)


@pytest.mark.parametrize(("g", "h"), [(np.nan, 1.0), (np.inf, 1.0), (1.0, np.nan), (1.0, -1.0)])
def test_senseless_gradients_are_refused(g, h):
    with pytest.raises(ValueError, match="at row 1"):
        _engine.Stats.newton(np.array([1.0, g]), np.array([1.0, h]))


@pytest.mark.sanitize
@few
@given(problems(), st.integers(0, 10**6))
def test_growth_orders_agree(problem, seed):
    """Without a limit on leaves, the order in which nodes are split decides nothing."""
    bits = set()
    for growth in (_engine.Growth.depth_first, _engine.Growth.level, _engine.Growth.best_first):
        parts = native(problem, max_depth=8, growth=growth, seed=seed, node_features=2)
        bits.add(forest_bits(_engine.grow_tree(*parts, 2)))
    assert len(bits) == 1


@few
@given(problems(sizes=(40, 700, 4000)))
def test_row_alone_equals_row_in_batch(problem):
    model = problem.fit()
    rows = np.random.default_rng(1).integers(0, len(problem.X), 5)
    batch, leaves = outputs_of(model, problem.X), model.apply(problem.X)
    for row in rows:
        alone = problem.X[row : row + 1]
        np.testing.assert_array_equal(outputs_of(model, alone), batch[row : row + 1])
        assert model.apply(alone)[0] == leaves[row]
    for n_jobs in (2, 7):
        np.testing.assert_array_equal(outputs_of(model.set_params(n_jobs=n_jobs), problem.X), batch)


@few
@given(problems(sizes=(40, 700)), st.integers(1, 5))
def test_forest_sums_are_fixed(problem, n_threads):
    """Several trees: blended sums and their members do not depend on batch or threads."""
    forest = _engine.Forest.concatenate(
        [problem.fit(random_state=k, max_features=1).tree_.forest for k in range(4)]
    )
    table = _engine.Table(problem.X, *problem.X.shape)
    weight = np.array([0.1, 0.7, 1.3, 0.2])
    whole = forest.predict(table, weight, n_threads=1)
    np.testing.assert_array_equal(forest.predict(table, weight, n_threads=n_threads), whole)
    members = forest.predict_members(table, n_threads)
    row = _engine.Table(problem.X[-1:], 1, problem.X.shape[1])
    np.testing.assert_array_equal(forest.predict(row, weight), whole[-1:])
    np.testing.assert_array_equal(forest.predict_members(row), members[:, -1:])
    np.testing.assert_allclose(np.einsum("t,trk->rk", weight, members), whole, rtol=1e-12)
