"""Run all stages, or those named: `python -m benchmarks [binning histogram growing ...]`.

A stage with parts (its PARTS) can be run by part: `python -m benchmarks gradient_tables:wide`.
Prints one table and writes it to benchmarks/results/latest.md, with every number in latest.json. A
run of some stages, or with fewer rows (COMMITTEE_BENCH_SCALE=0.02, to see that everything runs; the
gradient stages also take COMMITTEE_BENCH_REPEATS=1), writes to build/benchmarks instead: the kept
table is always of one complete run.
"""

import importlib
import json
import platform
import re
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import committee
from benchmarks import busy, peers, report, timing
from benchmarks.data import REPEATS, SCALE

STAGES = (
    *("binning", "histogram", "growing", "predicting", "memory", "forests", "boosting"),
    *("gradient_higgs", "gradient_tables", "gradient_using"),
)
RESULTS = Path(__file__).parent / "results"
TRIALS = Path(__file__).parents[1] / "build" / "benchmarks"


def machine() -> dict[str, Any]:
    """Describe where and with what the numbers were taken."""
    cpu = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    return {
        "cpu": cpu[1] if cpu else platform.machine(),
        "cores": len(busy.cores()),
        "load_at_start": timing.load(),
        "python": platform.python_version(),
        "versions": {report.OURS: committee.__version__, **peers.versions()},
        "scale": SCALE,
        "date": time.strftime("%Y-%m-%d"),
    }


def describe(about: dict[str, Any]) -> str:
    named = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    text = (
        f"{about['cpu']}, {about['cores']} cores used, Python {about['python']}, {about['date']}; "
        f"load average {about['load_at_start']:.2f} at the start and {about['load_at_end']:.2f} at "
        f"the end; {about['seconds']:.0f} s.\n{named}."
    )
    if about["scale"] != 1:
        text += f"\nRows scaled by {about['scale']:g}: a trial, not a measurement."
    return text


def notes(rows: list[report.Row]) -> str:
    """List each note once, with the first row it belongs to."""
    first = {row.note: row.measure for row in reversed(rows) if row.note}
    return "\n".join(f"- {measure}: {note}." for note, measure in reversed(first.items()))


def write(rows: list[report.Row], about: dict[str, Any], folder: Path) -> str:
    """Write both files; return the text of the table."""
    table = report.markdown(report.main_table(rows))
    rule = (
        "Minimum of interleaved repeats, or the median where the unit says so. A library's cell is "
        "its best contestant; `ours vs best other` above 1 means that we are better."
    )
    text = f"{describe(about)}\n\n{rule}\n\n{table}\n\n{notes(rows)}\n"
    details = report.markdown(report.detail_table(rows))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "latest.md").write_text(
        f"# Benchmarks\n\n{text}\n## Every contestant\n\n{details}\n", encoding="utf-8"
    )
    content = {"about": about, "rows": [row.as_dict() for row in rows]}
    (folder / "latest.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return text


def run_stage(name: str) -> list[report.Row]:
    """Run a stage, or the part after the colon."""
    stage, _, part = name.partition(":")
    module = importlib.import_module(f"benchmarks.stages.{stage}")
    if not part:
        return module.run()
    parts = getattr(module, "PARTS", {})
    if part not in parts:
        raise ValueError(f"part of {stage} must be one of {', '.join(parts)}, got {part}.")
    return parts[part]()


def main(names: list[str]) -> int:
    for name in names:
        if name.partition(":")[0] not in STAGES:
            print(f"stage must be one of {', '.join(STAGES)}, got {name}.", file=sys.stderr)
            return 2
    timing.warn_if_busy()
    busy.use_two_cores()
    about = machine()
    started = time.perf_counter()
    rows: list[report.Row] = []
    failed: list[str] = []
    for name in names or STAGES:
        begun = time.perf_counter()
        print(f"{name} ...", flush=True)
        try:
            rows += run_stage(name)
        except Exception:  # the other stages are still worth having
            traceback.print_exc()
            failed.append(name)
        print(f"  {time.perf_counter() - begun:.0f} s", flush=True)
    about["seconds"] = time.perf_counter() - started
    about["load_at_end"] = timing.load()
    complete = SCALE == 1 and REPEATS >= 5 and not names and not failed
    folder = RESULTS if complete else TRIALS
    print("\n" + write(rows, about, folder) + f"\nEvery contestant: {folder / 'latest.md'}")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
