"""Prediction intervals of a booster: its own quantiles, and bounds that rows held out vouch for.

Split conformal prediction (Papadopoulos et al. 2002; Lei et al. 2018): rows that no tree has seen
tell how far targets lie from predictions. Where new rows come from where these came from, the
``ceil((1 - alpha)(n + 1))``-th smallest distance bounds the next one with probability 1 - alpha at
least, whatever the model. With a model of two quantiles the distance is measured from the nearer
bound, negative inside (conformalised quantile regression, Romano, Patterson and Candès 2019): the
promise is the same, and the width follows x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from committee.core.committee import Committee
from committee.core.intervals import conformal_rank, endless
from committee.core.members import Floats
from committee.core.params import choice, integer, invalid, real
from committee.data import InputError, read_predict
from committee.data.errors import describe, warn
from committee.data.rows import engine_table
from committee.learners.gradient_boosting.booster import GradientBooster
from committee.learners.gradient_boosting.given import GivenRows
from committee.learners.gradient_boosting.task import BoostingTask
from committee.losses import Cox, Quantiles
from committee.losses.loss import Loss

INTERVAL_CONSTRAINTS: dict[str, Any] = {
    "intervals": [choice("conformal", "quantile"), None],
    "calibration_fraction": [integer(1), real(0, 1, "neither", no_int=True)],
}
SAME = 1e-9  # by which levels may miss 1 - alpha


@dataclass(frozen=True, eq=False)
class KeptIntervals:
    """What a fit keeps for intervals.

    Attributes
    ----------
    method : {"conformal", "quantile"}
        How bounds are made.
    scores : ndarray of float64
        "conformal": how far each held-out target lies outside of what was predicted, ascending.
    """

    method: str
    scores: Floats

    def correction(self, alpha: float) -> float:
        """Tell by how much bounds are to be moved outwards; infinite where rows are too few."""
        if self.method == "quantile":
            return 0.0
        n = len(self.scores)
        return math.inf if endless(n, alpha) else float(self.scores[conformal_rank(n, alpha) - 1])


def check_intervals(method: str | None, loss: Loss) -> None:
    """Refuse intervals that a model of this loss cannot give."""
    if method is None:
        return
    several = isinstance(loss, Quantiles) and loss.n_outputs > 1
    found = allowed = ""
    if method == "quantile" and not several:
        found = f"'quantile' with {loss!r}"
        allowed = "a loss with the two levels that bound the interval"
    elif isinstance(loss, Cox) or not (several or _tells_numbers(loss)):
        found = f"{method!r} with {loss!r}, whose predictions are no single number like y"
        allowed = "a loss that predicts y, or quantiles of it"
    if found:
        fix = 'loss="quantile", quantile=[0.05, 0.95]'
        raise InputError(describe("P-INTERVALS", "intervals", found, allowed=allowed, fix=fix))


def _tells_numbers(loss: Loss) -> bool:
    """Tell whether predictions are one number a row."""
    return loss.n_outputs == 1 and np.shape(loss.predict(np.zeros(2))) == (2,)


class BoostedIntervals(GradientBooster):
    """A booster of numbers: ``predict_interval``."""

    intervals: str | None
    calibration_fraction: int | float
    intervals_: KeptIntervals

    def _calibration_share(self) -> int | float | None:
        return self.calibration_fraction if self.intervals == "conformal" else None

    def _calibrated(
        self, committee: Committee, task: BoostingTask, rows: GivenRows | None
    ) -> dict[str, Any]:
        """Keep what intervals need, where they are asked for."""
        if self.intervals is None:
            return {}
        scores = np.empty(0)
        if rows is not None:
            name = type(self).__name__
            table = engine_table(read_predict(rows.X, task.schema, estimator_name=name))
            raw = committee.decision(table, n_threads=task.n_threads)
            lower, upper = _bounds(task.loss, raw if rows.margin is None else raw + rows.margin)
            scores = np.sort(np.maximum(lower - rows.y, rows.y - upper))
        return {"intervals_": KeptIntervals(self.intervals, scores)}

    def predict_interval(self, X: Any, alpha: float = 0.1, *, base_margin: Any = None) -> Floats:
        """Predict bounds between which the target lies with probability ``1 - alpha``.

        With ``intervals="conformal"`` that is a promise about the mean over new rows, and over the
        rows that are held out for it (for a given model it varies by about one over the square root
        of their number), not about each single x. With ``intervals="quantile"`` bounds are the
        lowest and the highest fitted level as they are, which often cover less.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        alpha : float in (0, 1), default=0.1
            The share of targets that may fall outside. A model of several quantiles has fitted one
            alpha, one minus the highest level plus the lowest, and refuses others.
        base_margin : array-like of shape (n_samples,), optional
            Raw scores to add.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper bounds; infinite, with a warning, where too few rows were held out for
            so small an ``alpha``.
        """
        check_is_fitted(self)
        if not real(0, 1, "neither").is_satisfied_by(alpha):
            raise invalid("alpha", "predict_interval", "a float in the range (0, 1)", alpha)
        kept = getattr(self, "intervals_", None)
        if kept is None:
            found = "fit kept nothing, as intervals was None"
            fix = "set intervals='conformal' and fit again"
            raise InputError(describe("P-INTERVALS", "intervals", found, fix=fix))
        self._check_alpha(alpha)
        move = kept.correction(float(alpha))
        if np.isinf(move):
            found = f"{len(kept.scores)} held-out rows cannot vouch for a coverage of {1 - alpha:g}"
            allowed = f"at least {math.ceil(1 / alpha - 1)} rows, by calibration_fraction"
            warn(describe("P-COVERAGE", "alpha", f"{found}; bounds are infinite", allowed=allowed))
        lower, upper = _bounds(self.loss_, self._scores(X, base_margin))
        lower, upper = lower - move, upper + move
        crossed = lower > upper  # moved inwards by more than half of the width
        lower[crossed] = upper[crossed] = (lower[crossed] + upper[crossed]) / 2
        return np.stack([lower, upper], axis=1)

    def _check_alpha(self, alpha: float) -> None:
        loss = self.loss_
        if not isinstance(loss, Quantiles) or loss.n_outputs == 1:
            return
        low, high = loss.levels[0], loss.levels[-1]
        if abs(alpha - (1 - (high - low))) > SAME:
            found = f"alpha={alpha:g}, but levels {low:g} and {high:g} leave {1 - (high - low):g}"
            fix = f"fit with quantile=[{alpha / 2:g}, {1 - alpha / 2:g}]"
            raise InputError(describe("P-INTERVALS", "alpha", found, fix=fix))


def _bounds(loss: Loss, raw: Floats) -> tuple[Floats, Floats]:
    """Give what the model itself says: its lowest and highest level, or twice its prediction."""
    if raw.shape[1] > 1:
        levels = loss.predict(raw)
        return levels[:, 0], levels[:, -1]
    said = loss.predict(raw[:, 0])
    return said, said
