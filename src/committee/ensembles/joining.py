"""Columns beside rows, and rows below others: a frame stays a frame, sparse rows stay sparse.

Stacking puts what members say before the features, cascades put it behind them. DECORATE puts
artificial rows below those it learns from, active learners those that were taught since.
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
from committee.data.arrays import as_matrix
from committee.data.errors import class_name, describe, listing
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


def join_rows(known: Any, more: Any) -> Any:
    """Put rows below others of the same kind.

    Parameters
    ----------
    known, more : ndarray, sparse matrix or data frame
        As :class:`AnyRows` keeps them.

    Returns
    -------
    ndarray, csr matrix or frame
        All rows, in order; those of a pandas frame are numbered anew.

    Examples
    --------
    >>> import pandas as pd
    >>> join_rows(pd.DataFrame({"age": [31, 64]}, index=[7, 9]), pd.DataFrame({"age": [50]}))
       age
    0   31
    1   64
    2   50
    """
    if sparse.issparse(known) or sparse.issparse(more):
        if known.shape[1] != more.shape[1]:
            raise _unlike(f"{more.shape[1]} columns, those before have {known.shape[1]}")
        both = [
            rows if sparse.issparse(rows) else sparse.csr_matrix(rows) for rows in (known, more)
        ]
        return sparse.vstack(both, format="csr")
    frames = open_frame(known), open_frame(more)
    if frames[0] is None and frames[1] is None:
        first, second = as_matrix(known), as_matrix(more)
        if first.shape[1] != second.shape[1]:
            raise _unlike(f"{second.shape[1]} columns, those before have {first.shape[1]}")
        return np.concatenate([first, second])
    if frames[0] is None or frames[1] is None or type(known) is not type(more):
        raise _unlike(f"{class_name(more)}, those before are {class_name(known)}")
    if list(frames[0].columns) != list(frames[1].columns):
        raise _unlike(f"columns {frames[1].columns}, those before have {frames[0].columns}")
    if frames[0].implementation.is_pandas():
        return _join_pandas(frames[0].to_native(), frames[1].to_native())
    return nw.concat([frames[0], frames[1]], how="vertical").to_native()


def _join_pandas(known: Any, more: Any) -> Any:
    """Concatenate frames; categories become the union of both, so that levels stay levels."""
    import pandas as pd

    if list(known.dtypes) == list(more.dtypes):
        return pd.concat([known, more], ignore_index=True)
    columns = {}
    for name in known.columns:
        first, second = known[name], more[name]
        kinds = [isinstance(part.dtype, pd.CategoricalDtype) for part in (first, second)]
        if any(kinds) and first.dtype != second.dtype:
            if not all(kinds):
                raise _unlike(f"column {name!r} of {second.dtype}, before {first.dtype}")
            columns[name] = pd.api.types.union_categoricals([first, second], ignore_order=True)
        else:
            columns[name] = pd.concat([first, second], ignore_index=True).array
    return pd.DataFrame(columns)


def _unlike(found: str) -> InputError:
    fix = "teach rows of the same kind and columns as those of fit"
    return InputError(describe("Q-ROWS", "X", f"the rows have {found}", fix=fix))
