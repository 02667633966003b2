"""A query: which rows of a pool to ask about, how disputed they are, and why they were chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from committee.active.content import Keys, shuffled
from committee.active.disagreement import DIGITS
from committee.core.members import Floats
from committee.core.params import integer, invalid

if TYPE_CHECKING:
    import pandas as pd

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Query:
    """Rows of a pool to ask about, the most disputed first.

    Attributes
    ----------
    indices : ndarray of int, shape (k,)
        Positions in the pool.
    disagreement : ndarray of shape (k,)
        How disputed each is, more is more: one minus a margin, or an entropy or divergence; NaN
        where rows were drawn at random.
    reasons : tuple of str
        Why each row was chosen.
    measure : str
        The measure of disagreement; "random" where rows were drawn at random.
    n_pool : int
        Rows of the pool.
    n_labelled : int
        Rows of the pool that equal a labelled one, and were skipped.
    n_candidates : int
        Rows that were compared.
    """

    indices: Indices
    disagreement: Floats
    reasons: tuple[str, ...]
    measure: str
    n_pool: int
    n_labelled: int
    n_candidates: int

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def random(self) -> bool:
        """Whether rows were drawn at random, for want of a committee that could disagree."""
        return self.measure == "random"

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame of pandas, one line for each row asked about."""
        import pandas as pd

        columns = {"row": self.indices, "disagreement": self.disagreement, "reason": self.reasons}
        return pd.DataFrame(columns)

    def __str__(self) -> str:
        skipped = f", {self.n_labelled} skipped as labelled before" if self.n_labelled else ""
        head = f"{len(self)} of {self.n_pool} rows{skipped}; {self.n_candidates} compared"
        lines = [f"  row {row}: {why}" for row, why in zip(self.indices, self.reasons, strict=True)]
        return "\n".join([head, *lines])


def check_size(k: Any, owner: str) -> None:
    """Refuse a number of questions that is none, or below one."""
    if not integer(1).is_satisfied_by(k):
        raise invalid("k", owner, "an int in the range [1, inf)", k)


def sample_candidates(rows: Indices, keys: Keys, n_candidates: int | None, seed: int) -> Indices:
    """Draw rows of a pool by their content; the order of the pool is no matter.

    Parameters
    ----------
    rows : ndarray of int
        Positions to draw from.
    keys : ndarray of uint64
        What each row of the pool holds.
    n_candidates : int or None
        How many to draw; None takes all.
    seed : int
        Of the draw.

    Returns
    -------
    ndarray of int
        Positions, in the order of the pool.
    """
    if n_candidates is None or n_candidates >= len(rows):
        return rows
    lot = shuffled(keys[rows], seed)
    drawn = np.argpartition(lot, n_candidates - 1)[:n_candidates]
    return np.sort(rows[drawn])


def ranked(disagreement: Floats, keys: Keys, seed: int, k: int) -> Indices:
    """Order rows by disagreement, as far as the first k different rows.

    Parameters
    ----------
    disagreement : ndarray of shape (n_rows,)
        More is more disputed; numbers that agree to twelve decimals are ties.
    keys : ndarray of uint64
        What the rows hold. Ties are drawn by it and the seed; rows that equal one before them
        come last, as their label is known with the first.
    seed : int
        Of the draw.
    k : int
        How many rows are wanted.

    Returns
    -------
    ndarray of int
        At least ``min(k, n_rows)`` positions, the first k in their final order.
    """
    score = np.round(-disagreement, DIGITS)
    size = min(len(score), max(4 * k, 64))
    while True:
        short = np.arange(len(score))
        if size < len(score):
            short = np.flatnonzero(score <= np.partition(score, size - 1)[size - 1])
        short = short[np.lexsort((short, shuffled(keys[short], seed), score[short]))]
        first = np.zeros(len(short), dtype=bool)
        first[np.unique(keys[short], return_index=True)[1]] = True
        if first.sum() >= k or size >= len(score):
            return np.concatenate([short[first], short[~first]])
        size = min(len(score), 4 * size)


def explain(
    title: str, values: Floats, shares: Floats, classes: npt.NDArray[Any], unit: str, rest: str = ""
) -> tuple[str, ...]:
    """Say why rows were chosen: the measure, and the two classes between which members are split.

    Parameters
    ----------
    title : str
        The measure in words.
    values : ndarray of shape (k,)
        Its values.
    shares : ndarray of shape (k, n_classes)
        What the members say together.
    classes : ndarray
        The classes.
    unit : str
        What the shares are of.
    rest : str
        What else is to be said.

    Returns
    -------
    tuple of str
        One for each row.
    """
    order = np.argsort(-shares, axis=1, kind="stable")[:, :2]
    names = classes.tolist()
    return tuple(
        f"{title} {value:.4g}: "
        + " to ".join(f"{share[c]:.2f}" for c in two)
        + f" of {unit} for "
        + " and ".join(repr(names[c]) for c in two)
        + rest
        for value, share, two in zip(values, shares, order, strict=True)
    )
