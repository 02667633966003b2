"""A loss held against itself: its gradient must be the slope of its value.

Slopes are taken to the left and to the right of each score. Where the loss is smooth they agree,
and the gradient must agree with them; at a kink every slope between them is a subgradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from committee.core.members import Floats
from committee.data import InputError, InputTypeError
from committee.data.errors import class_name, describe, rows_text
from committee.losses.answers import (
    checked_constant,
    checked_gradients,
    checked_start,
    checked_values,
    method_name,
    place_text,
)
from committee.losses.columns import Columns
from committee.losses.loss import Loss

STEP = 1e-5  # of a score, relative where it is above 1: near the best for central differences
ROUNDING = 1e-15  # relative error of a value, a few units in the last place
NEAR = 0.01  # a kink within this share of a step lies at the score itself

Bools = npt.NDArray[np.bool_]
Sides = tuple[Floats, Floats, Floats]  # slopes to the left and to the right, and their error


def check_loss(
    loss: Loss,
    y: npt.ArrayLike,
    raw: npt.ArrayLike | None = None,
    *,
    rtol: float = 1e-4,
    max_rows: int = 200,
    random_state: int = 0,
) -> None:
    """Hold the derivatives of a loss against finite differences of its value.

    Parameters
    ----------
    loss : Loss
        A loss of your own, or a stock one.
    y : array-like of shape (n,)
        A target as the loss will meet it.
    raw : array-like of shape (n,) or (n, n_outputs), optional
        Scores at which to look; by default the best constant and standard normal noise.
    rtol : float, default=1e-4
        The relative error that is allowed.
    max_rows : int, default=200
        Of a loss that is not separable only so many rows are looked at, as each takes its own
        evaluations of the whole.
    random_state : int, default=0
        The seed of the noise.

    Raises
    ------
    InputError
        With the name of the function, the row and the numbers, where an answer has a wrong shape
        or holds NaN, the gradient is not the slope of the value, or the hessian is negative, not
        the second derivative (below it, if ``exact_hessian`` is False), or not 1 although
        ``constant_hessian`` says so.

    Examples
    --------
    >>> from committee.losses import Huber, check_loss
    >>> check_loss(Huber(delta=2.0), y=[0.0, 1.0, 20.0])
    """
    if not isinstance(loss, Loss):
        fix = "pass an instance" if isinstance(loss, type) else ""
        found = f"{loss!r} is a {class_name(loss)}"
        allowed = "an instance of committee.losses.Loss"
        raise InputTypeError(describe("P-VALUE", "loss", found, allowed=allowed, fix=fix))
    y = _read_target(loss, y)
    loss.check_target(y)
    start = checked_start(loss, y, np.ones(len(y)))
    shape = (len(y),) if loss.n_outputs == 1 else (len(y), loss.n_outputs)
    if raw is None:
        noise = np.random.default_rng(random_state).standard_normal(shape)
        raw = np.broadcast_to(start, shape) + noise
    raw = np.asarray(raw, dtype=np.float64)
    if raw.shape != shape:
        found = f"raw has shape {raw.shape} for {len(y)} rows and {loss.n_outputs} output(s)"
        raise InputError(describe("P-VALUE", "raw", found, allowed=f"shape {shape}"))
    checked_values(loss, y, raw)
    gradient, hessian = checked_gradients(loss, y, raw)
    rows = np.arange(len(y))
    if not loss.separable and len(y) > max_rows:
        rows = np.linspace(0, len(y) - 1, max_rows).astype(np.intp)
    _check_gradient(loss, y, raw, rows, gradient, rtol)
    _check_hessian(loss, y, raw, rows, hessian, rtol)
    if loss.renews_leaves:
        for output in range(loss.n_outputs):
            if isinstance(loss, Columns) and not loss.parts[output].renews_leaves:
                continue  # a column whose loss keeps the Newton step
            scores = raw.reshape(len(y), -1)[:, output]
            own = y if y.ndim == 1 else y[:, output]
            checked_constant(loss, own - scores, np.ones(len(y)), output)


def _read_target(loss: Loss, y: npt.ArrayLike) -> Floats:
    allowed = "one number a row, or as many columns as the loss has outputs"
    try:
        numbers = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        found = f"it cannot be read as numbers ({error})"
        raise InputError(describe("P-VALUE", "y", found, allowed=allowed)) from None
    wide = numbers.ndim == 2 and loss.n_outputs > 1
    if not len(np.atleast_1d(numbers)) or not (numbers.ndim == 1 or wide):
        found = f"shape {numbers.shape}, for {loss.n_outputs} output(s)"
        raise InputError(describe("P-VALUE", "y", found, allowed=allowed))
    return numbers


def _check_gradient(
    loss: Loss,
    y: Floats,
    raw: Floats,
    rows: npt.NDArray[np.intp],
    gradient: Floats,
    rtol: float,
) -> None:
    left, right, error = _slopes(loss, y, raw, rows, _of_values(loss, y))
    wrong = _outside(gradient, left, right, error, rtol)
    if wrong.any():
        place, rows_at_fault = _fault(wrong)
        found = (
            f"the gradient is wrong in {rows_at_fault}. {_at(place, y, raw)}: the gradient is "
            f"{gradient[place]:.6g}, but value changes by {_between(left, right, place)} for a "
            "unit of raw"
        )
        fix = "correct the gradient, or the value; a flipped sign and a lost factor are usual"
        raise InputError(
            describe("L-GRADIENT", method_name(loss, "gradient_hessian"), found, fix=fix)
        )


def _check_hessian(
    loss: Loss,
    y: Floats,
    raw: Floats,
    rows: npt.NDArray[np.intp],
    hessian: Floats,
    rtol: float,
) -> None:
    method = method_name(loss, "gradient_hessian")
    if loss.constant_hessian and (hessian != 1).any():
        place, _ = _fault(hessian != 1)
        found = f"constant_hessian is set, but {_at(place, y, raw)} has {hessian[place]:.6g}"
        raise InputError(describe("L-HESSIAN", method, found, allowed="1 for every row"))
    left, right, error = _slopes(loss, y, raw, rows, _of_gradients(loss, y))
    near, far, _ = _slopes(loss, y, raw, rows, _of_gradients(loss, y), NEAR * STEP)
    # A jump of the gradient at the score itself does not shrink with the step.
    jump = NEAR * np.abs(near + far) > 0.5 * np.abs(left + right) + 2 * error
    if loss.exact_hessian:
        wrong = _outside(hessian, left, right, error, rtol) & ~jump
        claim, fix = "is", "correct it, or set exact_hessian = False if it is an upper bound"
    else:
        least = np.minimum(left, right)
        wrong = (hessian < least - rtol * np.abs(least) - error) & ~jump
        claim, fix = "is no upper bound with", "raise it to one of the second derivative"
    if wrong.any():
        place, rows_at_fault = _fault(wrong)
        found = (
            f"the hessian is wrong in {rows_at_fault}. {_at(place, y, raw)}: the hessian {claim} "
            f"{hessian[place]:.6g}, but the gradient changes by {_between(left, right, place)} "
            "for a unit of raw"
        )
        raise InputError(describe("L-HESSIAN", method, found, fix=fix))


Asked = Callable[[Floats], Floats]  # from scores to what is differentiated, per row and output


def _of_values(loss: Loss, y: Floats) -> Asked:
    def ask(raw: Floats) -> Floats:
        values = checked_values(loss, y, raw)
        if not loss.separable:
            values = np.full(len(y), values.sum())
        return values if raw.ndim == 1 else np.repeat(values[:, None], raw.shape[1], axis=1)

    return ask


def _of_gradients(loss: Loss, y: Floats) -> Asked:
    return lambda raw: checked_gradients(loss, y, raw)[0]


def _slopes(
    loss: Loss,
    y: Floats,
    raw: Floats,
    rows: npt.NDArray[np.intp],
    ask: Asked,
    relative_step: float = STEP,
) -> Sides:
    """Differentiate along each score; scores that are not looked at get slopes of NaN."""
    step = relative_step * np.maximum(1.0, np.abs(raw))
    here = ask(raw)
    left, right, error = (np.full(raw.shape, np.nan) for _ in range(3))
    for moved in _movements(loss, raw, rows):
        up = np.where(moved, raw + step, raw)
        down = np.where(moved, raw - step, raw)
        above, below = ask(up), ask(down)
        # The steps as they came out in float64, not as they were meant.
        right[moved] = ((above - here)[moved]) / (up - raw)[moved]
        left[moved] = ((here - below)[moved]) / (raw - down)[moved]
        size = np.maximum(np.abs(here), np.maximum(np.abs(above), np.abs(below)))
        error[moved] = 10 * ROUNDING * (size / step)[moved]
    return left, right, error


def _movements(loss: Loss, raw: Floats, rows: npt.NDArray[np.intp]) -> Iterator[Bools]:
    """Yield masks of the scores that are moved together, so that no two share a value."""
    for output in range(loss.n_outputs):
        column = np.zeros(raw.shape, dtype=np.bool_)
        column.reshape(len(raw), -1)[:, output] = True
        if loss.separable:
            yield column
            continue
        for row in rows:
            alone = np.zeros(raw.shape, dtype=np.bool_)
            alone[row] = column[row]
            yield alone


def _outside(claim: Floats, left: Floats, right: Floats, error: Floats, rtol: float) -> Bools:
    low, high = np.minimum(left, right), np.maximum(left, right)
    slack = rtol * np.maximum(np.abs(claim), np.maximum(np.abs(low), np.abs(high))) + error
    return (claim < low - slack) | (claim > high + slack)


def _fault(wrong: Bools) -> tuple[tuple[int, ...], str]:
    places = np.argwhere(wrong)
    rows = np.unique(places[:, 0])
    return tuple(int(index) for index in places[0]), rows_text(rows, len(rows))


def _at(place: tuple[int, ...], y: Floats, raw: Floats) -> str:
    where = place_text(place)
    target = np.array2string(y[place[0]], formatter={"float": "{:.6g}".format})
    return f"{where[0].upper()}{where[1:]} (y = {target}, raw = {raw[place]:.6g})"


def _between(left: Floats, right: Floats, place: tuple[int, ...]) -> str:
    low, high = sorted((left[place], right[place]))
    if np.isclose(low, high, rtol=1e-3, atol=1e-8):
        return f"{(low + high) / 2:.6g}"
    return f"something from {low:.6g} to {high:.6g}"
