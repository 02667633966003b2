"""Members of any kind, fitted on their bags by scikit-learn's conventions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing

from committee.core.bags import BagPlan, LeftOut, repetitions
from committee.core.committee import Committee
from committee.core.members import ClassifierMember, Floats, Member, RegressorMember
from committee.core.outofbag import OutOfBag, accumulate
from committee.core.rounds import Round
from committee.data import InputError, Schema
from committee.data.errors import describe
from committee.ensembles.any_rows import AnyRows
from committee.ensembles.bagging.map_draws import SubspaceDraw
from committee.ensembles.member_fitting import (
    DrawMap,
    FittedMember,
    MappedMember,
    Training,
    fit_members,
    takes_weights,
)
from committee.learners.targets import ClassTarget, Target


@dataclass(eq=False)
class AnyCrew:
    """Fits estimators, and asks them.

    Attributes
    ----------
    base : estimator
        Copied for each member.
    rows : AnyRows
        The training rows in their container.
    target : ClassTarget or NumberTarget
        What is to be explained; members are given labels as the user wrote them.
    weight : ndarray or None
        Weights of the rows as given to ``fit``.
    keys : ndarray of uint64
        Their content.
    draw_map : callable
        Draws the feature map of a member.
    params : mapping
        What else ``fit`` of the members takes.
    hard : bool
        Whether a member gives a whole vote to one class.
    n_threads, verbose : int
        Jobs, and whether they tell.
    """

    base: Any
    rows: AnyRows
    target: Target
    weight: Floats | None
    keys: npt.NDArray[np.uint64]
    draw_map: SubspaceDraw | DrawMap
    params: Mapping[str, Any]
    hard: bool
    n_threads: int
    verbose: int

    @property
    def schema(self) -> Schema:
        """Width and names of the rows."""
        return self.rows.schema

    def rounds(self, plan: BagPlan, members: range) -> Iterator[Round]:
        """Fit members and yield them in order."""
        if not len(members):
            return
        whole = isinstance(self.draw_map, SubspaceDraw) and self.draw_map.whole
        training = Training(
            self.base,
            self.rows.X,
            self._targets(),
            np.argsort(self.keys, kind="stable"),
            plan.seed,
            None if whole else self.draw_map,
            self.params,
        )
        bags = plan.native()
        every = self._every_row(plan)

        def bag_of(member: int) -> Floats:
            return bags.weights(member) if every is None else every

        fitted = fit_members(training, bag_of, members, n_jobs=self.n_threads, verbose=self.verbose)
        for member, made in zip(members, fitted, strict=True):
            yield Round(self._seat(made), np.ones(member + 1))

    def _targets(self) -> npt.NDArray[Any]:
        if isinstance(self.target, ClassTarget):
            labels = self.target.labels
            return np.asarray(labels.classes[0][labels.codes[:, 0]])
        y = self.target.y
        return y[:, 0] if y.shape[1] == 1 else y

    def _every_row(self, plan: BagPlan) -> Floats | None:
        """Weigh all rows where none is drawn; refuse weights that a member cannot use."""
        every = None
        if plan.draw == "all":
            every = np.ones(len(self.keys)) if self.weight is None else self.weight
            units = repetitions(every)
            every = every if units is None else units.astype(np.float64)
        fractions = plan.draw == "exponential" or (every is not None and units is None)
        if fractions and not takes_weights(self.base):
            name = type(self.base).__name__
            found = f"{name}.fit takes no sample_weight, and rows cannot be repeated by fractions"
            fix = "resampling='poisson' draws whole numbers; or another estimator"
            raise InputError(describe("P-BAG", "resampling", found, fix=fix))
        return every

    def _seat(self, made: FittedMember) -> Member:
        seat: Member = RegressorMember(made.estimator)
        if isinstance(self.target, ClassTarget):
            seat = ClassifierMember(made.estimator, self.target.labels.classes[0], self.hard)
        return seat if made.feature_map is None else MappedMember(made.feature_map, seat)

    def attributes(self, committee: Committee, before: Any) -> dict[str, Any]:
        """Name what a fitted model keeps besides the committee: nothing."""
        return {}

    def out_of_bag(self, committee: Committee, left_out: LeftOut) -> OutOfBag:
        """Predict each row by the members that left it out."""
        *_, last = accumulate(self.one_by_one(committee, left_out), left_out)
        return last

    def one_by_one(self, committee: Committee, left_out: LeftOut) -> Iterator[Floats]:
        """Yield what each member says about the rows it left out, NaN elsewhere."""
        n_outputs = sum(self.target.n_classes)
        for index, member in enumerate(committee.members):
            outputs = np.full((left_out.n_rows, n_outputs), np.nan)
            rows = np.flatnonzero(left_out.mask(index))
            if len(rows):
                outputs[rows] = member.outputs(_safe_indexing(self.rows.X, rows))
            yield outputs


def estimator_of(member: Any) -> Any:
    """Take the estimator out of its seat."""
    seat: Any = member.member if isinstance(member, MappedMember) else member
    return seat.estimator


def map_of(member: Any) -> Any:
    """Take the feature map out of the seat, None where there is none."""
    return member.feature_map if isinstance(member, MappedMember) else None
