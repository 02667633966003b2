"""Forests of unpruned trees on two threads: growing, predicting, size, and how the time scales.

Every forest tries five of 28 features a node, on bootstrap samples or, where a library has only
subsets, on 63.2 % of the rows. Speed counts at equal quality: the areas under the ROC curve are a
row of their own.
"""

import json
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import sklearn.ensemble
import sklearn.tree
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

import committee
from benchmarks.data import N_FEATURES, SCALE, classification, make_rows, scaled
from benchmarks.peers import YDF, peers
from benchmarks.report import OURS, Entry, Goal, Row, entries
from benchmarks.stages import memory
from benchmarks.timing import interleave

N_TREES = 50
N_BAGGED = 10  # the peer needs seconds for each
FEW_TREES = 3  # of peers that would need many minutes for fifty
THREADS = 2
TRIED = 5  # features a node: as many as scikit-learn takes of 28, where we would take 6
AUC_SLACK = 0.002
LARGE = "large"  # the argument with which this module fits the large forest

Fit = Callable[[np.ndarray, np.ndarray, int], Any]  # the last is the seed
Predict = Callable[[Any, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Contestant:
    """How a library grows a forest, and the chance of class 1 that the forest gives."""

    fit: Fit
    probability: Predict


def run() -> list[Row]:
    X, y = classification(scaled(100_000), 40)
    X_test, y_test = classification(scaled(100_000), 41)
    size = f"{len(X) // 1000}k x {N_FEATURES}"
    grown, models = _race(X, y)
    areas = _areas(_forests() | _once(), models, X_test, y_test)
    models = {name: some[0] for name, some in models.items() if some}
    rows = _forest_rows(grown, areas, size)
    rows.append(_pair(_extra_trees(), (X, y), (X_test, y_test), f"extra trees, {N_TREES}", size, 3))
    rows.append(_pair(_bagged(), (X, y), (X_test, y_test), f"bagged trees, {N_BAGGED}", size, 10))
    rows += [_batch(models, X_test), _one_row(models, X_test), _sizes(models, size)]
    del models
    return [*rows, *_large(), *_scaling()]


# --- the libraries ---


def _sklearn_probability(model: Any, X: np.ndarray) -> np.ndarray:
    return model.predict_proba(X)[:, 1]


def _seeded(estimator: Any) -> Fit:
    """Fit a copy of the estimator with the seed asked for."""
    return lambda X, y, seed: clone(estimator).set_params(random_state=seed).fit(X, y)


def _forests() -> dict[str, Contestant]:
    """Return what grows a random forest in each library that is installed."""
    theirs = sklearn.ensemble.RandomForestClassifier(N_TREES, max_features=TRIED, n_jobs=THREADS)
    ours = committee.RandomForestClassifier(N_TREES, max_features=TRIED, n_jobs=THREADS)
    every = {
        OURS: Contestant(_seeded(ours), _sklearn_probability),
        "scikit-learn": Contestant(_seeded(theirs), _sklearn_probability),
        "YDF": Contestant(_ydf, lambda model, X: model.predict(YDF().columns(X))),
    }
    return {name: contestant for name, contestant in every.items() if name in _installed()}


def _once() -> dict[str, Contestant]:
    """Return what takes minutes, and is grown once."""
    known = "XGBoost" in _installed()
    return {"XGBoost": Contestant(_xgboost, _sklearn_probability)} if known else {}


def _slow_forests() -> dict[str, Callable[[np.ndarray, np.ndarray, int], Any]]:
    every = {"LightGBM": _lightgbm}
    return {name: fit for name, fit in every.items() if name in _installed()}


def _installed() -> set[str]:
    return {OURS, *(peer.name.split()[0] for peer in peers())}


def _lightgbm(X: np.ndarray, y: np.ndarray, n_trees: int) -> Any:
    """Grow its forest mode; without a bound on them, its histograms would fill the memory."""
    import lightgbm

    params = {
        "objective": "binary",
        "boosting": "rf",
        "bagging_fraction": 0.632,
        "bagging_freq": 1,
        "feature_fraction_bynode": TRIED / X.shape[1],
        "num_leaves": min(131_072, len(X)),
        "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 0.0,
        "histogram_pool_size": 2048,
        "num_threads": THREADS,
        "verbose": -1,
    }
    return lightgbm.train(params, lightgbm.Dataset(X, y), n_trees)


def _ydf(X: np.ndarray, y: np.ndarray, seed: int) -> Any:
    import ydf

    learner = ydf.RandomForestLearner(
        label="y",
        num_trees=N_TREES,
        max_depth=-1,
        min_examples=1,
        num_candidate_attributes=TRIED,
        winner_take_all=False,
        compute_oob_performances=False,
        num_threads=THREADS,
        random_seed=seed,
    )
    return learner.train({**YDF().columns(X), "y": y}, verbose=0)


def _xgboost(X: np.ndarray, y: np.ndarray, seed: int) -> Any:
    import xgboost

    model = xgboost.XGBRFClassifier(
        n_estimators=N_TREES,
        max_depth=0,
        min_child_weight=0.0,
        reg_lambda=0.0,
        subsample=0.632,
        colsample_bynode=TRIED / X.shape[1],
        tree_method="hist",
        n_jobs=THREADS,
        random_state=seed,
    )
    return model.fit(X, y)


def _extra_trees() -> dict[str, Contestant]:
    theirs = sklearn.ensemble.ExtraTreesClassifier(N_TREES, max_features=TRIED, n_jobs=THREADS)
    ours = committee.ExtraTreesClassifier(N_TREES, max_features=TRIED, n_jobs=THREADS)
    return {
        OURS: Contestant(_seeded(ours), _sklearn_probability),
        "scikit-learn": Contestant(_seeded(theirs), _sklearn_probability),
    }


def _bagged() -> dict[str, Contestant]:
    tree = sklearn.tree.DecisionTreeClassifier()
    theirs = sklearn.ensemble.BaggingClassifier(tree, N_BAGGED, n_jobs=THREADS)
    ours = committee.BaggingClassifier(
        committee.DecisionTreeClassifier(),
        n_estimators=N_BAGGED,
        n_jobs=THREADS,
    )
    return {
        OURS: Contestant(_seeded(ours), _sklearn_probability),
        "scikit-learn": Contestant(_seeded(theirs), _sklearn_probability),
    }


# --- growing ---


def _grow(
    contestants: Mapping[str, Contestant], X: np.ndarray, y: np.ndarray, **options: Any
) -> tuple[dict[str, Entry], dict[str, list[Any]]]:
    """Time each contestant; return the seconds and the models, one for each repeat and seed."""
    models: dict[str, list[Any]] = {name: [] for name in contestants}

    def keep(name: str) -> None:
        models[name].append(contestants[name].fit(X, y, len(models[name])))

    jobs = {name: partial(keep, name) for name in contestants}
    return entries(interleave(jobs, warm_up=False, **options), 1.0), models


def _race(X: np.ndarray, y: np.ndarray) -> tuple[dict[str, Entry], dict[str, list[Any]]]:
    """Time the forests in turn; the slow ones by few trees."""
    grown, models = _grow(_forests(), X, y, repeats=3, budget=90)
    slow, slow_models = _grow(_once(), X, y, repeats=1)
    grown |= slow
    models |= slow_models
    for name, fit in _slow_forests().items():
        fit(X[:1000], y[:1000], 1)  # threads start, code is loaded
        jobs = {n_trees: partial(fit, X, y, n_trees) for n_trees in (1, FEW_TREES)}
        one, few = interleave(jobs, repeats=1, warm_up=False).values()
        entry = Entry(None, note=one.failure or few.failure)
        if one.best is not None and few.best is not None:
            tree = max(0.0, few.best - one.best) / (FEW_TREES - 1)
            entry = Entry(one.best + (N_TREES - 1) * tree)
            entry.note = f"{one.best:.3g} s for one tree, {few.best:.3g} s for {FEW_TREES}"
        grown[name] = entry
    return grown, models


def _areas(
    contestants: Mapping[str, Contestant], models: dict[str, Any], X: np.ndarray, y: np.ndarray
) -> dict[str, float]:
    """Average over the seeds, whose areas differ by some thousandths."""

    def area(name: str, model: Any) -> float:
        return float(roc_auc_score(y, contestants[name].probability(model, X)))

    return {k: float(np.mean([area(k, m) for m in some])) for k, some in models.items() if some}


def _forest_rows(grown: dict[str, Entry], areas: dict[str, float], size: str) -> list[Row]:
    for name, area in areas.items():
        grown[name].quality = area
    what = f"random forest, {N_TREES} unpruned trees, {size} float32, two threads"
    time_row = Row("forests", what, "s", grown, quality="AUC")
    time_row.note = (
        "LightGBM and XGBoost have no bootstrap: 63.2 % of the rows; LightGBM's time follows from "
        f"those of 1 and {FEW_TREES} trees; areas are means over the seeds of the repeats; the "
        "goal is 3 times the fastest, hoped for are 5"
    )
    best = time_row.best()
    quality_row = Row(
        "forests",
        f"area under the ROC curve, the same forests on {size} new rows",
        "thousandths",
        {name: Entry(1000 * area) for name, area in areas.items()},
        higher=True,
    )
    if best is not None:
        time_row.goal = Goal(3.0, "times", best[0])
    if best is not None and best[0] in areas:
        quality_row.goal = Goal(round(1000 * (areas[best[0]] - AUC_SLACK), 1), "at least")
        quality_row.note = f"the goal is that of the fastest peer, {best[0]}, less {AUC_SLACK:g}"
    return [time_row, quality_row]


def _pair(
    contestants: dict[str, Contestant],
    learn: tuple[np.ndarray, np.ndarray],
    test: tuple[np.ndarray, np.ndarray],
    what: str,
    size: str,
    goal: float,
) -> Row:
    """Time ours beside scikit-learn's."""
    grown, models = _grow(contestants, *learn, repeats=3, budget=40)
    for name, area in _areas(contestants, models, *test).items():
        grown[name].quality = area
    measure = f"{what} unpruned trees, {size} float32, two threads"
    return Row("forests", measure, "s", grown, Goal(goal, "times", "scikit-learn"), "AUC")


# --- predicting ---


def _with_threads(models: dict[str, Any], threads: int) -> dict[str, Any]:
    """Return the two forests with scikit-learn's interface, set to so many threads."""
    return {
        name: models[name].set_params(n_jobs=threads)
        for name in (OURS, "scikit-learn")
        if name in models
    }


def _batch(models: dict[str, Any], X: np.ndarray) -> Row:
    jobs = {
        name: partial(model.predict_proba, X)
        for name, model in _with_threads(models, THREADS).items()
    }
    if "YDF" in models:
        jobs["YDF"] = partial(models["YDF"].predict, YDF().columns(X), num_threads=THREADS)
    timings = interleave(jobs, repeats=5, budget=30)
    measure = f"predict_proba of the forest, {len(X) // 1000}k rows, two threads"
    found = entries(timings, 1e9 / (len(X) * N_TREES))
    return Row("forests", measure, "ns/row/tree", found, Goal(3.0, "times", "scikit-learn"))


def _one_row(models: dict[str, Any], X: np.ndarray) -> Row:
    row = X[:1]
    jobs = {
        name: partial(model.predict_proba, row) for name, model in _with_threads(models, 1).items()
    }
    timings = interleave(jobs, repeats=7, calls=20, budget=10)
    measure = f"one row through Python, predict_proba of {N_TREES} unpruned trees"
    found = entries(timings, 1e6)
    return Row("forests", measure, "us", found, Goal(20.0, "times", "scikit-learn"))


def _sizes(models: dict[str, Any], size: str) -> Row:
    """Compare the pickles; YDF's own form where a model does not pickle."""
    found = {}
    for name, model in models.items():
        content = model.serialize() if name == "YDF" else pickle.dumps(model, protocol=5)
        found[name] = Entry(len(content) / 1e6)
    measure = f"pickle of the forest of {N_TREES} trees grown on {size}"
    return Row("forests", measure, "MB", found, Goal(10.0, "times", "scikit-learn"))


# --- a large forest, in a process of its own ---


def _large() -> list[Row]:
    command = [sys.executable, "-m", __name__, LARGE]
    done = subprocess.run(command, capture_output=True, text=True)
    failed = "" if done.returncode == 0 else f"failed: {done.stderr.strip().splitlines()[-1:]}"
    found = {} if failed else json.loads(done.stdout.splitlines()[-1])
    size = f"{scaled(1_000_000) / 1e6:g}M x {N_FEATURES} float32"
    what = f"random forest, 100 unpruned trees, {size}, two threads"
    note = "above the input, the forest itself included"
    return [
        Row("forests", what, "s", {OURS: Entry(found.get("seconds"), note=failed)}),
        Row(
            "forests",
            f"peak memory while growing it, {size}",
            "MB",
            {OURS: Entry(found.get("peak"), note=failed)},
            note=note,
        ),
    ]


def measure_large() -> dict[str, float]:
    """Grow the large forest in this process."""
    X, y = classification(scaled(1_000_000), 42)
    found: dict[str, float] = {}

    def fit(X: np.ndarray, y: np.ndarray) -> Any:
        model = committee.RandomForestClassifier(n_estimators=100, n_jobs=THREADS, random_state=0)
        begun = time.perf_counter()
        model.fit(X, y)
        found["seconds"] = time.perf_counter() - begun
        return model

    found["peak"] = memory.peak(fit, X, y) / 1e6
    return found


# --- scaling ---


def _scaling() -> list[Row]:
    """Fit the exponent b of seconds = a * size ** b, for rows, columns and trees."""
    n = {rows: max(200, int(rows * SCALE)) for rows in (25_000, 50_000, 100_000, 200_000)}
    X, y = classification(n[200_000], 43)
    wide = np.hstack([X, *(make_rows(len(X), 50 + k) for k in range(3))])
    by_rows = {rows: partial(_seconds, X[:rows], y[:rows], 10) for rows in n.values()}
    base = n[50_000]
    by_columns = {
        columns: partial(_seconds, np.ascontiguousarray(wide[:base, :columns]), y[:base], 10)
        for columns in (14, 28, 56, 112)
    }
    by_trees = {trees: partial(_seconds, X[:base], y[:base], trees) for trees in (25, 50, 100)}
    sizes = f"{base / 1000:g}k rows"
    return [
        _exponent(f"rows ({_list(by_rows)}; 10 trees)", by_rows, 1.2),
        _exponent(f"columns ({_list(by_columns)}; {sizes}, 10 trees)", by_columns, 1.1),
        _exponent(f"trees ({_list(by_trees)}; {sizes})", by_trees, 1.1),
    ]


def _list(sizes: Mapping[int, Any]) -> str:
    return ", ".join(f"{size:,}" for size in sizes)


def _seconds(X: np.ndarray, y: np.ndarray, n_trees: int) -> None:
    committee.RandomForestClassifier(n_estimators=n_trees, n_jobs=THREADS, random_state=0).fit(X, y)


def _exponent(what: str, jobs: dict[int, Callable[[], None]], goal: float) -> Row:
    timings = interleave(jobs, repeats=3, budget=30)
    seconds = [timing.best for timing in timings.values()]
    if None in seconds:
        entry = Entry(None, note=next(t.failure for t in timings.values() if t.failure))
    else:
        slope = np.polyfit(np.log(list(jobs)), np.log(seconds), 1)[0]
        entry = Entry(float(slope), note=", ".join(f"{second:.3g} s" for second in seconds))
    return Row("forests", f"growing against {what}", "exponent", {OURS: entry}, Goal(goal))


if __name__ == "__main__" and sys.argv[1:] == [LARGE]:
    print(json.dumps(measure_large()))
