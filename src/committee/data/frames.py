"""Data frames of any make, read column by column through narwhals; no frame library is imported.

Names, duplicates and lazy frames are settled here, and each column becomes numbers or codes. A
frame of one NumPy dtype is passed on whole, which for pandas usually means without a copy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from committee.data.arrays import (
    datetime_error,
    kind_error,
    lazy_error,
    numeric,
    object_numbers,
    series_error,
    text_error,
)
from committee.data.errors import InputError, InputTypeError, describe, listing
from committee.data.finite import warn_rounding
from committee.data.levels import Coded, canonical, code_values
from committee.data.table import Array

DATES = (nw.Date, nw.Datetime, nw.Duration, nw.Time)
NESTED = (nw.List, nw.Array, nw.Struct, nw.Binary)
CATEGORIES = (nw.Categorical, nw.Enum)


def open_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return ``X`` as a narwhals frame, or None when it is no frame.

    Raises
    ------
    InputTypeError
        When it is a lazy frame.
    InputError
        When it is a single column, or its column names repeat.
    """
    if isinstance(X, (list, tuple, np.ndarray)):
        return None
    if nw.dependencies.is_into_series(X):
        raise series_error()
    native = (
        X if isinstance(X, nw.DataFrame) or nw.dependencies.is_into_dataframe(X) else _foreign(X)
    )
    if native is None:
        return None
    columns = getattr(native, "column_names", None)
    _refuse_duplicates(list(getattr(native, "columns", ()) if columns is None else columns))
    frame = nw.from_native(native)
    return frame if isinstance(frame, nw.DataFrame) else None


def _foreign(X: Any) -> Any | None:
    """Import a frame that offers a protocol only: the Arrow stream, or the interchange object."""
    if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame) or hasattr(
        X, "__dask_graph__"
    ):
        raise lazy_error(X)
    if hasattr(X, "__arrow_c_stream__"):
        if not find_spec("pyarrow") and not find_spec("polars"):
            return None
        try:
            return nw.from_arrow(
                X, backend="pyarrow" if find_spec("pyarrow") else "polars"
            ).to_native()
        except (TypeError, ValueError):
            raise series_error() from None  # a stream of one column is no table
    if hasattr(X, "__dataframe__") and not hasattr(X, "__array__") and find_spec("pyarrow"):
        return import_module("pyarrow.interchange").from_dataframe(X)
    return None


def _refuse_duplicates(names: list[Any]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            describe(
                "X-DUPLICATE-NAMES",
                "X",
                f"column names occur more than once: {listing([repr(name) for name in twice])}",
                allowed="unique column names",
                fix="rename or drop the repeated columns",
            )
        )


def feature_names(frame: nw.DataFrame[Any]) -> Array | None:
    """Return the names when all are text, None when none is; mixed types are an error."""
    names: Sequence[Any] = frame.columns
    types = sorted({type(name).__qualname__ for name in names})
    if "str" not in types:
        return None
    if len(types) > 1:
        raise InputTypeError(
            describe(
                "X-NAME-TYPES",
                "X",
                "Feature names are only supported if all input features have string names, but "
                f"your input has {types} as feature name / column name types",
                allowed="all names text, or none",
                fix="X.columns = X.columns.astype(str)",
            )
        )
    return np.array(names, dtype=object)


def category_mask(frame: nw.DataFrame[Any]) -> npt.NDArray[np.bool_]:
    """Tell which columns have a categorical dtype."""
    dtypes = (frame.get_column(name).dtype for name in frame.columns)
    return np.array([isinstance(dtype, CATEGORIES) for dtype in dtypes], dtype=np.bool_)


def as_block(frame: nw.DataFrame[Any]) -> Array | None:
    """Return the frame as one array when all its columns share one plain dtype, else None."""
    native = frame.to_native()
    dtypes = list(native.dtypes) if hasattr(native, "dtypes") else []
    if not dtypes or any(dtype != dtypes[0] for dtype in dtypes[1:]):
        return None
    if isinstance(dtypes[0], np.dtype):
        plain = dtypes[0].kind in "biuf"
    else:  # polars writes nulls of float columns as NaN
        plain = frame.implementation.is_polars() and str(dtypes[0]) in ("Float32", "Float64")
    return np.asarray(native.to_numpy()) if plain else None


def all_single(columns: Sequence[nw.Series[Any]]) -> bool:
    """Tell whether single precision holds every column without loss of its own digits."""
    return all(isinstance(column.dtype, (nw.Float32, *CATEGORIES)) for column in columns) and any(
        isinstance(column.dtype, nw.Float32) for column in columns
    )


def column_numbers(
    column: nw.Series[Any], where: str, *, fitted: str | None = None, warn: bool = False
) -> Array:
    """Read one column as numbers, nulls as NaN.

    Parameters
    ----------
    column : narwhals.Series
        The column.
    where : str
        Its name in messages.
    fitted : str or None
        Its dtype at fit, when this is a prediction.
    warn : bool
        Whether to report integers that float64 cannot tell apart.

    Returns
    -------
    ndarray
        Float64, or float32 for a float32 column.
    """
    dtype = column.dtype
    if dtype.is_float():
        return numeric(np.asarray(column.to_numpy()), where)
    if dtype.is_numeric() or isinstance(dtype, nw.Boolean):
        if warn and isinstance(dtype, (nw.Int64, nw.UInt64)):
            warn_rounding(np.asarray(column.drop_nulls().to_numpy()), where)
        return np.asarray(column.cast(nw.Float64).to_numpy())
    if isinstance(dtype, DATES):
        raise datetime_error(where, dtype)
    if isinstance(dtype, NESTED):
        raise kind_error(where, dtype)
    if isinstance(dtype, (nw.String, *CATEGORIES)):
        return _decoded_numbers(column, where, fitted)
    values = np.asarray(column.to_numpy())
    if values.dtype.kind != "O":
        return numeric(values, where)
    try:
        return object_numbers(values, where, fitted)
    except InputTypeError:
        raise kind_error(where, dtype) from None


def _decoded_numbers(column: nw.Series[Any], where: str, fitted: str | None) -> Array:
    """Read a text or categorical column that is to be numeric: fine if its levels are numbers."""
    coded = code_column(column, where)
    if coded.levels.dtype == object and len(coded.levels):
        raise text_error([None if v is None else v for v in column.to_list()], where, fitted)
    return np.append(coded.levels.astype(np.float64), np.nan)[coded.codes]


def code_column(column: nw.Series[Any], where: str) -> Coded:
    """Read one column as categories, by its dictionary where it has one."""
    if isinstance(column.dtype, NESTED):
        raise kind_error(where, column.dtype)
    if isinstance(column.dtype, nw.String):
        column = column.cast(nw.Categorical)
    if not isinstance(column.dtype, CATEGORIES):
        return code_values(np.asarray(column.to_numpy()), where)
    native = column.to_native()
    if column.implementation.is_polars():
        return _code_polars(column, native, where)
    if column.implementation.is_pyarrow():
        return _code_arrow(native, where)
    codes = np.asarray(native.cat.codes).astype(np.int64)
    return canonical(
        list(native.cat.categories), codes, ordered=bool(native.cat.ordered), where=where
    )


def _code_polars(column: nw.Series[Any], native: Any, where: str) -> Coded:
    physical = nw.from_native(native.to_physical(), series_only=True)
    codes = np.asarray(physical.cast(nw.Int64).fill_null(-1).to_numpy())
    if isinstance(column.dtype, nw.Enum):
        return canonical(list(column.dtype.categories), codes, ordered=True, where=where)
    # The dictionary of a Categorical is shared by the whole process: take only what occurs here,
    # by the first row of each code (of several writes to one place the last one stays).
    first = np.full(int(codes.max(initial=-1)) + 2, -1, dtype=np.int64)
    first[codes[::-1] + 1] = np.arange(len(codes))[::-1]
    present = np.flatnonzero(first >= 0)
    dense = np.zeros(len(first), dtype=np.int64)
    dense[present] = np.arange(len(present))
    labels = native.gather(first[present]).to_list()
    return canonical(labels, dense[codes + 1], ordered=False, where=where)


def _code_arrow(native: Any, where: str) -> Coded:
    whole = native.unify_dictionaries().combine_chunks()
    chunks = whole.chunks if hasattr(whole, "chunks") else [whole]
    if not chunks:
        return canonical([], np.empty(0, dtype=np.int64), ordered=False, where=where)
    codes = np.asarray(chunks[0].indices.cast("int64").fill_null(-1))
    categories = chunks[0].dictionary.to_pylist()
    return canonical(categories, codes, ordered=bool(native.type.ordered), where=where)
