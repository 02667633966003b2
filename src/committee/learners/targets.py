"""What trees are to explain, classes or numbers, in the forms the engine asks for.

One tree takes sums of weighted rows (`Stats`), a forest the rows themselves (`Target`) since every
member weighs them anew. Classes and numbers answer to the same names, so that the estimators of
both grow by the same lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from committee import _engine
from committee.data import Labels, combine_weights, read_class_weights

Floats: TypeAlias = npt.NDArray[np.float64]
UInts32: TypeAlias = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class ClassTarget:
    """Class labels.

    Attributes
    ----------
    labels : Labels
        Classes and codes.
    class_weight : object
        As the user gave it; "balanced_subsample" weighs the classes of every bag alike.
    """

    labels: Labels
    class_weight: Any = None

    @property
    def n_classes(self) -> list[int]:
        """Classes of each output."""
        return [len(classes) for classes in self.labels.classes]

    @property
    def codes(self) -> UInts32:
        """Row-major codes, (n_rows, n_outputs)."""
        return np.ascontiguousarray(self.labels.codes.view(np.uint32))

    @property
    def balanced(self) -> bool:
        """Whether each bag is balanced by itself."""
        return isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"

    def content(self) -> Floats:
        """Give the part of a row's content that is its target."""
        return self.labels.codes.astype(np.float64, order="C")

    def strata(self) -> UInts32:
        """Give each class a number; with several outputs, each combination of classes."""
        codes = self.codes
        if codes.shape[1] == 1:
            return np.ascontiguousarray(codes[:, 0])
        return np.unique(codes, axis=0, return_inverse=True)[1].ravel().astype(np.uint32)

    def factor(self, weight: Floats | None, *, resampled: bool) -> Floats | None:
        """Weigh the rows inside the trees: by class and, unless that drew them, by weight."""
        spec = self.class_weight
        if self.balanced:
            spec = None if resampled else "balanced"
        by_class = read_class_weights(spec, self.labels, weight)
        combined = combine_weights(weight, by_class)  # also refuses what is no use together
        return by_class if resampled else combined

    def native(self, factor: Floats | None, *, resampled: bool) -> _engine.Target:
        """Hand the target to a forest."""
        balanced = self.balanced and resampled
        return _engine.Target.classes(self.codes, self.n_classes, factor, balanced)

    def stats(self, weight: Floats, counted: bool) -> _engine.Stats:
        """Sum the target for one tree."""
        return _engine.Stats.classes(self.codes, self.n_classes, weight, counted)

    def balance(self, bag: Floats) -> Floats:
        """Weigh the classes that occur in a bag alike, output after output."""
        factor = np.ones(len(bag))
        for codes, classes in zip(self.labels.codes.T, self.labels.classes, strict=True):
            sums = np.bincount(codes, weights=bag, minlength=len(classes))
            with np.errstate(divide="ignore"):
                share = sums.sum() / (np.count_nonzero(sums) * sums)
            factor[bag > 0] *= share[codes[bag > 0]]
        return bag * factor


@dataclass(frozen=True, eq=False)
class NumberTarget:
    """Numbers.

    Attributes
    ----------
    y : ndarray of float64, shape (n_rows, n_outputs), row-major
        The targets.
    centred : bool
        Whether the engine may shift them, which the Poisson deviance does not allow.
    """

    y: Floats
    centred: bool = True

    balanced = False

    @property
    def n_classes(self) -> list[int]:
        """One 1 per output."""
        return [1] * self.y.shape[1]

    def content(self) -> Floats:
        """Give the part of a row's content that is its target."""
        return self.y

    def strata(self) -> None:
        """Numbers have no classes to draw within."""

    def factor(self, weight: Floats | None, *, resampled: bool) -> Floats | None:
        """Weigh the rows inside the trees, unless they were drawn by weight."""
        return None if resampled else weight

    def native(self, factor: Floats | None, *, resampled: bool) -> _engine.Target:
        """Hand the target to a forest."""
        return _engine.Target.regression(self.y, factor, self.centred)

    def stats(self, weight: Floats, counted: bool) -> _engine.Stats:
        """Sum the target for one tree."""
        return _engine.Stats.regression(self.y, weight, self.centred, counted)

    def balance(self, bag: Floats) -> Floats:
        """Numbers have no classes to balance."""
        return bag


Target: TypeAlias = ClassTarget | NumberTarget
