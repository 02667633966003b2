"""The gradient booster: loss, trees and the additive model of both, as an estimator.

F(x) = b + eta * sum of trees: b is the best constant, each tree a Newton step of the loss in the
space of functions (Friedman 2001). What a round does stands in task.py, when to stop in
stopping.py, how rounds become a committee in :func:`committee.core.rounds.assemble`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.core.committee import Committee
from committee.core.fitted import replace_fitted
from committee.core.members import Floats
from committee.core.params import check_params, choice, integer, real, resolve_seed
from committee.core.rounds import Round, assemble
from committee.core.stages import Stages
from committee.core.watching import CallbackSupport, Watch
from committee.data import InputError, read_fit, read_predict, read_weights
from committee.data.errors import about, describe, warn
from committee.data.rows import Rows, engine_table
from committee.learners.estimators import EngineEstimator
from committee.learners.gradient_boosting.base_margin import first_scores, read_margin
from committee.learners.gradient_boosting.dart import dart_of
from committee.learners.gradient_boosting.dividing import Parts, RowDivision
from committee.learners.gradient_boosting.draw import RowDraw
from committee.learners.gradient_boosting.encoding import encode_rows, spread_params
from committee.learners.gradient_boosting.explaining import ExplainedTrees
from committee.learners.gradient_boosting.given import GivenRows, HeldOutArguments, Target
from committee.learners.gradient_boosting.growth import (
    GROWTH_CONSTRAINTS,
    growth_params,
    scaled_weights,
)
from committee.learners.gradient_boosting.ledger import ScoreLedger
from committee.learners.gradient_boosting.linear import (
    check_linear_leaves,
    check_linear_warm_start,
)
from committee.learners.gradient_boosting.memory import check_memory
from committee.learners.gradient_boosting.out_of_bag import UnseenRows, check_out_of_bag
from committee.learners.gradient_boosting.stopping import EarlyStop, HeldOut, Judge
from committee.learners.gradient_boosting.targets import check_scale, check_target
from committee.learners.gradient_boosting.task import BoostingTask
from committee.learners.gradient_boosting.vector_leaves import check_same_strategy, shares_trees
from committee.losses.answers import checked_start
from committee.losses.loss import Loss

FEW_CELLS = 2**18  # of rows that one thread boosts sooner than two that wait for each other
CALL_SECONDS = 0.05  # of one call into the engine, while somebody waits for rounds


class GradientBooster(CallbackSupport, RowDivision, ExplainedTrees):
    """What the gradient boosters share."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **EngineEstimator._parameter_constraints,
        **GROWTH_CONSTRAINTS,
        "n_estimators": [integer(1)],
        "learning_rate": [real(0, None, "neither")],
        "subsample": [real(0, 1, "right")],
        "sampling_method": [choice("uniform", "gradient_based")],
        "n_parallel_trees": [integer(1)],
        "drop_rate": [real(0, 1, "left")],
        "skip_drop": [real(0, 1, "both")],
        "categorical_encoding": [choice("native", "ordered_target")],
        "early_stopping": ["boolean", choice("auto", "oob"), None],
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
    has_base_margin_: bool

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

    def _loss(self, target: Target, weight: Floats | None) -> Loss:
        raise NotImplementedError

    def _bound(self, loss: Loss, given: GivenRows) -> Loss:
        """Tell the loss of these rows what it must know beside scores and targets."""
        return loss

    def _calibrated(
        self, committee: Committee, task: BoostingTask, rows: GivenRows | None
    ) -> dict[str, Any]:
        """Give what a fitted estimator keeps for intervals."""
        return {}

    # --- fitting ---

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        held: HeldOutArguments,
        groups: Any = None,
        base_margin: Any = None,
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
        check_target(loss, target.y, weight)
        check_out_of_bag(self, loss, held)
        check_linear_leaves(self, loss)
        seed = self.seed_ if warm else resolve_seed(self.random_state, type(self).__name__)
        margin = None
        if base_margin is not None:
            margin = read_margin(base_margin, table.n_rows, loss.n_outputs)
        given = GivenRows(X, target.y, weight, self._read_queries(groups, table.n_rows), margin)
        apart = self._calibration_share() is not None
        if held.X is None and not apart:
            apart = self._stops_early(given, table.n_rows)
        check_memory(self, table, loss, apart)
        parts = self._divide(given, target, held, seed, loss)
        learned = parts.learned
        if learned.X is not X:
            table, schema = read_fit(
                learned.X,
                categorical_features=self.categorical_features,
                estimator_name=type(self).__name__,
            )
        if self.categorical_encoding == "ordered_target":
            n_classes = target.attributes.get("n_classes_", 1)
            table, schema = encode_rows(table, schema, learned, n_classes, loss, seed)
        task = self._task(table, schema, learned, self._bound(loss, learned), seed)
        begin = self._begin(schema, loss, parts) if warm else None
        return self._boost(task, begin, parts, target, X, y)

    def _task(
        self, table: Any, schema: Any, given: GivenRows, loss: Loss, seed: int
    ) -> BoostingTask:
        vectors = shares_trees(self, loss)
        n_threads = self._threads()
        weight, scale = scaled_weights(given.weight)
        params = growth_params(self, schema, seed, loss, weight, scale)
        slope_l2 = float(self.linear_l2) / scale if self.linear_leaves else None
        rows = Rows.of(table, given.weight, max_bins=self.max_bins, n_threads=n_threads)
        if table.n_rows * table.n_features < FEW_CELLS:
            n_threads = 1
        rows.matrix.add_columns(n_threads)
        rows.matrix.spread_rows(n_threads, params.node_features)
        keys = None
        if self.subsample < 1:
            keys = _engine.row_keys(rows.matrix, given.y.reshape(len(given.y), -1), n_threads)
        return BoostingTask(
            table=engine_table(table),
            schema=schema,
            rows=rows,
            y=np.ascontiguousarray(given.y, dtype=np.float64),
            weight=weight,
            loss=loss,
            params=spread_params(params, schema),
            learning_rate=float(self.learning_rate),
            draw=RowDraw(
                float(self.subsample),
                self.sampling_method == "gradient_based",
                seed,
                keys,
                n_threads,
            ),
            n_threads=n_threads,
            width=int(self.n_parallel_trees),
            dart=dart_of(self, seed),
            slope_l2=slope_l2,
            vector_leaves=vectors,
        )

    def _begin(self, schema: Any, loss: Loss, parts: Parts) -> Committee:
        """Hold a warm start against the rounds there are."""
        n = len(self.committee_)
        if schema.n_features != self.n_features_in_:
            found = f"{schema.n_features} features, {self.n_features_in_} in the fit before"
            raise InputError(describe("P-WARM", "X", found, fix="warm_start=False"))
        known = self.schema_.levels
        if {f: list(v) for f, v in schema.levels.items()} != {f: list(v) for f, v in known.items()}:
            found = "a categorical column has other levels than in the fit before"
            raise InputError(describe("P-WARM", "X", found, fix="warm_start=False"))
        encoding, before = schema.encoding, self.schema_.encoding
        if encoding is not before and (encoding is None or not encoding.equals(before)):
            found = "other target statistics of categories than in the fit before"
            raise InputError(describe("P-WARM", "X, y", found, fix="warm_start=False"))
        if loss != self.loss_:
            found = f"{loss!r}, in the fit before {self.loss_!r}"
            alike = type(loss) is type(self.loss_)  # a frozen dataclass compares by its fields
            fix = "the same instance, a loss with __eq__, or warm_start=False"
            fix = fix if alike else "warm_start=False"
            raise InputError(describe("P-WARM", "loss", found, fix=fix))
        with_margin = parts.learned.margin is not None
        if with_margin != self.has_base_margin_:
            found = f"{'given' if with_margin else 'not given'}, unlike in the fit before"
            raise InputError(describe("P-WARM", "base_margin", found, fix="warm_start=False"))
        kept = getattr(self, "intervals_", None)
        n_before = 0 if kept is None else len(kept.scores)
        if parts.calibration is not None and n_before != len(parts.calibration.y):
            found = f"{len(parts.calibration.y)} rows held out, {n_before} in the fit before"
            raise InputError(describe("P-WARM", "intervals", found, fix="warm_start=False"))
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
        if stages.width != self.n_parallel_trees:
            found = f"{self.n_parallel_trees}, in the fit before {stages.width}"
            raise InputError(describe("P-WARM", "n_parallel_trees", found, fix="warm_start=False"))
        check_linear_warm_start(self, stages)
        check_same_strategy(stages, shares_trees(self, loss))
        return Committee(
            Stages(stages.forests, schema, stages.width),
            self.committee_.weights,
            self.committee_.intercept,
        )

    def _boost(
        self,
        task: BoostingTask,
        begin: Committee | None,
        parts: Parts,
        target: Target,
        X: Any,
        y: Any,
    ) -> Self:
        n_rows, margin = len(task.y), parts.learned.margin
        if begin is not None:
            start = begin.intercept
        elif margin is not None:
            start = np.zeros(task.loss.n_outputs)
        else:
            ones = np.ones(n_rows) if task.weight is None else task.weight
            start = checked_start(task.loss, task.y, ones)
        check_scale(task.loss, task.y, start, margin)
        task.begin(first_scores(begin, start, task.table, n_rows, margin, task.n_threads))
        if task.dart is not None:
            scores = first_scores(None, start, task.table, n_rows, margin, task.n_threads)
            ledger = ScoreLedger(scores, task.width, task.n_threads)
            task.dart.begin(ledger, begin, task.table)
        first = 0 if begin is None else len(begin)
        judge, stop = self._judge(parts, task, begin, start), None
        if judge is not None:
            stop = EarlyStop(self.n_iter_no_change, self.tol, judge.fact)
            stop.hear(judge.start(first))

        def attributes(committee: Committee) -> dict[str, Any]:
            told = {} if judge is None or stop is None else judge.remembered(stop)
            told |= self._calibrated(committee, task, parts.calibration)
            return self._attributes(task, target, parts, committee) | told

        with Watch(self, self.n_estimators - first, X=X, y=y, attributes=attributes) as watch:
            committee = assemble(
                self._rounds(task, first, judge, begin),
                limit=self.n_estimators,
                stop=stop,
                watch=watch,
                intercept=start,
                begin=begin,
                max_time=self.max_time,
            )
            if stop is not None:
                committee = stop.cut(committee, begin)
            replace_fitted(self, attributes(committee))
        return self

    def _judge(
        self, parts: Parts, task: BoostingTask, begin: Committee | None, start: Floats
    ) -> Judge | None:
        """Choose who says when to stop."""
        if self.early_stopping == "oob":
            return UnseenRows(task)
        if parts.left is None:
            return None
        left = parts.left
        name = type(self).__name__
        with about("X_val"):
            table = engine_table(read_predict(left.X, task.schema, estimator_name=name))
        raw = first_scores(begin, start, table, len(left.y), left.margin, task.n_threads)
        weight = np.ones(len(left.y)) if left.weight is None else left.weight
        loss = self._bound(task.loss, left)
        ledger = None
        if task.dart is not None:
            scores = first_scores(None, start, table, len(left.y), left.margin, task.n_threads)
            ledger = ScoreLedger(scores, task.width, task.n_threads)
            if begin is not None:
                ledger.follow(cast(Stages, begin.members), table)
        y = np.ascontiguousarray(left.y, np.float64)
        return HeldOut(table, y, weight, raw, loss, task.n_threads, ledger)

    def _rounds(
        self, task: BoostingTask, first: int, judge: Judge | None, begin: Committee | None
    ) -> Iterator[Round]:
        """Make rounds: all in one call, or few at a time where somebody looks at them."""
        before = np.empty(0) if begin is None else begin.weights  # by the rate of their own fit
        watched = bool(getattr(self, "_skl_callbacks", ())) or self.verbose > 0
        waits = watched or task.dart is not None  # whose weights are those of the last round
        waits |= judge is not None and judge.one_by_one
        alone = judge is None and not waits and self.max_time is None
        size = self.n_estimators - first if alone else 1
        while first < self.n_estimators:
            begun = time.perf_counter()
            size = min(size, self.n_estimators - first)
            stages = Stages(task.boost(first, size), task.schema, task.width)
            spent = time.perf_counter() - begun
            for k in range(1 if alone else size):
                made = stages if alone else stages[k : k + 1]
                first += len(made)
                weights = np.append(before, np.full(first - len(before), task.learning_rate))
                if task.dart is not None:
                    weights = task.dart.weights
                yield Round(made, weights, self._facts(made, weights, judge))
            # A call begins by asking for memory, so that few calls are better. What they make
            # behind the best round is cut off again; under a deadline they stay short.
            if not waits and (self.max_time is None or spent * 2 < CALL_SECONDS):
                size = min(2 * size, self.n_iter_no_change)

    def _facts(self, made: Stages, weights: Floats, judge: Judge | None) -> dict[str, float]:
        facts, number = {}, len(weights)
        if judge is not None:
            facts[judge.fact] = judge.judge(made, weights)
        if self.verbose > 0:
            shown = "".join(f", {name} {value:.6g}" for name, value in facts.items())
            print(f"[{type(self).__name__}] round {number} of {self.n_estimators}{shown}")
        return facts

    def _attributes(
        self,
        task: BoostingTask,
        target: Target,
        parts: Parts,
        committee: Committee,
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
            "has_base_margin_": parts.learned.margin is not None,
            "validation_split_": parts.share,
        }
        return told

    # --- asking ---

    def _native(self) -> _engine.Forest:
        return self._forests()[0]

    def _ask(self, rows: _engine.Table, n_threads: int) -> Floats:
        return self.committee_.decision(rows, n_threads=n_threads)

    def _scores(self, X: Any, base_margin: Any) -> Floats:
        raw = self._outputs(X)
        return raw if base_margin is None else raw + read_margin(base_margin, *raw.shape)

    def _staged_raw(self, X: Any, base_margin: Any = None) -> Iterator[Floats]:
        check_is_fitted(self)
        margin = None
        for raw in self.committee_.staged(self._read(X), n_threads=self._threads()):
            if margin is None and base_margin is not None:
                margin = read_margin(base_margin, *raw.shape)
            yield raw if margin is None else raw + margin
