"""Timing that compares: contestants take turns, so that a slow minute hits all alike.

The minimum is what is compared, the median tells how far it can be trusted.
"""

import gc
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

BUSY_LOAD = 0.5  # a load average above it at the start is worth a warning
PAUSE = 0.02  # seconds: worker threads of the contestant before go to sleep


@dataclass
class Timing:
    """Seconds of one contestant, or why there are none."""

    seconds: list[float]
    failure: str = ""

    @property
    def best(self) -> float | None:
        return min(self.seconds) if self.seconds else None

    @property
    def median(self) -> float | None:
        return statistics.median(self.seconds) if self.seconds else None


def load() -> float:
    """Return the load average of the last minute."""
    return os.getloadavg()[0]


def warn_if_busy() -> None:
    """Say so where other programs keep the machine busy; the numbers are taken all the same."""
    if load() > BUSY_LOAD:
        print(
            f"warning: the load average is {load():.2f}; times will be noisy, so read ratios and "
            "medians with care",
            file=sys.stderr,
        )


def interleave(
    contestants: Mapping[Any, Callable[[], object]],
    *,
    repeats: int = 5,
    calls: int = 1,
    warm_up: bool = True,
    budget: float = 30.0,
    rotate: bool = False,
) -> dict[Any, Timing]:
    """Time each contestant `repeats` times, in turn.

    `calls` are made for each measurement, for what is too short for the clock. A round that would
    begin after `budget` seconds is left out. With `rotate`, each round begins with another, so that
    none always follows the same. Who raises an exception is out, and its text kept.
    """
    names = list(contestants)
    timings = {name: Timing([]) for name in names}
    started = time.perf_counter()
    for turn in range(-1 if warm_up else 0, repeats):
        if turn > 0 and time.perf_counter() - started > budget:
            break
        first = turn % len(contestants) if rotate and contestants else 0
        for name in [*names[first:], *names[:first]]:
            if timings[name].failure:
                continue
            try:
                seconds = _measure(contestants[name], calls)
            except Exception as error:
                timings[name].failure = f"{type(error).__name__}: {error}"
                print(f"  {name} failed: {timings[name].failure}", file=sys.stderr)
                continue
            if turn >= 0:
                timings[name].seconds.append(seconds)
    return timings


def _measure(body: Callable[[], object], calls: int) -> float:
    gc.collect()
    time.sleep(PAUSE)
    start = time.perf_counter()
    for _ in range(calls):
        body()
    return (time.perf_counter() - start) / calls
