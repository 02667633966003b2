"""Different classifiers side by side: a panel whose members' probabilities are averaged.

Unlike a soft vote it takes members without probabilities; they give their whole vote to a class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from committee.core.committee import Committee
from committee.core.members import Floats
from committee.core.voting import mean
from committee.ensembles.panel import Panel, check_prefit


class SideBySide(ClassifierMixin, Panel):
    """Classifiers of any kind, each fitted to all rows, with seeds by its index.

    Parameters
    ----------
    estimators : list of (str, classifier)
        The members; see :func:`in_order`.
    owner : str
        What messages call the panel: its own name is none that a user has written.
    prefit : bool, default=False
        Whether they are fitted already, perhaps not to all classes.
    n_jobs, random_state, verbose
        As in :class:`VotingClassifier`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Panel._parameter_constraints,
        "owner": [str],
        "prefit": ["boolean"],
    }

    _listed_in = "estimator"
    committee_: Committee

    def __init__(
        self,
        estimators: Any,
        *,
        owner: str,
        prefit: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.owner = owner
        self.prefit = prefit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _called(self) -> str:
        return self.owner

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the members; weights that one of them does not take are refused before any is."""
        task = self._read(X, y, sample_weight, {}, prefit=self.prefit)
        if self.prefit:
            check_prefit(task.seats, task.schema.n_features, argument="estimator")
            fitted = [seat.estimator for seat in task.seats]
        else:
            fitted = self._fit_members(task)
        members = [task.member(estimator) for estimator in fitted]
        self._keep(task, fitted, {"committee_": Committee(members, np.ones(len(members)))})
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Average what the members say."""
        return mean(self._outputs(X))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Name the class of the largest mean, the first of equal ones."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def in_order(estimators: Sequence[Any]) -> list[tuple[str, Any]]:
    """Name the members of a list by their places."""
    return [(f"member{index}", estimator) for index, estimator in enumerate(estimators)]
