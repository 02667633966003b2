"""Rounds: an ensemble algorithm is a generator of them, and one loop makes them a committee.

The algorithm says how the next member is made and what all members weigh. When to stop is no part
of it: limits, early stopping, callbacks, deadlines and warm starts are known to :func:`assemble`
alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from committee.core.committee import Committee, Floats, Member
from committee.core.members import Members, join
from committee.data import InputError
from committee.data.errors import describe

if TYPE_CHECKING:
    from committee.core.watching import Watch

NO_MEMBER = "no member could be made from these rows"


@dataclass(frozen=True, eq=False)
class Round:
    """What an algorithm yields each time it has made a member.

    Attributes
    ----------
    member : Member or Members
        The new member. Where several are made by one call, such as the trees of a forest, they
        come together as a :class:`~committee.core.members.Trees`; so does a single engine tree
        that should stay in the engine.
    weights : ndarray
        The weights of all members so far, including those of a committee that is continued.
    facts : mapping of str to float
        Numbers worth showing to whoever watches.
    """

    member: Member | Members
    weights: Floats
    facts: Mapping[str, float] = field(default_factory=dict)


def assemble(
    rounds: Iterable[Round],
    *,
    limit: int | None,
    stop: Callable[[Round], bool] | None = None,
    watch: Watch | None = None,
    intercept: Any = None,
    begin: Committee | None = None,
    max_time: float | None = None,
    empty: str = NO_MEMBER,
) -> Committee:
    """Collect rounds into a committee, until they end or enough is enough.

    Parameters
    ----------
    rounds : iterable of Round
        The algorithm; no more rounds are taken from it than are needed, and it is closed.
    limit : int or None
        The most members the committee may have, those of ``begin`` included.
    stop : callable, optional
        Asked after each round; the first True makes it the last round.
    watch : Watch, optional
        Told of each member; it may ask to stop after it.
    intercept : array-like of shape (n_outputs,), optional
        Of the committee; by default that of ``begin``, or 0.
    begin : Committee, optional
        The committee to continue; the rounds begin where it ends.
    max_time : float, optional
        Seconds after which no new round is begun. At least one is made, and where the time runs
        out the number of members differs from run to run.
    empty : str
        What to say when there is no member at all: "no member ...".

    Returns
    -------
    Committee
        All members up to and including the one that was the last.

    Raises
    ------
    InputError
        Where the algorithm made no member and there is none to begin with.
    """
    deadline = np.inf if max_time is None else time.monotonic() + max_time
    seats = _Seats(begin, intercept)
    source = iter(rounds)
    try:
        while limit is None or len(seats) < limit:
            if watch is not None:
                watch.before_member(len(seats))
            made = next(source, None)
            if made is None:
                break
            enough = seats.take(made, limit, watch)
            if stop is not None and stop(made):
                enough = True
            if enough or time.monotonic() >= deadline:
                break
    finally:
        close = getattr(source, "close", None)
        if close is not None:
            close()
    if not len(seats):
        raise InputError(describe("M-EMPTY", "X, y", empty))
    return seats.committee()


class _Seats:
    """The members so far. They are joined when the committee is asked for, so only once."""

    def __init__(self, begin: Committee | None, intercept: Any) -> None:
        self._parts = [] if begin is None else [begin._members]
        self._weights = np.empty(0) if begin is None else begin.weights
        if intercept is None:
            intercept = np.zeros(1) if begin is None else begin.intercept
        self._intercept = intercept

    def __len__(self) -> int:
        return len(self._weights)

    def take(self, made: Round, limit: int | None, watch: Watch | None) -> bool:
        """Seat what a round made, tell whoever watches, and say whether that was enough."""
        part = made.member if isinstance(made.member, Members) else Members([made.member])
        first, end = len(self), len(self) + len(part)
        if len(made.weights) != end:
            found = f"a round gave {len(made.weights)} weights for {end} member(s)"
            raise InputError(describe("M-COMMITTEE", "weights", found, allowed="one per member"))
        kept = end if limit is None else min(end, limit)
        enough = False
        self._parts.append(part)
        if watch is not None and watch.listens:
            for member in range(first, kept):
                self._weights = made.weights[: member + 1]
                enough = watch.after_member(member, made.facts, self.committee)
                if enough:
                    kept = member + 1
                    break
        self._weights = made.weights[:kept]
        return enough

    def committee(self) -> Committee:
        members = join(self._parts)
        if len(members) > len(self):  # the last round made more than were wanted
            members = members[: len(self)]
        return Committee(members, self._weights, self._intercept)
