"""The course of a learner: labels, errors on test rows and errors of left-out rows, by round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import _num_samples

from committee.active.active_classifier import ActiveClassifier
from committee.active.content import Pool
from committee.active.events import LabelEvent, LabelLog, RowId, plain_row
from committee.active.expected import expected_warnings
from committee.core.params import integer, invalid
from committee.data import InputError, InputTypeError, read_classes
from committee.data.errors import class_name, describe, listing
from committee.ensembles.any_rows import rows_to_ask


class Course:
    """A learner as it grows.

    Parameters
    ----------
    model : ActiveClassifier
        Unfitted; it is copied.

    Attributes
    ----------
    model : ActiveClassifier
        The learner.
    n_labels : list of int
        After each round, the labels it was fitted to.
    errors : list of float
        The share of test rows that were wrong.
    judged : list of tuple of int
        Labelled rows that were wrong by the members that left them out, and all such rows.
    """

    def __init__(self, model: ActiveClassifier) -> None:
        self.model = clone(model)
        self.n_labels: list[int] = []
        self.errors: list[float] = []
        self.judged: list[tuple[int, int]] = []

    @property
    def fitted(self) -> bool:
        """Whether the learner knows any label."""
        return bool(self.model.__sklearn_is_fitted__())

    def learn(self, X: Any, y: Any, classes: Any, test: tuple[Any, Any] | None) -> None:
        """Fit to all labelled rows, and measure."""
        if self.model.classes is not None and classes is not None:
            self.model.set_params(classes=list(classes))  # new ones may have come
        with expected_warnings(rows=True):
            self.model.fit(X, y)
            if test is not None:
                self.errors.append(float(np.mean(self.model.predict(test[0]) != test[1])))
        self.n_labels.append(len(y))
        if hasattr(self.model.estimator_, "left_out_"):
            self.judged.append(self.model.out_of_bag_error())

    def forget(self) -> None:
        """Begin anew: every label is in conflict. What was measured stays."""
        self.model = clone(self.model)


def round_ends(events: Sequence[LabelEvent]) -> list[int]:
    """Find where the rounds of a log end.

    Events without the number of a round, decisions of conflicts and what was written into the log
    by hand, are heard with the next round; behind the last round nobody has heard them yet. Those
    before the first question of a loop that was given them are a round of their own.

    Parameters
    ----------
    events : sequence of LabelEvent
        Of a log.

    Returns
    -------
    list of int
        For each round how many events there are up to its end.
    """
    ends: list[int] = []
    last: int | None = None
    for k, event in enumerate(events):
        if event.round is None:
            continue
        if last is None and k > 0 and event.round > 0:
            ends.append(k)
        if event.round == last:
            ends.pop()
        ends.append(k + 1)
        last = event.round
    return ends if ends or not events else [len(events)]


def classes_told(log: LabelLog, labels: Sequence[Any] = ()) -> list[Any]:
    """List the labels that a log holds, and further ones, each once."""
    return list(dict.fromkeys([*(event.label for event in log.events), *labels]))


def read_answers(
    rows: Any, labels: Any, places: Mapping[RowId, int]
) -> tuple[list[RowId], list[Any]]:
    """Read ids of rows of a pool, with a label for each."""
    if isinstance(rows, (str, int, np.generic)):
        found, allowed = f"got {rows!r}", "a sequence of ids, with a label for each"
        raise InputTypeError(describe("E-EVENT", "rows", found, allowed=allowed))
    ids, said = [plain_row(row) for row in rows], list(labels)
    if len(ids) != len(said):
        found = f"{len(said)} labels for {len(ids)} rows"
        raise InputError(describe("Y-LENGTH", "labels", found))
    strange = [row for row in ids if row not in places]
    if strange:
        found = f"row {strange[0]!r} is not in the pool"
        raise InputError(describe("E-EVENT", "rows", found))
    return ids, said


def check_labels(labels: Mapping[RowId, Any]) -> None:
    """Refuse labels that no learner takes together, such as text and numbers, before they count."""
    if labels:
        read_classes(np.array([*labels.values()], dtype=object), len(labels), remark=False)


def check_test_labels(y_test: Any, known: Any) -> None:
    """Refuse test labels of which none is a class that is known."""
    labels = np.asarray(y_test).tolist()
    if known is None or any(label in set(known) for label in labels):
        return
    found = f"none of them is a known class: the first is {labels[0]!r}"
    allowed = f"labels among the classes {listing(list(known))}"
    raise InputError(describe("Y-CLASSES", "y_test", found, allowed=allowed))


def check_test_rows(X_test: Any, pool: Pool) -> None:
    """Refuse test rows with other columns than the pool, before the first question is paid for."""
    try:
        rows_to_ask(X_test, pool.rows.schema, "ActiveLoop")
    except InputError as error:
        found = f"the columns are not those of the pool: {error}"
        raise InputError(describe("Q-ROWS", "X_test", found)) from error


def read_ids(ids: Sequence[Any] | None, n_rows: int) -> list[RowId]:
    """Read the ids of the rows of a pool; without any, their positions."""
    if ids is None:
        return list(range(n_rows))
    listed = [plain_row(row) for row in ids]
    if len(listed) != n_rows or len(set(listed)) < n_rows:
        found = f"{len(set(listed))} different ids for {n_rows} rows"
        raise InputError(describe("E-EVENT", "ids", found, allowed="one for each row of the pool"))
    return listed


def check_loop(
    model: Any,
    n_initial: int,
    k: int,
    X_test: Any = None,
    y_test: Any = None,
    owner: str = "ActiveLoop",
) -> None:
    """Refuse what a loop cannot work with, before any question."""
    if not isinstance(model, ActiveClassifier):
        found = f"{class_name(model)} cannot ask"
        allowed = "QueryByBagging, QueryByBoosting, QueryByCommittee or ActiveDecorate"
        raise InputTypeError(describe("P-ESTIMATOR", "model", found, allowed=allowed))
    if getattr(model, "prefit", False):
        found = "prefit=True; a loop fits copies of the committee to the labels of its log"
        fix = "prefit=False, with the labels that there are in log"
        raise InputError(describe("P-ESTIMATOR", "model", found, fix=fix))
    for name, value in (("n_initial", n_initial), ("k", k)):
        if not integer(1).is_satisfied_by(value):
            raise invalid(name, owner, "an int in the range [1, inf)", value)
    if (X_test is None) != (y_test is None):
        found = "X_test and y_test are given together or not at all"
        raise InputError(describe("P-VALUE", "X_test, y_test", found))
    if X_test is not None and _num_samples(X_test) != _num_samples(y_test):
        found = f"{_num_samples(y_test)} labels for {_num_samples(X_test)} rows"
        raise InputError(describe("Y-LENGTH", "y_test", found))
    if X_test is not None:
        try:
            read_classes(y_test, _num_samples(y_test), estimator_name=owner, remark=False)
        except InputError as error:
            raise InputError(f"{error} This is about y_test.") from None
