"""What questions are worth: the error by the number of labels, beside that of random rows.

Active learning pays on some tasks and not on others, so that a curve of questions alone says
little: the same committee, taught as many random rows, is always drawn with it (Abe and Mamitsuka
1998, Melville and Mooney 2004 plot the same). Bands are the intervals of the curve, over repeats or
over test rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from committee.active.curve import RANDOM, Gain, QueryCurve
from committee.active.loop import ActiveLoop
from committee.core.plot_style import BLUE, CYCLE, INK, Axes, Figure, by_name, pyplot, tidy
from committee.data import InputError
from committee.data.errors import class_name, describe
from committee.theory.displays.boosters import label_ends, panels

GREY = "#777777"


class QueryCurveDisplay:
    """Error by the number of labels, of questions and of random rows, one panel for each task.

    Parameters
    ----------
    curves : QueryCurve, ActiveLoop, or mapping of str to these
        What :func:`simulate_queries` returned or a loop has measured, or several under their names.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the first curve was drawn.
    axes_ : list of matplotlib Axes
        One for each curve.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    lines_, bands_ : dict of str to dict of str to matplotlib artist
        By curve and strategy.

    Examples
    --------
    >>> from committee import QueryByBagging, QueryCurveDisplay, load_heart, simulate_queries
    >>> X, y = load_heart(as_frame=True)
    >>> curve = simulate_queries(
    ...     QueryByBagging(n_estimators=5), X, y, n_rounds=4, n_repeats=2, random_state=0
    ... )
    >>> display = QueryCurveDisplay(curve).plot()
    >>> sorted(display.lines_["QueryCurve"])
    ['queries', 'random']
    """

    ax_: Axes
    axes_: list[Axes]
    figure_: Figure
    lines_: dict[str, dict[str, Any]]
    bands_: dict[str, dict[str, Any]]

    def __init__(self, curves: Any | Mapping[str, Any]) -> None:
        self.curves: dict[str, QueryCurve] = {}
        for name, given in by_name(curves, "QueryCurve").items():
            curve = given.curve() if isinstance(given, ActiveLoop) else given
            if not isinstance(curve, QueryCurve):
                found = f"{name!r} is {class_name(given)}"
                allowed = "QueryCurve or ActiveLoop"
                raise InputError(describe("P-VALUE", "curves", found, allowed=allowed))
            self.curves[name] = curve

    @property
    def gains(self) -> dict[str, Gain | None]:
        """How much smaller the area of the first strategy is than that of random rows."""
        return {name: _gain(curve) for name, curve in self.curves.items()}

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves with their bands, and say what the questions gained.

        Parameters
        ----------
        ax : matplotlib Axes, or a sequence of as many as there are curves, or None
            Where to draw; None makes a figure.

        Returns
        -------
        QueryCurveDisplay
            The display itself.
        """
        several = len(self.curves) > 1
        size = (4.6, 3.3) if several else (6.6, 3.9)
        self.axes_ = (
            _axes(len(self.curves), size)
            if ax is None
            else panels(ax, len(self.curves), size, abreast=3)
        )
        self.ax_, self.lines_, self.bands_ = self.axes_[0], {}, {}
        self.figure_ = self.ax_.get_figure(root=True)
        for ax, (name, curve) in zip(self.axes_, self.curves.items(), strict=True):
            tidy(ax, "y")
            self._panel(ax, name, curve)
            ax.set_xlabel("labels", fontsize=9)
            if ax.get_subplotspec() is None or ax.get_subplotspec().is_first_col():
                ax.set_ylabel("share of test rows misclassified", fontsize=9)
            self._title(ax, name if several else "", curve)
        return self

    def _panel(self, ax: Axes, name: str, curve: QueryCurve) -> None:
        lines, bands, ends, top = {}, {}, [], 0.0
        others = [key for key in curve.errors if key != RANDOM]
        colours = dict(zip(others, (BLUE, *CYCLE[1:]), strict=False)) | {RANDOM: GREY}
        for key in sorted(curve.errors, key=lambda key: key != RANDOM):  # questions on top
            mean, (low, high) = curve.mean(key), curve.interval(key)
            colour = colours[key]
            bands[key] = ax.fill_between(
                curve.n_labels, low, high, color=colour, alpha=0.14, linewidth=0
            )
            for edge in (low, high):  # bands lie over each other: their edges tell them apart
                ax.plot(curve.n_labels, edge, color=colour, linewidth=0.6, alpha=0.55)
            style = {"linestyle": (0, (5, 2))} if key == RANDOM else {}
            (lines[key],) = ax.plot(
                curve.n_labels, mean, color=colour, linewidth=1.5, label=key, **style
            )
            ends.append((f"{key}  {mean[-1]:.3f}", float(mean[-1]), colour))
            top = max(top, float(high.max()))
        first, last = (int(n) for n in curve.n_labels[[0, -1]])
        ax.set_xlim(first, max(last, first + 1))
        ax.set_ylim(0, min(1.0, 1.04 * top) if top > 0 else 1.0)
        label_ends(ax, ends)
        self.lines_[name], self.bands_[name] = lines, bands

    def _title(self, ax: Axes, name: str, curve: QueryCurve) -> None:
        """Name the panel, and say what questions gained and where the bands come from."""
        gain = _gain(curve)
        percent = round(100 * curve.confidence)
        said = f"bands: {percent} % over {curve.n_test} test rows"
        if curve.n_repeats > 1:
            said = f"bands: {percent} % of the mean of {curve.n_repeats} runs"
        if gain is not None:
            area = f"{gain.mean:+.4f}"
            if gain.n_repeats > 1:
                area += f" [{gain.low:+.4f}, {gain.high:+.4f}]"
            said = f"error saved, mean over labels: {area}\n{said}"
        ax.set_title(said, fontsize=8, loc="left", color=INK, pad=6)
        if name:
            lines = said.count("\n") + 1
            ax.annotate(
                name,
                (0, 1),
                xytext=(0, 8 + 10.5 * lines),
                xycoords="axes fraction",
                textcoords="offset points",
                fontsize=10,
                fontweight="bold",
                color=INK,
                annotation_clip=False,
            )


def _axes(n_panels: int, size: tuple[float, float]) -> list[Axes]:
    """Make a panel for each task, on a scale of its own: errors of tasks differ much."""
    abreast = 2 if n_panels in (2, 4) else min(3, n_panels)
    lines = -(-n_panels // abreast)
    _, made = pyplot().subplots(
        lines,
        abreast,
        figsize=(size[0] * abreast, size[1] * lines),
        layout="constrained",
        squeeze=False,
    )
    every = list(made.ravel())
    for spare in every[n_panels:]:
        spare.remove()
    return every[:n_panels]


def _gain(curve: QueryCurve) -> Gain | None:
    others = [key for key in curve.errors if key != RANDOM]
    return curve.gain(others[0]) if RANDOM in curve.errors and others else None
