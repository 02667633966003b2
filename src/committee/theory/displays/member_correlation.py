"""How alike members err: a triangle of correlations, or of another measure of every pair."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from committee.core.members import Floats
from committee.core.params import invalid
from committee.core.plot_style import BLUE, INK, ORANGE, Axes, Figure, new_axes, slant, tidy
from committee.data import InputError
from committee.data.errors import describe
from committee.theory.displays.member_opinions import MemberOpinions, ask_members
from committee.theory.diversity import measure_diversity

MEASURES = {
    "correlation": "correlation of being right",
    "kappa": "kappa: agreement beyond chance",
    "q_statistic": "Q statistic",
    "disagreement": "share of rows where one of two is right",
    "double_fault": "share of rows where both are wrong",
}
MANY = 14  # beyond this cells are too small for numbers


class MemberCorrelationDisplay:
    """A measure of every pair of members as a triangle, on its diagonal the error of each.

    Parameters
    ----------
    matrix : array-like of shape (n_members, n_members)
        The measure of each pair; symmetric.
    names : sequence of str, optional
        The members; by default their numbers.
    errors : array-like of shape (n_members,), optional
        The error of each member.
    measure : str, default="correlation of errors"
        What the colour means.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    image_ : matplotlib image
        The cells.

    Examples
    --------
    >>> display = MemberCorrelationDisplay([[1, 0.8], [0.8, 1]], ["svm", "tree"], [0.1, 0.2])
    >>> display.mean
    0.8
    """

    ax_: Axes
    figure_: Figure
    image_: Any

    def __init__(
        self,
        matrix: Any,
        names: Sequence[str] | None = None,
        errors: Any = None,
        *,
        measure: str = "correlation of errors",
    ) -> None:
        self.matrix: Floats = np.asarray(matrix, dtype=np.float64)
        size = len(self.matrix)
        if self.matrix.shape != (size, size) or size < 2:
            found = f"of shape {self.matrix.shape}"
            raise InputError(
                describe("P-VALUE", "matrix", found, allowed="a square, 2 x 2 or more")
            )
        if not np.allclose(self.matrix, self.matrix.T, equal_nan=True):
            raise InputError(describe("P-VALUE", "matrix", "not symmetric"))
        self.names = tuple(map(str, range(size) if names is None else names))
        self.errors: Floats | None = None if errors is None else np.asarray(errors, dtype=float)
        self.measure = measure
        for name, given in (("names", self.names), ("errors", self.errors)):
            if given is not None and len(given) != size:
                found = f"{len(given)} for {size} members"
                raise InputError(describe("P-VALUE", name, found, allowed="one per member"))

    @property
    def mean(self) -> float:
        """The mean over pairs, without those that are not known."""
        return float(np.nanmean(self.matrix[np.triu_indices(len(self.matrix), 1)]))

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, measure: str = "correlation", ax: Any = None
    ) -> Self:
        """Ask the members of a fitted ensemble about rows and draw how alike they err.

        Parameters
        ----------
        estimator : fitted ensemble
            With ``estimators_``, all classifiers or all regressors.
        X, y
            Rows, best ones that nobody was fitted on, and their targets.
        measure : {"correlation", "kappa", "q_statistic", "disagreement", "double_fault"}
            For classifiers, see :func:`measure_diversity`; of regressors errors are correlated.
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.

        Returns
        -------
        MemberCorrelationDisplay
            The display, drawn.
        """
        if measure not in MEASURES:
            raise invalid("measure", cls.__name__, f"one of {tuple(MEASURES)}", measure)
        said = ask_members(estimator, X, y)
        if said.of_classes:
            pairs = getattr(measure_diversity(said.labels, said.truth), measure)
            return cls(pairs.matrix, said.names, said.errors, measure=MEASURES[measure]).plot(ax)
        if measure != "correlation":
            found = f"{measure!r} compares labels, and the members give numbers"
            raise InputError(describe("P-VALUE", "measure", found, allowed="'correlation'"))
        return cls(error_correlation(said), said.names, said.errors).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the triangle below the diagonal.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.

        Returns
        -------
        MemberCorrelationDisplay
            The display itself.
        """
        size = len(self.matrix)
        side = min(7.0, 1.4 + 0.5 * size)
        self.figure_, self.ax_ = new_axes(ax, (side + 1.3, side))
        cells = np.where(np.tri(size, k=-1, dtype=bool), self.matrix, np.nan)
        low, high = _range(cells)
        self.image_ = self.ax_.imshow(
            np.ma.masked_invalid(cells), cmap=_colours(low), vmin=low, vmax=high, aspect="equal"
        )
        self._name_members()
        if size <= MANY:
            self._write(cells, max(-low, high))
        bar = self.figure_.colorbar(self.image_, ax=self.ax_, shrink=0.7, pad=0.03)
        bar.outline.set_visible(False)
        bar.ax.tick_params(width=0.6, length=3, colors=INK, labelsize=9)
        bar.set_label(self.measure, fontsize=9)
        return self

    def _name_members(self) -> None:
        tidy(self.ax_, "x")
        self.ax_.grid(visible=False)
        for spine in self.ax_.spines.values():
            spine.set_visible(False)
        self.ax_.tick_params(length=0)
        shown = range(0, len(self.names), -(-len(self.names) // 25))
        self.ax_.set_yticks(shown, [self.names[k] for k in shown])
        self.ax_.set_xticks(shown, [self.names[k] for k in shown])
        if max(len(name) for name in self.names) > 3:
            slant(self.ax_)
        more = "higher" if self.measure == MEASURES["disagreement"] else "lower"
        title = f"{more}: more diverse"
        if self.errors is not None and len(self.names) <= MANY:
            title += "\ndiagonal: the error of each"
        self.ax_.set_title(title, fontsize=9, color=INK, loc="left")

    def _write(self, cells: Floats, strongest: float) -> None:
        look = {"ha": "center", "va": "center", "fontsize": 8}
        for row, column in zip(*np.nonzero(~np.isnan(cells)), strict=True):
            value = cells[row, column]
            colour = "white" if abs(value) > 0.6 * strongest else INK
            self.ax_.text(column, row, _short(value), color=colour, **look)
        if self.errors is not None:
            for place, error in enumerate(self.errors):
                text = _short(error) if error < 10 else f"{error:.3g}"
                self.ax_.text(place, place, text, color=INK, style="italic", **look)


def error_correlation(said: MemberOpinions) -> Floats:
    """Correlate the errors of regressors, over rows and outputs; NaN where one makes none."""
    gaps = said.outputs - said.truth.reshape(len(said.truth), -1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.corrcoef(gaps.reshape(len(gaps), -1)))


def _range(cells: Floats) -> tuple[float, float]:
    """Find the ends of the colours: tenths around all cells, with 0 in it."""
    known = cells[~np.isnan(cells)]
    low = min(0.0, float(np.floor(10 * known.min(initial=0.0)) / 10))
    high = max(0.1, float(np.ceil(10 * known.max(initial=0.0)) / 10))
    return (-max(-low, high), max(-low, high)) if low < 0 else (0.0, high)


def _colours(low: float) -> Any:
    colors = importlib.import_module("matplotlib.colors")
    ends = [ORANGE, "#FFFFFF", BLUE] if low < 0 else ["#FFFFFF", BLUE]
    return colors.LinearSegmentedColormap.from_list("members", ends)


def _short(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1).replace("-", "−")
