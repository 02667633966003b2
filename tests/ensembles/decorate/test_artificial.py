"""Artificial rows and their labels: hand-made numbers, and what draws look like."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from committee.ensembles.any_rows import AnyRows
from committee.ensembles.decorate.artificial import LARGEST, DenseModel, SparseModel
from committee.ensembles.decorate.containers import ContainerModel, categories
from committee.ensembles.decorate.opposition import oppose
from committee.ensembles.joining import join_rows


def learn(values, n_levels=None, weight=None):
    values = np.array(values, dtype=float)
    levels = np.zeros(values.shape[1], dtype=int) if n_levels is None else np.array(n_levels)
    return DenseModel.learn(values, np.ones(len(values)) if weight is None else weight, levels)


def test_numbers_have_the_mean_and_the_spread_of_what_is_known():
    model = learn([[1, 5], [3, 5], [np.nan, 5], [5, 5]])
    np.testing.assert_allclose(model.mean, [3, 5])
    np.testing.assert_allclose(model.spread, [2, 0])
    drawn = model.draw(20_000, np.random.default_rng(0))
    np.testing.assert_allclose(drawn[:, 0].mean(), 3, atol=0.05)
    np.testing.assert_allclose(drawn[:, 0].std(), 2, atol=0.05)
    assert (drawn[:, 1] == 5).all()  # a constant is drawn to the last bit


def test_levels_are_drawn_after_laplaces_rule():
    """Of five known values four are the first level and one is the third of three."""
    model = learn([[0], [0], [0], [0], [2], [np.nan]], [3])
    np.testing.assert_allclose(model.levels[0][1], [5 / 8, 6 / 8, 1])
    drawn = model.draw(20_000, np.random.default_rng(0))
    share = np.bincount(drawn[:, 0].astype(int)) / len(drawn)
    np.testing.assert_allclose(share, [5 / 8, 1 / 8, 2 / 8], atol=0.02)


def test_weights_count_like_rows():
    rows = np.array([[1.0, 0], [2, 1], [4, 1]])
    once = learn(rows, [0, 2], np.array([2.0, 1, 3]))
    often = learn(rows[[0, 0, 1, 2, 2, 2]], [0, 2])
    np.testing.assert_allclose(once.mean, often.mean)
    np.testing.assert_allclose(once.spread, often.spread)
    np.testing.assert_allclose(once.levels[0][1], often.levels[0][1])


def test_columns_without_a_value_stay_missing():
    drawn = learn([[np.nan, 1], [np.nan, 2]]).draw(5, np.random.default_rng(0))
    assert np.isnan(drawn[:, 0]).all()
    assert not np.isnan(drawn[:, 1]).any()


def test_numbers_of_any_size_stay_finite():
    model = learn([[-LARGEST, 1e-310], [LARGEST, 3e-310], [LARGEST, np.inf]])
    drawn = model.draw(100, np.random.default_rng(0))
    assert np.isfinite(drawn).all()
    np.testing.assert_allclose(model.mean[1], 2e-310)


@pytest.fixture
def words():
    """Zeros and ones: a rare word, a frequent one, one in every row, one in none."""
    rng = np.random.default_rng(3)
    dense = (rng.random((50, 4)) < [0.1, 0.7, 1.1, -1]).astype(float)
    return sparse.csr_matrix(dense), dense.mean(axis=0)


def test_sparse_ones_come_from_bernoullis_distribution(words):
    X, rate = words
    model = SparseModel.learn(X, np.ones(50))
    np.testing.assert_allclose(model.rate, rate)
    drawn = model.draw(4000, np.random.default_rng(0))
    assert sparse.issparse(drawn)
    assert drawn.has_canonical_format
    assert set(drawn.data) == {1.0}  # a cell drawn twice would be summed to 2
    np.testing.assert_allclose(np.asarray(drawn.mean(axis=0))[0], rate, atol=0.02)
    pairs = drawn.toarray()[:, :2]
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 0.05  # columns are drawn each by itself


def test_sparse_cells_hold_values_of_their_column():
    X = sparse.csc_matrix(np.array([[0, 2.0], [0, 3], [5, 0], [0, 3]]))
    drawn = SparseModel.learn(X, np.ones(4)).draw(8000, np.random.default_rng(0)).toarray()
    assert set(drawn[:, 0]) == {0, 5}
    share = [(drawn[:, 1] == value).mean() for value in (0, 2, 3)]
    np.testing.assert_allclose(share, [1 / 4, 1 / 4, 1 / 2], atol=0.02)


def test_labels_are_inversely_proportional_to_the_committees_probabilities():
    uniform = np.random.default_rng(0).random(40_000)
    shares = np.tile([0.5, 0.3, 0.2], (len(uniform), 1))
    found = np.bincount(oppose(shares, np.ones(3, bool), uniform)) / len(uniform)
    inverse = 1 / np.array([0.5, 0.3, 0.2])
    np.testing.assert_allclose(found, inverse / inverse.sum(), atol=0.01)


def test_pitfall_8_classes_at_zero_share_the_labels_and_unseen_ones_get_none():
    uniform = np.random.default_rng(0).random(10_000)
    shares = np.tile([0.9, 0.1, 0.0, 0.0, 0.0], (len(uniform), 1))
    every = np.bincount(oppose(shares, np.ones(5, bool), uniform), minlength=5)
    assert every[:2].sum() == 0
    np.testing.assert_allclose(every[2:] / len(uniform), 1 / 3, atol=0.02)
    seen = np.array([True, True, False, False, False])
    some = np.bincount(oppose(shares, seen, uniform), minlength=5)
    assert some[2:].sum() == 0
    np.testing.assert_allclose(some[0] / len(uniform), 0.1, atol=0.01)


def mixed_frame():
    return pd.DataFrame(
        {
            "count": np.array([1, 200, 30, 4], dtype=np.uint8),
            "share": np.array([0.5, np.nan, 0.25, 1], dtype=np.float32),
            "town": ["Kyiv", None, "Lviv", "Kyiv"],
            "size": pd.Categorical(["s", "m", None, "s"], ["s", "m", "l"]),
            "open": [True, False, True, True],
            "rooms": pd.array([1, None, 3, 4], dtype="Int64"),
        },
        index=[7, 5, 3, 1],
    )


MAKES = {
    "pandas": lambda frame: frame,
    "arrow-backed": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.from_pandas,
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


@pytest.mark.parametrize("make", MAKES)
def test_columns_of_frames_keep_their_types(make):
    X = MAKES[make](mixed_frame())
    read = AnyRows.read(X)
    mask = categories(read, "from_dtype")
    assert mask.tolist() == [False, False, True, True, True, False]
    model = ContainerModel.learn(read, np.arange(4), np.ones(4), mask)
    drawn = model.draw(50, np.random.default_rng(0))
    assert type(drawn) is type(X)
    both = join_rows(X, drawn)
    if make == "arrow":
        assert both.schema.equals(X.schema)
        both = both.to_pandas()
    else:
        assert list(both.dtypes) == list(X.dtypes)
        both = both.to_pandas() if make == "polars" else both
    below = both.iloc[4:]
    assert not below.isna().any(axis=None)
    assert set(below["town"]) == {"Kyiv", "Lviv"}
    assert set(below["size"].astype(str)) == {"s", "m"}
    assert set(below["open"].astype(bool)) == {True, False}
    assert below["count"].min() >= 0
    assert below["count"].nunique() > 10


def test_columns_of_arrays():
    whole = np.array([[1, 0], [2, 1], [9, 1]])
    read = AnyRows.read(whole)
    drawn = ContainerModel.learn(read, np.arange(3), np.ones(3), categories(read, [1])).draw(
        40, np.random.default_rng(0)
    )
    assert drawn.dtype == np.float64
    assert set(drawn[:, 1]) == {0.0, 1.0}
    assert len(set(drawn[:, 0])) == 40
    texts = np.array([["a", 1.5, None], ["b", None, True], ["a", 2.5, False]], dtype=object)
    read = AnyRows.read(texts)
    mask = categories(read, "from_dtype")
    assert mask.tolist() == [True, False, True]
    drawn = ContainerModel.learn(read, np.arange(3), np.ones(3), mask).draw(
        40, np.random.default_rng(0)
    )
    assert set(drawn[:, 0]) == {"a", "b"}
    assert set(drawn[:, 2]) == {True, False}
    assert all(isinstance(cell, float) for cell in drawn[:, 1])
