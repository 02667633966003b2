"""How much the members of a committee disagree about each row.

Seung, Opper and Sompolinsky (1992) ask about the row on which a committee is split; what "split"
means is a choice:

    vote margin           (v1 - v2) / M, the two largest counts of votes (Abe and Mamitsuka 1998)
    weighted vote margin  the same with the members' weights, as a booster votes
    vote entropy          - sum v/M ln(v/M) over the classes (Argamon-Engelson and Dagan 1999)
    KL to the mean        mean over members of sum p ln(p / mean p) (McCallum and Nigam 1998)
    Jensen-Shannon        H(sum w p) - sum w H(p) with the members' weights w (Melville et al. 2005)
    margin                the two largest mean probabilities, their gap (Melville and Mooney 2004)

A small margin, and a large entropy or divergence, is disagreement. Members of equal weight make the
last divergence equal to the one before it: mean p ln p - mean(p) ln mean(p) is both.

All are functions of four sums over the members, so that nothing of the size [member, row, class]
is needed: a :class:`Tally` holds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from committee.core.members import Floats
from committee.core.voting import read_votes
from committee.data import InputError
from committee.data.errors import describe

DIGITS = 12  # scores that are alike to this many decimals are ties: sums of shares are rounded


@dataclass(frozen=True, eq=False)
class Tally:
    """What the members say about each row, added up; parts that were not asked for are None.

    Attributes
    ----------
    votes, weighted_votes : ndarray of shape (n_rows, n_classes)
        The share of the members, and of their weight, that votes for each class. A member that
        abstains leaves them below 1 in total.
    shares, weighted_shares : ndarray of shape (n_rows, n_classes)
        Means of the members' probabilities, and means by their weights.
    entropy, weighted_entropy : ndarray of shape (n_rows,)
        Means of the entropies of the members' probabilities.
    """

    votes: Floats | None = None
    weighted_votes: Floats | None = None
    shares: Floats | None = None
    weighted_shares: Floats | None = None
    entropy: Floats | None = None
    weighted_entropy: Floats | None = None


@dataclass(frozen=True)
class Measure:
    """A measure of disagreement.

    Attributes
    ----------
    name : str
        As users write it.
    needs : tuple of str
        The parts of a :class:`Tally` that it reads; the first has a column per class.
    value : callable
        From these parts to a number per row.
    small : bool
        Whether a small value is disagreement: margins.
    """

    name: str
    needs: tuple[str, ...]
    value: Callable[..., Floats]
    small: bool = False

    @property
    def weighted(self) -> bool:
        """Whether members count by their weights."""
        return self.needs[0].startswith("weighted_")

    @property
    def title(self) -> str:
        """The name in words."""
        return TITLES[self.name]

    def of(self, tally: Tally) -> Floats:
        """Compute the measure of each row."""
        return self.value(*(getattr(tally, part) for part in self.needs))

    def disagreement(self, values: Floats) -> Floats:
        """Turn values so that more is more disputed: one minus a margin, others as they are."""
        return 1 - values if self.small else values


def _gap(shares: Floats) -> Floats:
    """Subtract the second largest number of each row from the largest."""
    if shares.shape[1] < 2:
        return np.array(shares[:, 0])
    if shares.shape[1] == 2:
        return np.abs(shares[:, 0] - shares[:, 1])
    top = np.partition(shares, -2, axis=1)
    return np.asarray(top[:, -1] - top[:, -2])


def _entropy(shares: Floats) -> Floats:
    """Compute the entropy of each row in nats; 0 ln 0 is 0."""
    return np.asarray(special.entr(shares).sum(axis=1))


def _divergence(shares: Floats, entropy: Floats) -> Floats:
    """Subtract mean entropy from the entropy of the mean; rounding makes it no less than 0."""
    return np.maximum(_entropy(shares) - entropy, 0.0)


TITLES = {
    "vote_margin": "vote margin",
    "weighted_vote_margin": "weighted vote margin",
    "vote_entropy": "vote entropy",
    "kl_to_mean": "KL divergence to the mean",
    "jensen_shannon": "Jensen-Shannon divergence",
    "margin": "margin of mean probabilities",
}
MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure("vote_margin", ("votes",), _gap, small=True),
        Measure("weighted_vote_margin", ("weighted_votes",), _gap, small=True),
        Measure("vote_entropy", ("votes",), _entropy),
        Measure("kl_to_mean", ("shares", "entropy"), _divergence),
        Measure("jensen_shannon", ("weighted_shares", "weighted_entropy"), _divergence),
        Measure("margin", ("shares",), _gap, small=True),
    )
}


def tally(outputs: Iterable[Floats], weights: Any, n_members: int, needs: Iterable[str]) -> Tally:
    """Add up what the members say, one after the other.

    Parameters
    ----------
    outputs : iterable of ndarray of shape (n_rows, n_classes)
        What each member says: probabilities, or a 1 among zeros. A vote goes to the largest
        number, the first of equal ones; a member that says nothing but zeros abstains.
    weights : array-like of shape (n_members,) or None
        Their weights; None: all alike.
    n_members : int
        How many there are.
    needs : iterable of str
        The parts of the tally that are wanted.

    Returns
    -------
    Tally
        Those parts.
    """
    weights = read_vote_weights(weights, n_members)
    sums: dict[str, Floats] = {}
    wanted = tuple(needs)
    for weight, said in zip(weights, outputs, strict=True):
        for part in wanted:
            worth = weight if part.startswith("weighted_") else 1.0
            added = worth * _reading(part.removeprefix("weighted_"), said)
            sums[part] = added if part not in sums else sums[part] + added
    return averaged(sums, weights)


def averaged(sums: Mapping[str, Floats], weights: Floats) -> Tally:
    """Divide sums over the members by their number, or by their weight."""
    whole = {True: float(weights.sum()), False: float(len(weights))}
    return Tally(**{p: total / whole[p.startswith("weighted_")] for p, total in sums.items()})


def read_vote_weights(weights: Any, n_members: int) -> Floats:
    """Read the weights of votes, of which none may count against what it is for."""
    votes = read_votes(weights, n_members)
    if (votes < 0).any():
        member = int(np.argmax(votes < 0))
        found = f"member {member} has the weight {votes[member]:g}"
        raise InputError(describe("Q-OPINIONS", "weights", found, allowed="none below 0"))
    return votes


def _reading(part: str, said: Floats) -> Floats:
    """Read what one member says as its vote, as probabilities, or as their entropy."""
    if part == "votes":
        return cast_votes(said)
    return said if part == "shares" else _entropy(said)


def cast_votes(said: Floats) -> Floats:
    """Give each row's vote to its largest number, the first of equals; none where all are 0."""
    votes = np.zeros_like(said)
    votes[np.arange(len(said)), said.argmax(axis=1)] = 1.0
    votes[~said.any(axis=1)] = 0.0
    return votes


def measure_disagreement(outputs: Any, measure: str = "vote_margin", weights: Any = None) -> Floats:
    """Measure the disagreement of members about each row, from what they said.

    Parameters
    ----------
    outputs : array-like of shape (n_members, n_rows, n_classes)
        Probabilities of the classes, or votes: a 1 among zeros.
    measure : str, default="vote_margin"
        "vote_margin", "weighted_vote_margin", "vote_entropy", "kl_to_mean", "jensen_shannon" or
        "margin". Margins are small where members disagree, the others large.
    weights : array-like of shape (n_members,), optional
        The members' weights, for "weighted_vote_margin" and "jensen_shannon"; by default all
        alike.

    Returns
    -------
    ndarray of shape (n_rows,)
        The measure, logarithms to base e.

    Examples
    --------
    Of four members three vote for the first class of the first row, two for that of the second:

    >>> outputs = [[[1, 0], [1, 0]], [[1, 0], [1, 0]], [[1, 0], [0, 1]], [[0, 1], [0, 1]]]
    >>> measure_disagreement(outputs)
    array([0.5, 0. ])
    >>> measure_disagreement(outputs, "vote_entropy").round(4)
    array([0.5623, 0.6931])
    """
    said = np.asarray(outputs, dtype=np.float64)
    chosen = find_measure(measure)
    if said.ndim != 3 or 0 in said.shape:
        allowed = "an array [member, row, class] that holds something"
        found = f"of shape {said.shape}"
        raise InputError(describe("Q-OPINIONS", "outputs", found, allowed=allowed))
    check_members(len(said))
    strange = ~(np.isfinite(said) & (said >= 0)).all(axis=(0, 2))
    if strange.any():
        row = int(np.argmax(strange))
        found = f"row {row} holds {said[:, row].tolist()}"
        allowed = "probabilities or votes, none missing and none below 0"
        raise InputError(describe("Q-OPINIONS", "outputs", found, allowed=allowed))
    if any(part.endswith(("shares", "entropy")) for part in chosen.needs):
        for member in said:
            check_probabilities(member, chosen)
    return chosen.of(tally(said, weights, len(said), chosen.needs))


def find_measure(name: Any) -> Measure:
    """Look up a measure by name."""
    if not isinstance(name, str) or name not in MEASURES:
        found, allowed = f"got {name!r}", ", ".join(map(repr, MEASURES))
        raise InputError(describe("P-VALUE", "measure", found, allowed=allowed))
    return MEASURES[name]


def check_members(n_members: int) -> None:
    """Refuse a committee of one, which cannot disagree."""
    if n_members < 2:
        found = f"{n_members} member(s); nobody disagrees in a committee of one"
        raise InputError(
            describe(
                "Q-ALONE",
                "committee",
                found,
                allowed="at least 2 members",
                fix="a larger n_estimators, or more estimators",
            )
        )


def check_probabilities(said: Floats, measure: Measure) -> None:
    """Refuse members that give no probabilities where a measure is made of them."""
    nonsense = ~(np.isfinite(said).all(axis=1) & (said >= 0).all(axis=1))
    nonsense |= np.abs(said.sum(axis=1) - 1) > 1e-6
    if nonsense.any():
        row = int(np.argmax(nonsense))
        found = f"a member says {said[row].tolist()} about row {row}, which are no probabilities"
        fix = f"measure='vote_margin' needs votes only; {measure.name!r} needs probabilities"
        raise InputError(describe("Q-OPINIONS", "measure", found, fix=fix))
