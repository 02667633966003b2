"""Bags: which rows each member sees, from the parameters users know to the engine's own draws.

The bootstrap draws rows with replacement (Efron 1979; Breiman 1996); half of them without does much
the same (Buja and Stuetzle 2006); Poisson counts and exponential weights do it row by row (Oza and
Russell 2001; Bauer and Kohavi 1999). A draw is a function of (seed, member, content of the row), so
the order of the rows, their container and the number of threads change nothing.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from committee import _engine
from committee.data import InputError
from committee.data.errors import describe, rows_text

Floats: TypeAlias = npt.NDArray[np.float64]
UInts8: TypeAlias = npt.NDArray[np.uint8]
UInts32: TypeAlias = npt.NDArray[np.uint32]
UInts64: TypeAlias = npt.NDArray[np.uint64]

DRAWS = ("replace", "subset", "poisson", "exponential")
MOST_UNITS = 16  # units per row, on average, up to which weights are read as repetitions
WHOLE = 2.0**-44  # relative distance from a whole number that rounding may cause


def hash_weights(weight: Floats | None) -> str:
    """Hash the weights of rows; equal weights are as good as none."""
    if weight is None or (weight == weight[0]).all():
        return ""
    return hashlib.blake2b(np.ascontiguousarray(weight).tobytes(), digest_size=16).hexdigest()


@dataclass(frozen=True, eq=False)
class BagPlan:
    """How the bags of a committee are drawn, with what is needed to draw them again.

    Weights decide what is drawn and are not used again inside the members. Weights that are whole
    multiples of one unit (2 and 3, but also .5 and 1.5; up to 16 units per row on average) are
    repetitions: a row of weight k is drawn like k copies of it, and a full bag has as many draws as
    there are units, divided by their greatest common divisor. Other weights are relative chances,
    and a full bag has as many draws as there are rows of positive weight. Rows of weight 0 are as
    good as absent.

    Attributes
    ----------
    keys : ndarray of uint64
        A hash of each row's content.
    draw : str
        "all" (no resampling), or one of :data:`DRAWS`.
    size : int
        Draws per bag.
    seed : int
        The seed of the committee.
    units, weight : ndarray or None
        Repetitions or relative chances of the rows; at most one of them.
    strata : ndarray of uint32 or None
        Rows are drawn within each stratum.
    groups : ndarray of uint32 or None
        Rows of one group are drawn together; the size then counts groups.
    cuts : str
        Where keys are hashes of bins: a hash of what the bins are.
    weights : str
        Without resampling: a hash of the weights, which the members use themselves.
    """

    keys: UInts64
    draw: str
    size: int
    seed: int
    units: UInts32 | None = None
    weight: Floats | None = None
    strata: UInts32 | None = None
    groups: UInts32 | None = None
    cuts: str = ""
    weights: str = ""

    @classmethod
    def of(
        cls,
        keys: UInts64,
        *,
        seed: int,
        bootstrap: bool = True,
        resampling: str = "replace",
        max_samples: int | float | None = None,
        weight: Floats | None = None,
        strata: UInts32 | None = None,
        groups: UInts32 | None = None,
        cuts: str = "",
    ) -> BagPlan:
        """Read the parameters users know.

        Parameters
        ----------
        keys : ndarray of uint64
            A hash of each row's content.
        seed : int
            The seed of the committee.
        bootstrap : bool
            Whether to resample at all; without, every member sees every row once.
        resampling : {"replace", "subset", "poisson", "exponential"}
            How.
        max_samples : int, float or None
            Draws per bag: a number, a share of the full bag, or the full bag; for "subset" None is
            half of it.
        weight, strata, groups : ndarray or None
            Per row; see the class.
        cuts : str
            See the class.

        Returns
        -------
        BagPlan
            The plan.
        """
        if not bootstrap:
            if max_samples is not None:
                found = f"max_samples={max_samples!r} while bootstrap=False"
                fix = "set bootstrap=True, or max_samples=None"
                raise InputError(describe("P-BAG", "max_samples", found, fix=fix))
            return cls(keys, "all", len(keys), seed, cuts=cuts, weights=hash_weights(weight))
        units = None if weight is None else repetitions(weight)
        if units is not None:
            weight = None
        if units is not None and (units == 1).all():
            units = None
        if strata is not None and groups is not None:
            check_nested(groups, strata)
        full = full_size(len(keys), units, weight, groups)
        size = bag_size(max_samples, full, resampling)
        return cls(keys, resampling, size, seed, units, weight, strata, groups, cuts)

    @property
    def leaves_out(self) -> bool:
        """Whether bags leave rows out, so that there is something to test on."""
        return self.draw not in ("all", "exponential")

    @property
    def drawable(self) -> npt.NDArray[np.bool_]:
        """Rows that can be in a bag."""
        chance = self.weight if self.units is None else self.units
        return np.ones(len(self.keys), np.bool_) if chance is None else np.asarray(chance > 0)

    def native(self) -> _engine.Bags:
        """Hand the plan to the engine."""
        return _engine.Bags(
            self.keys,
            draw=getattr(_engine.Draw, self.draw),
            size=self.size,
            seed=self.seed,
            units=self.units,
            weight=self.weight,
            strata=self.strata,
            groups=self.groups,
        )

    def seeded(self, seed: int) -> BagPlan:
        """Return the same plan under another seed."""
        return replace(self, seed=seed)


def repetitions(weight: Floats) -> UInts32 | None:
    """Read weights as counts of their greatest common unit.

    Parameters
    ----------
    weight : ndarray of float64
        Weights >= 0, one of them positive.

    Returns
    -------
    ndarray of uint32 or None
        The counts; None where there is no common unit of which the rows have at most
        ``MOST_UNITS`` on average.
    """
    positive = weight[weight > 0]
    with np.errstate(over="ignore"):
        ratio = positive / positive.min()
    if not ratio.sum() <= MOST_UNITS * len(ratio):
        return None
    # The lightest row has at most the average number of units.
    for unit in range(1, MOST_UNITS + 1):
        count = np.rint(ratio * unit)
        if count.sum() > MOST_UNITS * len(ratio):
            return None
        if (np.abs(ratio * unit - count) <= WHOLE * count).all():
            units = np.zeros(len(weight), dtype=np.uint32)
            units[weight > 0] = count
            return units
    return None


def full_size(
    n_rows: int, units: UInts32 | None, weight: Floats | None, groups: UInts32 | None
) -> int:
    """Count what can be drawn: groups, units, or rows of positive weight."""
    chance = weight if units is None else units
    if groups is not None:
        return len(np.unique(groups if chance is None else groups[chance > 0]))
    if units is not None:
        return int(units.sum(dtype=np.int64))
    return n_rows if weight is None else int((weight > 0).sum())


def bag_size(max_samples: int | float | None, full: int, resampling: str) -> int:
    """Turn ``max_samples`` into a number of draws."""
    if max_samples is None:
        return (full + 1) // 2 if resampling == "subset" else full
    if isinstance(max_samples, Integral):
        size = int(max_samples)
    else:
        size = max(int(max_samples * full), 1)
    if resampling == "subset" and size > full:
        found = f"max_samples={max_samples!r} asks for {size} different rows, there are {full}"
        allowed = f"at most {full} draws without replacement"
        raise InputError(describe("P-BAG", "max_samples", found, allowed=allowed))
    return size


def check_nested(groups: UInts32, strata: UInts32) -> None:
    """Refuse groups that lie in two strata: they cannot be drawn together and within one."""
    _, first, member = np.unique(groups, return_index=True, return_inverse=True)
    torn = np.flatnonzero(strata != strata[first][member])
    if len(torn):
        found = f"a group has rows of different classes: {rows_text(torn, len(torn))}"
        fix = "stratify=False, or groups that each lie in one class"
        raise InputError(describe("P-BAG", "groups", found, fix=fix))


def read_groups(groups: Any, n_rows: int) -> UInts32 | None:
    """Read the fit argument ``groups``: a label for each row.

    Parameters
    ----------
    groups : array-like of shape (n_rows,) or None
        Labels of any sortable type.
    n_rows : int
        The number of rows of X.

    Returns
    -------
    ndarray of uint32 or None
        Codes in the sorted order of the labels.
    """
    if groups is None:
        return None
    labels = np.asarray(groups)
    if labels.shape != (n_rows,):
        found = f"groups has shape {labels.shape}, expected {(n_rows,)}"
        raise InputError(describe("G-SHAPE", "groups", found, allowed="one label per row of X"))
    empty = np.array([label is None or label != label for label in labels.tolist()])
    if empty.any():
        rows = np.flatnonzero(empty)
        found = f"no label in {rows_text(rows, len(rows))}"
        raise InputError(describe("G-MISSING", "groups", found, fix="give each row a group"))
    return np.unique(labels, return_inverse=True)[1].astype(np.uint32)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The rows that each member has not seen, one bit each.

    Attributes
    ----------
    bitmap : ndarray of uint8, shape (n_members, ceil(n_rows / 8))
        Bit ``r % 8`` of byte ``r // 8`` is 1 where the member left out row r. Rows that can never
        be drawn, having weight 0, are not left out.
    n_rows : int
        Training rows.
    """

    bitmap: UInts8
    n_rows: int

    @classmethod
    def of(cls, bags: _engine.Bags, begin: int, end: int, n_threads: int = 1) -> LeftOut:
        """Draw the bags of the members ``begin`` to ``end`` and keep what they leave."""
        return cls(bags.left_out(begin, end, n_threads), bags.n_rows)

    @classmethod
    def of_masks(cls, masks: npt.NDArray[np.bool_]) -> LeftOut:
        """Pack masks of shape (n_members, n_rows)."""
        return cls(np.packbits(masks, axis=1, bitorder="little"), masks.shape[1])

    def __len__(self) -> int:
        return len(self.bitmap)

    def __getitem__(self, members: slice) -> LeftOut:
        return LeftOut(np.ascontiguousarray(self.bitmap[members]), self.n_rows)

    def __add__(self, other: LeftOut) -> LeftOut:
        return LeftOut(np.concatenate([self.bitmap, other.bitmap]), self.n_rows)

    def mask(self, member: int) -> npt.NDArray[np.bool_]:
        """Mark the rows that a member left out."""
        bits = np.unpackbits(self.bitmap[member], count=self.n_rows, bitorder="little")
        return bits.view(np.bool_)

    def counts(self) -> npt.NDArray[np.int64]:
        """Count for each row the members that left it out."""
        total = np.zeros(self.n_rows, dtype=np.int64)
        for member in range(len(self)):
            total += self.mask(member)
        return total

    def members_of(self, row: int) -> npt.NDArray[np.int64]:
        """List the members that left a row out."""
        return np.flatnonzero(self.bitmap[:, row // 8] >> (row % 8) & 1)
