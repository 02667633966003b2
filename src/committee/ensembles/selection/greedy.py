"""Greedy forward selection with replacement, from a library of models.

Caruana, Niculescu-Mizil, Crew and Ksikes, "Ensemble selection from libraries of models" (ICML
2004): begin with the N best members, then add, again and again, the one with which the mean of
all scores best on held-out rows; a member may be added several times, which gives it weight. Of
all ensembles on the way the best is kept. Selection overfits a small hillclimb set; against that
they draw random parts of the library (bags), select from each, and average the ensembles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from committee.core.members import Floats
from committee.core.randomness import member_rng
from committee.ensembles.selection.judges import Judge

Ints = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SelectionPath:
    """One climb: who was added when, and how the ensemble scored then.

    Attributes
    ----------
    added : ndarray of int, shape (n_steps,)
        The members in the order they were added, those of the initial ensemble first.
    scores : ndarray of shape (n_steps,)
        The score of the ensemble with this member; NaN while the initial one is incomplete.
    best : int
        The first step with the largest score: the ensemble that is kept.
    pool : ndarray of int
        The members that could be chosen.
    """

    added: Ints
    scores: Floats
    best: int
    pool: Ints

    @property
    def score(self) -> float:
        """The score of the ensemble that is kept."""
        return float(self.scores[self.best])

    def weights(self, n_members: int) -> Floats:
        """Count how often each member is in the ensemble that is kept; the sum is 1."""
        counts = np.bincount(self.added[: self.best + 1], minlength=n_members)
        return np.asarray(counts / (self.best + 1))


def single_scores(judge: Judge) -> Floats:
    """Score each member alone."""
    return np.array([judge.score(member, 1) for member in judge.members])


def climb(
    judge: Judge, pool: Ints, singles: Floats, *, n_rounds: int, n_init: int | str = 1
) -> SelectionPath:
    """Select from a pool.

    Parameters
    ----------
    judge : Judge
        Of sums of members.
    pool : ndarray of int
        The members to choose from, ascending.
    singles : ndarray of shape (n_members,)
        The score of each member alone.
    n_rounds : int
        How many members are added after the initial ones.
    n_init : int or "auto"
        With how many of the best members to begin; "auto" is the number with the best mean.

    Returns
    -------
    SelectionPath
        Of equal members the first is chosen.
    """
    ranked = pool[np.argsort(-singles[pool], kind="stable")]
    added, scores, total = _begin(judge, ranked, n_init)
    for _ in range(n_rounds):
        size = len(added) + 1
        found = [judge.score(total + judge.members[member], size) for member in pool]
        place = int(np.argmax(found))
        total = total + judge.members[pool[place]]
        added.append(int(pool[place]))
        scores.append(found[place])
    path = np.array(scores)
    return SelectionPath(np.array(added), path, int(np.nanargmax(path)), pool)


def _begin(judge: Judge, ranked: Ints, n_init: int | str) -> tuple[list[int], list[float], Floats]:
    """Seat the best members; only whole initial ensembles have a score."""
    sums = np.cumsum(judge.members[ranked], axis=0)
    if n_init == "auto":
        size = 1 + int(np.argmax([judge.score(sums[k], k + 1) for k in range(len(ranked))]))
    else:
        size = min(int(n_init), len(ranked))
    scores = [float("nan")] * (size - 1) + [judge.score(sums[size - 1], size)]
    return [int(member) for member in ranked[:size]], scores, sums[size - 1]


def draw_pools(n_members: int, n_bags: int, share: float, seed: int) -> list[Ints]:
    """Draw the part of the library that each bag sees; one bag sees all of it."""
    if n_bags == 1:
        return [np.arange(n_members)]
    size = max(1, int(np.ceil(share * n_members)))
    draws = (member_rng(seed, bag).permutation(n_members)[:size] for bag in range(n_bags))
    return [np.sort(draw) for draw in draws]
