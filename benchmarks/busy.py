"""A process that keeps one core busy, as a neighbour on a shared machine does."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# It ends by itself when its parent is gone, whatever happened to that one.
_LOOP = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
parent = os.getppid()
print("busy", flush=True)
while os.getppid() == parent:
    for _ in range(100000):
        pass
"""


def cores() -> list[int]:
    """Return the cores this process may use."""
    return sorted(os.sched_getaffinity(0))


def use_two_cores() -> None:
    """Keep to two cores, so that tables of different machines can be compared."""
    os.sched_setaffinity(0, set(cores()[:2]))


@contextmanager
def busy_core(core: int) -> Iterator[None]:
    """Keep `core` busy inside the block."""
    process = subprocess.Popen(
        [sys.executable, "-c", _LOOP, str(core)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield
    finally:
        process.kill()
        process.wait()
