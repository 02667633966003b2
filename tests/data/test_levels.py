"""Categorical columns: the same levels and codes whatever the container."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from committee.data import DataWarning, InputError, read_fit, read_predict

TEXT = ["b", None, "c", "a", "b"]
CODES = [1, np.nan, 2, 0, 1]
NUMBERS = [7, 3, 9, 3, 7]

TEXT_COLUMNS = {
    "pandas": pd.DataFrame({"k": pd.Categorical(TEXT, categories=["z", "c", "b", "a"])}),
    "pandas-string": pd.DataFrame({"k": TEXT}),
    "pandas-object": pd.DataFrame({"k": np.array(TEXT, object)}, dtype=object),
    "polars": pl.DataFrame({"k": pl.Series(TEXT, dtype=pl.Categorical)}),
    "polars-string": pl.DataFrame({"k": TEXT}),
    "arrow": pa.table({"k": pa.array(TEXT).dictionary_encode()}),
    "arrow-chunks": pa.table(
        {
            "k": pa.chunked_array(
                [pa.array(TEXT[:2]).dictionary_encode(), pa.array(TEXT[2:]).dictionary_encode()]
            )
        }
    ),
    "arrow-string": pa.table({"k": TEXT}),
    "numpy": np.array(TEXT, object)[:, None],
    "list": [[value] for value in TEXT],
}


@pytest.mark.parametrize("case", TEXT_COLUMNS)
def test_text_levels(case):
    X = TEXT_COLUMNS[case]
    table, schema = read_fit(X, categorical_features=[0])
    assert table.levels[0].tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(table.values[:, 0], CODES)
    assert table.n_levels().tolist() == [3]
    np.testing.assert_array_equal(read_predict(X, schema).values[:, 0], CODES)


@pytest.mark.parametrize("case", ["pandas", "polars", "arrow", "arrow-chunks"])
def test_from_dtype_is_the_default(case):
    table, _ = read_fit(TEXT_COLUMNS[case])
    np.testing.assert_array_equal(table.values[:, 0], CODES)
    assert table.feature_names.tolist() == ["k"]


NUMBER_COLUMNS = {
    "numpy-int": np.array(NUMBERS)[:, None],
    "numpy-float": np.array(NUMBERS, float)[:, None],
    "numpy-uint": np.array(NUMBERS, np.uint64)[:, None],
    "numpy-object": np.array(NUMBERS, object)[:, None],
    "pandas": pd.DataFrame({"k": NUMBERS}),
    "pandas-category": pd.DataFrame({"k": pd.Categorical(NUMBERS)}),
    "pandas-float-category": pd.DataFrame({"k": pd.Categorical(np.array(NUMBERS, float))}),
    "polars": pl.DataFrame({"k": NUMBERS}),
    "arrow": pa.table({"k": pa.array(NUMBERS).dictionary_encode()}),
}


@pytest.mark.parametrize("spec", [[0], [True], np.array([0]), np.array([True])], ids=str)
@pytest.mark.parametrize("case", NUMBER_COLUMNS)
def test_number_levels(case, spec):
    table, schema = read_fit(NUMBER_COLUMNS[case], categorical_features=spec)
    assert table.levels[0].dtype == np.int64
    assert table.levels[0].tolist() == [3, 7, 9]
    assert table.values[:, 0].tolist() == [1, 0, 2, 0, 1]
    for other in NUMBER_COLUMNS.values():
        if hasattr(other, "columns") == (schema.feature_names is not None):
            assert read_predict(other, schema).values[:, 0].tolist() == [1, 0, 2, 0, 1]


def test_declared_order_is_kept():
    order = ["low", "mid", "high", "never"]
    values = ["high", "low", "mid"]
    arrow = pa.DictionaryArray.from_arrays([2, 0, 1], order, ordered=True)
    for X in (
        pd.DataFrame({"k": pd.Categorical(values, categories=order, ordered=True)}),
        pl.DataFrame({"k": pl.Series(values, dtype=pl.Enum(order))}),
        pa.table({"k": arrow}),
    ):
        table, _ = read_fit(X)
        assert table.levels[0].tolist() == ["low", "mid", "high"]
        assert table.values[:, 0].tolist() == [2, 0, 1]


def test_intervals_become_their_text():
    table, _ = read_fit(pd.DataFrame({"k": pd.cut([1, 5, 9], [0, 4, 10])}))
    assert table.levels[0].tolist() == ["(0, 4]", "(4, 10]"]


def test_names_select_columns_and_the_rest_stays_numeric():
    X = pd.DataFrame({"u": [1.5, 2.5], "k": ["y", "x"]})
    table, schema = read_fit(X, categorical_features=["k"])
    assert table.values.tolist() == [[1.5, 1], [2.5, 0]]
    assert schema.n_levels().tolist() == [0, 2]


def test_float32_frames_stay_single():
    X = pd.DataFrame({"u": np.array([1, 2], np.float32), "k": pd.Categorical(["y", "x"])})
    assert read_fit(X)[0].values.dtype == np.float32
    assert read_fit(X.assign(v=[1, 2]))[0].values.dtype == np.float64


def test_large_identifiers_stay_apart():
    ids = [2**53, 2**53 + 1, 2**53]
    for X in (np.array(ids)[:, None], pd.DataFrame({"k": ids}), pl.DataFrame({"k": ids})):
        table, _ = read_fit(X, categorical_features=[0])
        assert table.values[:, 0].tolist() == [0, 1, 0]


def test_b66_unseen_levels():
    for kind in ("category", "str"):
        X = pd.DataFrame({"k": ["a", "b", "a"]}).astype(kind)
        _, schema = read_fit(X, categorical_features=["k"])
        new = pd.DataFrame({"k": ["b", "q", "r", None, "q"]}).astype(kind)
        with pytest.warns(DataWarning, match=r"X-UNSEEN.*'k'.*2 level.*'q', 'r'.*3 row") as caught:
            table = read_predict(new, schema)
        assert len(caught) == 1
        np.testing.assert_array_equal(table.values[:, 0], [1, np.nan, np.nan, np.nan, np.nan])


def test_b65_kind_of_levels_changed():
    _, schema = read_fit(pd.DataFrame({"k": pd.Categorical(["a", "b"])}))
    with pytest.raises(InputError, match=r"X-KIND.*'k'.*text.*a, b.*numbers.*1, 2"):
        read_predict(pd.DataFrame({"k": [1, 2]}), schema)


def test_b22_missing_category_column():
    with pytest.warns(DataWarning, match="X-ALL-MISSING"):
        table, schema = read_fit(pd.DataFrame({"k": pd.Categorical([None, None]), "u": [1, 2]}))
    assert table.levels[0].tolist() == []
    with pytest.warns(DataWarning, match="X-UNSEEN"):
        read_predict(pd.DataFrame({"k": pd.Categorical(["a"]), "u": [1]}), schema)


def test_polars_levels_do_not_depend_on_the_past():
    first = read_fit(pl.DataFrame({"k": pl.Series(["m", "l"], dtype=pl.Categorical)}))[0]
    pl.Series(["zz", "yy"], dtype=pl.Categorical)
    again = read_fit(pl.DataFrame({"k": pl.Series(["l", "m"], dtype=pl.Categorical)}))[0]
    assert first.values[:, 0].tolist() == again.values[::-1, 0].tolist() == [1, 0]
