"""Logarithms of class probabilities, for every classifier that has probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from committee.core.members import Floats


def _has_shares(model: Any) -> bool:
    return hasattr(model, "predict_proba")


class LogShares:
    """Mixin: ``predict_log_proba`` where there is ``predict_proba``."""

    @available_if(_has_shares)  # type: ignore[untyped-decorator]
    def predict_log_proba(self: Any, X: Any) -> Floats:
        """Predict the logarithm of ``predict_proba``; minus infinity where that is zero.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(shares))
