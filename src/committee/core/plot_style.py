"""One look for all displays: few lines, thin spines, colours that stay apart in grey print.

The colours are of Okabe & Ito (2008), told apart with any colour vision, in an order in which
neighbours differ in brightness.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from committee.data import InputError
from committee.data.errors import describe

Axes: TypeAlias = Any  # matplotlib's, which need not be installed
Figure: TypeAlias = Any

BLUE, ORANGE = "#0072B2", "#E69F00"
CYCLE = (BLUE, "#C77C00", "#000000", "#009E73", "#CC79A7", "#56B4E9", "#A23B00")  # for lines
INK, FAINT = "#333333", "#DDDDDD"


def new_axes(ax: Axes | None, size: tuple[float, float]) -> tuple[Figure, Axes]:
    """Take the given axes, or make a figure of a size in inches."""
    plt = pyplot()
    if ax is None:
        figure, ax = plt.subplots(figsize=size, layout="constrained")
        return figure, ax
    return ax.get_figure(root=True), ax


def pyplot() -> Any:
    """Import matplotlib when a picture is made, and say how to get it where it is absent."""
    try:
        return importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        text = "displays need matplotlib, which is not installed: pip install committee[plot]"
        raise ImportError(text) from error


def tidy(ax: Axes, grid: str) -> None:
    """Take away the frame, and draw a faint grid across the axis of the numbers."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_linewidth(0.6)
        ax.spines[side].set_color(INK)
    ax.tick_params(width=0.6, length=3, colors=INK, labelsize=9)
    ax.grid(axis=grid, color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)


def whole_rounds(ax: Axes) -> None:
    """Write whole numbers at the axis of the rounds, also where there is but one."""
    ticker = importlib.import_module("matplotlib.ticker")
    ax.xaxis.set_major_locator(
        ticker.MaxNLocator("auto", integer=True, min_n_ticks=1, steps=[1, 2, 5, 10])
    )


def legend_below(ax: Axes, n_columns: int) -> None:
    """Put the legend below the label of the horizontal axis, bars before marks."""
    transforms = importlib.import_module("matplotlib.transforms")
    down = transforms.ScaledTranslation(0, -0.5, ax.get_figure(root=True).dpi_scale_trans)
    handles, labels = ax.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda k: hasattr(handles[k], "get_marker"))
    ax.legend(
        [handles[k] for k in order],
        [labels[k] for k in order],
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=ax.transAxes + down,
        borderaxespad=0,
        ncols=n_columns,
        frameon=False,
        fontsize=9,
    )


def by_name(results: Any, default: str) -> dict[str, Any]:
    """Read one result, or several under their names."""
    if not isinstance(results, Mapping):
        return {default: results}
    if not results:
        raise InputError(describe("P-VALUE", "results", "there is nothing to show"))
    return {str(name): result for name, result in results.items()}


def spread_labels(heights: Any, gap: float) -> Any:
    """Move heights apart until neighbours are ``gap`` apart, as little as that takes.

    Neighbours that are too near become a block around the mean of what they label (isotonic
    regression by pooling).
    """
    heights = np.asarray(heights, dtype=np.float64)
    order = np.argsort(heights, kind="stable")
    blocks: list[list[float]] = []  # sum of lowered heights, size
    for k, row in enumerate(order):
        blocks.append([heights[row] - k * gap, 1.0])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, size = blocks.pop()
            blocks[-1] = [blocks[-1][0] + total, blocks[-1][1] + size]
    lowered = np.concatenate([np.full(int(size), total / size) for total, size in blocks])
    out = np.empty(len(heights))
    out[order] = lowered + gap * np.arange(len(heights))
    return out


def slant(ax: Axes) -> None:
    """Turn the names below the axes, where they are too long to lie side by side."""
    for label in ax.get_xticklabels():
        label.set(rotation=45, ha="right", rotation_mode="anchor")
