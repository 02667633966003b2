"""From the mean of a committee to what users ask for: labels, probabilities, numbers, in stages.

An estimator says how its committee is asked; the answers are the same for all. Of equal classes
the first in the order of ``classes_`` wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from committee.core.committee import Committee
from committee.core.log_shares import LogShares
from committee.core.members import Floats
from committee.core.threads import Threaded
from committee.data import InputError
from committee.data.errors import describe

FEW_ROWS = 4096  # up to here waking other threads costs more than it saves


class MeanOpinion(Threaded):
    """An estimator whose prediction is the mean of its members' outputs."""

    committee_: Committee

    def _rows(self, X: Any) -> Any:
        """Read rows as the committee wants them."""
        raise NotImplementedError

    def _mean(self, X: Any) -> Floats:
        check_is_fitted(self)
        rows = self._rows(X)
        sums = self.committee_.decision(rows, n_threads=self._threads_for(X))
        return sums / len(self.committee_)

    def _staged_means(self, X: Any) -> Iterator[Floats]:
        check_is_fitted(self)
        committee, rows = self.committee_, self._rows(X)
        for k, total in enumerate(committee.staged(rows, n_threads=self._threads_for(X)), 1):
            yield total / k

    def _threads_for(self, X: Any) -> int:
        n_rows = len(X) if hasattr(X, "__len__") and not hasattr(X, "nnz") else FEW_ROWS + 1
        return 1 if n_rows <= FEW_ROWS else self._threads()


class ClassOpinion(MeanOpinion, LogShares, ClassifierMixin):
    """Labels and probabilities from mean class shares."""

    classes_: npt.NDArray[Any]

    def _labels(self, shares: Floats) -> npt.NDArray[Any]:
        if shares.shape[1] != len(self.classes_):
            found = f"classes_ holds {len(self.classes_)} classes, the members {shares.shape[1]}"
            raise InputError(describe("M-CLASSES", "classes_", found, fix="fit the model again"))
        return np.asarray(self.classes_.take(shares.argmax(axis=1)))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class of each row: the one with the largest mean share.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels; of equal shares the first class in the order of ``classes_``.
        """
        return self._labels(self._mean(X))

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities: the mean of the members'.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._mean(X)

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """Predict with the first member, with the first two, and so on.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples,)
            Labels.
        """
        for shares in self._staged_means(X):
            yield self._labels(shares)

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Predict probabilities with the first member, with the first two, and so on.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        yield from self._staged_means(X)


class NumberOpinion(MeanOpinion, RegressorMixin):
    """Numbers from the mean of the members'."""

    def predict(self, X: Any) -> Floats:
        """Predict the target of each row: the mean of the members' predictions.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predictions.
        """
        return flat(self._mean(X))

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Predict with the first member, with the first two, and so on.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predictions.
        """
        for means in self._staged_means(X):
            yield flat(means)


def flat(outputs: Floats) -> Floats:
    """Drop the axis of outputs where there is one output."""
    return outputs[:, 0] if outputs.shape[1] == 1 else outputs
