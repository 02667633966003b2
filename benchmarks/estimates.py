"""What a gradient booster says that its fit will take, beside the peak of a process (F14).

Run ``python -m benchmarks.estimates``. Each shape is fitted in a process of its own; the peak is
counted from what was resident before the fit. Goal: estimates of 0.8 to 1.5 times the peak.
"""

import json
import subprocess
import sys
import warnings
from typing import Any

import numpy as np

from benchmarks.stages.memory import peak

GOAL = (0.8, 1.5)
WARM_ROWS = 500
# Rows, features, classes (0: numbers), how the rows are held, parameters.
SHAPES: list[tuple[int, int, int, str, dict[str, Any]]] = [
    (200_000, 20, 0, "float32", {}),
    (200_000, 20, 0, "float32", {"early_stopping": True}),
    (400_000, 10, 2, "float64", {"early_stopping": True}),
    (100_000, 20, 2, "frame", {"early_stopping": True}),
    (1_000_000, 5, 2, "float32", {}),
    (50_000, 200, 2, "float32", {}),
    (50_000, 200, 2, "float32", {"max_leaf_nodes": 255}),
    (3_000, 3_000, 2, "float32", {}),
    (20_000, 1_000, 0, "float32", {}),
    (200_000, 20, 7, "float32", {}),
    (200_000, 20, 2, "float32", {"max_leaf_nodes": 255}),
    (200_000, 20, 0, "float32", {"max_bins": 1000}),
    (200_000, 20, 2, "float32", {"subsample": 0.5}),
    (500_000, 20, 0, "float32", {"growth": "level", "max_depth": 6}),
    (100_000, 20, 0, "float32", {"loss": "absolute_error"}),
    (100_000, 100, 2, "sparse", {}),
    (100_000, 20, 2, "categories", {}),
    (100_000, 20, 2, "categories", {"categorical_encoding": "ordered_target"}),
]


def rows_of(n: int, p: int, n_classes: int, kind: str) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(0)
    X: Any = rng.normal(size=(n, p))
    score = X[:, 0] + X[:, 1] * X[:, 2]
    y = score
    if n_classes:
        y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    if kind in ("float32", "sparse"):
        X = X.astype(np.float32)
    if kind == "sparse":
        from scipy import sparse

        X[rng.random(X.shape) < 0.9] = 0
        X = sparse.csr_array(X)
    elif kind == "frame":
        import pandas as pd

        X = pd.DataFrame(X, columns=[f"f{k}" for k in range(p)])
    elif kind == "categories":
        X = np.abs(300 * X).astype(np.float32) // 1
    return X, y


def measure(shape: int) -> tuple[float, float]:
    """Fit in this process; return the estimate and the peak, in MB."""
    from committee import GradientBoostingClassifier, GradientBoostingRegressor
    from committee.data import read_fit
    from committee.learners.gradient_boosting.memory import fit_parts

    n, p, n_classes, kind, given = SHAPES[shape]
    X, y = rows_of(n, p, n_classes, kind)
    cls = GradientBoostingClassifier if n_classes else GradientBoostingRegressor
    categories = list(range(5, p)) if kind == "categories" else "from_dtype"
    params = {"n_estimators": 5, "early_stopping": False, "n_jobs": 2} | given
    model = cls(**params, categorical_features=categories)
    warnings.simplefilter("ignore")
    most = peak(model.fit, X, y, WARM_ROWS)
    table, _ = read_fit(X, categorical_features=categories)
    told = sum(fit_parts(model, table, model.loss_, params["early_stopping"]).values())
    if kind == "categories":
        told += table.values.nbytes  # read into numbers: there already when the fit asks
    return told / 1e6, most / 1e6


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]))))
        return
    print("| rows | features | classes | held as | parameters | estimate | peak | ratio |")
    print("|---:|---:|---:|---|---|---:|---:|---:|")
    kept = True
    for k, (n, p, n_classes, kind, params) in enumerate(SHAPES):
        command = [sys.executable, "-m", "benchmarks.estimates", str(k)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        told, most = json.loads(done.stdout.splitlines()[-1])
        kept &= GOAL[0] <= told / most <= GOAL[1]
        said = ", ".join(f"{name}={value}" for name, value in params.items())
        numbers = f"{told:.0f} MB | {most:.0f} MB | {told / most:.2f}"
        print(f"| {n} | {p} | {n_classes} | {kind} | {said} | {numbers} |", flush=True)
    if not kept:
        raise SystemExit(f"an estimate outside {GOAL[0]} to {GOAL[1]} times the peak")


if __name__ == "__main__":
    main()
