"""DART: a round leaves earlier rounds out of the scores (Rashmi and Gilad-Bachrach 2015).

Late trees of plain boosting mend a few rows and mean nothing elsewhere. Here a new tree is fitted
to the scores without some earlier rounds, each left out with chance ``drop_rate``, so that it
learns part of what they say; together they would then say too much. With k rounds left out and the
learning rate eta

    the new round weighs eta / (k + eta), each that was left out k / (k + eta) of what it did,

which is XGBoost's and LightGBM's normalisation by trees. The new tree and those left out each aim
at the same residual; by these weights they add up to what the k did, and at eta = 1 the new one
counts like one of them, k / (k + 1) and 1 / (k + 1) as in the paper. With chance ``skip_drop``, and
in the first round, nothing is left out and the new round weighs eta.

Which rounds are left out depends on the seed and the number of the round alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from committee import _engine
from committee.core.committee import Committee
from committee.core.members import Floats
from committee.core.stages import Stages
from committee.learners.gradient_boosting.ledger import ScoreLedger

STREAM = 1 << 62  # beyond the outputs that the seeds of trees are drawn for


class Dart:
    """Which rounds are left out, and what all rounds weigh.

    Parameters
    ----------
    drop_rate : float
        The chance of each earlier round to be left out.
    skip_drop : float
        The chance of a round to leave none out.
    learning_rate : float
        What a round weighs that leaves none out.
    seed : int
        Of all rounds.

    Attributes
    ----------
    weights : ndarray of float64
        Of the rounds so far.
    ledger : ScoreLedger
        The leaves of the training rows.
    """

    def __init__(self, drop_rate: float, skip_drop: float, learning_rate: float, seed: int) -> None:
        self.drop_rate = drop_rate
        self.skip_drop = skip_drop
        self.learning_rate = learning_rate
        self.seed = seed
        self.weights: Floats = np.empty(0)
        self.ledger: ScoreLedger
        self._moved = False  # whether the scores are no longer those of the weights

    def begin(self, ledger: ScoreLedger, begin: Committee | None, table: _engine.Table) -> None:
        """Start with the rounds of an earlier fit, if any."""
        self.ledger = ledger
        if begin is not None:
            assert isinstance(begin.members, Stages)
            ledger.follow(begin.members, table)
            self.weights = begin.weights

    def dropped(self, number: int) -> npt.NDArray[np.intp]:
        """Draw the rounds that a round leaves out; where it leaves out any, at least one."""
        if number == 0 or self._uniform(number, 0) < self.skip_drop:
            return np.empty(0, np.intp)
        draws = np.array([self._uniform(number, 2 + k) for k in range(number)])
        some = np.flatnonzero(draws < self.drop_rate)
        return some if len(some) else np.array([int(self._uniform(number, 1) * number)])

    def _uniform(self, number: int, use: int) -> float:
        return (_engine.tree_seed(self.seed, number, STREAM + use) >> 11) * 2.0**-53

    def leave_out(self, number: int, raw: Floats) -> None:
        """Make the scores those that a round is fitted to, and weigh all rounds with it."""
        out = self.dropped(number)
        kept = self.weights.copy()
        kept[out] = 0.0
        if len(out) or self._moved:
            raw[...] = self.ledger.scores(kept)
        self._moved = len(out) > 0
        self.weights = weights_with(self.weights, out, self.learning_rate)


def weights_with(weights: Floats, dropped: npt.NDArray[np.intp], rate: float) -> Floats:
    """Weigh a new round behind those there are, of which it left some out."""
    k = len(dropped)
    if k == 0:
        return np.append(weights, rate)
    after = np.append(weights, rate / (k + rate))
    after[dropped] *= k / (k + rate)
    return after


def dart_of(booster: Any, seed: int) -> Dart | None:
    """Read the parameters of a booster; None is plain boosting."""
    if booster.drop_rate == 0:
        return None
    return Dart(
        float(booster.drop_rate), float(booster.skip_drop), float(booster.learning_rate), seed
    )
