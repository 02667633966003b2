"""Importances as methods of committees: features, groups and scores as users give them.

A committee says how its training rows are read again (:class:`Training`); the rest is the same for
forests of engine trees and for members of any kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Bunch

from committee import _engine
from committee.core.bags import LeftOut
from committee.core.importance import (
    Columns,
    Floats,
    Ints,
    Outputs,
    Score,
    permutation_drops,
    split_gains,
    summary,
)
from committee.core.params import integer, invalid, resolve_seed, resolve_threads
from committee.data import InputError
from committee.data.errors import describe

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class TreeArrays:
    """One tree, and the leaf in it of every training row; see :func:`split_gains`."""

    left: Ints
    right: Ints
    feature: Ints
    values: Floats
    leaf: Ints


@dataclass(frozen=True, eq=False)
class Training:
    """The training rows of a committee, read again, and who left them out.

    Attributes
    ----------
    rows : ndarray, sparse matrix or data frame
        What ``outputs`` takes.
    target : ndarray of float64, shape (n_rows, n_targets)
        Numbers, or codes of classes.
    classes : list of ndarray or None
        Per target the classes in the order of the outputs; None for numbers.
    weight : ndarray of float64, shape (n_rows,), or None
        Weights of the rows.
    left_out : LeftOut
        The rows that each member has not seen.
    outputs : callable
        ``outputs(member, rows)``: what a member says, (n_rows, n_outputs).
    n_features : int
        The columns of ``rows``.
    feature_names : ndarray of str or None
        Their names.
    trees : callable or None
        From a member to its tree, where members are trees over the columns of ``rows``.
    """

    rows: Any
    target: Floats
    classes: list[Array] | None
    weight: Floats | None
    left_out: LeftOut
    outputs: Outputs
    n_features: int
    feature_names: Array | None = None
    trees: Callable[[int], TreeArrays] | None = None

    def rows_left_out(self, member: int) -> Ints:
        """List the rows that a member left out and that have weight."""
        mask = self.left_out.mask(member)
        return np.flatnonzero(mask if self.weight is None else mask & (self.weight > 0))

    def indicators(self) -> Floats:
        """Give what the values of leaves estimate: the numbers, or an indicator per class."""
        if self.classes is None:
            return self.target
        parts = [
            np.eye(len(classes))[codes.astype(np.int64)]
            for classes, codes in zip(self.classes, self.target.T, strict=True)
        ]
        return np.concatenate(parts, axis=1)


class OutOfBagMethods:
    """Mixin of committees whose members leave rows out: importances judged by these rows."""

    n_jobs: int | None

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        """Read the training rows again; others, or bags that leave nothing out, are refused."""
        raise NotImplementedError

    def permutation_importance(
        self,
        X: Any,
        y: Any,
        *,
        n_repeats: int = 1,
        scoring: Any = None,
        sample_weight: Any = None,
        features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> Bunch:
        """Measure how much worse members become when a feature is shuffled.

        Each member is judged on the rows it left out: once as they are, and once with the values of
        the feature permuted among them (Breiman 2001). The importance is the mean drop of the
        score, in its own unit: not divided by the standard error.

        Parameters
        ----------
        X, y, sample_weight
            The training rows as given to ``fit``; weights count in the scores, too.
        n_repeats : int, default=1
            How often each member shuffles each feature; members are many already.
        scoring : str, callable or None, default=None
            A scorer of scikit-learn, applied to each member. None is accuracy for classes and the
            negative mean squared error for numbers, the means over several targets.
        features : sequence or None, default=None
            Features (indices or names) to look at, and groups of them, as tuples or lists, that are
            shuffled together: of two correlated features one can stand in for the other, so that
            only together they show what they are worth. None is each feature by itself.
        n_jobs : int or None, default=None
            Threads; None is the committee's own ``n_jobs``. The result does not depend on it.
        random_state : int, RandomState instance, Generator or None, default=None
            The seed; an order depends on it, the member and the feature alone.

        Returns
        -------
        Bunch
            ``importances_mean``, ``importances_std`` and ``importances_se`` (the standard error of
            the mean over members), ``importances`` of shape (n_features, n_members), and
            ``features``. The error is that of a committee of finite size: it shrinks with more
            members, and does not say how the importance would change with other data.
        """
        if not integer(1).is_satisfied_by(n_repeats):
            allowed = "an int in the range [1, inf)"
            raise invalid("n_repeats", "permutation_importance", allowed, n_repeats)
        seed = resolve_seed(random_state, "permutation_importance")
        n_threads = self._importance_threads(n_jobs)
        training = self._training(X, y, sample_weight)
        groups = read_features(features, training)
        drops = permutation_drops(
            training.outputs,
            read_score(scoring, training),
            training.rows,
            [training.rows_left_out(member) for member in range(len(training.left_out))],
            groups,
            n_repeats=int(n_repeats),
            seed=seed,
            n_threads=n_threads,
        )
        return summary(drops, [named_columns(columns, training) for columns in groups])

    def debiased_importance(self, X: Any, y: Any, *, sample_weight: Any = None) -> Bunch:
        """Measure what the splits on each feature gain on rows that their tree has not seen.

        ``feature_importances_`` adds up what splits gained on the rows that chose them. It favours
        features with many values, as more cuts give chance more to choose from. Here left-out rows
        are sent down the tree and asked what each split gains (Li et al. 2019): a feature that is
        noise has importance zero in the mean, and may come out slightly below it.

        Parameters
        ----------
        X, y, sample_weight
            The training rows as given to ``fit``; weights count in the gains, too.

        Returns
        -------
        Bunch
            As of ``permutation_importance``. The unit is the decrease of the squared error, or of
            the Gini impurity, whatever the criterion of the trees; shares of it do not add up to 1.
        """
        training = self._training(X, y, sample_weight)
        if training.trees is None:
            found = f"the members of {type(self).__name__} are no trees of the engine"
            fix = "use permutation_importance, which asks nothing of the members"
            raise InputError(describe("P-VALUE", "estimator", found, fix=fix))
        target, gains = training.indicators(), []
        for member in range(len(training.left_out)):
            rows, tree = training.rows_left_out(member), training.trees(member)
            weight = None if training.weight is None else training.weight[rows]
            arrays = (tree.left, tree.right, tree.feature, tree.values, tree.leaf[rows])
            gains.append(split_gains(*arrays, target[rows], weight, training.n_features))
        features = [named_columns((column,), training) for column in range(training.n_features)]
        return summary(np.array(gains).T, features)

    def _importance_threads(self, n_jobs: int | None) -> int:
        chosen = self.n_jobs if n_jobs is None else n_jobs
        return resolve_threads(chosen, _engine.available_threads(), type(self).__name__)


def read_features(features: Any, training: Training) -> list[Columns]:
    """Read the argument ``features``: indices, names, and groups of both."""
    if features is None:
        return [(column,) for column in range(training.n_features)]
    if isinstance(features, str) or not isinstance(features, (Sequence, np.ndarray)):
        found = f"{features!r} is no sequence"
        raise InputError(describe("P-FEATURE", "features", found, fix="features=[...]"))
    groups = []
    for item in features:
        together = item if isinstance(item, (tuple, list, np.ndarray)) else [item]
        if len(together) == 0:
            raise InputError(describe("P-FEATURE", "features", "a group is empty"))
        groups.append(tuple(sorted({_column(name, training) for name in together})))
    return groups


def _column(name: Any, training: Training) -> int:
    names, p = training.feature_names, training.n_features
    if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
        if 0 <= name < p:
            return int(name)
    elif names is not None and name in names:
        return int(np.flatnonzero(names == name)[0])
    known = "" if names is None else f" or one of {list(names[:10])}"
    allowed = f"an index in [0, {p - 1}]{known}"
    found = f"{name!r} is not a feature of X"
    raise InputError(describe("P-FEATURE", "features", found, allowed=allowed))


def named_columns(columns: Columns, training: Training) -> Any:
    """Call columns by what the user knows them by: a name, an index, or a tuple of them."""
    names = training.feature_names
    found = tuple(column if names is None else str(names[column]) for column in columns)
    return found[0] if len(found) == 1 else found


def read_score(scoring: Any, training: Training) -> Score:
    """Read the argument ``scoring``; see ``permutation_importance``."""
    if scoring is None:
        return accuracy(training) if training.classes else negative_squared_error(training)
    classes = training.classes
    voice = NumberVoice() if classes is None else ClassVoice(classes)
    from sklearn.metrics import check_scoring  # costs more to import than all of this package

    scorer = check_scoring(voice, scoring=scoring)
    if classes is None:
        true = training.target
    else:
        codes = training.target.astype(np.int64)
        true = np.stack([c[k] for c, k in zip(classes, codes.T, strict=True)], axis=1)
    weight = training.weight

    def score(outputs: Floats, indices: Ints, rows: Any) -> float:
        weights = {} if weight is None else {"sample_weight": weight[indices]}
        return float(scorer(voice.saying(outputs), rows, flat(true[indices]), **weights))

    return score


def accuracy(training: Training) -> Score:
    """Count the classes that a member gets right."""
    assert training.classes is not None
    ends = np.cumsum([len(classes) for classes in training.classes])[:-1]
    codes, weight = training.target, training.weight

    def score(outputs: Floats, indices: Ints, rows: Any) -> float:
        said = np.stack([part.argmax(axis=1) for part in np.split(outputs, ends, axis=1)], axis=1)
        right = (said == codes[indices]).mean(axis=1)
        return float(np.average(right, weights=None if weight is None else weight[indices]))

    return score


def negative_squared_error(training: Training) -> Score:
    """Square the distance between what a member says and the target."""
    y, weight = training.target, training.weight

    def score(outputs: Floats, indices: Ints, rows: Any) -> float:
        error = ((outputs - y[indices]) ** 2).mean(axis=1)
        return -float(np.average(error, weights=None if weight is None else weight[indices]))

    return score


@dataclass(frozen=True, eq=False)
class NumberVoice(RegressorMixin, BaseEstimator):
    """A regressor that repeats what a member said, for scikit-learn's scorers to judge."""

    outputs: Floats | None = None

    def saying(self, outputs: Floats) -> NumberVoice:
        """Return a voice that repeats ``outputs``."""
        return replace(self, outputs=outputs)

    def fit(self, X: Any, y: Any) -> NumberVoice:
        """Learn nothing."""
        return self

    def predict(self, X: Any) -> Floats:
        """Repeat the numbers."""
        assert self.outputs is not None
        return flat(self.outputs)


@dataclass(frozen=True, eq=False)
class ClassVoice(ClassifierMixin, BaseEstimator):
    """A classifier that repeats what a member said, for scikit-learn's scorers to judge."""

    class_lists: list[Array]
    outputs: Floats | None = None

    @property
    def classes_(self) -> Any:
        """The classes, a list of them for several targets."""
        return self.class_lists[0] if len(self.class_lists) == 1 else self.class_lists

    def saying(self, outputs: Floats) -> ClassVoice:
        """Return a voice that repeats ``outputs``."""
        return replace(self, outputs=outputs)

    def fit(self, X: Any, y: Any) -> ClassVoice:
        """Learn nothing."""
        return self

    def predict_proba(self, X: Any) -> Any:
        """Repeat the shares, a list of them for several targets."""
        assert self.outputs is not None
        ends = np.cumsum([len(classes) for classes in self.class_lists])[:-1]
        parts = np.split(self.outputs, ends, axis=1)
        return parts[0] if len(parts) == 1 else parts

    def predict(self, X: Any) -> Array:
        """Give the class with the largest share."""
        shares = self.predict_proba(X)
        parts = shares if isinstance(shares, list) else [shares]
        said = [c[s.argmax(axis=1)] for c, s in zip(self.class_lists, parts, strict=True)]
        return flat(np.stack(said, axis=1))


def flat(columns: Array) -> Array:
    """Drop the second axis where there is one column."""
    return columns[:, 0] if columns.shape[1] == 1 else columns
