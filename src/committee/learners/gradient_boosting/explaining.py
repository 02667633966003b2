"""What a gradient booster tells about its trees: leaves, gains, Shapley values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.core.committee import Committee
from committee.core.members import Floats
from committee.core.stages import Stages
from committee.learners.estimators import EngineEstimator


class ExplainedTrees(EngineEstimator):
    """An estimator whose committee is made of stages of trees."""

    committee_: Committee

    def _forests(self) -> tuple[_engine.Forest, ...]:
        stages = self.committee_.members
        assert isinstance(stages, Stages)
        return stages.forests

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Find the leaf of each row in each tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_rounds) or (n_samples, n_rounds, n_outputs)
            Indices of nodes inside their trees.
        """
        native, n_threads = self._read(X), self._threads()
        leaves = [f.apply(native, n_threads).astype(np.int64) for f in self._forests()]
        return leaves[0] if len(leaves) == 1 else np.stack(leaves, axis=2)

    def shap_values(self, X: Any) -> Floats:
        """Attribute each row's raw score to the features (TreeSHAP, Lundberg et al. 2020).

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features + 1) or (n_samples, n_features + 1, n_outputs)
            Exact Shapley values of the trees, given the paths of the training rows; the last
            column is what an unknown row scores. Columns add up to the raw score.
        """
        return self._explained(X, "shap_values")

    def shap_interactions(self, X: Any) -> Floats:
        """Part each feature's attribution into its own and what it shares with each other one.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features + 1, n_features + 1) or with n_outputs behind
            Symmetric; rows add up to ``shap_values``.
        """
        return self._explained(X, "shap_interactions")

    def _explained(self, X: Any, how: str) -> Floats:
        native, n_threads = self._read(X), self._threads()
        weights, intercept = self.committee_.weights, self.committee_.intercept
        outputs = []
        for k, forest in enumerate(self._forests()):
            values = getattr(forest, how)(native, weights, n_threads)[..., 0]
            values[(slice(None),) + (-1,) * (values.ndim - 1)] += intercept[k]
            outputs.append(values)
        return outputs[0] if len(outputs) == 1 else np.stack(outputs, axis=-1)

    @property
    def feature_importances_(self) -> Floats:
        """Share of the gain that each feature's splits brought, over all trees; sums to one."""
        check_is_fitted(self)
        sums = np.zeros(self.n_features_in_)
        for forest in self._forests():
            feature = (forest.feature & _engine.FEATURE_MASK).astype(np.intp)
            sums += np.bincount(feature, weights=forest.gain, minlength=len(sums))
        total = sums.sum()
        return sums / total if total > 0 else sums
