"""Rows of the table, and the table: one line a measure, one column a library."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.timing import Timing

OURS = "committee"
LIBRARIES = ("scikit-learn", "LightGBM", "XGBoost", "CatBoost", "YDF")


@dataclass
class Goal:
    """What a row should reach: a bound on our number, or a multiple of one peer's."""

    value: float
    kind: str = "at most"  # "at most", "at least": our number; "times": better than `peer`
    peer: str = ""  # the beginning of a contestant's name; of "times", "" means all others

    def text(self) -> str:
        if self.kind == "times":
            return f"{self.value:g} x {self.peer or 'the best other'}"
        return f"{'<=' if self.kind == 'at most' else '>='} {self.value:g}"


@dataclass
class Entry:
    """One contestant of one row."""

    value: float | None
    median: float | None = None
    repeats: int = 1
    quality: float | None = None
    note: str = ""


@dataclass
class Row:
    """One measure. Contestants are named "<library>" or "<library> <variant>"."""

    stage: str
    measure: str
    unit: str
    entries: dict[str, Entry]
    goal: Goal | None = None
    quality: str = ""  # what Entry.quality is
    higher: bool = False  # is more better?
    note: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    by: str = "min"  # of the repeats, what is compared: "min" or "median"

    def compared(self, entry: Entry) -> float | None:
        return entry.median if self.by == "median" else entry.value

    @property
    def ours(self) -> float | None:
        entry = self.entries.get(OURS)
        return self.compared(entry) if entry else None

    def best(self, prefix: str = "") -> tuple[str, float] | None:
        """Return the best contestant that is not ours (of one library), and its number."""
        found = [
            (value, name)
            for name, entry in self.entries.items()
            if not name.startswith(OURS) and name.startswith(prefix)
            if (value := self.compared(entry)) is not None
        ]
        if not found:
            return None
        value, name = max(found) if self.higher else min(found)
        return name, value

    def ratio(self, prefix: str = "") -> tuple[str, float] | None:
        """Return how many times better we are than the best other, and who that is."""
        best = self.best(prefix)
        if best is None or not self.ours or not best[1]:
            return None
        return best[0], self.ours / best[1] if self.higher else best[1] / self.ours

    def met(self) -> bool | None:
        """Tell whether the goal is reached; None where there is no goal or no number."""
        if self.goal is None or self.ours is None:
            return None
        if self.goal.kind == "times":
            ratio = self.ratio(self.goal.peer)
            return None if ratio is None else ratio[1] >= self.goal.value
        at_most = self.goal.kind == "at most"
        return self.ours <= self.goal.value if at_most else self.ours >= self.goal.value

    def verdict(self) -> str:
        if self.goal is None:
            return ""
        text = {True: "met", False: "MISSED", None: "not measured"}[self.met()]
        ratio = self.ratio(self.goal.peer) if self.goal.kind == "times" else None
        return f"{text} ({number(ratio[1])} x)" if ratio else text

    def as_dict(self) -> dict[str, Any]:
        ratio = self.ratio()
        derived = {"ratio": ratio and ratio[1], "best_other": ratio and ratio[0], "met": self.met()}
        return asdict(self) | derived


def entries(
    timings: Mapping[str, Timing],
    per_second: float,
    quality: Mapping[str, float] | None = None,
) -> dict[str, Entry]:
    """Turn seconds into the row's unit."""
    return {
        name: Entry(
            value=None if timing.best is None else timing.best * per_second,
            median=None if timing.median is None else timing.median * per_second,
            repeats=len(timing.seconds),
            quality=(quality or {}).get(name),
            note=timing.failure,
        )
        for name, timing in timings.items()
    }


def number(value: float | None) -> str:
    """Write a number with three digits that mean something."""
    if value is None:
        return ""
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def main_table(rows: list[Row]) -> list[list[str]]:
    """Return the header and a line for each row."""
    head = ["stage", "measure", "unit", OURS, *LIBRARIES, "ours vs best other", "goal", "result"]
    lines = [head]
    for row in rows:
        unit = row.unit if row.by == "min" else f"{row.unit}, {row.by}"
        cells = [row.stage, row.measure, unit, number(row.ours)]
        for library in LIBRARIES:
            best = row.best(library)
            cells.append(number(best[1]) if best else "")
        ratio = row.ratio()
        cells.append(f"{number(ratio[1])} x ({ratio[0]})" if ratio else "")
        cells += [row.goal.text() if row.goal else "", row.verdict()]
        lines.append(cells)
    return lines


def detail_table(rows: list[Row]) -> list[list[str]]:
    """Return a line for each contestant: both times, repeats and quality."""
    lines = [["measure", "contestant", "unit", "min", "median", "repeats", "quality", "note"]]
    for row in rows:
        for name, entry in row.entries.items():
            quality = "" if entry.quality is None else f"{row.quality} {entry.quality:.4f}"
            values = [number(entry.value), number(entry.median), str(entry.repeats)]
            lines.append([row.measure, name, row.unit, *values, quality, entry.note])
    return lines


def markdown(lines: list[list[str]]) -> str:
    """Lay a table out as aligned Markdown, which reads well in a terminal too."""
    lines = [[cell.replace("|", "/").replace("\n", " ") for cell in line] for line in lines]
    widths = [max(len(line[j]) for line in lines) for j in range(len(lines[0]))]
    padded = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(x, widths, strict=True)) + " |" for x in lines
    ]
    rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
    return "\n".join([padded[0], rule, *padded[1:]])
