"""What members count for: weights of a vote or a selection, or coefficients of a meta-model."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from committee.core.members import Floats
from committee.core.plot_style import BLUE, INK, ORANGE, Axes, Figure, new_axes, slant, tidy
from committee.data import InputError
from committee.data.errors import describe

WEIGHT, COEFFICIENT = "share of the weight", "coefficient of the meta-model"
WIDEST = 9  # letters of a class that find room above a column


class MetaWeightsDisplay:
    """A bar for each member, or a table of coefficients by class.

    Parameters
    ----------
    weights : array-like of shape (n_columns,) or (n_outputs, n_columns)
        What each column counts for, for one output or for several.
    names : sequence of str
        The columns: members, or members and classes.
    outputs : sequence of str, optional
        The classes, where there are several outputs.
    meaning : str, default="share of the weight"
        What the numbers are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.

    Examples
    --------
    >>> display = MetaWeightsDisplay([0.5, 0.3, 0.2], ["svm", "tree", "bayes"])
    >>> display.order()
    ['svm', 'tree', 'bayes']
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        weights: Any,
        names: Sequence[str],
        outputs: Sequence[Any] | None = None,
        *,
        meaning: str = WEIGHT,
    ) -> None:
        self.weights: Floats = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        self.names = [str(name) for name in names]
        self.outputs = [str(output) for output in outputs or range(len(self.weights))]
        self.meaning = meaning
        if self.weights.shape != (len(self.outputs), len(self.names)) or not self.names:
            found = f"weights of shape {self.weights.shape} for {len(self.names)} name(s)"
            raise InputError(describe("P-VALUE", "weights", found, allowed="one per name"))
        if not np.isfinite(self.weights).all():
            raise InputError(describe("P-VALUE", "weights", "NaN or infinity", allowed="numbers"))

    @classmethod
    def from_estimator(cls, estimator: Any, *, max_shown: int = 30, ax: Any = None) -> Self:
        """Read the weights of a fitted vote, selection or stack, and draw them.

        Parameters
        ----------
        estimator : fitted ensemble
            Voting, ensemble selection, or stacking (also scikit-learn's) whose meta-model has
            ``coef_``, perhaps at the end of a pipeline.
        max_shown : int, default=30
            The most columns that are drawn, largest first.
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.

        Returns
        -------
        MetaWeightsDisplay
            The display, drawn.
        """
        check_is_fitted(estimator)
        if hasattr(estimator, "pool_"):
            return cls(estimator.weights_, estimator.pool_).plot(ax, max_shown=max_shown)
        if hasattr(estimator, "final_estimator_"):
            return cls._of_stack(estimator).plot(ax, max_shown=max_shown)
        if hasattr(estimator, "seats_") and hasattr(estimator, "committee_"):
            weights = estimator.committee_.weights
            return cls(weights / weights.sum(), estimator.seats_).plot(ax, max_shown=max_shown)
        found = f"{type(estimator).__name__} has no weights of named members"
        allowed = "voting, ensemble selection or stacking"
        raise InputError(describe("P-VALUE", "estimator", found, allowed=allowed))

    @classmethod
    def _of_stack(cls, estimator: Any) -> Self:
        meta = estimator.final_estimator_
        model = meta.steps[-1][1] if hasattr(meta, "steps") else meta
        if not hasattr(model, "coef_"):
            found = f"the meta-model {type(model).__name__} has no coef_"
            allowed = "a linear or logistic meta-model"
            raise InputError(describe("P-VALUE", "estimator", found, allowed=allowed))
        coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
        prefix = f"{type(estimator).__name__.lower()}_"
        names = [str(n).removeprefix(prefix) for n in estimator.get_feature_names_out()]
        if coef.shape[1] != len(names):
            found = f"{coef.shape[1]} coefficients for {len(names)} columns of the members"
            fix = "a pipeline that keeps the columns, or MetaWeightsDisplay(weights, names)"
            raise InputError(describe("P-VALUE", "estimator", found, fix=fix))
        names = _by_class(names, estimator)
        outputs = list(getattr(estimator, "classes_", [])) if len(coef) > 1 else None
        if outputs is not None and len(outputs) != len(coef):
            outputs = None
        return cls(coef, names, outputs, meaning=COEFFICIENT)

    def order(self) -> list[str]:
        """Names of the columns, from the one with the largest weight in size."""
        sizes = np.abs(self.weights).max(axis=0)
        return [self.names[k] for k in np.argsort(-sizes, kind="stable")]

    def plot(self, ax: Any = None, *, max_shown: int = 30) -> Self:
        """Draw bars for one output, a table of colours for several.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.
        max_shown : int, default=30
            The most columns that are drawn, largest first; how many are left off is said.

        Returns
        -------
        MetaWeightsDisplay
            The display itself.
        """
        sizes = np.abs(self.weights).max(axis=0)
        shown = np.argsort(-sizes, kind="stable")[:max_shown]
        several = len(self.weights) > 1
        width = 3.0 + 0.75 * len(self.outputs) if several else 5.6
        self.figure_, self.ax_ = new_axes(ax, (max(width, 4.4), 1.1 + 0.28 * len(shown)))
        if several:
            # The columns of one member stay together.
            shown = np.sort(shown)
            self._table(shown)
        else:
            self._bars(shown)
        if len(shown) < len(self.names):
            self.ax_.set_ylabel(f"{len(shown)} of {len(self.names)} columns", fontsize=9)
        return self

    def _bars(self, shown: Any) -> None:
        values, places = self.weights[0, shown], np.arange(len(shown))[::-1]
        colours = [BLUE if value >= 0 else ORANGE for value in values]
        self.ax_.barh(places, values, 0.62, color=colours, alpha=0.85)
        self.ax_.axvline(0, color=INK, linewidth=0.9)
        tidy(self.ax_, "x")
        self.ax_.spines["left"].set_visible(False)
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set_yticks(places, [self.names[k] for k in shown])
        self.ax_.set_ylim(-0.6, len(shown) - 0.4)
        reach = float(np.abs(values).max()) or 1.0
        for value, place in zip(values, places, strict=True):
            side = 1 if value >= 0 else -1
            text = _number(value)
            look = {"va": "center", "ha": "left" if side > 0 else "right", "fontsize": 8}
            self.ax_.text(value + side * 0.015 * reach, place, text, color=INK, **look)
        low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
        self.ax_.set_xlim(low - 0.12 * reach * (low < 0), high + 0.12 * reach * (high > 0))
        self.ax_.set_xlabel(self.meaning, fontsize=9)

    def _table(self, shown: Any) -> None:
        colors = importlib.import_module("matplotlib.colors")
        cells = self.weights[:, shown].T
        reach = float(np.abs(cells).max()) or 1.0
        two = colors.LinearSegmentedColormap.from_list("signs", [ORANGE, "#FFFFFF", BLUE])
        self.ax_.imshow(cells, cmap=two, vmin=-reach, vmax=reach, aspect="auto")
        for (row, column), value in np.ndenumerate(cells):
            colour = "white" if value > 0.6 * reach else INK
            look = {"ha": "center", "va": "center", "fontsize": 8, "color": colour}
            self.ax_.text(column, row, _number(value), **look)
        for spine in self.ax_.spines.values():
            spine.set_visible(False)
        self.ax_.tick_params(length=0, colors=INK, labelsize=9)
        self.ax_.set_yticks(range(len(shown)), [self.names[k] for k in shown])
        self.ax_.set_xticks(range(len(self.outputs)), self.outputs)
        if max(len(str(output)) for output in self.outputs) > WIDEST:
            slant(self.ax_)
        self.ax_.set_xlabel("class", fontsize=9)
        self.ax_.set_title(self.meaning, fontsize=9, color=INK, loc="left")


def _by_class(names: list[str], estimator: Any) -> list[str]:
    """Name the columns of a member by classes, which scikit-learn numbers."""
    classes = list(getattr(estimator, "classes_", []))
    named, place = list(names), 0
    for member in estimator.named_estimators_:
        numbered = [f"{member}{k}" for k in range(len(classes))]
        if numbered and names[place : place + len(classes)] == numbered:
            named[place : place + len(classes)] = [f"{member}: {label}" for label in classes]
            place += len(classes)
        elif names[place : place + 1] == [member]:  # one column for two classes
            place += 1
    return named


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−") if abs(value) >= 0.005 else "0"
