"""The study behind the defaults of the gradient boosters.

`python -m benchmarks.gradient_defaults [--halves study check all] [--write]`: each candidate takes
the place of our defaults beside those of XGBoost, LightGBM, CatBoost and scikit-learn. Candidates
are compared on every second set of ../shared/data by name (the 1st, 3rd, .., "study"); the others
("check") show what the choice is worth. What counts is the mean rank of the loss among the five
libraries and the mean of log(loss / CatBoost's loss); seconds of a fit stand beside them. On
classes the loss is log-loss, on numbers the root mean squared error, over two to five folds.
"""

import argparse
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import committee
from benchmarks.gradient.models import PEERS, Model, ours
from benchmarks.gradient.scores import Scores, losses
from benchmarks.gradient.sets import BoostingSet, boosting_set, names
from benchmarks.gradient_quality import ranks
from benchmarks.peers import versions
from benchmarks.report import OURS, markdown

RESULTS = Path(__file__).parent / "results" / "gradient_defaults.md"
HALVES = ("study", "check", "all")
CATBOOST = list(PEERS).index("CatBoost")
_WAS = {  # the defaults of scikit-learn's histogram boosting, and of the first version
    "n_estimators": 100,
    "learning_rate": 0.1,
    "max_leaf_nodes": 31,
    "min_samples_leaf": 20,
    "l2_regularization": 0.0,
    "subsample": 1.0,
    "max_features": None,
    "early_stopping": "auto",
}
_FULL = {**_WAS, "early_stopping": None}
_SLOW = {**_FULL, "n_estimators": 200, "learning_rate": 0.05, "min_samples_leaf": 1}
_HALF = {**_SLOW, "n_estimators": 300, "l2_regularization": 3.0, "max_features": 0.5}
CANDIDATES: dict[str, dict[str, Any]] = {
    "as it was": _WAS,
    "no early stopping": _FULL,
    "leaves of one row, lambda 1": {**_FULL, "min_samples_leaf": 1, "l2_regularization": 1.0},
    "200 rounds at .05": {**_SLOW, "l2_regularization": 1.0},
    "half of the columns": {**_SLOW, "l2_regularization": 1.0, "max_features": 0.5},
    "half of the rows": {**_SLOW, "l2_regularization": 1.0, "subsample": 0.5},
    "half of both": {**_SLOW, "l2_regularization": 1.0, "max_features": 0.5, "subsample": 0.5},
    "half of the columns, 300 rounds, lambda 3": _HALF,
    "80 % of the rows": {**_HALF, "subsample": 0.8},
    "16 leaves": {**_HALF, "max_leaf_nodes": 16},
    "400 rounds": {**_HALF, "n_estimators": 400},
    "lambda 1": {**_HALF, "l2_regularization": 1.0},
    "a third of the columns": {**_HALF, "max_features": 0.33},
    "leaves of 5 rows": {**_HALF, "min_samples_leaf": 5},
    "leaves of 20 rows": {**_HALF, "min_samples_leaf": 20},
    "rounds judged out of bag": {**_HALF, "subsample": 0.8, "early_stopping": "oob"},
}
CHOSEN = "half of the columns, 300 rounds, lambda 3"


def sets_of(half: str) -> list[str]:
    begin, step = {"study": (0, 2), "check": (1, 2), "all": (0, 1)}[half]
    return names()[begin::step]


def label(params: dict[str, Any]) -> str:
    """Name a candidate by what it is made of, so that what was measured stays true."""
    return f"{OURS} " + ", ".join(f"{k}={v}" for k, v in sorted(params.items()))


@dataclass
class Measured:
    """Losses and seconds of a contestant by set: means over the folds."""

    loss: np.ndarray
    seconds: np.ndarray


class Study:
    """Contestants on sets, measured once."""

    def __init__(self, scores: Scores, only_known: bool) -> None:
        self.scores = scores
        self.sets = {name: boosting_set(name) for name in names()}
        if only_known:
            self.sets = {name: data for name, data in self.sets.items() if self._known(data)}

    def _known(self, data: BoostingSet) -> bool:
        folds = range(data.n_few_folds())
        return all(f"{data.name}|{p}|{k}" in self.scores.known for p in PEERS for k in folds)

    def names(self, half: str) -> list[str]:
        return [name for name in sets_of(half) if name in self.sets]

    def measure(self, half: str, name: str, model: Model) -> Measured:
        found = []
        for each in self.names(half):
            data = self.sets[each]
            n = data.n_few_folds()
            scores = self.scores.of(data, name, model, n, codes=False)
            found.append((losses(scores).mean(), np.mean([s.seconds for s in scores])))
        loss, seconds = np.array(found).T
        return Measured(loss, seconds)

    def peers(self, half: str) -> np.ndarray:
        every = [self.measure(half, name, model).loss for name, model in PEERS.items()]
        return np.column_stack(every)

    def candidates(self, half: str) -> str:
        """Tabulate every candidate beside the peers."""
        theirs = self.peers(half)
        head = ["candidate", "mean rank", *(f"rank of {p}" for p in PEERS), "log ratio"]
        rows = [[*head, *(f"better than {p}" for p in PEERS), "seconds"]]
        for title, params in CANDIDATES.items():
            mine = self.measure(half, label(params), ours(**params))
            mean = np.nanmean(ranks(np.column_stack([mine.loss, theirs])), axis=0)
            ratio = np.log(mine.loss / theirs[:, CATBOOST]).mean()
            wins = [int((mine.loss < theirs[:, j]).sum()) for j in range(len(PEERS))]
            seconds = np.exp(np.log(mine.seconds).mean())
            cells = [*(f"{m:.2f}" for m in mean), f"{ratio:+.3f}", *map(str, wins)]
            rows.append([f"**{title}**" if title == CHOSEN else title, *cells, f"{seconds:.3f}"])
            print(half, *rows[-1], flush=True)
        return markdown(rows)

    def by_set(self) -> str:
        """Tabulate the chosen one set by set."""
        params = CANDIDATES[CHOSEN]
        mine = self.measure("all", label(params), ours(**params))
        loss = np.column_stack([mine.loss, self.peers("all")])
        rank = ranks(loss)
        rows = [["set", "half", "chosen", *PEERS, "rank"]]
        for i, name in enumerate(self.names("all")):
            half = "study" if name in sets_of("study") else "check"
            rows.append([name, half, *(f"{v:.4g}" for v in loss[i]), f"{rank[i, 0]:g}"])
        means = [f"{m:.2f}" for m in np.nanmean(rank, axis=0)]
        return markdown([*rows, ["mean rank", "", *means, ""]])


def parameters() -> str:
    rows = [["candidate", "parameters, where they differ from the first"]]
    for title, params in CANDIDATES.items():
        own = params.items() - (_WAS.items() if params is not _WAS else set())
        rows.append([title, ", ".join(f"{k}={params[k]}" for k in params if (k, params[k]) in own)])
    return markdown(rows)


def report(study: Study, asked: list[str]) -> str:
    libraries = ", ".join(f"{name} {version}" for name, version in versions().items())
    parts = [
        "# Defaults of the gradient boosters",
        f"committee {committee.__version__}, {libraries}, {time.strftime('%Y-%m-%d')}.",
        (__doc__ or "").split("\n\n", 1)[1].replace("\n", " ").strip(),
        parameters(),
    ]
    for half in asked:
        absent = ", ".join(name for name in sets_of(half) if name not in study.sets)
        parts.append(f"## {half.capitalize()}: {len(study.names(half))} sets")
        parts += [f"Not measured: {absent}."] if absent else []
        parts.append(study.candidates(half))
    parts += [f"## {CHOSEN}, set by set", study.by_set()]
    return "\n\n".join(parts) + "\n"


def check_defaults() -> None:
    """Make sure that the chosen parameters are those of the constructors."""
    for kind in (committee.GradientBoostingClassifier, committee.GradientBoostingRegressor):
        params = kind().get_params()
        if any(params[k] != v for k, v in CANDIDATES[CHOSEN].items()):
            raise SystemExit(f"{kind.__name__} has other defaults than {CHOSEN!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--halves", nargs="+", choices=HALVES, default=HALVES)
    parser.add_argument("--known", action="store_true", help="only sets with all peers measured")
    parser.add_argument("--again", action="store_true", help="measure ours anew")
    parser.add_argument("--write", action="store_true", help=f"keep the table in {RESULTS.name}")
    asked = parser.parse_args()
    check_defaults()
    warnings.simplefilter("ignore")  # of peers, of levels that only the test fold has
    scores = Scores()
    if asked.again:
        scores.forget(OURS)
    text = report(Study(scores, asked.known), asked.halves)
    print(f"\n{text}")
    if asked.write:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
