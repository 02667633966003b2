"""How many members are enough: grow until more would not change the vote, row by row.

Given the rows, members are exchangeable, so what those that left a row out say are independent
draws from one distribution, and an endless committee would decide by its mean. For classes a row is
settled once a mixture martingale (Robbins 1970), looked at after any batch (Ville 1939), refutes
that another class leads. For numbers a confidence sequence for the mean plays that part (Howard et
al. 2021); it uses the empirical variance and so holds for many members only (Waudby-Smith et al.
2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, betaln, logsumexp

from committee import _engine
from committee.core.bags import LeftOut

Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]

FIRST = 32  # members before the first look
FEWEST = 30  # out-of-bag numbers of a row before its variance is believed
TUNED = 100  # out-of-bag numbers at which the confidence sequence is tightest


@dataclass(frozen=True)
class AutoSize:
    """How sure to be that a committee is large enough; pass it as ``n_estimators``.

    Parameters
    ----------
    confidence : float, default=0.95
        A settled row keeps its class (its mean stays within ``precision``) however many members
        are added, with at least this probability.
    tolerance : float, default=0.02
        The share of rows that may remain unsettled.
    precision : float, default=0.1
        Regressors: the mean of a row is settled when it is known to within this share of the
        standard deviation of y.
    limit : int, default=1000
        The largest number of members.

    Examples
    --------
    >>> AutoSize(confidence=0.99)
    AutoSize(confidence=0.99, tolerance=0.02, precision=0.1, limit=1000)
    """

    confidence: float = 0.95
    tolerance: float = 0.02
    precision: float = 0.1
    limit: int = 1000

    def __post_init__(self) -> None:
        for name in ("confidence", "tolerance"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} must be in (0, 1), got {getattr(self, name)!r}.")
        if not (self.precision > 0 and math.isfinite(self.precision)):
            raise ValueError(f"precision must be positive, got {self.precision!r}.")
        if isinstance(self.limit, bool) or not isinstance(self.limit, int) or self.limit < 1:
            raise ValueError(f"limit must be a positive int, got {self.limit!r}.")


@dataclass(frozen=True)
class Sizing:
    """What was reached; printed as a sentence.

    Attributes
    ----------
    members : int
        Members grown.
    settled : float
        The share of rows that are settled.
    confidence, tolerance : float
        As asked for.
    limit_met : bool
        Whether growing ended at the limit, before enough rows were settled.
    """

    members: int
    settled: float
    confidence: float
    tolerance: float
    limit_met: bool

    def __str__(self) -> str:
        end = ""
        if self.limit_met:
            end = f"; the limit was met before {1 - self.tolerance:.0%} were"
        return (
            f"{self.members} members settle {self.settled:.1%} of the rows at confidence "
            f"{self.confidence:g}{end}."
        )


def next_size(members: int, limit: int) -> int:
    """Plan the next look; a function of the members alone, so that threads play no part."""
    return min(limit, FIRST if members < FIRST else members + max(16, members // 8))


class Jury(Protocol):
    """Collects what members say about the rows they left out, and judges which are settled."""

    def hear(self, forest: _engine.Forest, left_out: LeftOut) -> None:
        """Take in more members."""

    def settled(self, confidence: float) -> Bools:
        """Tell which rows are settled."""


class Sizer:
    """Decides when a committee is large enough.

    Parameters
    ----------
    size : AutoSize
        What is asked for.
    jury : ClassJury or NumberJury
        Judges the rows.
    drawable : ndarray of bool
        The rows that count.
    """

    def __init__(self, size: AutoSize, jury: Jury, drawable: Bools) -> None:
        self.size = size
        self._jury = jury
        self._drawable = drawable

    def hear(self, forest: _engine.Forest, left_out: LeftOut) -> None:
        """Take in more members."""
        self._jury.hear(forest, left_out)

    def share(self) -> float:
        """Give the share of rows that are settled."""
        return float(self._jury.settled(self.size.confidence)[self._drawable].mean())

    def enough(self, made: object = None) -> bool:
        """Tell whether enough rows are settled by the members heard so far."""
        return self.share() >= 1 - self.size.tolerance

    def report(self, members: int) -> Sizing:
        """Say what was reached."""
        size, share = self.size, self.share()
        met = share < 1 - size.tolerance
        return Sizing(members, share, size.confidence, size.tolerance, met)


class ClassJury:
    """Adds up the members' class probabilities, by whose mean a committee decides.

    Parameters
    ----------
    table : _engine.Table
        The training rows.
    n_classes : list of int
        Classes of each output.
    n_threads : int
        Threads to predict with.
    """

    def __init__(self, table: _engine.Table, n_classes: list[int], n_threads: int) -> None:
        self._table, self._n_classes, self._n_threads = table, n_classes, n_threads
        self._count, self._sum, self._squares = np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0))

    def hear(self, forest: _engine.Forest, left_out: LeftOut) -> None:
        """Add the probabilities of more members."""
        if not len(self._count):
            shape = (left_out.n_rows, sum(self._n_classes))
            self._count = np.zeros(left_out.n_rows)
            self._sum, self._squares = np.zeros(shape), np.zeros(shape)
        for tree in range(forest.n_trees):
            mask = left_out.mask(tree)
            member = forest.slice(tree, tree + 1)
            shares = member.predict(self._table, n_threads=self._n_threads)[mask]
            self._count[mask] += 1
            self._sum[mask] += shares
            self._squares[mask] += shares**2

    def settled(self, confidence: float) -> Bools:
        """Tell in which rows the leading class of every output is settled."""
        risk, first = (1 - confidence) / len(self._n_classes), 0
        settled = np.ones(len(self._count), np.bool_)
        for n in self._n_classes:
            own = slice(first, first + n)
            settled &= shares_settled(self._sum[:, own], self._squares[:, own], self._count, risk)
            first += n
        return settled


def shares_settled(sums: Floats, squares: Floats, count: Floats, risk: float) -> Bools:
    """Test in each row whether the class of the largest mean probability would lead for ever.

    Rows on which every member is sure of a class are decided by votes: :func:`leader_settled`. Else
    let d be a member's probability of the leader minus that of another class. That the other leads
    is refuted by ``∫ exp(λ Σd + (log(1 - λ) + λ) Σd²) dλ`` over λ in (0, 1), a supermartingale
    where the mean of d is at most 0 (Fan, Grama, Liu 2015), once it exceeds 1 / risk. With two
    classes d² is known from the squares; with more, ``d² <= p² + q²``. The two tests share the
    risk, since a row may be met by sure members first.

    Parameters
    ----------
    sums, squares : ndarray of shape (n_rows, n_classes)
        Probabilities added up over the members that left a row out, and their squares.
    count : ndarray of shape (n_rows,)
        How many members that were.
    risk : float
        As in :func:`leader_settled`.

    Returns
    -------
    ndarray of bool, shape (n_rows,)
        True where settled.
    """
    n_classes = sums.shape[1]
    settled = leader_settled(sums, risk / 2)
    soft = np.flatnonzero((squares < sums).any(axis=1))
    if n_classes == 1 or not len(soft):
        return settled
    order = np.argsort(sums[soft], axis=1)
    first, second = (np.take_along_axis(sums[soft], order[:, [k]], 1) for k in (-1, -2))
    own, other = (np.take_along_axis(squares[soft], order[:, [k]], 1) for k in (-1, -2))
    spread = own + other if n_classes > 2 else 4 * own - 4 * first + count[soft, None]
    steps, shares = np.polynomial.legendre.leggauss(32)
    steps = (steps + 1) / 2  # a mixture over these points is as good a test as the integral
    exponent = steps * (first - second) + (np.log1p(-steps) + steps) * np.maximum(spread, 0)
    evidence = logsumexp(exponent, b=shares / 2, axis=1)
    settled[soft] = evidence >= math.log(2 * (n_classes - 1) / risk)
    return settled


def leader_settled(votes: Floats, risk: float) -> Bools:
    """Test in each row whether the class with most votes would lead for ever.

    Of the votes for a or b let a share q go to a. That b would lead is refuted by the evidence
    ``E = 2 ∫ (2q)^a (2 - 2q)^b dq`` over q in (1/2, 1), a supermartingale for q <= 1/2, once it
    exceeds 1 / risk. The leader must refute all others, of which the runner-up is the hardest; as
    any of K - 1 wrong classes might be declared, the risk is shared among them.

    Parameters
    ----------
    votes : ndarray of shape (n_rows, n_classes)
        Counts.
    risk : float
        The probability that a class is declared settled, at any time, though another leads in the
        long run.

    Returns
    -------
    ndarray of bool, shape (n_rows,)
        True where settled.

    Examples
    --------
    >>> leader_settled(np.array([[8.0, 0.0], [12.0, 8.0], [130.0, 70.0]]), 0.05)
    array([ True, False,  True])
    """
    n_classes = votes.shape[1]
    if n_classes == 1:
        return np.ones(len(votes), np.bool_)
    top = np.partition(votes, n_classes - 2, axis=1)
    second, first = top[:, -2], top[:, -1]
    with np.errstate(divide="ignore"):
        upper = np.log(betainc(second + 1, first + 1, 0.5))  # the mass of q above 1/2
    evidence = (first + second + 1) * math.log(2) + betaln(first + 1, second + 1) + upper
    return np.asarray(evidence >= math.log((n_classes - 1) / risk))


class NumberJury:
    """Follows the mean and variance of the members' numbers.

    Parameters
    ----------
    table : _engine.Table
        The training rows.
    y : ndarray of shape (n_rows, n_outputs)
        Their targets.
    drawable : ndarray of bool, shape (n_rows,)
        The rows that count.
    precision : float
        How well a mean must be known, as a share of the standard deviation of y.
    n_threads : int
        Threads to predict with.
    """

    def __init__(
        self, table: _engine.Table, y: Floats, drawable: Bools, precision: float, n_threads: int
    ) -> None:
        self._table, self._n_threads = table, n_threads
        counted = y[drawable]
        self._center, self._width = counted.mean(axis=0), precision * counted.std(axis=0)
        self._count = np.zeros(len(y))
        self._sum, self._squares = np.zeros(y.shape), np.zeros(y.shape)

    def hear(self, forest: _engine.Forest, left_out: LeftOut) -> None:
        """Add the numbers of more members."""
        for tree in range(forest.n_trees):
            mask = left_out.mask(tree)
            numbers = forest.slice(tree, tree + 1).predict(self._table, n_threads=self._n_threads)
            deviation = numbers[mask] - self._center
            self._count[mask] += 1
            self._sum[mask] += deviation
            self._squares[mask] += deviation**2

    def settled(self, confidence: float) -> Bools:
        """Tell in which rows the mean of every output is known well enough."""
        risk = (1 - confidence) / len(self._width)
        n = np.maximum(self._count, 1)[:, None]
        mean = self._sum / n
        variance = np.maximum(self._squares / n - mean**2, 0) * n / np.maximum(n - 1, 1)
        close = np.sqrt(variance) * sequence_width(n, risk) <= self._width
        return np.asarray(close.all(axis=1) & (self._count >= FEWEST))


def sequence_width(n: Floats, risk: float) -> Floats:
    """Half the width of a confidence sequence for a mean, in standard deviations.

    The normal mixture: with scale r, ``sqrt(2 (n r² + 1) / (n² r²) log(sqrt(n r² + 1) / risk))``.
    """
    twice = -2 * math.log(risk)
    scale = (twice + math.log(twice + 1)) / TUNED
    grown = n * scale + 1
    return np.asarray(np.sqrt(2 * grown / (n**2 * scale) * (np.log(grown) / 2 - math.log(risk))))
