"""Rules that part rows into a few cells and say a number per label in each cell.

A word is absent or present; a number is up to a cut, above it, or missing. What a rule can bring
follows from the weight of the rows with a label, W+, and of those without it, W-, in each cell
(Schapire and Singer 1999), so that a search has only to add these up for all rules at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from committee.core.members import Floats, Member, Members
from committee.data import Schema, Table, read_predict
from committee.ensembles.boosting.hypothesis import Nodes, Reading
from committee.ensembles.boosting.rows import PlainRows

Ints: TypeAlias = npt.NDArray[np.intp]
TIE = 1e-11  # scores closer than this share of the total weight are equal: the first rule wins


def cell_score(plus: Floats, minus: Floats, variant: str) -> Floats:
    r"""Score what a cell that speaks leaves: the less, the better; scores of cells add up.

    Parameters
    ----------
    plus, minus : ndarray of shape (n_labels, ...)
        W+ and W-.
    variant : str
        "discrete" cells vote with -1 or +1, and the edge they bring is the difference of W+ and
        W-; others say 1/2 ln(W+ / W-), which leaves 2 sqrt(W+ W-) of Z.
    """
    if variant == "discrete":
        return np.asarray(-np.sum(np.abs(plus - minus), axis=0))
    left = plus * minus
    return np.asarray(2 * np.sum(np.sqrt(left, out=left), axis=0))


def silent_score(plus: Floats, minus: Floats) -> Floats:
    """Score a cell that abstains: all its weight stays in Z."""
    return np.asarray(np.sum(plus, axis=0) + np.sum(minus, axis=0))


def first_best(scores: Floats, total: float) -> int:
    """Choose the smallest score, the first of those that are equal up to rounding."""
    return int(np.argmax(scores <= scores.min() + TIE * total))


class CellRules(Members):
    """Rules of one kind, asked all at once.

    Parameters
    ----------
    features : ndarray of int
        The column that each rule looks at.
    cuts : ndarray of float64
        What its value is held against.
    values : ndarray of shape (n_rules, n_cells, n_labels)
        What it says in each cell.
    schema : Schema
        By which rows are read; a :class:`Table` that was read before will do, too.
    """

    CELLS: ClassVar[tuple[str, ...]]  # their names, with {} for the cut

    def __init__(self, features: Ints, cuts: Floats, values: Floats, schema: Schema) -> None:
        self.features, self.cuts, self.values, self.schema = features, cuts, values, schema

    @classmethod
    def constant(cls, values: Floats, schema: Schema) -> Self:
        """Make a rule that says the same of every row."""
        said = np.tile(values, (1, len(cls.CELLS), 1))
        return cls(np.zeros(1, dtype=np.intp), np.zeros(1), said, schema)

    @classmethod
    def of(cls, members: Iterable[Member], schema: Schema) -> Self:
        """Seat rules of this kind together."""
        parts = [member.alone for member in members if isinstance(member, CellRule)]
        columns = [[part.features, part.cuts, part.values] for part in parts]
        features, cuts, values = map(np.concatenate, zip(*columns, strict=True))
        return cls(features, cuts, values, schema)

    def __len__(self) -> int:
        return len(self.features)

    @overload
    def __getitem__(self, index: int) -> CellRule: ...
    @overload
    def __getitem__(self, index: slice) -> CellRules: ...
    def __getitem__(self, index: int | slice) -> CellRule | CellRules:
        if isinstance(index, slice):
            return type(self)(
                self.features[index], self.cuts[index], self.values[index], self.schema
            )
        chosen = range(len(self))[index]
        return CellRule(self[chosen : chosen + 1])

    def read(self, X: Any) -> Table:
        """Read rows, unless that was done before."""
        return X if isinstance(X, Table) else read_predict(X, self.schema)

    def cells(self, table: Table) -> Iterator[Nodes]:
        """Yield the cell of each row, for one rule after the other."""
        raise NotImplementedError

    def each(self, X: Any, n_threads: int = 1) -> Iterator[Floats]:
        """Yield the outputs of one rule after the other."""
        for values, cells in zip(self.values, self.cells(self.read(X)), strict=True):
            yield np.take(values, cells, axis=0)


@dataclass(frozen=True, eq=False, repr=False)
class CellRule:
    """One rule.

    Attributes
    ----------
    alone : CellRules
        It, in a sequence of its own.
    """

    alone: CellRules

    @property
    def feature(self) -> int:
        """The column that it looks at."""
        return int(self.alone.features[0])

    @property
    def cut(self) -> float:
        """What the value is held against."""
        return float(self.alone.cuts[0])

    @property
    def values(self) -> Floats:
        """What it says: (n_cells, n_labels)."""
        values: Floats = self.alone.values[0]
        return values

    def outputs(self, X: Any) -> Floats:
        """Give what the rule says of each row: (n_rows, n_labels)."""
        said: Floats = self.alone.outputs(X)[0]
        return said

    def __repr__(self) -> str:
        names = self.alone.schema.feature_names
        column = f"column {self.feature}" if names is None else repr(names[self.feature])
        said = (
            f"{cell.format(f'{self.cut:g}')}: {np.array2string(values, precision=3)}"
            for cell, values in zip(self.alone.CELLS, self.values, strict=True)
        )
        return f"<{column} {', '.join(said)}>"


@dataclass(frozen=True, eq=False)
class RuleHypothesis:
    """A rule fresh from the search, with the cell of each training row.

    Attributes
    ----------
    rule : CellRules
        One.
    cells : ndarray of uint32
        Where the training rows are.
    speaks : ndarray of bool
        In which cells it has something to say.
    """

    rule: CellRules
    cells: Nodes
    speaks: npt.NDArray[np.bool_]

    @cached_property
    def said(self) -> Floats:
        """The values of the rows' cells."""
        return np.take(self.rule.values[0], self.cells, axis=0)

    def outputs(self, X: Any) -> Floats:
        """Ask the rule."""
        said: Floats = self.rule.outputs(X)[0]
        return said

    def through(self, reading: Reading) -> RuleHypothesis:
        """Change the values of the cells."""
        return self.valued(reading(self.rule.values[0]))

    def valued(self, values: Floats) -> RuleHypothesis:
        """Say other values; cells that have nothing to say keep silent."""
        rule = self.rule
        spoken = np.where(self.speaks[:, None], values, 0.0)[None]
        valued = type(rule)(rule.features, rule.cuts, spoken, rule.schema)
        return RuleHypothesis(valued, self.cells, self.speaks)

    def seat(self) -> CellRules:
        """Give the rule, which joins others."""
        return self.rule


class ConstantHypothesis(RuleHypothesis):
    """The rule that is left where all rows look alike: it says the same in every cell."""

    def valued(self, values: Floats) -> ConstantHypothesis:
        """Say other values, those of the cell that all training rows are in."""
        rule = self.rule
        alike = np.repeat(values[None, :1], len(self.speaks), axis=1)
        valued = type(rule)(rule.features, rule.cuts, alike, rule.schema)
        return ConstantHypothesis(valued, self.cells, self.speaks)


class Search(Protocol):
    """What finds a rule for one distribution after the other."""

    def best(self, weight: Floats) -> RuleHypothesis:
        """Find the best rule for weights of rows and labels; it says nothing yet."""


@dataclass(frozen=True, eq=False)
class RuleRows(PlainRows):
    """Training rows in which rules of one kind are searched."""

    KIND: ClassVar[type[CellRules]]

    @property
    def asked(self) -> Table:
        """The rows in the form in which rules are asked about them."""
        return self.table

    def search(self, signs: Floats, variant: str) -> Search:
        """Begin a search for rules about labels with these signs."""
        raise NotImplementedError

    def nothing_to_say(self, n_labels: int) -> RuleHypothesis:
        """Make the rule that is left where all rows look alike; it says nothing yet."""
        rule = self.constant(np.zeros(n_labels))
        cells = np.zeros(self.n_rows, dtype=np.uint32)
        return ConstantHypothesis(rule, cells, np.ones(rule.values.shape[1], dtype=np.bool_))

    def constant(self, values: Floats) -> CellRules:
        """Make a rule that says the same of every row."""
        return self.KIND.constant(values, self.schema)


class RuleLearner:
    """The weak learner: it asks the rows for their best rule, and draws nothing.

    Parameters
    ----------
    variant : str
        What rules say.
    """

    def __init__(self, variant: str) -> None:
        self._variant = variant
        self._search: Search | None = None

    def fit(
        self, rows: Any, y: npt.NDArray[Any], weight: Floats, rng: np.random.Generator
    ) -> RuleHypothesis:
        """Find a rule; ``y`` holds the signs of all labels, the same in every round."""
        if self._search is None:
            self._search = rows.search(y, self._variant)
        return self._search.best(weight)


def by_sign(weight: Floats, signs: Floats) -> Floats:
    """Put the weights of rows with a label above those without it: (2 n_labels, n_rows)."""
    n_rows, n_labels = weight.shape
    sides = np.empty((2 * n_labels, n_rows))
    has = np.multiply(weight.T, signs.T > 0, out=sides[:n_labels])
    np.subtract(weight.T, has, out=sides[n_labels:])
    return sides
