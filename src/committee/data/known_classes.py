"""Labels of rows that come in portions: all classes are named once, and later labels are theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from committee.data.errors import InputError, describe, listing, rows_text
from committee.data.labels import read_classes
from committee.data.table import Array


def read_all_classes(classes: Any, before: Array | None) -> Array:
    """Read the classes that may ever come.

    Parameters
    ----------
    classes : array-like of shape (n_classes,) or None
        The labels; None where they were named before.
    before : ndarray or None
        The classes of the first time, None if this is it.

    Returns
    -------
    ndarray
        The sorted labels.
    """
    if classes is None:
        if before is None:
            found = "classes must be passed on the first call to partial_fit"
            fix = "partial_fit(X, y, classes=numpy.unique(all_labels))"
            raise InputError(describe("Y-CLASSES", "classes", found, fix=fix))
        return before
    items = np.asarray(classes)
    if items.ndim != 1 or len(items) == 0:
        found, allowed = f"an array of shape {items.shape}", "one or more labels, shape (K,)"
        raise InputError(describe("Y-CLASSES", "classes", found, allowed=allowed))
    known = read_classes(items, len(items), remark=False).classes[0]
    if before is not None and known.tolist() != before.tolist():
        found = (
            f"{listing(known.tolist())} is not the same as on last call to partial_fit, which was "
            f"{listing(before.tolist())}"
        )
        fix = "leave classes away, or begin anew with a clone of the model"
        raise InputError(describe("Y-CLASSES", "classes", found, fix=fix))
    return known


def codes_among(
    known: Array, y: Any, n_rows: int, *, estimator_name: str = "this estimator"
) -> npt.NDArray[np.intp]:
    """Find the labels of rows among the known classes.

    Parameters
    ----------
    known : ndarray
        The classes.
    y : array-like of shape (n_rows,)
        The labels, some of these classes.
    n_rows : int
        The number of rows of X.
    estimator_name : str
        Used in messages.

    Returns
    -------
    ndarray of int, shape (n_rows,)
        The positions of the labels in ``known``.
    """
    labels = read_classes(y, n_rows, estimator_name=estimator_name, remark=False)
    rank = {label: code for code, label in enumerate(known.tolist())}
    present = labels.classes[0].tolist()
    places = np.array([rank.get(label, -1) for label in present], dtype=np.intp)
    codes = places[labels.codes[:, 0]]
    rows = np.flatnonzero(codes < 0)
    if len(rows):
        found = (
            f"{present[labels.codes[rows[0], 0]]!r} is none of the {len(rank)} known classes: "
            f"{rows_text(rows, len(rows))}"
        )
        fix = "name all classes when the model is fitted for the first time"
        allowed = listing([repr(label) for label in rank])
        raise InputError(describe("Y-CLASSES", "y", found, allowed=allowed, fix=fix))
    return codes
