"""The members of a booster round by round: the weight of each, and its error when it was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from committee.core.members import Floats
from committee.core.plot_style import CYCLE, INK, Axes, Figure, by_name, pyplot, tidy
from committee.theory.displays.boosters import (
    as_curve,
    check_same_length,
    given_axes,
    label_ends,
    read_models,
    scale_rounds,
    series_names,
)

FEW = 60  # up to here every member has a stem
HANDLE, LETTER = 0.75, 0.08  # inches of a legend
MARKERS = ("o", "s", "^", "D", "v")


@dataclass(frozen=True, eq=False)
class MemberNumbers:
    """What each member of a booster counts for.

    Attributes
    ----------
    weights : ndarray of shape (n_members,)
        The weights of the vote, for AdaBoost alpha.
    errors : ndarray of shape (n_members,) or None
        The weighted error of each member in its round.
    chance : float
        The error of a guess, which members must beat.
    """

    weights: Floats
    errors: Floats | None = None
    chance: float = 0.5


class MemberWeightsDisplay:
    """Weights and errors of members by round, one above the other.

    Parameters
    ----------
    members : MemberNumbers, or mapping of str to MemberNumbers
        The numbers of one booster, or of several under their names.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the weights were drawn.
    axes_ : list of matplotlib Axes
        That of the weights, and that of the errors where there are any.
    figure_ : matplotlib Figure
        The figure of ``ax_``.

    Examples
    --------
    >>> from committee import AdaBoostClassifier, MemberWeightsDisplay
    >>> X = [[8, 7], [6, 8], [7, 10], [1, 3], [2, 1], [3, 5], [5, 6], [4, 2], [10, 9], [9, 4]]
    >>> y = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> display = MemberWeightsDisplay.from_estimator(model)
    >>> display.members["AdaBoostClassifier"].weights.round(2)
    array([0.42, 0.65, 0.92])

    Numbers from elsewhere:

    >>> from committee.theory.displays.member_weights import MemberNumbers
    >>> display = MemberWeightsDisplay(MemberNumbers([0.42, 0.65, 0.92], [0.30, 0.21, 0.14]))
    >>> display.members["model"].errors
    array([0.3 , 0.21, 0.14])
    """

    ax_: Axes
    axes_: list[Axes]
    figure_: Figure

    def __init__(self, members: MemberNumbers | Mapping[str, MemberNumbers]) -> None:
        self.members: dict[str, MemberNumbers] = {}
        for name, each in by_name(members, "model").items():
            weights = as_curve("weights", each.weights, "members")
            errors = None if each.errors is None else as_curve("errors", each.errors, "members")
            check_same_length(name, {"weights": weights, "errors": errors}, "members")
            self.members[name] = MemberNumbers(weights, errors, each.chance)

    @classmethod
    def from_estimator(cls, estimator: Any, *, log_rounds: bool = False, ax: Any = None) -> Self:
        """Read the weights and errors of the members of fitted boosters and draw them.

        Parameters
        ----------
        estimator : estimator or mapping of str to estimator
            Fitted boosters; one with a committee per class gives a series per class.
        log_rounds : bool, default=False
            Whether the axis of the rounds is logarithmic.
        ax : pair of matplotlib Axes or None
            Where to draw weights and errors; a single one where no booster has errors. None
            makes a figure.

        Returns
        -------
        MemberWeightsDisplay
            The display, drawn.
        """
        members = {}
        models = read_models(estimator, "rounds_")
        for name, model in models.items():
            titles = series_names(name, model, alone=len(models) == 1)
            for title, part in zip(titles, getattr(model, "parts_", [model]), strict=True):
                members[title] = MemberNumbers(
                    part.committee_.weights, _errors(part), _chance(part)
                )
        return cls(members).plot(ax, log_rounds=log_rounds)

    def plot(self, ax: Any = None, *, log_rounds: bool = False) -> Self:
        """Draw weights and errors.

        Parameters
        ----------
        ax : pair of matplotlib Axes or None
            Where to draw weights and errors; a single one where there are no errors. None makes
            a figure.
        log_rounds : bool, default=False
            Whether the axis of the rounds is logarithmic.

        Returns
        -------
        MemberWeightsDisplay
            The display itself.
        """
        kinds: dict[str, list[Floats | None]] = {
            "weight": [m.weights for m in self.members.values()]
        }
        if any(m.errors is not None for m in self.members.values()):
            kinds["weighted error"] = [m.errors for m in self.members.values()]
        if ax is None:
            size = (6.8, 0.6 + 2.1 * len(kinds))
            _, ax = pyplot().subplots(
                len(kinds), 1, figsize=size, sharex=True, layout="constrained"
            )
        self.axes_ = given_axes(ax, len(kinds), " and ".join(kinds))
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.get_figure(root=True)
        longest = max(len(m.weights) for m in self.members.values())
        for ax, (kind, series) in zip(self.axes_, kinds.items(), strict=True):
            tidy(ax, "y")
            scale_rounds(ax, longest, log=log_rounds)
            if longest <= FEW and not log_rounds:
                ax.set_xlim(0.5, longest + 0.5)
            self._draw(ax, series, longest)
            ax.set_ylabel(kind, fontsize=9)
        for ax in self.axes_[:-1]:
            ax.set_xlabel("")
        if len(kinds) == 2:
            self._finish_errors(self.axes_[1])
        if len(self.members) > 1:
            self._legend(longest)
        return self

    def _legend(self, longest: int) -> None:
        """Name the series above the axes, in as many columns as there is room for."""
        inches = self.ax_.get_window_extent().width / self.figure_.dpi
        widest = HANDLE + LETTER * max(len(name) for name in self.members)
        self.ax_.legend(
            frameon=False,
            fontsize=9,
            ncols=max(1, min(len(self.members), int(inches / widest))),
            loc="lower left",
            bbox_to_anchor=(0, 1),
            borderaxespad=0.2,
            markerscale=1.0 if longest <= FEW else 2.5,
        )

    def _draw(self, ax: Axes, series: list[Any], longest: int) -> None:
        few = longest <= FEW
        for k, (name, numbers) in enumerate(zip(self.members, series, strict=True)):
            if numbers is None:
                continue
            colour, rounds = CYCLE[k % len(CYCLE)], np.arange(1, len(numbers) + 1)
            mark = MARKERS[k % len(MARKERS)]
            if few and len(self.members) == 1:
                ax.vlines(rounds, 0, numbers, color=colour, linewidth=1.2)
            look = {"marker": mark, "ms": 4 if few else 2, "color": colour, "label": name}
            ax.plot(rounds, numbers, ls="none", clip_on=False, **look)
        ax.set_ylim(min(0.0, ax.get_ylim()[0]) if _negative(series) else 0.0, None)

    def _finish_errors(self, ax: Axes) -> None:
        chances = {m.chance for m in self.members.values()}
        ax.set_ylim(0, max(1.1 * max(chances), ax.get_ylim()[1]))
        for chance in chances:
            ax.axhline(chance, color=INK, linewidth=1, linestyle=(0, (5, 2)))
        label_ends(ax, [("chance", chance, INK) for chance in chances])


def _errors(model: Any) -> Floats | None:
    """Read the errors of the members, or, of votes that may abstain, half of 1 less the edge."""
    rounds = model.rounds_
    errors = rounds.get("error")
    if errors is None and "edge" in rounds:
        errors = (1 - np.asarray(rounds["edge"])) / 2
    return errors if errors is not None and len(errors) == len(model.committee_) else None


def _chance(model: Any) -> float:
    """Give the error of a guess: among all classes only for SAMME."""
    among = len(model.classes_) if getattr(model, "algorithm", "") == "samme" else 2
    return 1 - 1 / max(among, 2)


def _negative(series: list[Any]) -> bool:
    return any(bool((each < 0).any()) for each in series if each is not None)
