"""What can be asked of a fitted booster besides predictions: calibration, and suspect labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from committee.core.members import Floats
from committee.ensembles.bagging import BaggingClassifier
from committee.ensembles.boosting.certified import Certified
from committee.ensembles.boosting.suspects import SuspectLabels, rank_suspects


class SecondOpinions(Certified):
    """Calibration by scikit-learn, and the training rows that look mislabelled."""

    def _of_rows(self, weight: Floats) -> Floats:
        """Give one weight per row, where each class has a run of its own."""
        return weight if weight.ndim == 1 else np.asarray(weight.mean(axis=0))

    def calibrate(self, X: Any, y: Any, method: str = "sigmoid") -> Any:
        """Calibrate the probabilities on rows that the model was not fitted to.

        ``1 / (1 + exp(-2 F))`` is the probability that the exponential loss aims at; after many
        rounds it is nearly 0 or 1.

        Parameters
        ----------
        X, y : array-like
            Other rows than those of the fit.
        method : {"sigmoid", "isotonic", "temperature"}, default="sigmoid"
            scikit-learn's.

        Returns
        -------
        CalibratedClassifierCV
            scikit-learn's, around this model, which stays as it is.
        """
        check_is_fitted(self)
        from sklearn.calibration import CalibratedClassifierCV  # slow to import

        return CalibratedClassifierCV(FrozenEstimator(self), method=method).fit(X, y)

    def suspect_labels(
        self, X: Any, y: Any, sample_weight: Any = None, *, n_bags: int = 20
    ) -> SuspectLabels:
        """Rank the training rows by how suspect their labels are.

        Parameters
        ----------
        X, y, sample_weight
            What ``fit`` was given.
        n_bags : int, default=20
            Copies of this booster that are fitted on bootstrap bags, as witnesses that have not
            seen about a third of the rows each.

        Returns
        -------
        SuspectLabels
            All rows, the most suspect first, with the final weight of the booster and the margin
            by the copies that have not seen the row.
        """
        *_, last = self.staged_sample_weight(X, y, sample_weight)
        weight = self._of_rows(last)
        train = self._known(X, y, sample_weight)
        known = self.get_params(deep=False)
        once = {name: False for name in ("warm_start", "early_stopping") if name in known}
        copy = clone(self).set_params(**once)
        witnesses = BaggingClassifier(
            copy, n_bags, voting="hard", oob_score=True, random_state=self.origin_.seed % 2**32
        ).fit(X, y, sample_weight=sample_weight)
        shares = witnesses.oob_decision_function_
        if train.kept is not None:
            weight, shares = weight[train.kept], shares[train.kept]
        found = rank_suspects(np.asarray(weight), shares, train.y, self.classes_)
        if train.kept is None:
            return found
        return SuspectLabels(**{**vars(found), "row": train.kept[found.row]})
