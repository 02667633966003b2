"""Weak learners: ``fit(rows, y, weight, rng)`` gives a hypothesis.

Two adapters make one of any estimator: trees of this library are grown by the engine on bins that
all rounds share, everything else is fitted by scikit-learn's conventions. A learner whose ``fit``
takes no weights is given a sample drawn by them; its hypothesis is judged on all rows all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing

from committee import _engine
from committee.core.members import ClassifierMember, Floats, Member, RegressorMember
from committee.core.params import check_params, resolve_max_features
from committee.core.randomness import reseeded_clone
from committee.data import InputError, InputTypeError, Labels, read_class_weights
from committee.data.errors import describe
from committee.ensembles.boosting.hypothesis import AnyHypothesis, Hypothesis, TreeHypothesis
from committee.ensembles.boosting.rows import BoostingRows, PlainRows, TreeRows
from committee.ensembles.member_fitting import check_instance, failed_fit, quiet, takes_weights
from committee.learners.growing import tree_params
from committee.learners.stump import DecisionStump, stump_params
from committee.learners.tree import keeps_rows_whole

Targets = npt.NDArray[Any]


class WeakLearner(Protocol):
    """What a booster asks for hypotheses."""

    def fit(
        self, rows: BoostingRows, y: Targets, weight: Floats, rng: np.random.Generator
    ) -> Hypothesis:
        """Fit to rows that weigh 1 on average; ``y`` holds class codes or numbers."""


def grown_by_engine(base: Any) -> bool:
    """Tell whether an estimator is a tree of this library that can be grown on binned rows."""
    return type(base) is DecisionStump or keeps_rows_whole(base)


def check_learner(base: Any, owner: str, *, classifies: bool, resample: bool | str) -> None:
    """Refuse what cannot be a weak learner of ``owner``, before any work."""
    check_instance(base, owner)
    if grown_by_engine(base):
        check_params(base)
    if is_classifier(base) != classifies:
        kind = "a classifier" if classifies else "a regressor"
        found = f"{owner} asks its weak learner for {'classes' if classifies else 'numbers'}; "
        found += f"{type(base).__name__} is no such"
        raise InputTypeError(describe("P-ESTIMATOR", "estimator", found, allowed=kind))
    if resample is False and not takes_weights(base):
        name = type(base).__name__
        found = f"{name}.fit takes no sample_weight, and resample=False"
        fix = f"resample=True draws a weighted sample of the rows for {name}"
        raise InputError(describe("P-RESAMPLE", "estimator", found, fix=fix))


def weak_learner(
    base: Any, rows: BoostingRows, classes: npt.NDArray[Any] | None, *, resample: bool | str
) -> WeakLearner:
    """Make a weak learner of an estimator.

    Parameters
    ----------
    base : estimator
        As :func:`check_learner` let it pass.
    rows : BoostingRows
        That it will be fitted to.
    classes : ndarray or None
        The labels behind the codes; None where targets are numbers.
    resample : bool or "auto"
        Whether it gets a weighted sample of the rows; "auto" does so where it takes no weights.
    """
    drawn = not takes_weights(base) if resample == "auto" else bool(resample)
    learner: WeakLearner
    if isinstance(rows, TreeRows):
        learner = TreeLearner(base, rows, classes)
    else:
        learner = AnyLearner(base, classes)
    return Resampled(learner) if drawn else learner


class TreeLearner:
    """Grows trees of the engine.

    Parameters
    ----------
    base : DecisionStump, DecisionTreeClassifier or DecisionTreeRegressor
        Whose parameters the trees have.
    rows : TreeRows
        The rows.
    classes : ndarray or None
        The labels behind the codes; None for numbers.
    """

    def __init__(self, base: Any, rows: TreeRows, classes: npt.NDArray[Any] | None) -> None:
        self._base = base
        self._classes = classes
        n_classes = 1 if classes is None else len(classes)
        if isinstance(base, DecisionStump):
            self._params = stump_params()
        else:
            tried = resolve_max_features(
                base.max_features, rows.schema.n_features, type(base).__name__
            )
            self._params = tree_params(
                base,
                rows.schema,
                n_rows=rows.n_rows,
                total_weight=float(rows.n_rows),
                n_classes=[n_classes],
                n_node_features=tried,
                seed=0,
            )
        self._codes: tuple[Targets, npt.NDArray[np.uint32]] | None = None

    def fit(
        self, rows: BoostingRows, y: Targets, weight: Floats, rng: np.random.Generator
    ) -> TreeHypothesis:
        """Grow a tree, and cut it back where the estimator says so."""
        assert isinstance(rows, TreeRows)
        base, params = self._base, self._params
        params.seed = int(rng.integers(2**64, dtype=np.uint64))
        binned = rows.binned
        tree, leaf = _engine.grow_tree_with_leaves(
            binned.matrix, binned.mapper, self._stats(y, weight, rows), params, rows.n_threads
        )
        size = tree.n_nodes
        if getattr(base, "ccp_alpha", 0) > 0:
            tree = tree.pruned_by_cost(base.ccp_alpha)
        if getattr(base, "pruning", None) == "pessimistic":
            tree = tree.pruned_by_pessimism(base.confidence)
        if tree.n_nodes != size:
            leaf = tree.apply(rows.asked, rows.n_threads)[:, 0]
        return TreeHypothesis(tree, rows.schema, leaf)

    def _stats(self, y: Targets, weight: Floats, rows: TreeRows) -> _engine.Stats:
        counted = self._params.min_rows_leaf > 1
        if self._classes is None:
            return _engine.Stats.regression(
                np.ascontiguousarray(y, dtype=np.float64).reshape(-1, 1), weight, True, counted
            )
        codes = self._coded(y)
        by_class = read_class_weights(
            self._base.class_weight, Labels([self._classes], codes.view(np.int32)), weight
        )
        if by_class is not None:
            weight = weight * by_class
        if counted or not weight.all():  # a drawn sample: weights are counts, and some are 0
            return _engine.Stats.classes(codes, [len(self._classes)], weight, counted)
        return _engine.Stats.shares(codes, [len(self._classes)], weight, rows.n_threads)

    def _coded(self, y: Targets) -> npt.NDArray[np.uint32]:
        """Convert the codes once: most boosters ask for the same classes in every round."""
        if self._codes is None or self._codes[0] is not y:
            self._codes = (y, np.ascontiguousarray(y, dtype=np.uint32).reshape(-1, 1))
        return self._codes[1]


@dataclass(frozen=True, eq=False)
class AnyLearner:
    """Fits copies of any estimator; classes are handed to it as the user's labels."""

    base: Any
    classes: npt.NDArray[Any] | None

    def fit(
        self, rows: BoostingRows, y: Targets, weight: Floats, rng: np.random.Generator
    ) -> AnyHypothesis:
        """Fit a copy with seeds of its own, on the rows that weigh something."""
        assert isinstance(rows, PlainRows)
        estimator = reseeded_clone(self.base, rng)
        labels = y if self.classes is None else self.classes[y]
        chosen: Any = slice(None)
        X = rows.X
        if not takes_weights(estimator):  # Resampled made the weights whole numbers
            chosen = np.repeat(np.arange(len(weight)), weight.astype(np.int64))
        elif not weight.all():
            chosen = np.flatnonzero(weight)
        if not isinstance(chosen, slice):
            X, labels = _safe_indexing(rows.X, chosen), labels[chosen]
        params = {"sample_weight": weight[chosen]} if takes_weights(estimator) else {}
        try:
            with quiet():
                estimator.fit(X, labels, **params)
        except Exception as error:
            raise failed_fit(self.base, error) from error
        member: Member = RegressorMember(estimator)
        if self.classes is not None:
            member = ClassifierMember(estimator, self.classes)
        return AnyHypothesis(member, member.outputs(rows.X))


@dataclass(frozen=True, eq=False)
class Resampled:
    """Draws as many rows as there are, with replacement, by their weights, for another learner."""

    learner: WeakLearner

    def fit(
        self, rows: BoostingRows, y: Targets, weight: Floats, rng: np.random.Generator
    ) -> Hypothesis:
        """Fit to the draw; the hypothesis speaks about all rows."""
        return self.learner.fit(rows, y, draw_counts(weight, rng), rng)


def draw_counts(weight: Floats, rng: np.random.Generator) -> Floats:
    """Count how often each row is drawn, in as many draws as there are rows."""
    ends = np.cumsum(weight)
    drawn = np.searchsorted(ends, rng.random(len(weight)) * ends[-1], side="right")
    counts = np.bincount(np.minimum(drawn, len(weight) - 1), minlength=len(weight))
    return counts.astype(np.float64)
