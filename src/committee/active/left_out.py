"""The error of a committee on the labelled rows, each judged by members that left it out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from committee.active.ballots import TreeBallots, ballots_of
from committee.active.side_by_side import SideBySide
from committee.active.unanimous import Unanimous
from committee.core.members import read_by
from committee.core.outofbag import accumulate, predict_left_out
from committee.data import InputError
from committee.data.errors import describe
from committee.ensembles.bagging import BaggingClassifier
from committee.learners.forest_kinds import ForestClassifier


def leaves_none_out(name: str) -> InputError:
    """Compose the error for a committee whose members see all rows."""
    found, fix = f"{name} leaves no rows out", "QueryByBagging, or QueryByCommittee over a forest"
    return InputError(describe("Q-STOP", "estimator", found, fix=fix))


def check_leaves_out(model: Any) -> None:
    """Refuse a learner whose members will see all rows, by its parameters, before any question.

    Parameters
    ----------
    model : ActiveClassifier
        Fitted or not.
    """
    model._check()
    committee = model._committee(0, 1)
    if not leaves_rows_out(committee):
        raise leaves_none_out(f"{_called(committee)}, the committee of {type(model).__name__},")


def _called(committee: Any) -> str:
    """Name a committee as the user gave it."""
    return "a list" if isinstance(committee, SideBySide) else type(committee).__name__


def leaves_rows_out(committee: Any) -> bool:
    """Tell whether members of an unfitted committee will leave rows out, and it knows which."""
    if not isinstance(committee, (BaggingClassifier, ForestClassifier)):
        return False
    if committee.bootstrap:
        return bool(committee.resampling != "exponential")  # which weighs rows, and drops none
    size = committee.max_samples if isinstance(committee, BaggingClassifier) else None
    return not (size is None or (isinstance(size, float) and size == 1.0))


def count_left_out_errors(model: Any, X: Any, y: npt.NDArray[Any]) -> tuple[int, int]:
    """Count training rows that the members who left them out get wrong.

    Parameters
    ----------
    model : estimator
        A fitted bagging or forest, which knows what each member left out.
    X, y : rows and labels
        Those of the fit, in their order.

    Returns
    -------
    tuple of int
        Rows that are wrong, and rows that some member left out.
    """
    left_out = getattr(model, "left_out_", None)
    if left_out is None:
        if isinstance(model, Unanimous):
            found = "all labels are of one class, so that there are no members who left rows out"
            raise InputError(describe("Q-STOP", "y", found, fix="labels of another class"))
        raise leaves_none_out(_called(model))
    ballots: Any = ballots_of(model)
    if isinstance(ballots, TreeBallots):
        table = read_by(ballots.trees.schema, X)
        found_out = predict_left_out(ballots.trees.forest, table, left_out)
    else:
        *_, found_out = accumulate((m.outputs(X) for m in ballots.members), left_out)
    known = found_out.known
    said = ballots.classes[found_out.sums[known].argmax(axis=1)]
    return int(np.sum(said != y[known])), int(known.sum())
