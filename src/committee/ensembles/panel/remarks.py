"""What members warn of, told once however many of them do, and wherever they were fitted.

Members of one panel see the same rows, so that each would remark the same; and what is said in a
worker process is heard by nobody.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from committee.data import DataWarning
from committee.data.errors import code_of, warn

NAMES = ("X has feature names", "X does not have valid feature names")


@dataclass(frozen=True)
class Remark:
    """A warning that was heard; equal ones are told once."""

    category: type[Warning]
    text: str
    file: str
    line: int

    @property
    def of_the_panel(self) -> bool:
        """Whether the panel says so itself: remarks on y and on names of features."""
        if issubclass(self.category, DataWarning):
            return code_of(self.text).startswith("Y-")
        return self.text.startswith(NAMES)


@contextmanager
def heard() -> Iterator[list[Remark]]:
    """Collect warnings instead of showing them.

    Filters of warnings belong to the process, so that only its main thread may change them.
    """
    remarks: list[Remark] = []
    if threading.current_thread() is not threading.main_thread():
        yield remarks
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)  # what is an error is one where it is told
        yield remarks
    for one in caught:
        remarks.append(Remark(one.category, str(one.message), one.filename, one.lineno))


def tell(remarks: Iterable[Remark]) -> None:
    """Show each remark once, without those that the panel makes itself."""
    for remark in dict.fromkeys(remarks):
        if remark.of_the_panel:
            continue
        if issubclass(remark.category, DataWarning):
            warn(remark.text, remark.category)
        else:
            warnings.warn_explicit(remark.text, remark.category, remark.file, remark.line)


def fresh(remarks: Sequence[Remark], told: set[str]) -> list[Remark]:
    """Leave out facts about rows of the kinds that were told before, and note those that are new.

    Levels see the same features in other columns, so that they do not tell them alike.
    """
    facts = {one: code_of(one.text) for one in remarks if issubclass(one.category, DataWarning)}
    new = [one for one in remarks if facts.get(one) not in told]
    told.update(facts.values())
    return new
