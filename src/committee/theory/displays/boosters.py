"""What the displays of boosters share: questions to a model, and names beside the ends of lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from committee.core.members import Floats
from committee.core.plot_style import Axes, by_name, pyplot, spread_labels, whole_rounds
from committee.data import InputError, read_classes
from committee.data.errors import describe, listing

Codes = npt.NDArray[np.intp]

LINE = 0.19  # inches from one line of labels to the next


def read_models(estimator: Any, asked: str, *, numbers_lack: str = "") -> dict[str, Any]:
    """Read one fitted model, or several under their names.

    Parameters
    ----------
    estimator : estimator or mapping of str to estimator
        The models.
    asked : str
        The method or attribute that they must have.
    numbers_lack : str, optional
        What is shown, where it is of classes alone, so that regressors are refused.
    """
    models = by_name(estimator, type(estimator).__name__)
    for model in models.values():
        check_is_fitted(model)
        name = type(model).__name__
        if numbers_lack and is_regressor(model):
            found = f"{name} predicts numbers, which have no {numbers_lack}"
            raise InputError(describe("P-VALUE", "estimator", found, allowed="classifiers"))
        if not hasattr(model, asked) and not is_in_parts(model):
            found, allowed = f"{name} has no {asked}", f"a booster with {asked}"
            raise InputError(describe("P-VALUE", "estimator", found, allowed=allowed))
    return models


def is_in_parts(model: Any) -> bool:
    """Say whether a model has one committee per class."""
    return hasattr(model, "parts_")


def refuse_parts(model: Any, what: str) -> None:
    """Say what to pass instead of a model that has one committee per class."""
    if is_in_parts(model):
        found = f"{type(model).__name__} has one committee per class, and so {what} per class"
        fix = "pass model.parts_[k], with (y == model.classes_[k]).astype(int) for y"
        raise InputError(describe("P-VALUE", "estimator", found, fix=fix))


def series_names(name: str, model: Any, *, alone: bool) -> list[str]:
    """Name the committees of a model: itself, or one for each class.

    Parameters
    ----------
    name : str
        What the model is called.
    model : fitted booster
        The model.
    alone : bool
        Whether it is the only one, so that its name need not be said.
    """
    if not is_in_parts(model):
        return [name]
    begin = "" if alone else f"{name}: "
    return [f"{begin}{label} against the rest" for label in model.classes_.tolist()]


def staged_row_weights(model: Any, X: Any, y: Any, sample_weight: Any) -> list[Floats]:
    """Weigh the training rows in each round, for each committee: [committee, row].

    Where pairs of row and label have weights, as in AdaBoost.MH, a row has the sum of its own.
    """
    stages = [np.asarray(d) for d in model.staged_sample_weight(X, y, sample_weight)]
    if is_in_parts(model):
        return stages
    return [(d.sum(axis=1) if d.ndim == 2 else d)[None, :] for d in stages]


def one_label_a_row(model: Any, y: Any) -> npt.NDArray[Any]:
    """Refuse a table of labels, as a booster of several labels a row takes."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        found = f"of shape {labels.shape}: {type(model).__name__} is shown with one label a row"
        raise InputError(describe("Y-SHAPE", "y", found, allowed="shape (n_rows,)"))
    return labels


def class_codes(model: Any, y: Any, n_rows: int) -> Codes:
    """Say which class of the model each row has.

    Parameters
    ----------
    model : fitted classifier
        With ``classes_``.
    y : array-like of shape (n_rows,)
        Labels.
    n_rows : int
        How many there should be.
    """
    one_label_a_row(model, y)
    read = read_classes(y, n_rows, estimator_name=type(model).__name__)
    places = {label: code for code, label in enumerate(model.classes_.tolist())}
    labels = read.classes[0].tolist()
    unknown = [label for label in labels if label not in places]
    if unknown:
        known = listing([repr(label) for label in model.classes_.tolist()])
        found = f"{unknown[0]!r} is none of the classes of the fit, {known}"
        raise InputError(describe("M-CLASSES", "y", found))
    return np.array([places[label] for label in labels], dtype=np.intp)[read.codes[:, 0]]


def read_rounds(rounds: Any, n_rounds: int) -> list[int]:
    """Read which rounds to show; they count from 1."""
    chosen = np.atleast_1d(np.asarray(rounds))
    whole = chosen.size == 0 or np.issubdtype(chosen.dtype, np.integer)
    if not whole or chosen.ndim != 1 or ((chosen < 1) | (chosen > n_rounds)).any():
        allowed = f"whole numbers from 1 to {n_rounds}, the number of rounds"
        raise InputError(describe("P-VALUE", "rounds", repr(rounds), allowed=allowed))
    return sorted({int(t) for t in chosen})


def n_rounds_of(model: Any) -> int:
    """Count the rounds of a committee; a round of LogitBoost can have several members."""
    rounds = getattr(model, "rounds_", {})
    return len(next(iter(rounds.values()), ())) or len(model.committee_)


def as_curve(name: str, numbers: Any, argument: str) -> Floats:
    """Read a number for each round."""
    curve = np.asarray(numbers, dtype=np.float64)
    if curve.ndim != 1 or len(curve) == 0:
        found = f"{name!r} has shape {curve.shape}"
        allowed = "one number for each round"
        raise InputError(describe("P-VALUE", argument, found, allowed=allowed))
    return curve


def panels(ax: Any, n_panels: int, size: tuple[float, float], *, abreast: int) -> list[Axes]:
    """Take the given axes, or make as many, some abreast, all on one scale.

    Parameters
    ----------
    ax : matplotlib Axes, or a sequence of them, or None
        What the user gave.
    n_panels : int
        How many are needed.
    size : tuple of float
        Width and height of a panel in inches.
    abreast : int
        The most in a row.
    """
    if ax is None:
        lines = -(-n_panels // abreast)
        columns = -(-n_panels // lines)
        _, made = pyplot().subplots(
            lines,
            columns,
            figsize=(size[0] * columns, size[1] * lines),
            sharex=True,
            sharey=True,
            layout="constrained",
            squeeze=False,
        )
        every = list(made.ravel())
        for spare in every[n_panels:]:
            spare.remove()
        for own in every[:n_panels]:
            own.xaxis.set_tick_params(labelbottom=True)  # numbers beside every name of an axis
        return every[:n_panels]
    return given_axes(ax, n_panels, f"{n_panels} panel(s)")


def given_axes(ax: Any, needed: int, what: str) -> list[Axes]:
    """Read the axes that the user gave, and refuse too few or too many."""
    given = list(np.atleast_1d(np.asarray(ax, dtype=object)).ravel())
    if len(given) != needed:
        raise InputError(describe("P-VALUE", "ax", f"{len(given)} axes for {what}"))
    return given


def label_ends(ax: Axes, labels: Sequence[tuple[str, float, str]]) -> None:
    """Write names right of the axes at the heights where lines end, where a legend would be far.

    Parameters
    ----------
    ax : matplotlib Axes
        With its final limits.
    labels : sequence of (text, height, colour)
        What to write.
    """
    low, high = ax.get_ylim()
    # A layout that is yet to come takes a little of the height.
    inches = 0.9 * ax.get_window_extent().height / ax.get_figure(root=True).dpi
    gap = LINE / max(inches, 0.5) * (high - low)
    places = _above(low, spread_labels([height for _, height, _ in labels], gap), gap)
    for (text, _, colour), place in zip(labels, places, strict=True):
        ax.annotate(
            text,
            (1.0, place),
            xycoords=ax.get_yaxis_transform(),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=colour,
            annotation_clip=False,
        )


def _above(low: float, places: Floats, gap: float) -> Floats:
    """Push up what lies below the axes, where the numbers of the rounds are."""
    out, floor = places.copy(), low
    for k in np.argsort(places, kind="stable"):
        out[k] = max(out[k], floor)
        floor = out[k] + gap
    return out


def scale_rounds(ax: Axes, n_rounds: int, *, log: bool) -> None:
    """Lay out the axis of the rounds."""
    if log:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.set_xlim(1, max(n_rounds, 2))
    else:
        ax.set_xlim(0 if n_rounds > 10 else 0.7, n_rounds * 1.005 if n_rounds > 10 else n_rounds)
        whole_rounds(ax)
    ax.set_xlabel("round", fontsize=9)


def mark_end(ax: Axes, curve: Floats, longest: int, colour: str) -> None:
    """Put a dot where a booster ended before others, and lead on to its name, faintly."""
    if len(curve) < longest and np.isfinite(curve[-1]):
        ax.plot(len(curve), curve[-1], "o", ms=4, color=colour)
        look = {"color": colour, "lw": 0.9, "ls": (0, (1, 3))}
        ax.plot([len(curve), longest], [curve[-1]] * 2, **look)


def last_known(curve: Floats) -> float:
    """Give the last number that is known, NaN where none is."""
    known = curve[np.isfinite(curve)]
    return float(known[-1]) if len(known) else float("nan")


def check_same_length(name: str, curves: Mapping[str, Floats | None], argument: str) -> None:
    """Refuse curves of one model that are about different numbers of rounds."""
    lengths = {len(curve) for curve in curves.values() if curve is not None}
    if len(lengths) > 1:
        found = f"the curves of {name!r} have {sorted(lengths)} rounds"
        raise InputError(describe("P-VALUE", argument, found, allowed="one length"))
