"""What a loss answers, looked at before it is used: shape, numbers, no NaN, no negative hessian.

Stock losses need none of this. A loss of the user's is asked through these functions, so that a
slip is reported with the name of the function, the shape and the round, not by a tree that makes
no sense.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from committee.core.members import Floats
from committee.data import InputError
from committee.data.errors import class_name, describe, rows_text

if TYPE_CHECKING:
    from committee.losses.loss import Loss


def checked_values(
    loss: Loss, y: Floats, raw: Floats, *, round_number: int | None = None
) -> Floats:
    """Ask for the loss of each row, and refuse what is none.

    Parameters
    ----------
    loss : Loss
        Asked.
    y, raw : ndarray
        Handed on.
    round_number : int, optional
        Named in the message.

    Returns
    -------
    ndarray of float64, shape (n,)
        The values, finite.
    """
    answer = loss.value(y, raw)
    return _numbers(answer, (len(y),), method_name(loss, "value"), "the result", round_number)


def checked_gradients(
    loss: Loss, y: Floats, raw: Floats, *, round_number: int | None = None
) -> tuple[Floats, Floats]:
    """Ask for gradient and hessian, and refuse what is neither.

    Parameters
    ----------
    loss : Loss
        Asked.
    y, raw : ndarray
        Handed on.
    round_number : int, optional
        Named in the message.

    Returns
    -------
    gradient, hessian : ndarray of float64, shaped like ``raw``
        Finite, and the hessian not negative.
    """
    method = method_name(loss, "gradient_hessian")
    answer = loss.gradient_hessian(y, raw)
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        many = f" of length {len(answer)}" if isinstance(answer, (tuple, list)) else ""
        found = f"the result is a {class_name(answer)}{many}{_when(round_number)}"
        allowed = "two arrays, gradient and hessian"
        raise InputError(describe("L-SHAPE", method, found, allowed=allowed))
    gradient = _numbers(answer[0], raw.shape, method, "the gradient", round_number)
    hessian = _numbers(answer[1], raw.shape, method, "the hessian", round_number)
    if (hessian < 0).any():
        place = tuple(int(index) for index in np.argwhere(hessian < 0)[0])
        found = (
            f"the hessian is negative{_when(round_number)}: "
            f"{place_text(place)} has {hessian[place]:.6g}"
        )
        fix = "return an upper bound of the second derivative, and set exact_hessian = False"
        raise InputError(describe("L-HESSIAN", method, found, allowed="numbers >= 0", fix=fix))
    return gradient, hessian


def checked_start(loss: Loss, y: Floats, weight: Floats) -> Floats:
    """Ask for the best constant scores: finite, of shape (n_outputs,)."""
    method = method_name(loss, "start")
    return _numbers(loss.start(y, weight), (loss.n_outputs,), method, "the result", None)


def checked_constant(
    loss: Loss,
    residual: Floats,
    weight: Floats,
    output: int = 0,
    *,
    round_number: int | None = None,
) -> float:
    """Ask for the best constant of a leaf: a finite number."""
    if loss.n_outputs == 1:  # a loss of the user's with one output need not know of others
        answer = loss.best_constant(residual, weight)
    else:
        answer = loss.best_constant(residual, weight, output)
    method = method_name(loss, "best_constant")
    return float(_numbers(answer, (), method, "the result", round_number))


def checked_predictions(loss: Loss, raw: Floats, n_classes: int | None = None) -> Floats:
    """Ask for predictions; a loss of the user's must have one for each row, or shares of classes.

    Stock losses are known to, and are not looked at: this is asked for single rows, too.
    """
    scores = raw[:, 0] if raw.shape[1] == 1 else raw
    answer = loss.predict(scores)
    if is_stock(loss):
        return answer
    method = method_name(loss, "predict")
    wanted: tuple[int, ...] = np.shape(answer)
    if n_classes is not None:
        wanted = (len(raw), n_classes)
    elif wanted[:1] != (len(raw),):
        wanted = scores.shape
    return _numbers(answer, wanted, method, "the result", None)


def is_stock(loss: object) -> bool:
    """Tell whether a loss is one of ours, and no subclass of a user's."""
    return type(loss).__module__.startswith("committee.losses.")


def method_name(loss: object, method: str) -> str:
    """Name a function of a loss as its author knows it: ``MyLoss.value``."""
    return f"{type(loss).__name__}.{method}"


def place_text(place: tuple[int, ...]) -> str:
    """Name a score: ``row 3``, or ``row 3, output 1``."""
    return f"row {place[0]}" + (f", output {place[1]}" if len(place) > 1 else "")


def _numbers(
    answer: Any, shape: tuple[int, ...], method: str, what: str, round_number: int | None
) -> Floats:
    try:
        numbers = np.asarray(answer)
        if numbers.dtype.kind not in "biuf":
            raise TypeError(f"dtype {numbers.dtype}")
    except (TypeError, ValueError) as error:
        found = f"{what} cannot be read as real numbers ({error}){_when(round_number)}"
        allowed = f"float64, shape {shape}"
        raise InputError(describe("L-SHAPE", method, found, allowed=allowed)) from None
    if numbers.shape != shape:
        found = f"{what} has shape {numbers.shape}, expected {shape}{_when(round_number)}"
        allowed = f"shape {shape}"
        raise InputError(describe("L-SHAPE", method, found, allowed=allowed))
    numbers = numbers.astype(np.float64, copy=False)
    bad = ~np.isfinite(numbers)
    if bad.any():
        rows = np.unique(np.nonzero(np.atleast_1d(bad))[0])
        where = f" in {rows_text(rows, len(rows))}" if shape else ""
        first = numbers[bad].flat[0]
        found = f"{what} holds {first}{where}, shape {shape}{_when(round_number)}"
        fix = "keep logarithms, exponentials and divisions in range, as with np.logaddexp"
        raise InputError(describe("L-FINITE", method, found, allowed="finite numbers", fix=fix))
    return numbers


def _when(round_number: int | None) -> str:
    return "" if round_number is None else f", in round {round_number}"
