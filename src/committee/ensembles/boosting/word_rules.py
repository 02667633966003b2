"""Word rules: what the presence or the absence of one word says about every label.

Documents are rows of a sparse matrix of counts, and nothing is ever made dense: a rule is asked
about all rows by naming those that have its word.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from committee.core.members import Floats
from committee.data import Schema, Table
from committee.ensembles.boosting.cell_rules import CellRules, Ints, RuleHypothesis, RuleRows
from committee.ensembles.boosting.hypothesis import Nodes
from committee.ensembles.boosting.word_search import WordSearch


class WordRules(CellRules):
    """Rules of words: cell 0 where the word is absent, 1 where it is present."""

    CELLS: ClassVar[tuple[str, ...]] = ("absent", "present")

    def cells(self, table: Table) -> Iterator[Nodes]:
        """Yield 1 for the rows that have the word, for one rule after the other."""
        for rows in rows_with(table, self.features):
            cells = np.zeros(table.n_rows, dtype=np.uint32)
            cells[rows] = 1
            yield cells

    def total(self, X: Any, weights: Floats, intercept: Floats, n_threads: int = 1) -> Floats:
        """Add weight times output to the intercept, in the order of the rules."""
        table, n_labels = self.read(X), self.values.shape[2]
        total = np.empty((n_labels, table.n_rows))  # by label: the absent cell adds one number
        total[:] = np.broadcast_to(intercept, n_labels)[:, None]
        for weight, values, rows in zip(
            weights, self.values, rows_with(table, self.features), strict=True
        ):
            absent, present = weight * values
            with_word = total[:, rows] + present[:, None]
            total += absent[:, None]
            total[:, rows] = with_word
        return np.ascontiguousarray(total.T)


def rows_with(table: Table, words: Ints) -> Iterator[npt.NDArray[Any]]:
    """Yield the rows in which a word is present, not zero, for one word after the other."""
    distinct, place = np.unique(words, return_inverse=True)
    if not table.sparse:
        found = [np.flatnonzero(table.values[:, word]) for word in distinct]
        yield from (found[at] for at in place)
        return
    columns = _matrix(table)[:, distinct].tocsc()
    columns.eliminate_zeros()
    columns.sort_indices()
    for at in place:
        yield columns.indices[columns.indptr[at] : columns.indptr[at + 1]]


def _matrix(table: Table) -> Any:
    kind = sparse.csr_array if table.by_row else sparse.csc_array
    shape = (table.n_rows, table.n_features)
    return kind((table.values, table.indices, table.indptr), shape=shape)


@dataclass(frozen=True, eq=False)
class WordRows(RuleRows):
    """Sparse training rows, by column.

    Attributes
    ----------
    words : ndarray of int
        The columns that tell rows apart: present in some of them and absent from others.
    by_word : sparse array of shape (n_words, n_rows)
        True where a row has the word.
    """

    KIND: ClassVar[type[CellRules]] = WordRules

    words: Ints
    by_word: Any

    @classmethod
    def of(cls, table: Table, schema: Schema) -> WordRows:
        """Turn the matrix, once, so that the rows of each word lie together."""
        columns = _matrix(table).tocsc()
        columns.sort_indices()
        by_column = replace(
            table,
            values=columns.data,
            indices=columns.indices.astype(np.int32, copy=False),
            indptr=columns.indptr.astype(np.int64, copy=False),
            by_row=False,
        )
        present = columns.astype(np.bool_)
        present.eliminate_zeros()
        count = np.diff(present.indptr)
        words = np.flatnonzero((count > 0) & (count < table.n_rows))
        telling = present if len(words) == len(count) else present[:, words]
        return cls(by_column, by_column, schema, words, telling.T)

    def search(self, signs: Floats, variant: str) -> WordSearch:
        """Begin a search."""
        return WordSearch(self, signs, variant)

    def rule(self, word: int, n_labels: int, variant: str) -> RuleHypothesis:
        """Make the rule of one of ``words``; it says nothing yet."""
        cells = np.zeros(self.n_rows, dtype=np.uint32)
        begin, end = self.by_word.indptr[word : word + 2]
        cells[self.by_word.indices[begin:end]] = 1
        silent = np.zeros((1, 2, n_labels))
        rule = WordRules(self.words[word : word + 1], np.zeros(1), silent, self.schema)
        speaks = np.array([variant != "abstaining", True])
        return RuleHypothesis(rule, cells, speaks)
