r"""The search for the best word: only the documents that the last rule touched are looked at again.

One product of the transposed matrix with the weights passes over the non-zeros once and gives W+
and W- of every word and label where the word is present; the absent cell has what is left of the
label's total (BoosTexter, Schapire and Singer 2000). Two facts save most of this work:

- A rule multiplies the weights of all documents without its word by the same factor, label by
  label. So the sums of all words follow from those of the round before by that factor and by the
  non-zeros of the documents with the word; or the other way round where most documents have it.
- With the totals P of W+ and Q of W-, a word leaves at most 2 sqrt(P Q) \|W+ / P - W- / Q\| less
  than no word: the Hellinger distance is at most the total variation. Most words cannot win.

Sums that are carried on gather rounding. They only name the words that come into question: these
are added up anew, and so the choice depends on the weights alone and on no round before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from committee.core.members import Floats
from committee.ensembles.boosting.cell_rules import (
    Ints,
    RuleHypothesis,
    by_sign,
    cell_score,
    first_best,
    silent_score,
)

if TYPE_CHECKING:
    from committee.ensembles.boosting.word_rules import WordRows

# Shares of the total weight.
MARGIN = 1e-5  # words this close to the best come into question
SAME = 1e-13  # weights that agree to this have been multiplied by the same factor
FULL_PASS = 8  # the product needs an eighth of the time for a non-zero
LEADERS = 32  # words kept in mind, since one of them is often good again


class WordSearch:
    """Finds the best word for one distribution after the other.

    Parameters
    ----------
    rows : WordRows
        The documents.
    signs : ndarray of shape (n_rows, n_labels)
        Their labels.
    variant : str
        What rules say; see :func:`cell_score`.
    """

    def __init__(self, rows: WordRows, signs: Floats, variant: str) -> None:
        self._rows, self._signs, self._variant = rows, signs, variant
        self._sides = np.empty((0, 0))  # the weights of the last question, W+ above W-
        self._cells = np.empty(0, dtype=np.uint32)  # those of the last answer
        self._sums = np.empty((0, 0))  # (2 n_labels, n_words), but for a factor per line
        self._scale = np.empty(0)  # that factor
        self._error = np.inf  # how far they may be off
        self._leaders = np.arange(min(LEADERS, len(rows.words)))
        # Fresh memory for so many numbers costs more than the arithmetic.
        self._gain = np.empty((2 * signs.shape[1], len(rows.words)))

    def best(self, weight: Floats) -> RuleHypothesis:
        """Find the word whose presence and absence leave least, the first of equal ones."""
        rows, n_labels = self._rows, self._signs.shape[1]
        if not len(rows.words):
            return rows.nothing_to_say(n_labels)
        sides, mass = by_sign(weight, self._signs), float(weight.sum())
        if not self._carried_on(sides):
            self._sums = np.ascontiguousarray((rows.by_word @ sides.T).T)
            self._scale, self._error = np.ones(2 * n_labels), SAME
        self._sides = sides
        # In the order of documents, like the sums of words: so what is left where no document
        # lacks a word is exactly 0.
        total = np.cumsum(sides, axis=1)[:, -1:]
        near = self._near(total, MARGIN * mass)
        if len(near) > 1:
            anew = word_scores((rows.by_word[near] @ sides.T).T, total, self._variant)
            near = near[first_best(anew, mass) :]
        found = rows.rule(int(near[0]), n_labels, self._variant)
        self._cells = found.cells
        return found

    def _carried_on(self, sides: Floats) -> bool:
        """Bring the sums to new weights; False where nothing is saved, or rounding too large."""
        if not len(self._cells):
            return False
        before, rows = self._sides, self._rows
        most = self._cells == (2 * np.count_nonzero(self._cells) > rows.n_rows)
        heaviest = np.argmax(before * most, axis=1)[:, None]
        old, new = (np.take_along_axis(each, heaviest, axis=1) for each in (before, sides))
        with np.errstate(over="ignore", invalid="ignore"):  # weights that are all but gone
            factor = np.divide(new, old, out=np.ones_like(old), where=old > 0)
            moved = sides - factor * before
        changed = np.flatnonzero((np.abs(moved) > SAME * sides).any(axis=0))
        error = self._error * float(factor.max()) + SAME
        by_row = rows.by_row
        size = by_row.indptr[changed + 1] - by_row.indptr[changed]
        if 2 * np.sqrt(error) > MARGIN / 2 or FULL_PASS * size.sum() > by_row.nnz:
            return False
        self._scale, self._error = self._scale * factor[:, 0], error
        self._add(changed, size, moved[:, changed] / self._scale[:, None])
        return True

    def _add(self, changed: Ints, size: Ints, amounts: Floats) -> None:
        """Add amounts to the sums of all words of some documents, which have so many."""
        by_row = self._rows.by_row
        begin = by_row.indptr[changed]
        within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        words = by_row.indices[np.repeat(begin, size) + within]
        document = np.repeat(np.arange(len(changed)), size)
        for sums, amount in zip(self._sums, amounts, strict=True):
            np.add.at(sums, words, amount[document])

    def _near(self, total: Floats, margin: float) -> Ints:
        """Name the words whose scores are close to the smallest."""
        none, most = gain_bounds(total, self._variant)
        most *= self._scale[:, None]
        gain = np.multiply(most, self._sums, out=self._gain)
        plus, minus = gain[: len(gain) // 2], gain[len(gain) // 2 :]
        np.abs(np.subtract(plus, minus, out=plus), out=plus)
        bound = np.sum(plus, axis=0, out=minus[0])
        reached = float(self._scores(self._leaders, total).min())
        able = np.flatnonzero(bound >= none - reached - margin)
        scores = self._scores(able, total)
        if len(able) > LEADERS:
            self._leaders = able[np.argpartition(scores, LEADERS)[:LEADERS]]
        return np.asarray(able[scores <= scores.min() + margin])

    def _scores(self, words: Ints, total: Floats) -> Floats:
        return word_scores(self._sums[:, words] * self._scale[:, None], total, self._variant)


def word_scores(present: Floats, total: Floats, variant: str) -> Floats:
    """Score words by the weights of the documents that have them.

    Parameters
    ----------
    present : ndarray of shape (2 n_labels, n_words)
        W+ of all labels above W-; it is changed.
    total : ndarray of shape (2 n_labels, 1)
        The same of all documents.
    variant : str
        What rules say.
    """
    n_labels = len(present) // 2
    np.maximum(present, 0.0, out=present)  # rounding
    plus, minus = present[:n_labels], present[n_labels:]
    score = cell_score(plus, minus, variant)
    if variant == "abstaining":
        return np.asarray(score + (total.sum() - silent_score(plus, minus)))
    np.subtract(total, present, out=present)
    np.maximum(present, 0.0, out=present)
    return np.asarray(score + cell_score(plus, minus, variant))


def gain_bounds(total: Floats, variant: str) -> tuple[float, Floats]:
    """Bound how far the score of a word can lie below that of no word.

    Parameters
    ----------
    total : ndarray of shape (2 n_labels, 1)
        P of all labels above Q.
    variant : str
        What rules say.

    Returns
    -------
    none : float
        The score of no word.
    most : ndarray of shape (2 n_labels, 1)
        With its upper half a and its lower half b, a word can bring the sum over labels of the
        difference between a W+ and b W-.
    """
    none = float(word_scores(np.zeros_like(total), total, variant)[0])
    if variant == "abstaining":
        return none, np.ones_like(total)
    if variant == "discrete":
        return none, np.full_like(total, 2.0)
    half = len(total) // 2
    whole = np.tile(2 * np.sqrt(total[:half] * total[half:]), (2, 1))
    return none, np.divide(whole, total, out=np.zeros_like(total), where=total > 0)
