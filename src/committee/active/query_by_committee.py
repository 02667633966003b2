"""Query by committee: ask about the row on which the members disagree most.

Seung, Opper and Sompolinsky, "Query by committee" (1992): members that all agree with the labelled
rows, and differ elsewhere, halve the set of hypotheses that remain with each question. Any
committee will do: an ensemble, or classifiers of different kinds side by side.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing

from committee.active.active_classifier import ActiveClassifier
from committee.active.active_docs import active_documented
from committee.active.ballots import ballots_of, check_kind
from committee.active.content import Pool
from committee.active.disagreement import check_members
from committee.active.labelled import Labelled
from committee.active.side_by_side import SideBySide, in_order
from committee.core.params import resolve_seed
from committee.core.randomness import fill_seeds
from committee.data import InputError, InputTypeError
from committee.data.errors import class_name, describe, listing
from committee.ensembles.member_fitting import check_instance
from committee.ensembles.panel import read_seats
from committee.ensembles.panel.routing import fit_params_of
from committee.learners.random_forest import RandomForestClassifier


@active_documented
class QueryByCommittee(ActiveClassifier):
    """Ask about the rows that any committee disputes most.

    Parameters
    ----------
    estimator : estimator, list of estimators or None, default=None
        The committee: a classifier with members (bagging, a forest, voting, AdaBoost and its kin,
        the first level of a stack, of this library or scikit-learn), or different classifiers in a
        list, whose probabilities are averaged. Seeds that they have are kept. None is a random
        forest of 100 trees.
    measure : str, default="vote_entropy"
        {measures}
    prefit : bool, default=False
        Whether the committee is fitted already, to the rows that ``fit`` is given: ``fit`` keeps
        it, and ``teach`` is the first to fit a copy; weights that ``fit`` is given count from
        then on. Without ``fit``, ``query`` asks the committee as it is, and knows of no labelled
        rows to be skipped. A clone of this object is not fitted.
    {asking}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from committee import load_heart
    >>> from committee.active import QueryByCommittee
    >>> X, y = load_heart(as_frame=True)
    >>> model = QueryByCommittee(random_state=0).fit(X[:20], y[:20])
    >>> query = model.query(X[20:], k=2)
    >>> len(query.indices)
    2
    >>> print(query.reasons[0])
    vote entropy 0.693...: 0.50 to 0.50 of the votes for ...
    >>> rows = 20 + query.indices
    >>> model = model.teach(X.iloc[rows], y[rows])
    >>> len(model.labelled_)
    22
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ActiveClassifier._parameter_constraints,
        "prefit": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        measure: str = "vote_entropy",
        prefit: bool = False,
        batch: str = "top",
        shortlist: int = 10,
        n_candidates: int | None = None,
        classes: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.measure = measure
        self.prefit = prefit
        self.batch = batch
        self.shortlist = shortlist
        self.n_candidates = n_candidates
        self.classes = classes
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _asked_for(self) -> int | None:
        if isinstance(self.estimator, (list, tuple)):
            return len(self.estimator)
        asked = getattr(self.estimator, "n_estimators", None)
        named = getattr(self.estimator, "estimators", None)
        if asked is None and isinstance(named, list):  # pairs of name and estimator, or "drop"
            return sum(not isinstance(pair[-1], str) for pair in named)
        return asked if isinstance(asked, int) else None

    def _check(self) -> None:
        name = type(self).__name__
        if isinstance(self.estimator, (list, tuple)):
            for estimator in self.estimator:
                check_instance(estimator, name)
        elif self.estimator is not None:
            check_instance(self.estimator, name)
            if not is_classifier(self.estimator):
                found = f"{class_name(self.estimator)} is no classifier"
                raise InputTypeError(describe("P-ESTIMATOR", "estimator", found))
            check_kind(self.estimator, "estimator")
        super()._check()

    def _committee(self, seed: int, n_threads: int) -> Any:
        if self.estimator is None:
            return RandomForestClassifier(100, n_jobs=n_threads, random_state=seed % 2**32)
        if isinstance(self.estimator, (list, tuple)):
            return self._side_by_side(n_threads, random_state=seed % 2**32)
        return fill_seeds(self.estimator, seed, 0)

    def _side_by_side(self, n_threads: int, **params: Any) -> SideBySide:
        owner = type(self).__name__
        return SideBySide(in_order(self.estimator), owner=owner, n_jobs=n_threads, **params)

    def _fitted(self, labelled: Labelled, seed: int, n_threads: int, *, first: bool) -> Any:
        if isinstance(self.estimator, (list, tuple)):
            # Before a member is fitted, and even where one class, or prefit=True, lets nobody be.
            panel = self._committee(seed, n_threads)
            fit_params_of(panel, read_seats(panel), labelled.weight, {})
        if not (self.prefit and first):
            return super()._fitted(labelled, seed, n_threads, first=first)
        fitted = self.estimator
        if fitted is None:
            found = "prefit=True without an estimator"
            raise InputError(describe("P-ESTIMATOR", "estimator", found))
        if isinstance(fitted, (list, tuple)):
            fitted = self._side_by_side(n_threads, prefit=True)
            fitted.fit(labelled.X, labelled.y)
            ballots = ballots_of(self.estimator)  # knows the classes of all members
        else:
            labelled.weights_for(fitted)
            ballots = ballots_of(fitted)
        check_members(len(ballots.weights))
        self._check_prefit(fitted, ballots.classes, labelled)
        return fitted

    def _asking(self, pool: Pool) -> ActiveClassifier:
        """Return a copy that asks a fitted committee, without the rows it was fitted to."""
        if not self.prefit or self.__sklearn_is_fitted__():
            return self
        self._check()
        ballots = ballots_of(self.estimator)
        check_members(len(ballots.weights))
        asking = QueryByCommittee(**self.get_params(deep=False))
        none, y = _safe_indexing(pool.X, np.arange(0)), ballots.classes[:0]
        labelled = Labelled(none, y, None, pool.keys[:0], ballots.classes)
        asking.estimator_, asking.labelled_ = self.estimator, labelled
        asking.classes_, asking.seed_ = ballots.classes, resolve_seed(self.random_state)
        one = self.estimator[0] if isinstance(self.estimator, (list, tuple)) else self.estimator
        asking.n_features_in_ = getattr(one, "n_features_in_", pool.X.shape[1])
        if hasattr(one, "feature_names_in_"):
            asking.feature_names_in_ = one.feature_names_in_
        return asking

    def _check_prefit(self, fitted: Any, classes: npt.NDArray[Any], labelled: Labelled) -> None:
        """Hold a fitted committee against the rows that it is said to be fitted to."""
        if classes.tolist() != labelled.classes.tolist():
            found = f"the committee knows the classes {listing(classes.tolist())}, y holds "
            found += listing(labelled.classes.tolist())
            fix = "give fit the labelled rows of the committee, or prefit=False"
            raise InputError(describe("M-CLASSES", "estimator", found, fix=fix))
        width = getattr(fitted, "n_features_in_", labelled.X.shape[1])
        if width != labelled.X.shape[1]:
            found = f"X has {labelled.X.shape[1]} columns, the committee was fitted to {width}"
            raise InputError(describe("X-WIDTH", "X", found))
