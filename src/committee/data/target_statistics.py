"""Ordered target statistics: categories as numbers, without a row seeing its own target.

A level may be replaced by the mean target of its rows. Done with all rows, a level of one row
becomes that row's target: the model learns to copy it, and fails on new rows (target leakage). So
rows are put in a random order, and each sees those before it alone (Prokhorenkova, Gusev, Vorobev,
Dorogush and Gulin, "CatBoost: unbiased boosting with categorical features", 2018):

    x_i = (sum of w_j y_j over earlier rows j of the level + a p) / (sum of their w_j + a)

with p the mean target of all rows and a = 1. New rows see all training rows of their level. There
is one order for the whole fit, where CatBoost changes between a few: rows early in it have noisy
numbers. It is drawn by what rows hold, so that neither their order nor threads matter. Weights are
taken relative to their mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from committee.data.table import Schema, Table

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

PRIOR_WEIGHT = 1.0  # a


@dataclass(frozen=True, eq=False)
class TargetStatistics:
    """What stands for each level of the categories of a fit.

    The first target takes the column of its feature; the columns of further ones (classes of more
    than two) come after all features.

    Attributes
    ----------
    n_features : int
        The features of the user.
    means : mapping of int to ndarray of shape (n_levels + 2, n_targets)
        For each categorical feature: of its levels, of missing values, of unseen levels.
    """

    n_features: int
    means: Mapping[int, Floats]

    @property
    def source(self) -> Ints:
        """The feature that each encoded column comes from."""
        n_more = next(iter(self.means.values())).shape[1] - 1
        more = np.repeat(np.array(sorted(self.means), dtype=np.intp), n_more)
        return np.concatenate([np.arange(self.n_features, dtype=np.intp), more])

    def encode(self, table: Table) -> Table:
        """Put numbers in the place of levels, as for new rows."""
        return self.filled(
            table,
            {f: means[level_rows(table, f, len(means) - 2)] for f, means in self.means.items()},
        )

    def filled(self, table: Table, columns: Mapping[int, Floats]) -> Table:
        """Lay out a table whose categorical features have these columns, (n_rows, n_targets)."""
        source = self.source
        values = np.empty((table.n_rows, len(source)), order="F")
        values[:, : self.n_features] = table.values
        place = self.n_features
        for feature in sorted(columns):
            means = columns[feature]
            values[:, feature] = means[:, 0]
            values[:, place : place + means.shape[1] - 1] = means[:, 1:]
            place += means.shape[1] - 1
        return Table(values, table.n_rows, len(source))

    def equals(self, other: TargetStatistics | None) -> bool:
        """Tell whether rows are encoded alike."""
        return (
            other is not None
            and self.means.keys() == other.means.keys()
            and all(np.array_equal(m, other.means[f]) for f, m in self.means.items())
        )


def level_rows(table: Table, feature: int, n_levels: int) -> Ints:
    """Give each row the number of its level; missing values come after them, unseen levels last."""
    positions = table.values[:, feature]
    unseen = positions >= n_levels
    codes = np.where(np.isnan(positions), n_levels, positions)
    return np.asarray(np.where(unseen, n_levels + 1, codes), dtype=np.intp)


def ordered_encoding(
    table: Table,
    schema: Schema,
    target: Floats,
    weight: Floats | None,
    keys: npt.NDArray[np.uint64],
    seed: int,
) -> tuple[Table, Schema]:
    """Encode the categories of training rows, each row by those before it.

    Parameters
    ----------
    table, schema
        As read at fit, with categories as positions of levels.
    target : ndarray of shape (n_rows, n_targets)
        Numbers; indicators of classes where there are more than two.
    weight : ndarray of shape (n_rows,) or None
        Weights of the rows, above 0.
    keys : ndarray of uint64, shape (n_rows,)
        Equal for rows that are equal in everything.
    seed : int
        The order of rows is a function of it and the keys.

    Returns
    -------
    table : Table
        With numbers only.
    schema : Schema
        By which new rows are encoded; unchanged, like the table, where there is no category.
    """
    if not schema.levels:
        return table, schema
    order = random_order(keys, seed)  # in which sums are taken, too: they are the same bits then
    weight = np.ones(len(target)) if weight is None else weight / weight[order].mean()
    prior = np.average(target[order], axis=0, weights=weight[order])
    means, columns = {}, {}
    for feature, known in schema.levels.items():
        levels = level_rows(table, feature, len(known))
        excess = (target - prior) * weight[:, None]
        earlier = sums_before(np.column_stack([excess, weight]), levels, order)
        columns[feature] = prior + earlier[:, :-1] / (earlier[:, -1:] + PRIOR_WEIGHT)
        sums = np.zeros((len(known) + 2, target.shape[1] + 1))
        np.add.at(sums, levels[order], np.column_stack([excess, weight])[order])
        means[feature] = prior + sums[:, :-1] / (sums[:, -1:] + PRIOR_WEIGHT)
    statistics = TargetStatistics(table.n_features, means)
    return statistics.filled(table, columns), replace(schema, encoding=statistics)


def sums_before(numbers: Floats, levels: Ints, order: Ints) -> Floats:
    """Sum, for each row, the numbers of the rows of its level that come before it in the order."""
    rows = order[np.argsort(levels[order], kind="stable")]  # level by level, in order
    begin = np.flatnonzero(np.diff(levels[rows], prepend=-1))
    out = np.zeros_like(numbers)
    for here in np.split(rows, begin[1:]):  # one by one: a huge number of one level stays there
        out[here[1:]] = np.cumsum(numbers[here[:-1]], axis=0)
    return out


def random_order(keys: npt.NDArray[np.uint64], seed: int) -> Ints:
    """Put rows in an order drawn by their keys; only rows of equal keys keep theirs."""
    mixed = np.full(1, seed % 2**64, dtype=np.uint64)
    with np.errstate(over="ignore"):
        mixed = scattered(keys ^ scattered(mixed))
    return np.argsort(mixed, kind="stable")


def scattered(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Spread 64-bit numbers over their range (splitmix64, Steele, Lea and Flood 2014)."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
