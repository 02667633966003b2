"""The out-of-bag curve: how good the first 1, 2, .. members are on rows that they left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor

from committee.core.plot_style import (
    CYCLE,
    Axes,
    Figure,
    by_name,
    new_axes,
    spread_labels,
    tidy,
)
from committee.data import InputError
from committee.data.errors import describe

DASHES = ("-", "--", "-.", ":")
BEGINNING = 0.03  # share of the members whose scores, still low, do not set the limits


class OutOfBagCurveDisplay:
    """Out-of-bag scores over the number of members, of one committee or several.

    Parameters
    ----------
    curves : array-like of shape (n_members,) or mapping of str to such
        Scores after 1, 2, .. members; NaN where there is none yet.
    score_name : str, default="out-of-bag score"
        What the scores are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    lines_ : list of matplotlib Line2D
        One for each committee.

    Examples
    --------
    >>> display = OutOfBagCurveDisplay({"a": [0.7, 0.8, 0.82], "b": [0.6, 0.8, 0.85]})
    >>> display.final
    {'a': 0.82, 'b': 0.85}
    """

    ax_: Axes
    figure_: Figure
    lines_: list[Any]

    def __init__(self, curves: Any, *, score_name: str = "out-of-bag score") -> None:
        self.curves: dict[str, npt.NDArray[np.float64]] = {}
        for name, curve in by_name(curves, "committee").items():
            scores = np.asarray(curve, dtype=np.float64)
            if scores.ndim != 1 or len(scores) == 0:
                found = f"{name!r} has shape {scores.shape}"
                allowed = "one score for each number of members"
                raise InputError(describe("P-VALUE", "curves", found, allowed=allowed))
            self.curves[name] = scores
        self.score_name = score_name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Compute the curves of fitted committees on their training rows and draw them.

        Parameters
        ----------
        estimator : estimator or mapping of str to estimator
            Fitted committees with ``oob_curve``.
        X, y, sample_weight, groups
            As given to ``fit`` of all of them.
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.

        Returns
        -------
        OutOfBagCurveDisplay
            The display, drawn.
        """
        models = by_name(estimator, type(estimator).__name__)
        curves = {
            name: model.oob_curve(X, y, sample_weight=sample_weight, groups=groups)
            for name, model in models.items()
        }
        first = next(iter(models.values()))
        own = callable(getattr(first, "oob_score", None))
        score = "score" if own else "R²" if is_regressor(first) else "accuracy"
        return cls(curves, score_name=f"out-of-bag {score}").plot(ax)

    @property
    def final(self) -> Mapping[str, float]:
        """The score of all members of each committee."""
        return {name: float(curve[-1]) for name, curve in self.curves.items()}

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the curves, with the score of all members at their ends.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.

        Returns
        -------
        OutOfBagCurveDisplay
            The display itself.
        """
        self.figure_, ax = new_axes(ax, (6.8, 3.6))
        self.ax_, self.lines_ = ax, []
        longest = max(len(curve) for curve in self.curves.values())
        low, high = self._limits()
        for k, (name, curve) in enumerate(self.curves.items()):
            colour, dash = CYCLE[k % len(CYCLE)], DASHES[k // len(CYCLE) % len(DASHES)]
            members = np.arange(1, len(curve) + 1)
            self.lines_ += ax.plot(members, curve, dash, color=colour, linewidth=1.4, label=name)
            ax.plot(members[-1:], curve[-1:], "o", color=colour, ms=5, clip_on=False, zorder=3)
        self._label_ends(ax, longest, high - low)
        tidy(ax, "y")
        ax.set_ylim(low, high)
        ax.set_xlim(0 if longest > 10 else 0.5, longest * 1.005)
        ax.locator_params(axis="x", integer=True)
        ax.set_xlabel("members", fontsize=9)
        ax.set_ylabel(self.score_name, fontsize=9)
        return self

    def _limits(self) -> tuple[float, float]:
        seen = [curve[int(BEGINNING * len(curve)) :] for curve in self.curves.values()]
        scores = np.concatenate(seen)
        scores = scores[np.isfinite(scores)]
        if len(scores) == 0:
            return 0.0, 1.0
        low, high = float(scores.min()), float(scores.max())
        room = 0.08 * (high - low) or 0.01
        return low - room, high + room

    def _label_ends(self, ax: Axes, longest: int, height: float) -> None:
        """Write name and score beside the end of each curve, where a legend would be far."""
        final = np.array(list(self.final.values()))
        known = np.isfinite(final)
        labels = np.where(known, final, np.nanmin(final) if known.any() else 0.0)
        inches = self.figure_.get_size_inches()[1] * ax.get_position().height
        gap = 0.19 / max(inches, 0.5) * height
        places = spread_labels(labels, gap)
        sizes = {name: f" ({len(curve)})" for name, curve in self.curves.items()}
        if len(set(sizes.values())) == 1:
            sizes = dict.fromkeys(sizes, "")
        for line, name, score, place in zip(self.lines_, self.curves, final, places, strict=True):
            ax.annotate(
                f"{name}{sizes[name]}  {score:.4f}",
                (longest, score if np.isfinite(score) else place),
                xytext=(1.02, place),
                textcoords=ax.get_yaxis_transform(),
                va="center",
                fontsize=9,
                color=line.get_color(),
                annotation_clip=False,
            )
