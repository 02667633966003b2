"""Decision regions of a booster of two features: each round's member on its weighted rows.

The picture by which AdaBoost is taught: the rows as large as their weights in the round, the split
that the member makes of them, rings around what it gets wrong, and last the vote of all members.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from committee.core.members import Floats
from committee.core.plot_style import BLUE, CYCLE, INK, Axes, Figure
from committee.data import InputError
from committee.data.errors import describe
from committee.theory.displays.boosters import (
    Codes,
    class_codes,
    is_in_parts,
    n_rounds_of,
    panels,
    read_models,
    read_rounds,
)
from committee.theory.displays.region_panels import (
    GridQuestions,
    RegionsPanel,
    ticks_over,
    two_columns,
)

FEW_ROUNDS = 5  # so many are shown unless others are asked for
COLOURS = (CYCLE[1], BLUE, CYCLE[3], CYCLE[4], CYCLE[2], CYCLE[6])
SHAPES = ("o", "^", "s", "D", "v", "P")
TINT = 0.24
MEAN_AREA = 150.0  # of a row of mean weight, in square points, where rows are few
SMALLEST_AREA = 3.0  # below and above these, marks cannot be seen, or hide each other
LARGEST_AREA = {True: 900.0, False: 110.0}  # where rows are few, or many
FEW_ROWS = 20


class DecisionRegionsDisplay:
    """Decision regions for two features: some rounds, and the vote of all members.

    Marks have areas in proportion to the weights of the rows in a round, within what can be seen.
    Up to 40 rows of two classes are drawn as plus and minus, the misclassified ones in a ring; more
    rows, or more classes, as filled shapes, the misclassified ones with a dark edge.

    Parameters
    ----------
    panels : sequence of RegionsPanel
        What to draw, from left to right.
    grid : pair of ndarray
        The values of both features at which the regions are known.
    rows : array-like of shape (n_rows, 2)
        The rows.
    codes : array-like of int of shape (n_rows,)
        The class of each row.
    classes : sequence
        The names of the classes.
    feature_names : pair of str, optional
        What is written at the axes.
    whole : bool, default=False
        Whether the last panel is the vote of just the members in the others, whose borders are
        drawn in it then.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the first panel was drawn.
    axes_ : list of matplotlib Axes
        One for each panel.
    figure_ : matplotlib Figure
        The figure of ``ax_``.

    Examples
    --------
    >>> from committee import AdaBoostClassifier, DecisionRegionsDisplay
    >>> X = [[8, 7], [6, 8], [7, 10], [1, 3], [2, 1], [3, 5], [5, 6], [4, 2], [10, 9], [9, 4]]
    >>> y = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> display = DecisionRegionsDisplay.from_estimator(model, X, y)
    >>> [panel.title for panel in display.panels][-2:]
    ['round 3: error 0.14, weight 0.92', 'vote of 3 members: error 0.00']

    Regions from elsewhere:

    >>> from committee.theory.displays.region_panels import RegionsPanel
    >>> panel = RegionsPanel("x <= 1/2", np.array([[0, 1], [0, 1]]), None, np.array([False, True]))
    >>> display = DecisionRegionsDisplay(
    ...     [panel], grid=([0, 1], [0, 1]), rows=[[0, 0], [1, 1]], codes=[0, 0], classes=["a", "b"]
    ... )
    >>> display.panels[0].title
    'x <= 1/2'
    """

    ax_: Axes
    axes_: list[Axes]
    figure_: Figure

    def __init__(
        self,
        panels: Sequence[RegionsPanel],
        *,
        grid: tuple[Any, Any],
        rows: Any,
        codes: Any,
        classes: Any,
        feature_names: Sequence[str] = ("feature 0", "feature 1"),
        whole: bool = False,
    ) -> None:
        self.panels = list(panels)
        self.grid = (np.asarray(grid[0], np.float64), np.asarray(grid[1], np.float64))
        self.rows = two_columns(rows)
        self.codes: Codes = np.asarray(codes, dtype=np.intp)
        self.classes = list(classes)
        self.feature_names = tuple(feature_names)
        self.whole = whole
        shape, n_rows = (len(self.grid[1]), len(self.grid[0])), len(self.rows)
        if not self.panels:
            raise InputError(describe("P-VALUE", "panels", "there is nothing to show"))
        for panel in self.panels:
            weights = n_rows if panel.weights is None else len(panel.weights)
            found = (panel.regions.shape, weights, len(panel.wrong), len(self.codes))
            if found != (shape, n_rows, n_rows, n_rows):
                text = f"{panel.title!r} has shapes {found} for a grid {shape} and {n_rows} rows"
                raise InputError(describe("P-VALUE", "panels", text))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        rounds: Any = None,
        sample_weight: Any = None,
        resolution: int = 300,
        ax: Any = None,
    ) -> Self:
        """Ask the members of a fitted booster about a grid and draw their regions.

        Parameters
        ----------
        estimator : estimator
            A fitted booster of two numeric features. One with a committee per class is shown by
            these committees in place of rounds; for its rounds, pass ``model.parts_[k]``, and
            ``(y == model.classes_[k]).astype(int)`` for y.
        X, y, sample_weight
            What ``fit`` was given.
        rounds : sequence of int, optional
            Which rounds to show before the vote of all; by default the first five.
        resolution : int, default=300
            Points of the grid on either side.
        ax : sequence of matplotlib Axes or None
            Where to draw, one for each panel; None makes a figure.

        Returns
        -------
        DecisionRegionsDisplay
            The display, drawn.
        """
        (model,) = read_models(
            {"model": estimator}, "rounds_", numbers_lack="regions of classes"
        ).values()
        rows = two_columns(X)
        if len(model.classes_) < 2:
            found = f"{type(model).__name__} knows one class alone: there is no boundary"
            raise InputError(describe("P-VALUE", "estimator", found, allowed="2 or more classes"))
        codes = class_codes(model, y, len(rows))
        grid = (ticks_over(rows[:, 0], resolution), ticks_over(rows[:, 1], resolution))
        asked = GridQuestions(model, X, codes, grid)
        if is_in_parts(model):
            if rounds is not None:
                found = f"{type(model).__name__} has one committee per class, with rounds each"
                fix = "pass model.parts_[k], with (y == model.classes_[k]).astype(int) for y"
                raise InputError(describe("P-VALUE", "rounds", found, fix=fix))
            shown = list(asked.committees(y, sample_weight))
        else:
            size = n_rounds_of(model)
            first = range(1, min(FEW_ROUNDS, size) + 1)
            chosen = read_rounds(list(first) if rounds is None else rounds, size)
            shown = list(asked.rounds(chosen, y, sample_weight))
        shown.append(asked.vote())
        names = getattr(model, "feature_names_in_", ("feature 0", "feature 1"))
        display = cls(
            shown,
            grid=grid,
            rows=rows,
            codes=codes,
            classes=model.classes_.tolist(),
            feature_names=[str(name) for name in names],
            whole=not is_in_parts(model) and len(shown) - 1 == n_rounds_of(model),
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the panels.

        Parameters
        ----------
        ax : sequence of matplotlib Axes or None
            Where to draw, one for each panel; None makes a figure.

        Returns
        -------
        DecisionRegionsDisplay
            The display itself.
        """
        n_panels = len(self.panels)
        abreast = n_panels if n_panels <= 4 else 3
        self.axes_ = panels(ax, n_panels, (2.9, 3.3), abreast=abreast)
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.get_figure(root=True)
        for ax, panel in zip(self.axes_, self.panels, strict=True):
            self._regions(ax, panel)
            self._rows(ax, panel)
            self._frame(ax, panel)
        if self.whole:
            self._splits(self.axes_[-1])
        self._legend()
        return self

    def _regions(self, ax: Axes, panel: RegionsPanel) -> None:
        from matplotlib.colors import to_rgb

        tints = [[1.0, 1.0, 1.0]]
        for k in range(len(self.classes)):
            tints.append([1 - TINT * (1 - c) for c in to_rgb(COLOURS[k % len(COLOURS)])])
        image = np.array(tints)[panel.regions + 1]
        x, y = self.grid
        half = [(x[1] - x[0]) / 2, (y[1] - y[0]) / 2]
        extent = (x[0] - half[0], x[-1] + half[0], y[0] - half[1], y[-1] + half[1])
        ax.imshow(image, origin="lower", extent=extent, aspect="auto", interpolation="nearest")

    @property
    def _few(self) -> bool:
        return len(self.rows) <= 2 * FEW_ROWS and len(self.classes) == 2

    def _rows(self, ax: Axes, panel: RegionsPanel) -> None:
        """Draw the rows, the heaviest first, so that none is hidden below."""
        weights = np.ones(len(self.rows)) if panel.weights is None else panel.weights
        unit = MEAN_AREA * min(1.0, FEW_ROWS / len(self.rows)) ** 0.75
        area = np.clip(unit * weights / weights.mean(), SMALLEST_AREA, LARGEST_AREA[self._few])
        for code in range(len(self.classes)):
            own = np.flatnonzero(self.codes == code)
            own = own[np.argsort(-area[own], kind="stable")]
            x, y = self.rows[own].T
            look = self._look(code, area[own], panel.wrong[own])
            ax.scatter(x, y, s=area[own], zorder=3, **look)
        if self._few:
            wrong = np.flatnonzero(panel.wrong)
            ring = {"facecolors": "none", "edgecolors": INK, "linewidths": 0.9}
            x, y = self.rows[wrong].T
            ax.scatter(x, y, s=2.6 * area[wrong] + 30.0, zorder=4, **ring)

    def _look(self, code: int, area: Floats, wrong: Any) -> dict[str, Any]:
        colour = COLOURS[code % len(COLOURS)]
        if self._few:  # the signs of the lectures
            width = np.clip(0.22 * np.sqrt(area), 0.7, 4.0)
            return {"marker": "_+"[code], "color": colour, "linewidths": width}
        edges = {"edgecolors": np.where(wrong, INK, "white"), "linewidths": 0.3 + 0.6 * wrong}
        return {"marker": SHAPES[code % len(SHAPES)], "c": colour, "alpha": 0.85, **edges}

    def _frame(self, ax: Axes, panel: RegionsPanel) -> None:
        x, y = self.grid
        ax.set_xlim(x[0], x[-1])
        ax.set_ylim(y[0], y[-1])
        for side in ax.spines.values():
            side.set_linewidth(0.6)
            side.set_color(INK)
        ax.tick_params(width=0.6, length=3, colors=INK, labelsize=8)
        ax.locator_params(nbins=5, integer=bool((self.rows == np.rint(self.rows)).all()))
        title = panel.title.replace(": ", "\n", 1)
        ax.set_title(title, fontsize=9, loc="left", color=INK)
        place = ax.get_subplotspec()
        if place is None or place.is_first_col():
            ax.set_ylabel(self.feature_names[1], fontsize=9)
        ax.set_xlabel(self.feature_names[0], fontsize=9)

    def _splits(self, ax: Axes) -> None:
        """Draw the borders of all members into the picture of their vote."""
        for panel in self.panels[:-1]:
            for code in np.unique(panel.regions)[1:]:
                inside = (panel.regions >= code).astype(np.float64)
                look = {"colors": INK, "linewidths": 0.8, "linestyles": "dashed"}
                ax.contour(*self.grid, inside, levels=[0.5], **look)

    def _legend(self) -> None:
        """Name the classes once, below all panels."""
        from matplotlib.legend_handler import HandlerTuple

        handles: list[Any] = []
        for code, name in enumerate(self.classes):
            look = self._look(code, np.array([70.0]), np.array([False]))
            handles.append(self.ax_.scatter([], [], s=70, label=f"class {name}", **look))
        face = "none" if self._few else "#BBBBBB"
        ring = {"facecolors": face, "edgecolors": INK, "linewidths": 0.9}
        handles.append(self.ax_.scatter([], [], s=90, label="misclassified", **ring))
        names = [handle.get_label() for handle in handles]
        if any(panel.weights is not None for panel in self.panels):
            sizes = (self.ax_.scatter([], [], s=s, color=INK, linewidths=0) for s in (12, 90))
            handles.append(tuple(sizes))
            names.append("size: weight of the row")
        self.figure_.legend(
            handles,
            names,
            handler_map={tuple: HandlerTuple(ndivide=None)},
            loc="outside lower center",
            ncols=len(handles),
            frameon=False,
            fontsize=9,
        )
