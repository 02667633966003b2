"""Rows of the table from the results of a race."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from benchmarks.gradient.contestants import GROWTHS
from benchmarks.gradient.race import Result
from benchmarks.report import OURS, Entry, Goal, Row

SHORT = 1.0  # seconds, below which all are told in milliseconds


def first_size(results: dict[str, Result]) -> str:
    """Return the size of the table, as told by any process that made it."""
    return next((result.size for result in results.values() if result.size), "size unknown")


def by_growth(results: dict[str, Result]) -> Iterator[tuple[str, dict[str, Result]]]:
    """Yield each growth with its contestants, ours and the peers', on any number of threads."""
    for growth, (ours, *peers) in GROWTHS.items():
        like = {OURS: results[ours]}
        for name, result in results.items():
            if name.partition(", ")[0] in peers:
                like[name] = result
        yield growth, like


def time_row(stage: str, what: str, results: dict[str, Result], goal: Goal, note: str = "") -> Row:
    """Compare medians of seconds, or of milliseconds; the losses stand among the details."""
    found = {name: result.time() for name, result in results.items()}
    unit = "s"
    if all(entry.value is None or entry.value < SHORT for entry in found.values()):
        unit = "ms"
        found = {name: _in_milliseconds(entry) for name, entry in found.items()}
    return Row(stage, what, unit, found, goal, "log-loss", note=note, by="median")


def _in_milliseconds(entry: Entry) -> Entry:
    if entry.value is None or entry.median is None:
        return entry
    return replace(entry, value=1000 * entry.value, median=1000 * entry.median)


def loss_row(
    stage: str, what: str, results: dict[str, Result], slack: float, like: Collection[str] = ()
) -> Row:
    """Hold our log-loss against that of the fastest peer: speed counts at equal quality.

    `like` are those whose trees grow as ours do, where not all do: other trees err otherwise.
    """
    alike = {name: result for name, result in results.items() if not like or name in like}
    times = time_row(stage, what, alike, Goal(1.0, "times"))
    losses = {
        name: Entry(None if result.loss is None else 1000 * result.loss, note=result.failure)
        for name, result in results.items()
    }
    row = Row(stage, f"log-loss on new rows, {what}", "thousandths", losses)
    fastest = times.best()
    if fastest is not None and losses[fastest[0]].value is not None:
        bound = losses[fastest[0]].value * (1 + slack)
        row.goal = Goal(round(bound, 1))
        row.note = f"the goal is that of the fastest peer of like growth and {100 * slack:g} %"
    return row
