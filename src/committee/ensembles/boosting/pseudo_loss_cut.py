"""Where a stump must cut so that the pseudo-loss of AdaBoost.M2 is least.

The pseudo-loss is linear in the plausibilities: what a class brings on one side of a cut is the
weight of its rows there less that of the mislabels that name it, or nothing, since it need not be
plausible. So the best cut is the one whose two sides bring most, summed over all classes. A stump
of least error looks for something else, and stays far behind on many classes: FindAttrTest of
Freund and Schapire (1996) minimises the pseudo-loss, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from committee.core.members import Floats
from committee.data import Table

TIE = 1e-12  # of the total weight, 1: cuts that bring as much are equal, and the first wins
Ints: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Column:
    """One feature, sorted.

    Attributes
    ----------
    order : ndarray of int
        The rows with a value, by value.
    begins : ndarray of int
        Where each distinct value begins among them.
    missing : ndarray of int
        The other rows.
    level : bool
        Whether a value is held against all others, not the lower ones against the higher.
    """

    order: Ints
    begins: Ints
    missing: Ints
    level: bool

    @classmethod
    def of(cls, values: npt.NDArray[np.float64], level: bool) -> Column:
        """Sort the values."""
        order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]
        ranked = values[order]
        begins = np.flatnonzero(np.append(True, ranked[1:] > ranked[:-1])) if len(order) else order
        return cls(order, begins, np.flatnonzero(np.isnan(values)), level)

    def best(self, gain: Floats, total: Floats) -> tuple[float, int, bool]:
        """Return what the best cut brings, its place, and if missing values are on its first side.

        Cuts are numbered by the value, or the last value, of the first side.
        """
        first = np.add.reduceat(gain[self.order], self.begins, axis=0)
        if not self.level:
            np.cumsum(first, axis=0, out=first)
        sides = [first]
        if len(self.missing):
            sides.append(first + gain[self.missing].sum(axis=0))
        brought = np.stack([worth(side) + worth(total - side) for side in sides])
        at = int(np.argmax(brought >= brought.max() - TIE))
        with_missing, place = divmod(at, len(self.begins))
        return float(brought.max()), place, bool(with_missing)

    def first_side(self, place: int, with_missing: bool, n_rows: int) -> npt.NDArray[np.bool_]:
        """Mark the rows of the first side."""
        end = self.begins[place + 1] if place + 1 < len(self.begins) else len(self.order)
        side = np.zeros(n_rows, dtype=np.bool_)
        side[self.order[self.begins[place] if self.level else 0 : end]] = True
        side[self.missing] = with_missing
        return side


class CutSearch:
    """Finds the best cut for one distribution over mislabels after the other.

    Parameters
    ----------
    table : Table
        Dense rows.
    """

    def __init__(self, table: Table) -> None:
        self._columns = [
            Column.of(np.asarray(table.values[:, f], dtype=np.float64), f in table.levels)
            for f in range(table.n_features)
        ]

    def sides(self, gain: Floats) -> Ints:
        """Return on which side of the best cut each row is: 0 or 1, all 0 where no cut helps.

        Parameters
        ----------
        gain : ndarray of shape (n_rows, n_classes)
            What a row brings to a class that is plausible on its side.
        """
        total = gain.sum(axis=0)
        most, side = float(worth(total)), np.ones(len(gain), dtype=np.bool_)
        for column in self._columns:
            if len(column.order):
                brought, place, with_missing = column.best(gain, total)
                if brought > most + TIE:
                    most, side = brought, column.first_side(place, with_missing, len(gain))
        return np.asarray(~side, dtype=np.intp)


def worth(sums: Floats) -> Floats:
    """Add up what the plausible classes of a side bring."""
    return np.asarray(np.maximum(sums, 0).sum(axis=-1))
