"""Selection beside combination: the best single member by cross-validation, and the ensemble.

An ensemble earns its cost only against the member that selection would have picked, on the same
folds and rows (Dietterich 2000; Wolpert 1992 calls the former winner-takes-all).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from committee.data import InputError
from committee.data.errors import describe
from committee.theory.replicates import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class MemberComparison:
    """Scores of members and ensemble on the same folds; larger is better.

    Attributes
    ----------
    names : tuple of str
        The members.
    scores : ndarray of float64, shape (n_members, n_folds)
        The members' scores.
    ensemble_scores : ndarray of float64, shape (n_folds,)
        The ensemble's scores.
    """

    names: tuple[str, ...]
    scores: Floats
    ensemble_scores: Floats

    @property
    def best(self) -> str:
        """The member with the largest mean score; of equal ones the first."""
        return self.names[int(self.scores.mean(axis=1).argmax())]

    @property
    def best_scores(self) -> Floats:
        """The scores of that member, fold by fold.

        It was chosen by these scores, so that they flatter it: the comparison leans to the member.
        """
        return np.asarray(self.scores[self.names.index(self.best)])

    @property
    def gain(self) -> float:
        """The mean over folds of the ensemble's score minus the best member's."""
        return float((self.ensemble_scores - self.best_scores).mean())

    @property
    def gain_error(self) -> float:
        """The standard error of ``gain`` from the folds, as if these were independent."""
        gains = self.ensemble_scores - self.best_scores
        return float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else float("nan")

    def to_frame(self) -> pd.DataFrame:
        """Return the scores as a data frame of pandas: a row per fold, the ensemble last."""
        import pandas as pd

        columns = dict(zip(self.names, self.scores, strict=True))
        return pd.DataFrame({**columns, "ensemble": self.ensemble_scores})

    def __str__(self) -> str:
        means = self.scores.mean(axis=1)
        width = max(len(name) for name in (*self.names, "ensemble")) + 2
        lines = [f"Mean score over {len(self.ensemble_scores)} folds"]
        for name, mean in zip(self.names, means, strict=True):
            mark = "  best single member" if name == self.best else ""
            lines.append(f"  {name:<{width}}{mean:>9.4f}{mark}")
        lines.append(f"  {'ensemble':<{width}}{self.ensemble_scores.mean():>9.4f}")
        lines.append(
            f"  {'gain':<{width}}{self.gain:>+9.4f}  (standard error {self.gain_error:.4f})"
        )
        return "\n".join(lines)


def compare_members(
    estimators: Mapping[str, Any] | Sequence[tuple[str, Any]],
    ensemble: Any,
    X: Any,
    y: Any,
    cv: Any = None,
    *,
    scoring: Any = None,
    groups: Any = None,
    n_jobs: int | None = None,
) -> MemberComparison:
    """Score each member and the ensemble on the same folds.

    Parameters
    ----------
    estimators : dict of str to estimator, or list of (str, estimator)
        The members, as scikit-learn's VotingClassifier takes them.
    ensemble : estimator
        The ensemble of them.
    X, y
        The data.
    cv : int, splitter, iterable of (train, test) or None, default=None
        The folds, drawn once for all; None is 5 folds, stratified for classifiers.
    scoring : str, callable or None, default=None
        A score as scikit-learn takes it; None is each estimator's ``score``.
    groups : array-like of shape (n_rows,) or None, default=None
        For splitters by group.
    n_jobs : int or None, default=None
        The number of workers: threads, or what ``joblib.parallel_config`` says.

    Returns
    -------
    MemberComparison
        All scores; ``print`` shows the means.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import VotingClassifier
    >>> from committee import DecisionStump, DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("stump", DecisionStump()), ("tree", DecisionTreeClassifier())]
    >>> result = compare_members(members, VotingClassifier(members), X, y)
    >>> result.best, result.scores.shape
    ('tree', (2, 5))
    """
    from sklearn.model_selection import check_cv  # slow to import, and needed here only

    items = list(estimators.items() if isinstance(estimators, Mapping) else estimators)
    names = tuple(str(name) for name, _ in items)
    if not names or len(set(names)) < len(names):
        found = f"{len(names)} members, {len(set(names))} different names"
        allowed = "at least one member, each with a name of its own"
        raise InputError(describe("P-VALUE", "estimators", found, allowed=allowed))
    if sparse.issparse(X):
        X = X.tocsr()
    folds = list(check_cv(cv, y, classifier=is_classifier(ensemble)).split(X, y, groups))
    models = [*(model for _, model in items), ensemble]
    workers = Parallel(n_jobs=n_jobs, prefer="threads")
    tasks = (delayed(_score)(model, X, y, *fold, scoring) for model in models for fold in folds)
    scores = np.array(workers(tasks), dtype=np.float64).reshape(len(models), len(folds))
    return MemberComparison(names, scores[:-1], scores[-1])


def _score(model: Any, X: Any, y: Any, train: Ints, test: Ints, scoring: Any) -> float:
    from sklearn.metrics import check_scoring

    fitted = clone(model).fit(_safe_indexing(X, train), _safe_indexing(y, train))
    score = check_scoring(fitted, scoring)
    return float(score(fitted, _safe_indexing(X, test), _safe_indexing(y, test)))
