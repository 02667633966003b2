"""The door for query ids: rows that belong together, brought side by side.

Groups are numbered as they first appear, so rows that lie together already stay where they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import numpy.typing as npt

from committee.data.errors import InputError, class_name, describe, rows_text
from committee.data.levels import is_missing
from committee.data.table import Array

Ints: TypeAlias = npt.NDArray[np.int64]

ALLOWED = "one id per row of X: numbers, text or dates"


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows by group.

    Attributes
    ----------
    order : ndarray of int64, shape (n_rows,)
        Row numbers, those of one group side by side and in their own order.
    begin : ndarray of int64, shape (n_groups + 1,)
        Group g has the rows ``order[begin[g]:begin[g + 1]]``.
    ids : ndarray of shape (n_groups,)
        The id of each group, as they first appear.
    """

    order: Ints
    begin: Ints
    ids: Array

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def sizes(self) -> Ints:
        """Rows in each group."""
        return np.diff(self.begin)


def read_queries(groups: Any, n_rows: int) -> Groups:
    """Read query ids, one per row and in any order.

    Parameters
    ----------
    groups : array-like of shape (n_rows,)
        Ids of any type that can be compared: rows of equal id belong together.
    n_rows : int
        The number of rows of X.

    Returns
    -------
    Groups
        The rows in the order of their groups.

    Examples
    --------
    >>> from committee.data.groups import read_queries
    >>> groups = read_queries(["cats", "dogs", "cats", "owls", "dogs"], 5)
    >>> groups.order, groups.begin
    (array([0, 2, 1, 4, 3]), array([0, 2, 4, 5]))
    """
    ids = _as_array(groups)
    if ids.shape != (n_rows,):
        fix = "repeat the id for each row of its group" if ids.ndim == 1 else ""
        raise _shape_error(f"groups has shape {ids.shape}, expected {(n_rows,)}", fix)
    _refuse_missing(ids)
    labels, codes = _code_ids(ids)
    sizes = np.bincount(codes, minlength=len(labels))
    begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Groups(np.argsort(codes, kind="stable").astype(np.int64), begin, labels)


def _as_array(groups: Any) -> Array:
    if groups is None:
        raise _shape_error("groups is None", "say to which query each row belongs")
    if isinstance(groups, np.ma.MaskedArray):  # masked: no id, which is refused later
        items = np.asarray(groups).astype(object)
        items[np.ma.getmaskarray(groups)] = None
        return items
    if nw.dependencies.is_into_series(groups):
        column = nw.from_native(groups, series_only=True)
        if column.dtype.is_numeric() and not column.null_count():
            return np.asarray(column.to_numpy())
        return _objects(column.to_list())
    try:
        array = np.asarray(groups)
    except ValueError:  # rows of different lengths
        raise _shape_error("groups is nested", "") from None
    if array.dtype.kind in "US" and isinstance(groups, (list, tuple)) and array.ndim == 1:
        return _objects(list(groups))  # 1 beside "1" must not become text silently
    return array.astype(object) if array.dtype.kind == "T" else array


def _objects(items: list[Any]) -> Array:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _refuse_missing(ids: Array) -> None:
    kind = ids.dtype.kind
    if kind == "O":
        missing = np.array([is_missing(item) for item in ids.tolist()], dtype=bool)
    elif kind in "fc":
        missing = np.isnan(ids)
    elif kind in "mM":
        missing = np.isnat(ids)
    else:
        return
    rows = np.flatnonzero(missing)
    if len(rows):
        found = f"no id in {rows_text(rows, len(rows))}"
        fix = "give each row a group, or drop these rows"
        raise InputError(describe("G-MISSING", "groups", found, allowed=ALLOWED, fix=fix))


def _code_ids(ids: Array) -> tuple[Array, Ints]:
    """Code the ids by their first appearance."""
    if ids.dtype.kind == "O":
        try:
            seen = {label: code for code, label in enumerate(dict.fromkeys(ids.tolist()))}
        except TypeError:
            odd = next(item for item in ids.tolist() if type(item).__hash__ is None)
            raise _shape_error(
                f"groups holds values of type {class_name(odd)}, which cannot be ids",
                "turn each id into text or a number",
            ) from None
        codes = np.fromiter(map(seen.__getitem__, ids.tolist()), dtype=np.int64, count=len(ids))
        return _objects(list(seen)), codes
    labels, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    appearance = np.argsort(first)
    number = np.empty(len(labels), dtype=np.int64)
    number[appearance] = np.arange(len(labels))
    return labels[appearance], number[inverse]


def _shape_error(found: str, fix: str) -> InputError:
    return InputError(describe("G-SHAPE", "groups", found, allowed=ALLOWED, fix=fix))
