"""Base margin: scores that rows bring along, to which boosting adds (an offset in other words).

The committee then is F(x) = margin + eta * sum of trees: the margin stands in the place of the
constant that boosting otherwise starts from, as XGBoost's ``base_margin`` and LightGBM's
``init_score`` do. A Poisson model of counts during different times takes log(time), say.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from committee import _engine
from committee.core.committee import Committee
from committee.core.members import Floats
from committee.core.stages import Stages
from committee.data import InputError
from committee.data.errors import class_name, describe, rows_text

LARGEST = 1e150  # in size; the stock losses stay finite up to there


def read_margin(given: Any, n_rows: int, n_outputs: int, name: str = "base_margin") -> Floats:
    """Read scores that rows bring along.

    Parameters
    ----------
    given : array-like of shape (n_rows,) or (n_rows, n_outputs)
        As the user gave them; one dimension only where there is one output.
    n_rows : int
        The rows of X.
    n_outputs : int
        The scores that the model gives each row.
    name : str
        Of the argument, used in messages.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_outputs)
        The scores, finite.
    """
    allowed = f"finite numbers of shape ({n_rows}, {n_outputs})"
    if n_outputs == 1:
        allowed = f"finite numbers of shape ({n_rows},)"
    try:
        margin = np.asarray(given)
        if margin.dtype.kind == "O":
            margin = margin.astype(np.float64)
        if margin.dtype.kind not in "biuf":
            raise TypeError(f"dtype {margin.dtype}")
    except (TypeError, ValueError) as error:
        found = f"{class_name(given)} cannot be read as numbers ({error})"
        raise InputError(describe("P-MARGIN", name, found, allowed=allowed)) from None
    if margin.ndim == 1 and n_outputs == 1:
        margin = margin[:, None]
    if margin.shape != (n_rows, n_outputs):
        shape = np.shape(given)
        found = f"shape {shape} for {n_rows} row(s) with {n_outputs} score(s) each"
        fix = "raw scores before the link: log odds of classes, logarithms of Poisson means"
        raise InputError(describe("P-MARGIN", name, found, allowed=allowed, fix=fix))
    margin = np.array(margin, dtype=np.float64, order="C")
    bad = ~(np.abs(margin) <= LARGEST)
    if bad.any():
        rows = np.flatnonzero(bad.any(axis=1))
        found = f"NaN, infinity or a number above {LARGEST:g}: {rows_text(rows, len(rows))}"
        fix = "a row without a margin of its own has 0"
        raise InputError(describe("P-MARGIN", name, found, allowed=allowed, fix=fix))
    return margin


def first_scores(
    begin: Committee | None,
    start: Floats,
    table: _engine.Table,
    n_rows: int,
    margin: Floats | None,
    n_threads: int,
) -> Floats:
    """Give the scores that the next round starts from, (n_rows, n_outputs).

    They are the same bits as those that the rounds of ``begin`` left: a margin comes first in the
    sum, and is not added to what the trees sum up to.
    """
    if margin is None:
        if begin is None:
            return np.tile(start, (n_rows, 1))
        return begin.decision(table, n_threads=n_threads)
    scores = margin.copy()  # the rounds move them in place
    if begin is not None:
        stages = begin.members
        assert isinstance(stages, Stages)
        *_, scores = stages.running(table, begin.weights, margin, n_threads)
    return scores
