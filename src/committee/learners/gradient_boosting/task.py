"""What a booster is given, read once: binned rows, targets, weights, scores; and one round on them.

A round is three steps: the derivatives of the loss at the scores so far, a tree for each output
that fits them by Newton's step -G / (H + lambda), and scores moved by its leaves (Friedman 2001;
Chen and Guestrin 2016). Stock losses take all three inside the engine, many rounds in one call;
losses of the user's, and rounds that leave earlier ones out (dart.py), come through here. Both
give the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from committee import _engine
from committee.core.members import Floats
from committee.core.stages import Forest, end_to_end
from committee.data import Schema
from committee.data.rows import Rows
from committee.learners.gradient_boosting.dart import Dart
from committee.learners.gradient_boosting.draw import RowDraw, Slope
from committee.learners.gradient_boosting.lending import below, lenders
from committee.learners.gradient_boosting.monotone import in_order
from committee.learners.gradient_boosting.targets import check_size
from committee.losses.answers import checked_constant, checked_gradients, is_stock
from committee.losses.columns import Columns
from committee.losses.loss import Loss
from committee.losses.native import native_columns, native_loss


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
    y : ndarray of float64, shape (n_rows,) or (n_rows, n_columns)
        Numbers, or class codes.
    weight : ndarray of float64 or None
        Weights of the rows.
    loss : Loss
        What is minimised.
    params : _engine.TreeParams
        Of every tree; the seed is that of all rounds.
    learning_rate : float
        What a tree weighs.
    draw : RowDraw
        Which rows a tree sees.
    n_threads : int
        Threads that the fit may use.
    width : int
        Trees of a round and output, whose mean counts.
    dart : Dart or None
        Which earlier rounds a round leaves out.
    slope_l2 : float or None
        Of linear leaves: the penalty on their slopes; None makes constant ones.
    vector_leaves : bool
        Whether one tree a round serves all outputs.
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
    draw: RowDraw
    n_threads: int
    width: int = 1
    dart: Dart | None = None
    slope_l2: float | None = None
    vector_leaves: bool = False
    raw: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.columns = native_columns(self.loss)
        self.native = self.columns[0] if self.columns else native_loss(self.loss)

    def begin(self, scores: Floats) -> None:
        """Set the scores, given by row: (n_rows, n_outputs)."""
        self.raw = np.ascontiguousarray(scores.T)

    def boost(self, first: int, n_rounds: int) -> list[Forest]:
        """Make rounds, one forest for each output or for all, and move the scores."""
        if self._all_native():
            return self._boost_natively(first, n_rounds)
        made = []
        for number in range(first, first + n_rounds):
            if self.dart is not None:
                self.dart.leave_out(number, self.raw)
            made.append(self._round(number))
        return [end_to_end(trees) for trees in zip(*made, strict=True)]

    def _all_native(self) -> bool:
        """Tell whether the engine knows all that a round needs."""
        apart = self.params.growth == _engine.Growth.symmetric or self.vector_leaves
        if self.native is None or self.dart is not None:
            return False
        return not (apart and self.loss.renews_leaves)

    def _boost_natively(self, first: int, n_rounds: int) -> list[Forest]:
        assert self.native is not None
        given = (
            self.rows.matrix,
            self.rows.mapper,
            self.native,
            np.ascontiguousarray(self.y.T).ravel(),
            self.weight,
            self.draw.row_key,
            self.raw,
            self.params,
            self.learning_rate,
            self.draw.share,
            first,
            n_rounds,
            self.n_threads,
            self.draw.gradient_based,
            self.width,
            self.columns,
        )
        if self.slope_l2 is None:
            return [*_engine.boost(*given, self.vector_leaves)]
        return [*_engine.boost_linear(*given, self.table, self.slope_l2)]

    def _round(self, number: int) -> list[Forest]:
        """Make the trees of one round, all from the same derivatives, and move the scores."""
        slopes = self._slopes(number)
        if self.vector_leaves:
            return [self._vector_tree(number, slopes)]
        self.draw.settle(slopes)
        return [
            end_to_end(self._trees(number, output, slope)) for output, slope in enumerate(slopes)
        ]

    def _vector_tree(self, number: int, slopes: list[Slope]) -> _engine.Forest:
        """Make the tree that all outputs share, and move their scores."""
        drawn = self.draw.rows(number)
        gradient = np.stack([g for g, _ in slopes])
        hessians = [h for _, h in slopes if h is not None]
        hessian = np.stack(hessians) if hessians else None
        stats = _engine.Stats.vector_gradients(gradient, hessian, drawn, self.n_threads)
        outputs = range(len(slopes))
        tree, leaf = self._grown(stats, number, outputs, drawn, number)
        for output in outputs:
            value = np.ascontiguousarray(tree.values[:, output])
            _engine.add_leaves(leaf, value, self.learning_rate, self.raw[output], self.n_threads)
        return tree

    def _trees(self, number: int, output: int, slope: Slope) -> list[Forest]:
        """Make the trees of one output; scores move when all have been made."""
        made = []
        for k in range(number * self.width, (number + 1) * self.width):
            drawn = self.draw.rows(k)
            weighed = self.draw.weighed(drawn, slope)
            stats = _engine.Stats.gradients(*weighed, drawn, self.n_threads)
            outputs = range(output, output + 1)
            made.append((*self._grown(stats, k, outputs, drawn, number), weighed, drawn))
        scale = self.learning_rate / self.width
        forests: list[Forest] = []
        for tree, leaf, weighed, drawn in made:
            if self.slope_l2 is not None:
                forests.append(self._linear(tree, leaf, weighed, output, drawn, scale))
                continue
            value = np.ascontiguousarray(tree.values[:, 0])
            _engine.add_leaves(leaf, value, scale, self.raw[output], self.n_threads)
            if self.dart is not None:
                self.dart.ledger.add(output, leaf, value)
            forests.append(tree)
        return forests

    def _grown(
        self,
        stats: _engine.Stats,
        number: int,
        outputs: range,
        drawn: npt.NDArray[np.uint32] | None,
        round_number: int,
    ) -> tuple[_engine.Forest, npt.NDArray[np.uint32]]:
        """Grow the ``number``-th tree, for some outputs; return it with the leaf of each row."""
        seed, bounds = self.params.seed, self.params.max_value
        self.params.seed = _engine.tree_seed(seed, number, outputs[0])
        self.params.max_value = [bounds[output] for output in outputs]
        tree, leaf = _engine.grow_tree_with_leaves(
            self.rows.matrix, self.rows.mapper, stats, self.params, self.n_threads
        )
        self.params.seed, self.params.max_value = seed, bounds
        if self.loss.renews_leaves:
            tree = self._renewed(tree, leaf, outputs, drawn, round_number)
        return tree, leaf

    def _slopes(self, number: int) -> list[Slope]:
        """Differentiate the loss at the scores: (gradient, hessian) of each output."""
        if self.native is not None:
            return [self._native_slope(output) for output in range(len(self.raw))]
        raw = self.raw[0] if len(self.raw) == 1 else np.ascontiguousarray(self.raw.T)
        both = checked_gradients(self.loss, self.y, raw, round_number=number)
        gradients, hessians = (np.atleast_2d(a.T) for a in both)
        if not is_stock(self.loss):  # of these the largest is sought: the smallest need not be
            check_size(self.loss, max(1.0, float(np.abs(gradients).max())), f"round {number}")
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

    def _native_slope(self, output: int) -> Slope:
        assert self.native is not None
        n_rows = len(self.y)
        gradient = np.empty(n_rows, np.float32)
        ones = self.native.has_unit_hessian and self.weight is None
        hessian = None if ones else np.empty(n_rows, np.float32)
        native, y, raw = self.native, self.y, self.raw
        if self.columns:
            native, y = self.columns[output], np.ascontiguousarray(y[:, output])
            raw, output = raw[output : output + 1], 0
        _engine.gradients(native, y, raw, output, self.weight, gradient, hessian, self.n_threads)
        return gradient, hessian

    def _linear(
        self,
        tree: _engine.Forest,
        leaf: npt.NDArray[np.uint32],
        slope: Slope,
        output: int,
        drawn: npt.NDArray[np.uint32] | None,
        scale: float,
    ) -> _engine.LinearForest:
        """Fit linear leaves, and move the scores by them."""
        assert self.slope_l2 is not None
        return _engine.fit_linear_leaves(
            tree,
            self.table,
            *slope,
            leaf,
            drawn,
            self.params.l2,
            self.slope_l2,
            self.params.max_value[output],
            scale,
            self.raw[output],
            self.n_threads,
        )

    def _renewed(
        self,
        tree: _engine.Forest,
        leaf: npt.NDArray[np.uint32],
        outputs: range,
        drawn: npt.NDArray[np.uint32] | None,
        number: int,
    ) -> _engine.Forest:
        """Give each leaf the best constants for the residuals of its rows."""
        rows = np.arange(len(leaf), dtype=np.uint32) if drawn is None else drawn
        order = rows[np.argsort(leaf[rows], kind="stable")]
        leaves, begin = np.unique(leaf[order], return_index=True)
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        weight = self.draw.counted(weight)
        values = np.array(tree.values)
        parts = np.split(order, begin[1:])
        for column, output in enumerate(outputs):
            if isinstance(self.loss, Columns) and not self.loss.parts[output].renews_leaves:
                continue  # a column whose loss keeps the Newton step
            y = self.y if self.y.ndim == 1 else self.y[:, output]
            constant = partial(self._constant, y - self.raw[output], weight, output, number)
            for node, here in zip(leaves, parts, strict=True):
                values[node, column] = constant(here)
            if self.params.growth == _engine.Growth.symmetric:
                lender = lenders(tree, self.params)[len(values) // 2 :]  # of the leaves, all last
                for node in np.unique(lender[lender < len(values) // 2]):
                    here = rows[below(leaf[rows], int(node))]
                    values[node, column] = constant(here)
                values[len(values) // 2 :] = values[lender]
            if self.params.monotone:
                rows_of = dict(zip(leaves, parts, strict=True))
                bounded = in_order(tree, self.params.monotone, rows_of, constant, values[:, column])
                values[:, column] = bounded
        most = [self.params.max_value[output] for output in outputs]
        return tree.revalued(np.clip(values, np.negative(most), most))

    def _constant(
        self,
        residual: Floats,
        weight: Floats,
        output: int,
        number: int,
        here: npt.NDArray[np.uint32],
    ) -> float:
        return checked_constant(
            self.loss, residual[here], weight[here], output=output, round_number=number
        )
