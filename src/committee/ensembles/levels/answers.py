"""What a member is asked for: probabilities, decision values or labels, in columns by class.

Labels become a 1 in the column of their class (a vote), never a number of the class: a meta-model
could read "class 2 is twice class 1" into a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from committee.core.members import ClassifierMember, Floats, Member, RegressorMember
from committee.data import InputError
from committee.data.errors import describe, listing
from committee.ensembles.any_rows import AnyRows
from committee.ensembles.panel import PanelTask, Seat

AUTO = ("predict_proba", "decision_function", "predict")


def methods_of(seats: Sequence[Seat], methods: Sequence[str], owner: str) -> tuple[str, ...]:
    """Choose for each member the first of the methods that it has.

    Parameters
    ----------
    seats : sequence of Seat
        The members.
    methods : sequence of str
        In the order in which they are preferred.
    owner : str
        Used in messages.

    Returns
    -------
    tuple of str
        One for each member.

    Raises
    ------
    InputError
        Naming the members that have none of them.
    """
    without = [str(seat) for seat in seats if _first(seat.estimator, methods) is None]
    if without:
        wanted = " or ".join(methods)
        found = f"Underlying estimator {listing(without)} of {owner} does not implement {wanted}"
        fix = "stack_method='auto', or other members"
        raise InputError(describe("P-PANEL", "stack_method", found, fix=fix))
    return tuple(str(_first(seat.estimator, methods)) for seat in seats)


def _first(estimator: Any, methods: Sequence[str]) -> str | None:
    return next((method for method in methods if hasattr(estimator, method)), None)


@dataclass(frozen=True, eq=False)
class ScoringMember:
    """A fitted classifier that is asked for its decision values.

    Attributes
    ----------
    estimator : object
        The classifier.
    classes : ndarray
        All classes; a member that has not seen one has no score for it and is refused.
    """

    estimator: Any
    classes: npt.NDArray[Any]

    def outputs(self, X: Any) -> Floats:
        """Give the decision values: one column for two classes."""
        unseen = sorted(set(self.classes.tolist()) - set(np.asarray(self.estimator.classes_)))
        if unseen:
            name = type(self.estimator).__name__
            found = f"{name} has not seen class {unseen[0]!r} in its rows and has no score for it"
            fix = "stack_method='predict_proba', or a cv with every class in every training side"
            raise InputError(describe("M-CLASSES", "stack_method", found, fix=fix))
        scores = np.asarray(self.estimator.decision_function(X), dtype=np.float64)
        return scores.reshape(len(scores), -1)


@dataclass(frozen=True, eq=False)
class StackTask(PanelTask):
    """A panel's work, in which classifiers may be asked for decision values, too.

    Attributes
    ----------
    methods : tuple of str
        What a classifier is asked for: the first of these that it has.
    """

    methods: tuple[str, ...] = AUTO

    @classmethod
    def of(cls, task: PanelTask, methods: tuple[str, ...]) -> StackTask:
        """Add to a task what classifiers are asked for."""
        return cls(**{f.name: getattr(task, f.name) for f in fields(task)}, methods=methods)

    def keys(self) -> npt.NDArray[np.uint64]:
        """Hash the content of each row with its target."""
        target = self.y if self.codes is None else self.codes
        content = np.ascontiguousarray(target.reshape(len(target), -1), dtype=np.float64)
        return AnyRows.read(self.X).keys(content, self.n_jobs)

    def asked(self, seats: Sequence[Seat]) -> tuple[str, ...]:
        """Name what each member is asked for, and refuse those that have nothing of it."""
        if self.classes is None:
            return ("predict",) * len(seats)
        return methods_of(seats, self.methods, self.owner)

    def member(self, estimator: Any, *, votes: bool = False) -> Member:
        """Make a fitted estimator a member."""
        return seated(estimator, self.classes, self.methods)


def seated(estimator: Any, classes: npt.NDArray[Any] | None, methods: Sequence[str]) -> Member:
    """Make a fitted estimator a member; a classifier is asked for the first method that it has."""
    if classes is None:
        return RegressorMember(estimator)
    method = _first(estimator, methods)
    if method == "decision_function":
        return ScoringMember(estimator, classes)
    return ClassifierMember(estimator, classes, votes=method == "predict")
