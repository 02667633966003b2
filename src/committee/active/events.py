"""Labels as events: who said what about which row, when and why asked; nothing is ever overwritten.

A :class:`LabelLog` only grows. What is known now, the labels that are settled and the rows about
which annotators disagree, is computed from the events, so that a log that is loaded and replayed
gives the same state, at its end and at any moment before. The file has one JSON object a line,
which reading cannot execute.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

import numpy as np

from committee.data import InputError
from committee.data.errors import class_name, describe, listing

Label: TypeAlias = str | int | float | bool
RowId: TypeAlias = str | int
KINDS = ("label", "resolution")


@dataclass(frozen=True)
class LabelEvent:
    """One annotator's answer about one row.

    Attributes
    ----------
    sequence : int
        The number of the event, from 0.
    row : int or str
        The row's id.
    label : str, int, float or bool
        What the annotator said.
    annotator : str
        Who said it.
    time : str
        When, in ISO 8601.
    reason : str
        Why the row was asked about.
    round : int or None
        In which round of questions.
    disagreement : float or None
        How disputed the row was.
    kind : {"label", "resolution"}
        An opinion, or the decision of a conflict.
    new_class : bool
        Whether the label made a class known.
    """

    sequence: int
    row: RowId
    label: Label
    annotator: str
    time: str
    reason: str = ""
    round: int | None = None
    disagreement: float | None = None
    kind: str = "label"
    new_class: bool = False


@dataclass(frozen=True)
class Conflict:
    """A row about which annotators disagree.

    Attributes
    ----------
    row : int or str
        The row's id.
    opinions : dict of str to label
        The last word of each annotator.
    """

    row: RowId
    opinions: dict[str, Label]

    def __str__(self) -> str:
        said = ", ".join(f"{who} says {label!r}" for who, label in self.opinions.items())
        return f"row {self.row!r}: {said}"


@dataclass
class _Answers:
    """What has been said about one row so far."""

    opinions: dict[str, Label] = field(default_factory=dict)
    decided: Label | None = None

    def hear(self, event: LabelEvent) -> None:
        if event.kind == "resolution":
            self.decided = event.label
            return
        self.opinions[event.annotator] = event.label
        if self.decided is not None and not same(self.decided, event.label):
            self.decided = None  # a new objection reopens what was decided

    @property
    def settled(self) -> Label | None:
        if self.decided is not None:
            return self.decided
        first, *others = self.opinions.values()
        return first if all(same(first, other) for other in others) else None


@dataclass(frozen=True, eq=False)
class LabelState:
    """What a log says at some moment.

    Attributes
    ----------
    labels : dict
        The settled label of each row, in the order in which rows were first labelled.
    conflicts : tuple of Conflict
        Rows about which annotators disagree; they have no label until that is resolved.
    """

    labels: dict[RowId, Label]
    conflicts: tuple[Conflict, ...]


def now() -> str:
    """Tell the time as events keep it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class LabelLog:
    """Answers of annotators, in the order in which they came; events are added, never changed.

    Parameters
    ----------
    classes : iterable of labels or None, default=None
        The classes that labels may have. None: nothing is known beforehand, and any label is
        accepted.
    clock : callable, default=now
        Gives the time of an event.

    Examples
    --------
    >>> log = LabelLog(classes=["ham", "spam"])
    >>> event = log.append("mail-7", "spam", annotator="ann", reason="vote margin 0.1")
    >>> event = log.append("mail-9", "ham", annotator="ann")
    >>> event = log.append("mail-7", "ham", annotator="bob")
    >>> print(log.conflicts[0])
    row 'mail-7': ann says 'spam', bob says 'ham'
    >>> log.labels
    {'mail-9': 'ham'}
    >>> event = log.resolve("mail-7", "spam", annotator="eve")
    >>> log.labels
    {'mail-7': 'spam', 'mail-9': 'ham'}
    """

    def __init__(
        self, classes: Iterable[Any] | None = None, *, clock: Callable[[], str] = now
    ) -> None:
        self.declared: tuple[Label, ...] | None = None
        if classes is not None:
            self.declared = tuple(plain_label(label) for label in list(classes))
        self.clock = clock
        self._events: list[LabelEvent] = []
        self._added: list[Label] = []

    @property
    def events(self) -> tuple[LabelEvent, ...]:
        """All events."""
        return tuple(self._events)

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[LabelEvent]:
        return iter(self.events)

    @property
    def classes(self) -> tuple[Label, ...] | None:
        """The known classes: those declared, and those accepted as new; None: any."""
        return None if self.declared is None else (*self.declared, *self._added)

    def append(
        self,
        row: Any,
        label: Any,
        *,
        annotator: str = "annotator",
        reason: str = "",
        round: int | None = None,
        disagreement: float | None = None,
        new_classes: bool = False,
    ) -> LabelEvent:
        """Record what an annotator says about a row.

        An annotator who speaks twice about a row corrects himself. Where two disagree both
        opinions are kept, and the row is in ``conflicts`` until it is resolved.

        Parameters
        ----------
        row : int or str
            The row's id.
        label : str, int, float or bool
            Its class.
        annotator : str
            Who says it.
        reason : str
            Why the row was asked about.
        round : int, optional
            In which round of questions.
        disagreement : float, optional
            How disputed the row was.
        new_classes : bool, default=False
            Whether a label outside the known classes is accepted, and known from now on.

        Returns
        -------
        LabelEvent
            The event.
        """
        event = self._event(row, label, annotator, "label", new_classes)
        known = None if disagreement is None or math.isnan(disagreement) else float(disagreement)
        details = {"reason": str(reason), "round": round, "disagreement": known}
        return self.add(LabelEvent(**{**vars(event), **details}))

    def resolve(self, row: Any, label: Any, *, annotator: str, reason: str = "") -> LabelEvent:
        """Decide on a row; a later label that differs opens the conflict again.

        Parameters
        ----------
        row : int or str
            The row's id; somebody must have labelled it.
        label : str, int, float or bool
            The decision.
        annotator : str
            Who decides.
        reason : str
            Why.

        Returns
        -------
        LabelEvent
            The event.
        """
        event = self._event(row, label, annotator, "resolution", False)
        if not any(same(event.row, known.row) for known in self._events):
            found = f"row {event.row!r} has no label that could be decided on"
            raise InputError(describe("E-EVENT", "row", found, fix="append a label first"))
        return self.add(LabelEvent(**{**vars(event), "reason": str(reason)}))

    def add(self, event: LabelEvent) -> LabelEvent:
        """Add an event that is complete, as one from a file; its number must be the next."""
        self._check(event)
        self._write(event)
        if event.new_class:
            self._added.append(event.label)
        self._events.append(event)
        return event

    def _check(self, event: LabelEvent) -> None:
        if event.sequence != len(self._events):
            found = f"event {event.sequence} where {len(self._events)} is the next"
            raise InputError(describe("E-EVENT", "sequence", found, fix="events are in order"))
        if event.kind not in KINDS:
            found = f"got {event.kind!r}"
            raise InputError(describe("E-EVENT", "kind", found, allowed=" or ".join(KINDS)))
        known = self.classes
        if known is not None and not event.new_class and not _among(event.label, known):
            raise self._strange(event.label, event.row)

    def _write(self, event: LabelEvent) -> None:
        """Keep an event elsewhere, too, before it counts."""

    def _event(
        self, row: Any, label: Any, annotator: Any, kind: str, new_classes: bool
    ) -> LabelEvent:
        row = plain_row(row)
        label = plain_label(label, f" for row {row!r}")
        if not isinstance(annotator, str) or not annotator:
            found = f"got {annotator!r}"
            raise InputError(describe("E-EVENT", "annotator", found, allowed="a name"))
        fresh = self.classes is not None and not _among(label, self.classes)
        if fresh and not new_classes:
            raise self._strange(label, row)
        return LabelEvent(
            len(self._events), row, label, annotator, self.clock(), kind=kind, new_class=fresh
        )

    def _strange(self, label: Label, row: RowId) -> InputError:
        found = f"{label!r} for row {row!r} is no class that is known"
        allowed = f"the known classes {listing([repr(c) for c in self.classes or ()])}"
        fix = "correct the label, or new_classes=True"
        return InputError(describe("Q-CLASS", "label", found, allowed=allowed, fix=fix))

    def replay(self, until: int | None = None) -> LabelState:
        """Compute what is known after the first ``until`` events, by default after all.

        Parameters
        ----------
        until : int, optional
            How many events count, at least 0.

        Returns
        -------
        LabelState
            Settled labels and conflicts.
        """
        if until is not None and until < 0:
            found, allowed = f"got {until}", "how many events count, at least 0"
            raise InputError(describe("P-VALUE", "until", found, allowed=allowed))
        said: dict[RowId, _Answers] = {}
        for event in self._events[:until]:
            said.setdefault(event.row, _Answers()).hear(event)
        settled = {row: answers.settled for row, answers in said.items()}
        return LabelState(
            {row: label for row, label in settled.items() if label is not None},
            tuple(
                Conflict(row, dict(said[row].opinions))
                for row, label in settled.items()
                if label is None
            ),
        )

    @property
    def labels(self) -> dict[RowId, Label]:
        """The settled label of each row."""
        return self.replay().labels

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The queue of rows about which annotators disagree."""
        return self.replay().conflicts


def same(a: Any, b: Any) -> bool:
    """Tell whether two labels are one; True is not 1."""
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)


def _among(label: Label, labels: Iterable[Label]) -> bool:
    return any(same(label, known) for known in labels)


def plain_row(row: Any) -> RowId:
    """Read the id of a row: an integer or text."""
    if isinstance(row, np.generic):
        row = row.item()
    if isinstance(row, bool) or not isinstance(row, (str, int)):
        found = f"{row!r} of type {class_name(row)}"
        raise InputError(describe("E-EVENT", "row", found, allowed="an int or text"))
    return row


def plain_label(label: Any, where: str = "") -> Label:
    """Read a label as a value that JSON keeps."""
    if isinstance(label, np.generic):
        label = label.item()
    finite = not isinstance(label, float) or math.isfinite(label)
    if not isinstance(label, (str, int, float, bool)) or not finite:
        found = f"{label!r} of type {class_name(label)}{where}"
        allowed = "text, an int, a finite float or a bool"
        raise InputError(describe("E-EVENT", "label", found, allowed=allowed))
    return label
