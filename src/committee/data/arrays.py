"""Arrays and nested lists: into one two-dimensional array, and its columns into numbers.

A numeric array that the engine can read is passed on as it is, whatever its order and strides.
Text is never parsed: what a string means is the user's decision, so that "1,5" cannot slip in.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from numbers import Complex, Real
from typing import Any

import numpy as np

from committee.data.errors import InputError, InputTypeError, class_name, describe, rows_text
from committee.data.levels import is_missing
from committee.data.table import Array

NUMBERS = (Real, np.bool_, Decimal)
DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


def as_matrix(X: Any) -> Array:
    """Return ``X`` as a two-dimensional array of any dtype, without a copy where possible."""
    if isinstance(X, np.ma.MaskedArray):
        hole = np.nan if X.dtype.kind in "biuf" else None
        X = np.ma.filled(X.astype(object if hole is None else np.float64), hole)
    elif not isinstance(X, np.ndarray):
        X = _to_array(X)
    if X.ndim == 2:
        return np.asarray(X, dtype=object if X.dtype.kind == "T" else None)
    raise _shape_error(X)


def _to_array(X: Any) -> Array:
    if isinstance(X, Iterator) or hasattr(X, "__dask_graph__"):
        raise lazy_error(X)
    known = hasattr(X, "__array__") or hasattr(X, "__array_interface__")
    if not known and not isinstance(X, (list, tuple, memoryview)):
        raise InputTypeError(
            describe(
                "X-CONTAINER",
                "X",
                f"cannot read data from an object of type {class_name(X)}",
                allowed="a NumPy array, a SciPy sparse matrix, a pandas, polars or Arrow table, "
                "an object with __arrow_c_stream__ (needs pyarrow or polars), a list of rows",
                fix="convert it to one of these",
            )
        )
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise _ragged_error(X, error) from None
    if array.dtype.kind in "US" and isinstance(X, (list, tuple)):
        return np.asarray(X, dtype=object)  # keeps the numbers beside the text as numbers
    return array


def lazy_error(X: Any) -> InputTypeError:
    """Compose the error for inputs whose rows do not exist yet."""
    return InputTypeError(
        describe(
            "X-LAZY",
            "X",
            f"{class_name(X)} is lazy, its rows are not in memory",
            allowed="arrays, sparse matrices and eager data frames",
            fix="call X.collect() (polars), X.compute() (Dask) or list(X) (generator) first; "
            "that is: collect()/compute() first",
        )
    )


def _ragged_error(X: Any, error: ValueError) -> InputError:
    """Find the first row of a nested list that differs in length from row 0."""
    lengths = [len(row) if hasattr(row, "__len__") else -1 for row in X]
    odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
    found = str(error)
    if odd is not None:
        length = f"{lengths[odd]} value(s)" if lengths[odd] >= 0 else "no length at all"
        found = f"row {odd} has {length}, expected {lengths[0]} as in row 0"
    return InputError(
        describe(
            "X-RAGGED",
            "X",
            found,
            allowed="rows of equal length",
            fix="fill gaps with None or NaN, which count as missing",
        )
    )


def _shape_error(X: Array) -> InputError:
    got = "scalar" if X.ndim == 0 else f"{X.ndim}D"
    fix = "X.reshape(n_rows, -1)" if X.ndim > 2 else "X.reshape(-1, 1) or X.reshape(1, -1)"
    return InputError(
        describe(
            "X-SHAPE",
            "X",
            f"Expected 2D array, got {got} array instead (shape={X.shape}). Reshape your data "
            "either using array.reshape(-1, 1) if your data has a single feature or "
            "array.reshape(1, -1) if it contains a single sample",
            allowed="two dimensions, one row per sample and one column per feature (2-D)",
            fix=fix,
        )
    )


def series_error() -> InputError:
    """Compose the error for a data frame's single column in place of a frame."""
    return InputError(
        describe(
            "X-SHAPE",
            "X",
            "Expected 2D input, got 1D (a series). Reshape your data",
            allowed="a frame, one column per feature (2-D)",
            fix="X.to_frame() if it is one feature",
        )
    )


def is_ready(values: Array) -> bool:
    """Tell whether the engine can read a numeric array as it stands."""
    dtype = values.dtype
    fits = dtype.itemsize in (4, 8) if dtype.kind == "f" else dtype.kind in "biu"
    return fits and dtype.isnative and values.flags.aligned


def numeric(values: Array, where: str) -> Array:
    """Return an array (any shape) of a numeric dtype in a form that the engine reads.

    Raises
    ------
    InputError
        When the dtype is not numeric; ``where`` names the column or says "all columns".
    """
    kind = values.dtype.kind
    if is_ready(values):
        return values
    if kind in "biu":
        return values.astype(values.dtype.newbyteorder("="))
    if kind == "f":  # float16 is exact in float32; long doubles lose their extra digits
        return values.astype(np.float32 if values.dtype.itemsize in (2, 4) else np.float64)
    raise dtype_error(values, where)


def dtype_error(values: Array, where: str) -> InputError:
    """Compose the error for an array whose dtype as such is not numeric."""
    kind, dtype = values.dtype.kind, values.dtype
    if kind == "c":
        return complex_error("X", where)
    if kind in "mM":
        return datetime_error(where, dtype)
    if kind == "U":
        rows = values[:, 0] if values.ndim == 2 else values
        return text_error(rows.tolist(), where)
    return kind_error(where, dtype)


def complex_error(argument: str, where: str) -> InputError:
    """Compose the error for complex numbers in X or y."""
    return InputError(
        describe(
            f"{argument}-COMPLEX".upper(),
            argument,
            f"Complex data not supported: {where}",
            allowed="real numbers",
            fix=f"use {argument}.real, or real and imaginary part as two columns",
        )
    )


def datetime_error(where: str, dtype: object) -> InputError:
    """Compose the error for dates and durations."""
    return InputError(
        describe(
            "X-DATETIME",
            "X",
            f"{where} holds dates, times or durations (dtype {dtype})",
            allowed="numbers, missing values, or a categorical column",
            fix="derive numbers: year, month, weekday or hour of a date, seconds since a fixed "
            "day, total seconds of a duration",
        )
    )


def kind_error(where: str, dtype: object) -> InputError:
    """Compose the error for lists, structs, bytes and other types without a number in them."""
    return InputError(
        describe(
            "X-DTYPE",
            "X",
            f"{where} has dtype {dtype}",
            allowed="numbers, missing values, or a categorical column",
            fix="spread lists and structs over numeric columns, decode bytes to text and declare "
            "them categorical",
        )
    )


def text_error(items: list[Any], where: str, fitted: str | None = None) -> InputError:
    """Compose the error for text in a numeric column; ``fitted`` is its dtype at fit, if known."""
    text = [row for row, item in enumerate(items) if isinstance(item, str)]
    odd = [row for row in text if not _parses(items[row])]
    row = odd[0] if odd else text[0]
    found = f"text in {len(odd)} of {len(items)} rows" if odd else "numbers written as text"
    before = "" if fitted is None else f" At fit its dtype was {fitted}."
    column = where.removeprefix("column ").partition(" (index")[0]
    return InputError(
        describe(
            "X-TEXT" if fitted is None else "X-KIND",
            "X",
            f"{where} must be numeric but holds {found}, first at row {row}: {items[row]!r}."
            f"{before}",
            allowed="numbers, missing values, or a categorical column",
            fix=f"(1) replace {items[row]!r} by missing or a number and convert the column, with "
            f"pandas pd.to_numeric(X[{column}], errors='coerce'); (2) or declare it categorical, "
            f"with pandas X[{column}].astype('category'), or where the estimator has it "
            f"categorical_features=[{column}]",
        )
    )


def _parses(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def object_numbers(values: Array, where: str, fitted: str | None = None) -> Array:
    """Convert one column of Python objects to float64; None, NaN and NA become NaN.

    Raises
    ------
    InputError
        When the column holds text, dates or complex numbers.
    InputTypeError
        When it holds other objects.
    """
    items = values.tolist()
    odd = [kind for kind in set(map(type, items)) if not issubclass(kind, (*NUMBERS, type(None)))]
    if odd:
        items = [None if is_missing(item) else item for item in items]
        odd = [
            kind for kind in set(map(type, items)) if not issubclass(kind, (*NUMBERS, type(None)))
        ]
    if any(issubclass(kind, str) for kind in odd):
        raise text_error(items, where, fitted)
    if odd:
        raise _object_error(items, odd[0], where)
    try:
        return np.array(
            [np.nan if item is None else float(item) for item in items], dtype=np.float64
        )
    except OverflowError as error:
        raise InputError(
            describe(
                "X-INFINITE", "X", f"Input X contains infinity: {where}: {error}", fix="rescale it"
            )
        ) from None


def _object_error(items: list[Any], kind: type, where: str) -> InputError:
    rows = [row for row, item in enumerate(items) if type(item) is kind]
    if issubclass(kind, DATES):
        return datetime_error(where, kind.__name__)
    if issubclass(kind, Complex):
        return complex_error("X", where)
    return InputTypeError(
        describe(
            "X-OBJECT",
            "X",
            f"{where}, {rows_text(rows, len(rows))}: argument must be a string or a real number, "
            f"not {kind.__name__!r} (in a column of numbers)",
            allowed="numbers, missing values, or a categorical column",
            fix="turn the objects into numbers",
        )
    )
