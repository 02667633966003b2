"""Rows of the table from the results of a race."""

from collections.abc import Collection

from benchmarks.gradient.race import Result
from benchmarks.report import Entry, Goal, Row


def first_size(results: dict[str, Result]) -> str:
    """Return the size of the table, as told by any process that made it."""
    return next((result.size for result in results.values() if result.size), "size unknown")


def time_row(stage: str, what: str, results: dict[str, Result], goal: Goal, note: str = "") -> Row:
    """Compare medians of seconds; the losses stand among the details."""
    found = {name: result.time() for name, result in results.items()}
    return Row(stage, what, "s", found, goal, "log-loss", note=note, by="median")


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
