"""Which rows are learned from, and which are held out: to stop by, and to vouch for intervals."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from committee.core.members import Floats
from committee.data import InputError, read_weights
from committee.data.errors import about, describe
from committee.learners.gradient_boosting.base_margin import read_margin
from committee.learners.gradient_boosting.given import GivenRows, HeldOutArguments, Target
from committee.learners.gradient_boosting.targets import (
    OTHER_SPLIT,
    check_held_out_target,
    check_target,
)
from committee.losses.loss import Loss

AUTO_STOP_ROWS = 10_000  # from which early_stopping="auto" stops early, as scikit-learn does


class Parts(NamedTuple):
    """Rows to learn from, rows to stop by, and rows to calibrate intervals."""

    learned: GivenRows
    left: GivenRows | None
    calibration: GivenRows | None
    share: int | float | None = None  # of the training rows that are left, as it was asked for


def _refuse_alone(held: HeldOutArguments, weight_name: str) -> None:
    """Refuse what belongs to rows to stop by, where there are none."""
    alone = {
        weight_name: held.weight,
        "groups_val": held.groups,
        "base_margin_val": held.margin,
    }
    for name, value in alone.items():
        if value is not None:
            found = "given without X_val"
            raise InputError(describe("P-SPLIT", name, found, fix="give X_val, y_val"))


def _weight_name(given: GivenRows) -> str:
    return "sample_weight_val" if given.queries is None else "query_weight_val"


def _check_rest(loss: Loss, learned: GivenRows) -> None:
    """Refuse a split that leaves nothing to learn from, such as no event."""
    with about(f"what early stopping leaves to learn from; {OTHER_SPLIT}"):
        check_target(loss, learned.y, learned.weight)


class RowDivision:
    """Mixin of boosters: parts the rows of a fit."""

    early_stopping: bool | str | None
    validation_fraction: int | float
    validation_split_: int | float | None

    def _read_held_out(self, y: Any, n_rows: int, target: Target, name: str = "y_val") -> Floats:
        raise NotImplementedError

    def _read_queries(self, groups: Any, n_rows: int) -> Any:
        return None

    def _divide(
        self, given: GivenRows, target: Target, held: HeldOutArguments, seed: int, loss: Loss
    ) -> Parts:
        """Part the rows by what they are for; rows of weight 0 are for nothing."""
        rows = np.arange(len(given.y))
        if given.weight is not None and not given.weight.all():
            rows = np.flatnonzero(given.weight)
        rows, calibration = self._calibration_rows(given, rows, seed)
        left, share = None, None
        if held.X is not None or held.y is not None:
            left = self._given_held_out(given, held, target, loss.n_outputs)
        else:
            _refuse_alone(held, _weight_name(given))
            if self._stops_early(given, len(rows)):
                share = self.validation_fraction
                rows, apart = self._split(given, rows, share, target.stratify, seed)
                left = given.take(apart)
        learned = given if len(rows) == len(given.y) else given.take(rows)
        if left is not None:
            check_held_out_target(loss, left.y, left.weight, given=share is None)
        if share is not None:
            _check_rest(loss, learned)
        return Parts(learned, left, calibration, share)

    def _split(
        self,
        given: GivenRows,
        rows: npt.NDArray[np.intp],
        share: int | float,
        stratify: bool,
        seed: int,
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Hold training rows out to stop by: in a warm start those that were held out before."""
        warm = bool(getattr(self, "warm_start", False)) and hasattr(self, "committee_")
        if warm and getattr(self, "validation_split_", None) != share:
            found = "early stopping would hold out rows that the rounds before have learned from"
            fix = "early_stopping and validation_fraction as in the first fit, X_val, or"
            raise InputError(
                describe("P-WARM", "early_stopping", found, fix=f"{fix} warm_start=False")
            )
        queries = given.queries
        n = len(rows) if queries is None else len(np.unique(queries[rows]))
        wanted = share if isinstance(share, int) else math.ceil(share * n)
        if wanted >= n:
            unit = "row(s)" if queries is None else "queries"
            found = f"{wanted} of {n} {unit} would be held out, and none be left"
            fix = "a smaller validation_fraction, more rows, or X_val"
            raise InputError(describe("P-SPLIT", "validation_fraction", found, fix=fix))
        return given.split(rows, share, stratify, seed % 2**32)

    def _calibration_share(self) -> int | float | None:
        """Tell how many rows are held out for intervals, as a number or a share."""
        return None

    def _calibration_rows(
        self, given: GivenRows, rows: npt.NDArray[np.intp], seed: int
    ) -> tuple[npt.NDArray[np.intp], GivenRows | None]:
        """Hold rows out for intervals: before, and so never, those to stop by."""
        share = self._calibration_share()
        if share is None:
            return rows, None
        wanted = share if isinstance(share, int) else math.ceil(share * len(rows))
        if wanted >= len(rows):
            found = f"{wanted} of {len(rows)} row(s) would be held out, and none be left"
            fix = "a smaller calibration_fraction, or more rows"
            raise InputError(describe("P-SPLIT", "calibration_fraction", found, fix=fix))
        rows, apart = given.split(rows, share, False, (seed + 1) % 2**32)
        return rows, given.take(apart)

    def _given_held_out(
        self, given: GivenRows, held: HeldOutArguments, target: Target, n_outputs: int
    ) -> GivenRows:
        X = held.X
        if X is None or held.y is None:
            found = f"{'X_val' if X is None else 'y_val'} is missing beside the other"
            raise InputError(describe("P-SPLIT", "X_val, y_val", found, fix="give both"))
        if self.early_stopping is False:
            found = "X_val is given, but early_stopping=False"
            fix = "early_stopping=True or None"
            raise InputError(describe("P-SPLIT", "X_val", found, fix=fix))
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows == 0:
            raise InputError(describe("P-SPLIT", "X_val", "it has no rows", fix="leave it out"))
        if held.groups is None and given.queries is not None and given.queries.any():
            found = "groups are given, and groups_val are not: X_val would be one query"
            raise InputError(describe("P-SPLIT", "groups_val", found, fix="give both"))
        margin = None
        if (held.margin is None) != (given.margin is None):
            missing = "base_margin_val" if held.margin is None else "base_margin"
            found = "one of base_margin and base_margin_val is given, and the other is not"
            raise InputError(describe("P-MARGIN", missing, found, fix="give both, or neither"))
        if held.margin is not None:
            margin = read_margin(held.margin, n_rows, n_outputs, "base_margin_val")
        with about("y_val"):
            y = self._read_held_out(held.y, n_rows, target)
        with about(_weight_name(given)):
            weight = read_weights(held.weight, n_rows)
        with about("groups_val"):
            queries = self._read_queries(held.groups, n_rows)
        return GivenRows(X, y, weight, queries, margin)

    def _stops_early(self, given: GivenRows, n_rows: int) -> bool:
        one_query = given.queries is not None and not given.queries.any()
        if self.early_stopping == "oob":
            return False
        if self.early_stopping == "auto":
            return bool(n_rows > AUTO_STOP_ROWS) and not one_query
        if self.early_stopping and one_query:
            found = "early_stopping=True holds out whole queries, and there is only one"
            fix = "groups, or X_val and y_val"
            raise InputError(describe("P-SPLIT", "groups", found, fix=fix))
        return bool(self.early_stopping)
