"""Gradient boosting on other tables: many classes, wide, sparse, categories, small.

100 trees of 31 leaves (or of depth 5, where a library bounds that), two threads, binning included.
Our leaf-wise default stands against the fastest of all, whatever its growth; further rows hold like
growth against like. The measurement is that of the Higgs-like rows. On the small table two threads
may cost more than they give: there each peer also runs on one, and the better counts.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from benchmarks.accuracy import SHARED_DATA
from benchmarks.gradient.contestants import GROWTHS, every
from benchmarks.gradient.race import Start, race
from benchmarks.gradient.rows import by_growth, first_size, loss_row, time_row
from benchmarks.gradient.tasks import TASKS, Task
from benchmarks.report import Goal, Row

STAGE = "gradient_tables"
GOALS = {"covertype": 1.0, "wide": 1.0, "text": 1.0, "adult": 1.0, "small": 5.0}
NOTES = {
    "covertype": "one tree a class and round; the two categories as 44 indicators",
    "text": "scikit-learn's takes no sparse rows; absent counts are missing values to XGBoost",
    "adult": "categories and missing values as they are, treated by each library in its own way; "
    "CatBoost's missing categories got a name beforehand",
    "small": "the mean of 10 fits in a process, after a first that is not timed; peers on one "
    "thread and on two, ours on two",
}


def run() -> list[Row]:
    return [row for part in PARTS.values() for row in part()]


def _table(name: str) -> list[Row]:
    task = TASKS[name]
    if task.absent():
        print(f"  {name} left out: the data sets are expected in {SHARED_DATA}.")
        return []
    results = race(task, _starts(task))
    plan = task.plan
    bound = f"{plan.n_leaves} leaves or depth {plan.depth}"
    what = f"{task.title}, {first_size(results)}, {plan.n_trees} trees, {bound}, 2 threads"
    goal = Goal(GOALS[name], "times")
    return [
        time_row(STAGE, what, results, goal, NOTES.get(name, "")),
        *(time_row(STAGE, f"{what}, {like}", some, goal) for like, some in by_growth(results)),
        loss_row(STAGE, what, results, task.slack, GROWTHS["leaf"]),
    ]


def _starts(task: Task) -> dict[str, Start]:
    known = {name: c for name, c in every().items() if c.sparse or not task.sparse}
    starts = {name: Start(name, task.plan) for name in known}
    if task.name == "small":
        alone = replace(task.plan, threads=1)
        starts |= {f"{name}, 1 thread": Start(name, alone) for name in known}
    return starts


PARTS: dict[str, Callable[[], list[Row]]] = {name: partial(_table, name) for name in GOALS}
