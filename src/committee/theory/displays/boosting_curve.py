"""The learning curve of a booster: training and test error by round, below what theory allows.

AdaBoost's training error after t rounds is at most the product of Z_1 .. Z_t, and that at most
exp(-2 sum gamma^2), gamma = 1/2 - error (Freund and Schapire 1997; Schapire and Singer 1999). The
test error has no such bound, and often falls on when the training error is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from committee.core.members import Floats
from committee.core.plot_style import BLUE, CYCLE, INK, Axes, Figure, by_name, tidy
from committee.data import InputError
from committee.data.errors import describe
from committee.data.weights import read_weights
from committee.ensembles.boosting.certificate_plot import training_bounds
from committee.theory.displays.boosters import (
    as_curve,
    check_same_length,
    is_in_parts,
    label_ends,
    last_known,
    mark_end,
    n_rounds_of,
    one_label_a_row,
    panels,
    read_models,
    scale_rounds,
)

GIVEN = "given rows"  # which rows they are only the caller knows
ASKED = {"asked": "staged_predict", "numbers_lack": "share of rows misclassified"}
TRAINING, TEST, BOUNDS = BLUE, CYCLE[1], "#777777"
DASHES = ((0, (5, 2)), (0, (1.2, 1.6)), (0, (5, 1.5, 1.2, 1.5)))


@dataclass(frozen=True, eq=False)
class BoostingCurve:
    """Errors of one booster by round.

    Attributes
    ----------
    training, test : ndarray of shape (n_rounds,) or None
        The error after each round, on training rows and on those to judge by; NaN where no member
        has a weight yet.
    bounds : mapping of str to ndarray of shape (n_rounds,)
        What theory says the training error cannot exceed.
    rows_name : str
        What the rows of ``test`` are called.
    """

    training: Floats | None = None
    test: Floats | None = None
    bounds: Mapping[str, Floats] = field(default_factory=dict)
    rows_name: str = "test"

    @property
    def lines(self) -> dict[str, Floats]:
        """All curves by name."""
        errors = {"training": self.training, self.rows_name: self.test}
        return {**{k: e for k, e in errors.items() if e is not None}, **self.bounds}


class BoostingCurveDisplay:
    """Training error, test error and bounds by round, one panel for each model.

    Any classifier with ``staged_predict`` has errors; bounds are drawn beside the training error,
    the only one they speak of, where a certificate claims them. LPBoost and ERLPBoost find all
    votes anew in every round: their curves show the votes of the end joining one by one, not fits
    of fewer rounds.

    Parameters
    ----------
    curves : BoostingCurve or mapping of str to BoostingCurve
        The errors of one model, or of several under their names; a BoostingCurve is what
        :meth:`curve` returns.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the first model was drawn.
    axes_ : list of matplotlib Axes
        One for each model.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    lines_ : dict of str to dict of str to matplotlib Line2D
        By model and curve.

    Examples
    --------
    >>> from committee import AdaBoostClassifier, BoostingCurveDisplay
    >>> X = [[8, 7], [6, 8], [7, 10], [1, 3], [2, 1], [3, 5], [5, 6], [4, 2], [10, 9], [9, 4]]
    >>> y = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> others = [[5, 3], [9, 9], [2, 2]], [0, 0, 0]
    >>> curve = BoostingCurveDisplay.curve(model, *others, X_train=X, y_train=y)
    >>> curve.training
    array([0.3, 0.3, 0. ])
    >>> curve.bounds["product of Z"].round(4)
    array([0.9165, 0.7521, 0.5162])
    >>> display = BoostingCurveDisplay.from_estimator(model, *others)
    >>> list(display.final["AdaBoostClassifier"])
    ['given rows']
    """

    ax_: Axes
    axes_: list[Axes]
    figure_: Figure
    lines_: dict[str, dict[str, Any]]

    def __init__(self, curves: BoostingCurve | Mapping[str, BoostingCurve]) -> None:
        self.curves: dict[str, BoostingCurve] = {}
        for name, given in by_name(curves, "model").items():
            if not isinstance(given, BoostingCurve) or not given.lines:
                found = f"{name!r} is {type(given).__name__}, or has no curve"
                raise InputError(describe("P-VALUE", "curves", found, allowed="BoostingCurve"))
            lines = {key: as_curve(key, line, "curves") for key, line in given.lines.items()}
            check_same_length(name, lines, "curves")
            bounds = {key: lines[key] for key in given.bounds}
            self.curves[name] = BoostingCurve(
                lines.get("training"), lines.get(given.rows_name), bounds, given.rows_name
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        X_train: Any = None,
        y_train: Any = None,
        train_weight: Any = None,
        rows_name: str = GIVEN,
        log_rounds: bool = False,
        ax: Any = None,
    ) -> Self:
        """Compute the errors of fitted boosters after each round and draw them.

        Parameters
        ----------
        estimator : estimator or mapping of str to estimator
            Fitted classifiers with ``staged_predict``.
        X, y, sample_weight : array-like
            Rows to judge by, best ones that nobody was fitted on, and their weights.
        X_train, y_train, train_weight : array-like, optional
            What ``fit`` was given, to draw the training error too, weighted as its bounds are.
        rows_name : str
            What to call the rows X, y.
        log_rounds : bool, default=False
            Whether the axis of the rounds is logarithmic.
        ax : matplotlib Axes, or a sequence of as many as there are models, or None
            Where to draw; None makes a figure.

        Returns
        -------
        BoostingCurveDisplay
            The display, drawn.
        """
        params = {
            "sample_weight": sample_weight,
            "X_train": X_train,
            "y_train": y_train,
            "train_weight": train_weight,
            "rows_name": rows_name,
        }
        curves = {
            name: cls.curve(model, X, y, **params)
            for name, model in read_models(estimator, **ASKED).items()
        }
        return cls(curves).plot(ax, log_rounds=log_rounds)

    @staticmethod
    def curve(
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        X_train: Any = None,
        y_train: Any = None,
        train_weight: Any = None,
        rows_name: str = GIVEN,
    ) -> BoostingCurve:
        """Compute the errors of one fitted booster after each round.

        A booster with one committee per class has bounds per class only: those of
        ``model.parts_[k]`` with ``(y == model.classes_[k]).astype(int)``.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier with ``staged_predict``.
        X, y, sample_weight : array-like
            Rows to judge by, best ones that nobody was fitted on, and their weights.
        X_train, y_train, train_weight : array-like, optional
            What ``fit`` was given, to draw the training error too, weighted as its bounds are.
        rows_name : str
            What to call the rows X, y.

        Returns
        -------
        BoostingCurve
            The curves.
        """
        (model,) = read_models({"model": estimator}, **ASKED).values()
        if (X_train is None) != (y_train is None) or (X_train is None and train_weight is not None):
            found = "X_train and y_train are given together, train_weight with them, or none of all"
            raise InputError(describe("P-VALUE", "X_train, y_train", found))
        certified = hasattr(model, "certificate") and not is_in_parts(model)
        drawn = certified and X_train is not None
        bounds = training_bounds(model.certificate()) if drawn else {}
        if rows_name in ("training", *bounds):
            found = f"{rows_name!r} is the name of another curve"
            raise InputError(describe("P-VALUE", "rows_name", found))
        if drawn:
            _refuse_other_rows(model, X_train, y_train, train_weight)
        test = _errors(model, X, y, sample_weight)
        training = None if X_train is None else _errors(model, X_train, y_train, train_weight)
        return BoostingCurve(training, test, bounds, rows_name)

    @property
    def final(self) -> dict[str, dict[str, float]]:
        """The last number of every curve, by model and curve."""
        return {
            name: {key: last_known(line) for key, line in curve.lines.items()}
            for name, curve in self.curves.items()
        }

    def plot(self, ax: Any = None, *, log_rounds: bool = False) -> Self:
        """Draw the curves, with their last numbers beside them.

        Parameters
        ----------
        ax : matplotlib Axes, or a sequence of as many as there are models, or None
            Where to draw; None makes a figure.
        log_rounds : bool, default=False
            Whether the axis of the rounds is logarithmic.

        Returns
        -------
        BoostingCurveDisplay
            The display itself.
        """
        several = len(self.curves) > 1
        size = (4.8, 3.3) if several else (6.8, 3.8)
        self.axes_ = panels(ax, len(self.curves), size, abreast=2 if len(self.curves) == 4 else 3)
        self.ax_, self.lines_ = self.axes_[0], {}
        self.figure_ = self.ax_.get_figure(root=True)
        top = self._top()
        longest = max(len(line) for c in self.curves.values() for line in c.lines.values())
        for ax, (name, curve) in zip(self.axes_, self.curves.items(), strict=True):
            tidy(ax, "y")
            ax.set_ylim(0, top)
            scale_rounds(ax, longest, log=log_rounds)
            self.lines_[name] = self._panel(ax, name, curve, longest)
            if ax.get_subplotspec() is None or ax.get_subplotspec().is_first_col():
                ax.set_ylabel("share of rows misclassified", fontsize=9)
            if several:
                ax.set_title(name, fontsize=10, loc="left", color=INK)
        return self

    def _top(self) -> float:
        """Leave room for the errors; bounds may come down from above."""
        errors = [
            float(np.nanmax(line, initial=0.0))
            for curve in self.curves.values()
            for line in (curve.training, curve.test)
            if line is not None
        ]
        highest = max(errors, default=0.0)
        ends = [
            last_known(bound) for curve in self.curves.values() for bound in curve.bounds.values()
        ]
        if not highest or any(highest < end <= 1 for end in ends):
            return 1.02
        return min(1.02, 1.15 * highest)

    def _panel(self, ax: Axes, name: str, curve: BoostingCurve, longest: int) -> dict[str, Any]:
        lines, labels = {}, []
        n_rounds = len(next(iter(curve.lines.values())))
        rounds = np.arange(1, n_rounds + 1)
        dashes = dict(zip(curve.bounds, DASHES * len(curve.bounds), strict=False))
        for key, line in reversed(curve.lines.items()):  # errors above bounds
            bound = key in curve.bounds
            colour = BOUNDS if bound else TRAINING if key == "training" else TEST
            look = {"linestyle": dashes[key], "linewidth": 1.1} if bound else {"linewidth": 1.4}
            (lines[key],) = ax.plot(rounds, line, color=colour, label=f"{name}: {key}", **look)
            mark_end(ax, line, longest, colour)
            end = self.final[name][key]
            number = "0" if end == 0 else "<0.001" if end < 5e-4 else f"{end:.3f}"
            labels.append((f"{key}  {number}", end, colour))
        label_ends(ax, [label for label in labels if np.isfinite(label[1])])
        return lines


def _refuse_other_rows(model: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Hold rows against what a certified booster knows of its own; bounds hold for no others."""
    if not model._is_fitted_to(model._fitted_to(X, y, sample_weight)):
        found = "these rows, labels or weights are not those of the fit"
        raise InputError(
            describe("M-ROWS", "X_train, y_train", found, fix="give what fit was given")
        )


def _errors(model: Any, X: Any, y: Any, sample_weight: Any) -> Floats:
    """Weigh the misclassified rows after each round."""
    y = one_label_a_row(model, y)
    weight = read_weights(sample_weight, len(y))
    weight = np.ones(len(y)) if weight is None else weight
    wrong = []
    for labels in model.staged_predict(X):
        if len(labels) != len(y):
            found = f"{len(y)} labels for {len(labels)} rows"
            raise InputError(describe("Y-LENGTH", "y", found))
        wrong.append(float(np.sum(weight, where=labels != y) / weight.sum()))
    errors = np.array(wrong)
    if hasattr(model, "committee_"):
        # A member without error takes all weight, so that those before it do not vote any more.
        errors[np.cumsum(np.abs(model.committee_.weights)) == 0] = np.nan
        each = len(errors) // n_rounds_of(model)
        errors = errors[each - 1 :: each]
    return errors
