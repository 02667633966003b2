"""Categorical columns: which ones they are, their levels, and the codes that stand for them.

A column is coded against its own levels first; at prediction only these few levels, not the rows,
are matched against the fitted ones. Levels are the values that occur. Ordered ones (an Enum, an
ordered Categorical) keep the declared order and all others are sorted, since the storage order of
an unordered dictionary is an accident (in polars it depends on what the process did before).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from committee.data.errors import InputError, Items, column_text, describe, listing, warn
from committee.data.table import Array

MAX_LEVELS = 65_535
EXACT = 2**53  # integers up to here are exact in float64


@dataclass(frozen=True)
class Coded:
    """One categorical column: its levels, and per row the position of its level or -1."""

    levels: Array
    codes: npt.NDArray[np.int64]

    def positions(self) -> npt.NDArray[np.float64]:
        """Return the codes as floats, missing ones as NaN."""
        return np.where(self.codes < 0, np.nan, self.codes)


def is_missing(value: object) -> bool:
    """Tell whether ``value`` is None, NaN, NaT or pandas' NA (told by its name: no import)."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, Decimal, np.datetime64)) and bool(value != value)


def code_values(values: Array, where: str) -> Coded:
    """Code a one-dimensional array of any dtype; ``where`` names the column in messages."""
    if values.dtype.kind in "biuf":
        return _code_numbers(values, where)
    items = values.tolist() if values.dtype.kind in "OU" else [str(v) for v in values]
    try:
        distinct = {value: code for code, value in enumerate(dict.fromkeys(items))}
    except TypeError as error:
        raise InputError(
            describe(
                "X-DTYPE",
                "X",
                f"{where} is declared categorical but holds values that cannot be levels ({error})",
                allowed="text, numbers, missing values",
                fix="turn each value into text or a number first",
            )
        ) from None
    codes = np.fromiter(map(distinct.__getitem__, items), dtype=np.int64, count=len(items))
    return canonical(list(distinct), codes, ordered=False, where=where)


def _code_numbers(values: Array, where: str) -> Coded:
    if values.dtype.kind != "f":
        wide = values.astype(np.int64) if values.dtype != np.uint64 else values
        levels, codes = np.unique(wide, return_inverse=True)
        if levels.dtype == np.uint64 and (not len(levels) or levels[-1] < 2**63):
            levels = levels.astype(np.int64)
        return Coded(_limited(levels, where), codes.astype(np.int64, copy=False))
    codes = np.full(len(values), -1, dtype=np.int64)
    present = ~np.isnan(values)
    if np.isinf(values).any():
        raise InputError(
            describe("X-INFINITE", "X", f"{where} is categorical and contains infinity")
        )
    found, codes[present] = np.unique(values[present].astype(np.float64), return_inverse=True)
    return Coded(_limited(_whole(found), where), codes)


def _whole(levels: npt.NDArray[np.float64]) -> Array:
    """Turn whole numbers into int64, so that 3 and 3.0 are the same level in any container."""
    if len(levels) and np.abs(levels).max() <= EXACT and (levels == np.floor(levels)).all():
        return levels.astype(np.int64)
    return levels if len(levels) else levels.astype(np.int64)


def canonical(
    categories: Sequence[Any], codes: npt.NDArray[np.int64], *, ordered: bool, where: str
) -> Coded:
    """Bring a dictionary encoding into our form: levels that occur, sorted unless ``ordered``.

    Parameters
    ----------
    categories : sequence
        The dictionary; entries may be missing values, unused or repeated.
    codes : ndarray of int64
        Positions in ``categories``, -1 where missing.
    ordered : bool
        Whether the order of ``categories`` was declared by the user.
    where : str
        The column's name in messages.

    Returns
    -------
    Coded
        The column.
    """
    occurs = np.bincount(codes + 1, minlength=len(categories) + 1)[1:] > 0
    used = [k for k in np.flatnonzero(occurs).tolist() if not is_missing(categories[k])]
    values = _level_values([categories[k] for k in used], where)
    distinct = list(dict.fromkeys(values.tolist()))
    if not ordered:
        distinct.sort()
    rank = {value: position for position, value in enumerate(distinct)}
    remap = np.full(len(categories) + 1, -1, dtype=np.int64)  # the last entry serves code -1
    remap[used] = [rank[value] for value in values.tolist()]
    return Coded(_limited(np.array(distinct, dtype=values.dtype), where), remap[codes])


def _level_values(values: list[Any], where: str) -> Array:
    """Type the levels: int64, float64 or text; other objects become their text."""
    kinds = Counter(_kind(value) for value in values)
    if len(kinds) > 1 and "other" not in kinds:
        raise InputError(
            describe(
                "X-LEVEL-TYPES",
                "X",
                f"{where} is categorical and mixes {_counts(kinds)}",
                allowed="levels of one type",
                fix="turn the column into text",
            )
        )
    if values and set(kinds) == {"number"}:
        if all(isinstance(value, (int, np.integer)) for value in values):
            return np.array([int(value) for value in values])
        return _whole(np.array([float(value) for value in values]))
    return np.array([str(value) for value in values], dtype=object)


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "text"
    return "number" if isinstance(value, (Real, np.bool_, Decimal)) else "other"


def _counts(kinds: Counter[str]) -> str:
    return " and ".join(f"{kind} ({count} levels)" for kind, count in sorted(kinds.items()))


def _limited(levels: Array, where: str) -> Array:
    if len(levels) <= MAX_LEVELS:
        return levels
    raise InputError(
        describe(
            "X-LEVELS",
            "X",
            f"{where} is categorical and has {len(levels)} levels, the limit is {MAX_LEVELS}",
            allowed=f"up to {MAX_LEVELS} levels",
            fix="(1) group rare levels; (2) or encode the column as numbers, for example by "
            "sklearn.preprocessing.TargetEncoder; (3) or drop it if it is an identifier",
        )
    )


def match_levels(
    coded: Coded, fitted: Array, names: Items | None, column: int, apart: bool = False
) -> npt.NDArray[np.float64]:
    """Express a column by the fitted levels; unseen ones become missing, with one warning.

    With ``apart`` they get a position of their own, behind those of the fitted levels.
    """
    where = column_text(names, column)
    if (
        len(fitted)
        and len(coded.levels)
        and (fitted.dtype == object) != (coded.levels.dtype == object)
    ):
        kinds = {True: "text", False: "numbers"}
        raise InputError(
            describe(
                "X-KIND",
                "X",
                f"{where} was categorical with {kinds[fitted.dtype == object]} as levels at fit "
                f"({listing(fitted.tolist())}), now it holds {kinds[coded.levels.dtype == object]} "
                f"({listing(coded.levels.tolist())})",
                allowed="the kind of values seen at fit",
                fix="read and convert the column as before fit",
            )
        )
    rank = {value: position for position, value in enumerate(fitted.tolist())}
    remap = np.array(
        [rank.get(value, -1) for value in coded.levels.tolist()] + [-1], dtype=np.int64
    )
    unseen = np.flatnonzero(remap[:-1] < 0)
    codes = remap[coded.codes]
    if len(unseen):
        strange = (codes < 0) & (coded.codes >= 0)
        count = int(np.count_nonzero(strange))
        treated = "the mean of all rows stands for them" if apart else "they are treated as missing"
        found = [repr(value) for value in coded.levels[unseen].tolist()]
        warn(
            describe(
                "X-UNSEEN",
                "X",
                f"{where} holds {len(found)} level(s) not seen at fit ({listing(found)}) in "
                f"{count} row(s); {treated}",
                fix="fit again with these levels if they are to count",
            )
        )
        if apart:
            codes = np.where(strange, len(fitted), codes)
    return Coded(fitted, codes).positions()


def resolve_categorical(
    spec: Any, names: Items | None, n_features: int, by_dtype: npt.NDArray[np.bool_] | None
) -> npt.NDArray[np.bool_]:
    """Turn ``categorical_features`` into a mask over the columns.

    Parameters
    ----------
    spec : None, "from_dtype", or array-like of names, of indices or of bool
        What the user asked for.
    names : sequence of str or None
        The column names, where there are any.
    n_features : int
        The number of columns.
    by_dtype : ndarray of bool or None
        Which columns are categorical by their dtype.

    Returns
    -------
    ndarray of bool
        The mask.
    """
    mask = np.zeros(n_features, dtype=np.bool_)
    if spec is None or (isinstance(spec, str) and spec == "from_dtype"):
        return mask if spec is None or by_dtype is None else by_dtype
    if isinstance(spec, (str, bytes)) or not isinstance(spec, Iterable):
        raise _bad_spec(f"{spec!r} is no list", names, n_features)
    entries = np.asarray(spec).tolist() if isinstance(spec, np.ndarray) else list(spec)
    kinds = {_spec_kind(entry) for entry in entries}
    if len(kinds) > 1 or "other" in kinds:
        raise _bad_spec(
            f"entries are not all of one allowed type: {listing(entries)}", names, n_features
        )
    if kinds == {"bool"}:
        if len(entries) != n_features:
            raise _bad_spec(
                f"mask of length {len(entries)} for {n_features} columns", names, n_features
            )
        return np.array(entries, dtype=np.bool_)
    known = {} if names is None else {name: column for column, name in enumerate(names)}
    for entry in entries:
        column = known.get(entry, -1) if kinds == {"name"} else int(entry)
        if not 0 <= column < n_features:
            raise _bad_spec(f"entry {entry!r} is no column of X", names, n_features)
        mask[column] = True
    return mask


def _spec_kind(entry: object) -> str:
    if isinstance(entry, (bool, np.bool_)):
        return "bool"
    if isinstance(entry, (int, np.integer)):
        return "index"
    return "name" if isinstance(entry, str) else "other"


def _bad_spec(found: str, names: Items | None, n_features: int) -> InputError:
    valid = (
        "X has no column names" if names is None else f"names {listing([repr(n) for n in names])}"
    )
    return InputError(
        describe(
            "CATEGORICAL-SPEC",
            "categorical_features",
            found,
            allowed=f"None, 'from_dtype', or a list of names, of indices in [0, {n_features - 1}] "
            f"or of {n_features} booleans; {valid}",
            fix="list existing columns",
        )
    )
