"""Annotators: whoever answers questions about rows.

An annotator is called with the ids of rows and the rows themselves, and returns a label for each.
For experiments one is simulated from known labels; it may err, and then it errs about the same
rows whenever it is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from committee.active.events import RowId, plain_row
from committee.core.params import real, resolve_seed
from committee.data import InputError
from committee.data.errors import describe, listing


class Annotator(Protocol):
    """Somebody with a name who answers questions."""

    name: str

    def __call__(self, rows: Sequence[RowId], X: Any) -> Sequence[Any]:
        """Give a label for each row."""


class SimulatedAnnotator:
    """Answers with labels that are known, and errs as often as told.

    Parameters
    ----------
    y : array-like of shape (n_rows,), or mapping of row id to label
        The true labels, by position or by id.
    noise : float, default=0.0
        The share of rows about which it errs: another class, any with the same chance. A row is
        wrong or not whenever it is asked about.
    random_state : None, int or generator, default=None
        Which rows are wrong.
    name : str, default="simulated"
        What events call it.

    Attributes
    ----------
    classes : list
        The classes of y, sorted.
    n_asked : int
        How many rows it was asked about so far.

    Examples
    --------
    >>> ask = SimulatedAnnotator(["ham", "spam", "spam"])
    >>> ask([2, 0], None)
    ['spam', 'ham']
    """

    def __init__(
        self, y: Any, *, noise: float = 0.0, random_state: Any = None, name: str = "simulated"
    ) -> None:
        if not real(0, 1).is_satisfied_by(noise):
            allowed = "a number in [0, 1]"
            raise InputError(describe("P-VALUE", "noise", f"got {noise!r}", allowed=allowed))
        items = list(y.items()) if isinstance(y, Mapping) else list(enumerate(np.asarray(y)))
        self.truth = {plain_row(row): np.asarray(label).item() for row, label in items}
        self.classes = sorted(set(self.truth.values()))
        self.name = name
        self.n_asked = 0
        rng = np.random.default_rng(resolve_seed(random_state))
        wrong = rng.random(len(self.truth)) < noise
        shift = rng.integers(1, max(2, len(self.classes)), len(self.truth))
        self._said = dict(self.truth)
        for flips, step, (row, label) in zip(wrong, shift, self.truth.items(), strict=True):
            if flips and len(self.classes) > 1:
                place = (self.classes.index(label) + int(step)) % len(self.classes)
                self._said[row] = self.classes[place]

    def __call__(self, rows: Sequence[Any], X: Any = None) -> list[Any]:
        """Answer questions about rows.

        Parameters
        ----------
        rows : sequence of int or str
            Their ids.
        X : optional
            The rows themselves, which it need not look at.

        Returns
        -------
        list
            A label for each.
        """
        asked = [plain_row(row) for row in rows]
        strange = [row for row in asked if row not in self._said]
        if strange:
            found = f"no label is known for {listing(strange)}"
            raise InputError(describe("E-EVENT", "row", found, allowed="ids of y"))
        self.n_asked += len(asked)
        return [self._said[row] for row in asked]
