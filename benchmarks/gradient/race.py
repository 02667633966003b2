"""Fit each contestant in a process of its own, in turn: seconds, peak memory and log-loss.

Why not in one process, as most stages do: the peak of one fit is only seen in a process that has
done nothing else; what one library frees would be another's memory without page faults; and four
OpenMP runtimes in one process leave spinning threads to each other. Starting the process, importing
the library, making the rows and a few trees on a few rows (threads start, code is loaded) are not
timed. Binning is. Each repeat begins with another contestant, so that a slow minute hits none more
often than the others, and has rows of its own.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from benchmarks.data import REPEATS
from benchmarks.gradient.contestants import every
from benchmarks.gradient.tasks import TASKS, Task, log_loss, size_of
from benchmarks.peers import Plan
from benchmarks.report import Entry
from benchmarks.stages import memory
from benchmarks.timing import PAUSE

WARM_ROWS, WARM_TREES = 1000, 3
LONGEST = 1800  # seconds, for one process


@dataclass
class Result:
    """What the repeats of one contestant gave, or why there are none."""

    seconds: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    size: str = ""  # of the table
    failure: str = ""

    @property
    def loss(self) -> float | None:
        return statistics.fmean(self.losses) if self.losses else None

    def time(self) -> Entry:
        return _entry(self.seconds, self.loss, self.failure)

    def memory(self) -> Entry:
        return _entry(self.megabytes, None, self.failure)


def _entry(values: list[float], quality: float | None, note: str) -> Entry:
    if not values:
        return Entry(None, note=note)
    return Entry(min(values), statistics.median(values), len(values), quality, note)


@dataclass(frozen=True)
class Start:
    """One start of the race: a contestant by name, with a plan of its own."""

    name: str
    plan: Plan


def race(task: Task, starts: dict[str, Start], repeats: int = REPEATS) -> dict[str, Result]:
    """Let all fit in turn; who fails is out."""
    results = {label: Result() for label in starts}
    labels = list(starts)
    for turn in range(repeats):
        first = turn % len(labels)
        for label in labels[first:] + labels[:first]:
            result = results[label]
            if result.failure:
                continue
            found = _in_process(task, starts[label], turn)
            if "failure" in found:
                result.failure = found["failure"]
                print(f"  {label} failed: {result.failure}", file=sys.stderr, flush=True)
                continue
            result.seconds.append(found["seconds"])
            result.megabytes.append(found["megabytes"])
            result.losses.append(found["loss"])
            result.size = found["size"]
        print(f"  {task.name}: repeat {turn + 1} of {repeats}", flush=True)
    return results


def _in_process(task: Task, start: Start, draw: int) -> dict[str, Any]:
    order = json.dumps(
        {"task": task.name, "draw": draw, "name": start.name, "plan": asdict(start.plan)}
    )
    command = [sys.executable, "-m", __name__, order]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return {"failure": f"took more than {LONGEST} s"}
    if done.returncode != 0:
        last: Iterable[str] = done.stderr.strip().splitlines()[-1:]
        return {"failure": "".join(last) or f"exit status {done.returncode}"}
    return json.loads(done.stdout.splitlines()[-1])


def measure(task: Task, draw: int, name: str, plan: Plan) -> dict[str, Any]:
    """Fit in this process."""
    contestant = every()[name]
    X, y, X_test, y_test = task.split(draw)
    rows, test_rows = contestant.prepare(X), contestant.prepare(X_test)
    kept: dict[str, Any] = {}

    def fit(X: Any, y: np.ndarray) -> None:
        if not kept:  # the warm-up
            kept["model"] = contestant.fit(X, y, replace(plan, n_trees=WARM_TREES))
            return
        time.sleep(PAUSE)
        begun = time.perf_counter()
        for _ in range(task.calls):
            kept["model"] = contestant.fit(X, y, plan)
        kept["seconds"] = (time.perf_counter() - begun) / task.calls

    peak = memory.peak(fit, rows, y, WARM_ROWS)
    probability = contestant.probability(kept["model"], test_rows, plan.threads)
    return {
        "seconds": kept["seconds"],
        "megabytes": peak / 1e6,
        "loss": log_loss(y_test, probability),
        "size": size_of(X),
    }


if __name__ == "__main__":
    _order = json.loads(sys.argv[1])
    _task, _plan = TASKS[_order["task"]], Plan(**_order["plan"])
    print(json.dumps(measure(_task, _order["draw"], _order["name"], _plan)))
