"""L. Breiman, "Random forests", Machine Learning 45 (2001): table 2, and altered labels.

Two forests of 100 unpruned trees that try F = 1 and F = int(log2 M + 1) of the M features at each
node; the one with the smaller out-of-bag error is "selection". "One tree" is the mean error of its
members. A random tenth of the rows is the test set, 100 times; waveform and its kin: 300 and 3000
fresh cases each time; letters and sat: the published division, 5 seeds. Then one label in twenty of
the learning set is changed into another class, and the error may rise by little.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.papers import comparing
from benchmarks.papers.comparing import COMMITTEE, Line, progress
from benchmarks.papers.data import GENERATORS, Data, load, splits
from benchmarks.papers.libraries import Ours, error, member_error
from benchmarks.report import markdown

SECTION = "Breiman 2001: random forests"
N_TREES = 100
DIVIDED_ITERATIONS = 5
ALTERED = 0.05  # share of the labels
METHODS = ("Forest-RI, selection", "Forest-RI, F = 1", "one tree")
CHECKED = ("glass", "diabetes", "sonar", "ionosphere")
PUBLISHED = {  # selection, F = 1, one tree
    "glass": (20.6, 21.2, 36.9),
    "breast cancer": (2.9, 2.7, 6.3),
    "diabetes": (24.2, 24.3, 33.1),
    "sonar": (15.9, 18.0, 31.7),
    "vowel": (3.4, 3.3, 30.4),
    "ionosphere": (7.1, 7.5, 12.7),
    "vehicle": (25.8, 26.4, 33.1),
    "german": (24.4, 26.2, 33.3),
    "image": (2.1, 2.7, 6.4),
    "votes": (4.1, 4.6, 7.4),
    "letters": (3.5, 4.7, 19.8),
    "sat": (8.6, 10.5, 17.2),
    "waveform": (17.2, 17.3, 34.0),
    "twonorm": (3.9, 3.9, 24.7),
    "threenorm": (17.5, 17.5, 38.4),
    "ringnorm": (4.9, 4.9, 25.7),
}
RISES = {  # percent by which altered labels raise the error
    "breast cancer": 1.8,
    "votes": 6.3,
    "ionosphere": 3.8,
    "soybean": 3.2,
    "sonar": -6.6,
    "diabetes": 1.7,
    "glass": 0.4,
}
NOTE = (
    "Left out: ecoli and liver, which no package carries. Vowel is the set of mlbench: the number "
    "of the speaker, as a category, and nine measurements."
)


def forest_ri(library: Any, learn: Data, seed: int) -> tuple[Any, Any]:
    """Return the forest that the out-of-bag error selects, and the one with F = 1."""
    n_features = learn.X.shape[1]
    found = [
        library.forest(N_TREES, tried, learn.categorical, seed).fit(learn.X, learn.y)
        for tried in (1, int(np.log2(n_features) + 1))
    ]
    return max(found, key=lambda forest: forest.oob_score_), found[0]


def methods(library: Any, learn: Data, test: Data, seed: int) -> tuple[float, float, float]:
    selected, single_input = forest_ri(library, learn, seed)
    return (
        error(selected, test.X, test.y),
        error(single_input, test.X, test.y),
        member_error(selected, test.X, test.y),
    )


def tasks(name: str, iterations: int) -> Iterator[tuple[int, tuple[Data, Data]]]:
    """Yield learning and test sets with their number, which is the members' seed."""
    if name not in GENERATORS and load(name).n_learn is not None:
        iterations = min(iterations, DIVIDED_ITERATIONS)
    yield from enumerate(splits(name, iterations, drawn=(300, 3000)))


def table_2(sets: list[str], iterations: int, libraries: list[Any]) -> str:
    lines = []
    for name in sets:
        checked = name in CHECKED
        rows = [
            Line(name, method, published, checked, single=method == "one tree")
            for method, published in zip(METHODS, PUBLISHED[name], strict=True)
        ]
        for library in libraries:
            with progress(f"{name}, {library.name}"):
                found = [methods(library, *pair, i) for i, pair in tasks(name, iterations)]
            for row, errors in zip(rows, zip(*found, strict=True), strict=True):
                row.found[library.name] = list(errors)
        lines += rows
    return comparing.table(lines, libraries)


def altered(data: Data, seed: int) -> Data:
    """Change a random twentieth of the labels into another class, each as likely."""
    rng = np.random.default_rng([seed, 1])
    chosen = rng.permutation(len(data.y))[: round(ALTERED * len(data.y))]
    n_classes = int(data.y.max()) + 1
    y = data.y.copy()
    y[chosen] = (y[chosen] + rng.integers(1, n_classes, len(chosen))) % n_classes
    return Data(data.X, y, data.categorical)


def table_noise(sets: list[str], iterations: int, libraries: list[Any]) -> str:
    out = [["data", "library", "as it is", "altered", "rise, %", "published rise, %", "result"]]
    for name in [name for name in RISES if name in sets]:
        for library in libraries:
            with progress(f"{name} with altered labels, {library.name}"):
                errors = [
                    [
                        error(forest_ri(library, rows, i)[0], test.X, test.y)
                        for rows in (learn, altered(learn, i))
                    ]
                    for i, (learn, test) in tasks(name, iterations)
                ]
            clean, noisy = np.mean(errors, axis=0)
            rise = 100 * (noisy / clean - 1) if clean else np.nan
            allowed = clean * (1 + RISES[name] / 100) + COMMITTEE
            verdict = ("met" if noisy <= allowed else "MISSED") if library.name == Ours.name else ""
            cells = [f"{clean:.1f}", f"{noisy:.1f}", f"{rise:.1f}", f"{RISES[name]:.1f} ?", verdict]
            out.append([name, library.name, *cells])
    return markdown(out)


def compute(sets: list[str], iterations: int, libraries: list[Any]) -> str:
    parts = [table_2([name for name in sets if name in PUBLISHED], iterations, libraries), NOTE]
    parts += [
        "### One label in twenty altered",
        f"Met: the error is at most the published rise and {COMMITTEE:g} points above that of the "
        f"labels as they are. {max(1, iterations // 2)} iterations.",
        table_noise(sets, max(1, iterations // 2), libraries),
    ]
    return "\n\n".join(parts)


if __name__ == "__main__":
    comparing.main(SECTION, dict.fromkeys([*PUBLISHED, *RISES]), compute, __doc__)
