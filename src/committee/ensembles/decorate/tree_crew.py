"""Members that are trees of this library: rows are read once, and trees stay in the engine."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from committee import _engine
from committee.core.members import Floats, Trees
from committee.core.randomness import member_seed
from committee.data import Labels, Schema, Table
from committee.data.rows import engine_table
from committee.data.table_rows import matrix_of, stacked, table_like
from committee.ensembles.decorate.artificial import DenseModel, SparseModel
from committee.ensembles.decorate.parted_trees import PartedTrees
from committee.ensembles.decorate.training_rows import Codes, enlarged
from committee.learners.tree import DecisionTreeClassifier


@dataclass(frozen=True, eq=False)
class TreeCrew:
    """Grows trees on training rows and artificial ones.

    Attributes
    ----------
    base : DecisionTreeClassifier
        Whose parameters the trees have.
    table, schema : Table, Schema
        The training rows, as :func:`~.training_rows.in_order` puts them.
    labels : Labels
        Their classes.
    weight : ndarray or None
        Their weights, 1 on average; None where all are alike.
    seed : int
        Of the committee.
    """

    base: DecisionTreeClassifier
    table: Table
    schema: Schema
    labels: Labels
    weight: Floats | None
    seed: int

    @cached_property
    def asked(self) -> _engine.Table:
        """The training rows in the form in which members are asked about them."""
        return engine_table(self.table)

    @cached_property
    def model(self) -> DenseModel | SparseModel:
        """What artificial rows are drawn from."""
        weight = np.ones(self.table.n_rows) if self.weight is None else self.weight
        if self.table.sparse:
            return SparseModel.learn(matrix_of(self.table), weight)
        return DenseModel.learn(self.table.values, weight, self.table.n_levels())

    def draw(self, size: int, rng: np.random.Generator) -> Table:
        """Draw artificial rows."""
        drawn = self.model.draw(size, rng)
        return table_like(self.table, drawn)

    def to_ask(self, rows: Table) -> _engine.Table:
        """Hand artificial rows to the members."""
        return engine_table(rows)

    def fit(self, trial: int, artificial: Table | None = None, codes: Codes | None = None) -> Trees:
        """Grow a tree on the training rows, and on artificial ones where there are any."""
        tree = copy.copy(self.base)
        tree.random_state = member_seed(self.seed, trial)
        table, labels, weight = self.table, self.labels, self.weight
        if artificial is not None:
            table = stacked(table, artificial)
            whole = np.concatenate([labels.codes, codes[:, None]]).astype(np.int32)  # type: ignore[index]
            labels, weight = Labels(labels.classes, whole), enlarged(weight, artificial.n_rows)
        sums = tree._sum(self.schema, labels, weight)
        forest = tree._grow_sums(table, self.schema, labels.classes, sums).tree_.forest
        return (PartedTrees if tree.missing == "parts" else Trees)(forest, self.schema)
