"""Threshold rules: what it says about every label that a number is up to a cut, above, or missing.

Rows are sorted into at most 255 bins per column, once. One product with the weights adds them up
in every bin, and cumulative sums give W+ and W- on both sides of every cut (BoosTexter, Schapire
and Singer 2000, section 4). A level of a categorical column is held against all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from committee.core.members import Floats
from committee.data import Schema, Table
from committee.data.rows import Rows
from committee.ensembles.boosting.cell_rules import (
    CellRules,
    RuleHypothesis,
    RuleRows,
    by_sign,
    cell_score,
    first_best,
    silent_score,
)
from committee.ensembles.boosting.hypothesis import Nodes

MAX_BINS = 255
BLOCK = 1 << 14  # bins scored at once, so that their sums stay in the cache
LOW, HIGH, MISSING = range(3)
EVERYWHERE = np.ones(3, dtype=np.bool_)
ONE_SIDE = np.array([[False, True, False], [True, False, False]])  # where a rule abstains


class ThresholdRules(CellRules):
    """Rules of numbers: cell 0 up to the cut, 1 above it, 2 where the number is missing.

    In a categorical column cell 1 is the level at ``cut``, and cell 0 all others.
    """

    CELLS: ClassVar[tuple[str, ...]] = ("not above {}", "above {}", "missing")

    def cells(self, table: Table) -> Iterator[Nodes]:
        """Yield the cells of all rows, for one rule after the other."""
        for feature, cut in zip(self.features.tolist(), self.cuts, strict=True):
            numbers = column(table, feature)
            high = numbers == cut if feature in self.schema.levels else numbers > cut
            cells = high.astype(np.uint32)
            cells[np.isnan(numbers)] = MISSING
            yield cells


def column(table: Table, feature: int) -> Floats:
    """Give a column of a table as numbers; of a sparse one only this column is made dense."""
    if not table.sparse:
        return np.asarray(table.values[:, feature], dtype=np.float64)
    numbers = np.zeros(table.n_rows)
    kind = sparse.csr_array if table.by_row else sparse.csc_array
    shape = (table.n_rows, table.n_features)
    chosen = kind((table.values, table.indices, table.indptr), shape=shape)[:, [feature]].tocoo()
    numbers[chosen.coords[0]] = chosen.data
    return numbers


@dataclass(frozen=True, eq=False)
class BinRows(RuleRows):
    """Dense training rows, in bins.

    Attributes
    ----------
    bins : ndarray of uint32, shape (n_rows, n_features), column order
        The bin of each number; the last is that of missing ones.
    cuts : ndarray of shape (n_features, n_bins - 1)
        The upper end of each bin, or the level; NaN where there is no rule.
    blocks : list of sparse arrays of shape (n_features_of_block * n_bins, n_rows)
        1 where a row is in a bin.
    """

    KIND: ClassVar[type[CellRules]] = ThresholdRules

    bins: npt.NDArray[np.uint32]
    cuts: Floats
    blocks: list[Any]

    @classmethod
    def of(cls, table: Table, schema: Schema, weight: Floats | None, n_threads: int) -> BinRows:
        """Choose cuts, and sort the rows into bins."""
        mapper = Rows.of(table, weight, max_bins=MAX_BINS, n_threads=n_threads).mapper
        n_rows, n_features = table.n_rows, table.n_features
        ends = [_ends(mapper, table, feature) for feature in range(n_features)]
        last = max(map(len, ends))
        cuts = np.full((n_features, last), np.nan)
        bins = np.empty((n_rows, n_features), dtype=np.uint32, order="F")
        for f, upper in enumerate(ends):
            numbers = column(table, f)
            bins[:, f] = np.where(np.isnan(numbers), last, np.searchsorted(upper, numbers))
            tells = _tells(np.bincount(bins[:, f], minlength=last + 1), f in table.levels)
            cuts[f, : len(upper)] = np.where(tells[: len(upper)], upper, np.nan)
        step = max(1, BLOCK // (last + 1))
        blocks = [_membership(bins[:, f : f + step], last + 1) for f in range(0, n_features, step)]
        return cls(table, table, schema, bins, cuts, blocks)

    def search(self, signs: Floats, variant: str) -> BinSearch:
        """Begin a search."""
        return BinSearch(self, signs, variant)


@dataclass(frozen=True, eq=False)
class BinSearch:
    """Finds the best cut for one distribution after the other.

    Attributes
    ----------
    rows : BinRows
        The rows.
    signs : ndarray of shape (n_rows, n_labels)
        Their labels.
    variant : str
        What rules say.
    """

    rows: BinRows
    signs: Floats
    variant: str

    def best(self, weight: Floats) -> RuleHypothesis:
        """Find the cut that leaves least, the first of equal ones."""
        rows, n_labels = self.rows, self.signs.shape[1]
        scores = np.concatenate(list(self._scores(by_sign(weight, self.signs))))
        scores[np.isnan(rows.cuts)] = np.inf
        if not np.isfinite(scores).any():
            return rows.nothing_to_say(n_labels)
        best = first_best(scores.ravel(), float(weight.sum()))
        feature, place, side = map(int, np.unravel_index(best, scores.shape))
        bins = rows.bins[:, feature]
        high = bins == place if feature in rows.schema.levels else bins > place
        cells = high.astype(np.uint32)
        cells[bins == rows.cuts.shape[1]] = MISSING
        cut = rows.cuts[feature, place : place + 1]
        silent = np.zeros((1, 3, n_labels))
        rule = ThresholdRules(np.array([feature], dtype=np.intp), cut, silent, rows.schema)
        return RuleHypothesis(rule, cells, ONE_SIDE[side] if self._abstains else EVERYWHERE)

    @property
    def _abstains(self) -> bool:
        return self.variant == "abstaining"

    def _scores(self, sides: Floats) -> Iterator[Floats]:
        """Yield scores by feature, cut and, where a rule abstains, the side that speaks."""
        n_sums, n_bins, begin = len(sides), self.rows.cuts.shape[1] + 1, 0
        for block in self.rows.blocks:
            sums = np.moveaxis((block @ sides.T).reshape(-1, n_bins, n_sums), 2, 0)
            features = range(begin, begin + sums.shape[1])
            begin = features.stop
            level = np.array([feature in self.rows.schema.levels for feature in features])
            low, high = _both_sides(sums[..., :-1], level)
            cells = [np.split(each, 2) for each in (low, high, sums[..., -1:])]
            speaking = [cell_score(plus, minus, self.variant) for plus, minus in cells]
            if not self._abstains:
                yield (speaking[LOW] + speaking[HIGH] + speaking[MISSING])[..., None]
                continue
            silent = [silent_score(plus, minus) for plus, minus in cells]
            above = speaking[HIGH] + silent[LOW] + silent[MISSING]
            below = speaking[LOW] + silent[HIGH] + silent[MISSING]
            yield np.stack([above, below], axis=-1)


def _ends(mapper: Any, table: Table, feature: int) -> Floats:
    """Give the upper ends of the bins of a column, or its levels."""
    if feature in table.levels:
        return np.arange(len(table.levels[feature]), dtype=np.float64)
    return np.append(mapper.cuts(feature), np.inf)


def _tells(counts: npt.NDArray[np.intp], level: bool) -> npt.NDArray[np.bool_]:
    """Say which cuts tell rows apart: two cells have some. The last count is of missing ones."""
    inner, missing = counts[:-1], counts[-1] > 0
    high = inner if level else inner.sum() - np.cumsum(inner)
    low = inner.sum() - high
    if level:
        return np.asarray((high > 0) & ((low > 0) | missing))
    return np.asarray((low > 0) & ((high > 0) | missing))


def _membership(bins: npt.NDArray[np.uint32], n_bins: int) -> Any:
    """Make the matrix whose product with weights of rows adds them up in each bin."""
    n_rows, n_features = bins.shape
    inside = bins.astype(np.int64) + np.arange(n_features) * n_bins
    begins = np.arange(n_rows + 1) * n_features
    ones = np.ones(n_rows * n_features)
    shape = (n_features * n_bins, n_rows)
    return sparse.csc_array((ones, inside.ravel(), begins), shape=shape).tocsr()


def _both_sides(inner: Floats, level: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Add up the bins on either side of every cut: no difference is taken, so 0 is 0.

    Parameters
    ----------
    inner : ndarray of shape (2 n_labels, n_features, n_bins)
        The sums of the bins.
    level : ndarray of bool
        Which features are categorical.
    """
    low = np.cumsum(inner, axis=2)
    high = np.zeros(inner.shape)
    high[..., :-1] = np.cumsum(inner[..., :0:-1], axis=2)[..., ::-1]
    if level.any():
        others = low[:, level, -1:] - inner[:, level]
        low[:, level] = np.maximum(others, 0.0)  # rounding
        high[:, level] = inner[:, level]
    return low, high
