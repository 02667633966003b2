"""The C++ benchmarks: executables of build/bench that print tab-separated lines."""

import os
import subprocess
from pathlib import Path

from benchmarks.data import SCALE

ROOT = Path(__file__).resolve().parents[1]


def run(name: str, *arguments: str) -> list[list[str]]:
    """Run an executable and return its lines as fields; none where it has not been built."""
    folder = Path(os.environ.get("COMMITTEE_BENCH_BUILD", ROOT / "build" / "bench"))
    path = next((p for p in sorted(folder.rglob(name)) if os.access(p, os.X_OK)), None)
    if path is None:
        print(f"  {name} has not been built in {folder}: run `make bench`")
        return []
    done = subprocess.run(
        [path, f"{SCALE:g}", *arguments], stdout=subprocess.PIPE, text=True, check=True
    )
    return [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
