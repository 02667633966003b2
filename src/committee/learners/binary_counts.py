"""How many rows of each class there are, and in how many of them a feature is on or missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.core.members import Floats
from committee.learners.binary_rows import BinaryRows


@dataclass(frozen=True, eq=False)
class Counts:
    """Sums of the weights of rows.

    Attributes
    ----------
    rows : ndarray of shape (n_classes,)
        Of each class.
    on, missing : ndarray of shape (n_classes, n_features)
        Of those in which a feature is on, or missing.
    """

    rows: Floats
    on: Floats
    missing: Floats

    @classmethod
    def none(cls, n_classes: int, n_features: int) -> Counts:
        """Begin with nothing."""
        shape = (n_classes, n_features)
        return cls(np.zeros(n_classes), np.zeros(shape), np.zeros(shape))

    def plus(self, blocks: Iterable[BinaryRows], codes: Any, weight: Floats) -> Counts:
        """Add rows of the classes ``codes``, one after the other.

        In that order a part of the rows never comes to more than all of them, rounding included.
        """
        more = Counts(self.rows.copy(), self.on.copy(), self.missing.copy())
        with np.errstate(over="ignore"):  # the sums are looked at before they are used
            np.add.at(more.rows, codes, weight)
            for block in blocks:
                own, weighs = codes[block.span], weight[block.span]
                for sums, marks in ((more.on, block.on), (more.missing, block.missing)):
                    if marks is not None:
                        row = np.repeat(np.arange(len(own)), np.diff(marks.indptr))
                        cell = own[row].astype(np.intp) * sums.shape[1] + marks.indices
                        np.add.at(sums.reshape(-1), cell, weighs[row])
        return more
