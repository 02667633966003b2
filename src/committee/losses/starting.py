"""The best constant for a loss that does not know its own: Newton steps with a line search."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from committee.core.members import Floats
from committee.losses.answers import checked_gradients, checked_values

if TYPE_CHECKING:
    from committee.losses.loss import Loss

STEPS = 100
SCALINGS = 60  # halvings or doublings of a step: 18 orders of magnitude
SMALL = 1e-13  # a decrease of this share of the loss is rounding


def newton_start(loss: Loss, y: Floats, weight: Floats) -> Floats:
    """Minimise the weighted mean loss over constant scores, starting from 0.

    Parameters
    ----------
    loss : Loss
        Asked for values and derivatives; answers of a wrong shape and NaN at 0 are refused.
    y, weight : ndarray of shape (n,)
        The target and the weights of rows.

    Returns
    -------
    ndarray of shape (n_outputs,)
        The scores. Newton's step is halved until it helps and doubled as long as it helps, so
        that a hessian which is a mere bound does no harm.
    """
    counted = weight > 0
    y, share = y[counted], weight[counted] / weight.max()
    share = share / share.sum()
    shape = (len(y),) if loss.n_outputs == 1 else (len(y), loss.n_outputs)

    def mean_loss(score: Floats) -> float:
        with np.errstate(all="ignore"):  # a step may lead far out, and is taken back then
            return float(share @ np.asarray(loss.value(y, np.broadcast_to(score, shape).copy())))

    score = np.zeros(loss.n_outputs)
    best = float(share @ checked_values(loss, y, np.zeros(shape)))
    for _ in range(STEPS):
        gradient, hessian = checked_gradients(loss, y, np.broadcast_to(score, shape).copy())
        slope, curvature = share @ gradient, share @ hessian
        step = np.atleast_1d(-slope / np.where(curvature > 0, curvature, 1.0))
        scale, reached = _line_search(mean_loss, score, step, best)
        if scale == 0:
            break
        score, decrease, best = score + scale * step, best - reached, reached
        if decrease <= SMALL * abs(best):
            break
    return score


def _line_search(
    mean_loss: Callable[[Floats], float], score: Floats, step: Floats, best: float
) -> tuple[float, float]:
    """Return a factor on the step and the loss there; the factor is 0 where none helps."""
    scale, reached = 1.0, mean_loss(score + step)
    if reached < best:
        for _ in range(SCALINGS):
            further = mean_loss(score + 2 * scale * step)
            if not further < reached:
                break
            scale, reached = 2 * scale, further
        return scale, reached
    for _ in range(SCALINGS):
        scale /= 2
        reached = mean_loss(score + scale * step)
        if reached < best:
            return scale, reached
    return 0.0, best
