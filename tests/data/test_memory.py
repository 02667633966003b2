"""What memory there is, by files of the kernel that tests write themselves."""

import pytest

from committee.data import ResourceError
from committee.data.memory import available_memory, refuse_beyond, size_text

GIB = 2**30


def machine(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


MEMINFO = {"proc/meminfo": "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n"}


def test_of_a_machine_alone(tmp_path):
    assert available_memory(machine(tmp_path, MEMINFO)) == 8 * GIB
    assert available_memory(tmp_path / "elsewhere") is None
    here = available_memory()
    assert here is None or here > 0


@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({"a/b/memory.max": "max\n", "a/b/memory.current": "5"}, 8 * GIB),
        ({"a/b/memory.max": str(3 * GIB), "a/b/memory.current": str(GIB)}, 2 * GIB),
        ({"a/memory.max": str(3 * GIB), "a/memory.current": str(GIB)}, 2 * GIB),
        ({"memory.max": str(3 * GIB), "memory.current": str(GIB)}, 2 * GIB),
        ({"a/b/memory.max": str(GIB), "a/b/memory.current": str(2 * GIB)}, 0),
        (
            {
                "a/b/memory.max": str(3 * GIB),
                "a/b/memory.current": str(2 * GIB),
                "a/b/memory.stat": f"anon 7\ninactive_file {GIB}\n",
            },
            2 * GIB,
        ),
    ],
    ids=["none", "own", "parent", "root", "beyond", "cache gives way"],
)
def test_of_groups(files, left, tmp_path):
    groups = {f"sys/fs/cgroup/{name}": text for name, text in files.items()}
    own = {"proc/self/cgroup": "0::/a/b\n"}
    assert available_memory(machine(tmp_path, MEMINFO | groups | own)) == left


def test_of_groups_of_the_first_version(tmp_path):
    own = {"proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/job\n"}
    groups = {
        "sys/fs/cgroup/memory/job/memory.limit_in_bytes": str(2 * GIB),
        "sys/fs/cgroup/memory/job/memory.usage_in_bytes": str(GIB),
        "sys/fs/cgroup/memory/job/memory.stat": f"total_inactive_file {GIB // 2}\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": "4096",
    }
    assert available_memory(machine(tmp_path, MEMINFO | groups | own)) == 3 * GIB // 2


def test_the_message_names_both_numbers():
    refuse_beyond(10, "X", "less", None)
    refuse_beyond(10, "X", "less", 10)
    with pytest.raises(
        ResourceError, match=r"R-MEMORY\] X: .*about 3.0 GB, and 250.0 MB are avail"
    ):
        refuse_beyond(3 * 10**9, "X", "less", 250 * 10**6)
    assert size_text(12) == "0.0 kB"
    assert size_text(10**400) == "1e+15 GB or more"
