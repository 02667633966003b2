"""What is learned: tables made from a seed or read from ../shared/data, by name.

A task is made anew in every process that fits it, from the number of a draw: each repeat has rows
of its own, the same for everyone, so that losses are means over draws. One draw alone may favour a
library by half a percent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.accuracy import SHARED_DATA, read
from benchmarks.data import SCALE, classification, scaled
from benchmarks.peers import Plan
from benchmarks.stages.boosting import documents

WIDE_ROWS, WIDE_FEATURES, WIDE_INFORMATIVE = 5000, 2000, 20
DOCUMENTS, WORDS = 10_000, 50_000
SMALL_ROWS, SMALL_FEATURES = 1000, 10
PLAN = Plan(n_trees=100, n_leaves=31, depth=5)
APART = 100  # between the seeds of two draws

Split = tuple[Any, np.ndarray, Any, np.ndarray]  # rows and labels to learn from, and to test on


@dataclass(frozen=True)
class Task:
    """Tables for learning and testing, and what to learn from them.

    The labels are 0, 1, ... in order. `slack` is the share by which our log-loss may be above that
    of the fastest peer: the noise of so many test rows.
    """

    name: str
    title: str
    split: Callable[[int], Split]  # by the number of the draw
    plan: Plan = PLAN
    slack: float = 0.02
    sparse: bool = False
    shared: bool = False  # whether it is read from ../shared/data
    calls: int = 1  # fits for each measurement, for what is too short for the clock

    def absent(self) -> bool:
        return self.shared and not (SHARED_DATA / "index.json").exists()


def size_of(X: Any) -> str:
    n, p = X.shape
    return f"{n / 1e6:g}M x {p}" if n >= 1_000_000 else f"{n:,} x {p:,}"


def log_loss(y: np.ndarray, probability: np.ndarray) -> float:
    """Return the mean of -log p of the true class, from a column for each class."""
    p = np.clip(np.asarray(probability, dtype=np.float64)[np.arange(len(y)), y], 1e-12, 1.0)
    return float(-np.log(p).mean())


def _higgs(draw: int) -> Split:
    """Draw Higgs-like rows: 28 columns, interactions; no model can have a log-loss below .502."""
    X, y = classification(scaled(1_000_000), 60 + APART * draw)
    return X, y, *classification(scaled(100_000), 61 + APART * draw)


def _small(draw: int) -> Split:
    """Keep the columns of nearly all of the signal; the test rows are many, so that they tell."""
    X, y = classification(SMALL_ROWS, 62 + APART * draw)
    X_test, y_test = classification(20_000, 63 + APART * draw)
    keep = slice(0, SMALL_FEATURES)
    return np.ascontiguousarray(X[:, keep]), y, np.ascontiguousarray(X_test[:, keep]), y_test


def _wide(draw: int) -> Split:
    """Draw normal columns, of which 20 matter, ten also in pairs; the others are noise."""
    n = int(np.ceil(WIDE_ROWS * min(1.0, max(SCALE, 0.1))))
    columns = max(200, int(WIDE_FEATURES * min(1.0, SCALE * 4)))
    rng = np.random.default_rng(64 + APART * draw)
    X = rng.standard_normal((2 * n, columns), dtype=np.float32)
    some = X[:, :: columns // WIDE_INFORMATIVE][:, :WIDE_INFORMATIVE]
    score = some.sum(axis=1) + (some[:, :5] * some[:, 5:10]).sum(axis=1)
    y = (rng.random(2 * n) < 1 / (1 + np.exp(-score))).astype(np.int64)
    return X[:n], y[:n], X[n:], y[n:]


def _text(draw: int) -> Split:
    """Draw documents as the AdaBoost stage does, half as many more for the test."""
    n = scaled(DOCUMENTS)
    X, y = documents(n + n // 2, scaled(WORDS), 65 + APART * draw)
    X.data = X.data.astype(np.float32)
    return X[:n], y[:n], X[n:], y[n:]


def _shared(name: str, draw: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Read a set in a random order, as many rows as asked for; classes by number."""
    frame, label = read(name)
    order = np.random.default_rng(66 + APART * draw).permutation(len(frame))
    order = order[: max(4000, int(len(order) * min(1.0, SCALE)))]
    y = np.unique(label, return_inverse=True)[1]
    return frame.iloc[order].reset_index(drop=True), y[order]


def _three_quarters(X: Any, y: np.ndarray) -> Split:
    n = len(y) * 3 // 4
    return X[:n], y[:n], X[n:], y[n:]


def _covertype(draw: int) -> Split:
    """Give the two categories as 44 indicators, as UCI does: a task of numbers for everyone."""
    frame, y = _shared("covertype-16pct", draw)
    return _three_quarters(pd.get_dummies(frame).to_numpy(np.float32), y)


def _adult(draw: int) -> Split:
    """Keep categories and missing values as they are, for each library to treat in its own way."""
    X, y = _shared("adult", draw)
    X, y, X_test, y_test = _three_quarters(X, y)
    return X, y, X_test.reset_index(drop=True), y_test


_EVERY = (
    Task("higgs", "Higgs-like", _higgs, slack=0.005),
    Task("covertype", "seven classes, covertype", _covertype, slack=0.01, shared=True),
    Task("wide", "wide, normal columns", _wide),
    Task("text", "sparse text", _text, sparse=True),
    Task("adult", "categories, adult", _adult, shared=True),
    Task("small", "small", _small, slack=0.05, calls=10),
)
TASKS = {task.name: task for task in _EVERY}
