"""Losses of models on folds, kept in a file, so that a long study may be interrupted.

Classification: log-loss, with probabilities of at least 1e-7, the resolution of the floats
that some libraries answer in, and the share of errors. Regression: the root of the mean squared
error, twice.
"""

import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.gradient.models import Model
from benchmarks.gradient.sets import BoostingSet, Fold

KEPT = Path(__file__).resolve().parents[2] / "build" / "gradient_scores.json"
LEAST = 1e-7


@dataclass(frozen=True)
class Score:
    """What one model reached on one fold."""

    loss: float
    error: float
    seconds: float


def judge(fold: Fold, found: np.ndarray, seconds: float) -> Score:
    """Measure predictions."""
    found = np.asarray(found, dtype=np.float64)
    if np.isnan(found).any():  # the library does not take such rows
        return Score(np.nan, np.nan, np.nan)
    if not fold.n_classes:
        root = float(np.sqrt(np.mean((found - fold.y_test) ** 2)))
        return Score(root, root, seconds)
    p = np.clip(found[np.arange(len(found)), fold.y_test], LEAST, 1.0)
    return Score(
        float(-np.log(p).mean()), float(np.mean(found.argmax(axis=1) != fold.y_test)), seconds
    )


class Scores:
    """Scores by set, contestant and fold; computed where they are not known yet."""

    def __init__(self, path: Path = KEPT) -> None:
        self.path = path
        self.known: dict[str, list[float]] = {}
        if path.exists():
            self.known = json.loads(path.read_text(encoding="utf-8"))

    def forget(self, prefix: str) -> None:
        """Drop what contestants of this name have reached: they are not what they were."""
        self.known = {k: v for k, v in self.known.items() if not k.split("|")[1].startswith(prefix)}

    def of(
        self, data: BoostingSet, name: str, model: Model, n_folds: int, *, codes: bool
    ) -> list[Score]:
        """Return the scores on the first folds."""
        found = []
        for k in range(n_folds):
            key = f"{data.name}|{name}|{k}"
            if key not in self.known:
                fold = data.part(k, codes=codes)
                begun = time.perf_counter()
                answer = model(fold, k)
                score = judge(fold, answer, time.perf_counter() - begun)
                self.known[key] = [score.loss, score.error, score.seconds]
                self.path.parent.mkdir(exist_ok=True)
                self.path.write_text(json.dumps(self.known), encoding="utf-8")
            found.append(Score(*self.known[key]))
        return found


def losses(scores: list[Score]) -> np.ndarray:
    return np.array([score.loss for score in scores])
