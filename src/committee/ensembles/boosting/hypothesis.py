"""Hypotheses: members fresh from the weak learner, which know what they said of the training rows.

A hypothesis speaks in the learner's terms, class shares or numbers. An algorithm reads them in
its own, as votes or as confidences, by a function of outputs (:meth:`through`); a tree applies it
to its leaves, so that the member that is seated in the committee speaks the algorithm's terms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from committee import _engine
from committee.core.members import Floats, Member, Members, TreeMember, Trees
from committee.data import Schema

Reading: TypeAlias = Callable[[Floats], Floats]
Nodes: TypeAlias = npt.NDArray[np.uint32]


class Hypothesis(Protocol):
    """A member, and what it says about the training rows."""

    @property
    def said(self) -> Floats:
        """Its outputs on the training rows, (n_rows, n_outputs)."""

    @property
    def cells(self) -> Nodes | None:
        """The cell of each training row where it parts the rows into cells, else None."""

    def outputs(self, X: Any) -> Floats:
        """Give its outputs on any rows."""

    def through(self, reading: Reading) -> Hypothesis:
        """Speak in other terms: ``reading`` maps outputs of rows to outputs of rows."""

    def valued(self, values: Floats) -> Hypothesis:
        """Say ``values[cell]`` in each cell from now on; only where there are cells."""

    def seat(self) -> Member | Members:
        """Give what joins the committee."""


@dataclass(frozen=True, eq=False)
class TreeHypothesis:
    """A tree of the engine and the leaf of each training row."""

    tree: _engine.Forest
    schema: Schema
    leaf: Nodes

    @cached_property
    def said(self) -> Floats:
        """The value of each row's leaf: no second walk down the tree."""
        values = self.tree.values
        if values.shape[1] == 1:
            return np.take(values[:, 0], self.leaf)[:, None]
        return np.take(values, self.leaf, axis=0)

    @property
    def cells(self) -> Nodes:
        """The leaf of each row."""
        return self.leaf

    def outputs(self, X: Any) -> Floats:
        """Walk down the tree."""
        return TreeMember(self.tree, self.schema).outputs(X)

    def through(self, reading: Reading) -> TreeHypothesis:
        """Change the values of the leaves."""
        return self.valued(reading(np.asarray(self.tree.values)))

    def valued(self, values: Floats) -> TreeHypothesis:
        """Give every leaf a new value; nodes after the last leaf of a row are never reached."""
        whole = np.zeros((self.tree.n_nodes, values.shape[1]))
        whole[: len(values)] = values
        return TreeHypothesis(self.tree.revalued(whole), self.schema, self.leaf)

    def seat(self) -> Trees:
        """Stay in the engine."""
        return Trees(self.tree, self.schema)


@dataclass(frozen=True, eq=False)
class ReadMember:
    """A member whose outputs are read in other terms."""

    member: Member
    reading: Reading

    def outputs(self, X: Any) -> Floats:
        """Ask, then read."""
        return self.reading(self.member.outputs(X))


@dataclass(frozen=True, eq=False)
class AnyHypothesis:
    """A member of any kind."""

    member: Member
    said: Floats
    cells: None = None

    def outputs(self, X: Any) -> Floats:
        """Ask the member."""
        return self.member.outputs(X)

    def through(self, reading: Reading) -> AnyHypothesis:
        """Read what it says, now and later."""
        return AnyHypothesis(ReadMember(self.member, reading), reading(self.said))

    def valued(self, values: Floats) -> AnyHypothesis:
        """Refuse: there are no cells."""
        raise TypeError("only a hypothesis with cells can be given values")

    def seat(self) -> Member:
        """Give the member."""
        return self.member


@dataclass(frozen=True, eq=False)
class SeatedHypothesis:
    """A member of a committee that is asked anew; it speaks the algorithm's terms already."""

    member: Member | Members
    said: Floats
    cells: None = None

    def outputs(self, X: Any) -> Floats:
        """Ask the member."""
        said = self.member.outputs(X)
        return np.asarray(said[0]) if isinstance(self.member, Members) else said

    def through(self, reading: Reading) -> SeatedHypothesis:
        """Stay: it was read before."""
        return self

    def valued(self, values: Floats) -> SeatedHypothesis:
        """Stay: it was given its values before."""
        return self

    def seat(self) -> Member | Members:
        """Keep the seat."""
        return self.member


def signs(shares: Floats) -> Floats:
    """Vote for one of two classes: -1 for the first, +1 for the second; ties go to the first."""
    return np.where(shares[:, 1:2] > shares[:, 0:1], 1.0, -1.0)


def votes(shares: Floats) -> Floats:
    """Vote for the class of the largest share, the first of equal ones: a 1 among zeros."""
    cast = np.zeros_like(shares)
    cast[np.arange(len(shares)), shares.argmax(axis=1)] = 1.0
    return cast
