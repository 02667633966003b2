"""The door for y and for weights: each bad input of the acceptance table."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.class_weight import compute_sample_weight

from committee.data import (
    DataWarning,
    InputError,
    combine_weights,
    read_class_weights,
    read_classes,
    read_numbers,
    read_weights,
)

NAN = float("nan")
BAD_CLASSES = {
    "B05": ([0, 1], "Y-LENGTH", ["[3, 2]", "3 rows", "y has 2"]),
    "B23": (None, "Y-NONE", ["requires y to be passed, but the target y is None"]),
    "B24": (np.array([0, NAN, 1]), "Y-NAN", ["1 row", "row 1", "Input y contains NaN."]),
    "B24-object": (np.array(["a", NAN, "b"], object), "Y-NAN", ["row 1"]),
    "B25": (np.array([0, None, None], object), "Y-NULL", ["2 row", "rows 1, 2"]),
    "B25-pandas": (pd.Series(["a", None, "b"]), "Y-N", ["row 1"]),
    "B25-polars": (pl.Series([1, None, 0]), "Y-NAN", ["row 1"]),
    "B25-na": (np.array([0, pd.NA, 1], object), "Y-NULL", ["row 1"]),
    "B26": (np.array([0, np.inf, 1]), "Y-INFINITE", ["contains infinity", "row 1"]),
    "B28": (
        [0.5, 1, 2],
        "Y-CONTINUOUS",
        ["Unknown label type: continuous", "row 0", "DecisionTreeRegressor"],
    ),
    "B29": (np.ones((3, 2)), "Y-SHAPE", ["(3, 2)", "y should be a 1d array"]),
    "B29-scalar": (3, "Y-SHAPE", ["y should be a 1d array"]),
    "B30": (np.array([1, "1", 1], object), "Y-MIXED", ["int (2 rows)", "str (1 rows)"]),
    "B30-list": ([1, "1", 1], "Y-MIXED", ["int (2 rows)", "str (1 rows)"]),
    "B30-bool": (np.array([True, 1, 1], object), "Y-MIXED", ["bool (1 rows)"]),
    "complex": (np.array([1j, 0, 1]), "Y-COMPLEX", ["Complex data not supported"]),
    "objects": ([{1}, {2}, {3}], "Y-UNKNOWN", ["Unknown label type: "]),
    "lists": ([[1], [1, 2], [3]], "Y-UNKNOWN", ["Unknown label type: "]),
    "dates": (np.ones(3, "M8[s]"), "Y-UNKNOWN", ["Unknown label type: "]),
    "sparse": (sparse.csr_array([[1, 0, 1]]), "Y-SPARSE", ["toarray"]),
}
BAD_NUMBERS = {
    "B05": ([0, 1], "Y-LENGTH", ["[3, 2]"]),
    "B23": (None, "Y-NONE", ["requires y to be passed, but the target y is None"]),
    "B26": ([NAN, 1, NAN], "Y-NAN", ["2 row", "rows 0, 2", "Input y contains NaN."]),
    "B26-inf": ([1, 2, -np.inf], "Y-INFINITE", ["row 2", "contains infinity"]),
    "B26-none": ([1, None, 2], "Y-NULL", ["row 1"]),
    "B27": ([1, -1e151, 2], "Y-HUGE", ["row 1", "-1e+151", "rescale or log"]),
    "B29": (np.ones((3, 2)), "Y-SHAPE", ["(3, 2)"]),
    "B31": (["1", "2", "3"], "Y-TEXT", ["'1'", "convert to float"]),
    "B31-pandas": (pd.Series(["1.5", "2", "3"]), "Y-TEXT", ["'1.5'", "convert to float"]),
    "complex": (np.array([1j, 0, 1]), "Y-COMPLEX", ["Complex data not supported"]),
    "dates": (np.ones(3, "M8[s]"), "Y-DTYPE", ["datetime"]),
}


@pytest.mark.parametrize("case", BAD_CLASSES)
def test_bad_classes(case):
    y, code, facts = BAD_CLASSES[case]
    with pytest.raises(InputError) as caught:
        read_classes(y, 3, estimator_name="DecisionTreeClassifier")
    assert caught.value.code.startswith(code)
    for fact in facts:
        assert fact in str(caught.value)


@pytest.mark.parametrize("case", BAD_NUMBERS)
def test_bad_numbers(case):
    y, code, facts = BAD_NUMBERS[case]
    with pytest.raises(InputError) as caught:
        read_numbers(y, 3)
    assert caught.value.code == code
    for fact in facts:
        assert fact in str(caught.value)


LABELS = {
    "int": np.array([7, -3, 7, 5]),
    "int8": np.array([7, -3, 7, 5], np.int8),
    "far": np.array([10**15, -3, 10**15, 5]),
    "uint64": np.array([2**64 - 1, 0, 2**64 - 1, 5], np.uint64),
    "float": np.array([2.0, 1, 2, -4]),
    "float32": np.array([2, 1, 2, -4], np.float32),
    "big-endian": np.array([7, -3, 7, 5], ">i4"),
    "bool": np.array([True, False, True, False]),
    "text": np.array(["b", "a", "b", "ccc"]),
    "object": np.array(["b", "a", "b", "ccc"], object),
    "object-int": np.array([3, 1, 3, 2], object),
    "string-dtype": np.array(["b", "a", "b", "c"], np.dtypes.StringDType()),
    "list": ["b", "a", "b", "c"],
    "pandas": pd.Series(["b", "a", "b", "c"], index=[5, 6, 7, 8]),
    "category": pd.Series(["b", "a", "b", "c"], dtype="category"),
    "nullable": pd.Series([3, 1, 3, 2], dtype="Int64"),
    "polars": pl.Series(["b", "a", "b", "c"]),
    "arrow": pa.chunked_array([[3, 1], [3, 2]]),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels(case):
    y = LABELS[case]
    labels = read_classes(y, 4)
    array = np.array(y.to_pylist()) if isinstance(y, pa.ChunkedArray) else np.asarray(y)
    classes, codes = np.unique(array, return_inverse=True)
    assert labels.classes[0].tolist() == classes.tolist()
    np.testing.assert_array_equal(labels.codes[:, 0], codes)
    assert labels.codes.dtype == np.int32
    if isinstance(y, np.ndarray) and y.dtype.kind not in "OT":
        assert labels.classes[0].dtype == y.dtype


@pytest.mark.filterwarnings("ignore::committee.data.DataWarning")
@pytest.mark.parametrize("seed", range(20))
def test_integer_labels_as_numpy_does(seed):
    rng = np.random.default_rng(seed)
    low = int(rng.integers(-(2**62), 2**62))
    y = low + rng.integers(0, 10 ** int(rng.integers(0, 7)), size=50)
    classes, codes = np.unique(y, return_inverse=True)
    labels = read_classes(y, 50)
    np.testing.assert_array_equal(labels.classes[0], classes)
    np.testing.assert_array_equal(labels.codes[:, 0], codes)


def test_b29_one_column_is_ravelled():
    for y in (np.array([[0], [1]]), [[0], [1]], pd.DataFrame({"y": [0, 1]})):
        with pytest.warns(
            DataConversionWarning, match="A column-vector y was passed when a 1d array was expected"
        ):
            assert read_classes(y, 2).codes.tolist() == [[0], [1]]
        with pytest.warns(DataConversionWarning):
            assert read_numbers(y, 2).tolist() == [[0], [1]]


def test_several_outputs():
    frame = pd.DataFrame({"u": ["a", "b", "a"], "v": [3, 3, 1]})
    labels = read_classes(frame, 3, multi_output=True)
    assert [classes.tolist() for classes in labels.classes] == [["a", "b"], [1, 3]]
    assert labels.codes.tolist() == [[0, 1], [1, 1], [0, 0]]
    assert labels.codes.flags.f_contiguous
    assert labels.n_outputs == 2
    numbers = read_numbers(np.arange(6).reshape(3, 2), 3, multi_output=True)
    assert numbers.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_b32_one_class():
    with pytest.warns(DataWarning, match=r"Y-ONE-CLASS.*'a'.*2 or more to learn"):
        assert read_classes(["a", "a"], 2).codes.tolist() == [[0], [0]]


def test_many_classes():
    with pytest.warns(DataWarning, match="greater than 50% of the number of samples"):
        read_classes(np.arange(30), 30)


BAD_WEIGHTS = {
    "B35": ([1, 2], "W-LENGTH", ["2 weights", "3 rows"]),
    "B36": ([1, NAN, 1], "W-FINITE", ["row 1"]),
    "B36-inf": ([1, 1, np.inf], "W-FINITE", ["row 2"]),
    "B37": ([1, -1, -2], "W-NEGATIVE", ["rows 1, 2", "weights must be >= 0"]),
    "B38": ([0, 0, 0], "W-ZERO", ["weights must contain at least one non-zero"]),
    "B39": (np.ones((3, 2)), "W-SHAPE", ["(3, 2)"]),
    "text": (["a", "b", "c"], "W-DTYPE", ["numbers"]),
}


@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_bad_weights(case):
    weights, code, facts = BAD_WEIGHTS[case]
    with pytest.raises(InputError) as caught:
        read_weights(weights, 3)
    assert caught.value.code == code
    for fact in facts:
        assert fact in str(caught.value)


@pytest.mark.parametrize(
    "weights",
    [
        [1, 0, 2],
        np.array([1, 0, 2], np.float32),
        pd.Series([1, 0, 2], dtype="Int64"),
        pl.Series([1, 0, 2]),
    ],
    ids=["list", "float32", "pandas", "polars"],
)
def test_weights(weights):
    read = read_weights(weights, 3)
    assert read.dtype == np.float64
    assert read.tolist() == [1, 0, 2]


def test_b40_extreme_weights_and_none():
    assert read_weights(None, 3) is None
    assert read_weights(2, 3).tolist() == [2, 2, 2]
    assert read_weights([1e300, 1e-300, 0], 3).tolist() == [1e300, 1e-300, 0]


def test_class_weights_agree_with_scikit_learn():
    y = np.array([[1, 5], [2, 5], [2, 6], [2, 6]])
    labels = read_classes(y, 4, multi_output=True)
    for spec in ("balanced", [{1: 3, 2: 0.5}, {5: 2, 6: 1}]):
        expected = compute_sample_weight(spec, y)
        np.testing.assert_allclose(read_class_weights(spec, labels), expected)
    single = read_classes(y[:, 0], 4)
    assert read_class_weights({1: 10}, single).tolist() == [10, 1, 1, 1]
    assert read_class_weights(None, single) is None


@pytest.mark.parametrize(
    ("spec", "facts"),
    [
        ({9: 1.0}, ["9", "known classes: 1, 2"]),
        ({1: -1}, ["-1"]),
        ({1: NAN}, ["nan"]),
        ("balance", ["'balance'"]),
        ([{1: 1}, {2: 1}], ["1 output"]),
    ],
    ids=["B41-unknown", "B41-negative", "B41-nan", "B41-word", "B41-list"],
)
def test_bad_class_weights(spec, facts):
    with pytest.raises(InputError, match="W-CLASS") as caught:
        read_class_weights(spec, read_classes([1, 2, 1], 3))
    for fact in facts:
        assert fact in str(caught.value)


def test_combined_weights():
    ones = np.ones(2)
    assert combine_weights(None, None) is None
    assert combine_weights(ones, None) is ones
    assert combine_weights(ones * 2, ones * 3).tolist() == [6, 6]
    with pytest.raises(InputError, match="W-OVERFLOW"):
        combine_weights(ones * 1e300, ones * 1e300)
    with pytest.raises(InputError, match="W-ZERO"):
        combine_weights(np.array([0.0, 1]), np.array([1.0, 0]))


def test_errors_survive_pickling():
    with pytest.raises(InputError) as caught:
        read_weights([0, 0], 2)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.code == "W-ZERO"
    assert str(again) == str(caught.value)
