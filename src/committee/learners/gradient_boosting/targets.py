"""What a booster refuses to learn from, or to stop by, once its loss is known."""

from __future__ import annotations

import numpy as np

from committee.core.members import Floats
from committee.data import InputError
from committee.data.errors import about, describe, rows_text
from committee.losses import Loss
from committee.losses.answers import is_stock

LARGEST = 1e30  # of a derivative; the engine keeps them as float32, and adds them
OTHER_SPLIT = "try another random_state or validation_fraction, or X_val"
SMALLEST = 1e-30  # of the largest one: below it float32 has no digits left


def check_target(loss: Loss, y: Floats, weight: Floats | None) -> None:
    """Hold the target against the domain of the loss; rows of weight 0 are as good as absent."""
    if weight is not None and not weight.all():
        counted = np.flatnonzero(weight)
        y = y.copy()
        y[weight == 0] = y[counted[0]]
    loss.check_target(y)


def check_held_out_target(loss: Loss, y: Floats, weight: Floats | None, given: bool) -> None:
    """Hold rows to stop by against the domain of the loss; zeros alone can be judged by.

    Parameters
    ----------
    loss : Loss
        What judges.
    y, weight : ndarray
        Of the held-out rows.
    given : bool
        Whether the user gave them; otherwise they are a split of the training rows.
    """
    with about("y_val" if given else f"the rows that early stopping holds out; {OTHER_SPLIT}"):
        try:
            check_target(loss, y, weight)
        except InputError as error:
            if error.code != "Y-ZERO":
                raise


def check_scale(loss: Loss, y: Floats, start: Floats, margin: Floats | None) -> None:
    """Refuse targets whose derivatives are beyond single precision, before they are cut off.

    The largest are those of the smallest and the largest target, or margin; a loss that looks at
    all rows at once keeps them in bounds by itself, and a loss of the user's may count on all rows:
    its answers are looked at round by round.
    """
    if not loss.separable or not is_stock(loss):
        return
    columns = [*y.reshape(len(y), -1).T, *([] if margin is None else margin.T)]
    ends = [end for column in columns for end in (column.argmin(), column.argmax())]
    rows = np.array(sorted(ends), dtype=np.intp)
    raw = np.full((len(rows), len(start)), start) if margin is None else margin[rows]
    with np.errstate(over="ignore"):
        gradient, _ = loss.gradient_hessian(y[rows], raw[:, 0] if raw.shape[1] == 1 else raw)
    size = np.abs(np.reshape(gradient, (len(rows), -1))).max(axis=1)
    at = int(size.argmax())
    if _fits(float(size[at])):
        return
    target = np.array2string(y[rows[at]], precision=6)
    check_size(loss, float(size[at]), f"{rows_text(rows[[at]], 1)} (y = {target})")


def _fits(most: float) -> bool:
    return most <= LARGEST and (most >= SMALLEST or most == 0)


def check_size(loss: Loss, most: float, where: str) -> None:
    """Refuse a largest derivative that single precision cannot hold, or has no digits for."""
    if _fits(most):
        return
    what = "larger than 1e30" if most > LARGEST else "smaller than 1e-30"
    found = f"the gradient of {loss!r} is {most:.3g}, {what}, in {where}"
    fix = "divide y by its standard deviation, and multiply predictions by it"
    allowed = "targets of a usual scale: derivatives are kept in single precision"
    raise InputError(describe("Y-SCALE", "y", found, allowed=allowed, fix=fix))


def check_shares(loss: Loss, n_classes: int) -> None:
    """Refuse a stock loss whose predictions are no probabilities of so many classes."""
    if not is_stock(loss) or n_classes < 2:
        return
    zeros = np.zeros((1, loss.n_outputs))
    shares = np.asarray(loss.predict(zeros[:, 0] if loss.n_outputs == 1 else zeros))
    if shares.shape == (1, n_classes) and np.isclose(shares.sum(), 1.0):
        return
    found = f"{loss!r} does not predict probabilities of {n_classes} classes"
    fix = 'loss="log_loss", or a regressor'
    raise InputError(describe("P-LOSS", "loss", found, fix=fix))
