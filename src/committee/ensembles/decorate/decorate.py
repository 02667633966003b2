"""DECORATE: a committee made diverse by artificial rows whose labels contradict it.

Each trial draws artificial rows that look like the training rows, feature by feature, labels them
against the committee (the less it believes in a class, the likelier the label) and trains a new
member on both. It stays if the committee with it makes no more errors on the training rows than
without; the artificial rows are thrown away in any case. So members agree on what is known and
differ elsewhere, which helps most where rows are few (Melville and Mooney, "Constructing diverse
classifier ensembles using artificial training examples", IJCAI 2003; "Creating diversity in
ensembles using artificial data", Information Fusion 2005).

There is no such regressor. The method rests on labels that are inversely proportional to class
probabilities; a number has no opposite, the authors define none, and no published form was found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.core.committee import Committee
from committee.core.fitted import replace_fitted, schema_attributes
from committee.core.members import ClassifierMember, Floats, Trees
from committee.core.parameter_docs import documented_with
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
from committee.core.voting import mean
from committee.core.watching import CallbackSupport, Watch, with_callbacks
from committee.data import InputError, Schema, read_predict
from committee.data.errors import describe
from committee.data.rows import engine_table
from committee.ensembles.any_rows import container_to_ask
from committee.ensembles.base_tags import BaseTags
from committee.ensembles.decorate.any_crew import AnyCrew
from committee.ensembles.decorate.decorate_docs import SECTIONS
from committee.ensembles.decorate.reading import c45, check_base, is_own, read_any, read_trees
from committee.ensembles.decorate.tree_crew import TreeCrew
from committee.ensembles.decorate.trials import ASKED, ENOUGH, Record, trials
from committee.ensembles.decorate.views import DecorateViews
from committee.ensembles.opinions import FEW_ROWS, ClassOpinion
from committee.ensembles.routing import Routed, routed, router_of
from committee.learners.structure import Tree


@documented_with(SECTIONS)
class DecorateClassifier(BaseTags, CallbackSupport, ClassOpinion, NamedParameters, BaseEstimator):
    """A committee made diverse by artificial rows that are labelled against it.

    For few rows: on tens of them it is usually ahead of its base learner, of bagging and of
    boosting. The prediction is the mean of the members' probabilities. The committee never makes
    more errors on the training rows than its first member, which is the base learner itself.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The base learner, any scikit-learn classifier. None is the papers' C4.5: a
        :class:`DecisionTreeClassifier` with ``criterion="c45", pruning="pessimistic",
        min_samples_leaf=2, categorical_splits="multiway", missing="parts", max_bins=65535``. Trees
        of this library are grown, asked and stored by the engine. A learner that is sure of itself
        on every row, such as a fully grown tree, is contradicted everywhere; one that is the same
        on any rows gains nothing.
    n_estimators : int, default=15
        The most members (the papers' Csize).
    {trials}
    {n_jobs}
        Trials follow one another, each of them needs the committee before it.
    {random_state}
    verbose : int, default=0
        Above 0, the number of members and trials is printed as members are found.

    Attributes
    ----------
    classes_ : ndarray
        The class labels. Members are fitted on labels as they are, not on codes.
    n_classes_ : int
        How many there are.
    estimator_ : classifier
        What was copied for the members.
    estimators_ : sequence of classifiers
        The members; trees of the engine are made when they are asked for.
    committee_ : Committee
        Members with weight 1; ``decision`` is their sum.
    trials_ : dict of ndarray
        For each trial the share of the training rows that the committee gets wrong without and with
        its member, ``"error_before"`` (NaN in the first) and ``"error_after"``, and whether it was
        ``"kept"``.
    stop_reason_ : str
        Why there are no more members.
    forest_, feature_importances_
        Where the members are trees of this library: the trees, and what each feature brought.
    schema_, n_features_in_, feature_names_in_
        As in :class:`DecisionTreeClassifier` and in scikit-learn.

    Notes
    -----
    Artificial rows: a number is drawn from the normal distribution with the mean and the standard
    deviation of its column, a category by the frequencies of its levels after Laplace's rule; the
    levels are those that occur. No value is missing, as in the authors' program. A cell of a sparse
    matrix is stored as often as its column is, and is then one of the values stored there; zeros
    and ones so come from Bernoulli's distribution, and rows stay sparse. In a frame columns keep
    their types; learners other than this library's trees get integers where a column holds them.

    Labels: class l has a chance proportional to 1 / P(l), where P is the committee's probability,
    with a floor of 1e-12 for 0. Classes that no training row has are never drawn.

    Weights: those that are whole multiples of one unit repeat rows, so that a row of weight k is
    as good as k rows in every respect. Other weights are scaled to 1 on average and handed to the
    base learner; they count in means, frequencies and errors, and an artificial row weighs 1.

    Trial t draws from (``random_state``, t) alone.

    Examples
    --------
    >>> from committee import DecorateClassifier, load_heart
    >>> X, y = load_heart(as_frame=True)
    >>> model = DecorateClassifier(random_state=0).fit(X[::5], y[::5])
    >>> bool(model.score(X, y) > model.estimators_[0].score(X, y))
    True
    >>> model.stop_reason_
    'n_estimators members found'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",  # check_base says more
        "n_estimators": [integer(1)],
        "max_trials": [integer(1)],
        "artificial_size": [real(0, None, "neither")],
        "categorical_features": CATEGORICAL_CONSTRAINTS,
        "n_jobs": THREAD_CONSTRAINTS,
        "random_state": SEED_CONSTRAINTS,
        "verbose": ["verbose"],
    }

    committee_: Committee
    schema_: Schema

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 15,
        *,
        max_trials: int = 50,
        artificial_size: float = 1.0,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_trials = max_trials
        self.artificial_size = artificial_size
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "committee_")

    def get_metadata_routing(self) -> MetadataRouter:
        """Describe which metadata go to which method of the members.

        Returns
        -------
        MetadataRouter
            scikit-learn's description.
        """
        return router_of(self, self._base())

    def _base(self) -> Any:
        """Return the base learner; a tree of this library is told of the categories."""
        base = c45() if self.estimator is None else self.estimator
        told = self.categorical_features
        if not is_own(base) or (isinstance(told, str) and told == "from_dtype"):
            return base
        return clone(base).set_params(categorical_features=told)

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Make the members, one trial after the other.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows. Frames are handed to the members as frames.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; one of weight k is as good as k rows. See the notes.
        **fit_params : dict
            For ``fit`` of the members, with scikit-learn's metadata routing enabled; nothing that
            has a value per row, since artificial rows have none.

        Returns
        -------
        DecorateClassifier
            The fitted model.
        """
        check_params(self)
        params = routed(self, "fit", fit_params).get("fit", {})
        base = self._base()
        check_base(base, type(self).__name__)
        seed = resolve_seed(self.random_state, type(self).__name__)
        n_threads, record = self._threads(), Record()
        crew = self._crew(X, y, sample_weight, base, seed, n_threads, params)

        def attributes(committee: Committee) -> dict[str, Any]:
            return self._attributes(crew, base, record, committee)

        size, given = self.n_estimators, {"sample_weight": sample_weight}
        with Watch(self, size, X=X, y=y, metadata=given, attributes=attributes) as watch:
            committee = assemble(
                self._rounds(crew, seed, n_threads, record), limit=size, watch=watch
            )
            replace_fitted(self, attributes(committee))
        return self

    def _crew(
        self, X: Any, y: Any, sample_weight: Any, base: Any, seed: int, n_threads: int, params: Any
    ) -> TreeCrew | AnyCrew:
        owner = type(self).__name__
        shared = {"base": base, "seed": seed, "n_threads": n_threads, "owner": owner}
        if is_own(base) and not params:
            return read_trees(X, y, sample_weight, **shared)
        categorical = {"categorical_features": self.categorical_features}
        return read_any(X, y, sample_weight, params=params, **categorical, **shared)

    def _rounds(
        self, crew: TreeCrew | AnyCrew, seed: int, n_threads: int, record: Record
    ) -> Iterator[Round]:
        for made in trials(
            crew,
            max_trials=self.max_trials,
            artificial_size=self.artificial_size,
            seed=seed,
            record=record,
            n_threads=n_threads if len(crew.labels.codes) > FEW_ROWS else 1,
        ):
            if self.verbose > 0:
                found = f"{len(made.weights)} of {self.n_estimators} members"
                print(f"[{type(self).__name__}] {found} after {len(record.kept)} trials")
            yield made

    def _attributes(
        self, crew: TreeCrew | AnyCrew, base: Any, record: Record, committee: Committee
    ) -> dict[str, Any]:
        classes = crew.labels.classes[0]
        reason = record.reason
        if reason is None:
            reason = ENOUGH if len(committee) >= self.n_estimators else ASKED
        return {
            "committee_": committee,
            "estimator_": clone(base),
            "trials_": record.columns(),
            "stop_reason_": reason,
            "classes_": classes,
            "n_classes_": len(classes),
            **schema_attributes(crew.schema),
        }

    def _rows(self, X: Any) -> Any:
        members = self.committee_.members
        if not isinstance(members, Trees):
            return container_to_ask(self, X)
        if members.forest.n_features != self.schema_.n_features:
            found = f"{members.forest.n_features} features, schema_ {self.schema_.n_features}"
            raise InputError(describe("M-TREE", "committee_", found, fix="fit the model again"))
        return engine_table(read_predict(X, self.schema_, estimator_name=type(self).__name__))

    def _asked(self, X: Any, method: str, params: dict[str, Any]) -> Floats:
        """Ask the committee, with metadata for the members where there are any."""
        metadata = routed(self, method, params)
        if not any(metadata.values()):
            return self._mean(X)
        check_is_fitted(self)
        rows = self._rows(X)
        seats = [ClassifierMember(Routed(e, metadata), self.classes_) for e in self.estimators_]
        return mean(np.stack([seat.outputs(rows) for seat in seats]))

    def predict(self, X: Any, **params: Any) -> npt.NDArray[Any]:
        """Predict the class of each row: the one with the largest mean probability.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        **params : dict
            Metadata for the members, with scikit-learn's routing enabled.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels; of equal classes the first in the order of ``classes_``.
        """
        return self._labels(self._asked(X, "predict", params))

    def predict_proba(self, X: Any, **params: Any) -> Floats:
        """Predict class probabilities: the mean of the members'.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        **params : dict
            Metadata for the members, with scikit-learn's routing enabled.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._asked(X, "predict_proba", params)

    @property
    def estimators_(self) -> Any:
        """The members: trees, made when they are asked for, or the fitted base learners."""
        check_is_fitted(self)
        members = self.committee_.members
        if isinstance(members, Trees):
            return DecorateViews(self)
        return [cast(ClassifierMember, member).estimator for member in members]

    @property
    def forest_(self) -> _engine.Forest:
        """The trees in the engine's arrays, where the members are such trees."""
        check_is_fitted(self)
        members = self.committee_.members
        if not isinstance(members, Trees):
            raise AttributeError(f"a committee of {type(self.estimator_).__name__} has no forest_")
        return members.forest

    @property
    def feature_importances_(self) -> Floats:
        """Mean share of impurity decrease by feature, where the members are trees of the engine."""
        forest, total = self.forest_, np.zeros(self.n_features_in_)
        for tree in range(forest.n_trees):
            total += Tree(forest.slice(tree, tree + 1), (1,)).compute_feature_importances()
        return total / total.sum() if total.sum() > 0 else total

    def __len__(self) -> int:
        check_is_fitted(self)
        return len(self.committee_)

    def __getitem__(self, member: Any) -> Any:
        return self.estimators_[member]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)
