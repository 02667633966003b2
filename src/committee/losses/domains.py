"""Refusals of targets that a loss has no value for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from committee.core.members import Floats
from committee.data import InputError
from committee.data.errors import describe, rows_text
from committee.losses.averages import weighted_mean


def refuse_rows(
    y: Floats, bad: npt.NDArray[Any], code: str, what: str, *, allowed: str, fix: str
) -> None:
    """Refuse y if ``bad`` marks a row; ``what`` says what is found there."""
    rows = np.flatnonzero(bad)
    if len(rows):
        found = f"{what} in {rows_text(rows, len(rows))}, first value {y[rows[0]]:.6g}"
        raise InputError(describe(code, "y", found, allowed=allowed, fix=fix))


def check_counts(y: Floats, loss_name: str) -> None:
    """Refuse negative values, and a y of zeros."""
    refuse_rows(
        y,
        ~(y >= 0),
        "Y-NEGATIVE",
        "negative values",
        allowed=f"values >= 0, as {loss_name} loss needs",
        fix="drop or correct these rows, or use loss='squared_error'",
    )
    positive_mean(y, np.ones(len(y)))


def positive_mean(y: Floats, weight: Floats) -> float:
    """Return the weighted mean of y, and refuse one of 0: it has no logarithm."""
    mean = weighted_mean(y, weight)
    if mean <= 0:
        found = "the values (of the rows that have weight) sum to zero"
        raise InputError(describe("Y-ZERO", "y", found, allowed="some values > 0"))
    return mean


def check_codes(y: Floats, n_classes: int) -> None:
    """Refuse what is no code of one of ``n_classes`` classes."""
    refuse_rows(
        y,
        ~((y >= 0) & (y < n_classes) & (np.floor(y) == y)),
        "Y-CODES",
        "no code of a class",
        allowed=f"0 to {n_classes - 1}, a code for each of {n_classes} classes",
        fix="encode the labels, as np.unique(y, return_inverse=True)[1] does",
    )
