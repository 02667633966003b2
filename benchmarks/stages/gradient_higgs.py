"""Gradient boosting on Higgs-like rows, 1M x 28, 100 trees, two threads, binning included.

Like growth stands beside like: leaf-wise trees of 63 and of 255 leaves, level-wise and symmetric
ones of depth 6 and 8. A last row of each size holds our default, leaf-wise, against every one.
Medians of five repeats, each fit in a process of its own (see benchmarks/gradient/race.py), which
gives the peak memory too.
"""

from collections.abc import Callable
from functools import partial

from benchmarks.gradient.contestants import every
from benchmarks.gradient.race import Result, Start, race
from benchmarks.gradient.rows import by_growth, first_size, loss_row, time_row
from benchmarks.gradient.tasks import TASKS
from benchmarks.peers import Plan
from benchmarks.report import Goal, Row

STAGE = "gradient_higgs"
GOAL = 2.0
NOTE = "with binning; the goal is twice the fastest, hoped for are 3"
PLANS = {
    "63": Plan(n_trees=100, n_leaves=63, depth=6),
    "255": Plan(n_trees=100, n_leaves=255, depth=8),
}


def run() -> list[Row]:
    return [row for part in PARTS.values() for row in part()]


def _size(plan: Plan) -> list[Row]:
    """Race all growths together, then lay the results out by growth."""
    task = TASKS["higgs"]
    known = every()
    results = race(task, {name: Start(name, plan) for name in known})
    size = f"{first_size(results)} float32, 2 threads"
    bounds = {
        "leaf": f"leaf-wise, {plan.n_leaves} leaves",
        "level": f"level-wise, depth {plan.depth}",
        "symmetric": f"symmetric, depth {plan.depth}",
    }
    rows = []
    for growth, like in by_growth(results):
        what = f"{plan.n_trees} trees, {bounds[growth]}, {size}"
        rows.append(time_row(STAGE, what, like, Goal(GOAL, "times"), NOTE))
        rows.append(loss_row(STAGE, what, like, task.slack))
    what = f"{plan.n_trees} trees, any growth, {plan.n_leaves} leaves or depth {plan.depth}, {size}"
    rows.append(time_row(STAGE, what, results, Goal(GOAL, "times"), "ours leaf-wise; " + NOTE))
    return [*rows, _memory(f"peak above the data, {what}", results)]


def _memory(what: str, results: dict[str, Result]) -> Row:
    """Ask for the lowest peak of all."""
    found = {name: result.memory() for name, result in results.items()}
    goal = Goal(1.0, "times")
    note = "resident while fitting, above what was before: the rows, the labels and the libraries"
    return Row(STAGE, what, "MB", found, goal, note=note, by="median")


PARTS: dict[str, Callable[[], list[Row]]] = {
    leaves: partial(_size, plan) for leaves, plan in PLANS.items()
}
