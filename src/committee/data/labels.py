"""Class labels: numbers, booleans or text become codes in the sorted order of the classes.

Integers that lie close together are sorted by counting and text by hashing, as both are far faster
than a sort of all rows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from numbers import Complex, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from committee.data.arrays import complex_error
from committee.data.errors import InputError, describe, rows_text, warn
from committee.data.levels import is_missing
from committee.data.table import Array
from committee.data.target import missing_error, refuse_nonfinite, target_columns

# Of what there is a regressor beside the classifier, for those who gave it numbers.
HAVE_REGRESSORS = frozenset(
    [
        "AdaBoost",
        "Bagging",
        "Cascade",
        "DecisionTree",
        "EnsembleSelection",
        "ExtraTrees",
        "GradientBoosting",
        "RandomForest",
        "Stacking",
        "Voting",
    ]
)


@dataclass(frozen=True, eq=False)
class Labels:
    """Class labels as codes.

    Attributes
    ----------
    classes : list of ndarray
        Per output the sorted labels, in the dtype of y.
    codes : ndarray of int32, shape (n_rows, n_outputs), column order
        The position of each label in its ``classes``.
    """

    classes: list[Array]
    codes: npt.NDArray[np.int32]

    @property
    def n_outputs(self) -> int:
        """The number of targets."""
        return len(self.classes)


def read_classes(
    y: Any,
    n_rows: int,
    *,
    multi_output: bool = False,
    estimator_name: str = "this estimator",
    remark: bool = True,
) -> Labels:
    """Read the target of a classifier.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Integers, whole floats, booleans or text.
    n_rows : int
        The number of rows of X.
    multi_output : bool
        Whether two or more columns are allowed.
    estimator_name : str
        The class name of the estimator, used in messages.
    remark : bool
        Whether to warn of a single class or very many; they matter where classes are learned.

    Returns
    -------
    Labels
        Classes and codes.
    """
    columns = target_columns(y, n_rows, multi_output, estimator_name)
    coded = [_code_labels(column, estimator_name) for column in columns]
    codes = np.empty((n_rows, len(columns)), dtype=np.int32, order="F")
    for k, (classes, column) in enumerate(coded):
        codes[:, k] = column
        if remark:
            _remark_classes(classes, n_rows)
    return Labels([classes for classes, _ in coded], codes)


def _code_labels(y: Array, estimator_name: str) -> tuple[Array, Array]:
    kind = y.dtype.kind
    if kind == "O":
        y = _typed_labels(y)
        kind = y.dtype.kind
    if kind in "biu":
        return _code_integers(y)
    if kind == "f":
        refuse_nonfinite(y)
        if (y != np.floor(y)).any():
            raise _continuous(y, estimator_name)
        if len(y) and np.abs(y).max() < 2**53:
            classes, codes = _code_integers(y.astype(np.int64))
            return classes.astype(y.dtype), codes
        return np.unique(y, return_inverse=True)
    if kind == "c":
        raise complex_error("y", "labels")
    if kind in "OUS":
        items = y.tolist()
        ordered = sorted(set(items))
        rank = {label: code for code, label in enumerate(ordered)}
        codes = np.fromiter(map(rank.__getitem__, items), dtype=np.int32, count=len(items))
        return np.array(ordered, dtype=y.dtype), codes
    raise _unknown(f"dtype {y.dtype}")


def _code_integers(y: Array) -> tuple[Array, Array]:
    """Sort by counting where the labels lie close together, which is nearly always."""
    low, high = (int(y.min()), int(y.max())) if len(y) else (0, 0)
    if y.dtype.kind == "b" or high - low > max(len(y), 1 << 16):
        return np.unique(y, return_inverse=True)
    if y.dtype.itemsize < 8:
        y, narrow = y.astype(np.int64), y.dtype
    else:
        narrow = y.dtype
    offset = y - np.array(low, dtype=y.dtype)
    seen = np.bincount(offset.astype(np.int64, copy=False)) > 0
    position = np.cumsum(seen, dtype=np.int32) - np.int32(1)
    classes = (np.flatnonzero(seen).astype(y.dtype) + np.array(low, dtype=y.dtype)).astype(narrow)
    return classes, position[offset]


def _typed_labels(y: Array) -> Array:
    """Check labels that are Python objects and give them the dtype of their kind."""
    items = y.tolist()
    missing = [row for row, item in enumerate(items) if is_missing(item)]
    if missing:
        null = any(not isinstance(items[row], float) for row in missing)
        raise missing_error(missing, "None" if null else "NaN", "Y-NULL" if null else "Y-NAN")
    kinds = Counter(_label_kind(item) for item in items)
    if "unknown" in kinds:
        odd = next(item for item in items if _label_kind(item) == "unknown")
        raise (
            complex_error("y", "labels")
            if isinstance(odd, Complex)
            else _unknown(f"labels of type {type(odd).__name__}")
        )
    if len(kinds) > 1:
        counts = " and ".join(f"{kind} ({count} rows)" for kind, count in sorted(kinds.items()))
        raise InputError(
            describe(
                "Y-MIXED",
                "y",
                f"labels are of different types: {counts}",
                allowed="labels of one type",
                fix="convert all labels to text, [str(label) for label in y], or all to numbers",
            )
        )
    if set(kinds) == {"int"} and any(isinstance(item, (float, Decimal)) for item in items):
        return np.array([float(item) for item in items])
    return y if set(kinds) <= {"str", "bytes"} else np.array(items)


def _label_kind(item: object) -> str:
    if isinstance(item, (bool, np.bool_)):
        return "bool"
    if isinstance(item, (Real, Decimal)):
        return "int"  # whole floats are allowed as labels, others are refused as continuous
    return "str" if isinstance(item, str) else "bytes" if isinstance(item, bytes) else "unknown"


def _remark_classes(classes: Array, n_rows: int) -> None:
    if len(classes) == 1:
        warn(
            describe(
                "Y-ONE-CLASS",
                "y",
                f"all {n_rows} rows have the one class {classes.tolist()[0]!r}; every prediction "
                "will be that class",
                allowed="2 or more to learn from",
                fix="look at the selection that produced y",
            )
        )
    elif n_rows > 20 and len(classes) > round(0.5 * n_rows):
        warn(
            describe(
                "Y-MANY-CLASSES",
                "y",
                f"The number of unique classes is greater than 50% of the number of samples "
                f"({len(classes)} of {n_rows}). `y` could represent a regression problem, not a "
                "classification problem",
                fix="use a regressor, or check that y is the label column",
            )
        )


def _continuous(y: Array, estimator_name: str) -> InputError:
    rows = np.flatnonzero(y != np.floor(y))
    stem = estimator_name.removesuffix("Classifier")
    hint = f"{stem}Regressor" if stem in HAVE_REGRESSORS else "a regressor"
    return InputError(
        describe(
            "Y-CONTINUOUS",
            "y",
            "Unknown label type: continuous. Maybe you are trying to fit a classifier, which "
            "expects discrete classes on a regression target with continuous values: "
            f"{rows_text(rows, len(rows))}, first value {y[rows[0]]}",
            allowed="integers, whole floats, booleans, text",
            fix=f"use {hint}, or bin y into classes",
        )
    )


def _unknown(found: str) -> InputError:
    return InputError(
        describe(
            "Y-UNKNOWN",
            "y",
            f"Unknown label type: unknown ({found})",
            allowed="integers, whole floats, booleans, text",
            fix="convert the labels to text or integers",
        )
    )
