"""Ballots: asking any fitted committee what its members say, added up row by row.

Trees of the engine never give up their single opinions: a forest whose leaves hold votes, or the
entropies of their shares, adds them up itself, so that a million rows and a hundred trees take a
walk down the trees and nothing else. Other members are asked one after the other about blocks of
rows.

A booster's members for two classes say one number, negative for the first class; the vote is its
sign, and 0 abstains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import special
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from committee import _engine
from committee.active.disagreement import (
    Measure,
    Tally,
    averaged,
    cast_votes,
    check_members,
    check_probabilities,
    find_measure,
    read_vote_weights,
    tally,
)
from committee.core.members import ClassifierMember, Floats, Member, Members, Trees, read_by
from committee.core.stages import Stages
from committee.data import InputError, InputTypeError
from committee.data.errors import class_name, describe, listing
from committee.ensembles.bagging.feature_maps import FeatureSubset
from committee.ensembles.cascade import CascadeClassifier
from committee.ensembles.stacking import StackingClassifier

BLOCK_ROWS = 65536  # rows about which members are asked at once


class Ballots(Protocol):
    """A committee that can be asked for a tally."""

    @property
    def classes(self) -> npt.NDArray[Any]:
        """The classes, sorted."""

    @property
    def weights(self) -> Floats:
        """The weight of each member."""

    def tally(self, X: Any, measure: Measure, n_threads: int = 1) -> Tally:
        """Add up what the members say about rows, as far as a measure needs it."""


@dataclass(frozen=True, eq=False)
class TreeBallots:
    """Trees of the engine: what they say is added up natively.

    Attributes
    ----------
    trees : Trees
        With a column per class, or one for two classes.
    weights : ndarray of shape (n_members,)
        Not negative.
    classes : ndarray
        Sorted.
    """

    trees: Trees
    weights: Floats
    classes: npt.NDArray[Any]

    def tally(self, X: Any, measure: Measure, n_threads: int = 1) -> Tally:
        """Walk down the trees once: their leaves hold all parts of the tally side by side."""
        table = read_by(self.trees.schema, X)
        said = two_sided(np.asarray(self.trees.forest.values), len(self.classes))
        if any(not part.endswith("votes") for part in measure.needs):
            self._check_leaves(said, measure)
        columns = [_leaf_values(part.removeprefix("weighted_"), said) for part in measure.needs]
        forest = self.trees.forest.revalued(np.ascontiguousarray(np.hstack(columns)))
        each = self.weights if measure.weighted else np.ones(len(self.weights))
        total = forest.predict(table, each, np.zeros(forest.n_outputs), n_threads)
        ends = np.cumsum([column.shape[1] for column in columns])[:-1]
        parts = dict(zip(measure.needs, np.split(total, ends, axis=1), strict=True))
        for part in measure.needs:
            parts[part] = parts[part][:, 0] if part.endswith("entropy") else parts[part]
        return averaged(parts, self.weights)

    def _check_leaves(self, said: Floats, measure: Measure) -> None:
        forest = self.trees.forest
        begin = np.asarray(forest.tree_begin).astype(np.int64)
        first = np.repeat(begin[:-1], begin[1:] - begin[:-1])
        leaf = np.asarray(forest.left) == np.arange(forest.n_nodes) - first
        check_probabilities(said[leaf], measure)


def _leaf_values(part: str, said: Floats) -> Floats:
    if part == "shares":
        return said
    if part == "entropy":
        return np.asarray(special.entr(np.maximum(said, 0.0)).sum(axis=1, keepdims=True))
    return cast_votes(said)


@dataclass(frozen=True, eq=False)
class MemberBallots:
    """Members of any kind, asked one after the other about blocks of rows.

    Attributes
    ----------
    members : Members
        With an output per class, or one for two classes.
    weights : ndarray of shape (n_members,)
        Not negative.
    classes : ndarray
        Sorted.
    """

    members: Members
    weights: Floats
    classes: npt.NDArray[Any]

    def tally(self, X: Any, measure: Measure, n_threads: int = 1) -> Tally:
        """Ask about one block of rows after the other."""
        n_rows = _num_samples(X)
        if n_rows <= BLOCK_ROWS:
            return self._block(X, measure, n_threads)
        blocks = [
            self._block(
                _safe_indexing(X, np.arange(begin, min(begin + BLOCK_ROWS, n_rows))),
                measure,
                n_threads,
            )
            for begin in range(0, n_rows, BLOCK_ROWS)
        ]
        return Tally(
            **{
                part: np.concatenate([getattr(block, part) for block in blocks])
                for part in measure.needs
            }
        )

    def _block(self, X: Any, measure: Measure, n_threads: int) -> Tally:
        said = self._said(X, measure, n_threads)
        return tally(said, self.weights, len(self.weights), measure.needs)

    def _said(self, X: Any, measure: Measure, n_threads: int) -> Iterator[Floats]:
        probable = any(not part.endswith("votes") for part in measure.needs)
        for outputs in self.members.each(X, n_threads):
            said = two_sided(outputs, len(self.classes))
            if probable:
                check_probabilities(said, measure)
            yield said


def two_sided(said: Floats, n_classes: int) -> Floats:
    """Turn one number for two classes into a side each; leave a column per class as it is."""
    if said.shape[1] == n_classes:
        return said
    if said.shape[1] == 1 and n_classes == 2:
        return np.hstack([said < 0, said > 0]).astype(np.float64)
    found = f"members say {said.shape[1]} number(s) about a row of {n_classes} classes"
    raise InputError(describe("Q-OPINIONS", "committee", found, fix=OTHERWISE))


OTHERWISE = "ask a list of several fitted models, or bagging of them, for their opinions"
ACCEPTED = (
    "bagging, forests, voting, selection, DECORATE, AdaBoost and its kin, and the first level of "
    "stacking, of this library; bagging, forests, voting, AdaBoost and stacking of scikit-learn; "
    "or classifiers in a list"
)


def ballots_of(committee: Any) -> Ballots:
    """Find out how a fitted committee is asked.

    Parameters
    ----------
    committee : estimator or sequence of estimators
        A fitted bagging, forest, voting, AdaBoost-like or stacked ensemble of this library or of
        scikit-learn, or any fitted classifiers in a list. Of a stack the first level is asked,
        since later ones see other columns.

    Returns
    -------
    Ballots
        Its members, their weights and classes.

    Raises
    ------
    InputError
        For what has no members, members that have no opinion of their own, and for kinds that are
        not known: members may be trained for some of the classes only, or on other columns.
    """
    if isinstance(committee, (list, tuple)):
        return _of_list(committee)
    if _classifies(committee):
        check_is_fitted(committee)
    classes = getattr(committee, "classes_", None)
    if not _classifies(committee) or not isinstance(classes, np.ndarray):
        found = f"{class_name(committee)} is no classifier with one target"
        allowed = "a fitted classifier with members, or a list of fitted classifiers"
        raise InputTypeError(describe("Q-OPINIONS", "committee", found, allowed=allowed))
    if hasattr(committee, "parts_"):
        found = f"{type(committee).__name__} has a committee for each class, and none for all"
        raise InputError(describe("Q-OPINIONS", "committee", found, fix=OTHERWISE))
    inner = getattr(committee, "committee_", None)
    if inner is not None:
        return _of_members(inner.members, inner.weights, classes, type(committee).__name__)
    forest = getattr(committee, "forest_", None)
    if isinstance(forest, _engine.Forest):
        trees = Trees(forest, committee.schema_)
        return TreeBallots(trees, np.ones(forest.n_trees), classes)
    if isinstance(committee, StackingClassifier):
        return _seated(committee, committee.levels_[0], classes, classes)
    if isinstance(committee, _foreign_kinds()):
        return _of_foreign(committee, classes)
    raise _stranger(committee, "committee")


def check_kind(committee: Any, argument: str) -> None:
    """Refuse an ensemble, fitted or not, that is known to have no members to ask.

    Parameters
    ----------
    committee : classifier
        Of any kind.
    argument : str
        What the user calls it.
    """
    ours = any(kind.__module__.startswith("committee.") for kind in type(committee).__mro__)
    if isinstance(committee, CascadeClassifier) or not (
        ours or isinstance(committee, _foreign_kinds())
    ):
        raise _stranger(committee, argument)


def _stranger(committee: Any, argument: str) -> InputError:
    found = f"{class_name(committee)} has no members that are known to judge all classes, each by "
    found += "the columns of X"
    return InputError(describe("Q-OPINIONS", argument, found, allowed=ACCEPTED, fix=OTHERWISE))


def _classifies(estimator: Any) -> bool:
    return hasattr(estimator, "__sklearn_tags__") and bool(is_classifier(estimator))


def _of_members(members: Any, weights: Any, classes: npt.NDArray[Any], name: str) -> Ballots:
    if isinstance(members, Stages):
        found = f"rounds of {name} add to a score; none has an opinion of its own"
        raise InputError(describe("Q-OPINIONS", "committee", found, fix=OTHERWISE))
    votes = read_vote_weights(weights, len(members))
    if type(members) is Trees:  # rows that go down trees in parts end in several leaves
        return TreeBallots(members, votes, classes)
    return MemberBallots(members, votes, classes)


def _of_list(estimators: Sequence[Any]) -> MemberBallots:
    for index, estimator in enumerate(estimators):
        if isinstance(estimator, type) or not _classifies(estimator):
            found = f"member {index} is {class_name(estimator)}"
            allowed = "fitted classifiers"
            raise InputTypeError(describe("Q-OPINIONS", "committee", found, allowed=allowed))
        check_is_fitted(estimator)
    if not estimators:
        found = "a list without an estimator"
        raise InputError(describe("Q-ALONE", "committee", found, allowed="at least 2 members"))
    classes = np.unique(np.concatenate([np.asarray(e.classes_) for e in estimators]))
    seats = Members(ClassifierMember(estimator, classes) for estimator in estimators)
    return MemberBallots(seats, np.ones(len(estimators)), classes)


def _of_foreign(committee: Any, classes: npt.NDArray[Any]) -> MemberBallots:
    """Seat the members of an ensemble of scikit-learn; most are fitted on codes of the classes."""
    from sklearn import ensemble

    coded = not isinstance(committee, ensemble.AdaBoostClassifier)
    if isinstance(committee, ensemble.StackingClassifier) and committee.cv == "prefit":
        coded = False
    known = np.arange(len(classes)) if coded else classes
    return _seated(committee, committee.estimators_, classes, known)


def _seated(
    committee: Any, estimators: Sequence[Any], classes: npt.NDArray[Any], known: npt.NDArray[Any]
) -> MemberBallots:
    """Seat the members of an ensemble, which call the classes as ``known`` does."""
    strangers = [type(e).__name__ for e in estimators if not _classifies(e)]
    if strangers:
        found = f"members of {type(committee).__name__} are no classifiers: {listing(strangers)}"
        raise InputError(describe("Q-OPINIONS", "committee", found, fix=OTHERWISE))
    seats: Iterable[Member] = (ClassifierMember(e, known) for e in estimators)
    seen = getattr(committee, "estimators_features_", None)
    if seen is not None:
        seats = (SomeFeatures(seat, f) for seat, f in zip(seats, seen, strict=True))
    votes = read_vote_weights(_weights(committee, len(estimators)), len(estimators))
    return MemberBallots(Members(seats), votes, classes)


def _foreign_kinds() -> tuple[type, ...]:
    """Name the ensembles of scikit-learn whose members judge all classes by the columns of X."""
    from sklearn import ensemble  # not at the top: it takes as long to import as this library

    return (
        ensemble.AdaBoostClassifier,
        ensemble.BaggingClassifier,
        ensemble.ExtraTreesClassifier,
        ensemble.RandomForestClassifier,
        ensemble.StackingClassifier,
        ensemble.VotingClassifier,
    )


def _weights(committee: Any, n_members: int) -> Any:
    """Read the weights of an ensemble's members by the names scikit-learn has for them."""
    if hasattr(committee, "estimator_weights_"):
        return np.asarray(committee.estimator_weights_)[:n_members]
    weights, named = getattr(committee, "weights", None), getattr(committee, "estimators", None)
    if weights is None or named is None:
        return None
    return [w for w, (_, e) in zip(weights, named, strict=True) if not isinstance(e, str)]


@dataclass(frozen=True, eq=False)
class SomeFeatures:
    """A member that sees some columns only."""

    member: Member
    features: npt.NDArray[np.int64]

    def outputs(self, X: Any) -> Floats:
        """Cut the columns, then ask."""
        return self.member.outputs(FeatureSubset(self.features, X.shape[1]).transform(X))


def committee_disagreement(
    committee: Any, X: Any, measure: str = "vote_margin", *, n_jobs: int = 1
) -> Floats:
    """Measure how much the members of a fitted committee disagree about each row.

    Parameters
    ----------
    committee : estimator or sequence of estimators
        A fitted bagging, forest, voting, AdaBoost-like or stacked ensemble of this library or of
        scikit-learn, or fitted classifiers in a list; at least two members. Of a stack the first
        level is asked.
    X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
        The rows.
    measure : str, default="vote_margin"
        As in :func:`measure_disagreement`.
    n_jobs : int, default=1
        Threads; the result does not depend on them.

    Returns
    -------
    ndarray of shape (n_rows,)
        The measure; margins are small where members disagree, the others large.

    Examples
    --------
    >>> from committee import RandomForestClassifier, load_heart
    >>> from committee.active import committee_disagreement
    >>> X, y = load_heart(as_frame=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> bool(committee_disagreement(forest, X).min() < 0.5)
    True
    """
    chosen, ballots = find_measure(measure), ballots_of(committee)
    check_members(len(ballots.weights))
    return chosen.of(ballots.tally(X, chosen, n_jobs))
