"""Cascades and stacks of naive Bayes, a linear discriminant and a tree beside each of them alone.

    python -m benchmarks.cascades > benchmarks/results/cascades.md

Gama and Brazdil (2000) put C4.5 over a discriminant over naive Bayes. Here: the shared numeric data
sets, the ten fixed folds, error in percent with its standard error over the folds.
"""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

from benchmarks.accuracy import folds, read
from committee import CascadeClassifier, DecisionTreeClassifier, StackingClassifier

SETS = ("balance-scale", "heart-statlog", "iris", "segment", "spambase", "waveform-5000", "wine")
MEMBERS = [
    ("bayes", GaussianNB()),
    ("discrim", LinearDiscriminantAnalysis()),
    ("tree", DecisionTreeClassifier(pruning="pessimistic", random_state=0)),
]
MODELS = {
    **dict(MEMBERS),
    "cascade": CascadeClassifier(MEMBERS, random_state=0),
    "cascade, cv=5": CascadeClassifier(MEMBERS, cv=5, random_state=0),
    "tree first": CascadeClassifier(MEMBERS[::-1], random_state=0, check_leak=False),
    "stack, linear": StackingClassifier(MEMBERS, "linear", random_state=0),
}


def errors(name: str) -> dict[str, np.ndarray]:
    """Measure the error of each model in each fold."""
    X, y = read(name)
    X, of_row = X.to_numpy(dtype=np.float64), np.array(folds()[name])
    found = {}
    for title, model in MODELS.items():
        wrong = []
        for fold in range(10):
            train, test = of_row != fold, of_row == fold
            fit = clone(model).fit(X[train], y[train])
            wrong.append(100 * np.mean(fit.predict(X[test]) != y[test]))
        found[title] = np.array(wrong)
    return found


def main() -> None:
    warnings.simplefilter("ignore")  # collinear columns, which a discriminant remarks
    print("# Cascades: error in percent over ten folds, ± its standard error\n")
    print("`python -m benchmarks.cascades`. Members: Gaussian naive Bayes, linear discriminant, a")
    print(
        "tree with pessimistic pruning; the cascade is the tree over the discriminant over Bayes,"
    )
    print("in sample as in the paper or out of fold, and the other way round.\n")
    print("| set | " + " | ".join(MODELS) + " |")
    print("|---" * (len(MODELS) + 1) + "|")
    means = []
    for name in SETS:
        found = errors(name)
        means.append([wrong.mean() for wrong in found.values()])
        cells = [f"{w.mean():.1f} ± {w.std(ddof=1) / np.sqrt(len(w)):.1f}" for w in found.values()]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print("| mean | " + " | ".join(f"{mean:.2f}" for mean in np.mean(means, axis=0)) + " |")


if __name__ == "__main__":
    main()
