"""Labels as signs: +1 where a row has the label, -1 where it has not.

A row has one label of several, or any number of them. Two classes need one column, since what
speaks for one speaks against the other; more classes, and labels that occur together, have a
column each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from committee.core.members import Floats
from committee.data import (
    InputError,
    Schema,
    Table,
    forget_unweighted,
    read_classes,
    read_fit,
    read_weights,
)
from committee.data.errors import describe
from committee.data.table_rows import taken
from committee.data.target import target_columns
from committee.ensembles.boosting.cell_rules import RuleRows
from committee.ensembles.boosting.threshold_rules import BinRows
from committee.ensembles.boosting.training import TrainingSet
from committee.ensembles.boosting.word_rules import WordRows


@dataclass(frozen=True, eq=False)
class LabelSet(TrainingSet):
    """Rows with their labels.

    Attributes
    ----------
    several : bool
        Whether a row may have several labels: ``y`` is a matrix of 0 and 1, else of class codes.
    """

    several: bool = False

    @cached_property
    def signs(self) -> Floats:
        """The labels, (n_rows, n_columns)."""
        if self.several:
            return 2.0 * self.y - 1.0
        assert self.classes is not None
        if len(self.classes) <= 2:
            return np.where(self.y == 1, 1.0, -1.0)[:, None]
        return np.where(self.y[:, None] == np.arange(len(self.classes)), 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class Target:
    """What y says.

    Attributes
    ----------
    y : ndarray
        Class codes, or a matrix of 0 and 1.
    classes : ndarray
        The labels behind the codes, or the numbers of the columns.
    several : bool
        Whether a row may have several labels.
    """

    y: npt.NDArray[Any]
    classes: npt.NDArray[Any]
    several: bool


def has_several(y: Any) -> bool:
    """Tell whether y is a matrix of labels, by its shape alone."""
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, (list, tuple)) and len(y):
        shape = (len(y), len(y[0])) if isinstance(y[0], (list, tuple, np.ndarray)) else (len(y),)
    return shape is not None and len(shape) == 2 and shape[1] > 1


def read_target(y: Any, n_rows: int, owner: str) -> Target:
    """Read one label per row, or a matrix of 0 and 1 with a column per label."""
    if not has_several(y):
        labels = read_classes(y, n_rows, estimator_name=owner)
        return Target(labels.codes[:, 0].astype(np.intp), labels.classes[0], False)
    matrix = y.toarray() if sparse.issparse(y) else y  # the weights are such a matrix, too
    columns = target_columns(matrix, n_rows, True, owner)
    stacked = np.column_stack(columns)
    if not np.isin(stacked, (0, 1)).all():
        found = f"{len(columns)} columns hold something else than 0 and 1"
        allowed = "one label per row, or a matrix of 0 and 1 with a column per label"
        fix = "sklearn.preprocessing.MultiLabelBinarizer makes such a matrix"
        raise InputError(describe("Y-SHAPE", "y", found, allowed=allowed, fix=fix))
    return Target(stacked.astype(np.intp), np.arange(len(columns)), True)


def read_labelled(X: Any, y: Any, sample_weight: Any, *, n_threads: int, owner: str) -> LabelSet:
    """Read training rows with their labels; those of weight 0 are left out.

    Parameters
    ----------
    X, y, sample_weight
        As the user gave them.
    n_threads : int
        Threads to bin with.
    owner : str
        The booster's class name, for messages.
    """
    table, schema = read_fit(X, estimator_name=owner)
    n_rows = table.n_rows
    weight = read_weights(sample_weight, n_rows)
    target = read_target(y, n_rows, owner)
    labels, given, kept = target.y, np.ones(n_rows) if weight is None else weight, None
    if not given.all():
        table, schema = forget_unweighted(table, schema, given)
        kept = np.flatnonzero(given)
        table, labels, given = taken(table, kept), labels[kept], given[kept]
    rows = _rule_rows(table, schema, None if weight is None else given, n_threads)
    return LabelSet(rows, labels, target.classes, given, kept, n_rows, several=target.several)


def _rule_rows(table: Table, schema: Schema, weight: Floats | None, n_threads: int) -> RuleRows:
    if table.sparse:
        return WordRows.of(table, schema)
    return BinRows.of(table, schema, weight, n_threads)


def one_error(decision: Floats, train: LabelSet) -> float:
    """Weigh the rows of which no right label leads all wrong ones.

    Parameters
    ----------
    decision : ndarray of shape (n_rows, n_columns)
        The scores.
    train : LabelSet
        The labels; rows with none, or with all, have nothing to get wrong.
    """
    has = train.signs > 0
    if has.shape[1] == 1:
        wrong = train.signs * decision <= 0
        return float(np.sum(train.distribution, where=wrong[:, 0]))
    right = np.max(decision, axis=1, where=has, initial=-np.inf)
    other = np.max(decision, axis=1, where=~has, initial=-np.inf)
    wrong = (right <= other) & has.any(axis=1)
    return float(np.sum(train.distribution, where=wrong))
