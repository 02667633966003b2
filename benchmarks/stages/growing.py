"""One deep tree from a raw table; one thread and two; a quiet machine and a busy core."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks import native
from benchmarks.busy import busy_core, cores
from benchmarks.data import accuracy, classification, r_squared, regression, scaled
from benchmarks.peers import YDF, Plan, peers
from benchmarks.report import OURS, Entry, Goal, Row, entries
from benchmarks.timing import Timing, interleave
from committee import DecisionTreeClassifier, DecisionTreeRegressor

Fit = Callable[[np.ndarray, np.ndarray], Any]
Job = Callable[[int], object]  # of a number of threads

SMALL_NAMES = {"from its rows": OURS, "loading its rows": f"{OURS} loading"}
SMALL_NOTE = (
    "committee reads them from the rows, loaded once for a whole subtree; where a histogram would "
    "be cheaper, kBlockRows is too large"
)


def run() -> list[Row]:
    return [*_deep(), *_threads(), *_small_nodes()]


# --- one unpruned tree ---


def _deep() -> list[Row]:
    n = scaled(100_000)
    jobs = [
        ("classification", classification, accuracy, "accuracy", _classifiers()),
        ("regression", regression, r_squared, "R2", _regressors()),
    ]
    rows = []
    for kind, make, measure, quality_name, fits in jobs:
        X, y = make(n, 10)
        X_test, y_test = make(n, 11)
        models: dict[str, Any] = {}
        contestants = {k: partial(_keep, models, k, fit, X, y) for k, (fit, _) in fits.items()}
        timings = interleave(contestants, repeats=3, warm_up=False, budget=25)
        quality = {}
        for name, model in models.items():
            quality[name] = measure(y_test, fits[name][1](model, X_test))
        row = Row(
            "growing",
            f"one unpruned tree, {kind}, {n // 1000}k x 28 float32, one thread",
            "s",
            entries(timings, 1.0, quality),
            Goal(5.0, "times", "scikit-learn") if kind == "classification" else None,
            quality_name,
        )
        rows.append(row)
    return rows


def _keep(models: dict[str, Any], name: str, fit: Fit, X: np.ndarray, y: np.ndarray) -> None:
    models[name] = fit(X, y)


def _classifiers() -> dict[str, tuple[Fit, Callable]]:
    from sklearn import tree

    exact = DecisionTreeClassifier(max_bins=65535, n_jobs=1)
    fits = {
        OURS: (DecisionTreeClassifier(n_jobs=1).fit, _predict),
        f"{OURS} 65,535 bins": (exact.fit, _predict),
        "scikit-learn": (tree.DecisionTreeClassifier().fit, _predict),
        "XGBoost": (_xgboost_tree, lambda model, X: model.inplace_predict(X) > 0.5),
        "YDF": (lambda X, y: YDF().cart(X, y, True), lambda m, X: _ydf(m, X) > 0.5),
    }
    return _installed(fits)


def _regressors() -> dict[str, tuple[Fit, Callable]]:
    from sklearn import tree

    exact = DecisionTreeRegressor(max_bins=65535, n_jobs=1)
    fits = {
        OURS: (DecisionTreeRegressor(n_jobs=1).fit, _predict),
        f"{OURS} 65,535 bins": (exact.fit, _predict),
        "scikit-learn": (tree.DecisionTreeRegressor().fit, _predict),
        "XGBoost": (_xgboost_tree, lambda model, X: model.inplace_predict(X)),
        "YDF": (lambda X, y: YDF().cart(X, y, False), _ydf),
    }
    return _installed(fits)


def _installed(fits: dict[str, Any]) -> dict[str, Any]:
    names = {peer.name.split()[0] for peer in peers()} | {OURS}
    return {name: fit for name, fit in fits.items() if name.split()[0] in names}


def _predict(model: Any, X: np.ndarray) -> np.ndarray:
    return model.predict(X)


def _ydf(model: Any, X: np.ndarray) -> np.ndarray:
    return model.predict(YDF().columns(X))


def _xgboost_tree(X: np.ndarray, y: np.ndarray) -> Any:
    """Grow one tree without limits; squared error of 0 and 1 chooses as gini does."""
    import xgboost

    params = {
        "objective": "reg:squarederror",
        "max_depth": 0,
        "eta": 1.0,
        "lambda": 0.0,
        "min_child_weight": 0.0,
        "max_bin": 255,
        "base_score": 0.5,
        "nthread": 1,
    }
    return xgboost.train(params, xgboost.QuantileDMatrix(X, y, max_bin=255, nthread=1), 1)


# --- threads ---


def _threads() -> list[Row]:
    """Compare each library with itself on one thread: quiet, and beside a busy core."""
    X, y = classification(scaled(100_000), 10)
    large_X, large_y = classification(scaled(500_000), 12)

    def small_tree(threads: int) -> object:
        return DecisionTreeClassifier(n_jobs=threads).fit(X, y)

    def large_tree(threads: int) -> object:
        model = DecisionTreeClassifier(max_leaf_nodes=255, n_jobs=threads)
        return model.fit(large_X, large_y)

    mine: dict[str, Job] = {OURS: small_tree, f"{OURS} large": large_tree}
    alone, both = _race(mine, (1, 2), budget=15)
    others = _peer_jobs(X, y)
    for found, more in zip((alone, both), _race(others, (1, 2), budget=25), strict=True):
        found.update(more)
    with busy_core(cores()[-1]):
        (busy,) = _race(mine, (2,), budget=10)
        busy |= _race(others, (2,), budget=15)[0]
    tasks = {
        OURS: f"unpruned tree {len(X) // 1000}k x 28",
        f"{OURS} large": f"tree of 255 leaves {len(large_X) // 1000}k x 28",
    }
    rows = [_relation(alone, both, name, what, speed_up=True) for name, what in tasks.items()]
    rows += [_relation(alone, busy, name, what, speed_up=False) for name, what in tasks.items()]
    return rows


def _race(jobs: dict[str, Job], threads: tuple[int, ...], budget: float) -> list[dict[str, Timing]]:
    """Time every job on each number of threads, all in turn."""
    contestants = {(name, n): partial(job, n) for name, job in jobs.items() for n in threads}
    timings = interleave(contestants, repeats=7, warm_up=False, budget=budget)
    return [{name: timings[name, n] for name in jobs} for n in threads]


def _peer_jobs(X: np.ndarray, y: np.ndarray) -> dict[str, Job]:
    def job(peer: Any) -> Job:
        return lambda threads: peer.train(X, y, Plan(n_trees=10, threads=threads))

    return {p.name: job(p) for p in peers() if p.train is not None and not isinstance(p, YDF)}


def _relation(
    alone: dict[str, Timing], two: dict[str, Timing], mine: str, what: str, *, speed_up: bool
) -> Row:
    found = {}
    for name in alone:
        if name.startswith(OURS) and name != mine:
            continue
        pairs = [(alone[name].best, two[name].best), (alone[name].median, two[name].median)]
        ratios = [_ratio(a, b, speed_up) for a, b in pairs]
        note = alone[name].failure or two[name].failure or _seconds(alone[name], two[name])
        label = OURS if name == mine else name
        found[label] = Entry(ratios[0], ratios[1], len(two[name].seconds), note=note)
    note = "the peers: 10 trees of 255 leaves on the rows of the unpruned tree"
    if speed_up:
        measure = f"speed-up by a second thread, {what}"
        return Row("growing", measure, "times", found, Goal(1.8, "at least"), "", True, note)
    measure = f"two threads beside a busy core / one thread on a quiet machine, {what}"
    return Row("growing", measure, "time ratio", found, Goal(1.1), note=note)


def _ratio(alone: float | None, two: float | None, speed_up: bool) -> float | None:
    if not alone or not two:
        return None
    return alone / two if speed_up else two / alone


def _seconds(alone: Timing, two: Timing) -> str:
    return f"{alone.best or 0:.2f} s on one thread, {two.best or 0:.2f} s on two"


# --- where small nodes change method ---


def _small_nodes() -> list[Row]:
    rows: dict[str, Row] = {}
    for n_rows, method, best, median in native.run("bench_grow"):
        measure = f"profiles of a node of {n_rows} rows"
        row = rows.setdefault(measure, Row("growing", measure, "ns/feature", {}, note=SMALL_NOTE))
        name = SMALL_NAMES.get(method, method)
        row.entries[name] = Entry(float(best), float(median), repeats=15)
    return list(rows.values())
