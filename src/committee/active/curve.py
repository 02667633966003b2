"""Learning curves of questions: the error by the number of labels, beside that of random rows.

The area under an error curve is its mean height over the labels, so that areas are errors. Where
an experiment was repeated, intervals are Student's over the repeats, cut to [0, 1] where they are
of an error; a single run has Wilson's (1927) for the share of test rows that are wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import special

from committee.core.members import Floats
from committee.data import InputError
from committee.data.errors import describe, listing

if TYPE_CHECKING:
    import pandas as pd

RANDOM = "random"


def wilson_interval(wrong: Any, n_rows: Any, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Bound a share by the interval of Wilson (1927).

    Parameters
    ----------
    wrong : array-like
        How many rows are wrong.
    n_rows : array-like
        Of how many.
    confidence : float, default=0.95
        The chance that the interval holds the true share.

    Returns
    -------
    tuple of ndarray
        The lower and the upper ends; 0 and 1 where there are no rows.

    Examples
    --------
    >>> low, high = wilson_interval(1, 10)
    >>> print(f"{low:.4f} {high:.4f}")
    0.0179 0.4042
    """
    n = np.asarray(n_rows, dtype=np.float64)
    z = special.ndtri(0.5 + confidence / 2)
    share = np.divide(wrong, n, out=np.full(n.shape, 0.5), where=n > 0)
    scale = np.where(n > 0, 1 + z**2 / np.maximum(n, 1), 1.0)
    middle = (share + z**2 / (2 * np.maximum(n, 1))) / scale
    half = (
        z
        / scale
        * np.sqrt(share * (1 - share) / np.maximum(n, 1) + (z / np.maximum(n, 1) / 2) ** 2)
    )
    low, high = np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
    return np.where(n > 0, low, 0.0), np.where(n > 0, high, 1.0)


@dataclass(frozen=True)
class Gain:
    """How much lower the area under an error curve is than that of random rows.

    Attributes
    ----------
    mean : float
        The mean difference over repeats; above 0 questions are better than random rows.
    low, high : float
        Student's interval of the mean; NaN with one repeat.
    wins : int
        In how many repeats the area is lower.
    n_repeats : int
        How many there are.
    """

    mean: float
    low: float
    high: float
    wins: int
    n_repeats: int

    @property
    def verdict(self) -> str:
        """Say "better" or "worse", or "no difference" where the interval holds 0."""
        if self.low > 0:
            return "better"
        return "worse" if self.high < 0 else "no difference"

    def __str__(self) -> str:
        saved = f"error saved, mean over labels: {self.mean:+.4f}"
        if self.n_repeats == 1:
            return f"{saved} in one run"
        within = f"[{self.low:+.4f}, {self.high:+.4f}]"
        return f"{saved} {within}, lower in {self.wins} of {self.n_repeats} runs: {self.verdict}"


@dataclass(frozen=True, eq=False)
class QueryCurve:
    """Errors by the number of labels, for questions and for random rows.

    Attributes
    ----------
    n_labels : ndarray of int, shape (n_steps,)
        How many labels there were.
    errors : dict of str to ndarray of shape (n_repeats, n_steps)
        The share of test rows that are wrong, by strategy.
    n_test : int
        How many test rows there are in a repeat.
    confidence : float
        Of the intervals.

    Examples
    --------
    >>> errors = {"queries": [[0.4, 0.2, 0.1]], "random": [[0.4, 0.3, 0.3]]}
    >>> curve = QueryCurve([10, 11, 12], errors, n_test=50)
    >>> curve.area("queries").round(3)
    array([0.225])
    >>> round(curve.gain("queries").mean, 3)
    0.1
    """

    n_labels: npt.NDArray[np.int64]
    errors: Mapping[str, Floats]
    n_test: int
    confidence: float = 0.95

    def __post_init__(self) -> None:
        labels = np.asarray(self.n_labels, dtype=np.int64)
        errors = {str(k): np.atleast_2d(np.asarray(e, float)) for k, e in self.errors.items()}
        shapes = sorted({error.shape for error in errors.values()})
        if not errors or len(shapes) > 1 or shapes[0][1:] != labels.shape or not len(labels):
            found = f"errors of shapes {listing(shapes)} for {len(labels)} numbers of labels"
            allowed = "one number for each repeat and step, alike for all strategies"
            raise InputError(describe("P-VALUE", "errors", found, allowed=allowed))
        object.__setattr__(self, "n_labels", labels)
        object.__setattr__(self, "errors", errors)

    @property
    def n_repeats(self) -> int:
        """How often the experiment was run."""
        return len(next(iter(self.errors.values())))

    def mean(self, name: str) -> Floats:
        """Average the errors of a strategy over the repeats."""
        return np.asarray(self.errors[name].mean(axis=0))

    def interval(self, name: str) -> tuple[Floats, Floats]:
        """Bound the error of a strategy at each step.

        With repeats by Student's interval of the mean. That of two or three repeats is often wider
        than a share can be: it is cut to [0, 1], which takes nothing from its confidence.
        """
        errors = self.errors[name]
        if len(errors) == 1:
            wrong = errors[0] * self.n_test
            return wilson_interval(wrong, np.full(errors.shape[1], self.n_test), self.confidence)
        mean, half = errors.mean(axis=0), self._half(errors)
        return np.maximum(mean - half, 0.0), np.minimum(mean + half, 1.0)

    def _half(self, numbers: Floats) -> Floats:
        """Give half the width of Student's interval of a mean over repeats."""
        n = len(numbers)
        quantile = special.stdtrit(n - 1, 0.5 + self.confidence / 2)
        return np.asarray(quantile * numbers.std(axis=0, ddof=1) / np.sqrt(n))

    def area(self, name: str) -> Floats:
        """Average the error of a strategy over the labels, in each repeat."""
        errors = self.errors[name]
        if len(self.n_labels) == 1:
            return np.array(errors[:, 0])
        span = self.n_labels[-1] - self.n_labels[0]
        return np.asarray(np.trapezoid(errors, self.n_labels, axis=1) / span)

    def gain(self, name: str, beside: str = RANDOM) -> Gain:
        """Compare the area of a strategy with that of another, repeat by repeat."""
        less = self.area(beside) - self.area(name)
        half = float(self._half(less)) if len(less) > 1 else float("nan")
        mean = float(less.mean())
        return Gain(mean, mean - half, mean + half, int((less > 0).sum()), len(less))

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame of pandas: strategy, labels, error and its interval."""
        import pandas as pd

        parts = []
        for name in self.errors:
            low, high = self.interval(name)
            columns = {"n_labels": self.n_labels, "error": self.mean(name), "low": low}
            parts.append(pd.DataFrame({"strategy": name, **columns, "high": high}))
        return pd.concat(parts, ignore_index=True)

    def __str__(self) -> str:
        first, last = self.n_labels[[0, -1]]
        lines = [f"{first} to {last} labels, {self.n_repeats} run(s), {self.n_test} test rows"]
        for name in self.errors:
            low, high = self.interval(name)
            lines.append(
                f"  {name:<12} area {self.area(name).mean():.4f}, at the end "
                f"{self.mean(name)[-1]:.4f} [{low[-1]:.4f}, {high[-1]:.4f}]"
            )
        return "\n".join(lines)
