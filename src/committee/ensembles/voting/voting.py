"""Voting: different members, fitted on the same rows, are counted, averaged or multiplied.

The oldest way to combine minds (Condorcet 1785) and the simplest over any learners (Hansen and
Salamon 1990). Copies of one learner on changed rows are bagging; here the learners differ and the
rows do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from committee.core.committee import Committee
from committee.core.members import Floats
from committee.core.params import invalid, real
from committee.core.watching import Watch, with_callbacks
from committee.data import InputError
from committee.data.errors import describe
from committee.ensembles.panel import Panel, PanelTask, Progress, Seat
from committee.ensembles.voting.rules import Rule


class Voting(TransformerMixin, Panel):
    """What the classifier and the regressor say alike: fit, weights, and members as features."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Panel._parameter_constraints,
        "weights": "no_validation",  # _read_weights says more
        "trim": [real(0, 0.5, "left")],
        "prefit": ["boolean"],
    }

    voting: str
    weights: Any
    trim: float
    prefit: bool
    committee_: Committee
    n_outputs_: int

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the members, all on the same rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows. Frames are handed to the members as frames.
        y : array-like of shape (n_samples,), for regressors also (n_samples, n_outputs)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            For ``fit`` of the members, all of which must take it; with scikit-learn's metadata
            routing enabled, for those that request it.
        **fit_params : dict
            For ``fit`` of the members, with scikit-learn's metadata routing enabled.

        Returns
        -------
        estimator
            The fitted model.
        """
        task = self._read(X, y, sample_weight, fit_params, prefit=bool(self.prefit))
        weights = self._read_weights(task)
        self._check_members(task.seats)
        if self.prefit and sample_weight is not None:
            found = "sample_weight given, but the members are fitted already"
            raise InputError(describe("M-PREFIT", "fit", found, fix="fit without it"))
        n_jobs = 0 if self.prefit else len(task.seats)
        with Watch(self, n_jobs, X=X, y=y, metadata={"sample_weight": sample_weight}) as watch:
            fitted = self._fit_members(task, Progress(n_jobs, watch), prefit=self.prefit)
            members = [task.member(estimator, votes=self._votes) for estimator in fitted]
            attributes = {"committee_": Committee(members, weights), "n_outputs_": task.n_targets}
            self._keep(task, fitted, attributes)
        return self

    @property
    def _votes(self) -> bool:
        return self.voting == "hard"

    def _rule(self) -> Rule:
        raise NotImplementedError

    def _check_members(self, seats: tuple[Seat, ...]) -> None:
        """Refuse members that cannot say what the rule needs."""

    def _read_weights(self, task: PanelTask) -> Floats:
        """Read the weights of the members that have a seat; None is 1 each."""
        if self.weights is None:
            return np.ones(len(task.seats))
        must_be = "one number >= 0 per member, not all of them 0, or None"
        try:
            given = np.asarray(self.weights, dtype=np.float64)
        except (TypeError, ValueError):
            raise invalid("weights", type(self).__name__, must_be, self.weights) from None
        if given.shape != (len(self.estimators),):
            found = (
                "Number of `estimators` and weights must be equal; got weights of shape "
                f"{given.shape}, {len(self.estimators)} estimators"
            )
            raise InputError(describe("M-COMMITTEE", "weights", found, allowed=must_be))
        weights = given[[seat.index for seat in task.seats]]
        if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise invalid("weights", type(self).__name__, must_be, self.weights)
        if self.voting == "max" and len(set(weights[weights > 0])) > 1:
            found = f"{weights.tolist()} with voting='max', which does not count members"
            fix = "weights of 0 and 1, or voting='soft'"
            raise InputError(describe("M-COMMITTEE", "weights", found, fix=fix))
        return np.asarray(weights)

    def _combined(self, X: Any, metadata: Mapping[str, Any] | None = None) -> Floats:
        outputs = self._outputs(X, votes=self._votes, metadata=metadata)
        return self._rule()(outputs, self.committee_.weights)

    def _staged(self, X: Any) -> Iterator[Floats]:
        """Combine the first member, the first two, ...; those of weight 0 have no stage."""
        rule, outputs = self._rule(), self._outputs(X, votes=self._votes)
        weights = self.committee_.weights
        for k in np.flatnonzero(weights > 0) + 1:
            yield rule(outputs[:k], weights[:k])

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Name the columns of ``transform``.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Not used, but held against the names seen in fit.

        Returns
        -------
        ndarray of str objects
            The name of the class, of the member, and the number of the output where there are
            several.
        """
        check_is_fitted(self)
        _check_feature_names_in(self, input_features, generate_names=False)
        prefix, n_columns = type(self).__name__.lower(), self._columns_per_member()
        numbers = [""] if n_columns is None else [str(k) for k in range(n_columns)]
        names = [f"{prefix}_{name}{number}" for name in self.seats_ for number in numbers]
        return np.asarray(names, dtype=object)

    def _columns_per_member(self) -> int | None:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
