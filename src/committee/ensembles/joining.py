"""Columns beside rows of any container: a frame stays a frame, sparse rows stay sparse.

Stacking puts what members say before the features, cascades put it behind them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from committee.core.members import Floats
from committee.data import InputError
from committee.data.errors import describe, listing
from committee.data.frames import open_frame


def join_columns(X: Any, columns: Floats, names: Sequence[str], *, first: bool) -> Any:
    """Put columns beside rows.

    Parameters
    ----------
    X : ndarray, sparse matrix or frame of shape (n_rows, n_features)
        The rows.
    columns : ndarray of shape (n_rows, n_columns)
        What stands beside them.
    names : sequence of str
        Of the columns, where the rows are a frame.
    first : bool
        Whether they stand before the features.

    Returns
    -------
    ndarray, csr matrix or frame of shape (n_rows, n_columns + n_features)
        The container of ``X``; an array without columns beside it is given back as it is.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"age": [31, 64]}, index=[7, 9])
    >>> join_columns(rows, np.array([[0.5], [0.25]]), ["said"], first=False)
       age  said
    7   31  0.50
    9   64  0.25
    """
    if columns.shape[1] == 0:
        return X
    if sparse.issparse(X):
        both = [sparse.csr_array(columns), X] if first else [X, sparse.csr_array(columns)]
        return sparse.hstack(both, format="csr")
    frame = open_frame(X)
    if frame is None:
        return np.hstack([columns, X] if first else [X, columns])
    index = nw.maybe_get_index(frame)
    frame = nw.maybe_reset_index(frame.rename({name: str(name) for name in frame.columns}))
    said = nw.from_dict(
        dict(zip(names, np.asfortranarray(columns).T, strict=True)),
        backend=frame.implementation,
    )
    both = nw.concat([said, frame] if first else [frame, said], how="horizontal").to_native()
    if index is not None:
        both.index = index  # by which pandas would have matched the rows
    return both


def refuse_taken(features: Any, pattern: str) -> None:
    """Refuse features that have the names of columns to stand beside them.

    Parameters
    ----------
    features : sequence of str or None
        Names of the features; None where they have none.
    pattern : str
        A regular expression for the names of the columns.
    """
    taken = [name for name in ([] if features is None else features) if re.fullmatch(pattern, name)]
    if taken:
        found = f"columns have the names of what members say: {listing(taken)}"
        fix = "rename these columns, or the members"
        raise InputError(describe("X-DUPLICATE-NAMES", "X", found, fix=fix))
