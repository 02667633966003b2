"""What a booster is given, read once: binned rows, targets, weights, scores; and one round on them.

A round is three steps: the derivatives of the loss at the scores so far, a tree for each output
that fits them by Newton's step -G / (H + lambda), and scores moved by its leaves (Friedman 2001;
Chen and Guestrin 2016). Stock losses take all three inside the engine, many rounds in one call;
losses of the user's, and leaves that are renewed, come through here. Both give the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from committee import _engine
from committee.core.members import Floats
from committee.data import Schema
from committee.data.rows import Rows
from committee.losses.answers import checked_constant, checked_gradients
from committee.losses.loss import Loss
from committee.losses.native import native_loss

Float32s = npt.NDArray[np.float32]


@dataclass(eq=False)
class BoostingTask:
    """The training rows of a booster, and where its scores are.

    Attributes
    ----------
    table : _engine.Table
        The rows as they are.
    schema : Schema
        By which they were read.
    rows : Rows
        The rows, binned.
    y : ndarray of float64
        Numbers, or class codes.
    weight : ndarray of float64 or None
        Weights of the rows.
    loss : Loss
        What is minimised.
    params : _engine.TreeParams
        Of every tree; the seed is that of all rounds.
    learning_rate : float
        What a tree weighs.
    subsample : float
        The share of the rows that a round sees.
    row_key : ndarray of uint64 or None
        What sampling is drawn by: the content of each row.
    n_threads : int
        Threads that the fit may use.
    raw : ndarray of float64, shape (n_outputs, n_rows)
        The scores; they are moved round by round.
    """

    table: _engine.Table
    schema: Schema
    rows: Rows
    y: Floats
    weight: Floats | None
    loss: Loss
    params: _engine.TreeParams
    learning_rate: float
    subsample: float
    row_key: npt.NDArray[np.uint64] | None
    n_threads: int
    raw: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.native = native_loss(self.loss)

    def begin(self, scores: Floats) -> None:
        """Set the scores, given by row: (n_rows, n_outputs)."""
        self.raw = np.ascontiguousarray(scores.T)

    def boost(self, first: int, n_rounds: int) -> list[_engine.Forest]:
        """Make rounds, one forest for each output, and move the scores."""
        if self.native is not None and not self.loss.renews_leaves:
            return self._boost_natively(first, n_rounds)
        made = [self._round(first + k) for k in range(n_rounds)]
        return [_engine.Forest.concatenate(list(trees)) for trees in zip(*made, strict=True)]

    def _boost_natively(self, first: int, n_rounds: int) -> list[_engine.Forest]:
        assert self.native is not None
        return _engine.boost(
            self.rows.matrix,
            self.rows.mapper,
            self.native,
            self.y,
            self.weight,
            self.row_key,
            self.raw,
            self.params,
            self.learning_rate,
            self.subsample,
            first,
            n_rounds,
            self.n_threads,
        )

    def _round(self, number: int) -> list[_engine.Forest]:
        """Make the trees of one round."""
        drawn = None
        if self.subsample < 1:
            assert self.row_key is not None
            seed = self.params.seed
            drawn = _engine.rows_of_round(seed, number, self.row_key, self.subsample)
        slopes = self._slopes(number)
        trees = []
        for output, (gradient, hessian) in enumerate(slopes):
            stats = _engine.Stats.gradients(gradient, hessian, drawn, self.n_threads)
            seed, self.params.seed = (
                self.params.seed,
                _engine.tree_seed(self.params.seed, number, output),
            )
            tree, leaf = _engine.grow_tree_with_leaves(
                self.rows.matrix, self.rows.mapper, stats, self.params, self.n_threads
            )
            self.params.seed = seed
            if self.loss.renews_leaves:
                tree = self._renewed(tree, leaf, output, drawn, number)
            value = np.ascontiguousarray(tree.values[:, 0])
            _engine.add_leaves(leaf, value, self.learning_rate, self.raw[output], self.n_threads)
            trees.append(tree)
        return trees

    def _slopes(self, number: int) -> list[tuple[Float32s, Float32s | None]]:
        """Differentiate the loss at the scores: (gradient, hessian) of each output."""
        if self.native is not None:
            return [self._native_slope(output) for output in range(len(self.raw))]
        raw = self.raw[0] if len(self.raw) == 1 else np.ascontiguousarray(self.raw.T)
        both = checked_gradients(self.loss, self.y, raw, round_number=number)
        gradients, hessians = (np.atleast_2d(a.T) for a in both)
        ones = self.loss.constant_hessian and self.weight is None
        if self.weight is not None:
            gradients, hessians = gradients * self.weight, hessians * self.weight
        return [
            (
                np.ascontiguousarray(g, np.float32),
                None if ones else np.ascontiguousarray(h, np.float32),
            )
            for g, h in zip(gradients, hessians, strict=True)
        ]

    def _native_slope(self, output: int) -> tuple[Float32s, Float32s | None]:
        assert self.native is not None
        n_rows = len(self.y)
        gradient = np.empty(n_rows, np.float32)
        ones = self.native.has_unit_hessian and self.weight is None
        hessian = None if ones else np.empty(n_rows, np.float32)
        _engine.gradients(
            self.native, self.y, self.raw, output, self.weight, gradient, hessian, self.n_threads
        )
        return gradient, hessian

    def _renewed(
        self,
        tree: _engine.Forest,
        leaf: npt.NDArray[np.uint32],
        output: int,
        drawn: npt.NDArray[np.uint32] | None,
        number: int,
    ) -> _engine.Forest:
        """Give each leaf the best constant for the residuals of its rows."""
        rows = np.arange(len(leaf), dtype=np.uint32) if drawn is None else drawn
        order = rows[np.argsort(leaf[rows], kind="stable")]
        leaves, begin = np.unique(leaf[order], return_index=True)
        residual = self.y - self.raw[output]
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        values = np.array(tree.values)
        for node, here in zip(leaves, np.split(order, begin[1:]), strict=True):
            values[node, 0] = checked_constant(
                self.loss, residual[here], weight[here], output=output, round_number=number
            )
        return tree.revalued(values)
