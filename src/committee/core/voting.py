"""Voting and averaging: combiners of ``outputs[member, row, output]``.

A hard vote gives a member's whole weight to its favourite class, a soft vote shares it out by
probability. Of equal classes the first wins, always. Votes stop counting when they no longer
matter: :func:`vote_until_decided` asks no more members about a row whose class is settled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from committee.core.members import Floats, Member
from committee.data import InputError
from committee.data.errors import describe

Codes = npt.NDArray[np.intp]


def mean(outputs: Floats, weights: Any = None) -> Floats:
    """Average the members: numbers, or probabilities for a soft vote.

    Parameters
    ----------
    outputs : ndarray of shape (n_members, n_rows, n_outputs)
        What the members said.
    weights : array-like of shape (n_members,), optional
        Not negative; by default all alike.

    Returns
    -------
    ndarray of shape (n_rows, n_outputs)
        Sums in the order of the members, over the total weight.
    """
    weights = read_votes(weights, len(outputs))
    # One addition after the other: NumPy's own sum takes another order where there is one row.
    total, whole = np.zeros(outputs.shape[1:]), 0.0
    for weight, output in zip(weights, outputs, strict=True):
        total += weight * output
        whole += weight
    return total / whole


def vote_counts(outputs: Floats, weights: Any = None) -> Floats:
    """Count a hard vote: each member's weight goes to the class it gives most.

    Parameters
    ----------
    outputs : ndarray of shape (n_members, n_rows, n_classes)
        What the members said of each class; of equal ones the first is voted for.
    weights : array-like of shape (n_members,), optional
        By default all alike; equal weights count 1 each.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        The weight of the votes for each class.
    """
    counts = np.zeros(outputs.shape[1:])
    for weight, output in zip(read_votes(weights, len(outputs)), outputs, strict=True):
        _cast(counts, weight, output)
    return counts


def majority(outputs: Floats, weights: Any = None) -> Codes:
    """Find the class with most votes.

    Parameters
    ----------
    outputs : ndarray of shape (n_members, n_rows, n_classes)
        What the members said of each class; of equal ones the first is voted for.
    weights : array-like of shape (n_members,), optional
        By default all alike.

    Returns
    -------
    ndarray of int, shape (n_rows,)
        Indices of classes; of equal classes the first.
    """
    winner: Codes = vote_counts(outputs, weights).argmax(axis=1)
    return winner


def majority_label(labels: Any, weights: Any = None) -> npt.NDArray[Any]:
    """Find the label that most members give.

    Parameters
    ----------
    labels : array-like of shape (n_members, n_rows)
        What each member calls each row.
    weights : array-like of shape (n_members,), optional
        By default all alike.

    Returns
    -------
    ndarray of shape (n_rows,)
        Labels; of equal ones the lowest.

    Examples
    --------
    >>> rules = [["cat"], ["cat"], ["dog"], ["cat"], ["dog"]]
    >>> print(majority_label(rules))
    ['cat']
    >>> print(majority_label(rules, weights=[1, 1, 2, 1, 2]))
    ['dog']
    """
    labels = np.asarray(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    one_hot = np.eye(len(classes))[codes.reshape(labels.shape)]
    return classes[majority(one_hot, weights)]


@dataclass(frozen=True, eq=False)
class SettledVote:
    """A vote in which no member was asked in vain.

    Attributes
    ----------
    codes : ndarray of int, shape (n_rows,)
        Indices of the classes that won.
    asked : ndarray of int, shape (n_rows,)
        How many members were asked about each row.
    n_members : int
        How many there are.
    """

    codes: Codes
    asked: Codes
    n_members: int

    @property
    def saved(self) -> int:
        """How many questions, a row to a member, were not asked."""
        return self.n_members * len(self.asked) - int(self.asked.sum())

    def __str__(self) -> str:
        asked, n_rows = int(self.asked.sum()), len(self.asked)
        every = self.n_members * n_rows
        return f"{asked} of {every} questions to {self.n_members} members settled {n_rows} rows"


def vote_until_decided(members: Sequence[Member], X: Any, weights: Any = None) -> SettledVote:
    """Take a hard vote, and ask no member about a row that the remaining ones cannot change.

    Parameters
    ----------
    members : sequence of Member
        Asked in order, each about the rows still open; a row's outputs must not depend on the
        other rows.
    X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
        The rows.
    weights : array-like of shape (n_members,), optional
        By default all alike.

    Returns
    -------
    SettledVote
        The same classes as :func:`majority` of all outputs.
    """
    votes = read_votes(weights, len(members))
    # What is yet to come, from the end: the bound on how far a lead can still fall.
    remaining = np.append(np.cumsum(np.abs(votes[::-1]))[::-1], 0.0)
    exact = bool((votes == np.rint(votes)).all()) and remaining[0] < 2**53
    # Rounding of both sums is less than this; whole numbers are added exactly.
    slack = 0.0 if exact else 2 * len(votes) * np.finfo(np.float64).eps * remaining[0]
    n_rows = _num_samples(X)
    codes, asked = np.zeros(n_rows, dtype=np.intp), np.zeros(n_rows, dtype=np.intp)
    open_rows = np.arange(n_rows)
    counts: Floats | None = None
    for t, (weight, member) in enumerate(zip(votes, members, strict=True), start=1):
        if not len(open_rows):
            break
        output = member.outputs(X if len(open_rows) == n_rows else _safe_indexing(X, open_rows))
        counts = np.zeros(output.shape) if counts is None else counts
        _cast(counts, weight, output)
        settled = _settled(counts, remaining[t], slack) | (t == len(votes))
        codes[open_rows[settled]] = counts[settled].argmax(axis=1)
        asked[open_rows] = t
        open_rows, counts = open_rows[~settled], counts[~settled]
    return SettledVote(codes, asked, len(votes))


def _settled(counts: Floats, remaining: float, slack: float) -> npt.NDArray[np.bool_]:
    """Mark the rows whose leader no other class can pass."""
    leader = counts.argmax(axis=1)[:, None]
    lead = np.take_along_axis(counts, leader, axis=1) - counts
    rival = np.arange(counts.shape[1])
    safe = lead > remaining + slack
    if slack == 0:
        safe |= (lead == remaining) & (rival > leader)  # a tie would go to the leader
    settled: npt.NDArray[np.bool_] = (safe | (rival == leader)).all(axis=1)
    return settled


def _cast(counts: Floats, weight: float, output: Floats) -> None:
    counts[np.arange(len(output)), output.argmax(axis=1)] += weight


def read_votes(weights: Any, n_members: int) -> Floats:
    """Read the weights of a vote; equal weights become ones, so that ties are exact."""
    votes = np.ones(n_members) if weights is None else np.asarray(weights, dtype=np.float64)
    if votes.shape != (n_members,) or not np.isfinite(votes).all() or not votes.any():
        found = f"got {votes.tolist()} for {n_members} member(s)"
        allowed = "one finite number per member, not all zero"
        raise InputError(describe("M-COMMITTEE", "weights", found, allowed=allowed))
    return np.ones(n_members) if (votes == votes[0]).all() and votes[0] > 0 else votes
