"""Forests and extra trees beside scikit-learn's on real data, fold by fold.

`python -m benchmarks.accuracy [--sets ...] [--write]`: accuracy or R2 on the folds given with the
data sets of ../shared/data, 100 trees, each library's defaults. Ours takes categories and missing
values as they are; scikit-learn gets categories as codes, and in a second column as indicators
(one-hot), missing values as NaN. Folds pair the libraries: differences have a spread of their own.
"""

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
import sklearn.ensemble
from scipy import stats

import committee
from benchmarks.data import accuracy, r_squared
from benchmarks.report import OURS, markdown

ROOT = Path(__file__).resolve().parents[1]
SHARED_DATA = Path(os.environ.get("COMMITTEE_DATA", ROOT.parent / "shared" / "data"))
RESULTS = Path(__file__).parent / "results" / "accuracy.md"
N_TREES = 100
JOBS = 2
CODES, INDICATORS = "scikit-learn, codes", "scikit-learn, indicators"
METHODS = {"Random forests": "RandomForest", "Extra trees": "ExtraTrees"}


# --- data ---


@dataclass(frozen=True)
class Data:
    """One set: a frame with categories as such, its target, and the fold of each row."""

    name: str
    task: str
    X: pd.DataFrame
    y: np.ndarray
    fold: np.ndarray

    @property
    def categorical(self) -> list[str]:
        dtypes = self.X.dtypes.items()
        return [name for name, kind in dtypes if isinstance(kind, pd.CategoricalDtype)]

    @property
    def plain(self) -> bool:
        """Whether all features are numbers, and none is missing."""
        return not self.categorical and not self.X.isna().to_numpy().any()


@cache
def every_set() -> dict[str, dict[str, Any]]:
    """Return what is known of each set."""
    if not (SHARED_DATA / "index.json").exists():
        raise SystemExit(f"the data sets are expected in {SHARED_DATA}.")
    sets = json.loads((SHARED_DATA / "index.json").read_text(encoding="utf-8"))["sets"]
    return {entry["name"]: entry for entry in sets}


def index() -> dict[str, dict[str, Any]]:
    """Return what is known of each set that has folds."""
    return {name: entry for name, entry in every_set().items() if name in folds()}


@cache
def folds() -> dict[str, list[int]]:
    return json.loads((SHARED_DATA / "folds.json").read_text(encoding="utf-8"))


def read(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Read features, with categories as such, and target of a set."""
    entry = every_set()[name]
    columns = entry["columns"]
    frame = pd.read_csv(
        SHARED_DATA / entry["file"],
        dtype={column["name"]: str for column in columns if column["kind"] != "numeric"},
        keep_default_na=False,
        na_values=[""],
    )
    for column in columns:
        if column["kind"] == "categorical" and column["role"] == "feature":
            levels = column.get("categories")
            frame[column["name"]] = pd.Categorical(frame[column["name"]], levels)
    features = [column["name"] for column in columns if column["role"] == "feature"]
    classify = entry["task"] == "classification"
    return frame[features], frame[entry["target"]].to_numpy(dtype=str if classify else np.float64)


def load(name: str) -> Data:
    X, y = read(name)
    return Data(name, every_set()[name]["task"], X, y, np.array(folds()[name]))


def as_codes(data: Data) -> pd.DataFrame:
    codes = {name: data.X[name].cat.codes.replace(-1, np.nan) for name in data.categorical}
    return data.X.assign(**codes).astype(np.float64)


def as_indicators(data: Data) -> pd.DataFrame:
    """Give each level a column; a missing value has none of them."""
    return pd.get_dummies(data.X, columns=data.categorical, dtype=np.float64).astype(np.float64)


# --- comparing ---


@dataclass
class Comparison:
    """Scores of each contestant on the folds of one set."""

    data: Data
    n_folds: int
    n_seeds: int
    scores: dict[str, np.ndarray] = field(default_factory=dict)

    def mean(self, contestant: str) -> float:
        return float(self.scores[contestant].mean())

    def difference(self, other: str) -> tuple[float, float]:
        """Return how much better ours is, and the standard error over the folds."""
        differences = self.scores[OURS] - self.scores[other]
        return float(differences.mean()), float(stats.sem(differences))

    def verdict(self, other: str) -> str:
        """Judge by a paired t-test at 5 %."""
        mean, error = self.difference(other)
        if abs(mean) <= stats.t.ppf(0.975, self.n_folds - 1) * error + 1e-12:
            return "within noise"
        return "better" if mean > 0 else "WORSE"


def n_seeds(n_rows: int) -> int:
    """Repeat with other seeds where it is cheap, so that the folds are what is left of noise."""
    return 5 if n_rows < 1000 else 3 if n_rows < 4000 else 1


def compare(data: Data, method: str, n_folds: int, seeds: int) -> Comparison:
    """Fit every contestant on every fold with every seed."""
    kind = "Classifier" if data.task == "classification" else "Regressor"
    quality = accuracy if data.task == "classification" else r_squared
    theirs = getattr(sklearn.ensemble, METHODS[method] + kind)
    contestants: dict[str, tuple[Callable[..., Any], pd.DataFrame]] = {
        OURS: (getattr(committee, METHODS[method] + kind), data.X),
        CODES: (theirs, as_codes(data)),
    }
    if data.categorical:
        contestants[INDICATORS] = (theirs, as_indicators(data))
    found = Comparison(data, n_folds, seeds)
    for name, (make, X) in contestants.items():
        scores = np.empty((n_folds, seeds))
        for k, seed in np.ndindex(n_folds, seeds):
            test = data.fold == k
            model = make(n_estimators=N_TREES, random_state=seed, n_jobs=JOBS)
            model.fit(X[~test], data.y[~test])
            scores[k, seed] = quality(data.y[test], model.predict(X[test]))
        found.scores[name] = scores.mean(axis=1)
    return found


# --- the table ---


def cells(comparison: Comparison, other: str) -> list[str]:
    if other not in comparison.scores:
        return ["", "", ""]
    scale = 100 if comparison.data.task == "classification" else 1
    digits = 2 if scale == 100 else 4
    mean, error = comparison.difference(other)
    return [
        f"{scale * comparison.mean(other):.{digits}f}",
        f"{scale * mean:+.{digits}f} ± {scale * error:.{digits}f}",
        comparison.verdict(other),
    ]


def table(comparisons: list[Comparison]) -> str:
    head = ["set", "rows", "numbers + categories", "missing", "folds x seeds", OURS]
    head += [CODES, "difference", "result", INDICATORS, "difference", "result"]
    lines = [head]
    for c in comparisons:
        scale, digits = (100, 2) if c.data.task == "classification" else (1, 4)
        X, n_categorical = c.data.X, len(c.data.categorical)
        line = [c.data.name, str(len(X)), f"{X.shape[1] - n_categorical} + {n_categorical}"]
        line += [str(int(X.isna().to_numpy().sum())), f"{c.n_folds} x {c.n_seeds}"]
        line += [f"{scale * c.mean(OURS):.{digits}f}", *cells(c, CODES), *cells(c, INDICATORS)]
        lines.append(line)
    return markdown(lines)


def summary(comparisons: list[Comparison]) -> str:
    """Average over sets: all, those of numbers alone, and those with categories or gaps."""
    lines = [["sets", "compared with", "number", "mean difference", "better", "noise", "worse"]]
    groups: dict[str, Callable[[Comparison], bool]] = {
        "all": lambda c: True,
        "numbers alone": lambda c: c.data.plain,
        "categories or missing values": lambda c: not c.data.plain,
    }
    for label, belongs in groups.items():
        for other in (CODES, INDICATORS):
            chosen = [c for c in comparisons if belongs(c) and other in c.scores]
            if not chosen:
                continue
            scale, digits = (100, 2) if chosen[0].data.task == "classification" else (1, 4)
            means = scale * np.array([c.difference(other)[0] for c in chosen])
            error = stats.sem(means) if len(means) > 1 else np.nan
            verdicts = [c.verdict(other) for c in chosen]
            counts = [str(verdicts.count(v)) for v in ("better", "within noise", "WORSE")]
            mean = f"{means.mean():+.{digits}f} ± {error:.{digits}f}"
            lines.append([label, other, str(len(chosen)), mean, *counts])
    return markdown(lines)


def goal(comparisons: list[Comparison]) -> str:
    """Say whether no set is worse and the mean is not below."""
    worse = [c.data.name for c in comparisons if c.verdict(CODES) == "WORSE"]
    mean = np.mean([c.difference(CODES)[0] for c in comparisons])
    within = f"MISSED ({', '.join(worse)})" if worse else "met"
    return (
        f"Within noise on every set: {within}. Mean not below: {'met' if mean >= 0 else 'MISSED'}."
    )


def report(found: dict[tuple[str, str], list[Comparison]], seconds: float) -> str:
    parts = [
        "# Accuracy",
        f"committee {committee.__version__}, scikit-learn {sklearn.__version__}, "
        f"{time.strftime('%Y-%m-%d')}, {seconds:.0f} s. {N_TREES} trees, otherwise defaults.",
        "Classification: accuracy in percent; regression: R2. A score is the mean over folds and "
        "seeds; ± is the standard error of the paired difference over folds; `within noise`: a "
        "paired t-test at 5 % finds no difference, so that of 40 equal sets one would be called "
        "better and one worse.",
    ]
    for (method, task), comparisons in found.items():
        if comparisons:
            parts += [f"## {method}, {task}", goal(comparisons)]
            parts += [summary(comparisons), table(comparisons)]
    return "\n\n".join(parts) + "\n"


def run(sets: Iterable[str], n_folds: int, seeds: int | None) -> str:
    begun = time.perf_counter()
    tasks = ("classification", "regression")
    found: dict[tuple[str, str], list[Comparison]] = {(m, t): [] for m in METHODS for t in tasks}
    for name in sets:
        data = load(name)
        for method in METHODS:
            started = time.perf_counter()
            comparison = compare(data, method, n_folds, seeds or n_seeds(len(data.y)))
            found[method, data.task].append(comparison)
            shown = ", ".join(cells(comparison, CODES)[1:])
            print(f"{name}, {method}: {shown} ({time.perf_counter() - started:.0f} s)", flush=True)
    return report(found, time.perf_counter() - begun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=list(index()), default=list(index()))
    parser.add_argument("--folds", type=int, default=10, help="of the ten, the first so many")
    parser.add_argument("--seeds", type=int, help="for each fold; fewer on large sets by default")
    parser.add_argument("--write", action="store_true", help=f"keep the table in {RESULTS.name}")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", committee.DataWarning)  # folds hold levels of their own
    text = run(asked.sets, asked.folds, asked.seeds)
    print(f"\n{text}")
    if asked.write:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
