"""Verification: the algorithm is run again with the members of a committee as its answers.

Nothing is learnt anew: at each question the member that came of it is asked about the rows, and
every error, weight and normaliser is computed from what it says. What was recorded must come out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.core.members import Floats
from committee.data.errors import rows_text

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Verification:
    """What a verification found.

    Attributes
    ----------
    n_members, n_rows : int
        What was asked again.
    findings : tuple of str
        What disagrees; empty where nothing does.
    """

    n_members: int
    n_rows: int
    findings: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.findings

    def __str__(self) -> str:
        asked = f"{self.n_members} members asked again about {self.n_rows} rows"
        if not self.findings:
            return f"Verified: {asked}; every number of every round, and every margin, comes out."
        return f"NOT verified: {asked}.\n" + "\n".join(f"- {text}" for text in self.findings)


@dataclass(frozen=True)
class VerificationSet:
    """What the verification of one committee per class found.

    Attributes
    ----------
    parts : mapping
        From the label of a class to its verification.
    """

    parts: Mapping[Any, Verification]

    def __bool__(self) -> bool:
        return all(self.parts.values())

    @property
    def findings(self) -> tuple[str, ...]:
        """What disagrees, with the class it concerns."""
        return tuple(
            f"{label!r} against the rest: {text}"
            for label, part in self.parts.items()
            for text in part.findings
        )

    def __str__(self) -> str:
        return "\n".join(
            f"{label!r} against the rest. {part}" for label, part in self.parts.items()
        )


def compare_rounds(recorded: Mapping[str, Floats], found: Mapping[str, Floats]) -> Iterator[str]:
    """Say in which round a number first differs."""
    for name in {**recorded, **found}:
        column, other = (each.get(name, np.empty(0)) for each in (recorded, found))
        if len(other) != len(column):
            yield f"{name}: {len(column)} rounds recorded, {len(other)} recomputed"
            continue
        apart = ~_close(column, other)
        if apart.any():
            first = int(np.argmax(apart))
            yield (
                f"{name}: {int(apart.sum())} of {len(column)} rounds differ, first round "
                f"{first + 1}: recorded {column[first]:.10g}, recomputed {other[first]:.10g}"
            )


def compare_weights(recorded: Floats, found: Floats) -> Iterator[str]:
    """Say which member's weight differs."""
    if len(recorded) != len(found):
        yield f"weights: {len(recorded)} recorded, {len(found)} recomputed"
        return
    apart = ~_close(recorded, found)
    if apart.any():
        first = int(np.argmax(apart))
        yield (
            f"weight of {int(apart.sum())} member(s) differs, first member {first + 1}: "
            f"{recorded[first]:.10g}, recomputed {found[first]:.10g}"
        )


def compare_rows(name: str, recorded: Any, found: Any, *, exact: bool = False) -> Iterator[str]:
    """Say which rows differ."""
    recorded, found = np.asarray(recorded), np.asarray(found)
    if len(recorded) != len(found):
        yield f"{name}: {len(recorded)} rows recorded, {len(found)} given"
        return
    apart = np.flatnonzero(recorded != found if exact else ~_close(recorded, found))
    if len(apart):
        yield f"{name} of {rows_text(apart, len(apart))} differs from what was recorded"


def _close(a: Floats, b: Floats) -> Any:
    return np.isclose(a, b, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
