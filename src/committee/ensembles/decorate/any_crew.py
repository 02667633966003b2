"""Members of any kind, fitted by scikit-learn's conventions on rows in the user's container."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from committee.core.members import ClassifierMember, Floats, Members
from committee.core.randomness import seeded_clone
from committee.data import Labels, Schema
from committee.ensembles.any_rows import AnyRows
from committee.ensembles.decorate.containers import ContainerModel
from committee.ensembles.decorate.training_rows import Codes, Order, enlarged
from committee.ensembles.joining import join_rows
from committee.ensembles.member_fitting import failed_fit, quiet


@dataclass(frozen=True, eq=False)
class AnyCrew:
    """Fits copies of an estimator to training rows and artificial ones.

    Attributes
    ----------
    base : classifier
        Copied for each trial, with seeds of the trial's own.
    asked : ndarray, csr matrix or frame
        The training rows, as :func:`~.training_rows.in_order` puts them.
    read : AnyRows
        All rows as the user gave them.
    order : Order
        Which of them are the training rows.
    categorical : ndarray of bool
        Which columns are categories.
    labels : Labels
        Their classes.
    seed : int
        Of the committee.
    params : mapping
        What else ``fit`` of the members takes.
    """

    base: Any
    asked: Any
    read: AnyRows
    order: Order
    categorical: npt.NDArray[np.bool_]
    labels: Labels
    seed: int
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def schema(self) -> Schema:
        """Width and names of the rows."""
        return self.read.schema

    @property
    def weight(self) -> Floats | None:
        """Weights of the training rows, 1 on average; None where all are alike."""
        return self.order.weight

    @cached_property
    def model(self) -> ContainerModel:
        """What artificial rows are drawn from."""
        rows = self.order.rows
        weight = np.ones(len(rows)) if self.weight is None else self.weight
        return ContainerModel.learn(self.read, rows, weight, self.categorical)

    def draw(self, size: int, rng: np.random.Generator) -> Any:
        """Draw artificial rows, in the container of the training rows."""
        return self.model.draw(size, rng)

    def to_ask(self, rows: Any) -> Any:
        """Hand artificial rows to the members."""
        return rows

    def fit(self, trial: int, artificial: Any = None, codes: Codes | None = None) -> Members:
        """Fit a copy to the training rows, and to artificial ones where there are any."""
        classes = self.labels.classes[0]
        X, y, weight = self.asked, self._named(self.labels.codes[:, 0]), self.weight
        if artificial is not None:
            assert codes is not None
            X, y = join_rows(X, artificial), np.concatenate([y, self._named(codes)])
            weight = enlarged(weight, len(codes))
        params = dict(self.params)
        if weight is not None:
            params["sample_weight"] = weight
        try:
            estimator = seeded_clone(self.base, self.seed, trial)
            with quiet():
                estimator.fit(X, y, **params)
        except Exception as error:
            raise failed_fit(self.base, error, "base learner") from error
        return Members([ClassifierMember(estimator, classes)])

    def _named(self, codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Write labels as the user wrote them."""
        return np.asarray(self.labels.classes[0][codes])
