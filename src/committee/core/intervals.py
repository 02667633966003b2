"""Prediction intervals of regressors from rows that members left out; no training row is kept.

Jackknife+-after-bootstrap (Kim, Xu & Barber 2020): row i is predicted by the members that left it
out, so every training row gives an honest residual R_i and a committee mu_i without row i.
Quantile leaves (Meinshausen 2006): the training targets in the leaves that a row falls into are its
distribution. Its quantiles alone do not cover as promised; they are widened or narrowed by what
left-out rows show (conformal quantile regression, Romano, Patterson & Candès 2019, with
out-of-bag rows for calibration after Johansson, Boström, Löfström & Linusson 2014).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]

JACKKNIFE_ROWS = 2000  # calibrate; each costs every prediction a sum over members
QUANTILE_ROWS = 10000  # calibrate; they cost fit only, and 14 numbers each to keep
BLOCK = 256  # rows to predict at a time: with 2000 calibration rows 4 MB
FIXED_POINT = 36  # bits below the largest target that outputs are rounded to, see Jackknife
SURE_BITS = 44  # bits of an output that do not hang on the batch it is computed in
SHARE_UNIT = 2**30
LEVELS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)


def calibration_rows(n_left_out: Ints, keys: npt.NDArray[np.uint64], limit: int) -> Ints:
    """Choose the rows that calibrate: left out by some member; of many those with the least keys.

    Parameters
    ----------
    n_left_out : ndarray of shape (n_rows,)
        How many members left each row out.
    keys : ndarray of uint64, shape (n_rows,)
        Hashes of the rows, so that the choice does not depend on their order.
    limit : int
        The largest number of rows.

    Returns
    -------
    ndarray of int64
        The rows, ascending.
    """
    rows = np.flatnonzero(n_left_out > 0)
    if len(rows) > limit:
        rows = rows[np.argsort(keys[rows], kind="stable")[:limit]]
    return np.sort(rows)


def conformal_rank(n: int, alpha: float) -> int:
    """Give the rank of the residual that covers: the ``ceil((1 - alpha)(n + 1))``-th smallest."""
    return math.ceil((1 - alpha) * (n + 1) * (1 - 1e-12))


def exponent_of(numbers: Floats) -> int:
    """Find the power of two that bounds all numbers."""
    return math.frexp(float(np.abs(numbers).max(initial=0.0)) or 1.0)[1]


def unit_of(exponent: int) -> float:
    """Give a power of two, the smallest there is where it would vanish."""
    return math.ldexp(1.0, max(exponent, -1074))


def endless(n: int, alpha: float) -> bool:
    """Tell whether ``n`` rows are too few to vouch for the coverage; then bounds are infinite."""
    return conformal_rank(n, alpha) > n


@dataclass(frozen=True, eq=False)
class Jackknife:
    """What jackknife+-after-bootstrap needs of the training rows: who left them out, residuals.

    Outputs of members are rounded to fixed point before they are summed. Then sums are exact in
    any order, and the interval of a row is the same bits alone and in a batch. Of trees a second
    limb takes what the first leaves, so that neither an offset nor an outlier blurs the rest. Other
    members may answer otherwise in the last bits when asked about a batch; those are rounded off.

    Attributes
    ----------
    left_out : ndarray of bool, shape (n_rows, n_members)
        Which members left each calibration row out.
    residual : ndarray of float64, shape (n_rows, n_outputs)
        Absolute residuals of the out-of-bag prediction.
    step, fine : float
        The units of the limbs, powers of two; ``fine`` is 0 where there is one limb.
    centre : ndarray of float64, shape (n_outputs,)
        Outputs are taken from here.
    """

    left_out: Bools
    residual: Floats
    step: float
    fine: float
    centre: Floats

    @classmethod
    def of(
        cls,
        y: Floats,
        oob_prediction: Floats,
        left_out: Callable[[Ints], Bools],
        n_left_out: Ints,
        keys: npt.NDArray[np.uint64],
        limit: int = JACKKNIFE_ROWS,
        exact: bool = True,
    ) -> Jackknife:
        """Keep what is needed.

        Parameters
        ----------
        y, oob_prediction : ndarray of shape (n_rows, n_outputs)
            Targets, and means over the members that left the row out.
        left_out : callable
            From some rows to a mask (n_rows, n_members).
        n_left_out : ndarray of shape (n_rows,)
            How many members left each row out.
        keys : ndarray of uint64, shape (n_rows,)
            Hashes of the rows.
        limit : int
            The largest number of rows that calibrate.
        exact : bool
            Whether members answer alike, to the last bit, in any batch; trees do.
        """
        rows = calibration_rows(n_left_out, keys, limit)
        counted = y[n_left_out > 0]
        largest = exponent_of(counted)
        step, fine = unit_of(largest - FIXED_POINT), unit_of(largest - 2 * FIXED_POINT)
        centre = np.zeros(y.shape[1])
        if not exact and len(counted):
            centre = np.median(counted, axis=0)
            bits = max(exponent_of(counted - centre) - FIXED_POINT, largest - SURE_BITS)
            step, fine = unit_of(bits), 0.0
        residual = np.abs(y[rows] - oob_prediction[rows])
        return cls(left_out(rows), residual, step, fine, centre)

    @property
    def n_rows(self) -> int:
        """Rows that calibrate."""
        return len(self.residual)

    def bounds(self, outputs: Floats, alpha: float) -> Floats:
        """Bound the targets of new rows.

        Parameters
        ----------
        outputs : ndarray of shape (n_members, n_rows, n_outputs)
            What each member predicts.
        alpha : float
            The share of targets that may fall outside.

        Returns
        -------
        ndarray of shape (n_rows, n_outputs, 2)
            Lower and upper bounds.
        """
        _, n_rows, n_outputs = outputs.shape
        n = self.n_rows
        out = np.empty((n_rows, n_outputs, 2))
        if endless(n, alpha):
            out[...] = (-np.inf, np.inf)
            return out
        upper = conformal_rank(n, alpha) - 1
        lower = n - 1 - upper  # the floor(alpha (n + 1))-th smallest
        voters = self.left_out.T.astype(np.float64)
        n_voters = voters.sum(axis=0)
        for k in range(n_outputs):
            residual = self.residual[:, k]
            for begin in range(0, n_rows, BLOCK):
                block = slice(begin, begin + BLOCK)
                given = outputs[:, block, k].T - self.centre[k]
                whole = np.rint(given / self.step)
                total = (whole @ voters) * self.step
                if self.fine:
                    rest = np.rint((given - whole * self.step) / self.fine)
                    total += (rest @ voters) * self.fine
                without = self.centre[k] + total / n_voters
                out[block, k, 0] = np.partition(without - residual, lower, axis=1)[:, lower]
                out[block, k, 1] = np.partition(without + residual, upper, axis=1)[:, upper]
        return out


@dataclass(frozen=True, eq=False)
class QuantileLeaves:
    """The targets in every leaf of a committee of trees, and what left-out rows say about them.

    Attributes
    ----------
    targets : ndarray of float64
        The distinct training targets, ascending.
    shares : csr_array of int32, shape (n_nodes, n_targets)
        Per leaf of all trees the share of each target in the leaf's bag, in units of
        ``1 / SHARE_UNIT``: whole numbers, so that sums are exact in any order.
    node_begin : ndarray of int64, shape (n_members,)
        The first node of each tree.
    scores : ndarray of float64, shape (len(LEVELS), n_rows)
        Per level, ascending: how far left-out targets lie beyond their own quantiles.
    """

    targets: Floats
    shares: sparse.csr_array
    node_begin: Ints
    scores: Floats

    @classmethod
    def of(
        cls,
        y: Floats,
        leaves: Callable[[int], Ints],
        bag: Callable[[int], Floats],
        n_nodes: Sequence[int],
        left_out: Callable[[Ints], Bools],
        n_left_out: Ints,
        keys: npt.NDArray[np.uint64],
        limit: int = QUANTILE_ROWS,
    ) -> QuantileLeaves:
        """Collect the targets of the leaves and calibrate.

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
            Targets.
        leaves, bag : callable
            From a member to the leaf (inside its tree) and the weight of every training row.
        n_nodes : sequence of int
            The nodes of each tree.
        left_out : callable
            From some rows to a mask (n_rows, n_members).
        n_left_out : ndarray of shape (n_rows,)
            How many members left each row out.
        keys : ndarray of uint64, shape (n_rows,)
            Hashes of the rows.
        limit : int
            The largest number of rows that calibrate.
        """
        targets, rank = np.unique(y, return_inverse=True)
        rows = calibration_rows(n_left_out, keys, limit)
        members = range(len(n_nodes))
        of_rows = np.empty((len(rows), len(n_nodes)), dtype=np.int64)
        trees = []
        for member in members:
            leaf = leaves(member)
            trees.append(leaf_shares(leaf, rank, bag(member), (n_nodes[member], len(targets))))
            of_rows[:, member] = leaf[rows]
        begin = np.concatenate([[0], np.cumsum(n_nodes)[:-1]]).astype(np.int64)
        kept = cls(targets, sparse.vstack(trees, format="csr"), begin, np.empty((0, 0)))
        scores = kept._scores(of_rows, left_out(rows), y[rows])
        return cls(kept.targets, kept.shares, begin, scores)

    def _scores(self, leaves: Ints, left_out: Bools, y: Floats) -> Floats:
        scores = np.empty((len(LEVELS), len(y)))
        for begin in range(0, len(y), BLOCK):
            block = slice(begin, begin + BLOCK)
            spread = self._distribution(leaves[block], left_out[block])
            for score, level in zip(scores, LEVELS, strict=True):
                low, high = (self._quantile(spread, q) for q in (level, 1 - level))
                score[block] = np.maximum(low - y[block], y[block] - high)
        scores.sort(axis=1)
        return scores

    def _distribution(self, leaves: Ints, voting: Bools | None = None) -> sparse.csr_array:
        """Mix the leaves of each row into one distribution over the targets, not normalised."""
        n_rows, n_members = leaves.shape
        parts = self.shares[(leaves + self.node_begin).ravel()]
        data = parts.data.astype(np.int64)
        if voting is not None:
            data *= np.repeat(voting.ravel(), np.diff(parts.indptr))
        joined = (data, parts.indices, parts.indptr[::n_members])
        spread = sparse.csr_array(joined, shape=(n_rows, len(self.targets)))
        spread.sum_duplicates()
        return spread

    def _quantile(self, spread: sparse.csr_array, level: float) -> Floats:
        """Give a quantile of each row.

        A target stands for the values between the middles to its neighbours, evenly: with whole
        numbers as targets a quantile is finer than they are, and coverage can be met.
        All is counted in whole numbers from the start of a row, so that rows do not disturb each
        other although one running sum and one search serve them all.
        """
        first, last = spread.indptr[:-1], spread.indptr[1:] - 1
        sums = np.concatenate([[0], np.cumsum(spread.data)])
        start = sums[first]
        wanted = level * (sums[last + 1] - start)
        at = np.searchsorted(sums[1:], start + np.ceil(wanted).astype(np.int64))
        at = np.clip(at, first, last)
        part = (wanted - (sums[at] - start)) / (sums[at + 1] - sums[at])
        edges = np.concatenate([self.targets[:1], self.targets, self.targets[-1:]])
        middle = edges[:-1] + np.diff(edges) / 2
        low, high = middle[spread.indices[at]], middle[spread.indices[at] + 1]
        return np.asarray(low + np.clip(part, 0, 1) * (high - low))

    @property
    def n_rows(self) -> int:
        """Rows that calibrate."""
        return int(self.scores.shape[1])

    def bounds(self, leaves: Ints, alpha: float) -> Floats:
        """Bound the targets of new rows.

        Parameters
        ----------
        leaves : ndarray of shape (n_rows, n_members)
            The leaf of each row, numbered inside its tree.
        alpha : float
            The share of targets that may fall outside.

        Returns
        -------
        ndarray of shape (n_rows, 1, 2)
            Lower and upper bounds.
        """
        out = np.empty((len(leaves), 1, 2))
        n = self.n_rows
        if endless(n, alpha):
            out[...] = (-np.inf, np.inf)
            return out
        # Any level would cover, as the same one calibrates; a near one needs the least correction.
        nearest = int(np.argmin(np.abs(np.array(LEVELS) - alpha / 2)))
        widening = self.scores[nearest, conformal_rank(n, alpha) - 1]
        for begin in range(0, len(leaves), BLOCK):
            block = slice(begin, begin + BLOCK)
            spread = self._distribution(leaves[block])
            out[block, 0, 0] = self._quantile(spread, LEVELS[nearest]) - widening
            out[block, 0, 1] = self._quantile(spread, 1 - LEVELS[nearest]) + widening
        crossed = out[:, 0, 0] > out[:, 0, 1]  # narrowed to nothing
        out[crossed, 0, :] = out[crossed, 0, :].mean(axis=1, keepdims=True)
        return out


def leaf_shares(leaf: Ints, rank: Ints, bag: Floats, shape: tuple[int, int]) -> sparse.csr_array:
    """Share of each target in each leaf of one tree, in units of ``1 / SHARE_UNIT``."""
    seen = np.flatnonzero(bag > 0)
    leaf, rank, bag = leaf[seen], rank[seen], bag[seen]
    part = bag / np.bincount(leaf, weights=bag, minlength=shape[0])[leaf]
    shares = sparse.coo_array((part, (leaf, rank)), shape=shape).tocsr()
    shares.data = np.rint(shares.data * SHARE_UNIT).astype(np.int32)
    return shares
