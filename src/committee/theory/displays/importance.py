"""Importances as bars with error bars, several kinds side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils import Bunch

from committee.core.importance import summary
from committee.core.params import invalid
from committee.core.plot_style import BLUE, INK, Axes, Figure, by_name, pyplot, tidy
from committee.data import InputError
from committee.data.errors import describe

KINDS = ("permutation", "debiased", "impurity")
TITLES = {
    "permutation": "permutation, left-out rows",
    "debiased": "impurity, left-out rows",
    "impurity": "impurity, training rows",
}


class ImportanceDisplay:
    """Importances of features, sorted, with two standard errors.

    Parameters
    ----------
    importances : Bunch or mapping of str to Bunch
        Results of ``permutation_importance`` and the like, under their titles: they have
        ``importances_mean`` and ``features``, and may have ``importances_se``. All are about the
        same features.
    units : mapping of str to str, optional
        What is written below the bars of each title.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the first kind was drawn.
    axes_ : list of matplotlib Axes
        One for each kind.
    figure_ : matplotlib Figure
        The figure of ``ax_``.

    Examples
    --------
    >>> from sklearn.utils import Bunch
    >>> found = Bunch(importances_mean=[0.1, 0.4], importances_se=[0.01, 0.02], features=["a", "b"])
    >>> ImportanceDisplay(found).order()
    ['b', 'a']
    """

    ax_: Axes
    axes_: list[Axes]
    figure_: Figure

    def __init__(
        self, importances: Bunch | Mapping[str, Bunch], *, units: Mapping[str, str] | None = None
    ) -> None:
        single = isinstance(importances, Bunch) and "importances_mean" in importances
        self.importances: dict[str, Any] = (
            {"importance": importances} if single else by_name(importances, "importance")
        )
        self.units = dict(units or {})
        names = [self._names(found) for found in self.importances.values()]
        if any(set(other) != set(names[0]) for other in names[1:]):
            found = "the kinds of importance are about different features"
            raise InputError(describe("P-VALUE", "importances", found, fix="one display for each"))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        kinds: str | Sequence[str] = ("permutation", "debiased", "impurity"),
        sample_weight: Any = None,
        random_state: Any = None,
        max_shown: int = 20,
        ax: Any = None,
    ) -> Self:
        """Measure the importances of a fitted committee on its training rows and draw them.

        Parameters
        ----------
        estimator : estimator
            A fitted committee with ``permutation_importance``.
        X, y, sample_weight
            As given to ``fit``.
        kinds : {"permutation", "debiased", "impurity"} or sequence of them
            What to measure; the first gives the order.
        random_state : int, RandomState instance, Generator or None
            The seed of the permutations.
        max_shown : int, default=20
            The most features that are drawn.
        ax : matplotlib Axes, or a sequence of as many as there are kinds, or None
            Where to draw; None makes a figure.

        Returns
        -------
        ImportanceDisplay
            The display, drawn.
        """
        chosen = [kinds] if isinstance(kinds, str) else list(kinds)
        if not chosen or any(kind not in KINDS for kind in chosen):
            raise invalid("kinds", "ImportanceDisplay", f"one or more of {KINDS}", kinds)
        classes = is_classifier(estimator)
        found, units = {}, {}
        for kind in chosen:
            title = TITLES[kind]
            if kind == "permutation":
                found[title] = estimator.permutation_importance(
                    X, y, sample_weight=sample_weight, random_state=random_state
                )
                units[title] = "drop of accuracy" if classes else "rise of squared error"
            elif kind == "debiased":
                found[title] = estimator.debiased_importance(X, y, sample_weight=sample_weight)
                units[title] = f"decrease of {'Gini impurity' if classes else 'squared error'}"
            else:
                found[title] = impurity(estimator)
                units[title] = "share of the decrease"
        return cls(found, units=units).plot(ax, max_shown=max_shown)

    def _names(self, found: Any) -> list[str]:
        return [
            " + ".join(map(str, item)) if isinstance(item, (tuple, list)) else str(item)
            for item in found.features
        ]

    def order(self) -> list[str]:
        """Names of the features, from the most important one by the first kind."""
        first = next(iter(self.importances.values()))
        mean = np.nan_to_num(np.asarray(first.importances_mean, dtype=np.float64), nan=-np.inf)
        names = self._names(first)
        return [names[k] for k in np.argsort(-mean, kind="stable")]

    def plot(self, ax: Any = None, *, max_shown: int = 20) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, or a sequence of as many as there are kinds, or None
            Where to draw; None makes a figure.
        max_shown : int, default=20
            The most features that are drawn; how many are left off is said.

        Returns
        -------
        ImportanceDisplay
            The display itself.
        """
        shown = self.order()[:max_shown]
        n_kinds = len(self.importances)
        if ax is None:
            size = (3.2 + 2.5 * n_kinds, 1.3 + 0.26 * len(shown))
            figure, ax = pyplot().subplots(
                1, n_kinds, figsize=size, sharey=True, layout="constrained", squeeze=False
            )
            figure.get_layout_engine().set(w_pad=0.1)
        self.axes_ = list(np.atleast_1d(np.asarray(ax, dtype=object)).ravel())
        if len(self.axes_) != n_kinds:
            found = f"{len(self.axes_)} axes for {n_kinds} kinds of importance"
            raise InputError(describe("P-VALUE", "ax", found))
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.get_figure(root=True)
        for ax, (title, found) in zip(self.axes_, self.importances.items(), strict=True):
            self._panel(ax, title if n_kinds > 1 else "", found, shown)
        left_off = len(self.order()) - len(shown)
        if left_off:
            text = f"the first {len(shown)} of {len(self.order())} features"
            self.ax_.set_ylabel(text, fontsize=9)
        return self

    def _panel(self, ax: Axes, title: str, found: Any, shown: list[str]) -> None:
        places = {name: k for k, name in enumerate(self._names(found))}
        rows = np.array([places[name] for name in shown])
        mean = np.asarray(found.importances_mean, dtype=np.float64)[rows]
        error = found.get("importances_se")
        bars = np.arange(len(shown))[::-1]
        ax.barh(bars, mean, 0.62, color=BLUE, alpha=0.85)
        if error is not None:
            reach = 2 * np.nan_to_num(np.asarray(error, dtype=np.float64)[rows])
            look = {"ecolor": "black", "elinewidth": 1.1, "capsize": 2.2, "capthick": 1.1}
            ax.errorbar(mean, bars, xerr=reach, fmt="none", **look)
        ax.axvline(0, color=INK, linewidth=0.9)
        tidy(ax, "x")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.set_yticks(bars, shown)
        ax.set_ylim(-0.6, len(shown) - 0.4)
        ax.locator_params(axis="x", nbins=5)
        unit = self.units.get(title or next(iter(self.importances)), "importance")
        if error is not None and ax is self.ax_:
            unit += "\n(whiskers: ± 2 standard errors)"
        ax.set_xlabel(unit, fontsize=9)
        if title:
            ax.set_title(title, fontsize=10, color=INK)


def impurity(model: Any) -> Bunch:
    """Lay out ``feature_importances_`` of a forest as the other importances are."""
    names: npt.NDArray[Any] | None = getattr(model, "feature_names_in_", None)
    mean = model.feature_importances_
    features = list(range(len(mean))) if names is None else [str(name) for name in names]
    if hasattr(model, "importances_"):
        found = summary(np.asarray(model.importances_).T, features)
        found.importances_mean = mean
        return found
    return Bunch(importances_mean=mean, features=features)
