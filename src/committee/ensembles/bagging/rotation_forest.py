"""Rotation forest: every member sees all rows, in axes of its own.

For each member the features are parted at random into small groups; each group is turned to the
principal axes of a sample of some of the classes, with no axis dropped, and a tree is grown on all
rows in the turned axes. Axes differ from member to member, and trees, which cut along axes, with
them (Rodríguez, Kuncheva and Alonso 2006).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.core.bags import hash_weights
from committee.core.committee import Committee
from committee.core.fitted import set_schema
from committee.core.members import ClassifierMember, Floats
from committee.core.parameter_docs import documented
from committee.core.params import (
    CATEGORICAL_CONSTRAINTS,
    SEED_CONSTRAINTS,
    THREAD_CONSTRAINTS,
    NamedParameters,
    check_params,
    integer,
    real,
    resolve_seed,
)
from committee.core.rounds import Round, assemble
from committee.core.watching import CallbackSupport, Watch, with_callbacks
from committee.data import (
    InputTypeError,
    Labels,
    Schema,
    forget_unweighted,
    read_classes,
    read_fit,
    read_predict,
    read_weights,
)
from committee.data.errors import describe
from committee.data.rows import engine_table
from committee.ensembles.bagging.feature_maps import Rotation
from committee.ensembles.bagging.rotation import Preparation, RotationDraw
from committee.ensembles.continuing import Origin, members_to_add
from committee.ensembles.member_fitting import Training, check_instance, fit_members
from committee.ensembles.opinions import ClassOpinion
from committee.learners.tree import DecisionTreeClassifier


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows that were read and prepared before."""

    values: Floats

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.values.shape


@dataclass(frozen=True, eq=False)
class Reading:
    """How rows are read and prepared for the rotations."""

    schema: Schema
    preparation: Preparation

    def __call__(self, X: Any) -> Prepared:
        """Read rows, unless that was done before."""
        if isinstance(X, Prepared):
            return X
        refuse_sparse(X)
        table = read_predict(X, self.schema, estimator_name="RotationForestClassifier")
        return Prepared(self.preparation.transform(table))


@dataclass(frozen=True, eq=False)
class RotatedMember:
    """A classifier in turned axes."""

    reading: Reading
    rotation: Rotation
    classifier: ClassifierMember

    def outputs(self, X: Any) -> Floats:
        """Prepare and turn the rows, then ask."""
        return self.classifier.outputs(self.rotation.transform(self.reading(X).values))


@documented
class RotationForestClassifier(CallbackSupport, ClassOpinion, NamedParameters, BaseEstimator):
    """A committee of trees, each in axes of its own, all trained on all rows.

    Strong on numeric features of which combinations matter; for a handful of members usually ahead
    of bagging and random forests. Features that do not vary are dropped and the others scaled to
    [0, 1]; a category becomes one indicator per level; a missing value becomes the mean of its
    feature, learnt at fit, beside an indicator that it was missing. Sparse input is refused, since
    turned rows have no zeros.

    Parameters
    ----------
    estimator : classifier or None, default=None
        What is trained in the turned axes; None is a ``DecisionTreeClassifier()``. The paper's
        J48 is close to ``DecisionTreeClassifier(criterion="gain_ratio", pruning="pessimistic",
        min_samples_leaf=2)``.
    n_estimators : int, default=10
        The number of members.
    group_size : int, default=3
        Features that are turned together. Where it does not divide their number, the last group
        is completed with features of the others.
    max_samples : float, default=0.75
        Size of the sample that the axes of a group are found from, as a share of the rows of the
        classes drawn for it.
    bootstrap : bool, default=True
        Whether the sample is drawn with replacement, as in the paper; ``bootstrap=False,
        max_samples=0.5`` is WEKA's way.
    {categorical_features}
    warm_start : bool, default=False
        Whether ``fit`` keeps the members there are and adds to them; the result is that of one fit.
    {n_jobs}
    {random_state}
    verbose : int, default=0
        Above 0, the number of members is printed as they are made.

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    n_classes_ : int
        How many there are.
    estimator_ : classifier
        What was copied for the members.
    estimators_ : list of classifiers
        The members, to be asked about turned rows.
    rotations_ : list of Rotation
        Their axes.
    committee_ : Committee
        Members that turn rows themselves.
    schema_ : Schema
        Feature names and levels that prediction holds new data against.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from committee import load_heart
    >>> from committee.ensembles.bagging.rotation_forest import RotationForestClassifier
    >>> X, y = load_heart(as_frame=True)
    >>> model = RotationForestClassifier(random_state=0).fit(X[:200], y[:200])
    >>> bool(model.score(X[200:], y[200:]) > 0.7)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",  # check_instance says more
        "n_estimators": [integer(1)],
        "group_size": [integer(1)],
        "max_samples": [real(0, 1, "right")],
        "bootstrap": ["boolean"],
        "categorical_features": CATEGORICAL_CONSTRAINTS,
        "warm_start": ["boolean"],
        "n_jobs": THREAD_CONSTRAINTS,
        "random_state": SEED_CONSTRAINTS,
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        group_size: int = 3,
        max_samples: float = 0.75,
        bootstrap: bool = True,
        categorical_features: Any = "from_dtype",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.group_size = group_size
        self.max_samples = max_samples
        self.bootstrap = bootstrap
        self.categorical_features = categorical_features
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "committee_")

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Turn and train the members.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; a row of weight k is as good as k rows.

        Returns
        -------
        RotationForestClassifier
            The fitted model.
        """
        check_params(self)
        name = type(self).__name__
        base = DecisionTreeClassifier() if self.estimator is None else self.estimator
        check_instance(base, name)
        refuse_sparse(X)
        n_jobs = self._threads()
        table, schema = read_fit(
            X, categorical_features=self.categorical_features, estimator_name=name
        )
        labels = read_classes(y, table.n_rows, estimator_name=name)
        given = read_weights(sample_weight, table.n_rows)
        table, schema = forget_unweighted(table, schema, given)
        weight = np.ones(table.n_rows) if given is None else given
        keys = _engine.table_keys(engine_table(table), labels.codes.astype(np.float64), n_jobs)
        here = Origin(keys, resolve_seed(self.random_state, name), hash_weights(given))
        add = members_to_add(self, here, getattr(self, "origin_", None))
        preparation = Preparation.learn(table, weight)
        training = Training(
            estimator=threaded(base, n_jobs),
            X=preparation.transform(table),
            y=labels.classes[0][labels.codes[:, 0]],
            order=np.argsort(keys, kind="stable"),
            seed=add.seed,
            draw_map=RotationDraw(self.group_size, self.max_samples, self.bootstrap),
        )
        reading = Reading(schema, preparation)
        jobs = 1 if isinstance(base, DecisionTreeClassifier) else n_jobs
        fitted = fit_members(
            training, lambda _: weight, add.members, n_jobs=jobs, verbose=self.verbose
        )
        with Watch(self, len(add.members), X=X, y=y) as watch:
            committee = assemble(
                self._rounds(fitted, reading, labels, add.members),
                limit=self.n_estimators,
                watch=watch,
                begin=add.committee,
            )
            self._keep(committee, schema, labels, base)
            self.origin_ = Origin(keys, add.seed, here.weights)
        return self

    def _rounds(
        self, fitted: Iterator[Any], reading: Reading, labels: Labels, members: range
    ) -> Iterator[Round]:
        for member, made in zip(members, fitted, strict=True):
            classifier = ClassifierMember(made.estimator, labels.classes[0])
            seat = RotatedMember(reading, made.feature_map, classifier)
            yield Round(seat, np.ones(member + 1))

    def _keep(self, committee: Committee, schema: Schema, labels: Labels, base: Any) -> None:
        seats = cast(Sequence[RotatedMember], committee.members)
        self.committee_ = committee
        self.estimator_ = clone(base)
        self.estimators_ = [seat.classifier.estimator for seat in seats]
        self.rotations_ = [seat.rotation for seat in seats]
        self.classes_ = labels.classes[0]
        self.n_classes_ = len(self.classes_)
        set_schema(self, schema)

    @property
    def forest_(self) -> _engine.Forest:
        """The trees in the engine's arrays, in turned axes, where the members are such trees."""
        check_is_fitted(self)
        if not isinstance(self.estimator_, DecisionTreeClassifier):
            name = type(self.estimator_).__name__
            raise AttributeError(f"a committee of {name} has no forest_")
        return _engine.Forest.concatenate([tree.tree_.forest for tree in self.estimators_])

    def _rows(self, X: Any) -> Prepared:
        first = cast(RotatedMember, self.committee_.members[0])
        return first.reading(X)


def threaded(base: Any, n_jobs: int) -> Any:
    """Let a tree of this library work in threads; members are then made one after the other."""
    own = isinstance(base, DecisionTreeClassifier) and base.n_jobs is None
    return clone(base).set_params(n_jobs=n_jobs) if own else base


def refuse_sparse(X: Any) -> None:
    """Refuse sparse rows: turned ones are dense, and would surprise by their size."""
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        cost = np.prod(X.shape, dtype=float) * 8 / 1e6
        found = "RotationForestClassifier takes no sparse matrix: turned rows have no zeros"
        fix = f"X.toarray() ({cost:.1f} MB), or a random forest, extra trees or bagging, which do"
        raise InputTypeError(
            describe("X-SPARSE", "X", found, allowed="dense arrays and frames", fix=fix)
        )
