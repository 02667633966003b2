"""What a gradient booster tells about its trees: leaves, gains, Shapley values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.core.committee import Committee
from committee.core.members import Floats
from committee.core.params import invalid
from committee.core.stages import Stages
from committee.data import InputError
from committee.data.errors import describe
from committee.learners.estimators import EngineEstimator
from committee.learners.gradient_boosting.encoding import of_features
from committee.learners.gradient_boosting.linear import has_linear_leaves, trees_of


class ExplainedTrees(EngineEstimator):
    """An estimator whose committee is made of stages of trees."""

    committee_: Committee

    def _forests(self) -> tuple[_engine.Forest, ...]:
        return tuple(trees_of(forest) for forest in self._stages().forests)

    def _stages(self) -> Stages:
        stages = self.committee_.members
        assert isinstance(stages, Stages)
        return stages

    def _features(self, forest: _engine.Forest) -> npt.NDArray[np.intp]:
        """Give the feature that each node splits by."""
        columns = (forest.feature & _engine.FEATURE_MASK).astype(np.intp)
        encoding = self.schema_.encoding
        return columns if encoding is None else encoding.source[columns]

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Find the leaf of each row in each tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_trees) or (n_samples, n_trees, n_outputs)
            Indices of nodes inside their trees, of which a round has ``n_parallel_trees``; the
            latter where outputs have trees of their own.
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
        if has_linear_leaves(self._stages()):
            found = "linear_leaves=True, and the paths of a tree do not say what slopes add"
            fix = "fit with linear_leaves=False"
            raise InputError(describe("P-LINEAR", how, found, allowed="constant leaves", fix=fix))
        weights = self._stages().tree_weights(self.committee_.weights)
        parts = [getattr(f, how)(native, weights, n_threads) for f in self._forests()]
        values: Floats = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)
        values = of_features(values, self.schema_, tuple(range(1, values.ndim - 1)))
        values[(slice(None),) + (-1,) * (values.ndim - 2)] += self.committee_.intercept
        return values[..., 0] if values.shape[-1] == 1 else values

    @property
    def feature_importances_(self) -> Floats:
        """Share of the gain that each feature's splits brought, over all trees; sums to one."""
        sums = self.importances("gain")
        total = sums.sum()
        return sums / total if total > 0 else sums

    def importances(self, kind: str = "gain") -> Floats:
        """Add up over all trees what is known of the splits on each feature.

        Of training rows, all three: features with many values have more to choose from and look
        more important than they are. ``permutation_importance`` judges by other rows.

        Parameters
        ----------
        kind : {"gain", "split", "cover"}, default="gain"
            "gain" is by how much splits lowered the loss, as far as two derivatives tell, in units
            of GL^2 / (HL + l2) + GR^2 / (HR + l2) - G^2 / (H + l2); "split" the number of splits;
            "cover" the number of training rows that came to them.

        Returns
        -------
        ndarray of shape (n_features,)
            The sums; ``feature_importances_`` are those of "gain", divided by their total.
        """
        check_is_fitted(self)
        if kind not in ("gain", "split", "cover"):
            raise invalid("kind", "importances", "'gain', 'split' or 'cover'", kind)
        sums = np.zeros(self.n_features_in_)
        for forest in self._forests():
            begin = forest.tree_begin.astype(np.intp)
            node = np.arange(forest.n_nodes) - np.repeat(begin[:-1], np.diff(begin))
            is_split = forest.left != node
            told = {"gain": forest.gain, "split": is_split, "cover": forest.count}[kind]
            weights = np.where(is_split, told, 0).astype(np.float64)
            sums += np.bincount(self._features(forest), weights=weights, minlength=len(sums))
        return sums
