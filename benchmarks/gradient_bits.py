"""What statistics of 16 bits cost: the same booster with gradients and hessians of 30 bits.

`python -m benchmarks.gradient_bits [--write]`. A round packs the gradient and the hessian of a row
in one word; at a million rows eleven or twelve bits of each are left. Here the same rounds are also
made with 30 bits, in two words, and once more with 28 bits: the last two hold the same information,
and what tells them apart is how near ties fall, so that their difference is the noise of the
comparison. Goals: AUC within 1e-4 on Higgs-like rows, the root of the mean squared error within
0.1 % under noise of Student's t with two degrees of freedom.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

import committee
from benchmarks.data import classification, scaled
from benchmarks.report import markdown
from committee import _engine
from committee.data import read_fit
from committee.data.rows import Rows, engine_table

RESULTS = Path(__file__).parent / "results" / "gradient_bits.md"
ROUNDS, RATE, LEAVES, L2, LEAST_HESSIAN, THREADS = 100, 0.1, 63, 1.0, 1.0, 2
Slopes = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
STATISTICS = {
    "16": lambda g, h: _engine.Stats.gradients(
        g.astype(np.float32), h.astype(np.float32), None, THREADS
    ),
    "30": lambda g, h: _engine.Stats.newton(g, h, 30, False),
    "28": lambda g, h: _engine.Stats.newton(g, h, 28, False),
}


class Booster:
    """Gradient boosting in a few lines, on statistics of one's choice."""

    def __init__(self, X: np.ndarray) -> None:
        self.rows = Rows.of(read_fit(X)[0], None, max_bins=255, n_threads=THREADS)
        self.params = _engine.TreeParams()
        self.params.criterion = _engine.Criterion.newton
        self.params.growth = _engine.Growth.best_first
        self.params.max_leaves, self.params.l2 = LEAVES, L2
        self.params.min_weight_leaf, self.params.min_gain = LEAST_HESSIAN, 0.0

    def fit(self, slopes: Slopes, bits: str, X_test: np.ndarray) -> np.ndarray:
        """Return the scores of the test rows."""
        table = engine_table(read_fit(X_test)[0])
        raw, scores = np.zeros(self.rows.matrix.n_rows), np.zeros(len(X_test))
        for _ in range(ROUNDS):
            stats = STATISTICS[bits](*slopes(raw))
            tree, leaf = _engine.grow_tree_with_leaves(
                self.rows.matrix, self.rows.mapper, stats, self.params, THREADS
            )
            value = np.ascontiguousarray(tree.values[:, 0])
            _engine.add_leaves(leaf, value, RATE, raw, THREADS)
            scores += RATE * tree.predict(table, n_threads=THREADS)[:, 0]
        return scores


def logistic(y: np.ndarray) -> Slopes:
    def slopes(raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = 1 / (1 + np.exp(-raw))
        return p - y, p * (1 - p)

    return slopes


def squared(y: np.ndarray) -> Slopes:
    return lambda raw: (raw - y, np.ones(len(y)))


def higgs(draw: int) -> dict[str, float]:
    """Return the AUC by bits."""
    X, y = classification(scaled(1_000_000), 600 + draw)
    X_test, y_test = classification(scaled(400_000), 700 + draw)
    booster = Booster(X)
    return {
        bits: float(roc_auc_score(y_test, booster.fit(logistic(y), bits, X_test)))
        for bits in STATISTICS
    }


def heavy_tails(draw: int) -> dict[str, float]:
    """Return the root of the mean squared distance from the true mean by bits."""
    rng = np.random.default_rng(800 + draw)
    X = rng.normal(size=(scaled(400_000), 10)).astype(np.float32)
    mean = 2 * X[:, 0] + np.sin(3 * X[:, 1]) * X[:, 2]
    learn = len(X) // 2
    y = (mean + rng.standard_t(2, len(X)))[:learn]
    booster = Booster(X[:learn])
    return {
        bits: float(
            np.sqrt(np.mean((booster.fit(squared(y), bits, X[learn:]) - mean[learn:]) ** 2))
        )
        for bits in STATISTICS
    }


def table(found: list[dict[str, float]], relative: bool) -> str:
    """Tabulate draws, and the differences from 30 bits with the error of their mean."""
    rows = [["draw", *(f"{bits} bits" for bits in STATISTICS), "16 - 30", "28 - 30"]]
    scale = np.array([each["30"] if relative else 1.0 for each in found])
    apart = {
        bits: np.array([each[bits] - each["30"] for each in found]) / scale for bits in ("16", "28")
    }
    for k, each in enumerate(found):
        values = [f"{each[bits]:.6f}" for bits in STATISTICS]
        rows.append([str(k), *values, *(f"{apart[bits][k]:+.1e}" for bits in ("16", "28"))])
    ends = [f"{a.mean():+.1e} ± {a.std(ddof=1) / np.sqrt(len(a)):.0e}" for a in apart.values()]
    return markdown([*rows, ["mean", "", "", "", *ends]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--write", action="store_true", help=f"keep the table in {RESULTS.name}")
    asked = parser.parse_args()
    parts = ["# Statistics of 16 and of 30 bits"]
    parts.append(f"committee {committee.__version__}, {time.strftime('%Y-%m-%d')}.")
    parts.append((__doc__ or "").split("\n\n", 1)[1].replace("\n", " ").strip())
    for title, draw, relative in (
        ("AUC, Higgs-like rows", higgs, False),
        ("Distance from the mean, Student's t", heavy_tails, True),
    ):
        found = []
        for k in range(asked.draws):
            found.append(draw(k))
            print(title, found[-1], flush=True)
        parts += [f"## {title}", table(found, relative)]
    text = "\n\n".join(parts) + "\n"
    print(f"\n{text}")
    if asked.write:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
