"""The two libraries that compute the tables: ours, and scikit-learn for comparison."""

from typing import Any

import numpy as np
import sklearn.ensemble
import sklearn.tree

import committee

JOBS = 2


class Ours:
    """Categories and missing values are taken as they are."""

    name = "committee"

    def tree(self, categorical: tuple[int, ...]) -> Any:
        return committee.DecisionTreeClassifier(categorical_features=list(categorical) or None)

    def bagging(self, member: Any, n_members: int, seed: int) -> Any:
        return committee.BaggingClassifier(
            member, n_estimators=n_members, voting="hard", random_state=seed
        )

    def forest(self, n_trees: int, tried: int, categorical: tuple[int, ...], seed: int) -> Any:
        return committee.RandomForestClassifier(
            n_estimators=n_trees,
            max_features=tried,
            categorical_features=list(categorical) or None,
            oob_score=True,
            random_state=seed,
            n_jobs=JOBS,
        )


class Sklearn:
    """Categories are codes. Its bagging votes where members have no probabilities."""

    name = "scikit-learn"

    def tree(self, categorical: tuple[int, ...]) -> Any:
        return sklearn.tree.DecisionTreeClassifier(random_state=0)

    def bagging(self, member: Any, n_members: int, seed: int) -> Any:
        return sklearn.ensemble.BaggingClassifier(member, n_members, random_state=seed)

    def forest(self, n_trees: int, tried: int, categorical: tuple[int, ...], seed: int) -> Any:
        return sklearn.ensemble.RandomForestClassifier(
            n_trees, max_features=tried, oob_score=True, random_state=seed, n_jobs=JOBS
        )


LIBRARIES = {"committee": Ours, "sklearn": Sklearn}


def error(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return the percentage of wrong rows."""
    return 100 * float(np.mean(model.predict(X) != y))


def member_error(forest: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return the percentage of wrong rows of a single tree, averaged over the forest."""
    wrong = [forest.classes_[tree.predict(X).astype(int)] != y for tree in forest.estimators_]
    return 100 * float(np.mean(wrong))
