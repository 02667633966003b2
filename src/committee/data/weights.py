"""The door for weights: of rows and of classes, together one float64 per row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from committee.data.errors import InputError, describe, listing, rows_text
from committee.data.labels import Labels
from committee.data.table import Array, Schema, Table

Weights = npt.NDArray[np.float64]


def read_weights(sample_weight: Any, n_rows: int) -> Weights | None:
    """Read ``sample_weight``.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,), number or None
        Weights >= 0, at least one of them above 0; a number stands for equal weights.
    n_rows : int
        The number of rows of X.

    Returns
    -------
    ndarray of float64 or None
        The weights, None when there are none; possibly the user's own array.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real) and not isinstance(sample_weight, bool):
        weights = np.full(n_rows, float(sample_weight))
    else:
        weights = _as_floats(sample_weight)
    if weights.ndim != 1:
        raise _error(
            "W-SHAPE",
            f"Sample weights must be 1D array or scalar, got shape {weights.shape}",
            "one weight per row, shape (n,)",
            "sample_weight.ravel() if it is one column",
        )
    if len(weights) != n_rows:
        raise _error(
            "W-LENGTH",
            f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}: {len(weights)} weights "
            f"for {n_rows} rows",
            "one weight per row of X",
            "select the same rows in both",
        )
    _check_values(weights)
    return weights


def _as_floats(sample_weight: Any) -> Weights:
    if nw.dependencies.is_into_series(sample_weight):
        column = nw.from_native(sample_weight, series_only=True)
        numeric = column.dtype.is_numeric()
        sample_weight = (column.cast(nw.Float64) if numeric else column).to_numpy()
    if isinstance(sample_weight, np.ma.MaskedArray):  # masked: none, which is refused below
        sample_weight = np.ma.filled(sample_weight.astype(np.float64), np.nan)
    try:
        array = np.asarray(sample_weight)
        if array.dtype.kind == "O":
            array = np.array([np.nan if item is None else item for item in array.tolist()])
        if array.dtype.kind not in "biuf":
            raise TypeError(f"dtype {array.dtype}")
        return np.ascontiguousarray(array, dtype=np.float64) if array.ndim else array
    except (TypeError, ValueError) as error:
        raise _error(
            "W-DTYPE", f"cannot be read as numbers ({error})", "numbers >= 0", "convert to float"
        ) from None


def _check_values(weights: Weights) -> None:
    for code, bad, what in (
        ("W-FINITE", ~np.isfinite(weights), "NaN or infinity"),
        ("W-NEGATIVE", weights < 0, "negative values; weights must be >= 0"),
    ):
        rows = np.flatnonzero(bad)
        if len(rows):
            raise _error(
                code,
                f"Input sample_weight contains {what}: {rows_text(rows, len(rows))}",
                "finite numbers >= 0",
                "give a row weight 0 to leave it out",
            )
    if len(weights) and not weights.any():
        raise _error(
            "W-ZERO",
            "Sample weights must contain at least one non-zero number, all are zero",
            "numbers >= 0, at least one non-zero",
            "give weight to the rows that are to count",
        )


def _error(code: str, found: str, allowed: str, fix: str) -> InputError:
    return InputError(describe(code, "sample_weight", found, allowed=allowed, fix=fix))


def read_class_weights(
    class_weight: Any, labels: Labels, weight: Weights | None = None
) -> Weights | None:
    """Spread ``class_weight`` over the rows.

    Parameters
    ----------
    class_weight : None, "balanced", dict, or list of dict
        Weights by class; a list has one dict per output. Classes that a dict leaves out weigh 1;
        "balanced" is ``n_rows / (n_classes * count)``, of the rows that count. Weights of several
        outputs are multiplied.
    labels : Labels
        The target.
    weight : ndarray or None
        Weights of the rows; those of weight 0 are not counted.

    Returns
    -------
    ndarray of float64 or None
        One factor per row.
    """
    if class_weight is None:
        return None
    counted = slice(None) if weight is None else weight > 0
    n_rows, n_outputs = labels.codes.shape
    specs = _per_output(class_weight, n_outputs)
    weights = np.ones(n_rows)
    for k, spec in enumerate(specs):
        codes, classes = labels.codes[:, k], labels.classes[k]
        if isinstance(spec, str):
            counts = np.bincount(codes[counted], minlength=len(classes)).astype(np.float64)
            present = np.count_nonzero(counts)
            by_class = counts.sum() / (present * np.maximum(counts, 1))
        else:
            by_class = _by_class(spec, classes)
        weights *= by_class[codes]
    return weights


def _per_output(class_weight: Any, n_outputs: int) -> list[Any]:
    if isinstance(class_weight, str) and class_weight == "balanced":
        return [class_weight] * n_outputs
    if isinstance(class_weight, Mapping) and n_outputs == 1:
        return [class_weight]
    if (
        isinstance(class_weight, (list, tuple))
        and len(class_weight) == n_outputs
        and all(isinstance(spec, Mapping) or spec == "balanced" for spec in class_weight)
    ):
        return list(class_weight)
    raise InputError(
        describe(
            "W-CLASS",
            "class_weight",
            f"{class_weight!r} for a target with {n_outputs} output(s)",
            allowed="None, 'balanced', a dict (one output) or a list with one dict per output",
            fix="for several outputs, the number of elements in class_weight should match them",
        )
    )


def _by_class(spec: Mapping[Any, Any], classes: Array) -> Weights:
    rank = {label: code for code, label in enumerate(classes.tolist())}
    weights = np.ones(len(rank))
    for label, weight in spec.items():
        number = isinstance(weight, Real) and not isinstance(weight, bool)
        if label not in rank:
            found = f"class {label!r} does not occur in y; known classes: {listing(list(rank))}"
        elif not number or not np.isfinite(float(weight)) or weight < 0:
            found = f"weight {weight!r} of class {label!r}"
        else:
            weights[rank[label]] = float(weight)
            continue
        raise InputError(
            describe(
                "W-CLASS",
                "class_weight",
                found,
                allowed="classes of y with finite weights >= 0",
                fix="use the labels of y as keys, in their type",
            )
        )
    return weights


def combine_weights(first: Weights | None, second: Weights | None) -> Weights | None:
    """Multiply the weights of rows by those of their classes; None stands for ones."""
    if second is None:
        return first
    with np.errstate(over="ignore"):
        product = second if first is None else first * second
    if not np.isfinite(product).all():
        raise _error(
            "W-OVERFLOW",
            "sample_weight times class_weight exceeds the range of float64",
            "products below 1.8e308",
            "divide the weights by their largest value",
        )
    if len(product) and not product.any():
        raise _error(
            "W-ZERO",
            "sample_weight times class_weight must contain at least one non-zero number",
            "at least one non-zero weight",
            "give weight to a class that has weighted rows",
        )
    return product


def forget_unweighted(table: Table, schema: Schema, weight: Weights | None) -> tuple[Table, Schema]:
    """Forget the levels that only rows of weight 0 hold, as if these rows were not there.

    Parameters
    ----------
    table, schema
        As read at fit.
    weight : ndarray or None
        As read at fit.

    Returns
    -------
    Table, Schema
        In which such levels are missing values.
    """
    if weight is None or not schema.levels or weight.all():
        return table, schema
    values, levels = table.values, dict(schema.levels)
    for column, known in schema.levels.items():
        codes = table.values[weight > 0, column]
        present = np.unique(codes[~np.isnan(codes)]).astype(np.intp)
        if len(present) == len(known):
            continue
        if values is table.values:
            values = values.copy(order="K")
        position = np.full(len(known) + 1, np.nan)  # the last is that of missing values
        position[present] = np.arange(len(present))
        values[:, column] = position[np.nan_to_num(values[:, column], nan=-1).astype(np.intp)]
        levels[column] = known[present]
    return replace(table, values=values, levels=levels), replace(schema, levels=levels)
