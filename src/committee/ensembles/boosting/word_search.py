"""The search for the best word, by the engine: only what the last rule touched is looked at again.

``word_search.hpp`` says how. Whatever rounding the engine carries from round to round, the choice
depends on the weights alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from committee import _engine
from committee.core.members import Floats
from committee.ensembles.boosting.cell_rules import RuleHypothesis

if TYPE_CHECKING:
    from committee.ensembles.boosting.word_rules import WordRows


class WordSearch:
    """Finds the best word for one distribution after the other.

    Parameters
    ----------
    rows : WordRows
        The documents.
    signs : ndarray of shape (n_rows, n_labels)
        Their labels.
    variant : str
        What rules say.
    """

    def __init__(self, rows: WordRows, signs: Floats, variant: str) -> None:
        self._rows, self._n_labels, self._variant = rows, signs.shape[1], variant
        self.native = _engine.WordSearch(
            rows.by_word.indptr.astype(np.int64, copy=False),
            rows.by_word.indices.astype(np.int32, copy=False),
            np.ascontiguousarray(signs > 0).view(np.uint8),
            _engine.RuleKind[variant],
        )

    def best(self, weight: Floats) -> RuleHypothesis:
        """Find the word whose presence and absence leave least, the first of equal ones."""
        rows = self._rows
        if not len(rows.words):
            return rows.nothing_to_say(self._n_labels)
        return rows.rule(self.native.best(weight), self._n_labels, self._variant)
