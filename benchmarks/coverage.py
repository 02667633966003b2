"""How often prediction intervals of nominal 90 % cover: real and synthetic regressions.

Run ``python -m benchmarks.coverage [--write]``. Real sets: every row is predicted by models that
have not seen it, in ten folds, small sets five times over. Synthetic sets: twelve draws of 1000
training and 2000 test rows. The error is binomial, by the number of different rows. "Width" is the
mean width as a share of the spread of y (between the same quantiles). "Worst third": coverage among
the third of the rows, by the middle of the interval, that is covered least.
"""

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3

from committee import DataWarning, GradientBoostingRegressor, RandomForestRegressor

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
REAL = ("abalone", "auto-mpg", "boston", "california", "cpu-act", "machine-cpu", "servo")
GOAL = (0.88, 0.93)
ENOUGH = 300  # rows; with fewer the error of a coverage alone is two percent
N_FOLDS, N_DRAWS = 10, 12
RESULTS = Path(__file__).parent / "results" / "coverage.md"
NOTE = (
    "Prediction intervals of random forests and boosters, nominal 90 %. Real sets: ten folds, each",
    "row predicted by models that have not seen it; synthetic sets: twelve draws of 1000 training",
    "and 2000 test rows. Width: mean width as a share of the spread of y. Worst third: coverage",
    "among the third of the rows, by the middle of the interval, that is covered least. Goal: 88",
    "to 93 %. Boosters: *residuals* are split conformal prediction, *CQR* conformalised quantile",
    "regression; *raw quantiles* promise nothing, and have no goal.",
)


def forest(method: str) -> Callable[[float], RandomForestRegressor]:
    return lambda alpha: RandomForestRegressor(
        max_features=1 / 3, intervals=method, random_state=0, n_jobs=-1
    )


def booster(method: str, *, levels: bool) -> Callable[[float], GradientBoostingRegressor]:
    def model(alpha: float) -> GradientBoostingRegressor:
        params = {"loss": "quantile", "quantile": [alpha / 2, 1 - alpha / 2]} if levels else {}
        return GradientBoostingRegressor(intervals=method, random_state=0, n_jobs=-1, **params)

    return model


METHODS = {
    "forest: jackknife": forest("jackknife"),
    "forest: quantile": forest("quantile"),
    "booster: residuals": booster("conformal", levels=False),
    "booster: CQR": booster("conformal", levels=True),
    "booster: raw quantiles": booster("quantile", levels=True),
}
NO_GOAL = ("booster: raw quantiles",)
Problem = tuple[object, np.ndarray, object, np.ndarray]  # X, y to train; X, y to test


def heteroscedastic(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a sine whose noise grows tenfold along the second feature."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_rows, 5))
    return X, np.sin(6 * X[:, 0]) + (0.1 + 0.9 * X[:, 1]) * rng.normal(size=n_rows)


SYNTHETIC: dict[str, Callable[[int, int], tuple[np.ndarray, np.ndarray]]] = {
    "Friedman 1": lambda n, seed: make_friedman1(n, noise=1.0, random_state=seed),
    "Friedman 2": lambda n, seed: make_friedman2(n, noise=125.0, random_state=seed),
    "Friedman 3": lambda n, seed: make_friedman3(n, noise=0.1, random_state=seed),
    "uneven noise": heteroscedastic,
}


def real_problems(name: str) -> Iterator[Problem]:
    """Yield folds: those given with the data, then shuffled ones for small sets."""
    import pandas as pd

    index = json.loads((DATA / "index.json").read_text(encoding="utf-8"))
    entry = next(entry for entry in index["sets"] if entry["name"] == name)
    frame = pd.read_csv(DATA / entry["file"], keep_default_na=False, na_values=[""])
    for column in entry["columns"]:
        if column["kind"] == "categorical":
            frame[column["name"]] = frame[column["name"]].astype("category")
    y = frame.pop(entry["target"]).to_numpy(dtype=float)
    given = np.array(json.loads((DATA / "folds.json").read_text(encoding="utf-8"))[name])
    for repeat in range(1 if len(y) > 1000 else 5):
        folds = given if repeat == 0 else np.random.default_rng(repeat).permutation(given)
        for fold in range(N_FOLDS):
            test = folds == fold
            yield frame[~test], y[~test], frame[test], y[test]


def synthetic_problems(name: str) -> Iterator[Problem]:
    for seed in range(N_DRAWS):
        X, y = SYNTHETIC[name](3000, seed)
        yield X[:1000], y[:1000], X[1000:], y[1000:]


def measure(problems: list[Problem], method: str, alpha: float) -> tuple[float, float, float]:
    """Return coverage, width, and coverage of the worst third."""
    inside, width, middle, spread = [], [], [], []
    for X, y, X_test, y_test in problems:
        model = METHODS[method](alpha)
        bounds = model.fit(X, y).predict_interval(X_test, alpha=alpha)
        inside.append((bounds[:, 0] <= y_test) & (y_test <= bounds[:, 1]))
        width.append(np.diff(bounds)[:, 0])
        middle.append(bounds.mean(axis=1))
        spread.append(np.subtract(*np.quantile(y, [1 - alpha / 2, alpha / 2])))
    covered = np.concatenate(inside)
    thirds = np.array_split(covered[np.argsort(np.concatenate(middle), kind="stable")], 3)
    share = np.concatenate(width).mean() / np.mean(spread)
    return float(covered.mean()), float(share), float(min(third.mean() for third in thirds))


def report(names: list[str], methods: list[str], alpha: float, lines: list[str]) -> bool:
    """Print the table; tell whether every set that is large enough lies within the goal."""

    def say(line: str) -> None:
        print(line, flush=True)
        lines.append(line)

    say(f"| set | rows | method | coverage of nominal {1 - alpha:.0%} | width | worst third |")
    say("|---|---:|---|---:|---:|---:|")
    kept = True
    for name in names:
        problems = list(real_problems(name) if name in REAL else synthetic_problems(name))
        n = sum(len(p[3]) for p in problems) if name in SYNTHETIC else len(problems[0][1])
        n += len(problems[0][3]) if name in REAL else 0
        for method in methods:
            coverage, width, worst = measure(problems, method, alpha)
            error = np.sqrt(coverage * (1 - coverage) / n)
            within = GOAL[0] <= coverage - 0.1 + alpha <= GOAL[1]
            free = method in NO_GOAL
            kept &= within or free or n < ENOUGH
            mark = "" if within or free else " (few rows)" if n < ENOUGH else " (!)"
            say(
                f"| {name} | {n} | {method} | {coverage:.1%} ± {error:.1%}{mark} "
                f"| {width:.0%} | {worst:.1%} |"
            )
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=[*REAL, *SYNTHETIC], help="which sets")
    parser.add_argument("--methods", nargs="*", default=[*METHODS], choices=[*METHODS])
    parser.add_argument("--alpha", type=float, default=0.1)
    parser.add_argument("--write", action="store_true", help=f"keep the table in {RESULTS.name}")
    args = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    lines: list[str] = []
    kept = report(args.sets, args.methods, args.alpha, lines)
    if args.write:
        RESULTS.write_text("\n".join(["# Coverage", "", *NOTE, "", *lines, ""]))
    if not kept:
        raise SystemExit(f"coverage outside {GOAL[0]:.0%} to {GOAL[1]:.0%}")


if __name__ == "__main__":
    main()
