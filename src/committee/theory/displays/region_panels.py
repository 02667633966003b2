"""What the members of a booster say of a grid over two features, and of their own rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from committee.core.members import Floats
from committee.data import InputError
from committee.data.errors import describe
from committee.theory.displays.boosters import Codes, n_rounds_of, staged_row_weights

MARGIN = 0.09  # of the range of a feature, around the rows


@dataclass(frozen=True, eq=False)
class RegionsPanel:
    """The regions of one member, or of a vote.

    Attributes
    ----------
    title : str
        What is shown.
    regions : ndarray of int of shape (n_y, n_x)
        The class that each point of the grid is given; -1 where none is.
    weights : ndarray of shape (n_rows,) or None
        The weights of the rows; None draws all alike.
    wrong : ndarray of bool of shape (n_rows,)
        Which rows are misclassified.
    """

    title: str
    regions: Codes
    weights: Floats | None
    wrong: npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class GridQuestions:
    """A model, its rows and the grid to ask it about."""

    model: Any
    X: Any
    codes: Codes
    grid: tuple[Floats, Floats]

    @property
    def points(self) -> Any:
        """The points of the grid in the container that fit was given."""
        x, y = np.meshgrid(*self.grid)
        points = np.column_stack([x.ravel(), y.ravel()])
        if hasattr(self.X, "columns"):
            return type(self.X)(dict(zip(self.X.columns, points.T, strict=True)))
        return points

    def _panel(self, title: str, regions: Codes, said: Codes, weights: Any) -> RegionsPanel:
        wrong = said != self.codes
        shape = (len(self.grid[1]), len(self.grid[0]))
        return RegionsPanel(title, regions.reshape(shape), weights, wrong)

    def rounds(self, chosen: list[int], y: Any, sample_weight: Any) -> Iterator[RegionsPanel]:
        """Show the members of rounds on the weights they were given."""
        model = self.model
        each = len(model.committee_) // n_rounds_of(model)
        stages = staged_row_weights(model, self.X, y, sample_weight)
        errors = model.rounds_.get("error")
        rows, points = model._rows(self.X), model._rows(self.points)
        for t in chosen:
            own = model.committee_[(t - 1) * each : t * each]
            said = [_leading(own.outputs(container).sum(axis=0)) for container in (rows, points)]
            title = f"round {t}: " + ("" if errors is None else f"error {errors[t - 1]:.2f}, ")
            title += f"weight {own.weights[0]:.2f}"
            asked = stages[(t - 1) * each : t * each]  # none where no hypothesis was found
            weights = np.mean(asked, axis=(0, 1)) if asked else None
            yield self._panel(title, said[1], said[0], weights)

    def committees(self, y: Any, sample_weight: Any) -> Iterator[RegionsPanel]:
        """Show the committee of each class on its last weights."""
        model = self.model
        last = staged_row_weights(model, self.X, y, sample_weight)[-1]
        for code, part in enumerate(model.parts_):
            rest = -np.ones(1, dtype=np.intp)
            said = [
                np.where(part.predict(asked) == 1, code, rest) for asked in (self.X, self.points)
            ]
            wrong = (said[0] == code) != (self.codes == code)
            title = f"{model.classes_[code]} against the rest: error {wrong.mean():.2f}"
            shape = (len(self.grid[1]), len(self.grid[0]))
            yield RegionsPanel(title, said[1].reshape(shape), last[code], wrong)

    def vote(self) -> RegionsPanel:
        """Show what all members decide together."""
        model = self.model
        places = {label: code for code, label in enumerate(model.classes_.tolist())}
        said = [
            np.array([places[label] for label in model.predict(asked).tolist()], dtype=np.intp)
            for asked in (self.X, self.points)
        ]
        error = float(np.mean(said[0] != self.codes))
        size = len(model)
        title = f"vote of {size} member{'s' if size > 1 else ''}: error {error:.2f}"
        return self._panel(title, said[1], said[0], None)


def _leading(outputs: Floats) -> Codes:
    """Name the class that outputs speak for; -1 where a member of two classes abstains."""
    if outputs.shape[1] == 1:
        sign = np.sign(outputs[:, 0])
        return np.where(sign == 0, -1, (sign > 0).astype(np.intp))
    return np.asarray(outputs.argmax(axis=1))


def two_columns(X: Any) -> Floats:
    """Read two numeric features."""
    try:
        rows = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        found = "a feature that is not numeric has no place on an axis"
        raise InputError(describe("X-DTYPE", "X", found, allowed="two numbers a row")) from error
    if rows.ndim != 2 or rows.shape[1] != 2 or not len(rows):
        found = f"of shape {rows.shape}"
        fix = "choose two features and fit the model on them"
        raise InputError(describe("X-WIDTH", "X", found, allowed="two features", fix=fix))
    return rows


def ticks_over(values: Floats, resolution: int) -> Floats:
    """Spread the points of the grid over the range of a feature, and a little more."""
    if not isinstance(resolution, (int, np.integer)) or resolution < 2:
        allowed = "a whole number of at least 2"
        raise InputError(describe("P-VALUE", "resolution", repr(resolution), allowed=allowed))
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = MARGIN * (high - low) or 0.5
    return np.linspace(low - room, high + room, int(resolution))
