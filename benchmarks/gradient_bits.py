"""What statistics of 16 bits cost: the same booster with gradients and hessians of 30 bits.

`python -m benchmarks.gradient_bits [--write]`. A round packs the gradient and the hessian of a row
in one word; at a million rows eleven or twelve bits of each are left. Here the same rounds are also
made with 30 bits, in two words. From the first near tie on both grow other trees, which would
differ as much by chance: so the 16 bits are also given the rows in another order, which rounds them
otherwise and changes nothing else, and what that changes is the noise of the comparison; the mean
of both 16 bits less the 30 bits has less of it. Goals: AUC
within 1e-4 on Higgs-like rows, the root of the mean squared error within 0.1 % under noise of
Student's t with two degrees of freedom. Noise is most of that error, so that the distance from the
true mean, of which it knows nothing, stands beside it. Differences of errors and distances are
shares of them.
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
AUC = "AUC, Higgs-like rows"
ERROR = "Root of the mean squared error, Student's t"
DISTANCE = "Distance from the mean, Student's t"
WAYS = ("16 bits", "30 bits", "16 bits, other order")


def statistics(gradient: np.ndarray, hessian: np.ndarray, way: str) -> _engine.Stats:
    if way == "30 bits":
        return _engine.Stats.newton(gradient, hessian, 30, False)
    both = gradient.astype(np.float32), hessian.astype(np.float32)
    return _engine.Stats.gradients(*both, None, THREADS)


def boost(X: np.ndarray, slopes: Slopes, way: str, X_test: np.ndarray) -> np.ndarray:
    """Boost in a few lines, on statistics of one's choice; return the scores of the test rows."""
    rows = Rows.of(read_fit(X)[0], None, max_bins=255, n_threads=THREADS)
    params = _engine.TreeParams()
    params.criterion, params.growth = _engine.Criterion.newton, _engine.Growth.best_first
    params.max_leaves, params.l2 = LEAVES, L2
    params.min_weight_leaf, params.min_gain = LEAST_HESSIAN, 0.0
    test = engine_table(read_fit(X_test)[0])
    raw, scores = np.zeros(len(X)), np.zeros(len(X_test))
    for _ in range(ROUNDS):
        stats = statistics(*slopes(raw), way)
        tree, leaf = _engine.grow_tree_with_leaves(rows.matrix, rows.mapper, stats, params, THREADS)
        _engine.add_leaves(leaf, np.ascontiguousarray(tree.values[:, 0]), RATE, raw, THREADS)
        scores += RATE * tree.predict(test, n_threads=THREADS)[:, 0]
    return scores


def every_way(
    X: np.ndarray, y: np.ndarray, loss: Callable[[np.ndarray], Slopes], X_test: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the scores of the test rows by way."""
    order = np.random.default_rng(0).permutation(len(y))
    found = {way: boost(X, loss(y), way, X_test) for way in WAYS[:2]}
    return found | {WAYS[2]: boost(X[order], loss(y[order]), WAYS[2], X_test)}


def logistic(y: np.ndarray) -> Slopes:
    def slopes(raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = 1 / (1 + np.exp(-raw))
        return p - y, p * (1 - p)

    return slopes


def squared(y: np.ndarray) -> Slopes:
    return lambda raw: (raw - y, np.ones(len(y)))


Measured = dict[str, dict[str, float]]  # by table and way


def higgs(draw: int) -> Measured:
    X, y = classification(scaled(1_000_000), 600 + draw)
    X_test, y_test = classification(scaled(400_000), 700 + draw)
    found = every_way(X, y, logistic, X_test)
    return {AUC: {way: float(roc_auc_score(y_test, scores)) for way, scores in found.items()}}


def heavy_tails(draw: int) -> Measured:
    rng = np.random.default_rng(800 + draw)
    X = rng.normal(size=(scaled(400_000), 10)).astype(np.float32)
    mean = 2 * X[:, 0] + np.sin(3 * X[:, 1]) * X[:, 2]
    learn = len(X) // 2
    y = mean + rng.standard_t(2, len(X))
    found = every_way(X[:learn], y[:learn], squared, X[learn:])

    def root(truth: np.ndarray) -> dict[str, float]:
        return {way: float(np.sqrt(np.mean((f - truth) ** 2))) for way, f in found.items()}

    return {ERROR: root(y[learn:]), DISTANCE: root(mean[learn:])}


def table(found: list[dict[str, float]], relative: bool) -> str:
    """Tabulate draws, and what 30 bits and another order change, with the error of the mean."""
    first, wide, again = WAYS
    value = {way: np.array([each[way] for each in found]) for way in WAYS}
    scale = value[first] if relative else np.ones(len(found))
    apart = {
        f"{first} less {wide}": value[first] - value[wide],
        f"both {first} less {wide}": (value[first] + value[again]) / 2 - value[wide],
        f"{first} less {again}": value[first] - value[again],
    }
    apart = {name: gap / scale for name, gap in apart.items()}
    rows = [["draw", *WAYS, *apart]]
    for k, each in enumerate(found):
        gaps = [f"{gap[k]:+.1e}" for gap in apart.values()]
        rows.append([str(k), *(f"{each[way]:.6f}" for way in WAYS), *gaps])
    ends = [f"{g.mean():+.1e} ± {g.std(ddof=1) / np.sqrt(len(g)):.1e}" for g in apart.values()]
    return markdown([*rows, ["mean", *[""] * len(WAYS), *ends]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--write", action="store_true", help=f"keep the table in {RESULTS.name}")
    asked = parser.parse_args()
    parts = ["# Statistics of 16 and of 30 bits"]
    parts.append(f"committee {committee.__version__}, {time.strftime('%Y-%m-%d')}.")
    parts.append((__doc__ or "").split("\n\n", 1)[1].replace("\n", " ").strip())
    for measure in (higgs, heavy_tails):
        found = []
        for k in range(asked.draws):
            found.append(measure(k))
            print(found[-1], flush=True)
        for title in found[0]:
            parts += [f"## {title}", table([each[title] for each in found], title != AUC)]
    text = "\n\n".join(parts) + "\n"
    print(f"\n{text}")
    if asked.write:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
