"""The gradient booster: loss, trees and the additive model of both, as an estimator.

F(x) = b + eta * sum of trees: b is the best constant, each tree a Newton step of the loss in the
space of functions (Friedman 2001). What a round does stands in task.py, when to stop in
stopping.py, how rounds become a committee in :func:`committee.core.rounds.assemble`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import GroupShuffleSplit, train_test_split
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.core.committee import Committee
from committee.core.members import Floats
from committee.core.params import check_params, choice, integer, real, resolve_seed
from committee.core.rounds import Round, assemble
from committee.core.stages import Stages
from committee.core.watching import CallbackSupport, Watch
from committee.data import InputError, read_fit, read_predict, read_weights
from committee.data.errors import describe, warn
from committee.data.rows import Rows, engine_table
from committee.learners.estimators import EngineEstimator
from committee.learners.gradient_boosting.explaining import ExplainedTrees
from committee.learners.gradient_boosting.growth import (
    GROWTH_CONSTRAINTS,
    growth_params,
    scaled_weights,
)
from committee.learners.gradient_boosting.stopping import HELD_OUT_LOSS, EarlyStop, HeldOut
from committee.learners.gradient_boosting.task import BoostingTask
from committee.losses.answers import checked_start
from committee.losses.loss import Loss

AUTO_STOP_ROWS = 10_000  # from which early_stopping="auto" stops early, as scikit-learn does
CALL_SECONDS = 0.05  # of one call into the engine, while somebody waits for rounds


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be learned: numbers or class codes, and what the estimator will remember."""

    y: Floats
    attributes: dict[str, Any]
    stratify: bool = False


class HeldOutArguments(NamedTuple):
    """What a user gives to stop by."""

    X: Any = None
    y: Any = None
    weight: Any = None
    groups: Any = None


@dataclass(frozen=True, eq=False)
class GivenRows:
    """Rows of the user, with targets and weights."""

    X: Any
    y: Floats
    weight: Floats | None
    queries: npt.NDArray[np.intp] | None = None

    def take(self, rows: npt.NDArray[np.intp]) -> GivenRows:
        """Take some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        queries = None if self.queries is None else self.queries[rows]
        return GivenRows(_safe_indexing(self.X, rows), self.y[rows], weight, queries)

    def split(
        self, rows: npt.NDArray[np.intp], fraction: int | float, stratify: bool, seed: int
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Part some of the rows at random: in all queries or none, and class by class."""
        if self.queries is not None:
            parting = GroupShuffleSplit(1, test_size=fraction, random_state=seed)
            kept, apart = next(parting.split(rows, groups=self.queries[rows]))
            return rows[kept], rows[apart]
        codes = self.y[rows] if stratify else None
        if codes is not None and np.unique(codes, return_counts=True)[1].min() < 2:
            codes = None  # a class of one row cannot be in both
        kept, apart = train_test_split(rows, test_size=fraction, stratify=codes, random_state=seed)
        return np.sort(kept), np.sort(apart)


class GradientBooster(CallbackSupport, ExplainedTrees):
    """What the gradient boosters share."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **EngineEstimator._parameter_constraints,
        **GROWTH_CONSTRAINTS,
        "n_estimators": [integer(1)],
        "learning_rate": [real(0, None, "neither")],
        "subsample": [real(0, 1, "right")],
        "early_stopping": ["boolean", choice("auto")],
        "validation_fraction": [integer(1), real(0, 1, "neither", no_int=True)],
        "n_iter_no_change": [integer(1)],
        "tol": [real(0, None, "left")],
        "warm_start": ["boolean"],
        "max_time": [real(0, None, "neither"), None],
        "verbose": ["verbose"],
    }
    _holder = "committee_"

    committee_: Committee
    loss_: Loss

    def _keep(self, given: dict[str, Any]) -> None:
        """Keep the arguments of the constructor under their names."""
        for name, value in given.items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    # --- what subclasses say ---

    def _read_target(self, y: Any, n_rows: int) -> Target:
        raise NotImplementedError

    def _read_weights(self, sample_weight: Any, target: Target) -> Floats | None:
        return read_weights(sample_weight, len(target.y))

    def _read_held_out(self, y: Any, n_rows: int, target: Target) -> Floats:
        raise NotImplementedError

    def _loss(self, target: Target, weight: Floats | None) -> Loss:
        raise NotImplementedError

    def _read_queries(self, groups: Any, n_rows: int) -> npt.NDArray[np.intp] | None:
        return None

    def _bound(self, loss: Loss, given: GivenRows) -> Loss:
        """Tell the loss of these rows what it must know beside scores and targets."""
        return loss

    # --- fitting ---

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, held: HeldOutArguments, groups: Any = None
    ) -> Self:
        check_params(self)
        warm = self.warm_start and hasattr(self, "committee_")
        table, schema = read_fit(
            X,
            categorical_features=self.categorical_features,
            estimator_name=type(self).__name__,
        )
        target = self._read_target(y, table.n_rows)
        weight = self._read_weights(sample_weight, target)
        loss = self._loss(target, weight)
        loss.check_target(target.y)
        seed = self.seed_ if warm else resolve_seed(self.random_state, type(self).__name__)
        given = GivenRows(X, target.y, weight, self._read_queries(groups, table.n_rows))
        learned, left = self._divide(given, target, held, seed)
        if learned.X is not X:
            table, schema = read_fit(
                learned.X,
                categorical_features=self.categorical_features,
                estimator_name=type(self).__name__,
            )
        task = self._task(table, schema, learned, self._bound(loss, learned), seed)
        begin = self._begin(schema, loss) if warm else None
        return self._boost(task, begin, left, target, X, y)

    def _divide(
        self, given: GivenRows, target: Target, held: HeldOutArguments, seed: int
    ) -> tuple[GivenRows, GivenRows | None]:
        """Part the rows to learn from and those to stop by; rows of weight 0 are neither."""
        rows = np.arange(len(given.y))
        if given.weight is not None and not given.weight.all():
            rows = np.flatnonzero(given.weight)
        if held.X is not None or held.y is not None:
            left: GivenRows | None = self._given_held_out(held, target)
        elif not self._stops_early(given, len(rows)):
            left = None
        else:
            fraction = self.validation_fraction
            rows, apart = given.split(rows, fraction, target.stratify, seed % 2**32)
            left = given.take(apart)
        return (given if len(rows) == len(given.y) else given.take(rows)), left

    def _given_held_out(self, held: HeldOutArguments, target: Target) -> GivenRows:
        X = held.X
        if X is None or held.y is None:
            found = f"{'X_val' if X is None else 'y_val'} is missing beside the other"
            raise InputError(describe("P-SPLIT", "X_val, y_val", found, fix="give both"))
        if self.early_stopping is False:
            found = "X_val is given, but early_stopping=False"
            fix = 'early_stopping=True, or "auto"'
            raise InputError(describe("P-SPLIT", "X_val", found, fix=fix))
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        return GivenRows(
            X,
            self._read_held_out(held.y, n_rows, target),
            read_weights(held.weight, n_rows),
            self._read_queries(held.groups, n_rows),
        )

    def _stops_early(self, given: GivenRows, n_rows: int) -> bool:
        one_query = given.queries is not None and not given.queries.any()
        if self.early_stopping == "auto":
            return bool(n_rows > AUTO_STOP_ROWS) and not one_query
        if self.early_stopping and one_query:
            found = "early_stopping=True holds out whole queries, and there is only one"
            fix = "groups, or X_val and y_val"
            raise InputError(describe("P-SPLIT", "groups", found, fix=fix))
        return bool(self.early_stopping)

    def _task(
        self, table: Any, schema: Any, given: GivenRows, loss: Loss, seed: int
    ) -> BoostingTask:
        n_threads = self._threads()
        weight, scale = scaled_weights(given.weight)
        rows = Rows.of(table, given.weight, max_bins=self.max_bins, n_threads=n_threads)
        rows.matrix.add_columns(n_threads)
        keys = None
        if self.subsample < 1:
            keys = _engine.row_keys(rows.matrix, given.y[:, None], n_threads)
        return BoostingTask(
            table=engine_table(table),
            schema=schema,
            rows=rows,
            y=np.ascontiguousarray(given.y, dtype=np.float64),
            weight=weight,
            loss=loss,
            params=growth_params(self, schema, seed, loss, weight, scale),
            learning_rate=float(self.learning_rate),
            subsample=float(self.subsample),
            row_key=keys,
            n_threads=n_threads,
        )

    def _begin(self, schema: Any, loss: Loss) -> Committee:
        """Hold a warm start against the rounds there are."""
        n = len(self.committee_)
        if schema.n_features != self.n_features_in_:
            found = f"{schema.n_features} features, {self.n_features_in_} in the fit before"
            raise InputError(describe("P-WARM", "X", found, fix="warm_start=False"))
        known = self.schema_.levels
        if {f: list(v) for f, v in schema.levels.items()} != {f: list(v) for f, v in known.items()}:
            found = "a categorical column has other levels than in the fit before"
            raise InputError(describe("P-WARM", "X", found, fix="warm_start=False"))
        if loss != self.loss_:
            found = f"{loss!r}, in the fit before {self.loss_!r}"
            raise InputError(describe("P-WARM", "loss", found, fix="warm_start=False"))
        if n > self.n_estimators:
            found = (
                f"n_estimators={self.n_estimators} must be larger or equal to the {n} rounds made "
                "before when warm_start==True"
            )
            raise InputError(describe("P-WARM", "n_estimators", found, fix="warm_start=False"))
        if n == self.n_estimators:
            found = "Warm-start fitting without increasing n_estimators does not fit new trees"
            warn(describe("P-WARM", "n_estimators", found))
        stages = self.committee_.members
        assert isinstance(stages, Stages)
        return Committee(
            Stages(stages.forests, schema), self.committee_.weights, self.committee_.intercept
        )

    def _boost(
        self,
        task: BoostingTask,
        begin: Committee | None,
        left: GivenRows | None,
        target: Target,
        X: Any,
        y: Any,
    ) -> Self:
        n_rows = len(task.y)
        if begin is None:
            ones = np.ones(n_rows) if task.weight is None else task.weight
            start = checked_start(task.loss, task.y, ones)
            task.begin(np.tile(start, (n_rows, 1)))
        else:
            start = begin.intercept
            task.begin(begin.decision(task.table, n_threads=task.n_threads))
        held_out = None if left is None else self._hold_out(left, task, begin, start)
        stop = None
        if held_out is not None:
            stop = EarlyStop(self.n_iter_no_change, self.tol)
            stop.hear(held_out.mean_loss(0))
        first = 0 if begin is None else len(begin)

        def attributes(committee: Committee) -> dict[str, Any]:
            return self._attributes(task, target, committee, stop)

        with Watch(self, self.n_estimators - first, X=X, y=y, attributes=attributes) as watch:
            committee = assemble(
                self._rounds(task, first, held_out, begin),
                limit=self.n_estimators,
                stop=stop,
                watch=watch,
                intercept=start,
                begin=begin,
                max_time=self.max_time,
            )
            if stop is not None:
                committee = committee[: max(1, first + stop.best)]
            fitted = attributes(committee)
            for stale in [name for name in vars(self) if name.endswith("_")]:
                delattr(self, stale)
            self.__dict__.update(fitted)
        return self

    def _hold_out(
        self, left: GivenRows, task: BoostingTask, begin: Committee | None, start: Floats
    ) -> HeldOut:
        name = type(self).__name__
        table = engine_table(read_predict(left.X, task.schema, estimator_name=name))
        raw = np.tile(start, (len(left.y), 1))
        if begin is not None:
            raw = begin.decision(table, n_threads=task.n_threads)
        weight = np.ones(len(left.y)) if left.weight is None else left.weight
        loss = self._bound(task.loss, left)
        return HeldOut(table, np.ascontiguousarray(left.y, np.float64), weight, raw, loss)

    def _rounds(
        self, task: BoostingTask, first: int, held_out: HeldOut | None, begin: Committee | None
    ) -> Iterator[Round]:
        """Make rounds: all in one call, or few at a time where somebody looks at them."""
        before = np.empty(0) if begin is None else begin.weights  # by the rate of their own fit
        watched = bool(getattr(self, "_skl_callbacks", ())) or self.verbose > 0
        alone = held_out is None and not watched and self.max_time is None
        size = self.n_estimators - first if alone else 1
        while first < self.n_estimators:
            begun = time.perf_counter()
            size = min(size, self.n_estimators - first)
            stages = Stages(task.boost(first, size), task.schema)
            spent = time.perf_counter() - begun
            for k in range(1 if alone else size):
                made = stages if alone else stages[k : k + 1]
                first += len(made)
                yield Round(
                    made,
                    np.append(before, np.full(first - len(before), task.learning_rate)),
                    self._facts(task, made, first, held_out),
                )
            if not watched and spent * 2 < CALL_SECONDS:
                size = min(2 * size, self.n_iter_no_change)

    def _facts(
        self, task: BoostingTask, made: Stages, number: int, held_out: HeldOut | None
    ) -> dict[str, float]:
        facts = {}
        if held_out is not None:
            held_out.advance(made, task.learning_rate, task.n_threads)
            facts[HELD_OUT_LOSS] = held_out.mean_loss(number)
        if self.verbose > 0:
            shown = "".join(f", {name} {value:.6g}" for name, value in facts.items())
            print(f"[{type(self).__name__}] round {number} of {self.n_estimators}{shown}")
        return facts

    def _attributes(
        self, task: BoostingTask, target: Target, committee: Committee, stop: EarlyStop | None
    ) -> dict[str, Any]:
        """Collect what a booster of these rounds remembers."""
        blank = object.__new__(type(self))
        blank._set_schema(task.schema)
        told = vars(blank) | target.attributes
        told |= {
            "committee_": committee,
            "loss_": task.loss,
            "seed_": task.params.seed,
            "n_estimators_": len(committee),
        }
        if stop is not None:
            told["held_out_loss_"] = np.array(stop.losses)
        return told

    # --- asking ---

    def _native(self) -> _engine.Forest:
        return self._forests()[0]

    def _ask(self, rows: _engine.Table, n_threads: int) -> Floats:
        return self.committee_.decision(rows, n_threads=n_threads)

    def _staged_raw(self, X: Any) -> Iterator[Floats]:
        check_is_fitted(self)
        yield from self.committee_.staged(self._read(X), n_threads=self._threads())
