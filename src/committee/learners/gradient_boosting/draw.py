"""Which rows a tree sees: all, a share drawn alike, or a share drawn by their derivatives.

A row is drawn by the hash of the seed, the number of the tree and its own content, so that neither
threads nor the order of the rows have a part in it. "gradient_based" is minimal variance sampling
(Ibragimov and Gusev 2019), which cpp/include/committee/boosting/gradient_draw.hpp explains; the
chances are those of all outputs together, and what is drawn counts by one over its chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from committee import _engine
from committee.core.members import Floats

Float32s = npt.NDArray[np.float32]
Slope: TypeAlias = tuple[Float32s, Float32s | None]


@dataclass(eq=False)
class RowDraw:
    """Draws the rows of each tree.

    Attributes
    ----------
    share : float
        Of the rows, what a tree sees.
    gradient_based : bool
        Whether rows are drawn by their derivatives.
    seed : int
        Of all trees.
    row_key : ndarray of uint64 or None
        The content of each row; None where all rows are seen.
    n_threads : int
        Threads that may be used; the draw does not depend on it.
    """

    share: float
    gradient_based: bool
    seed: int
    row_key: npt.NDArray[np.uint64] | None
    n_threads: int
    chances: _engine.GradientDraw | None = field(init=False, default=None)

    def settle(self, slopes: Sequence[Slope]) -> None:
        """Find the chances of a round from the derivatives of all its outputs."""
        if self.row_key is None or not self.gradient_based:
            return
        if self.chances is None:
            self.chances = _engine.GradientDraw(len(self.row_key))
        for gradient, hessian in slopes:
            self.chances.add(gradient, hessian, self.n_threads)
        self.chances.settle(self.share, self.n_threads)

    def rows(self, number: int) -> npt.NDArray[np.uint32] | None:
        """Draw the rows that a tree sees, ascending; None is all."""
        if self.row_key is None:
            return None
        if self.chances is not None:
            return self.chances.rows(self.seed, number, self.row_key, self.n_threads)
        return _engine.rows_of_round(self.seed, number, self.row_key, self.share, self.n_threads)

    def weighed(self, rows: npt.NDArray[np.uint32] | None, slope: Slope) -> Slope:
        """Divide the derivatives of drawn rows by their chances, where these differ."""
        if self.chances is None or rows is None:
            return slope
        return self.chances.weighed(rows, *slope, self.n_threads)

    def counted(self, weight: Floats) -> Floats:
        """Divide weights in the same way, for leaves that are renewed."""
        if self.chances is None:
            return weight
        chance = self.chances.chance
        return weight / np.where(chance > 0, chance, 1.0)
