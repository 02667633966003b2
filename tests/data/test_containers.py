"""Property: one set of values, however packed, gives one table and one schema."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from committee.data import Schema, read_fit, read_predict

NUMBERS = st.none() | st.floats(-1e6, 1e6) | st.integers(-100, 100).map(float)
LETTERS = st.none() | st.sampled_from("abcd\u00e4")
ROWS = st.lists(st.tuples(NUMBERS, LETTERS), min_size=2, max_size=20).map(
    lambda rows: [(1.0, "a"), *rows]
)


@given(ROWS)
def test_containers_agree(rows):
    numbers, letters = (list(column) for column in zip(*rows, strict=True))
    columns = {"u": numbers, "k": letters}
    reference, _ = read_fit(np.array(rows, dtype=object), categorical_features=[1])
    packed = [
        pd.DataFrame({"u": numbers, "k": pd.Categorical(letters)}),
        pd.DataFrame({"u": pd.array(numbers, dtype="Float64"), "k": letters}).astype(
            {"k": "category"}
        ),
        pl.DataFrame(columns, schema={"u": pl.Float64, "k": pl.Categorical}),
        pl.DataFrame(columns, schema={"u": pl.Float64, "k": pl.String}),
        pa.table(
            {"u": pa.array(numbers, pa.float64()), "k": pa.array(letters).dictionary_encode()}
        ),
        pa.table({"u": pa.array(numbers, pa.float64()), "k": pa.array(letters)}),
    ]
    for X in packed:
        table, schema = read_fit(X, categorical_features=["k"])
        np.testing.assert_array_equal(table.values, reference.values)
        assert table.levels[1].tolist() == reference.levels[1].tolist()
        for other in packed:
            again = read_predict(other, schema)
            np.testing.assert_array_equal(again.values, reference.values)


def test_schema_survives_pickling():
    X = pd.DataFrame({"u": [1.0, 2.0], "k": pd.Categorical(["a", "b"])})
    _, schema = read_fit(X)
    again = pickle.loads(pickle.dumps(schema))
    assert isinstance(again, Schema)
    np.testing.assert_array_equal(read_predict(X, again).values, [[1, 0], [2, 1]])
