"""The door for y: any container becomes a list of columns; regression targets become float64.

Targets come as one array of shape (n_rows, n_outputs) in column order, so that an output is
contiguous and the single-output case needs no branch of its own. Class labels: ``labels``.
"""

from __future__ import annotations

from decimal import Decimal
from numbers import Complex, Real
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from committee.data.arrays import complex_error
from committee.data.errors import InputError, Items, describe, listing, rows_text, warn
from committee.data.frames import open_frame
from committee.data.levels import is_missing
from committee.data.table import Array

HUGE = 1e150  # squares of larger targets overflow float64


def read_numbers(
    y: Any, n_rows: int, *, multi_output: bool = False, estimator_name: str = "this estimator"
) -> npt.NDArray[np.float64]:
    """Read the target of a regressor.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Numbers up to 1e150 in size.
    n_rows : int
        The number of rows of X.
    multi_output : bool
        Whether two or more columns are allowed.
    estimator_name : str
        The class name of the estimator, used in messages.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_outputs), column order
        The targets.
    """
    columns = target_columns(y, n_rows, multi_output, estimator_name)
    values = np.empty((n_rows, len(columns)), dtype=np.float64, order="F")
    for k, column in enumerate(columns):
        values[:, k] = _target_numbers(column)
        _check_range(values[:, k])
    return values


def target_columns(y: Any, n_rows: int, multi_output: bool, estimator_name: str) -> list[Array]:
    """Split y of any container into one-dimensional arrays, after checks of shape and length."""
    if y is None:
        raise InputError(
            describe(
                "Y-NONE",
                "y",
                f"{estimator_name} requires y to be passed, but the target y is None",
                allowed="one target per row of X",
                fix="fit(X, y)",
            )
        )
    columns, flat = _split(y)
    if len(columns) == 1 and columns[0].ndim == 1:
        if not flat:
            warn(
                "A column-vector y was passed when a 1d array was expected. Please change the "
                "shape of y to (n_samples, ), for example using ravel().",
                DataConversionWarning,
            )
    elif not multi_output or not columns or columns[0].ndim != 1:
        shape = np.shape(y) or (0,)
        raise InputError(
            describe(
                "Y-SHAPE",
                "y",
                f"y should be a 1d array, got an array of shape {shape} instead",
                allowed="shape (n,), (n, 1)" + (", (n, n_outputs)" if multi_output else ""),
                fix="pass one column, or wrap the estimator in sklearn.multioutput",
            )
        )
    if len(columns[0]) != n_rows:
        raise InputError(
            describe(
                "Y-LENGTH",
                "y",
                f"Found input variables with inconsistent numbers of samples: "
                f"[{n_rows}, {len(columns[0])}]; X has {n_rows} rows, y has {len(columns[0])}",
                allowed="one target per row of X",
                fix="select the same rows in both",
            )
        )
    return columns


def _split(y: Any) -> tuple[list[Array], bool]:
    """Return the columns of y, and whether it has one dimension only."""
    if sparse.issparse(y):
        raise InputError(
            describe("Y-SPARSE", "y", "y is a sparse matrix", allowed="dense y", fix="y.toarray()")
        )
    if isinstance(y, np.ma.MaskedArray):
        refuse_masked(y)
    if isinstance(y, np.ndarray):
        array = np.asarray(y)
    elif nw.dependencies.is_into_series(y):
        return [_series_array(nw.from_native(y, series_only=True))], True
    elif hasattr(y, "__arrow_c_stream__") or hasattr(y, "columns"):
        frame = open_frame(y)
        if frame is not None:
            return [_series_array(frame.get_column(name)) for name in frame.columns], False
        array = np.asarray(y)
    else:
        array = _listed(y)
    if array.dtype.kind == "T":  # NumPy's strings of variable length
        array = array.astype(object)
    if array.ndim == 2:
        return [array[:, k] for k in range(array.shape[1])], False
    return [array], True


def _listed(y: Any) -> Array:
    if isinstance(y, (str, bytes, dict, set)) or not (
        hasattr(y, "__array__") or hasattr(y, "__len__") or hasattr(y, "__array_interface__")
    ):
        return np.empty((), dtype=object)  # refused as a scalar by the check of the shape
    try:
        array = np.asarray(y)
    except ValueError:  # ragged: lists of label lists
        array = np.empty(len(y), dtype=object)
        array[:] = list(y)
    if array.dtype.kind in "US" and isinstance(y, (list, tuple)):
        array = np.asarray(y, dtype=object)  # 1 beside "1" must not become text silently
        if all(isinstance(item, str) for item in array.ravel()):
            array = array.astype(str)
    return array


def _series_array(column: nw.Series[Any]) -> Array:
    if column.dtype.is_integer() and column.null_count():
        column = column.cast(nw.Float64)
    if isinstance(column.dtype, (nw.Categorical, nw.Enum, nw.String)):
        return np.array(column.to_list(), dtype=object)
    return np.asarray(column.to_numpy())


def missing_error(rows: Items, what: str, code: str) -> InputError:
    """Compose the error for rows without a target; ``what`` was found there."""
    return InputError(
        describe(
            code,
            "y",
            f"Input y contains NaN. {what} in {len(rows)} row(s): {rows_text(rows, len(rows))}",
            allowed="a target in every row",
            fix="drop these rows from X and y, or fill them in",
        )
    )


def refuse_masked(y: np.ma.MaskedArray[Any, Any]) -> None:
    """Refuse a masked array of which something is masked: what lies below is no target."""
    mask = np.ma.getmaskarray(y)
    missing = np.flatnonzero(mask.any(axis=tuple(range(1, mask.ndim))))
    if len(missing):
        raise missing_error(missing, "Masked entries", "Y-NULL")


def refuse_nonfinite(y: npt.NDArray[Any]) -> None:
    """Refuse NaN and infinities in a float target."""
    missing = np.flatnonzero(np.isnan(y))
    if len(missing):
        raise missing_error(missing, "NaN", "Y-NAN")
    infinite = np.flatnonzero(np.isinf(y))
    if len(infinite):
        raise InputError(
            describe(
                "Y-INFINITE",
                "y",
                "Input y contains infinity or a value too large for dtype('float64'). "
                f"{rows_text(infinite, len(infinite))}",
                allowed="finite numbers",
                fix="drop these rows, or replace the values by a finite bound",
            )
        )


def _target_numbers(y: Array) -> npt.NDArray[np.float64]:
    kind = y.dtype.kind
    if kind == "c":
        raise complex_error("y", "targets")
    if kind in "biuf":
        return y.astype(np.float64)
    items = y.tolist()
    text = [row for row, item in enumerate(items) if isinstance(item, (str, bytes))]
    if text:
        raise InputError(
            describe(
                "Y-TEXT",
                "y",
                f"text in {rows_text(text, len(text))}, first value {items[text[0]]!r}",
                allowed="numbers",
                fix="convert to float, y.astype(float), or use a classifier if these are labels",
            )
        )
    missing = [row for row, item in enumerate(items) if is_missing(item)]
    if missing:
        raise missing_error(missing, "None or NaN", "Y-NULL")
    odd = [item for item in items if not isinstance(item, (Real, Decimal, np.bool_))]
    if any(isinstance(item, Complex) for item in odd):
        raise complex_error("y", "targets")
    if odd:
        raise InputError(
            describe(
                "Y-DTYPE",
                "y",
                f"values of type {listing(sorted({type(item).__name__ for item in odd}))} in y",
                allowed="numbers",
                fix="convert to float",
            )
        )
    return np.array([float(item) for item in items], dtype=np.float64)


def _check_range(y: npt.NDArray[np.float64]) -> None:
    refuse_nonfinite(y)
    rows = np.flatnonzero(np.abs(y) > HUGE)
    if len(rows):
        raise InputError(
            describe(
                "Y-HUGE",
                "y",
                f"{rows_text(rows, len(rows))}, first value {y[rows[0]]:.6g}: its square overflows",
                allowed="abs(y) <= 1e150",
                fix="rescale or log the target",
            )
        )
