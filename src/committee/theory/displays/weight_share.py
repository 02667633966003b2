"""The noise alarm: how much weight boosting gives to its few heaviest rows.

Rows that no member gets right, such as those with wrong labels, gather weight round after round
(Freund and Schapire 1996; Dietterich 2000). Where a few rows hold much of it, the booster learns
them rather than the rule.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from committee.core.members import Floats
from committee.core.plot_style import CYCLE, INK, Axes, Figure, by_name, new_axes, tidy
from committee.data import InputError
from committee.data.errors import describe
from committee.theory.displays.boosters import (
    as_curve,
    label_ends,
    mark_end,
    read_models,
    scale_rounds,
    series_names,
    staged_row_weights,
)


class WeightShareDisplay:
    """The weight of the heaviest rows by round.

    Parameters
    ----------
    shares : array-like of shape (n_rounds,), or mapping of str to such
        The weight of the heaviest rows in each round, of one booster or of several.
    share : float, default=0.05
        Which share of the rows they are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    lines_ : list of matplotlib Line2D
        One for each booster.

    Examples
    --------
    >>> from committee import AdaBoostClassifier, WeightShareDisplay
    >>> X = [[8, 7], [6, 8], [7, 10], [1, 3], [2, 1], [3, 5], [5, 6], [4, 2], [10, 9], [9, 4]]
    >>> y = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> display = WeightShareDisplay.from_estimator(model, X, y, share=0.3)
    >>> display.shares["AdaBoostClassifier"].round(2)
    array([0.3, 0.5, 0.5, 0.5])

    Shares from elsewhere:

    >>> WeightShareDisplay([0.05, 0.11, 0.24]).final
    {'model': 0.24}
    """

    ax_: Axes
    figure_: Figure
    lines_: list[Any]

    def __init__(self, shares: Any, *, share: float = 0.05) -> None:
        self.share = _checked(share)
        self.shares: dict[str, Floats] = {
            name: as_curve(name, each, "shares") for name, each in by_name(shares, "model").items()
        }

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        share: float = 0.05,
        sample_weight: Any = None,
        log_rounds: bool = False,
        ax: Axes | None = None,
    ) -> Self:
        """Compute the weights of the training rows in each round and draw the share.

        Parameters
        ----------
        estimator : estimator or mapping of str to estimator
            Fitted boosters with ``staged_sample_weight``; one with a committee per class gives a
            curve per class.
        X, y, sample_weight
            What ``fit`` was given.
        share : float, default=0.05
            Which share of the rows to watch.
        log_rounds : bool, default=False
            Whether the axis of the rounds is logarithmic.
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.

        Returns
        -------
        WeightShareDisplay
            The display, drawn.
        """
        shares: dict[str, Floats] = {}
        models = read_models(estimator, "staged_sample_weight")
        for name, model in models.items():
            stages = np.array(
                [
                    [heaviest_share(d, share) for d in each]
                    for each in staged_row_weights(model, X, y, sample_weight)
                ]
            )
            titles = series_names(name, model, alone=len(models) == 1)
            shares |= dict(zip(titles, stages.T, strict=True))
        return cls(shares, share=share).plot(ax, log_rounds=log_rounds)

    @property
    def final(self) -> dict[str, float]:
        """The share in the last round."""
        return {name: float(each[-1]) for name, each in self.shares.items()}

    def plot(self, ax: Axes | None = None, *, log_rounds: bool = False) -> Self:
        """Draw the shares, with the last ones beside them.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.
        log_rounds : bool, default=False
            Whether the axis of the rounds is logarithmic.

        Returns
        -------
        WeightShareDisplay
            The display itself.
        """
        self.figure_, self.ax_ = new_axes(ax, (6.8, 3.6))
        ax, self.lines_ = self.ax_, []
        tidy(ax, "y")
        longest = max(len(each) for each in self.shares.values())
        highest = max(float(each.max()) for each in self.shares.values())
        ax.set_ylim(0, min(1.02, max(1.15 * highest, 2 * self.share)))
        ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
        scale_rounds(ax, longest, log=log_rounds)
        ax.axhline(self.share, color=INK, linewidth=1, linestyle=(0, (5, 2)))
        labels = [(f"if all weighed alike  {100 * self.share:.3g} %", self.share, INK)]
        width = 1.4 if longest <= 200 else 1.0
        for k, (name, each) in enumerate(self.shares.items()):
            colour = CYCLE[k % len(CYCLE)]
            rounds = np.arange(1, len(each) + 1)
            self.lines_ += ax.plot(rounds, each, color=colour, linewidth=width, label=name)
            mark_end(ax, each, longest, colour)
            labels.append((f"{name}  {100 * each[-1]:.3g} %", float(each[-1]), colour))
        label_ends(ax, labels)
        ax.set_ylabel(f"weight of the heaviest {100 * self.share:.3g} % of rows", fontsize=9)
        return self


def heaviest_share(weights: Any, share: float = 0.05) -> float:
    """Weigh the heaviest rows.

    Parameters
    ----------
    weights : array-like of shape (n_rows,)
        Weights >= 0 of the rows.
    share : float, default=0.05
        Which share of the rows; where it ends within a row, that part of the row counts, so that
        equal weights give ``share`` itself.

    Returns
    -------
    float
        Their part of the total weight.

    Examples
    --------
    >>> heaviest_share([0.1, 0.6, 0.1, 0.2], share=0.5)
    0.8
    >>> heaviest_share([1, 1, 1], share=0.5)
    0.5
    """
    w = np.asarray(weights, dtype=np.float64)
    if w.ndim != 1 or len(w) == 0 or not (w >= 0).all() or not 0 < w.sum() < np.inf:
        allowed = "weights >= 0 of rows, with a positive sum"
        found = f"of shape {w.shape}, or with other numbers"
        raise InputError(describe("P-VALUE", "weights", found, allowed=allowed))
    total = np.r_[0.0, np.cumsum(np.sort(w)[::-1])]
    reached = np.interp(_checked(share) * len(w), np.arange(len(w) + 1), total)
    return float(reached / total[-1])


def _checked(share: float) -> float:
    if not 0 < share < 1:
        allowed = "a number between 0 and 1"
        raise InputError(describe("P-VALUE", "share", repr(share), allowed=allowed))
    return float(share)
