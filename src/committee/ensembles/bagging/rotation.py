"""One rotation: groups of features, each turned to its principal axes (Rodríguez et al. 2006).

The axes of a group come from a sample of the rows of some classes only, so that each member gets
axes of its own although it is trained on all rows. All sums are sums of integers: the values,
scaled to [0, 1], are read to as many bits as fit, so that neither the order of the rows nor a row
given twice instead of with weight 2 can change a rotation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from committee.core.bags import repetitions
from committee.data import Table
from committee.ensembles.bagging.feature_maps import Floats, Ints, Rotation, filled

MISSING = -1  # in place of a level
MOST_BITS = 26  # of a value in [0, 1]; a product of two and a sum of rows must fit in 62


@dataclass(frozen=True, eq=False)
class Preparation:
    """From a table to numbers in [0, 1] without holes, as a rotation wants them.

    A categorical feature becomes one indicator per level. A missing value becomes the mean of its
    column, which for an indicator is the share of the level, and one more indicator says that it
    was missing. Columns that do not vary are dropped.

    Attributes
    ----------
    columns : tuple of (feature, level)
        Where each column comes from; the level is None for a numeric feature, and -1 for the
        indicator of missing values.
    low, half_range, fill : ndarray
        Least value, half of the range, and mean after scaling of each column.
    """

    columns: tuple[tuple[int, int | None], ...]
    low: Floats
    half_range: Floats
    fill: Floats

    @classmethod
    def learn(cls, table: Table, weight: Floats) -> Preparation:
        """Learn from the rows of positive weight."""
        counted = weight > 0
        columns: list[tuple[int, int | None]] = []
        for feature in range(table.n_features):
            levels = table.levels.get(feature)
            numbered: list[int | None] = [None] if levels is None else [*range(len(levels))]
            if np.isnan(table.values[counted, feature]).any():
                numbered.append(MISSING)
            columns += [(feature, level) for level in numbered]
        raw = spread_out(table.values[counted], columns)
        low, high = np.nanmin(raw, axis=0, initial=np.inf), np.nanmax(raw, axis=0, initial=-np.inf)
        useful = np.flatnonzero(low < high)
        if not len(useful):
            useful = np.zeros(1, dtype=np.int64)  # nothing varies: one column of zeros
            low, high = np.zeros(1), np.full(1, np.inf)
        half_range = high[useful] / 2 - low[useful] / 2
        blank = cls(
            tuple(columns[k] for k in useful), low[useful], half_range, np.full(len(useful), np.nan)
        )
        return cls(blank.columns, blank.low, half_range, blank._means(table, weight))

    def _means(self, table: Table, weight: Floats) -> Floats:
        """Mean of each column over the rows that have a value, from integer sums where possible."""
        values = self.scaled(table.values[weight > 0])
        units = repetitions(weight[weight > 0])
        weight = weight[weight > 0] / weight.max() if units is None else units.astype(np.float64)
        known = ~np.isnan(values)
        cells = np.rint(np.where(known, values, 0) * 2**MOST_BITS)
        total = (weight[:, None] * known).sum(axis=0)
        means = (weight[:, None] * cells).sum(axis=0) / np.where(total > 0, total, 1) / 2**MOST_BITS
        return np.asarray(means, dtype=np.float64)

    def scaled(self, values: npt.NDArray[Any]) -> Floats:
        """Scale to [0, 1] what was seen at fit; NaN stays."""
        raw = spread_out(values, self.columns)
        return (raw / 2 - self.low / 2) / self.half_range

    def transform(self, table: Table) -> Floats:
        """Scale and fill."""
        return filled(self.scaled(table.values), self.fill)


def spread_out(values: npt.NDArray[Any], columns: Any) -> Floats:
    """Take columns out of a table, with categories as indicators."""
    if all(level is None for _, level in columns):
        return np.asarray(values[:, [feature for feature, _ in columns]], dtype=np.float64)
    out = np.empty((len(values), len(columns)), order="F")
    for k, (feature, level) in enumerate(columns):
        column = values[:, feature]
        if level is None:
            out[:, k] = column
        elif level == MISSING:
            out[:, k] = np.isnan(column)
        else:
            out[:, k] = np.where(np.isnan(column), np.nan, column == level)
    return out


@dataclass(frozen=True, eq=False)
class RotationDraw:
    """How the rotation of a member is drawn.

    Attributes
    ----------
    group_size : int
        Features turned together.
    share : float
        Size of the sample that axes are found from, as a share of the rows of the chosen classes.
    replace : bool
        Whether the sample is drawn with replacement.
    """

    group_size: int
    share: float
    replace: bool

    def __call__(self, rng: np.random.Generator, X: Floats, y: Any, weight: Floats) -> Rotation:
        """Draw groups, and for each the axes of a sample of some classes.

        The rows are expected in the order of their content, so that a row of weight 2 stands where
        two rows alike would stand.
        """
        units = repetitions(weight)
        counts = np.ones(len(weight), dtype=np.int64) if units is None else units.astype(np.int64)
        classes, codes = np.unique(y, return_inverse=True)
        groups, places = draw_groups(rng, X.shape[1], self.group_size)
        blocks = []
        for group in groups:
            allowed = np.where(draw_classes(rng, len(classes))[codes], counts, 0)
            sample = draw_sample(rng, allowed, self.share, self.replace)
            blocks.append(principal_axes(X[:, group], sample if sample.sum() >= 2 else counts))
        return Rotation(tuple(groups), tuple(blocks), tuple(places))


def draw_sample(rng: np.random.Generator, counts: Ints, share: float, replace: bool) -> Ints:
    """Draw a share of the units of rows; return how often each row was drawn."""
    ends = np.cumsum(counts)
    total = int(ends[-1])
    size = round(share * total)
    drawn = rng.integers(0, total, size) if replace else rng.permutation(total)[:size]
    return np.bincount(np.searchsorted(ends, drawn, side="right"), minlength=len(counts))


def draw_groups(
    rng: np.random.Generator, n_columns: int, size: int
) -> tuple[list[Ints], list[Ints]]:
    """Part the columns at random into groups; the last is completed with columns of the others.

    Returns
    -------
    groups, places : list of ndarray
        The columns of each group, and where its axes stand in the result.
    """
    order = rng.permutation(n_columns)
    size = min(size, n_columns)
    groups = [order[begin : begin + size] for begin in range(0, n_columns, size)]
    places = list(groups)
    lacking = size - len(groups[-1])
    if lacking:
        others = order[: n_columns - len(groups[-1])]
        more = rng.choice(others, lacking, replace=False)
        groups[-1] = np.concatenate([groups[-1], more])
        places[-1] = np.concatenate([places[-1], n_columns + np.arange(lacking)])
    return groups, places


def draw_classes(rng: np.random.Generator, n_classes: int) -> npt.NDArray[np.bool_]:
    """Draw a set of classes that is not empty, each with the same chance."""
    while True:
        chosen = rng.random(n_classes) < 0.5
        if chosen.any():
            return chosen


def principal_axes(values: Floats, counts: Ints) -> Floats:
    """Find the principal axes of rows in [0, 1], the longest first; all of them are kept.

    The sign of an axis is that of its largest entry. Rows without spread have the axes they are
    given in.
    """
    rows = np.flatnonzero(counts)
    times = counts[rows]
    total = int(times.sum())
    bits = min(MOST_BITS, (62 - total.bit_length()) // 2)
    cells = np.rint(values[rows] * 2**bits).astype(np.int64)
    size = values.shape[1]
    sums = [int((times * cells[:, a]).sum()) for a in range(size)]
    scatter = np.zeros((size, size))
    for a in range(size):
        for b in range(a + 1):
            product = int((times * cells[:, a] * cells[:, b]).sum())
            scatter[a, b] = scatter[b, a] = float(total * product - sums[a] * sums[b])
    if not scatter.any():
        return np.eye(size)
    _, axes = np.linalg.eigh(scatter / np.abs(scatter).max())
    axes = axes[:, ::-1]
    largest = np.abs(axes).argmax(axis=0)
    return np.asarray(axes * np.sign(axes[largest, np.arange(size)]), dtype=np.float64)
