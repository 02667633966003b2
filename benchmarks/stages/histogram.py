"""Nanoseconds per histogram update on one thread: ours beside the loops of other layouts."""

from benchmarks import native
from benchmarks.report import OURS, Entry, Goal, Row

IN_L1 = (
    8  # features whose histogram (16 KB) leaves room for the rows in a first cache of 32 or 48 KB
)


def run() -> list[Row]:
    rows: dict[tuple[str, str], Row] = {}
    for features, order, kernel, best, median in native.run("bench_histogram"):
        key = (features, order)
        if key not in rows:
            rows[key] = _row(int(features), order)
        name = OURS if kernel == f"{OURS} newton" else kernel
        rows[key].entries[name] = Entry(float(best), float(median), repeats=9)
    return list(rows.values()) or [_row(IN_L1, "in order")]


def _row(features: int, order: str) -> Row:
    goal = Goal(0.45) if features <= 28 else None
    measure = f"add a row's bin, {features} features ({features * 2} KB of sums), rows {order}"
    return Row("histogram", measure, "ns/update", {}, goal)
