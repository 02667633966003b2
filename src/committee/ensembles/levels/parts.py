"""Parts of the rows: what each model of a stack of several levels may see, so that none peeks.

A model of level 2 that is asked about row r must not have seen r, and neither may the models of
level 1 whose answers it learned from. So the folds are nested: within the training side of a split
the same splits divide again. A part is the set of rows that is left after some splits; a model is
named by its part. For K folds the part without folds j and k is the same whichever came first, so
that two levels need 1 + K + K(K - 1)/2 parts and not 1 + K + K(K - 1); and for splits in time the
part of the earlier split is all there is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from committee.core.bags import LeftOut
from committee.core.members import Floats
from committee.data import InputError
from committee.data.errors import describe
from committee.ensembles.panel.folds import Folds, Mask, Rows


@dataclass(eq=False)
class Part:
    """Rows that models may see, and others about which they are asked.

    Attributes
    ----------
    index : int
        Its place among the parts.
    rows : ndarray of int
        What models of this part learn from, sorted.
    depth : int
        By how many splits it is made, at least: 0 is all rows.
    asked : ndarray of int
        The rows outside about which its models are asked, sorted.
    within : list of (Part, ndarray of int)
        The smaller parts, one for each split, and the rows of this part that each is asked about.
    """

    index: int
    rows: Rows
    depth: int
    asked: Rows = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    within: list[tuple[Part, Rows]] = field(default_factory=list)


class Parts:
    """All parts that a stack needs.

    Parameters
    ----------
    folds : Folds
        The splits.
    n_levels : int
        Levels of members below the final model.
    usable : ndarray of bool
        Rows that models may learn from.

    Attributes
    ----------
    whole : Part
        All rows.
    levels : list of list of Part
        The parts in which each level has models, the first level first; the higher, the fewer.
    """

    def __init__(self, folds: Folds, n_levels: int, usable: Mask) -> None:
        self.n_rows = folds.n_rows
        self.whole = Part(0, np.flatnonzero(usable), 0)
        self._parts = {_key(self.whole.rows): self.whole}
        edge = [self.whole]
        for _ in range(n_levels):
            edge = [new for part in edge for new in self._divide(part, folds)]
        self.levels: list[list[Part]] = []
        self._having: list[set[int]] = []
        for level in range(n_levels):
            shallow = [part for part in self if part.depth <= n_levels - level]
            # A part without a row that has an honest answer has nothing to learn from.
            self.levels.append([part for part in shallow if len(self.learned(level, part))])
            self._having.append({part.index for part in self.levels[-1]})
            if self.whole not in self.levels[-1] or not self.known(level, self.whole).any():
                self._refuse(folds, n_levels)

    def _divide(self, part: Part, folds: Folds) -> Iterator[Part]:
        """Divide a part by every split that has rows of it on both sides."""
        for train, test in folds:
            rows = np.intersect1d(part.rows, train, assume_unique=True)
            tested = test if part is self.whole else np.intersect1d(part.rows, test, True)
            if not len(rows) or not len(tested):
                continue
            key = _key(rows)
            new = key not in self._parts
            smaller = self._parts.setdefault(key, Part(len(self), rows, part.depth + 1))
            smaller.asked = np.union1d(smaller.asked, tested)
            part.within.append((smaller, tested))
            if new:
                yield smaller

    def _refuse(self, folds: Folds, n_levels: int) -> None:
        found = f"{len(folds)} split(s) leave no row with an honest answer for {n_levels} level(s)"
        allowed = f"{n_levels + 1} folds or more for {n_levels} level(s)"
        raise InputError(describe("P-FOLDS", "cv", found, allowed=allowed, fix="more folds"))

    def __len__(self) -> int:
        return len(self._parts)

    def __iter__(self) -> Iterator[Part]:
        return iter(self._parts.values())

    def known(self, level: int, part: Part) -> Mask:
        """Mark the rows of which some model of a level, in a smaller part, has an honest answer."""
        mask = np.zeros(self.n_rows, dtype=np.bool_)
        for smaller, tested in part.within:
            mask[tested] |= smaller.index in self._having[level]
        return mask

    def learned(self, level: int, part: Part) -> Rows:
        """List the rows of a part that its models of a level learn from."""
        if level == 0:
            return part.rows
        return part.rows[self.known(level - 1, part)[part.rows]]

    def honest(self, level: int, part: Part, said: Mapping[int, Floats]) -> Floats:
        """Collect what models of smaller parts, of one level, say of rows they have not seen.

        Parameters
        ----------
        level : int
            The level.
        part : Part
            Whose rows are asked about.
        said : mapping of int to ndarray of shape (n_asked, n_columns)
            By the index of a part, what its models say of ``asked``.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            The mean where several splits ask about a row, NaN where none does.
        """
        width = next(iter(said.values())).shape[1]
        total, count = np.zeros((self.n_rows, width)), np.zeros(self.n_rows)
        for smaller, tested in part.within:
            if smaller.index in self._having[level]:
                total[tested] += said[smaller.index][np.searchsorted(smaller.asked, tested)]
                count[tested] += 1
        count[count == 0] = np.nan
        return np.asarray(total / count[:, None])

    def left_out(self) -> LeftOut:
        """Mark for each part the rows that its models have not seen."""
        masks = np.ones((len(self), self.n_rows), dtype=np.bool_)
        for mask, part in zip(masks, self, strict=True):
            mask[part.rows] = False
        return LeftOut.of_masks(masks)


def _key(rows: Rows) -> bytes:
    """Name a set of rows; the rows themselves would take as much memory as the parts."""
    return hashlib.blake2b(rows.tobytes(), digest_size=16).digest()
