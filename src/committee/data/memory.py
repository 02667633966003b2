"""How much memory there is for this process: of the machine, and of the group it is confined to.

Containers limit memory by control groups, which free memory of the machine says nothing about. A
fit that would not end well is refused before it begins, with what it needs and what there is.
"""

from __future__ import annotations

from pathlib import Path

from committee.data.errors import ResourceError, describe

MACHINE = Path("/")
MOST = 10**24  # bytes that are worth telling apart
UNITS = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


def available_memory(root: Path = MACHINE) -> int | None:
    """Count the bytes that can still be taken.

    Parameters
    ----------
    root : Path
        Where ``proc`` and ``sys`` are; tests have their own.

    Returns
    -------
    int or None
        The least of what the machine and each control group above this process leave; None where
        nothing can be read, as on systems other than Linux.
    """
    found = [_of_machine(root), *_of_groups(root)]
    return min((number for number in found if number is not None), default=None)


def refuse_beyond(need: int, argument: str, fix: str, available: int | None) -> None:
    """Refuse what needs more memory than there is."""
    if available is not None and need > available:
        found = f"the fit needs about {size_text(need)}, and {size_text(available)} are available"
        raise ResourceError(describe("R-MEMORY", argument, found, fix=fix))


def size_text(n_bytes: float) -> str:
    """Write a number of bytes as one reads it."""
    if n_bytes > MOST:  # an int may be too large for a float
        return f"{MOST / 1e9:.0e} GB or more"
    name, unit = next(((n, u) for n, u in UNITS if n_bytes >= u), UNITS[-1])
    return f"{n_bytes / unit:.1f} {name}"


def _of_machine(root: Path) -> int | None:
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _of_groups(root: Path) -> list[int | None]:
    """Look at the control groups of this process and at those they are in, of both versions."""
    found: list[int | None] = []
    for line in _lines(root / "proc/self/cgroup"):
        _, names, path = line.split(":", 2)
        if names and "memory" not in names.split(","):
            continue
        base = root / "sys/fs/cgroup" / ("memory" if names else "")
        files = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        if not names:
            files = ("memory.max", "memory.current", "inactive_file")
        group = base / path.strip().lstrip("/")
        for folder in (group, *group.parents):
            found.append(_left(folder, *files))
            if folder == base:
                break
    return found


def _left(folder: Path, limit: str, usage: str, reclaimed: str) -> int | None:
    """Subtract what a group uses from its limit; files in the cache give way."""
    most, used = _number(folder / limit), _number(folder / usage)
    if most is None or used is None:
        return None
    cached = 0
    for line in _lines(folder / "memory.stat"):
        name, _, number = line.partition(" ")
        if name == reclaimed:
            cached = int(number)
    return max(0, most - max(0, used - cached))


def _number(path: Path) -> int | None:
    text = "".join(_lines(path)).strip()
    return int(text) if text.isdigit() else None  # "max" is no limit


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:  # absent on this system, or closed to us: then it limits nothing we know of
        return []
