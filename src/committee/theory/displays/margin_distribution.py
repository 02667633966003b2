"""Cumulative margins: why the test error falls on after the training error is 0.

Boosting goes on to widen the margins of rows that are classified already (Schapire, Freund,
Bartlett and Lee 1998); curves of later rounds lie further to the right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from committee.core.margins import normalised_margins, share_at_most
from committee.core.members import Floats
from committee.core.plot_style import BLUE, CYCLE, INK, Axes, Figure, by_name, new_axes, tidy
from committee.data import InputError
from committee.data.errors import describe
from committee.data.weights import read_weights
from committee.theory.displays.boosters import (
    class_codes,
    n_rounds_of,
    read_models,
    read_rounds,
    refuse_parts,
)

SHOWN = (5, 100, 1000)  # the rounds in the figures of Schapire et al.
COLOURS = (BLUE, CYCLE[1], CYCLE[2], CYCLE[3], CYCLE[4])  # from the last curve to the first
DASHES = ("-", (0, (5, 1.8)), (0, (1.2, 1.4)), (0, (5, 1.5, 1.2, 1.5)))


class MarginDistributionDisplay:
    """The share of rows whose margin is at most theta, for several sizes of a committee.

    Members have the weights of the end, as many as there are rounds to show.

    Parameters
    ----------
    margins : array-like of shape (n_rows,), or mapping of names to such
        Margins of the same rows, under what they are called; a whole number stands for that
        many rounds.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    lines_ : list of matplotlib Line2D
        One for each set of margins.

    Examples
    --------
    >>> from committee import AdaBoostClassifier, MarginDistributionDisplay, load_heart
    >>> X, y = load_heart(as_frame=True)
    >>> model = AdaBoostClassifier(n_estimators=100).fit(X, y)
    >>> display = MarginDistributionDisplay.from_estimator(model, X, y, rounds=(5, 100))
    >>> list(display.margins)
    ['5 rounds', '100 rounds']

    Margins of another kind:

    >>> display = MarginDistributionDisplay({1: [0.5, -0.5, 1.0, 1.0], 9: [0.5, 0.1, 0.2, 1.0]})
    >>> display.least
    {'1 round': -0.5, '9 rounds': 0.1}
    >>> display.share(0.5)
    {'1 round': 0.5, '9 rounds': 0.75}
    """

    ax_: Axes
    figure_: Figure
    lines_: list[Any]

    def __init__(self, margins: Any, *, sample_weight: Any = None) -> None:
        if isinstance(margins, Mapping):
            margins = {_called(name): each for name, each in margins.items()}
        self.margins: dict[str, Floats] = {
            name: np.asarray(each, dtype=np.float64)
            for name, each in by_name(margins, "committee").items()
        }
        shapes = {each.shape for each in self.margins.values()}
        if len(shapes) > 1 or any(len(s) != 1 or s[0] == 0 for s in shapes):
            found, allowed = f"of shape {sorted(shapes)}", "one margin for each row"
            raise InputError(describe("P-VALUE", "margins", found, allowed=allowed))
        n_rows = shapes.pop()[0]
        weight = read_weights(sample_weight, n_rows)
        weight = np.ones(n_rows) if weight is None else weight
        self.distribution: Floats = weight / weight.sum()

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        rounds: Any = None,
        sample_weight: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Compute the margins of rows after some rounds and draw their distributions.

        Parameters
        ----------
        estimator : estimator
            A fitted booster. One with a committee per class has margins per class: pass
            ``model.parts_[k]``, and ``(y == model.classes_[k]).astype(int)`` for y.
        X, y : array-like
            The training rows, or others.
        rounds : sequence of int, optional
            After which rounds; by default 5, 100 and 1000, as far as there are so many, and all.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.

        Returns
        -------
        MarginDistributionDisplay
            The display, drawn.
        """
        margins = staged_margins(estimator, X, y, rounds=rounds)
        return cls(margins, sample_weight=sample_weight).plot(ax)

    @property
    def least(self) -> dict[str, float]:
        """The least margin of each."""
        return {name: float(each.min()) for name, each in self.margins.items()}

    def share(self, theta: float) -> dict[str, float]:
        """Weigh the rows whose margin is at most theta.

        Parameters
        ----------
        theta : float
            Where to read the distributions.

        Returns
        -------
        dict of str to float
            Shares in [0, 1].
        """
        return {
            name: float(share_at_most(each, self.distribution, theta))
            for name, each in self.margins.items()
        }

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the distributions; a dot marks the least margin.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.

        Returns
        -------
        MarginDistributionDisplay
            The display itself.
        """
        self.figure_, self.ax_ = new_axes(ax, (6.8, 3.8))
        ax, self.lines_ = self.ax_, []
        reach = max(1.0, *(float(np.abs(each).max()) for each in self.margins.values()))
        ax.axvspan(-reach, 0, color=INK, alpha=0.05, lw=0)
        ax.text(-0.98 * reach, 1.0, "misclassified", va="top", fontsize=9, color=INK)
        last = len(self.margins) - 1
        for k, (name, each) in enumerate(self.margins.items()):
            order = np.argsort(each, kind="stable")
            steps = np.cumsum(self.distribution[order])
            x, height = np.r_[-reach, each[order], reach], np.r_[0.0, steps, 1.0]
            back = last - k
            colour = COLOURS[back % len(COLOURS)]
            look = {"color": colour, "linestyle": DASHES[back % len(DASHES)], "linewidth": 1.5}
            text = f"{name}: least margin {each.min():.2f}".replace("-", "−")
            self.lines_ += ax.step(x, height, where="post", label=text, clip_on=False, **look)
            ax.plot(each.min(), 0, "o", ms=5, color=colour, clip_on=False, zorder=3)
        tidy(ax, "both")
        ax.set_xlim(-reach, reach)
        ax.set_ylim(0, 1.02)
        ax.set_xlabel("margin", fontsize=9)
        ax.set_ylabel("share of rows with at most this margin", fontsize=9)
        ax.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(0, 0.6))
        return self


def staged_margins(model: Any, X: Any, y: Any, *, rounds: Any = None) -> dict[int, Floats]:
    """Compute the margins of rows after some rounds.

    Parameters
    ----------
    model : fitted booster
        With one committee.
    X, y : array-like
        The rows.
    rounds : sequence of int, optional
        After which rounds; by default 5, 100 and 1000, as far as there are so many, and all.

    Returns
    -------
    dict of int to ndarray of shape (n_rows,)
        Margins with the members' final weights, by round.
    """
    (model,) = read_models({"model": model}, "rounds_", numbers_lack="margins").values()
    refuse_parts(model, "margins")
    size, weights = n_rounds_of(model), model.committee_.weights
    each = len(weights) // size
    default = [*(t for t in SHOWN if t < size), size]
    chosen = set(read_rounds(default if rounds is None else rounds, size))
    if not chosen:
        raise InputError(describe("P-VALUE", "rounds", "there is nothing to show"))
    found: dict[int, Floats] = {}
    for stage, decision in enumerate(model._staged_decisions(X), start=1):
        t, within = divmod(stage, each)
        if within == 0 and t in chosen:
            codes = class_codes(model, y, len(decision))
            found[t] = normalised_margins(decision, codes, weights[:stage])
    return found


def _called(name: Any) -> str:
    if isinstance(name, (int, np.integer)):
        return f"{name} round" if name == 1 else f"{name} rounds"
    return str(name)
