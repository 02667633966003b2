"""The gain of a cascade by level: what each level adds, on rows given, and on training rows.

Where the training score rises and the honest one does not, a level was shown the labels of its
training rows by the one before (see ``check_leak`` of the cascades). Which rows are which only the
caller knows: what is not said to be training rows is called no more than the rows given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from committee.core.members import Floats
from committee.core.plot_style import BLUE, CYCLE, Axes, Figure, new_axes, tidy
from committee.data import InputError
from committee.data.errors import describe
from committee.ensembles.panel.folds import read_folds
from committee.theory.displays.boosters import label_ends

TRAINING, GIVEN, FOLDS = "training", "given rows", "cross-validated"
COLOURS = {TRAINING: "#777777", "out of fold": BLUE, FOLDS: CYCLE[3]}


class CascadeGainDisplay:
    """Scores of the levels of a cascade, on rows to judge it by, and on its training rows.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n_levels,)
        By what the rows are, the score of each level.
    levels : sequence of str
        The names of the levels.
    score_name : str, default="accuracy"
        What the scores are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    lines_ : dict of str to matplotlib Line2D
        By what the rows are.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.datasets import load_iris
    >>> from committee import CascadeClassifier, CascadeGainDisplay, DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> levels = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(random_state=0))]
    >>> model = CascadeClassifier(levels, check_leak=False).fit(X[::2], y[::2])
    >>> display = CascadeGainDisplay.from_estimator(
    ...     model, X[1::2], y[1::2], X_train=X[::2], y_train=y[::2]
    ... )
    >>> list(display.scores)
    ['training', 'given rows']

    Scores from elsewhere, under names of their own:

    >>> scores = {"training": [0.8, 1.0], "held out": [0.78, 0.81]}
    >>> CascadeGainDisplay(scores, ["bayes", "tree"]).gains["held out"].round(2)
    array([0.03])
    """

    ax_: Axes
    figure_: Figure
    lines_: dict[str, Any]

    def __init__(
        self,
        scores: Mapping[str, Any],
        levels: Sequence[str],
        *,
        score_name: str = "accuracy",
    ) -> None:
        self.levels = [str(level) for level in levels]
        self.scores: dict[str, Floats] = {}
        for name, given in scores.items():
            numbers = np.asarray(given, dtype=np.float64)
            if numbers.shape != (len(self.levels),):
                found = f"{name!r} has shape {numbers.shape} for {len(self.levels)} level(s)"
                raise InputError(describe("P-VALUE", "scores", found, allowed="one for each level"))
            self.scores[name] = numbers
        if not self.scores:
            raise InputError(describe("P-VALUE", "scores", "there is nothing to show"))
        self.score_name = score_name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        X_train: Any = None,
        y_train: Any = None,
        cv: Any = None,
        rows_name: str = GIVEN,
        ax: Axes | None = None,
    ) -> Self:
        """Score the levels of a cascade and draw the scores.

        Parameters
        ----------
        estimator : CascadeClassifier or CascadeRegressor
            A fitted cascade. One that was fitted with ``cv`` has honest scores of its own, which
            are drawn too.
        X, y : array-like
            Rows to judge the cascade by, best ones that it has not seen.
        X_train, y_train : array-like, optional
            What ``fit`` was given, to draw the scores on training rows beside the others.
        cv : int, splitter, iterable of (train, test) or None
            Where given, the rows X, y are judged by cascades that have not seen them: one is fitted
            anew on the training side of every split of X, y, and its levels are scored on the other
            side; the mean is drawn.
        rows_name : str
            What to call the rows X, y; with ``cv`` their scores are called "cross-validated".
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.

        Returns
        -------
        CascadeGainDisplay
            The display, drawn.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "level_scores"):
            found = f"{type(estimator).__name__} has no level_scores"
            raise InputError(describe("P-VALUE", "estimator", found, allowed="a cascade"))
        if (X_train is None) != (y_train is None):
            found = "X_train and y_train are given together or not at all"
            raise InputError(describe("P-VALUE", "X_train, y_train", found))
        if rows_name in COLOURS:
            found = f"{rows_name!r} is the name of other rows"
            raise InputError(describe("P-VALUE", "rows_name", found))
        scores = {}
        if X_train is not None:
            scores[TRAINING] = estimator.level_scores(X_train, y_train)
        if hasattr(estimator, "oof_scores_"):
            scores["out of fold"] = estimator.oof_scores_
        if cv is None:
            scores[rows_name] = estimator.level_scores(X, y)
        else:
            scores[FOLDS] = _cross_validated(estimator, X, y, cv)
        score_name = "R²" if is_regressor(estimator) else "accuracy"
        return cls(scores, estimator.seats_, score_name=score_name).plot(ax)

    @property
    def gains(self) -> dict[str, Floats]:
        """By what the rows are, what each level but the first adds."""
        return {name: np.diff(numbers) for name, numbers in self.scores.items()}

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the scores, with what each level adds on the rows that it is judged by.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; None makes a figure.

        Returns
        -------
        CascadeGainDisplay
            The display itself.
        """
        self.figure_, ax = new_axes(ax, (2.6 + 1.4 * max(len(self.levels), 2), 3.6))
        self.ax_, self.lines_ = ax, {}
        places = np.arange(len(self.levels))
        for name, numbers in self.scores.items():
            colour = COLOURS.get(name, CYCLE[1])
            dash = (0, (4, 2)) if name == TRAINING else "-"
            (self.lines_[name],) = ax.plot(
                places, numbers, linestyle=dash, marker="o", ms=5, color=colour, linewidth=1.4
            )
        self._frame(ax)
        self._write_gains(ax)
        ends = [
            (f"{name}  {numbers[-1]:.3f}", float(numbers[-1]), COLOURS.get(name, CYCLE[1]))
            for name, numbers in self.scores.items()
        ]
        label_ends(ax, [end for end in ends if np.isfinite(end[1])])
        return self

    def _frame(self, ax: Axes) -> None:
        tidy(ax, "y")
        every = np.concatenate(list(self.scores.values()))
        low, high = float(np.nanmin(every)), float(np.nanmax(every))
        room = 0.14 * (high - low) or 0.01
        ax.set_ylim(low - room, high + room)
        ax.set_xlim(-0.25, len(self.levels) - 0.85)
        names = [self.levels[0], *(f"+ {name}" for name in self.levels[1:])]
        ax.set_xticks(range(len(names)), names)
        ax.set_xlabel("level", fontsize=9)
        ax.set_ylabel(self.score_name, fontsize=9)

    def _write_gains(self, ax: Axes) -> None:
        """Write what each level adds beside the line of the rows that it is judged by."""
        honest = [name for name in self.scores if name != TRAINING]
        if not honest:
            return
        name = honest[-1]
        numbers = self.scores[name]
        for level, gain in enumerate(self.gains[name]):
            ax.annotate(
                f"{gain:+.3f}".replace("-", "−"),
                (level + 0.5, (numbers[level] + numbers[level + 1]) / 2),
                xytext=(0, -5 if gain >= 0 else 5),
                textcoords="offset points",
                ha="left",
                va="top" if gain >= 0 else "bottom",
                fontsize=8,
                color=COLOURS.get(name, CYCLE[1]),
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.85},
            )


def _cross_validated(estimator: Any, X: Any, y: Any, cv: Any) -> Floats:
    """Fit the cascade anew in every split, and average the scores of its levels."""
    y = np.asarray(y)
    folds = read_folds(cv, X, y, None, classes=not is_regressor(estimator))
    scores = []
    for train, test in folds:
        model = clone(estimator).fit(_safe_indexing(X, train), y[train])
        scores.append(model.level_scores(_safe_indexing(X, test), y[test]))
    return np.asarray(np.mean(scores, axis=0))
