"""The certificate of a booster: what its theorems say of this fit, checked on the training rows.

It holds the numbers of every round, the margins of all training rows and a list of claims, each an
inequality or identity of the theory with both sides computed. It verifies; it promises nothing
about rows the model has not seen.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.core.margins import share_at_most
from committee.core.members import Floats
from committee.ensembles.boosting.verification import Verification, VerificationSet

SLACK = 1e-9  # both sides are sums over rows and rounds in float64
SHOWN = 5  # rounds at either end of the printed table
NO_PROMISE = "It speaks of the training rows alone and promises nothing about the error on others."


@dataclass(frozen=True)
class Claim:
    """One statement of the theory with its numbers.

    Attributes
    ----------
    text : str
        The statement.
    value, bound : float
        Its left and right side.
    relation : {"<=", ">=", "="}
        What should stand between them.
    """

    text: str
    value: float
    bound: float
    relation: str = "<="

    @property
    def holds(self) -> bool:
        """Whether the numbers bear the statement out, up to rounding."""
        slack = SLACK * max(1.0, abs(self.value), abs(self.bound))
        if self.relation == "<=":
            return self.value <= self.bound + slack
        if self.relation == ">=":
            return self.value >= self.bound - slack
        return abs(self.value - self.bound) <= slack

    def __str__(self) -> str:
        mark = "holds" if self.holds else "FAILS"
        vacuous = " (vacuous)" if self.relation == "<=" and self.bound >= 1 > self.value else ""
        numbers = f"{self.value:.6g} {self.relation} {self.bound:.6g}"
        return f"{mark}: {self.text}: {numbers}{vacuous}"


@dataclass(frozen=True, eq=False)
class Certificate:
    """What a booster's theory says of its fit.

    Attributes
    ----------
    algorithm : str
        The class name of the booster.
    rounds : mapping of str to ndarray
        The numbers of each round, such as ``error``, ``alpha``, ``edge`` and ``z``.
    weights : ndarray of shape (n_members,)
        The weights of the members in the end.
    margins : ndarray of shape (n_rows,)
        The margin of each training row.
    distribution : ndarray of shape (n_rows,)
        The initial weights of the rows, which sum to 1.
    claims : tuple of Claim
        The statements.
    stop_reason : str
        Why there are no more rounds.
    unit : str
        What has a margin each.

    Examples
    --------
    >>> from committee import AdaBoostClassifier
    >>> X = [[8, 7], [6, 8], [7, 10], [1, 3], [2, 1], [3, 5], [5, 6], [4, 2], [10, 9], [9, 4]]
    >>> y = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> certificate = AdaBoostClassifier(n_estimators=3).fit(X, y).certificate()
    >>> print(certificate)
    Certificate of AdaBoostClassifier: 3 members, 10 training rows, n_estimators rounds done.
      round   error   alpha    edge       z
          1  0.3000  0.4236  0.4000  0.9165
          2  0.2143  0.6496  0.5714  0.8207
          3  0.1364  0.9229  0.7273  0.6863
    holds: training error <= product of Z: 0 <= 0.51623
    ...
    >>> print(certificate.verify(X, y))
    Verified: ...
    """

    algorithm: str
    rounds: Mapping[str, Floats]
    weights: Floats
    margins: Floats
    distribution: Floats
    claims: tuple[Claim, ...]
    stop_reason: str
    model: Any
    unit: str = "training rows"

    @property
    def holds(self) -> bool:
        """Whether every claim holds."""
        return all(claim.holds for claim in self.claims)

    @property
    def training_error(self) -> float:
        """The weight of training rows whose margin is not positive: an undecided row counts."""
        return float(share_at_most(self.margins, self.distribution, 0.0))

    def margin_distribution(self, theta: Any) -> Floats:
        """Weigh the training rows whose margin is at most theta.

        Parameters
        ----------
        theta : float or array-like
            Where to read the distribution.

        Returns
        -------
        ndarray
            Shares in [0, 1].
        """
        return share_at_most(self.margins, self.distribution, theta)

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Recompute everything from the members, and say what disagrees.

        Parameters
        ----------
        X, y, sample_weight
            What ``fit`` was given.

        Returns
        -------
        Verification
            True in an ``if`` where nothing disagrees; printed, it says what does.
        """
        verification: Verification = self.model._verify(self, X, y, sample_weight)
        return verification

    def to_frame(self) -> Any:
        """Give the numbers of the rounds as a pandas DataFrame, one row per round."""
        import pandas as pd

        size = len(next(iter(self.rounds.values()), []))
        index = pd.RangeIndex(1, size + 1, name="round")
        weight = {"weight": self.weights} if len(self.weights) == size else {}
        return pd.DataFrame({**self.rounds, **weight}, index=index)

    def plot(self, ax: Any = None) -> Any:
        """Draw the bounds by round and the margins of the training rows.

        Parameters
        ----------
        ax : pair of matplotlib Axes or None
            Where to draw; None makes a figure.

        Returns
        -------
        matplotlib Figure
            The figure.
        """
        from committee.ensembles.boosting.certificate_plot import plot_certificate

        return plot_certificate(self, ax)

    def __str__(self) -> str:
        head = (
            f"Certificate of {self.algorithm}: {len(self.weights)} members, "
            f"{len(self.margins)} {self.unit}, {self.stop_reason}."
        )
        lines = [head, *_table(self.rounds), *map(str, self.claims), NO_PROMISE]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(f"<li>{html.escape(str(claim))}</li>" for claim in self.claims)
        body = "".join(
            "<tr>" + "".join(f"<td style='text-align:right'>{cell}</td>" for cell in line) + "</tr>"
            for line in _cells(self.rounds)
        )
        head = html.escape(str(self).splitlines()[0])
        return f"<p>{head}</p><table>{body}</table><ul>{rows}</ul><p>{NO_PROMISE}</p>"


@dataclass(frozen=True, eq=False)
class CertificateSet:
    """The certificates of one committee per class.

    Attributes
    ----------
    parts : mapping
        From the label of a class to the certificate of its committee.
    """

    parts: Mapping[Any, Certificate]
    model: Any

    @property
    def holds(self) -> bool:
        """Whether every claim of every part holds."""
        return all(part.holds for part in self.parts.values())

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> VerificationSet:
        """Recompute everything from the members, and say what disagrees.

        Parameters
        ----------
        X, y, sample_weight
            What ``fit`` was given.

        Returns
        -------
        VerificationSet
            True in an ``if`` where nothing disagrees; printed, it says what does.
        """
        train = self.model._fitted_to(X, y, sample_weight)
        found = {
            label: part.model._compare(part, train.against_rest(code))
            for code, (label, part) in enumerate(self.parts.items())
        }
        return VerificationSet(found)

    def to_frame(self) -> Any:
        """Give the numbers of the rounds as a pandas DataFrame, indexed by class and round."""
        import pandas as pd

        return pd.concat(
            {label: part.to_frame() for label, part in self.parts.items()}, names=["class"]
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the certificates, one below the other.

        Parameters
        ----------
        ax : array of matplotlib Axes of shape (n_classes, 2), or None
            Where to draw; None makes a figure.

        Returns
        -------
        matplotlib Figure
            The figure.
        """
        from committee.ensembles.boosting.certificate_plot import plot_certificates

        return plot_certificates(self.parts, ax)

    def __str__(self) -> str:
        return "\n\n".join(f"{label!r} against the rest\n{part}" for label, part in self._items())

    def _repr_html_(self) -> str:
        return "".join(
            f"<h4>{html.escape(repr(label))} against the rest</h4>{part._repr_html_()}"
            for label, part in self._items()
        )

    def _items(self) -> Any:
        return self.parts.items()


def _cells(rounds: Mapping[str, Floats]) -> list[list[str]]:
    """Lay out the first and the last rounds, under their names."""
    size = len(next(iter(rounds.values()), []))
    chosen: list[int | None] = list(range(size))
    if size > 2 * SHOWN:
        chosen = [*range(SHOWN), None, *range(size - SHOWN, size)]
    lines = [["round", *rounds]] if size else []
    for index in chosen:
        numbers = ["..." for _ in rounds]
        if index is not None:
            numbers = [_short(column[index]) for column in rounds.values()]
        lines.append(["..." if index is None else str(index + 1), *numbers])
    return lines


def _short(number: float) -> str:
    if not np.isfinite(number) or 1e-4 <= abs(number) < 1e4 or number == 0:
        return f"{number:.4f}"
    return f"{number:.2e}"


def _table(rounds: Mapping[str, Floats]) -> list[str]:
    lines = _cells(rounds)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    ]
    return [f"  {line}" for line in padded]
