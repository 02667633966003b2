"""Scripts in processes of their own, without the seconds that importing takes in each of them.

A nursery process imports what scripts need, and from then on it only forks: every script runs in a
new child of it, whose memory, signals, threads and exit are its own. The nursery starts no thread
of the engine and computes nothing, so a child begins as a process does after its imports. It ends
like any process, too: a crash or a hang at exit is the script's. Where there is no fork, a script
gets an interpreter of its own.
"""

import atexit
import functools
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
IMPORTS = 120  # seconds that they may take on a busy machine

# Reads a line of JSON for each script, and says the process that runs it and what it returned.
NURSERY = """
import json, os, sys
import numpy, pandas, committee, tests.estimators
script = None
for line in sys.stdin.buffer:
    order = json.loads(line)
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)  # so that it can be ended with the processes that it makes
        for stream, file in ((1, order["stdout"]), (2, order["stderr"])):
            os.dup2(os.open(file, os.O_WRONLY), stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.argv = ["-c", *order["args"]]
        script = order["script"]
        break
    os.write(1, b"%d\\n" % child)
    os.write(1, b"%d\\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
if script is not None:
    exec(compile(script, "<script>", "exec"), globals())  # it is __main__, for pickles
"""


class Nursery:
    """One process that has imported everything, and forks."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", NURSERY],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )

    def run(self, script: str, args: list[str], timeout: float) -> tuple[int, str, str]:
        """Run a script; give its exit code and what it printed."""
        with tempfile.TemporaryDirectory() as folder:
            files = {name: Path(folder) / name for name in ("stdout", "stderr")}
            for file in files.values():
                file.touch()
            order = {name: str(file) for name, file in files.items()}
            line = json.dumps(order | {"script": script, "args": args}) + "\n"
            assert self._process.stdin is not None
            self._process.stdin.write(line.encode())
            child = self._answer(IMPORTS)
            if not self._ready(timeout):
                os.killpg(child, signal.SIGKILL)
                self._answer(IMPORTS)
                pytest.fail(f"the script hangs: no end after {timeout} s")
            return self._answer(0), *(file.read_text() for file in files.values())

    def _ready(self, timeout: float) -> bool:
        return bool(select.select([self._process.stdout], [], [], timeout)[0])

    def _answer(self, timeout: float) -> int:
        assert self._ready(timeout), "the nursery does not answer"
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the nursery has died"
        return int(line)

    def close(self) -> None:
        """Let it end: it has nothing more to read."""
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        self._process.wait()


@functools.cache
def nursery() -> Nursery:
    """Start the nursery of this process when it is first needed."""
    started = Nursery()
    atexit.register(started.close)
    return started


def run_script(script: str, *args: object, timeout: float = 120, fresh: bool = False) -> str:
    """Run a script in a process of its own and return what it prints; it must end with 0.

    `fresh` asks for a process that was not forked, with imports of its own.
    """
    texts = list(map(str, args))
    if fresh or not hasattr(os, "fork"):
        command = [sys.executable, "-c", script, *texts]
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False
        )
        code, out, wrong = done.returncode, done.stdout, done.stderr
    else:
        code, out, wrong = nursery().run(script, texts, timeout)
    assert code == 0, f"{code}: {out} {wrong}"
    return out
