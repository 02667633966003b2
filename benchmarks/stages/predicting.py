"""100 trees of 255 leaves: batches in ns per row and tree, one row in us through Python."""

from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import ours
from benchmarks.data import classification, log_loss, scaled
from benchmarks.peers import YDF, CatBoost, Peer, Plan, peers
from benchmarks.report import OURS, Goal, Row, entries
from benchmarks.timing import interleave
from committee import DecisionTreeClassifier

# One thread: OpenMP libraries can take minutes on two where another program is running.
PLAN = Plan(n_trees=100, n_leaves=255, depth=8, threads=1)


def run() -> list[Row]:
    X, y = classification(scaled(50_000), 20)
    X_test, y_test = classification(scaled(100_000), 21)
    models, quality = _train(X, y, X_test, y_test)
    rows = [_batch(models, quality, X_test, threads) for threads in (1, 2)]
    return [*rows, _one_row(models, X_test), _one_row_one_tree(X, y)]


def _train(
    X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray
) -> tuple[dict[str, Any], dict[str, float]]:
    booster = ours.train(X, y, PLAN)
    models: dict[str, Any] = {OURS: booster}
    quality = {OURS: log_loss(y_test, booster.probability(X_test))}
    for peer in peers():
        print(f"  training {peer.name}", flush=True)
        try:
            model = peer.train(X, y, PLAN)
            quality[peer.name] = log_loss(y_test, peer.probability(model, X_test))
        except Exception as error:
            print(f"  {peer.name} failed: {type(error).__name__}: {error}")
        else:
            models[peer.name] = model
    return models, quality


def _score_jobs(models: dict[str, Any], X: np.ndarray, threads: int) -> dict[str, Callable]:
    booster: ours.Booster = models[OURS]
    jobs: dict[str, Callable] = {OURS: lambda: booster.score(X, threads)}

    def job(peer: Peer, rows: Any) -> Callable:
        score = peer.scorer(models[peer.name], threads)
        return lambda: score(rows)

    for peer in peers():
        if peer.name not in models:
            continue
        jobs[peer.name] = job(peer, peer.columns(X) if isinstance(peer, YDF) else X)
        if isinstance(peer, CatBoost) and len(X) > 1:
            pool = peer.pool_scorer(models[peer.name], threads, X)
            jobs[f"{peer.name} ready Pool"] = pool
    return jobs


def _batch(models: dict[str, Any], quality: dict[str, float], X: np.ndarray, threads: int) -> Row:
    jobs = _score_jobs(models, X, threads)
    timings = interleave(jobs, repeats=5, budget=15)
    losses = {name: quality.get(name.removesuffix(" ready Pool"), float("nan")) for name in jobs}
    return Row(
        "predicting",
        f"100 trees x 255 leaves, {len(X) // 1000}k rows x 28 float32, {threads} thread(s)",
        "ns/row/tree",
        entries(timings, 1e9 / (len(X) * PLAN.n_trees), losses),
        Goal(3.0, "times", "XGBoost"),
        "log-loss",
        note="CatBoost's trees are symmetric, of depth 8; each library from a numpy array",
    )


def _one_row(models: dict[str, Any], X: np.ndarray) -> Row:
    jobs = _score_jobs(models, X[:1], 1)
    jobs = {name: job for name, job in jobs.items() if not name.endswith("forest")}
    with threadpool_limits(1, "openmp"):
        timings = interleave(jobs, repeats=7, calls=200, budget=8)
    measure = "one row through Python, 100 trees"
    return Row("predicting", measure, "us", entries(timings, 1e6), Goal(30.0))


def _one_row_one_tree(X: np.ndarray, y: np.ndarray) -> Row:
    from sklearn import tree

    mine = DecisionTreeClassifier(n_jobs=1).fit(X, y)
    other = tree.DecisionTreeClassifier().fit(X[:10_000], y[:10_000])
    row = X[:1]
    jobs = {OURS: lambda: mine.predict(row), "scikit-learn": lambda: other.predict(row)}
    timings = interleave(jobs, repeats=7, calls=200, budget=5)
    measure = "one row through Python, DecisionTreeClassifier.predict"
    return Row("predicting", measure, "us", entries(timings, 1e6))
