"""The committee: members in order, a weight each, and an intercept.

Every ensemble of this library ends as one: F(x) = b + Σ wₜ fₜ(x). Bagging weighs all members
alike, AdaBoost by their error, gradient boosting by the learning rate; what they share is this
noun, not the way to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from committee.core.members import Floats, Member, Members, join
from committee.data import InputError
from committee.data.errors import describe

__all__ = ["Committee", "Floats", "Member"]


@dataclass(frozen=True, eq=False)
class Committee:
    """Members, their weights and an intercept; nothing of it can be changed.

    Parameters
    ----------
    members : sequence of Member
        At least one; a :class:`~committee.core.members.Trees` is asked inside the engine.
    weights : array-like of shape (n_members,)
        What each member's outputs are multiplied with.
    intercept : array-like of shape (n_outputs,) or (1,), default=0
        What the sum begins with.

    Examples
    --------
    >>> class Constant:
    ...     def __init__(self, number):
    ...         self.number = number
    ...
    ...     def outputs(self, X):
    ...         return np.full((len(X), 1), self.number)
    >>> committee = Committee([Constant(1.0), Constant(4.0)], weights=[1.0, 0.5])
    >>> committee.decision([[0]])
    array([[3.]])
    >>> [stage.item() for stage in (committee + committee).staged([[0]])]
    [1.0, 3.0, 4.0, 6.0]
    """

    members: Sequence[Member]
    weights: Floats
    intercept: Floats = field(default_factory=lambda: np.zeros(1))

    def __post_init__(self) -> None:
        members = self.members if isinstance(self.members, Members) else Members(self.members)
        if not len(members):
            found = "a committee has at least one member, and there is none"
            raise InputError(describe("M-EMPTY", "members", found))
        weights, intercept = _fixed("weights", self.weights), _fixed("intercept", self.intercept)
        if weights.shape != (len(members),):
            found = f"of shape {weights.shape} for {len(members)} member(s)"
            raise InputError(describe("M-COMMITTEE", "weights", found, allowed="one per member"))
        for name, value in (("members", members), ("weights", weights), ("intercept", intercept)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, members: slice) -> Committee:
        if not isinstance(members, slice):
            raise TypeError(
                f"a committee is cut by a slice, got {members!r}; "
                "a single member is committee.members[i]"
            )
        return Committee(self.members[members], self.weights[members], self.intercept)

    def __add__(self, other: Committee) -> Committee:
        """Seat the members of both; their sums, and so the intercepts, are added."""
        if not isinstance(other, Committee):
            return NotImplemented
        members = join([self._members, other._members])
        weights = np.concatenate([self.weights, other.weights])
        return Committee(members, weights, self.intercept + other.intercept)

    @property
    def _members(self) -> Members:
        return cast(Members, self.members)

    def outputs(self, X: Any, *, n_threads: int = 1) -> Floats:
        """Ask every member.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows, in any form the members read.
        n_threads : int
            How many threads share the work; the result does not depend on it.

        Returns
        -------
        ndarray of shape (n_members, n_rows, n_outputs)
            Unweighted.
        """
        return self._members.outputs(X, n_threads)

    def decision(self, X: Any, *, n_threads: int = 1) -> Floats:
        """Add up what the members say: intercept + Σ weight · output, in member order.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows, in any form the members read.
        n_threads : int
            How many threads share the work; the result does not depend on it.

        Returns
        -------
        ndarray of shape (n_rows, n_outputs)
            The sums.
        """
        return self._members.total(X, self.weights, self.intercept, n_threads)

    def staged(self, X: Any, *, n_threads: int = 1) -> Iterator[Floats]:
        """Yield the decision of the first member, of the first two, and so on.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows, in any form the members read.
        n_threads : int
            How many threads share the work; the result does not depend on it.

        Yields
        ------
        ndarray of shape (n_rows, n_outputs)
            The k-th is ``committee[:k].decision(X)`` bit for bit; every member is asked once.
        """
        for total in self._members.running(X, self.weights, self.intercept, n_threads):
            yield total.copy()


def _fixed(name: str, numbers: Any) -> Floats:
    """Copy into a contiguous array that cannot be written to."""
    fixed = np.array(numbers, dtype=np.float64, order="C")
    if fixed.ndim != 1 or not np.isfinite(fixed).all():
        found = f"of shape {fixed.shape} with {np.isfinite(fixed).sum()} finite number(s)"
        allowed = "a one-dimensional array of finite numbers"
        raise InputError(describe("M-COMMITTEE", name, found, allowed=allowed))
    fixed.flags.writeable = False
    return fixed
