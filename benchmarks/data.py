"""The data of all stages: 28 features, some skewed, some coarse, a target with interactions.

Rows are drawn in float32, so that float32 and float64 tables hold equal values.
"""

import os
from functools import cache

import numpy as np

SCALE = float(os.environ.get("COMMITTEE_BENCH_SCALE", "1"))  # of the number of rows; for trying out
REPEATS = int(os.environ.get("COMMITTEE_BENCH_REPEATS", "5"))  # of the gradient boosting stages
N_FEATURES = 28


def scaled(n_rows: int) -> int:
    """Return the number of rows to use where `n_rows` are meant."""
    return max(2000, int(n_rows * SCALE))


def make_rows(n_rows: int, seed: int) -> np.ndarray:
    """Draw rows: normal, every third feature log-normal, the last four with few values."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, N_FEATURES), dtype=np.float32)
    X[:, ::3] = np.exp(X[:, ::3])
    X[:, -4:] = np.round(X[:, -4:] * 4)
    return X


def _signal(X: np.ndarray) -> np.ndarray:
    z = X[:, 1] * X[:, 2] + np.sin(2 * X[:, 4]) + np.log(X[:, 0]) * (X[:, 5] > 0)
    z += 0.5 * np.abs(X[:, 7]) - 0.4 + 0.3 * X[:, 8] * X[:, 10] - 0.25 * np.log(X[:, 3])
    return z + 0.1 * X[:, 24]


@cache
def classification(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels 0 or 1, drawn with a probability logistic in the signal."""
    X = make_rows(n_rows, seed)
    chance = np.random.default_rng(seed + 1000).random(n_rows)
    return X, (chance < 1 / (1 + np.exp(-_signal(X)))).astype(np.int64)


@cache
def regression(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and the signal with noise of standard deviation 0.5."""
    X = make_rows(n_rows, seed)
    noise = np.random.default_rng(seed + 1000).standard_normal(n_rows)
    return X, _signal(X).astype(np.float64) + 0.5 * noise


def log_loss(y: np.ndarray, probability: np.ndarray) -> float:
    p = np.clip(np.asarray(probability, dtype=np.float64), 1e-12, 1 - 1e-12)
    return float(-np.mean(np.where(y == 1, np.log(p), np.log1p(-p))))


def accuracy(y: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.mean(y == predicted))


def r_squared(y: np.ndarray, predicted: np.ndarray) -> float:
    return float(1 - np.mean((y - predicted) ** 2) / np.var(y))


def sigmoid(score: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.asarray(score, dtype=np.float64)))
