"""The sets of ../shared/data as tasks for gradient boosters: rows, targets and folds.

Where the data come with ten folds, those are used, on larger sets the first few of them. The other
sets have none: a fixed sample of their rows is parted in five, class by class. Texts become counts
of the words that occur in at least five documents.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold

from benchmarks.accuracy import every_set, folds, read

TEXTS = ("reuters-r8", "sms-spam")
MOST_ROWS = {"adult": 20_000, "covertype-16pct": 20_000, "kddcup99-10pct": 20_000}
PARTS = 5  # of the sets without folds
FEWEST = 10  # rows of a class, in sets without folds; rarer classes are left out


@dataclass(frozen=True)
class Fold:
    """Rows to learn from and to test on; classes are numbered as in the former."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    n_classes: int  # 0: numbers


@dataclass(frozen=True)
class BoostingSet:
    """One set: a frame with categories as such, or a sparse matrix of counts."""

    name: str
    X: Any
    y: np.ndarray
    fold: np.ndarray
    classify: bool

    @cached_property
    def n_classes(self) -> int:
        return len(np.unique(self.y)) if self.classify else 0

    @cached_property
    def codes(self) -> Any:
        """Give categories as numbers, missing values as NaN."""
        if sparse.issparse(self.X):
            return self.X
        kinds = self.X.dtypes.items()
        names = [name for name, kind in kinds if isinstance(kind, pd.CategoricalDtype)]
        codes = {name: self.X[name].cat.codes.replace(-1, np.nan) for name in names}
        return self.X.assign(**codes).to_numpy(np.float64)

    def part(self, k: int, *, codes: bool) -> Fold:
        """Part the rows; test rows of a class that was never seen are left out."""
        learn, test = np.flatnonzero(self.fold != k), np.flatnonzero(self.fold == k)
        X = self.codes if codes else self.X
        if not self.classify:
            return Fold(_rows(X, learn), self.y[learn], _rows(X, test), self.y[test], 0)
        known, y = np.unique(self.y[learn], return_inverse=True)
        test = test[np.isin(self.y[test], known)]
        y_test = np.searchsorted(known, self.y[test])
        return Fold(_rows(X, learn), y, _rows(X, test), y_test, len(known))

    def n_folds(self) -> int:
        """Return how many folds are used: fewer, the larger the set."""
        usual = 10 if self._cells < 6000 else 5 if self._cells < 50_000 else 3
        return min(usual, int(self.fold.max()) + 1)

    def n_few_folds(self) -> int:
        """Return how many are used beside CatBoost, which takes minutes for some of the fits."""
        if self.n_classes > 2 and self.categorical:
            return 1
        return (
            5
            if self._cells < 2000
            else 3
            if self._cells < 8000
            else 2
            if self._cells < 60_000
            else 1
        )

    @property
    def categorical(self) -> bool:
        if sparse.issparse(self.X):
            return False
        return any(isinstance(kind, pd.CategoricalDtype) for kind in self.X.dtypes)

    @property
    def _cells(self) -> int:
        return len(self.y) * max(1, self.n_classes - 1)


def _rows(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows].reset_index(drop=True) if isinstance(X, pd.DataFrame) else X[rows]


def names() -> list[str]:
    """Name all sets, in the order of the alphabet."""
    return sorted(every_set())


def boosting_set(name: str) -> BoostingSet:
    """Read one set."""
    classify = every_set()[name]["task"] == "classification"
    X, y = read(name)
    if name in folds():
        X.columns = [f"f{i}" for i in range(X.shape[1])]
        return BoostingSet(name, X, y, np.array(folds()[name]), classify)
    rng = np.random.default_rng(77)
    rows = np.sort(rng.permutation(len(y))[: MOST_ROWS.get(name, len(y))])
    labels, counts = np.unique(y[rows], return_counts=True)
    rows = rows[np.isin(y[rows], labels[counts >= FEWEST])]
    X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    fold = np.empty(len(y), dtype=int)
    parting = StratifiedKFold(PARTS, shuffle=True, random_state=77)
    for k, (_, test) in enumerate(parting.split(y, y)):
        fold[test] = k
    if name in TEXTS:
        counts_of = CountVectorizer(min_df=5, dtype=np.float32)
        return BoostingSet(name, counts_of.fit_transform(X.iloc[:, 0]), y, fold, classify)
    X.columns = [f"f{i}" for i in range(X.shape[1])]
    return BoostingSet(name, X, y, fold, classify)
