"""Using a fitted gradient booster, 100 trees of 255 leaves: batches, one row, TreeSHAP.

The models sit in one process and take turns, as in the stage `predicting`, which times the engine's
walk alone; here the estimator is asked for probabilities, as the others are. CatBoost's trees are
symmetric, of depth 8, and XGBoost's leaf-wise as ours; both libraries are held against our default,
and CatBoost also against our symmetric trees.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import REPEATS, classification, scaled
from benchmarks.gradient.contestants import SYMMETRIC, Contestant, every
from benchmarks.gradient.tasks import log_loss
from benchmarks.peers import YDF, Plan, versions
from benchmarks.report import OURS, Entry, Goal, Row, entries
from benchmarks.timing import interleave

STAGE = "gradient_using"
PLAN = Plan(n_trees=100, n_leaves=255, depth=8)
THREADS = 2
READY = "CatBoost ready Pool"
TRAINED_ON, BATCH, EXPLAINED = 100_000, 100_000, 10_000

# The quantised trees of LightGBM are walked as its others are; so are the level-wise ones.
USED = (OURS, SYMMETRIC, "scikit-learn HGB", "LightGBM", "XGBoost lossguide", "CatBoost")

NOTE = (
    "each from a numpy array to probabilities; `ready Pool`: without CatBoost's own conversion of "
    "the rows"
)


def run() -> list[Row]:
    return [row for part in PARTS.values() for row in part()]


# --- models ---


def _installed() -> dict[str, Contestant]:
    known = every()
    return {name: known[name] for name in USED if name in known}


@cache
def _models() -> dict[str, Any]:
    """Fit every library once, for all parts; who fails is absent, and said to be."""
    X, y = classification(scaled(TRAINED_ON), 70)
    fits: dict[str, Callable[..., Any]] = {name: c.fit for name, c in _installed().items()}
    if versions()["YDF"] != "absent":
        fits["YDF"] = YDF().train
    models = {}
    for name, fit in fits.items():
        print(f"  training {name}", flush=True)
        try:
            models[name] = fit(X, y, PLAN)
        except Exception as error:
            print(f"  {name} failed: {type(error).__name__}: {error}", flush=True)
    return models


def _test_rows() -> tuple[np.ndarray, np.ndarray]:
    return classification(scaled(BATCH), 71)


def _score_jobs(X: np.ndarray, threads: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield what predicts the rows with each model."""
    models = _models()
    for name, contestant in _installed().items():
        if name in models:
            yield name, partial(contestant.scorer(models[name], threads), X)
    if "YDF" in models:
        yield "YDF", partial(YDF().scorer(models["YDF"], threads), YDF().columns(X))
    if "CatBoost" in models and len(X) > 1:
        import catboost

        score = _installed()["CatBoost"].scorer(models["CatBoost"], threads)
        yield READY, partial(score, catboost.Pool(X, thread_count=threads))


def _losses(jobs: dict[str, Callable[[], Any]], y: np.ndarray) -> dict[str, float]:
    """Show that the models are alike: their log-losses on the rows that are timed."""
    found = {}
    for name, job in jobs.items():
        p = np.asarray(job(), dtype=np.float64)
        found[name] = log_loss(y, np.column_stack([1 - p, p]) if p.ndim == 1 else p)
    return found


# --- predicting ---


def _batch() -> list[Row]:
    """Time many rows; the goals stand in rows of the same numbers."""
    X, y = _test_rows()
    jobs = dict(_score_jobs(X, THREADS))
    losses = _losses(jobs, y)
    timings = interleave(jobs, repeats=REPEATS, budget=120, rotate=True)
    found = entries(timings, 1e9 / (len(X) * PLAN.n_trees), losses)
    what = f"probabilities, 100 trees x 255 leaves, {len(X):,} rows x 28 float32, 2 threads"
    rows = [_row(what, "ns/row/tree", found, Goal(3.0, "times", "XGBoost"), NOTE)]
    for growth, ours in {"ours leaf-wise": OURS, "ours symmetric": SYMMETRIC}.items():
        for theirs in ("CatBoost", READY):
            if theirs in found:
                pair = {OURS: found[ours], theirs: found[theirs]}
                beside = f"{what}, {growth} beside {theirs}"
                rows.append(_row(beside, "ns/row/tree", pair, Goal(1.0, "times", "CatBoost")))
    return rows


def _one_row() -> list[Row]:
    X = np.ascontiguousarray(_test_rows()[0][:1])
    jobs = dict(_score_jobs(X, 1))
    with threadpool_limits(1, "openmp"):
        timings = interleave(jobs, repeats=REPEATS + 2, calls=200, budget=20, rotate=True)
    what = "probability of one row through Python, 100 trees x 255 leaves, 1 thread"
    return [_row(what, "us", entries(timings, 1e6), Goal(2.0, "times"))]


def _row(what: str, unit: str, found: dict[str, Entry], goal: Goal, note: str = "") -> Row:
    return Row(STAGE, what, unit, found, goal, "log-loss", note=note, by="median")


# --- explaining ---


def _shap() -> list[Row]:
    """Time TreeSHAP; a warm-up of few rows, because some need the better part of a minute."""
    X = _test_rows()[0][: scaled(EXPLAINED)]
    models = _models()
    jobs: dict[str, Callable[[], np.ndarray]] = {}
    errors: dict[str, float] = {}
    for name, contestant in _installed().items():
        if name not in models or contestant.contributions is None:
            continue
        explain = partial(contestant.contributions, models[name])
        jobs[name] = partial(explain, X, THREADS)
        try:
            errors[name] = _additivity(contestant, models[name], X[:200])
        except Exception as error:
            print(f"  {name} cannot be explained: {type(error).__name__}: {error}", flush=True)
            del jobs[name]
    timings = interleave(jobs, repeats=REPEATS, warm_up=False, budget=300, rotate=True)
    what = f"TreeSHAP, 100 trees x 255 leaves, {len(X):,} rows x 28 float32, 2 threads"
    row = Row(STAGE, what, "s", entries(timings, 1.0, errors), Goal(3.0, "times", "XGBoost"))
    row.quality, row.by = "largest error of the sums, log10", "median"
    row.note = "each from a numpy array; the sums are held against the log-odds, on 200 rows"
    return [row]


def _additivity(contestant: Contestant, model: Any, X: np.ndarray) -> float:
    """Return the logarithm of the largest error of the sums, whatever the intercept is."""
    p = contestant.probability(model, X, 1)
    sums = np.asarray(contestant.contributions(model, X, 1), dtype=np.float64).sum(axis=1)
    rest = np.log(p[:, 1] / p[:, 0]) - sums
    return float(np.log10(np.abs(rest - rest.mean()).max() + 1e-17))


PARTS: dict[str, Callable[[], list[Row]]] = {
    "batch": _batch,
    "one_row": _one_row,
    "shap": _shap,
}
