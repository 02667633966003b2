"""Does a learner show its training labels? A cheap, honest test of each level of a cascade.

In sample, a level that remembers (1-NN, an unpruned tree, a forest) gives the next one the labels
themselves, in columns that mean much less for new rows. A copy of the learner is fitted on four
fifths of at most 1,000 rows and asked about these and about the rest; where the rest are few, so
are the other fifths in turn, until 200 rows or all were held out. It leaks where it errs on less
than a quarter of the share of rows (for numbers: by less than half as much) among its own as among
the others, and where that is no chance: by more than three standard errors. Below 20 rows nothing
can be told.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from committee.core.members import Floats
from committee.core.randomness import member_rng
from committee.data.errors import describe, warn
from committee.ensembles.panel import PanelTask, Seat
from committee.ensembles.panel.folds import Mask, Rows
from committee.ensembles.panel.remarks import heard

MOST_ROWS = 1000
FEWEST_ROWS = 20  # a handful of rows held out tells nothing
ENOUGH_ROWS = 200  # held out, in as many of the folds as that takes
FOLDS = 5
CLASSES, NUMBERS = 0.25, 0.5  # of the error on other rows: below this, rows are remembered
SURE = 3.0  # standard errors


@dataclass(frozen=True)
class Remembering:
    """Errors of a learner on rows it was fitted on, and on others.

    Attributes
    ----------
    member : str
        Its name.
    own, other : float
        Shares of rows misclassified, or mean absolute errors.
    spread : float
        The standard error of ``other``.
    share : float
        Of ``other``: below it, rows are remembered.
    """

    member: str
    own: float
    other: float
    spread: float
    share: float

    @property
    def leaks(self) -> bool:
        """Whether the next level is shown labels and not predictions."""
        return self.own < self.share * self.other and self.other - self.own > SURE * self.spread


def probe(task: PanelTask, seat: Seat, usable: Mask, stream: int) -> Remembering | None:
    """Fit a copy of a member on a few rows; None where these cannot tell.

    Parameters
    ----------
    task : PanelTask
        Rows and members.
    seat : Seat
        The member.
    usable : ndarray of bool
        The rows to draw from.
    stream : int
        What the rows are drawn by, beyond the index of every member, dropped ones counted, so that
        nothing else is drawn alike.

    Returns
    -------
    Remembering or None
        Its errors.
    """
    rows = np.flatnonzero(usable)
    if len(rows) < FEWEST_ROWS:
        return None
    rows = member_rng(task.seed, stream).permutation(rows)[:MOST_ROWS]
    errors: tuple[list[Floats], list[Floats]] = ([], [])
    n_held_out = 0
    for fold in reversed(np.array_split(rows, FOLDS)):
        if n_held_out >= ENOUGH_ROWS:
            break
        found = _fold_errors(task, seat, np.setdiff1d(rows, fold), np.sort(fold))
        if found is None:
            return None
        for errors_of, more in zip(errors, found, strict=True):
            errors_of.append(more)
        n_held_out += len(fold)
    own, other = (np.concatenate(part) for part in errors)
    spread = float(other.std() / np.sqrt(len(other)))
    share = NUMBERS if task.classes is None else CLASSES
    return Remembering(seat.name, float(own.mean()), float(other.mean()), spread, share)


def _fold_errors(task: PanelTask, seat: Seat, own: Rows, other: Rows) -> list[Floats] | None:
    """Fit a copy on some rows; return its errors on these and on others, None if it cannot."""
    classes = None if task.classes is None else np.unique(task.y[np.append(own, other)])
    if classes is not None and len(np.unique(task.y[own])) < len(classes):
        return None
    params = dict(_check_method_params(task.X, dict(task.params.get(seat.name, {})), own))
    estimator = seat.unfitted(task.seed)
    try:
        with heard():  # what there is to remark, the fit itself will
            estimator.fit(_safe_indexing(task.X, own), task.y[own], **params)
            return [_errors(task, estimator, part) for part in (own, other)]
    except (ValueError, TypeError):
        # What a learner makes of fewer rows than it will get is no fault of the fit that follows;
        # where the fit itself cannot be done, it says so.
        return None


def _errors(task: PanelTask, estimator: object, rows: Rows) -> Floats:
    """Measure the error of each row: 0 or 1, or the distance; squares would hang on outliers."""
    said = task.member(estimator).outputs(_safe_indexing(task.X, rows))
    if task.codes is not None:
        return np.asarray(said.argmax(axis=1) != task.codes[rows], dtype=np.float64)
    true = task.y[rows].reshape(len(rows), -1)
    return np.asarray(np.abs(said - true).mean(axis=1))


def warn_of_leaks(found: list[Remembering], numbers: bool) -> None:
    """Warn once of all levels that leak."""
    leaking = [each for each in found if each.leaks]
    if not leaking:
        return
    form = "{:.3g}" if numbers else "{:.1%}"
    told = "; ".join(
        f"{each.member!r} has an error of {form.format(each.own)} on rows it was fitted on, of "
        f"{form.format(each.other)} on others"
        for each in leaking
    )
    text = f"{told}: later levels are shown the labels and trust them too far"
    fix = "cv=5 shows them out-of-fold predictions; or put such a learner last"
    warn(describe("C-LEAK", "estimators", text, fix=fix))
