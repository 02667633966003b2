"""Peak memory above the input while fitting, in bytes per cell; each contestant in its own process.

The process makes the rows, fits a small model (so that libraries are loaded and pools exist),
resets the kernel's high-water mark, fits, and compares the mark with what was resident before.
"""

import ctypes
import gc
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import N_FEATURES, classification, scaled
from benchmarks.peers import PACKAGES, CatBoost, LightGBM, Plan, SklearnHistogram, XGBoost, versions
from benchmarks.report import OURS, Entry, Goal, Row

PLAN = Plan(n_trees=3, n_leaves=255, threads=2)
WARM_ROWS = 2000
NOTE = (
    "committee: one tree of 255 leaves (an unpruned one and boosting, whose float64 scores and "
    "gradients count too, are among the contestants below); scikit-learn: a tree of depth 3, and "
    "HGB; HGB and the others: 3 boosted trees; a result below zero or near it at a small scale is "
    "memory of the warm-up used again"
)


def _ours(X: np.ndarray, y: np.ndarray) -> Any:
    from committee import DecisionTreeClassifier

    return DecisionTreeClassifier(max_leaf_nodes=255, n_jobs=2).fit(X, y)


def _ours_deep(X: np.ndarray, y: np.ndarray) -> Any:
    from committee import DecisionTreeClassifier

    return DecisionTreeClassifier(n_jobs=2).fit(X, y)


def _ours_boosted(X: np.ndarray, y: np.ndarray) -> Any:
    from benchmarks import ours

    return ours.train(X, y, PLAN)


def _ours_bins(X: np.ndarray, y: np.ndarray) -> Any:
    from committee.data import read_fit
    from committee.data.rows import Rows

    return Rows.of(read_fit(X)[0], None, max_bins=255, n_threads=2)


def _sklearn_tree(X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=3).fit(X, y)


CONTESTANTS: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    OURS: _ours,
    f"{OURS} binning alone": _ours_bins,
    f"{OURS} unpruned": _ours_deep,
    f"{OURS} 3 boosted": _ours_boosted,
    "scikit-learn tree": _sklearn_tree,
    "scikit-learn HGB": lambda X, y: SklearnHistogram().train(X, y, PLAN),
    "LightGBM": lambda X, y: LightGBM().train(X, y, PLAN),
    "XGBoost": lambda X, y: XGBoost().train(X, y, PLAN),
    "CatBoost": lambda X, y: CatBoost().train(X, y, PLAN),
}


def run() -> list[Row]:
    found = versions()
    absent = tuple(name for name in PACKAGES if found[name] == "absent")
    results = {n: _in_process(n) for n in CONTESTANTS if not n.startswith(absent or ("?",))}
    millions = scaled(1_000_000) / 1e6
    measure = f"peak above the input while fitting, {millions:g}M x {N_FEATURES} float32"
    return [Row("memory", measure, "bytes/cell", results, Goal(1.5), note=NOTE)]


def _in_process(name: str) -> Entry:
    command = [sys.executable, "-m", "benchmarks.stages.memory", name]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return Entry(None, note=f"failed: {done.stderr.strip().splitlines()[-1:]}")
    return Entry(json.loads(done.stdout.splitlines()[-1]))


def _status(field: str) -> int:
    """Return a field of /proc/self/status in bytes."""
    text = Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", text)[1]) * 1024


def measure(name: str) -> float:
    """Fit in this process; return the peak above what was resident before, per cell."""
    X, y = classification(scaled(1_000_000), 30)
    return peak(CONTESTANTS[name], X, y) / X.size


def peak(
    fit: Callable[[np.ndarray, np.ndarray], Any],
    X: np.ndarray,
    y: np.ndarray,
    warm_rows: int = WARM_ROWS,
) -> int:
    """Return the bytes that were resident at most while fitting, above those before."""
    fit(X[:warm_rows].copy(), y[:warm_rows].copy())
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # free pages would be reused unseen
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    model = fit(X, y)
    most = _status("VmHWM")
    del model
    return most - before


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
