"""Our number beside the published one, with a tolerance; the command line; results/papers.md.

A single tree may be 4 points off: the programs of the papers prune and stop in their own ways. A
committee must not be worse by more than 2.5 points; better is welcome.
"""

import argparse
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import committee
from benchmarks.papers.data import Unavailable
from benchmarks.papers.libraries import LIBRARIES, Ours
from benchmarks.report import markdown

RESULTS = Path(__file__).parents[1] / "results" / "papers.md"
TITLE = "# Published tables"
SINGLE, COMMITTEE = 4.0, 2.5  # points


@dataclass
class Line:
    """One number of a table: percent error of one method on one set."""

    data: str
    method: str
    published: float
    checked: bool  # taken from a transcription of the printed table, not from memory
    single: bool = False  # of a single tree
    found: dict[str, list[float]] = field(default_factory=dict)  # library -> error of iterations

    def mean(self, library: str) -> float:
        return float(np.mean(self.found[library]))

    def cell(self, library: str) -> str:
        """Write the mean with its standard error, as the papers do."""
        errors = self.found[library]
        spread = np.std(errors, ddof=1) / np.sqrt(len(errors)) if len(errors) > 1 else np.nan
        return f"{np.mean(errors):.1f} ({spread:.1f})"

    def met(self) -> bool:
        off = self.mean(Ours.name) - self.published
        return abs(off) <= SINGLE if self.single else off <= COMMITTEE

    def tolerance(self) -> str:
        return f"within {SINGLE:g}" if self.single else f"at most +{COMMITTEE:g}"


def table(lines: Iterable[Line], libraries: list[Any]) -> str:
    names = [library.name for library in libraries]
    out = [["data", "method", "published", *names, "tolerance", "result"]]
    for line in lines:
        published = f"{line.published:.1f}{'' if line.checked else ' ?'}"
        verdict = ("met" if line.met() else "MISSED") if Ours.name in line.found else ""
        cells = [line.cell(name) for name in names]
        out.append([line.data, line.method, published, *cells, line.tolerance(), verdict])
    return markdown(out)


NOTE = (
    "Percent error, with its standard error over the iterations. Published numbers are those of a "
    "transcription of the printed table; with `?` they are from memory and unconfirmed."
)


def main(section: str, sets: Iterable[str], compute: Callable[..., str], doc: str | None) -> None:
    """Read the command line, compute the text of a section, print it and on request keep it."""
    sets = list(sets)
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--sets", nargs="+", choices=sets, default=sets, metavar="SET")
    parser.add_argument("--library", nargs="+", choices=LIBRARIES, default=["committee"])
    parser.add_argument("--write", action="store_true", help="keep the table in results/papers.md")
    asked = parser.parse_args()
    libraries = [LIBRARIES[name]() for name in asked.library]
    warnings.simplefilter("ignore", committee.DataWarning)  # test sets hold levels of their own
    begun = time.perf_counter()
    try:
        text = compute(asked.sets, asked.iterations, libraries)
    except Unavailable as error:
        raise SystemExit(f"{error}.") from error
    about = (
        f"committee {committee.__version__}, {time.strftime('%Y-%m-%d')}, "
        f"{asked.iterations} iterations, {time.perf_counter() - begun:.0f} s."
    )
    text = f"{about} {NOTE}\n\n{text}\n"
    print(f"\n{text}")
    if asked.write:
        keep(section, text)


def keep(section: str, text: str) -> None:
    """Put the text under its heading in the file; the other sections stay."""
    content = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else TITLE
    sections = dict(re.findall(r"^## (.+)\n\n((?:(?!^## ).*\n?)*)", content, re.MULTILINE))
    sections[section] = text
    parts = [f"## {name}\n\n{body.strip()}\n" for name, body in sorted(sections.items())]
    RESULTS.write_text("\n".join([TITLE + "\n", *parts]), encoding="utf-8")


@contextmanager
def progress(name: str) -> Iterator[None]:
    """Say what is being computed and how long it took."""
    begun = time.perf_counter()
    print(f"{name} ...", end=" ", flush=True)
    yield
    print(f"{time.perf_counter() - begun:.0f} s", flush=True)
