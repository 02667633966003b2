"""The door for X: every container a user may bring becomes a :class:`Table`, by one rule.

``read_fit`` learns the :class:`Schema` that ``read_predict`` holds new data against. A plain float
array at prediction takes a short way of a few microseconds; everything else goes through the same
functions as at fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse

from committee.data.arrays import as_matrix, is_ready, numeric, object_numbers
from committee.data.compressed import read_sparse
from committee.data.errors import (
    InputError,
    InputTypeError,
    column_text,
    describe,
    listing,
    warn,
)
from committee.data.finite import refuse_infinity, warn_all_missing, warn_rounding_matrix
from committee.data.frames import (
    all_single,
    as_block,
    category_mask,
    code_column,
    column_numbers,
    feature_names,
    open_frame,
)
from committee.data.levels import Coded, code_values, match_levels, resolve_categorical
from committee.data.table import Array, Levels, Schema, Table

SMALL = 4096  # elements up to which one flag per element is cheaper than the careful check


def read_fit(
    X: Any, *, categorical_features: Any = "from_dtype", estimator_name: str = "this estimator"
) -> tuple[Table, Schema]:
    """Read the feature matrix of a fit.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The data.
    categorical_features : None, "from_dtype", or array-like of str, int or bool
        Which columns are categories.
    estimator_name : str
        Used in messages.

    Returns
    -------
    table : Table
        What the engine reads; it may share memory with ``X``.
    schema : Schema
        What prediction needs.
    """
    if sparse.issparse(X):
        return _fit_sparse(X, categorical_features)
    frame = open_frame(X)
    if frame is not None:
        return _fit_frame(frame, categorical_features)
    matrix = as_matrix(X)
    _refuse_empty(matrix.shape)
    mask = resolve_categorical(categorical_features, None, matrix.shape[1], None)
    levels: dict[int, Array] = {}
    values = _array_values(matrix, mask, levels)
    _check_fit(values, None)
    dtypes = {column: str(matrix.dtype) for column in levels}
    return _finish(values, None, levels, dtypes)


def _fit_sparse(X: Any, categorical_features: Any) -> tuple[Table, Schema]:
    if X.ndim != 2:
        as_matrix(X.toarray())
    _refuse_empty(X.shape)
    if resolve_categorical(categorical_features, None, X.shape[1], None).any():
        raise InputTypeError(
            describe(
                "X-SPARSE-CATEGORICAL",
                "X",
                "a sparse matrix cannot hold categorical columns: zeros are not stored",
                allowed="categorical columns in dense arrays and frames",
                fix=f"X.toarray() ({np.prod(X.shape, dtype=float) * 8 / 1e6:.1f} MB), or encode "
                "the categories as indicator columns",
            )
        )
    return read_sparse(X, warn=True), Schema(n_features=X.shape[1])


def _fit_frame(frame: nw.DataFrame[Any], categorical_features: Any) -> tuple[Table, Schema]:
    _refuse_empty(frame.shape)
    names = feature_names(frame)
    mask = resolve_categorical(categorical_features, names, frame.shape[1], category_mask(frame))
    levels: dict[int, Array] = {}
    block = None if mask.any() else as_block(frame)
    if block is not None:
        values = numeric(block, "X")
    else:
        columns = [frame.get_column(name) for name in frame.columns]
        values = np.empty(frame.shape, dtype=_precision(columns), order="F")
        for j, column in enumerate(columns):
            where = column_text(names, j)
            if mask[j]:
                coded = code_column(column, where)
                levels[j], values[:, j] = coded.levels, coded.positions()
            else:
                values[:, j] = column_numbers(column, where, warn=True)
    _check_fit(values, names)
    dtypes = {j: str(frame.get_column(name).dtype) for j, name in enumerate(frame.columns)}
    return _finish(values, names, levels, dtypes)


def _precision(columns: list[nw.Series[Any]]) -> type[np.floating[Any]]:
    return np.float32 if all_single(columns) else np.float64


def _check_fit(values: Array, names: Array | None) -> None:
    refuse_infinity(values, names)
    warn_rounding_matrix(values, names)
    warn_all_missing(values, names)


def _finish(
    values: Array, names: Array | None, levels: Levels, dtypes: Mapping[int, str]
) -> tuple[Table, Schema]:
    n_rows, n_features = values.shape
    table = Table(values, n_rows, n_features, feature_names=names, levels=levels)
    return table, Schema(n_features, names, levels, dtypes)


def _array_values(
    matrix: Array,
    mask: npt.NDArray[np.bool_],
    levels: dict[int, Array],
    fitted: Levels | None = None,
    apart: bool = False,
) -> Array:
    """Turn an array into numbers; categorical columns are coded, or matched with ``fitted``."""
    if not mask.any() and matrix.dtype.kind != "O":
        where = "column 0" if matrix.dtype.kind == "U" else "all columns"
        return numeric(matrix, where)
    single = matrix.dtype == np.float32
    values = np.empty(matrix.shape, dtype=np.float32 if single else np.float64, order="F")
    for j in range(matrix.shape[1]):
        where, column = f"column {j}", matrix[:, j]
        if mask[j]:
            coded: Coded = code_values(column, where)
            if fitted is None:
                levels[j], values[:, j] = coded.levels, coded.positions()
            else:
                values[:, j] = match_levels(coded, fitted[j], None, j, apart)
        elif column.dtype.kind == "O":
            before = None if fitted is None else "numeric"
            values[:, j] = object_numbers(column, where, before)
        else:
            values[:, j] = numeric(column, where)
    return values


def read_predict(X: Any, schema: Schema, *, estimator_name: str = "this estimator") -> Table:
    """Read the feature matrix of a prediction, which may have no rows.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The data.
    schema : Schema
        As returned by :func:`read_fit`.
    estimator_name : str
        The class name of the estimator, used in messages.

    Returns
    -------
    Table
        What the engine reads; it may share memory with ``X``.
    """
    if (
        type(X) is np.ndarray
        and schema.plain
        and X.dtype.char in "fd"
        and X.ndim == 2
        and X.shape[1] == schema.n_features
        and is_ready(X)
        and (X.size > SMALL or 1 not in np.isinf(X).tobytes())
    ):
        if X.size > SMALL:
            refuse_infinity(X, None)
        return Table.of_array(X)
    return _read_any(X, schema, estimator_name)


def _read_any(X: Any, schema: Schema, estimator_name: str) -> Table:
    names = schema.feature_names
    if sparse.issparse(X):
        compare_names(None, schema, estimator_name)
        compare_width(X.shape, schema, estimator_name)
        if schema.levels:
            X = X.toarray()  # the fitted categories need the zeros
        else:
            return read_sparse(X, names)
    frame = open_frame(X)
    if frame is not None:
        found = feature_names(frame)
        compare_names(found, schema, estimator_name)
        compare_width(frame.shape, schema, estimator_name)
        values = _frame_values(frame, schema)
    else:
        matrix = as_matrix(X)
        compare_names(None, schema, estimator_name)
        compare_width(matrix.shape, schema, estimator_name)
        mask = np.zeros(schema.n_features, dtype=np.bool_)
        mask[list(schema.levels)] = True
        apart = schema.encoding is not None
        values = _array_values(matrix, mask, {}, schema.levels, apart)
    refuse_infinity(values, names)
    table = Table(
        values, values.shape[0], values.shape[1], feature_names=names, levels=schema.levels
    )
    return table if schema.encoding is None else schema.encoding.encode(table)


def _frame_values(frame: nw.DataFrame[Any], schema: Schema) -> Array:
    block = None if schema.levels else as_block(frame)
    if block is not None:
        return numeric(block, "X")
    columns = [frame.get_column(name) for name in frame.columns]
    values = np.empty(frame.shape, dtype=_precision(columns), order="F")
    for j, column in enumerate(columns):
        where = column_text(schema.feature_names, j)
        if j in schema.levels:
            coded = code_column(column, where)
            apart = schema.encoding is not None
            values[:, j] = match_levels(coded, schema.levels[j], schema.feature_names, j, apart)
        else:
            fitted = schema.dtypes.get(j, "numeric")
            values[:, j] = column_numbers(column, where, fitted=fitted)
    return values


def _refuse_empty(shape: tuple[int, ...]) -> None:
    for size, noun in zip(shape, ("sample(s)", "feature(s)"), strict=True):
        if size == 0:
            raise InputError(
                describe(
                    "X-EMPTY",
                    "X",
                    f"Found array with 0 {noun} (shape={tuple(shape)}) while a minimum of 1 is "
                    "required.",
                    allowed="at least one row and one column",
                    fix="look at the selection that produced X",
                )
            )


def compare_width(shape: tuple[int, ...], schema: Schema, estimator_name: str) -> None:
    """Refuse rows of another width than at fit."""
    if shape[1] != schema.n_features:
        raise InputError(
            describe(
                "X-WIDTH",
                "X",
                f"X has {shape[1]} features, but {estimator_name} is expecting "
                f"{schema.n_features} features as input",
                allowed="the columns seen at fit",
                fix="select the same columns as for fit",
            )
        )


def compare_names(found: Array | None, schema: Schema, estimator_name: str) -> None:
    """Refuse names that are not those of fit, and warn where only one of the two has any."""
    fitted = schema.feature_names
    if found is None and fitted is None:
        return
    if fitted is None:
        warn(
            f"X has feature names, but {estimator_name} was fitted without feature names",
            UserWarning,
        )
    elif found is None:
        warn(
            f"X does not have valid feature names, but {estimator_name} was fitted with feature "
            "names",
            UserWarning,
        )
    elif len(found) != len(fitted) or (found != fitted).any():
        raise _names_error(found.tolist(), fitted.tolist())


def _names_error(names_found: list[str], names_fitted: list[str]) -> InputError:
    found, fitted = set(names_found), set(names_fitted)
    text = "The feature names should match those that were passed during fit.\n"
    parts = {
        "Feature names unseen at fit time:\n": sorted(found - fitted),
        "Feature names seen at fit time, yet now missing:\n": sorted(fitted - found),
    }
    for title, names in parts.items():
        if names:
            rest = "- ...\n" if len(names) > 5 else ""
            text += title + "".join(f"- {name}\n" for name in names[:5]) + rest
    if found == fitted:
        text += "Feature names must be in the same order as they were in fit.\n"
    return InputError(
        describe(
            "X-NAMES",
            "X",
            text,
            allowed=f"the {len(fitted)} columns of fit, in that order ({listing(names_fitted)})",
            fix="X[model.feature_names_in_]",
        )
    )
