"""Y. Freund and R. Schapire, "Experiments with a new boosting algorithm", ICML 1996: table 2.

A tree (C4.5 in the paper; here by entropy, two rows a leaf at least) or FindAttrTest (the stump of
least error), alone, boosted for 100 rounds and bagged 100 times, by ten stratified ten-fold
cross-validations: 100 iterations. The paper boosts trees by drawing rows, stumps by weighing them;
trees are boosted both ways here. A tree with leaves of one row makes no training error: boosting
it by weighing ends with the first tree, and says so.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold

import committee
from benchmarks.papers import comparing
from benchmarks.papers.comparing import COMMITTEE, Line, progress
from benchmarks.papers.data import Data, load
from benchmarks.papers.libraries import Ours, error
from benchmarks.report import markdown
from committee import BaggingClassifier, DecisionStump, DecisionTreeClassifier
from committee.ensembles.boosting.adaboost import AdaBoostClassifier

SECTION = "Freund and Schapire 1996: boosting"
T = 100
N_FOLDS = 10
TREES = {  # C4.5 alone, boosted, bagged
    "iris": (5.9, 5.0, 5.0),
    "sonar": (28.9, 19.0, 24.3),
    "glass": (31.7, 22.7, 25.7),
    "ionosphere": (8.9, 5.8, 6.2),
    "vehicle": (29.9, 22.6, 26.1),
    "segmentation": (3.6, 1.4, 2.7),
}
STUMPS = {  # FindAttrTest alone, boosted by M1, by M2, bagged; None: not transcribed
    "iris": (35.2, 4.7, 4.8, None),
    "sonar": (25.9, 16.5, None, 25.9),
    "glass": (51.5, 51.1, 29.4, None),
    "ionosphere": (17.8, 8.5, None, 17.3),
    "vehicle": (64.3, 64.4, 26.1, None),
    "segmentation": (75.8, 75.8, 4.2, None),
}
NOTE = (
    "The stump is exact, so that it is held to the tolerance of a committee: better is welcome. "
    "With two classes M2 is M1. Where no stump errs on less than half of the rows (vehicle, "
    "segmentation, some folds of glass), M1 cannot begin, and the first stump stays alone: the "
    "published numbers are those of the stump, too. M2 cuts its stumps by pseudo-loss. Boosting "
    "by weighing ends where a tree makes no weighted error, and that tree decides alone: 6 of 20 "
    "fits on ionosphere, 4 of 20 on sonar, where the numbers are the worse for it."
)
COLLAPSE = (
    "Trees that make no training error, 10 iterations: boosted by weighing, the committee is the "
    "first tree, and a warning says so."
)


def tree(leaf: int = 2) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(criterion="entropy", min_samples_leaf=leaf, max_bins=65535)


def boosted(base: Any, algorithm: str, resample: bool, seed: int) -> AdaBoostClassifier:
    return AdaBoostClassifier(
        base, n_estimators=T, algorithm=algorithm, resample=resample, random_state=seed
    )


def bagged(base: Any, seed: int) -> BaggingClassifier:
    return BaggingClassifier(base, n_estimators=T, voting="hard", random_state=seed)


Maker = Callable[[int], Any]


def tree_methods(published: tuple[float, ...]) -> dict[str, tuple[float, bool, Maker]]:
    alone, boost, bag = published
    return {
        "tree": (alone, True, lambda seed: tree()),
        "boosted, drawing": (boost, False, lambda seed: boosted(tree(), "m1", True, seed)),
        "boosted, weighing": (boost, False, lambda seed: boosted(tree(), "m1", False, seed)),
        "bagged": (bag, False, lambda seed: bagged(tree(), seed)),
    }


def stump_methods(published: tuple[float | None, ...]) -> dict[str, tuple[float, bool, Maker]]:
    alone, m1, m2, bag = published
    methods: dict[str, tuple[float | None, Maker]] = {
        "stump": (alone, lambda seed: DecisionStump()),
        "stumps, boosted by M1": (m1, lambda seed: boosted(DecisionStump(), "m1", False, seed)),
        "stumps, boosted by M2": (m2, lambda seed: boosted(DecisionStump(), "m2", False, seed)),
        "stumps, bagged": (bag, lambda seed: bagged(DecisionStump(), seed)),
    }
    return {n: (known, False, make) for n, (known, make) in methods.items() if known is not None}


def data_of(name: str) -> Data:
    if name == "iris":
        return Data(*load_iris(return_X_y=True))
    return load("image" if name == "segmentation" else name)


def folds(data: Data, iterations: int) -> Iterator[tuple[Data, Data, int]]:
    """Yield learning and test sets with the members' seed; ten of them are one division."""
    for i in range(iterations):
        repeat, k = divmod(i, N_FOLDS)
        division = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a class of glass has nine rows
            learn, test = list(division.split(data.X, data.y))[k]
        yield data.rows(learn), data.rows(test), i


def lines_of(
    name: str, iterations: int, methods: dict[str, tuple[float, bool, Maker]]
) -> list[Line]:
    lines = []
    for method, (published, single, make) in methods.items():
        line = Line(name, method, published, checked=True, single=single)
        with progress(f"{name}, {method}"), warnings.catch_warnings():
            warnings.simplefilter("ignore", committee.DataWarning)
            line.found[Ours.name] = [
                error(make(seed).fit(learn.X, learn.y), test.X, test.y)
                for learn, test, seed in folds(data_of(name), iterations)
            ]
        lines.append(line)
    return lines


def verdict(lines: list[Line]) -> str:
    """Count what is met, and name the committees that are better than the paper's tolerance."""
    met = sum(line.met() for line in lines)
    better = [
        f"{line.data}, {line.method} ({line.published - line.mean(Ours.name):.1f})"
        for line in lines
        if not line.single and line.mean(Ours.name) < line.published - COMMITTEE
    ]
    told = f"More than {COMMITTEE:g} points better than published: {'; '.join(better) or 'none'}."
    return f"{met} of {len(lines)} rows met. {told}"


def collapse(sets: list[str], iterations: int) -> str:
    """Boost trees whose leaves may hold one row: the first has no error, and the fit ends."""
    out = [["data", "tree", "boosted, weighing", "its members", "warnings", "boosted, drawing"]]
    for name in sets:
        with progress(f"{name}, leaves of one row"):
            found = [
                one_row_leaves(learn, test, seed)
                for learn, test, seed in folds(data_of(name), iterations)
            ]
        alone, weighed, members, warned, drawn = np.mean(found, axis=0)
        cells = [f"{weighed:.1f}", f"{members:g}", f"{warned:.0%} of fits", f"{drawn:.1f}"]
        out.append([name, f"{alone:.1f}", *cells])
    return markdown(out)


def one_row_leaves(learn: Data, test: Data, seed: int) -> tuple[float, float, int, bool, float]:
    """Return three errors; after the second how many members there are, and if a warning came."""
    alone, weighed, drawn = (
        tree(leaf=1),
        boosted(tree(leaf=1), "m1", False, seed),
        boosted(tree(leaf=1), "m1", True, seed),
    )
    alone.fit(learn.X, learn.y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        weighed.fit(learn.X, learn.y)
    warned = any(issubclass(w.category, committee.DataWarning) for w in caught)
    drawn.fit(learn.X, learn.y)
    errors = [error(model, test.X, test.y) for model in (alone, weighed, drawn)]
    return errors[0], errors[1], len(weighed.estimators_), warned, errors[2]


def compute(sets: list[str], iterations: int, libraries: list[Any]) -> str:
    lines: list[Line] = []
    for name in sets:
        lines += lines_of(name, iterations, tree_methods(TREES[name]))
    for name in sets:
        lines += lines_of(name, iterations, stump_methods(STUMPS[name]))
    return "\n\n".join(
        [
            comparing.table(lines, [Ours()]),
            verdict(lines),
            NOTE,
            "### Leaves of one row",
            COLLAPSE,
            collapse(sets, min(iterations, N_FOLDS)),
        ]
    )


if __name__ == "__main__":
    comparing.main(SECTION, TREES, compute, __doc__)
