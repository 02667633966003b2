"""A target of several columns: a loss for each, and their sum.

The columns have a score each, and nothing joins them but the trees, where those are shared
(``multi_strategy="multi_output_tree"``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committee.core.members import Floats
from committee.data import InputError
from committee.data.errors import about, describe
from committee.losses.loss import Loss


@dataclass(frozen=True)
class Columns(Loss):
    """The sum of the losses of all columns of y; predicts as many columns.

    Parameters
    ----------
    parts : tuple of Loss
        The loss of each column. Each has one score a row and looks at no other row.

    Examples
    --------
    >>> import numpy as np
    >>> from committee.losses import Absolute, Columns, Squared
    >>> loss = Columns((Squared(), Absolute()))
    >>> y, raw = np.array([[3.0, 5.0], [4.0, 4.0]]), np.array([[1.0, 1.0], [4.0, 6.0]])
    >>> loss.value(y, raw)
    array([6., 2.])
    >>> loss.start(y, np.ones(2))
    array([3.5, 4.5])
    """

    parts: tuple[Loss, ...]

    def __post_init__(self) -> None:
        for part in self.parts:
            if part.n_outputs == 1 and part.separable:
                continue
            several = f"{part.n_outputs} scores a row" if part.separable else "all rows at once"
            found = f"{part!r} looks at {several}, and y has {len(self.parts)} columns"
            allowed = "for several columns, a loss of one score a row"
            fix = "fit a model for each column"
            raise InputError(describe("P-LOSS", "loss", found, allowed=allowed, fix=fix))
        told = {
            "n_outputs": len(self.parts),
            "constant_hessian": all(part.constant_hessian for part in self.parts),
            "exact_hessian": all(part.exact_hessian for part in self.parts),
            "renews_leaves": any(part.renews_leaves for part in self.parts),
            "longest_step": max(part.longest_step for part in self.parts),
        }
        for name, value in told.items():
            object.__setattr__(self, name, value)

    def check_target(self, y: Floats) -> None:
        """Refuse another number of columns, and a column that its loss refuses."""
        shape = (len(y), len(self.parts))
        if y.shape != shape:
            found, allowed = f"shape {y.shape}", f"shape {shape}, a column for each loss"
            raise InputError(describe("Y-SHAPE", "y", found, allowed=allowed))
        for k, part in enumerate(self.parts):
            with about(f"column {k} of y"):
                part.check_target(y[:, k])

    def start(self, y: Floats, weight: Floats) -> Floats:
        """Return the best constant of each column."""
        return np.concatenate([part.start(y[:, k], weight) for k, part in enumerate(self.parts)])

    def value(self, y: Floats, raw: Floats) -> Floats:
        """Return the sum over columns."""
        values: Floats = np.sum(
            [part.value(y[:, k], raw[:, k]) for k, part in enumerate(self.parts)], axis=0
        )
        return values

    def gradient_hessian(self, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives of each column."""
        both = [part.gradient_hessian(y[:, k], raw[:, k]) for k, part in enumerate(self.parts)]
        return np.column_stack([g for g, _ in both]), np.column_stack([h for _, h in both])

    def predict(self, raw: Floats) -> Floats:
        """Return the predictions of each column."""
        return np.column_stack([part.predict(raw[:, k]) for k, part in enumerate(self.parts)])

    def best_constant(self, residual: Floats, weight: Floats, output: int = 0) -> float:
        """Return the best constant of the column."""
        return self.parts[output].best_constant(residual, weight)
