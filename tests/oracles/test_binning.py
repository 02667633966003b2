"""Bins: exact cuts where values are few, balanced ones where they are many."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from committee import _engine

few = settings(max_examples=80, suppress_health_check=list(HealthCheck))
FLOATS = st.floats(-1e300, 1e300, allow_nan=False) | st.sampled_from(
    [0.0, -0.0, 1.0, 5e-324, -5e-324, 1.7e308, -1.7e308, np.nan]
)


def binned(X, max_bins=255, weight=None, levels=None):
    table = _engine.Table(X, *X.shape)
    mapper = _engine.BinMapper.fit(table, weight, max_bins, levels or [0] * X.shape[1], 0, 2)
    matrix = mapper.transform(table, 2)
    return mapper, matrix


def codes(matrix, feature):
    return [matrix.code(row, feature) for row in range(matrix.n_rows)]


def naive_code(cuts, n_bins, x):
    """Bin b holds cut[b-1] < x <= cut[b]; missing is one more."""
    return n_bins if np.isnan(x) else sum(cut < x for cut in cuts)


@pytest.mark.sanitize
@few
@given(st.lists(FLOATS, min_size=1, max_size=60), st.sampled_from([2, 3, 16, 255, 65535]))
def test_codes_follow_the_cuts(values, max_bins):
    X = np.array(values).reshape(-1, 1)
    mapper, matrix = binned(X, max_bins)
    cuts = mapper.cuts(0)
    assert len(cuts) + 1 == mapper.n_bins(0) <= max_bins
    assert (np.diff(cuts) > 0).all()
    assert np.isfinite(cuts).all()
    assert codes(matrix, 0) == [naive_code(cuts, mapper.n_bins(0), x) for x in values]


@few
@given(st.lists(FLOATS, min_size=1, max_size=60))
def test_few_values_are_told_apart(values):
    X = np.array(values).reshape(-1, 1)
    mapper, matrix = binned(X)
    distinct = np.unique(X[~np.isnan(X)])
    assert mapper.n_bins(0) == max(1, len(distinct))
    expected = np.where(np.isnan(X[:, 0]), mapper.n_bins(0), np.searchsorted(distinct, X[:, 0]))
    assert codes(matrix, 0) == expected.tolist()
    if len(distinct) > 1:
        low, high = distinct[:-1], distinct[1:]
        middle = low / 2 + high / 2
        expected_cuts = np.where((middle >= low) & (middle < high), middle, low)
        np.testing.assert_array_equal(mapper.cuts(0), expected_cuts)


@pytest.mark.parametrize("max_bins", [2, 16, 255, 1000])
def test_many_values_are_balanced(max_bins):
    X = np.random.default_rng(0).normal(size=(5000, 1)) ** 3
    mapper, matrix = binned(X, max_bins)
    counts = np.bincount(codes(matrix, 0))
    assert mapper.n_bins(0) == max_bins == len(counts)
    assert counts.max() <= 1.1 * 5000 / max_bins + 1
    assert counts.min() >= 0.9 * 5000 / max_bins - 1


def test_weights_move_the_cuts():
    X = np.arange(4000.0).reshape(-1, 1)
    weight = np.where(X[:, 0] < 2000, 9.0, 1.0)
    mapper, _ = binned(X, 10, weight)
    tenths = 2000 / 9 * np.arange(1, 10)  # nine of ten bins hold nine tenths of the weight
    np.testing.assert_allclose(mapper.cuts(0), tenths, atol=2)


@few
@given(st.integers(0, 10**6), st.sampled_from([2, 16, 255]))
def test_weight_zero_is_unseen(seed, max_bins):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(60, 1)), 1)
    weight = rng.integers(0, 3, 60).astype(float)
    weight[0] = 1
    cuts = binned(X, max_bins, weight)[0].cuts(0)
    repeated = np.repeat(X, weight.astype(int), axis=0)
    np.testing.assert_array_equal(cuts, binned(repeated, max_bins)[0].cuts(0))


def test_levels_are_codes():
    x = np.array([3.0, 0.0, 2.0, np.nan, 3.0, 9.0]).reshape(-1, 1)
    mapper, matrix = binned(x, levels=[4])
    assert mapper.n_bins(0) == 4
    assert codes(matrix, 0) == [3, 0, 2, 4, 3, 4]  # 9 is no level: missing


@pytest.mark.sanitize
@few
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 0.95]), st.sampled_from([3, 255, 65535]))
def test_sparse_codes_equal_dense_codes(seed, zeros, max_bins):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(50, 3)), 1)
    X[rng.random(X.shape) < zeros] = 0
    X[rng.random(X.shape) < 0.1] = np.nan
    dense, expected = binned(X, max_bins)
    for layout, by_row in ((sparse.csr_matrix(X), True), (sparse.csc_matrix(X), False)):
        table = _engine.Table(
            layout.data, *X.shape, layout.indices, layout.indptr.astype(np.int64), by_row
        )
        mapper = _engine.BinMapper.fit(table, None, max_bins, [0] * 3, 0, 2)
        matrix = mapper.transform(table, 2)
        for feature in range(3):
            np.testing.assert_array_equal(mapper.cuts(feature), dense.cuts(feature))
            assert codes(matrix, feature) == codes(expected, feature)
