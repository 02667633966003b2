"""What all boosters share: one weak learner, asked round after round by a generator of rounds.

A booster is its method ``_rounds``, which reads like the paper. Reading rows, early stopping,
warm starts, callbacks and the record of what happened in each round are written here, once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from committee.core.committee import Committee
from committee.core.fitted import replace_fitted, schema_attributes
from committee.core.members import Floats, Member, Trees
from committee.core.params import (
    SEED_CONSTRAINTS,
    THREAD_CONSTRAINTS,
    NamedParameters,
    check_params,
    choice,
    integer,
    real,
    resolve_seed,
)
from committee.core.rounds import Round, assemble
from committee.core.threads import Threaded
from committee.core.watching import CallbackSupport, Watch, with_callbacks
from committee.data import InputError, Schema, read_predict
from committee.data.errors import class_name, describe, warn
from committee.data.rows import engine_table
from committee.ensembles.any_rows import container_to_ask
from committee.ensembles.base_tags import BaseTags
from committee.ensembles.boosting.record import Record, Rounds
from committee.ensembles.boosting.stopping import Judge
from committee.ensembles.boosting.task import Task, answers
from committee.ensembles.boosting.training import HeldOut, TrainingSet, read_training, split_off
from committee.ensembles.boosting.weak_learners import check_learner, grown_by_engine, weak_learner
from committee.ensembles.continuing import Addition, Origin, members_to_add
from committee.ensembles.opinions import FEW_ROWS

ENOUGH = "n_estimators rounds done"
IMPATIENT = "the loss on held-out rows has not fallen for n_iter_no_change rounds"
ASKED = "a callback asked to stop"


class Booster(BaseTags, CallbackSupport, Threaded, NamedParameters, BaseEstimator):
    """A committee whose members are made one after the other, each by what the others leave."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",  # check_learner says more
        "n_estimators": [integer(1)],
        "resample": ["boolean", choice("auto")],
        "early_stopping": ["boolean"],
        "validation_fraction": [real(0, 1, "neither")],
        "n_iter_no_change": [integer(1)],
        "warm_start": ["boolean"],
        "n_jobs": THREAD_CONSTRAINTS,
        "random_state": SEED_CONSTRAINTS,
        "verbose": ["verbose"],
    }
    _predicts_classes: ClassVar[bool] = True
    _learns_classes: ClassVar[bool] = True  # whether the weak learner is a classifier

    estimator: Any
    n_estimators: int
    n_jobs: int | None
    committee_: Committee
    origin_: Origin
    schema_: Schema

    def _rounds(self, task: Task) -> Rounds:
        """Yield round after round, and return why there are no more."""
        raise NotImplementedError

    def _members_per_round(self, train: TrainingSet) -> int:
        """Count the members that a round makes."""
        return 1

    def _rounds_of(self, task: Task) -> Rounds:
        """Begin with the rounds."""
        return self._rounds(task)

    def _loss(self, train: TrainingSet, held_out: Any) -> Judge:
        """Say how held-out rows judge."""
        raise NotImplementedError

    def _prior(self, task: Task) -> Member:
        """Make the member of a committee for which no weak hypothesis was found."""
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "committee_")

    def _check(self) -> Any:
        """Check all parameters before any work; return the weak learner to copy."""
        check_params(self)
        base = self._base()
        check_learner(
            base, type(self).__name__, classifies=self._learns_classes, resample=self.resample
        )
        return base

    def _task(self, train: TrainingSet, origin: Origin, **recalled: Any) -> Task:
        classes = train.classes if self._learns_classes else None
        learner = weak_learner(self._base(), train.rows, classes, resample=self.resample)
        n_classes = 0 if train.classes is None else len(train.classes)
        return Task(
            train.rows,
            train.y,
            n_classes,
            train.distribution,
            learner,
            origin.seed,
            train.size,
            origin.keys,
            part=train.part,
            **recalled,
        )

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, X_val: Any = None, y_val: Any = None
    ) -> Self:
        """Fit the members, one after the other.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            Their classes, or numbers.
        sample_weight : array-like of shape (n_samples,), optional
            The weights of the first round; by default all alike. A row of weight 0 is left out.
        X_val, y_val : optional
            Rows to judge by, for early stopping, instead of a ``validation_fraction`` of X.

        Returns
        -------
        estimator
            The fitted model.
        """
        base = self._check()
        given = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        seed = self._seed()
        X, y, sample_weight, held_out = self._hold_out(X, y, sample_weight, X_val, y_val, seed)
        train = read_training(
            X,
            y,
            sample_weight,
            base=base,
            classifies=self._predicts_classes,
            n_threads=self._threads(),
            owner=type(self).__name__,
        )
        if X_val is not None:
            self._check_held_out(train, held_out)
        self._fit_rows(train, held_out, seed, given)
        return self

    def _fit_rows(
        self, train: TrainingSet, held_out: HeldOut | None, seed: int, watched: dict[str, Any]
    ) -> None:
        self._boost(train, held_out, seed, watched)

    def _hold_out(
        self, X: Any, y: Any, sample_weight: Any, X_val: Any, y_val: Any, seed: int
    ) -> tuple[Any, Any, Any, HeldOut | None]:
        if (X_val is None) != (y_val is None):
            found = "X_val and y_val are given together or not at all"
            raise InputError(describe("P-SPLIT", "X_val, y_val", found))
        if X_val is not None:
            return X, y, sample_weight, HeldOut(X_val, y_val)
        if not self.early_stopping:
            return X, y, sample_weight, None
        return split_off(
            X,
            y,
            sample_weight,
            fraction=self.validation_fraction,
            seed=seed,
            classifies=self._splits_by_class(y),
        )

    def _splits_by_class(self, y: Any) -> bool:
        """Say whether held-out rows are drawn from every class."""
        return self._predicts_classes

    def _check_held_out(self, train: TrainingSet, held_out: HeldOut | None) -> None:
        """Refuse rows that cannot judge."""

    def _seed(self) -> int:
        """Resolve the seed; a fit that is continued keeps its own."""
        if self.warm_start and hasattr(self, "origin_"):
            return self.origin_.seed
        return resolve_seed(self.random_state, type(self).__name__)

    def _boost(self, train: TrainingSet, held_out: Any, seed: int, watched: dict[str, Any]) -> None:
        """Assemble the committee and keep it; an error leaves everything as it was."""
        here = train.origin(seed, train.n_threads)
        each = self._members_per_round(train)
        add = members_to_add(self, here, getattr(self, "origin_", None), each)
        known = {} if add.committee is None else answers(add.committee, self.questions_)
        task = self._task(train, here, seated=known)
        record = Record()
        judge = None if held_out is None else self._loss(train, held_out)
        rounds = self._all_rounds(task, record, judge, add.members.start)
        begin = self._reseated(add, train)

        def attributes(committee: Committee) -> dict[str, Any]:
            return self._attributes(train, here, record, committee)

        with Watch(self, each * len(add.members), attributes=attributes, **watched) as watch:
            committee = assemble(
                rounds, limit=each * self.n_estimators, stop=judge, watch=watch, begin=begin
            )
            fitted = attributes(committee)
            fitted["stop_reason_"] = self._reason(record, judge)
            if judge is not None:
                assert judge.best is not None
                members = committee.members[: each * judge.best_size]
                fitted |= attributes(Committee(members, judge.best.weights))
                fitted["validation_losses_"] = np.array(judge.losses)
            replace_fitted(self, fitted)

    def _reseated(self, add: Addition, train: TrainingSet) -> Committee | None:
        """Let the trees there are read rows by the schema of this fit, so that they join others."""
        if add.committee is None or not isinstance(add.committee.members, Trees):
            return add.committee
        if not grown_by_engine(self._base()):
            found = "the members there are were grown by the engine"
            fix = "set warm_start=False to begin anew"
            raise InputError(describe("P-WARM", "estimator", found, fix=fix))
        trees = Trees(add.committee.members.forest, train.rows.schema)
        return Committee(trees, add.committee.weights)

    def _all_rounds(
        self, task: Task, record: Record, judge: Judge | None, have: int
    ) -> Iterator[Round]:
        """Yield the rounds to add; those there are pass again, unseen but by record and judge."""
        for index, made in enumerate(record.follow(self._rounds_of(task), task)):
            if index >= have:
                if self.verbose > 0:
                    print(f"[{type(self).__name__}] {index + 1} of {self.n_estimators}")
                yield made
            elif judge is not None:
                judge(made)
        if not record.facts:
            record.questions.append(-1)
            if task.n_classes != 1:  # of a single class y itself has told
                found = f"{record.reason}; the model predicts what is most frequent"
                warn(describe("M-PRIOR", "estimator", found, fix="another weak learner"))
            yield Round(self._prior(task), np.ones(1))

    def _reason(self, record: Record, judge: Judge | None) -> str:
        if record.reason is not None:
            return record.reason
        if len(record.facts) >= self.n_estimators:
            return ENOUGH
        impatient = judge is not None and len(judge.losses) - judge.best_size >= judge.patience
        return IMPATIENT if impatient else ASKED

    def _attributes(
        self, train: TrainingSet, here: Origin, record: Record, committee: Committee
    ) -> dict[str, Any]:
        size = len(committee)
        fitted = {
            "committee_": committee,
            "rounds_": record.columns(size // self._members_per_round(train)),
            "questions_": np.array(record.questions[:size], dtype=np.int64),
            "origin_": here,
            "train_size_": train.size,
            **schema_attributes(train.rows.schema),
        }
        base = self._base()
        if base is not None:  # else its rules are its own
            fitted["estimator_"] = clone(base)
        return fitted

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        if grown_by_engine(self.estimator_):
            name = type(self).__name__
            if not isinstance(self.schema_, Schema):
                found = f"schema_ is {class_name(self.schema_)}, no Schema"
                raise InputError(describe("M-TREE", "schema_", found, fix="fit the model again"))
            return engine_table(read_predict(X, self.schema_, estimator_name=name))
        return container_to_ask(self, X)

    def _threads_for(self, X: Any) -> int:
        n_rows = len(X) if hasattr(X, "__len__") and not hasattr(X, "nnz") else FEW_ROWS + 1
        return 1 if n_rows <= FEW_ROWS else self._threads()

    @property
    def estimator_weights_(self) -> Floats:
        """The weight of each member: for AdaBoost alpha, half of what scikit-learn and WEKA say."""
        check_is_fitted(self)
        return self.committee_.weights

    @property
    def estimator_errors_(self) -> Floats:
        """The weighted error of each member in its round."""
        check_is_fitted(self)
        if "error" not in self.rounds_:
            raise AttributeError(f"the rounds of {type(self).__name__} have no weighted error")
        return np.asarray(self.rounds_["error"])

    def __len__(self) -> int:
        check_is_fitted(self)
        return len(self.committee_)
