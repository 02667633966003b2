"""The algorithm: trials, each of which may add a member to the committee.

    C = {L(T)}; error = that of C on T
    while C is too small and trials remain:
        R = artificial rows, labelled against C
        C' = C + {L(T + R)}; R is thrown away
        if the error of C' on T is not above that of C: C = C'

Trial t draws from (seed, t) alone, so that neither threads nor callbacks change a bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from committee.core.committee import Committee
from committee.core.members import Floats, Members
from committee.core.randomness import member_rng
from committee.core.rounds import Round
from committee.data import Labels
from committee.ensembles.decorate.opposition import oppose
from committee.ensembles.decorate.training_rows import Codes

ENOUGH = "n_estimators members found"
TRIED = "max_trials trials made"
ONE_CLASS = "y has a single class, which no label can oppose"
ASKED = "a callback asked to stop"


class Crew(Protocol):
    """Who fits members to training rows and artificial ones."""

    @property
    def asked(self) -> Any:
        """The training rows in the form in which members are asked about them."""

    @property
    def labels(self) -> Labels:
        """Their classes."""

    @property
    def weight(self) -> Floats | None:
        """Their weights, 1 on average; None where all are alike."""

    def draw(self, size: int, rng: np.random.Generator) -> Any:
        """Draw artificial rows."""

    def to_ask(self, rows: Any) -> Any:
        """Give artificial rows the form in which members are asked about them."""

    def fit(self, trial: int, artificial: Any = None, codes: Codes | None = None) -> Members:
        """Fit a member to the training rows, and to artificial ones where there are any."""


@dataclass(eq=False)
class Record:
    """What happened in each trial, and why there were no more.

    Attributes
    ----------
    before, after : list of float
        The share of the training rows that the committee gets wrong without and with the member of
        the trial; without the first there is no committee, which is NaN.
    kept : list of bool
        Whether it stayed.
    reason : str or None
        Why the trials ended, where they did so themselves.
    """

    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)
    kept: list[bool] = field(default_factory=list)
    reason: str | None = None

    def add(self, before: float, after: float, kept: bool) -> dict[str, float]:
        """Write a trial down; return its facts."""
        facts = {"trial": float(len(self.kept)), "error_before": before, "error_after": after}
        self.before.append(before)
        self.after.append(after)
        self.kept.append(kept)
        return facts

    def columns(self) -> dict[str, Any]:
        """Give the facts of all trials by name."""
        return {
            "error_before": np.array(self.before),
            "error_after": np.array(self.after),
            "kept": np.array(self.kept, dtype=np.bool_),
        }


def trials(
    crew: Crew,
    *,
    max_trials: int,
    artificial_size: float,
    seed: int,
    record: Record,
    n_threads: int = 1,
) -> Iterator[Round]:
    """Yield the members that stay.

    Parameters
    ----------
    crew : Crew
        Fits the members.
    max_trials : int
        The most trials; the first, without artificial rows, is one of them.
    artificial_size : float
        Artificial rows as a share of the training rows.
    seed : int
        Of the committee.
    record : Record
        Where trials are written down, also those whose member did not stay.
    n_threads : int
        Threads to ask members with.
    """
    codes = crew.labels.codes[:, 0]
    weight = np.ones(len(codes)) if crew.weight is None else crew.weight
    possible = np.bincount(codes, minlength=len(crew.labels.classes[0])) > 0
    size = max(1, int(artificial_size * len(codes)))

    def error_of(sums: Floats, n_members: int) -> float:
        wrong = (sums / n_members).argmax(axis=1) != codes
        return float(weight[wrong].sum() / weight.sum())

    member = crew.fit(0)
    committee = Committee(member, np.ones(1))
    sums = committee.decision(crew.asked, n_threads=n_threads)
    error = error_of(sums, 1)
    yield Round(member, committee.weights, record.add(np.nan, error, True))
    if possible.sum() < 2:
        record.reason = ONE_CLASS
        return
    for trial in range(1, max_trials):
        rng = member_rng(seed, trial)
        rows = crew.draw(size, rng)
        shares = committee.decision(crew.to_ask(rows), n_threads=n_threads) / len(committee)
        member = crew.fit(trial, rows, oppose(shares, possible, rng.random(size)))
        grown = committee + Committee(member, np.ones(1))
        new_sums = sums + Committee(member, np.ones(1)).decision(crew.asked, n_threads=n_threads)
        new_error = error_of(new_sums, len(grown))
        kept = new_error <= error
        facts = record.add(error, new_error, kept)
        if kept:
            committee, sums, error = grown, new_sums, new_error
            yield Round(member, grown.weights, facts)
    record.reason = TRIED
