"""What active learners share: labelled rows that grow, a committee refitted to them, and queries.

Three rules hold for all. The committee is fitted from scratch whenever labels come, with the seed
of the first fit, so that it is a function of the labelled rows alone. A query is a function of
labelled rows, pool and seed: asked twice, it gives the same rows, in any order of the pool. And
where no committee can disagree, before two classes are known, rows are drawn at random, and the
query says so.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples, check_is_fitted

from committee.active.ballots import ballots_of
from committee.active.batches import farthest_first, row_distances
from committee.active.content import Pool, empty_pool
from committee.active.disagreement import MEASURES, Measure, check_members, find_measure
from committee.active.expected import expected_warnings
from committee.active.labelled import Labelled
from committee.active.left_out import count_left_out_errors
from committee.active.query import (
    Indices,
    Query,
    check_size,
    explain,
    ranked,
    sample_candidates,
)
from committee.active.unanimous import Unanimous, learns_one_class
from committee.core.fitted import replace_fitted
from committee.core.log_shares import LogShares
from committee.core.members import Floats
from committee.core.params import (
    SEED_CONSTRAINTS,
    THREAD_CONSTRAINTS,
    NamedParameters,
    check_params,
    choice,
    integer,
    resolve_seed,
)
from committee.core.randomness import member_seed
from committee.core.threads import Threaded
from committee.data import InputError
from committee.data.errors import describe, warn
from committee.ensembles.any_rows import container_to_ask
from committee.ensembles.opinions import FEW_ROWS


class ActiveClassifier(ClassifierMixin, LogShares, Threaded, NamedParameters, BaseEstimator):
    """A classifier that says which rows it should be taught next."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",  # the committee says more
        "measure": [choice(*MEASURES)],
        "batch": [choice("top", "diverse")],
        "shortlist": [integer(1)],
        "n_candidates": [integer(1), None],
        "classes": ["array-like", None],
        "n_jobs": THREAD_CONSTRAINTS,
        "random_state": SEED_CONSTRAINTS,
    }

    estimator: Any
    measure: str
    batch: str
    shortlist: int
    n_candidates: int | None
    classes: Any
    n_jobs: int | None
    random_state: Any
    estimator_: Any
    labelled_: Labelled
    seed_: int

    def _committee(self, seed: int, n_threads: int) -> Any:
        """Make the committee, unfitted, with seeds of its own."""
        raise NotImplementedError

    def _asked_for(self) -> int | None:
        """Tell how many members are asked for, as far as that is known before they are made."""
        return getattr(self, "n_estimators", None)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        try:
            members = get_tags(self._committee(0, 1))
        except (TypeError, ValueError):  # parameters that fit will refuse
            return tags
        tags.input_tags.sparse = members.input_tags.sparse
        tags.input_tags.allow_nan = members.input_tags.allow_nan
        return tags

    def _threads_for(self, n_rows: int) -> int:
        return 1 if n_rows <= FEW_ROWS else self._threads()

    def _check(self) -> None:
        """Check parameters before any work."""
        check_params(self)
        asked = self._asked_for()
        if isinstance(asked, int) and not isinstance(asked, bool):
            check_members(asked)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the committee to the first labelled rows; what was taught before is forgotten.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The labelled rows.
        y : array-like of shape (n_samples,)
            Their classes. One class alone is a cold start: queries are random until there are two.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, where the committee takes any.

        Returns
        -------
        estimator
            The fitted model.
        """
        self._check()
        name, n_threads = type(self).__name__, self._threads()
        labelled = Labelled.read(X, y, sample_weight, self.classes, name, n_threads=n_threads)
        seed = resolve_seed(self.random_state, name)
        return self._learn(labelled, seed, n_threads, first=True)

    def teach(
        self, X: Any, y: Any, sample_weight: Any = None, *, new_classes: bool = False
    ) -> Self:
        """Add labelled rows, and fit the committee anew to all.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows, in a container like that of ``fit``.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Their weights; rows without count 1.
        new_classes : bool, default=False
            Whether labels may be outside the known classes, which are those given to ``fit``, or
            declared in ``classes``.

        Returns
        -------
        estimator
            The model, fitted to all labelled rows. Before ``fit`` this is ``fit``.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X, y, sample_weight)
        self._check()
        container_to_ask(self, X)
        name, n_threads = type(self).__name__, self._threads()
        labelled = self.labelled_.taught(
            X, y, sample_weight, name, new_classes=new_classes, n_threads=n_threads
        )
        return self._learn(labelled, self.seed_, n_threads, first=False)

    def _learn(self, labelled: Labelled, seed: int, n_threads: int, *, first: bool) -> Self:
        """Fit the committee; nothing of the model is changed before that is done."""
        fitted = self._fitted(labelled, seed, n_threads, first=first)
        known = {"estimator_": fitted, "labelled_": labelled, "seed_": seed}
        known["classes_"] = labelled.classes
        known["n_features_in_"] = labelled.X.shape[1]
        names = getattr(fitted, "feature_names_in_", None)
        if names is not None:
            known["feature_names_in_"] = names
        replace_fitted(self, known)
        return self

    def _fitted(self, labelled: Labelled, seed: int, n_threads: int, *, first: bool) -> Any:
        estimator = self._committee(seed, n_threads)
        params = labelled.weights_for(estimator)
        if len(labelled.classes) == 1 and not learns_one_class(self.estimator):
            return Unanimous(type(self).__name__).fit(labelled.X, labelled.y)
        with expected_warnings(rows=not first):
            fitted = estimator.fit(labelled.X, labelled.y, **params)
        if len(labelled.classes) > 1:
            members = len(ballots_of(fitted).weights)
            if members < 2 and self._asked_for() is None:
                check_members(members)
        return fitted

    def _current(self) -> Any:
        """Return the committee, unless what is known of it was changed."""
        check_is_fitted(self)
        if not np.array_equal(self.classes_, self.estimator_.classes_):
            found = f"classes_ is {self.classes_!r}, the committee's {self.estimator_.classes_!r}"
            raise InputError(describe("M-CLASSES", "classes_", found, fix="fit the model again"))
        return self.estimator_

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class of each row by the current committee.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        return np.asarray(self._current().predict(X))

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities by the current committee.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return np.asarray(self._current().predict_proba(X))

    def disagreement(self, X: Any) -> Floats:
        """Measure how much the committee disagrees about each row, by ``measure``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The measure: margins are small where members disagree, the others large.
        """
        check_is_fitted(self)
        measure = find_measure(self.measure)
        return self._asked(container_to_ask(self, X), measure)[0]

    def query(self, pool: Any, k: int = 1) -> Query:
        """Choose rows to ask about.

        Parameters
        ----------
        pool : array-like, sparse matrix, data frame or Pool of shape (n_rows, n_features)
            Rows without a label; ``Pool.read`` reads them once for many queries. Those that equal
            a labelled row are skipped, and counted.
        k : int, default=1
            How many to choose; all, with a warning, where the pool has fewer.

        Returns
        -------
        Query
            Their positions in the pool, the disagreement about each, and the reason. Ties are
            drawn by the content of the rows and the seed; of equal rows one is chosen.
        """
        check_params(self)
        check_size(k, type(self).__name__)
        known = Pool.read(pool, self._threads_for(_num_rows(pool)))
        return self.choose(known, k, np.arange(len(known)))

    def choose(self, pool: Pool, k: int, places: Indices) -> Query:
        """Choose among some rows of a pool; see :meth:`query`.

        Parameters
        ----------
        pool : Pool
            The rows.
        k : int
            How many to choose.
        places : ndarray of int
            Positions to choose from.

        Returns
        -------
        Query
            The rows chosen.
        """
        check_size(k, type(self).__name__)
        return self._asking(pool)._choose(pool, k, places)

    def _asking(self, pool: Pool) -> ActiveClassifier:
        """Return who is asked."""
        return self

    def _choose(self, pool: Pool, k: int, places: Indices) -> Query:
        fitted, fresh = self.__sklearn_is_fitted__(), places
        if fitted:
            container_to_ask(self, pool.X)
            fresh = places[~np.isin(pool.keys[places], self.labelled_.keys)]
        if not len(fresh):
            raise empty_pool(f"all {len(places)} rows of it were labelled before")
        if k > len(fresh):
            found = f"k={k} rows asked for, the pool has {len(fresh)} without a label"
            warn(describe("Q-POOL", "k", f"{found}; all of them are chosen"))
        asked_at = len(self.labelled_) if fitted else 0
        seed = self.seed_ if fitted else resolve_seed(self.random_state, type(self).__name__)
        seed = member_seed(seed, asked_at)
        size = None if self.n_candidates is None else max(k, self.n_candidates)
        candidates = sample_candidates(fresh, pool.keys, size, member_seed(seed, 1))
        counts = (len(places), len(places) - len(fresh), len(candidates))
        if not fitted or len(self.classes_) < 2:
            return self._at_random(pool, candidates, k, seed, counts)
        return self._by_disagreement(pool, candidates, k, seed, counts)

    def _at_random(
        self, pool: Pool, candidates: Indices, k: int, seed: int, counts: tuple[int, int, int]
    ) -> Query:
        """Draw rows where no committee can disagree."""
        why = "random: no row has a label yet"
        if self.__sklearn_is_fitted__():
            why = f"random: all {len(self.labelled_)} labels are {self.classes_.tolist()[0]!r}"
        order = ranked(np.zeros(len(candidates)), pool.keys[candidates], seed, k)[:k]
        chosen = candidates[order]
        reasons = (f"{why}, and a committee needs two classes to disagree",) * len(chosen)
        return Query(chosen, np.full(len(chosen), np.nan), reasons, "random", *counts)

    def _by_disagreement(
        self, pool: Pool, candidates: Indices, k: int, seed: int, counts: tuple[int, int, int]
    ) -> Query:
        """Choose the rows that the members dispute most."""
        measure = find_measure(self.measure)
        if 2 * len(candidates) > len(pool):  # cheaper than to copy most of the pool
            values, shares = self._asked(pool.X, measure)
            values, shares = values[candidates], shares[candidates]
        else:
            values, shares = self._asked(_safe_indexing(pool.X, candidates), measure)
        disagreement = measure.disagreement(values)
        wanted = k if self.batch == "top" else k * self.shortlist
        order = ranked(disagreement, pool.keys[candidates], seed, wanted)[:wanted]
        rest = self._remark(values)
        if self.batch == "diverse" and len(order) > k:
            short = _safe_indexing(pool.X, candidates[order])
            order = order[farthest_first(row_distances(short), len(order), k)]
            rest += f"; spread over the {wanted} most disputed"
        order = order[:k]
        unit = "the votes" if measure.needs[0].endswith("votes") else "the mean probability"
        if measure.needs[0] == "weighted_votes":
            unit = "the weight"
        reasons = explain(measure.title, values[order], shares[order], self.classes_, unit, rest)
        return Query(candidates[order], disagreement[order], reasons, measure.name, *counts)

    def _remark(self, values: Floats) -> str:
        """Say that a committee has come out as a single member, so that all rows tie."""
        if len(ballots_of(self.estimator_).weights) > 1:
            return ""
        return "; one member came out, so that all rows tie and the choice is random"

    def _asked(self, X: Any, measure: Measure) -> tuple[Floats, Floats]:
        """Ask the committee: the measure of each row, and what the members say together."""
        committee = self.estimator_
        if isinstance(committee, Unanimous):  # it stands for members that would say the same
            committee = [committee, committee]
        ballots = ballots_of(committee)
        with expected_warnings(rows=True):
            tally = ballots.tally(X, measure, self._threads_for(_num_samples(X)))
        return measure.of(tally), getattr(tally, measure.needs[0])

    def out_of_bag_error(self) -> tuple[int, int]:
        """Count the labelled rows that the members who left them out get wrong.

        Labelled rows were chosen because they are disputed, so that their error is higher than
        that of the pool; its course tells whether more labels still help.

        Returns
        -------
        tuple of int
            Rows that are wrong, and rows that some member left out.
        """
        model = self._current()
        return count_left_out_errors(model, self.labelled_.X, self.labelled_.y)


def _num_rows(pool: Any) -> int:
    return len(pool) if isinstance(pool, Pool) else int(_num_samples(pool))
