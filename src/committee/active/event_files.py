"""Files of label events: a line that says what the file is, then one JSON object an event.

JSON holds text and numbers and nothing that could be executed, so that a file from anywhere can be
read. A file that is damaged is refused with the line at fault.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from committee.active.events import LabelEvent, LabelLog, now, plain_label, plain_row
from committee.data import InputError, InputTypeError
from committee.data.errors import class_name, describe

FORMAT, VERSION = "committee.labels", 1
NEEDED: dict[str, tuple[type, ...]] = {
    "sequence": (int,),
    "row": (int, str),
    "label": (str, int, float, bool),
    "annotator": (str,),
    "time": (str,),
    "reason": (str,),
    "round": (int, type(None)),
    "disagreement": (int, float, type(None)),
    "kind": (str,),
    "new_class": (bool,),
}


def save_log(log: LabelLog, path: str | os.PathLike[str]) -> None:
    """Write a log to a file, which is replaced at once or not at all.

    Parameters
    ----------
    log : LabelLog
        The events.
    path : path
        Where to.
    """
    if not isinstance(log, LabelLog):
        found = f"{class_name(log)} has no events"
        raise InputTypeError(describe("E-EVENT", "log", found, allowed="a LabelLog"))
    target = Path(path)
    _check_folder(target)
    lines = [_line(_head(log)), *(_line(vars(event)) for event in log.events)]
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.write("".join(lines))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def load_log(path: str | os.PathLike[str], *, clock: Callable[[], str] = now) -> LabelLog:
    """Read a log from a file, event by event, so that it ends in the state it was saved in.

    Parameters
    ----------
    path : path
        What :func:`save_log` or a :class:`LabelJournal` wrote.
    clock : callable
        Gives the time of further events.

    Returns
    -------
    LabelLog
        The same events.
    """
    lines = Path(path).read_bytes().split(b"\n")
    if lines[-1] != b"":
        raise _fault(path, len(lines), "ends in the middle of a line", "delete that line")
    head = _object(path, 1, lines[0])
    if head.get("format") != FORMAT or head.get("version") != VERSION:
        found = f"says {head.get('format')!r}, version {head.get('version')!r}"
        raise _fault(path, 1, found, f"a file of {FORMAT}, version {VERSION}")
    classes = head.get("classes")
    if classes is not None and not isinstance(classes, list):
        raise _fault(path, 1, "classes is no list", "a file that save_log wrote")
    log = LabelLog(classes, clock=clock)
    for number, line in enumerate(lines[1:-1], start=2):
        fields = _object(path, number, line)
        try:
            log.add(_event(fields))
        except InputError as error:
            raise _fault(path, number, str(error), "a file that save_log wrote") from error
    return log


class LabelJournal(LabelLog):
    """A log that writes each event to its file before the event counts.

    Parameters
    ----------
    path : path
        A file that is there is continued, with its classes; otherwise it is made.
    classes : iterable of labels or None
        As in :class:`LabelLog`, for a new file.
    clock : callable
        Gives the time of an event.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        classes: Any = None,
        *,
        clock: Callable[[], str] = now,
    ) -> None:
        self.path = Path(path)
        self._reading = True
        if self.path.exists():
            known = load_log(self.path)
            super().__init__(known.declared, clock=clock)
            for event in known.events:
                self.add(event)
        else:
            super().__init__(classes, clock=clock)
            save_log(self, self.path)
        self._reading = False

    def _write(self, event: LabelEvent) -> None:
        if self._reading:
            return
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line(vars(event)))
            file.flush()
            os.fsync(file.fileno())


def _check_folder(path: Path) -> None:
    """Refuse a file in a folder that is not there, before another file is begun beside it."""
    if path.parent.is_dir():
        return
    found, fix = f"the folder {str(path.parent)!r} is missing", "make the folder, or another path"
    if path.parent.exists():
        found, fix = f"{str(path.parent)!r} is no folder", "another path"
    raise InputError(describe("E-FILE", str(path), found, fix=fix))


def _head(log: LabelLog) -> dict[str, Any]:
    classes = None if log.declared is None else list(log.declared)
    return {"format": FORMAT, "version": VERSION, "classes": classes}


def _line(fields: Mapping[str, Any]) -> str:
    return json.dumps(dict(fields), ensure_ascii=False, allow_nan=False) + "\n"


def _object(path: Any, number: int, line: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(line.decode("utf-8"))
    except ValueError as error:
        raise _fault(path, number, f"is no JSON: {error}", "a file that save_log wrote") from error
    if not isinstance(fields, dict):
        raise _fault(path, number, "is no JSON object", "a file that save_log wrote")
    return fields


def _event(fields: dict[str, Any]) -> LabelEvent:
    if set(fields) != set(NEEDED):
        odd = sorted(set(fields) ^ set(NEEDED))
        raise InputError(describe("E-EVENT", odd[0], "a field too many or too few"))
    for name, kinds in NEEDED.items():
        value = fields[name]
        wrong_bool = isinstance(value, bool) and bool not in kinds
        if not isinstance(value, kinds) or wrong_bool:
            raise InputError(describe("E-EVENT", name, f"got {value!r}"))
    plain_row(fields["row"])
    plain_label(fields["label"])
    return LabelEvent(**fields)


def _fault(path: Any, number: int, found: str, fix: str) -> InputError:
    return InputError(describe("E-FILE", str(path), f"line {number} {found}", fix=fix))
