"""AdaBoost on stumps and on small trees, text stumps, and LPBoost's way to its optimum.

scikit-learn's AdaBoost sorts every feature anew in every round; it needs the better part of a
minute for a hundred stumps, so it is run once.
The training error stands beside the time: the committees should agree up to the rounding of bins.
"""

from typing import Any

import numpy as np
import sklearn.ensemble
import sklearn.tree
from scipy import sparse

import committee
from benchmarks.data import N_FEATURES, classification, scaled
from benchmarks.report import OURS, Goal, Row, entries
from benchmarks.timing import interleave

THREADS = 2
ROUNDS = 100
DOCUMENTS, WORDS, TEXT_ROUNDS = 10_000, 50_000, 200
LP_ROWS, LP_FEATURES, LP_GAP = 10_000, 20, 1e-6
LP_NU = 0.5  # below 0.4 hardly any vote of stumps on this noise has a positive soft margin
PEER = "scikit-learn"


def run() -> list[Row]:
    X, y = classification(scaled(100_000), 50)
    size = f"{len(X) // 1000}k x {N_FEATURES}"
    rows = [_adaboost(X, y, depth, size, goal) for depth, goal in ((1, 100), (3, 30))]
    return [*rows, _text(), _lpboost()]


def _adaboost(X: np.ndarray, y: np.ndarray, depth: int, size: str, goal: float) -> Row:
    """Time a hundred rounds of both, scikit-learn's once."""
    models: dict[str, Any] = {}

    def ours() -> None:
        tree = committee.DecisionTreeClassifier(max_depth=depth)
        model = committee.AdaBoostClassifier(tree, n_estimators=ROUNDS, n_jobs=THREADS)
        models[OURS] = model.fit(X, y)

    def theirs() -> None:
        tree = sklearn.tree.DecisionTreeClassifier(max_depth=depth)
        model = sklearn.ensemble.AdaBoostClassifier(tree, n_estimators=ROUNDS)
        models[PEER] = model.fit(X, y)

    found = entries(interleave({OURS: ours}, repeats=5), 1.0)
    found |= entries(interleave({PEER: theirs}, repeats=1, warm_up=False), 1.0)
    for name, entry in found.items():
        if name in models:
            entry.quality = float(np.mean(models[name].predict(X) != y))
    what = "stumps" if depth == 1 else f"trees of depth {depth}"
    return Row(
        "boosting",
        f"AdaBoost, {ROUNDS} {what}, {size}, 2 threads",
        "s",
        found,
        Goal(goal, "times", PEER),
        quality="training error",
        note="trees split by gini in both; ours on at most 255 bins a feature",
    )


def documents(n_rows: int, n_words: int, seed: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Draw documents of two kinds: words by Zipf's law, some of them more frequent in one kind."""
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(1, n_words + 1)
    chance /= chance.sum()
    tilt = np.where(rng.random(n_words) < 0.02, rng.choice([0.5, 2.0], n_words), 1.0)
    y = rng.integers(0, 2, n_rows)
    rows, columns = [], []
    for kind in (0, 1):
        of_kind = chance * (tilt if kind else 1.0)
        of_kind /= of_kind.sum()
        own = np.flatnonzero(y == kind)
        length = rng.poisson(150, len(own))
        rows.append(np.repeat(own, length))
        columns.append(rng.choice(n_words, length.sum(), p=of_kind))
    cells = (np.concatenate(rows), np.concatenate(columns))
    counts = sparse.csr_matrix((np.ones(len(cells[0])), cells), shape=(n_rows, n_words))
    counts.sum_duplicates()
    counts.data[:] = 1.0
    return counts, y


def _text() -> Row:
    """Time single-word stumps; the peer once."""
    X, y = documents(scaled(DOCUMENTS), scaled(WORDS), 51)
    models: dict[str, Any] = {}

    def ours() -> None:
        models[OURS] = committee.AdaBoostMHClassifier(n_estimators=TEXT_ROUNDS).fit(X, y)

    def theirs() -> None:
        models[PEER] = sklearn.ensemble.AdaBoostClassifier(n_estimators=TEXT_ROUNDS).fit(X, y)

    found = entries(interleave({OURS: ours}, repeats=5), 1.0)
    found |= entries(interleave({PEER: theirs}, repeats=1, warm_up=False), 1.0)
    for name, model in models.items():
        found[name].quality = float(np.mean(model.predict(X) != y))
    return Row(
        "boosting",
        f"AdaBoost.MH, {TEXT_ROUNDS} words, {X.shape[0]} x {X.shape[1]}, {X.nnz} non-zeros",
        "s",
        found,
        Goal(50, "times", PEER),
        quality="training error",
        note="scikit-learn's AdaBoost over stumps on the same sparse matrix, by rows, which is "
        "faster for it than by columns",
    )


def _lpboost() -> Row:
    """Time LPBoost until its duality gap is closed; there is no peer."""
    n_rows = scaled(LP_ROWS)
    rng = np.random.default_rng(52)
    X = rng.standard_normal((n_rows, LP_FEATURES))
    y = (X[:, :4].sum(axis=1) > 0).astype(int)
    y = np.where(rng.random(n_rows) < 0.1, 1 - y, y)
    models: dict[str, Any] = {}

    def ours() -> None:
        model = committee.LPBoostClassifier(nu=LP_NU, tol=LP_GAP, n_estimators=2000, n_jobs=THREADS)
        models[OURS] = model.fit(X, y)

    found = entries(interleave({OURS: ours}, repeats=1, warm_up=False), 1.0)
    model = models[OURS]
    gap = float(model.rounds_["gap"][-1])
    found[OURS].quality = gap
    size = f"{n_rows} x {LP_FEATURES}"
    return Row(
        "boosting",
        f"LPBoost, nu = {LP_NU}, {size}, to a gap of {LP_GAP:g}: {len(model)} rounds",
        "s",
        found,
        quality="duality gap",
        note=f"the default nu; labels with 10 % noise; {model.stop_reason_}",
    )
