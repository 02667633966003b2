"""The kappa-error diagram: how far members agree, against how often they err.

Margineantu and Dietterich, "Pruning adaptive boosting" (1997). A point is a pair of members.
Low means accurate, left means diverse; no committee has both for nothing. The ambiguity report
says what diversity brought: the squared error of the mean is that of the members less their
ambiguity (Krogh and Vedelsby 1995).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from committee.core.members import Floats
from committee.core.plot_style import (
    CYCLE,
    INK,
    Axes,
    Figure,
    by_name,
    legend_below,
    new_axes,
    tidy,
)
from committee.data import InputError
from committee.data.errors import describe
from committee.theory.displays.member_opinions import MemberOpinions, ask_members
from committee.theory.diversity import measure_diversity

MARKERS = ("o", "s", "^", "D", "v")


@dataclass(frozen=True, eq=False)
class PairCloud:
    """The pairs of one ensemble.

    Attributes
    ----------
    kappa : ndarray of shape (n_pairs,)
        Agreement beyond chance; NaN where two members always give the same one class.
    error : ndarray of shape (n_pairs,)
        The mean error of both.
    member_error, ambiguity, committee_error : float
        Mean squared errors of shares: of the members, their spread, and of their mean. The first
        less the second is the third.
    """

    kappa: Floats
    error: Floats
    member_error: float = float("nan")
    ambiguity: float = float("nan")
    committee_error: float = float("nan")

    @classmethod
    def of(cls, said: MemberOpinions) -> PairCloud:
        """Measure all pairs of members."""
        first, second = np.triu_indices(len(said.names), 1)
        measured = measure_diversity(said.labels, said.truth)
        parts = said.ambiguity()
        return cls(
            measured.kappa.matrix[first, second],
            (measured.member_error[first] + measured.member_error[second]) / 2,
            float(parts.member_error.mean()),
            float(parts.ambiguity.mean()),
            float(parts.committee_error.mean()),
        )


class KappaErrorDisplay:
    """Agreement of every pair of members against their mean error.

    Parameters
    ----------
    pairs : PairCloud or mapping of str to PairCloud
        The pairs of one ensemble, or of several under their names.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.

    Examples
    --------
    >>> from committee import KappaErrorDisplay, RandomForestClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RandomForestClassifier(5, random_state=0).fit(X[::2], y[::2])
    >>> display = KappaErrorDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> len(display.pairs["RandomForestClassifier"].kappa)
    10
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, pairs: PairCloud | Mapping[str, PairCloud]) -> None:
        self.pairs: dict[str, PairCloud] = by_name(pairs, "ensemble")
        for name, cloud in self.pairs.items():
            if np.shape(cloud.kappa) != np.shape(cloud.error) or np.ndim(cloud.kappa) != 1:
                found = f"{name}: {np.shape(cloud.kappa)} of kappa, {np.shape(cloud.error)} errors"
                raise InputError(describe("P-VALUE", "pairs", found, allowed="one each per pair"))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> Self:
        """Ask the members of fitted ensembles about rows and draw all pairs.

        Parameters
        ----------
        estimator : classifier or mapping of str to classifier
            Fitted ensembles with ``estimators_``.
        X, y
            Rows, best ones that nobody was fitted on, and their labels.
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.

        Returns
        -------
        KappaErrorDisplay
            The display, drawn.
        """
        clouds = {}
        for name, model in by_name(estimator, type(estimator).__name__).items():
            said = ask_members(model, X, y)
            if not said.of_classes:
                found = f"{type(model).__name__} predicts numbers, which have no kappa"
                fix = "MemberCorrelationDisplay"
                raise InputError(describe("P-VALUE", "estimator", found, fix=fix))
            clouds[name] = PairCloud.of(said)
        return cls(clouds).plot(ax)

    def report(self) -> str:
        """Say what diversity brought: members' squared error less ambiguity is the committee's.

        Returns
        -------
        str
            A table, a line per ensemble.
        """
        width = max(len(name) for name in self.pairs) + 2
        titles = ("pairs", "kappa", "error", "member sq.", "ambiguity", "committee sq.")
        lines = ["".join([" " * width, *(f"{title:>14}" for title in titles)])]
        for name, cloud in self.pairs.items():
            numbers = (
                _known(cloud.kappa),
                _known(cloud.error),
                cloud.member_error,
                cloud.ambiguity,
                cloud.committee_error,
            )
            cells = "".join(f"{number:>14.4f}" for number in numbers)
            lines.append(f"{name:<{width}}{len(cloud.kappa):>14}{cells}")
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Self:
        """Draw a point for each pair, and a large one at the mean of each ensemble.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.

        Returns
        -------
        KappaErrorDisplay
            The display itself.
        """
        self.figure_, self.ax_ = new_axes(ax, (6.4, 4.6))
        tidy(self.ax_, "both")
        for k, (name, cloud) in enumerate(self.pairs.items()):
            colour, marker = CYCLE[k % len(CYCLE)], MARKERS[k % len(MARKERS)]
            n_pairs = len(cloud.kappa)
            alpha = float(np.clip(40 / max(n_pairs, 1), 0.12, 0.6))
            look = {"color": colour, "marker": marker, "linewidths": 0}
            self.ax_.scatter(cloud.kappa, cloud.error, s=14, alpha=alpha, **look)
            self.ax_.plot(
                _known(cloud.kappa),
                _known(cloud.error),
                ls="none",
                marker=marker,
                ms=9,
                color=colour,
                markeredgecolor="white",
                markeredgewidth=1.2,
                label=self._label(name, cloud),
            )
        self.ax_.set_ylim(bottom=0)
        self.ax_.set_xlabel("kappa of two members  (0: agree as by chance, 1: always)", fontsize=9)
        self.ax_.set_ylabel("mean error of the two", fontsize=9)
        note = "← more diverse      ↓ more accurate      large: the mean of all pairs"
        self.ax_.set_title(note, fontsize=9, color=INK, loc="left")
        legend_below(self.ax_, 1)
        legend = self.ax_.get_legend()
        if not all(np.isnan(cloud.ambiguity) for cloud in self.pairs.values()):
            legend.set_title("squared error of members − ambiguity = that of their mean")
            legend.get_title().set_fontsize(9)
            legend._legend_box.align = "left"
        return self

    def _label(self, name: str, cloud: PairCloud) -> str:
        if np.isnan(cloud.ambiguity):
            return name
        parts = f"{cloud.member_error:.3f} − {cloud.ambiguity:.3f} = {cloud.committee_error:.3f}"
        return f"{name}:  {parts}"


def _known(values: Any) -> float:
    known = np.asarray(values)[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")
