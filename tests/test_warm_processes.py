"""What runs scripts for other tests: a crash, a hang, a wrong end must fail, and touch no other."""

import os
import sys

import pytest

from tests.warm_processes import run_script

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")


def test_every_script_has_a_process_of_its_own():
    script = "import os, sys; leak = 'leak' in globals(); print(os.getpid(), sys.argv[1:], leak)"
    one, two = (run_script(script, "a", 2).split(maxsplit=1) for _ in range(2))
    assert one[0] != two[0] != str(os.getpid())
    assert one[1] == two[1] == "['a', '2'] False\n"


def test_no_thread_of_the_engine_is_inherited():
    if not sys.platform.startswith("linux"):
        pytest.skip("reads /proc")
    script = """
import os
tasks = os.listdir("/proc/self/task")
names = [open(f"/proc/self/task/{task}/comm").read() for task in tasks]
assert not [name for name in names if name.startswith("committee")], names
"""
    run_script(script)


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("raise ValueError('odd')", r"^1:[^:]*Traceback.*ValueError: odd"),
        ("import sys; print('out'); sys.exit('why')", r"^1: out\n why\n"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "^-11: "),
        ("import atexit, os; atexit.register(os._exit, 3)", "^3: "),  # an exit that goes wrong
    ],
)
def test_a_bad_end_fails(script, told):
    with pytest.raises(AssertionError, match=f"(?s){told}"):
        run_script(script)
    assert run_script("print(1)") == "1\n"


def test_a_script_that_hangs_fails_and_the_next_one_runs():
    run_script("pass")  # so that imports are over
    with pytest.raises(pytest.fail.Exception, match=r"hangs: no end after 0\.5 s"):
        run_script("import time; time.sleep(60)", timeout=0.5)
    assert run_script("print(1)") == "1\n"
