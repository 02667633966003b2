"""Prediction intervals as a method of regressors, and what fit keeps for them.

Nothing is kept unless the parameter ``intervals`` asks for it. What is kept are residuals, targets
and the places of rows in leaves, never the rows.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.core.bags import LeftOut
from committee.core.intervals import Bools, Floats, Ints, Jackknife, QuantileLeaves, endless
from committee.core.outofbag import OutOfBag
from committee.core.params import choice, invalid, real
from committee.data import InputError
from committee.data.errors import describe, warn

Kept: TypeAlias = Jackknife | QuantileLeaves

INTERVAL_CONSTRAINTS = [choice("jackknife", "quantile"), None]
ROWS_AT_ONCE = 4096  # rows whose member outputs are held at a time
TREES_AT_ONCE = 16


class IntervalMethods:
    """Mixin of committees of regressors: ``predict_interval``."""

    intervals: str | None
    intervals_: Kept

    def _interval_rows(self, X: Any) -> Any:
        """Read rows to predict as something that can be cut by rows and has a shape."""
        raise NotImplementedError

    def _interval_outputs(self, rows: Any) -> Floats:
        """Give what each member says: [member, row, output]."""
        raise NotImplementedError

    def _interval_leaves(self, rows: Any) -> Ints:
        """Give the leaf of each row in each tree, (n_rows, n_members)."""
        raise NotImplementedError

    def predict_interval(self, X: Any, alpha: float = 0.1, method: str | None = None) -> Floats:
        """Predict bounds between which the target lies with probability ``1 - alpha``.

        The promise is about the mean over all rows from where the training rows came, not about
        each single one. It is what is measured (``benchmarks/coverage.py``); what is proven for
        "jackknife" is ``1 - 2 * alpha``.

        Widths of "jackknife" follow the residuals of all training rows and adapt little to x; those
        of "quantile" follow the targets of the neighbours of x, and adapt where the noise differs.
        At most 2000 training rows ("quantile": 10000) calibrate, chosen by their content.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        alpha : float in (0, 1), default=0.1
            The share of targets that may fall outside.
        method : {"jackknife", "quantile"} or None, default=None
            Must be what the parameter ``intervals`` was at fit; None is just that.

        Returns
        -------
        ndarray of shape (n_samples, 2), or (n_samples, n_outputs, 2)
            Lower and upper bounds; infinite, with a warning, where too few rows were left out for
            so small an ``alpha``.
        """
        check_is_fitted(self)
        if not real(0, 1, "neither").is_satisfied_by(alpha):
            raise invalid("alpha", "predict_interval", "a float in the range (0, 1)", alpha)
        kept = self._kept(method)
        if endless(kept.n_rows, alpha):
            least = math.ceil(1 / alpha - 1)
            found = f"{kept.n_rows} left-out rows cannot vouch for a coverage of {1 - alpha:.4g}"
            allowed = f"at least {least} rows that some member left out"
            warn(describe("P-COVERAGE", "alpha", f"{found}; bounds are infinite", allowed=allowed))
        rows = self._interval_rows(X)
        parts = []
        for begin in range(0, max(rows.shape[0], 1), ROWS_AT_ONCE):
            part = rows[begin : begin + ROWS_AT_ONCE]
            if isinstance(kept, Jackknife):
                parts.append(kept.bounds(self._interval_outputs(part), float(alpha)))
            else:
                parts.append(kept.bounds(self._interval_leaves(part), float(alpha)))
        bounds = np.concatenate(parts)
        return bounds[:, 0] if bounds.shape[1] == 1 else bounds

    def _kept(self, method: str | None) -> Kept:
        kept: Kept | None = getattr(self, "intervals_", None)
        known = {Jackknife: "jackknife", QuantileLeaves: "quantile"}.get(type(kept))
        if kept is not None and method in (None, known):
            return kept
        wanted = method or "jackknife"
        if wanted not in ("jackknife", "quantile"):
            allowed = "'jackknife', 'quantile' or None"
            raise invalid("method", "predict_interval", allowed, method)
        what = "nothing" if known is None else f"what {known!r} needs"
        found = f"fit kept {what}, predict_interval asks for {wanted!r}"
        fix = f"set intervals={wanted!r} and fit again"
        raise InputError(describe("P-INTERVALS", "intervals", found, fix=fix))


def keep_jackknife(
    y: Floats,
    found: OutOfBag,
    left_out: LeftOut,
    keys: npt.NDArray[np.uint64],
    exact: bool = True,
) -> Jackknife:
    """Keep what jackknife+-after-bootstrap needs."""
    counts = found.counts.astype(np.int64)
    rows = partial(masks, left_out)
    return Jackknife.of(y, found.means, rows, counts, keys, exact=exact)


def keep_quantiles(
    y: Floats,
    forest: _engine.Forest,
    table: _engine.Table,
    bags: _engine.Bags,
    left_out: LeftOut,
    keys: npt.NDArray[np.uint64],
    n_threads: int = 1,
) -> QuantileLeaves:
    """Keep what quantile leaves need: about 5 bytes for each training row and tree."""
    if y.shape[1] != 1:
        found = f"intervals='quantile' with {y.shape[1]} targets"
        fix = "intervals='jackknife', or one model for each target"
        raise InputError(describe("P-INTERVALS", "intervals", found, allowed="one target", fix=fix))
    block = np.empty((0, 0), dtype=np.uint32)

    def leaves(member: int) -> Ints:
        nonlocal block
        if member % TREES_AT_ONCE == 0:
            end = min(member + TREES_AT_ONCE, forest.n_trees)
            block = forest.slice(member, end).apply(table, n_threads)
        return block[:, member % TREES_AT_ONCE].astype(np.int64)

    n_nodes = np.diff(forest.tree_begin.astype(np.int64)).tolist()
    return QuantileLeaves.of(
        y[:, 0],
        leaves,
        bags.weights,
        n_nodes,
        lambda rows: masks(left_out, rows),
        left_out.counts(),
        keys,
    )


def masks(left_out: LeftOut, rows: Ints) -> Bools:
    """Mark which members left some rows out, (n_rows, n_members)."""
    bits = left_out.bitmap[:, rows // 8] >> (rows % 8).astype(np.uint8) & 1
    return np.ascontiguousarray(bits.T).astype(np.bool_)
