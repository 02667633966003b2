"""The door for X: each bad input of the acceptance table, and equal tables from all containers."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from committee.data import DataWarning, InputError, InputTypeError, read_fit, read_predict
from committee.data.errors import CODES, describe

NUMBERS = np.array([[1.0, 4.0], [2.0, np.nan], [3.0, 6.0]])


class Stream:
    """A bare Arrow stream, as any library may offer one."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def frame(**columns):
    return pd.DataFrame(columns)


BAD_FITS = {
    "B01": (np.empty((0, 3)), "X-EMPTY", ["0 sample(s) (shape=(0, 3)) while a minimum of 1 is"]),
    "B02": (np.empty((10, 0)), "X-EMPTY", ["0 feature(s) (shape=(10, 0)) while a minimum of 1 is"]),
    "B01-frame": (frame(a=[], b=[]), "X-EMPTY", ["shape=(0, 2)"]),
    "B01-sparse": (sparse.csr_array((0, 3)), "X-EMPTY", ["shape=(0, 3)"]),
    "B03": (np.ones(3), "X-SHAPE", ["Expected 2D", "1D", "Reshape your data"]),
    "B03-series": (pd.Series([1.0, 2.0]), "X-SHAPE", ["2D", "Reshape your data"]),
    "B03-list": ([1.0, 2.0], "X-SHAPE", ["Reshape your data"]),
    "B03-scalar": (np.float64(3), "X-SHAPE", ["scalar"]),
    "B04": (np.ones((2, 3, 4)), "X-SHAPE", ["(2, 3, 4)"]),
    "B06": ([[1, 2], [3, 4], [5]], "X-RAGGED", ["row 2", "1 value", "expected 2"]),
    "B07": (np.ones((3, 1)) + 1j, "X-COMPLEX", ["Complex data not supported"]),
    "B07-frame": (frame(a=[1j, 2.0]), "X-COMPLEX", ["'a'"]),
    "B08": (
        frame(n=[1, 2, 3], age=["12", "n/a", None]),
        "X-TEXT",
        ["'age' (index 1)", "1 of 3 rows", "row 1", "'n/a'", "categorical_features=['age']"],
    ),
    "B08-polars": (pl.DataFrame({"age": ["x", None]}), "X-TEXT", ["'age'", "row 0", "'x'"]),
    "B08-arrow": (pa.table({"age": [None, "x"]}), "X-TEXT", ["'age'", "row 1", "'x'"]),
    "B08-array": (np.array([[1, "x"]], object), "X-TEXT", ["column 1", "row 0", "'x'"]),
    "B08-list": ([[1, "x"], [2, "y"]], "X-TEXT", ["column 1", "2 of 2", "'x'"]),
    "B08-text": (np.array([["a", "b"]]), "X-TEXT", ["column 0", "'a'"]),
    "B08-quote": (frame(**{"a'b": ["x"]}), "X-TEXT", ['categorical_features=["a\'b"]']),
    "B08-string-dtype": (np.array([["a"]], np.dtypes.StringDType()), "X-TEXT", ["column 0", "'a'"]),
    "B08-numbers": (frame(a=["1.5", "2"]), "X-TEXT", ["numbers written as text", "'1.5'"]),
    "B08-category": (
        pd.DataFrame({"a": pd.Categorical(["u", "v"])}),
        "X-TEXT",
        ["'a'"],
        {"categorical_features": None},
    ),
    "B09": (frame(d=pd.to_datetime(["2020-01-01"])), "X-DATETIME", ["'d'", "Datetime"]),
    "B09-duration": (pl.DataFrame({"d": [1]}).cast(pl.Duration), "X-DATETIME", ["Duration"]),
    "B09-array": (np.ones((2, 1), "M8[s]"), "X-DATETIME", ["datetime64"]),
    "B10-list": (pl.DataFrame({"l": [[1], [2]]}), "X-DTYPE", ["'l'", "List"]),
    "B10-struct": (pa.table({"s": [{"a": 1}]}), "X-DTYPE", ["'s'", "Struct"]),
    "B10-bytes": (pl.DataFrame({"b": [b"x"]}), "X-DTYPE", ["'b'", "Binary"]),
    "B10-object": (frame(a=[{1}, {2}]), "X-DTYPE", ["'a'"]),
    "B10-array": (np.array([[b"x"]]), "X-DTYPE", ["S1"]),
    "B11": (pd.DataFrame([[1, 2]], columns=["a", "a"]), "X-DUPLICATE-NAMES", ["'a'"]),
    "B11-arrow": (pa.table([[1], [2]], names=["a", "a"]), "X-DUPLICATE-NAMES", ["'a'"]),
    "B12": (pd.DataFrame([[1, 2]], columns=["a", 1]), "X-NAME-TYPES", ["int", "str"]),
    "B13": (pl.DataFrame({"a": [1]}).lazy(), "X-LAZY", ["LazyFrame", "collect()/compute() first"]),
    "B13-generator": ((row for row in [[1]]), "X-LAZY", ["generator", "collect()/compute() first"]),
    "B13-none": (None, "X-CONTAINER", ["NoneType"]),
    "B13-text": ("abc", "X-CONTAINER", ["str"]),
    "B17": (
        np.array([[1, 2], [3, np.inf]]),
        "X-INFINITE",
        ["column 1", "row 1", "contains infinity"],
    ),
    "B17-negative": (np.array([[np.nan, -np.inf]]), "X-INFINITE", ["column 1", "row 0"]),
    "B17-frame": (frame(a=[1.0, 2], b=[np.inf, np.inf]), "X-INFINITE", ["'b'", "0, 1 (2 in all)"]),
    "B17-sparse": (sparse.csc_array([[0, np.inf], [1, 0]]), "X-INFINITE", ["column 1", "row 0"]),
    "B17-category": (
        np.array([[1.0], [np.inf]]),
        "X-INFINITE",
        ["column 0"],
        {"categorical_features": [0]},
    ),
    "B21": (
        frame(a=np.arange(65_536)),
        "X-LEVELS",
        ["'a'", "65536", "65535"],
        {"categorical_features": ["a"]},
    ),
    "B56-name": (NUMBERS, "CATEGORICAL-SPEC", ["'z'"], {"categorical_features": ["z"]}),
    "B56-index": (NUMBERS, "CATEGORICAL-SPEC", ["2", "[0, 1]"], {"categorical_features": [2]}),
    "B56-negative": (NUMBERS, "CATEGORICAL-SPEC", ["-1"], {"categorical_features": [-1]}),
    "B56-mask": (NUMBERS, "CATEGORICAL-SPEC", ["length 1"], {"categorical_features": [True]}),
    "B56-mixed": (NUMBERS, "CATEGORICAL-SPEC", ["0, a"], {"categorical_features": [0, "a"]}),
    "B56-frame": (
        frame(u=[1]),
        "CATEGORICAL-SPEC",
        ["'v'", "'u'"],
        {"categorical_features": ["v"]},
    ),
    "mixed-levels": (
        np.array([["a"], [1]], object),
        "X-LEVEL-TYPES",
        ["text", "number"],
        {"categorical_features": [0]},
    ),
    "sparse-category": (
        sparse.csr_array(NUMBERS),
        "X-SPARSE-CATEGORICAL",
        ["MB"],
        {"categorical_features": [0]},
    ),
}
TYPE_ERRORS = {"B12", "B13", "B13-generator", "B13-none", "B13-text", "sparse-category"}


@pytest.mark.parametrize("case", BAD_FITS)
def test_bad_fit(case):
    X, code, facts, *options = BAD_FITS[case]
    with pytest.raises(InputError) as caught:
        read_fit(X, **(options[0] if options else {}))
    assert caught.value.code == code
    assert isinstance(caught.value, TypeError) == (case in TYPE_ERRORS)
    for fact in facts:
        assert fact in str(caught.value)


def test_object_that_is_no_number_is_a_type_error():
    X = np.ones((2, 2), dtype=object)
    X[0, 0] = {"foo": "bar"}
    with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
        read_fit(X)


def test_codes_are_declared():
    with pytest.raises(KeyError):
        describe("NO-SUCH", "X", "found")
    assert all(code == code.upper() and text for code, text in CODES.items())


ACCEPTED = {
    "B16-fortran": np.asfortranarray(NUMBERS),
    "B16-strided": np.repeat(NUMBERS, 2, axis=0)[::2],
    "B16-reversed": NUMBERS[::-1].copy()[::-1],
    "B16-big-endian": NUMBERS.astype(">f8"),
    "B16-float16": NUMBERS.astype(np.float16),
    "B16-float32": NUMBERS.astype(np.float32),
    "B16-longdouble": NUMBERS.astype(np.longdouble),
    "B16-masked": np.ma.masked_array(np.nan_to_num(NUMBERS), np.isnan(NUMBERS)),
    "B16-nullable": pd.DataFrame(
        {"a": pd.array([1, 2, 3], "Int64"), "b": pd.array([4, None, 6], "Int64")}
    ),
    "B18-none": [[1, 4], [2, None], [3, 6]],
    "B18-object": np.array([[1, 4], [2, pd.NA], [3, 6]], object),
    "B18-pandas-object": pd.DataFrame({"a": [1, 2, 3], "b": [4, None, 6]}, dtype=object),
    "B18-pandas": pd.DataFrame({"a": [1.0, 2, 3], "b": [4, np.nan, 6]}),
    "B18-polars": pl.DataFrame({"a": [1, 2, 3], "b": [4, None, 6]}),
    "B18-polars-float": pl.DataFrame({"a": [1.0, 2, 3], "b": [4.0, None, 6]}),
    "B18-arrow": pa.table({"a": [1, 2, 3], "b": [4, None, 6]}),
    "arrow-batch": pa.table({"a": [1, 2, 3], "b": [4, None, 6]}).to_batches()[0],
    "arrow-stream": Stream(pa.table({"a": [1, 2, 3], "b": [4, None, 6]})),
    "arrow-decimal": pa.table({"a": [1, 2, 3], "b": pa.array([4, None, 6], pa.decimal128(20))}),
    "pandas-sparse": pd.DataFrame(NUMBERS).astype(pd.SparseDtype(float, np.nan)),
    "pandas-integer-names": pd.DataFrame({0: [1, 2, 3], 1: [4, np.nan, 6]}),
    "bool-and-int": pd.DataFrame({"a": [1, 2, 3], "b": [4, None, 6]}).astype({"b": "Int8"}),
    "pandas-numeric-category": pd.DataFrame({"a": [1, 2, 3], "b": [4.0, None, 6]}).astype(
        {"a": "category"}
    ),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_equal_values_give_equal_tables(case):
    X = ACCEPTED[case]
    table, schema = read_fit(X, categorical_features=None)
    np.testing.assert_array_equal(table.values, NUMBERS)
    assert table.values.dtype.isnative
    assert (table.n_rows, table.n_features, schema.n_features) == (3, 2, 2)
    np.testing.assert_array_equal(read_predict(X, schema).values, NUMBERS)


def test_memory_map_is_read_in_place(tmp_path):
    np.save(tmp_path / "x.npy", NUMBERS)
    X = np.load(tmp_path / "x.npy", mmap_mode="r")
    table, _ = read_fit(X)
    assert np.shares_memory(table.values, X)


@pytest.mark.parametrize("dtype", [*"bBhHiIlLqQ", "f4", "f8", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_usable_arrays_are_not_copied(dtype, order):
    X = np.ones((4, 3), dtype=dtype, order=order)
    X.flags.writeable = False
    table, schema = read_fit(X)
    assert table.values is X or np.shares_memory(table.values, X)
    assert table.values.dtype == X.dtype
    assert np.shares_memory(read_predict(X, schema).values, X)


def test_homogeneous_pandas_frame_is_not_copied():
    X = pd.DataFrame(np.ones((4, 3)))
    table, schema = read_fit(X)
    assert np.shares_memory(table.values, X.to_numpy())
    assert schema.feature_names is None


def test_unaligned_array_is_copied():
    raw = np.zeros(8 * 6 + 1, np.uint8)[1:].view(np.float64).reshape(3, 2)
    table, _ = read_fit(raw)
    assert table.values.flags.aligned


def test_b15_large_integers():
    X = np.array([[1, 2**53], [2, 2**53 + 1], [3, 5]])
    for data in (
        X,
        pd.DataFrame(X, columns=["a", "b"]),
        pl.DataFrame({"a": [1, 2, 3], "b": X[:, 1]}),
    ):
        with pytest.warns(DataWarning, match=r"X-ROUNDED.*(column 1|'b').*2 different values"):
            read_fit(data)
    read_fit(np.array([[2**60], [2**61]]))


def test_b19_all_missing_column():
    X = np.array([[np.nan, 1, np.nan], [np.nan, 2, 3]])
    for data, name in (
        (X, "column 0"),
        (pd.DataFrame(X, columns=list("abc")), "'a'"),
        (pl.DataFrame({"a": [None, None], "b": [1, 2]}), "'a'"),
        (sparse.csc_array(X), "column 0"),
    ):
        with pytest.warns(DataWarning, match=rf"X-ALL-MISSING.*{name}.*1 column") as caught:
            read_fit(data)
        assert len(caught) == 1


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinity_in_a_large_matrix(order, bad):
    X = np.zeros((70_000, 5), order=order)
    X[::7, 3] = np.nan
    _, schema = read_fit(X)
    X[1::2, 1] = bad
    for read in (read_fit, lambda X: read_predict(X, schema)):
        with pytest.raises(InputError, match=r"column 1, rows 1, 3, 5, 7, 9, ... \(35000 in all\)"):
            read(X)


def test_sum_that_overflows_is_no_infinity():
    X = np.full((3, 2), 1e308)
    table, schema = read_fit(X)
    assert read_predict(np.full((3000, 2), -1e308), schema).n_rows == 3000
    assert table.values is X


@pytest.mark.parametrize("container", ["matrix", "array"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
def test_sparse(container, form, dtype):
    dense = np.array([[0, 1, 0], [2, 0, 3]]).astype(dtype)
    X = getattr(sparse, f"{form}_{container}")(dense)
    fitted, schema = read_fit(X)
    for table in (fitted, read_predict(X, schema)):
        assert table.sparse
        assert table.indices.dtype == np.int32
        assert table.indptr.dtype == np.int64
        make = sparse.csr_array if table.by_row else sparse.csc_array
        again = make((table.values, table.indices, table.indptr), shape=dense.shape)
        np.testing.assert_array_equal(again.toarray(), dense)
        assert table.values.dtype == dtype


def test_sparse_is_canonical_and_the_users_object_untouched():
    X = sparse.csr_array(
        (np.array([1.0, 2, 3]), np.array([2, 0, 0]), np.array([0, 3])), shape=(1, 3)
    )
    before = X.data.copy(), X.indices.copy()
    table, _ = read_fit(X)
    assert table.indices.tolist() == [0, 2]
    assert table.values.tolist() == [5, 1]
    np.testing.assert_array_equal(X.data, before[0])
    np.testing.assert_array_equal(X.indices, before[1])


def test_b60_no_rows_at_predict():
    _, schema = read_fit(pd.DataFrame({"a": [1.0], "b": [2.0]}))
    assert read_predict(pd.DataFrame({"a": [], "b": []}), schema).n_rows == 0
    _, schema = read_fit(NUMBERS)
    assert read_predict(np.empty((0, 2)), schema).n_rows == 0
    assert read_predict(sparse.csr_array((0, 2)), schema).n_rows == 0


NAMED = pd.DataFrame({"a": [1.0, 2], "b": [3.0, 4], "c": [5.0, 6]})
BAD_PREDICTS = {
    "B61": (
        np.ones((2, 2)),
        "X-WIDTH",
        ["X has 2 features, but Tree is expecting 3 features as input"],
    ),
    "B61-sparse": (sparse.eye_array(2), "X-WIDTH", ["X has 2 features, but Tree is expecting 3"]),
    "B62": (NAMED[["a", "b"]], "X-NAMES", ["yet now missing:\n- c\n"]),
    "B62-extra": (NAMED.assign(d=1.0), "X-NAMES", ["unseen at fit time:\n- d\n"]),
    "B63": (
        NAMED[["c", "b", "a"]],
        "X-NAMES",
        [
            "The feature names should match those that were passed during fit.\n"
            "Feature names must be in the same order as they were in fit.\n",
            "X[model.feature_names_in_]",
        ],
    ),
    "B63-order": (NAMED.rename(columns={"a": "z"}), "X-NAMES", ["in that order (c, b, a)"]),
    "B65": (NAMED.astype({"b": str}).assign(b="12,5"), "X-KIND", ["'b'", "'12,5'", "Float64"]),
    "B65-list": ([[1, "12,5", 3]], "X-KIND", ["column 1", "'12,5'", "numeric"]),
    "B67": (NAMED.assign(b=np.inf), "X-INFINITE", ["'b'", "0, 1"]),
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("case", BAD_PREDICTS)
def test_bad_predict(case):
    X, code, facts = BAD_PREDICTS[case]
    _, schema = read_fit(NAMED[["c", "b", "a"]] if case == "B63-order" else NAMED)
    with pytest.raises(InputError) as caught:
        read_predict(X, schema, estimator_name="Tree")
    assert caught.value.code == code
    for fact in facts:
        assert fact in str(caught.value)


def test_b67_small_array():
    _, schema = read_fit(NUMBERS)
    with pytest.raises(InputError, match=r"X-INFINITE.*column 0"):
        read_predict(np.array([[np.inf, 1.0]]), schema)
    assert read_predict(np.array([[np.nan, 1.0]]), schema).n_rows == 1


def test_b68_names_missing_or_new():
    _, schema = read_fit(NAMED)
    with pytest.warns(
        UserWarning,
        match="^X does not have valid feature names, but Tree was fitted with feature names",
    ) as caught:
        read_predict(NAMED.to_numpy(), schema, estimator_name="Tree")
    assert caught[0].filename == __file__
    _, schema = read_fit(NAMED.to_numpy())
    with pytest.warns(
        UserWarning, match="X has feature names, but Tree was fitted without feature"
    ):
        read_predict(NAMED, schema, estimator_name="Tree")


def test_type_errors_are_input_errors():
    assert issubclass(InputTypeError, InputError)
    assert issubclass(InputTypeError, TypeError)
