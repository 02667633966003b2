"""Bias and variance as a picture: bars that add up to the loss, or their spread over the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from committee.core.params import invalid
from committee.core.plot_style import (
    BLUE,
    INK,
    ORANGE,
    Axes,
    Figure,
    by_name,
    legend_below,
    new_axes,
    tidy,
)
from committee.data import InputError
from committee.data.errors import describe
from committee.theory.bias_variance import bootstrap_bias_variance
from committee.theory.decomposition import BiasVariance, ZeroOneBiasVariance, decompose

NOISY = "bias² and noise"
SUMS = {
    "squared": ("Squared loss = bias² and noise + variance", (NOISY, "variance")),
    "kohavi_wolpert": (
        "0-1 loss (Kohavi & Wolpert 1996)\n= bias² and noise + variance",
        (NOISY, "variance"),
    ),
    "domingos": (
        "0-1 loss (Domingos 2000)\n= bias and noise + unbiased − biased variance",
        ("bias and noise", "unbiased variance"),
    ),
}


class BiasVarianceDisplay:
    """The loss of learners, split into bias and variance.

    Parameters
    ----------
    results : BiasVariance or mapping of str to BiasVariance
        The decomposition of one learner, or of several under their names; all of one loss.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.

    Examples
    --------
    >>> import numpy as np
    >>> from committee.theory.decomposition import decompose
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=50)
    >>> result = decompose(0.8 * y + 0.3 * rng.normal(size=(20, 50)), y, "squared")
    >>> display = BiasVarianceDisplay(result)
    >>> sorted(display.results)
    ['model']
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, results: BiasVariance | Mapping[str, BiasVariance]) -> None:
        self.results: dict[str, BiasVariance] = by_name(results, "model")
        if len({type(result) for result in self.results.values()}) > 1:
            found = "decompositions of squared and of 0-1 loss cannot stand side by side"
            raise InputError(describe("P-VALUE", "results", found, fix="one display for each"))

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None, **params: Any
    ) -> Self:
        """Decompose the loss of a learner, or of several, by bootstrap, and draw it.

        Parameters
        ----------
        estimator : estimator or mapping of str to estimator
            The learners; they are not fitted themselves.
        X, y : array-like
            The rows.
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.
        **params
            For ``bootstrap_bias_variance``, such as ``n_replicates`` and ``random_state``.

        Returns
        -------
        BiasVarianceDisplay
            The display, drawn.
        """
        learners = by_name(estimator, type(estimator).__name__)
        found = {
            name: bootstrap_bias_variance(learner, X, y, **params)
            for name, learner in learners.items()
        }
        return cls(found).plot(ax)

    @classmethod
    def from_predictions(
        cls, predictions: Any, y: Any, loss: str, *, ax: Axes | None = None, name: str = "model"
    ) -> Self:
        """Decompose the loss of predictions [model, row] and draw it.

        Parameters
        ----------
        predictions : array-like of shape (n_replicates, n_rows)
            NaN where a model has seen the row.
        y : array-like of shape (n_rows,)
            The targets.
        loss : {"squared", "zero_one"}
            The loss.
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.
        name : str
            What to call the learner.

        Returns
        -------
        BiasVarianceDisplay
            The display, drawn.
        """
        return cls({name: decompose(predictions, y, loss)}).plot(ax)

    @property
    def loss(self) -> str:
        """The loss, "squared" or "zero_one"."""
        first = next(iter(self.results.values()))
        return "zero_one" if isinstance(first, ZeroOneBiasVariance) else "squared"

    def plot(self, ax: Axes | None = None, *, kind: str = "overall", terms: str = "") -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.
        kind : {"overall", "rows"}, default="overall"
            Means over all rows as bars, or how bias and variance are spread over the rows (of the
            first learner).
        terms : {"kohavi_wolpert", "domingos"}, optional
            Which decomposition of 0-1 loss; the first by default.

        Returns
        -------
        BiasVarianceDisplay
            The display itself.
        """
        if kind not in ("overall", "rows"):
            raise invalid("kind", "plot", "'overall' or 'rows'", kind)
        allowed = ("squared",) if self.loss == "squared" else ("kohavi_wolpert", "domingos")
        chosen = terms or allowed[0]
        if chosen not in allowed:
            raise invalid("terms", "plot", f"one of {allowed} for this loss", terms)
        title, names = SUMS[chosen]
        height = 1.9 + 0.5 * len(self.results) if kind == "overall" else 3.6
        self.figure_, self.ax_ = new_axes(ax, (6.8, height))
        if kind == "overall":
            self._bars(self.ax_, names, chosen == "domingos")
        else:
            self._spread(self.ax_, names)
            title += f"\n{next(iter(self.results))}: spread over the rows"
        self.ax_.set_title(title, fontsize=10, loc="left", color=INK)
        return self

    def _bars(self, ax: Axes, names: tuple[str, str], domingos: bool) -> None:
        overall = [result.overall for result in self.results.values()]
        place = np.arange(len(overall))[::-1]
        bias = np.array([o["bias" if domingos else "bias_squared"] for o in overall])
        variance = np.array([o["unbiased_variance" if domingos else "variance"] for o in overall])
        loss = np.array([o["loss"] for o in overall])
        together = np.array([o["committee_loss"] for o in overall])
        ax.barh(place, bias, 0.55, color=BLUE, label=names[0])
        ax.barh(place, variance, 0.55, left=bias, color=ORANGE, label=names[1])
        if domingos:
            lost = bias + variance - loss
            look = {"facecolor": "white", "edgecolor": INK, "hatch": "////", "linewidth": 0.6}
            ax.barh(place, lost, 0.55, left=loss, label="− biased variance", **look)
        who = next(iter(self.results.values())).together
        ax.plot(together, place, "D", color="white", mec=INK, mew=1.1, ms=6, label=f"loss of {who}")
        far = float(np.nanmax(np.concatenate([bias + variance, together])))
        for at, total, end in zip(place, loss, np.fmax(bias + variance, together), strict=True):
            ax.annotate(
                f"loss {total:.3g}",
                (end, at),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
                color=INK,
            )
        tidy(ax, "x")
        ax.set_yticks(place, list(self.results))
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(-0.6, len(overall) - 0.4)
        ax.set_xlim(min(0.0, float(np.nanmin(bias))), 1.17 * far if far > 0 else 1.0)
        ax.set_xlabel("mean loss of one model, on rows it has not seen", fontsize=9)
        legend_below(ax, n_columns=2)

    def _spread(self, ax: Axes, names: tuple[str, str]) -> None:
        result = next(iter(self.results.values()))
        counted = result.counted
        if self.loss == "squared":  # in units of the target
            first, second = np.abs(result.bias[counted]), np.sqrt(result.variance[counted])
            names, unit = ("|bias|, with noise", "√variance"), "units of the target"
        else:
            first, second = result.bias_squared[counted], result.variance[counted]
            unit = "part of the 0-1 loss"
        both = np.concatenate([first, second])
        top = float(np.quantile(both, 0.995)) if len(both) else 1.0
        edges = np.linspace(min(0.0, float(both.min(initial=0))), top or 1.0, 31)
        for term, colour, name in ((first, BLUE, names[0]), (second, ORANGE, names[1])):
            label = f"{name} (mean {term.mean():.3g})" if len(term) else name
            clipped = np.clip(term, edges[0], edges[-1])
            ax.hist(clipped, edges, color=colour, alpha=0.35)
            ax.hist(clipped, edges, histtype="step", color=colour, linewidth=1.4, label=label)
        tidy(ax, "y")
        ax.set_xlim(edges[0], edges[-1])
        ax.set_xlabel(f"{unit}; the last bar holds what lies beyond", fontsize=9)
        ax.set_ylabel(f"rows (of {int(counted.sum())})", fontsize=9)
        ax.legend(frameon=False, fontsize=9, loc="upper right")
