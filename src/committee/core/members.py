"""Members, and sequences of them that can be asked all at once.

Any object with ``outputs(X)`` is a member; two adapters make one of a fitted scikit-learn
estimator. :class:`Members` asks its members one after the other, :class:`Trees` hands the question
to the engine. Both add in the order of the members, so that they give the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol, overload

import numpy as np
import numpy.typing as npt
from sklearn.utils.parallel import Parallel, delayed

from committee import _engine
from committee.data import InputError, Schema, read_predict
from committee.data.errors import describe, listing
from committee.data.rows import engine_table

Floats = npt.NDArray[np.float64]

BLOCK = 16  # members whose outputs are held at once where they are wanted one by one


class Member(Protocol):
    """What a committee asks for its opinion."""

    def outputs(self, X: Any) -> Floats:
        """Give class probabilities, votes or scores, or numbers: (n_rows, n_outputs)."""


class Members(Sequence[Member]):
    """Members of any kind, in order.

    Parameters
    ----------
    members : iterable of Member
        They are asked one after the other, or several at a time in threads.
    """

    def __init__(self, members: Iterable[Member]) -> None:
        self._members = tuple(members)

    def __len__(self) -> int:
        return len(self._members)

    @overload
    def __getitem__(self, index: int) -> Member: ...
    @overload
    def __getitem__(self, index: slice) -> Members: ...
    def __getitem__(self, index: int | slice) -> Member | Members:
        if isinstance(index, slice):
            return Members(self._members[index])
        return self._members[index]

    def each(self, X: Any, n_threads: int = 1) -> Iterator[Floats]:
        """Yield the outputs of one member after the other."""
        if n_threads == 1:
            yield from (member.outputs(X) for member in self)
            return
        block = n_threads * BLOCK
        for begin in range(0, len(self), block):
            ask = (delayed(member.outputs)(X) for member in self[begin : begin + block])
            yield from Parallel(n_jobs=n_threads, prefer="threads")(ask)

    def joined(self, others: Sequence[Members]) -> Members | None:
        """Put others of the same kind behind these; None where they are not."""
        return None

    def outputs(self, X: Any, n_threads: int = 1) -> Floats:
        """Give the outputs of all members: [member, row, output]."""
        return np.stack(list(self.each(X, n_threads)))

    def running(
        self, X: Any, weights: Floats, intercept: Floats, n_threads: int = 1
    ) -> Iterator[Floats]:
        """Yield the total after 1, 2, .. members; all are one array, which grows in place."""
        yield from running_totals(self.each(X, n_threads), weights, intercept)

    def total(self, X: Any, weights: Floats, intercept: Floats, n_threads: int = 1) -> Floats:
        """Add weight times output to the intercept, in the order of the members."""
        *_, last = self.running(X, weights, intercept, n_threads)
        return last


def running_totals(each: Iterable[Floats], weights: Floats, intercept: Floats) -> Iterator[Floats]:
    """Yield the weighted sum after 1, 2, .. members; all are one array, which grows in place."""
    total: Floats | None = None
    for weight, outputs in zip(weights, each, strict=True):
        if total is None:
            total = np.array(np.broadcast_to(intercept, outputs.shape), dtype=np.float64)
        total += weight * outputs
        yield total


class Trees(Members):
    """Trees of the engine: a forest, and the schema by which it reads rows.

    Wherever rows are asked for, an ``_engine.Table`` that was read before will do, too.

    Parameters
    ----------
    forest : _engine.Forest
        The trees.
    schema : Schema
        What :func:`committee.data.read_fit` returned with the training rows.
    """

    def __init__(self, forest: _engine.Forest, schema: Schema) -> None:
        if forest.n_features != schema.n_features:
            found = f"the trees have {forest.n_features} features, the schema {schema.n_features}"
            raise InputError(describe("M-TREE", "schema", found, fix="fit the model again"))
        self.forest = forest
        self.schema = schema

    def __len__(self) -> int:
        return self.forest.n_trees

    @overload
    def __getitem__(self, index: int) -> Member: ...
    @overload
    def __getitem__(self, index: slice) -> Trees: ...
    def __getitem__(self, index: int | slice) -> Member | Trees:
        chosen = range(len(self))[index]
        if isinstance(chosen, int):
            return TreeMember(self.forest.slice(chosen, chosen + 1), self.schema)
        if chosen.step == 1 or not chosen:
            begin = chosen.start if chosen else 0
            return Trees(self.forest.slice(begin, begin + len(chosen)), self.schema)
        single = [self.forest.slice(tree, tree + 1) for tree in chosen]
        return Trees(_engine.Forest.concatenate(single), self.schema)

    def joined(self, others: Sequence[Members]) -> Trees | None:
        """Put other trees behind these, where they read rows alike."""
        trees = [part for part in others if isinstance(part, Trees) and type(part) is type(self)]
        if len(trees) < len(others) or any(t.schema is not self.schema for t in trees):
            return None
        forests = [self.forest, *(part.forest for part in trees)]
        return Trees(_engine.Forest.concatenate(forests), self.schema)

    def each(self, X: Any, n_threads: int = 1) -> Iterator[Floats]:
        """Yield the outputs of one tree after the other."""
        table = read_by(self.schema, X)
        for begin in range(0, len(self), BLOCK):
            block = self.forest.slice(begin, min(begin + BLOCK, len(self)))
            yield from block.predict_members(table, n_threads)

    def outputs(self, X: Any, n_threads: int = 1) -> Floats:
        """Give the outputs of all trees: [member, row, output]."""
        return self.forest.predict_members(read_by(self.schema, X), n_threads)

    def total(self, X: Any, weights: Floats, intercept: Floats, n_threads: int = 1) -> Floats:
        """Add weight times output to the intercept, in the order of the trees."""
        start = np.ascontiguousarray(np.broadcast_to(intercept, self.forest.n_outputs))
        return self.forest.predict(read_by(self.schema, X), weights, start, n_threads)


@dataclass(frozen=True, eq=False)
class TreeMember:
    """One tree of the engine: a forest of one, and the schema by which it reads rows."""

    forest: _engine.Forest
    schema: Schema

    def outputs(self, X: Any) -> Floats:
        """Give the value of the leaf of each row."""
        outputs: Floats = self.forest.predict_members(read_by(self.schema, X))[0]
        return outputs


def read_by(schema: Schema, X: Any) -> _engine.Table:
    """Read rows to predict, unless that was done before."""
    return X if isinstance(X, _engine.Table) else engine_table(read_predict(X, schema))


def join(parts: Sequence[Members]) -> Members:
    """Put sequences of members end to end; trees that read rows alike stay in the engine."""
    if len(parts) == 1:
        return parts[0]
    whole = parts[0].joined(parts[1:])
    return Members(chain.from_iterable(parts)) if whole is None else whole


@dataclass(frozen=True, eq=False)
class ClassifierMember:
    """A fitted scikit-learn classifier as a member.

    Attributes
    ----------
    estimator : object
        The classifier; it may know fewer classes than the committee.
    classes : ndarray
        All classes of the committee, sorted: one output each, and 0 where the estimator has not
        seen the class.
    votes : bool
        Whether the member gives one vote to the class it predicts (a hard vote) even where it has
        probabilities. Without ``predict_proba`` it always does.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> import numpy as np
    >>> estimator = DummyClassifier().fit([[0], [1], [2], [3]], ["b", "b", "b", "c"])
    >>> ClassifierMember(estimator, np.array(["a", "b", "c"])).outputs([[5]])
    array([[0.  , 0.75, 0.25]])
    >>> ClassifierMember(estimator, np.array(["a", "b", "c"]), votes=True).outputs([[5]])
    array([[0., 1., 0.]])
    """

    estimator: Any
    classes: npt.NDArray[Any]
    votes: bool = False

    def outputs(self, X: Any) -> Floats:
        """Give the probability of, or the vote for, each class of the committee."""
        if self.votes or not hasattr(self.estimator, "predict_proba"):
            codes = self._positions(np.asarray(self.estimator.predict(X)))
            return np.eye(len(self.classes))[codes]
        shares = np.asarray(self.estimator.predict_proba(X))
        aligned = np.zeros((len(shares), len(self.classes)))
        aligned[:, self._positions(np.asarray(self.estimator.classes_))] = shares
        return aligned

    def _positions(self, labels: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        positions = np.searchsorted(self.classes, labels)
        known = self.classes[np.minimum(positions, len(self.classes) - 1)] == labels
        if not known.all():
            strange = np.unique(labels[~known]).tolist()
            found = f"{type(self.estimator).__name__} gives labels that no class has: "
            allowed = listing(self.classes.tolist())
            raise InputError(
                describe("M-CLASSES", "estimator", found + listing(strange), allowed=allowed)
            )
        return positions


@dataclass(frozen=True, eq=False)
class RegressorMember:
    """A fitted scikit-learn regressor as a member: one output per target.

    Attributes
    ----------
    estimator : object
        The regressor.
    """

    estimator: Any

    def outputs(self, X: Any) -> Floats:
        """Give the predicted numbers."""
        numbers = np.asarray(self.estimator.predict(X), dtype=np.float64)
        return numbers[:, None] if numbers.ndim == 1 else numbers
