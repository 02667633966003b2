"""Selecting one member, averaging all, or weighing them: error on real data, fold by fold.

`python -m benchmarks.panel_quality [--sets ...] [--write]`: a pool of nine learners on the folds
given with the data sets of ../shared/data. Within each training part one out-of-fold matrix (5
folds) serves all methods: the best single member by log loss, the plain mean, greedy selection
(from the best member; from the best N; bagged), and the weights of the largest soft margin.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import committee
from benchmarks.accuracy import as_indicators, index, load
from committee import (
    DecisionTreeClassifier,
    EnsembleSelectionClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)

RESULTS = Path(__file__).parent / "results" / "panel_quality.md"
SETS = [
    "balance-scale",
    "colic",
    "credit-a",
    "heart-c",
    "heart-h",
    "heart-statlog",
    "hepatitis",
    "iris",
    "lymph",
    "segment",
    "wine",
]
BASE = "best single"
CLIMBS = {
    "greedy": {"n_init": 1},
    "greedy, best N": {},
    "greedy, 20 bags": {"n_bags": 20},
    "soft margin": {"method": "soft_margin"},
}


def pool() -> list:
    def scaled(model):
        return make_pipeline(StandardScaler(), model)

    return [
        ("tree", DecisionTreeClassifier(min_samples_leaf=3)),
        ("forest", RandomForestClassifier(100)),
        ("extra", ExtraTreesClassifier(100)),
        ("boosting", GradientBoostingClassifier(n_estimators=50)),
        ("logistic", scaled(LogisticRegression(max_iter=1000))),
        ("bayes", GaussianNB(var_smoothing=1e-6)),
        ("near5", scaled(KNeighborsClassifier(5))),
        ("near25", scaled(KNeighborsClassifier(25))),
        ("machine", scaled(SVC(probability=True))),
    ]


def rows_of(name: str) -> tuple:
    """Return numbers: levels as indicators, missing numbers as the median."""
    data = load(name)
    X = as_indicators(data)
    return X.fillna(X.median()).to_numpy(), data.y, data.fold


def score(model, shares: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return error and log loss in percent and nats."""
    code = np.searchsorted(model.classes_, y)
    true = np.clip(shares[np.arange(len(y)), code], np.finfo(float).eps, 1)
    return 100 * float(np.mean(shares.argmax(axis=1) != code)), float(-np.mean(np.log(true)))


def one_fold(X, y, train, test) -> tuple[dict, dict]:
    """Score every method on one fold; also count the members that each keeps."""
    rare = {label for label in np.unique(y[train]) if np.sum(y[train] == label) < 5}
    keep = train & ~np.isin(y, list(rare)) if rare else train
    test = test & ~np.isin(y, list(rare)) if rare else test
    members = VotingClassifier(pool(), voting="soft", random_state=0).fit(X[keep], y[keep])
    said = members.transform(X[test]).reshape(test.sum(), len(members.seats_), -1)
    found = {"mean": score(members, said.mean(axis=1), y[test])}
    kept = {"mean": len(members.seats_)}
    # Members out of fold are the same for all climbs: fitted once, then taken as they are.
    first = EnsembleSelectionClassifier(pool(), random_state=0).fit(X[keep], y[keep])
    best = first.pool_.index(first.best_single_)
    found[BASE], kept[BASE] = score(members, said[:, best], y[test]), 1
    known = [(name, Said(first.oof_[k], first.classes_)) for k, name in enumerate(first.pool_)]
    places = np.arange(len(y[keep]))[:, None]
    for name, how in CLIMBS.items():
        model = EnsembleSelectionClassifier(known, prefit=True, random_state=0, **how)
        model.fit(places, y[keep])
        shares = np.tensordot(said, model.weights_, axes=(1, 0))
        found[name], kept[name] = score(members, shares, y[test]), len(model.estimators_)
    return found, kept


class Said(committee.DecisionTreeClassifier):
    """A fitted member that looks up what it said of each row."""

    def __init__(self, table=None, classes=None):
        self.table = table
        self.classes = classes

    @property
    def classes_(self):
        return self.classes

    n_features_in_ = 1

    def __sklearn_is_fitted__(self):
        return True

    def predict_proba(self, X):
        return self.table[np.asarray(X)[:, 0].astype(int)]

    def predict(self, X):
        return self.classes[self.predict_proba(X).argmax(axis=1)]


def run(names: list[str], n_folds: int) -> str:
    begin, lines, pairs = time.perf_counter(), [], {}
    methods = [BASE, "mean", *CLIMBS]
    head = "| set | rows | " + " | ".join(methods) + " |"
    lines += [head, "|" + "---|" * (len(methods) + 2)]
    sizes: dict[str, list[int]] = {method: [] for method in methods}
    for name in names:
        X, y, fold = rows_of(name)
        scores = []
        for k in range(n_folds):
            found, kept = one_fold(X, y, fold != k, fold == k)
            scores.append([found[method] for method in methods])
            for method in methods:
                sizes[method].append(kept[method])
        table = np.array(scores)  # fold, method, (error, log loss)
        means = table.mean(axis=0)
        cells = [f"{error:.2f} / {loss:.3f}" for error, loss in means]
        lines.append(f"| {name} | {len(y)} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
        for m, method in enumerate(methods[1:], start=1):
            pairs.setdefault(method, []).append((table[:, 0] - table[:, m]).mean(axis=0))
    titles = ["against the best single member", "error, points", "sets better"]
    titles += ["log loss", "sets better", "members kept"]
    lines += ["", "| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    for method, gains in pairs.items():
        by = np.array(gains)
        (error, loss), spread = by.mean(axis=0), stats.sem(by, axis=0)
        better = (by > 0).sum(axis=0)
        lines.append(
            f"| {method} | {error:+.2f} ± {spread[0]:.2f} | {better[0]} of {len(by)} | "
            f"{loss:+.4f} ± {spread[1]:.4f} | {better[1]} of {len(by)} | "
            f"{np.mean(sizes[method]):.1f} |"
        )
    lines += ["", "Errs more than the best single member:"]
    for method, gains in pairs.items():
        worse = [name for name, gain in zip(names, gains, strict=True) if gain[0] < -1e-12]
        lines.append(f"- {method}: {', '.join(worse) or 'nowhere'}")
    seconds = time.perf_counter() - begin
    return (
        f"# Voting and selection\n\ncommittee {committee.__version__}, {seconds:.0f} s. A pool of "
        f"{len(pool())} learners, {n_folds} folds a set. Error in percent / log loss on held-out "
        "folds. Gains: how much lower than the best single member's, which was chosen by log loss "
        "on the same out-of-fold matrix; ± is the standard error over sets.\n\n"
        + "\n".join(lines)
        + "\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=list(index()), default=SETS)
    parser.add_argument("--folds", type=int, default=10, help="of the ten, the first so many")
    parser.add_argument("--write", action="store_true", help=f"keep the table in {RESULTS.name}")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    text = run(asked.sets, asked.folds)
    print(f"\n{text}")
    if asked.write:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
