"""What estimators on engine trees share: reading rows, naming classes, walking and measuring."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.core.fitted import set_schema
from committee.core.params import (
    CATEGORICAL_CONSTRAINTS,
    THREAD_CONSTRAINTS,
    NamedParameters,
)
from committee.core.threads import Threaded
from committee.data import InputError, Schema, read_predict
from committee.data.errors import class_name, describe
from committee.data.rows import engine_table
from committee.learners.structure import Tree

Weights = npt.NDArray[np.float64] | None
SMALL_BATCH = 256  # rows that one thread predicts before others would be awake


class EngineEstimator(Threaded, NamedParameters, BaseEstimator):
    """What estimators whose members are engine trees share: schema, threads, sums over trees."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "categorical_features": CATEGORICAL_CONSTRAINTS,
        "n_jobs": THREAD_CONSTRAINTS,
    }
    _holder: ClassVar[str]  # the fitted attribute that holds the trees

    schema_: Schema
    n_outputs_: int

    def _native(self) -> _engine.Forest:
        """Return the fitted trees."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, self._holder)

    def _set_schema(self, schema: Schema) -> None:
        set_schema(self, schema)

    def _read(self, X: Any) -> _engine.Table:
        """Read rows to predict; the short way costs a few microseconds."""
        if not hasattr(self, self._holder):
            check_is_fitted(self)
        schema, n_features = self.schema_, self._native().n_features
        if not isinstance(schema, Schema):
            found = f"schema_ is {class_name(schema)}, no Schema"
            raise InputError(describe("M-TREE", "schema_", found, fix="fit the model again"))
        if n_features != schema.width:
            found = f"{self._holder} has {n_features} features, schema_ {schema.width}"
            raise InputError(describe("M-TREE", self._holder, found, fix="fit the model again"))
        return engine_table(read_predict(X, schema, estimator_name=type(self).__name__))

    def _sums(self, X: Any) -> npt.NDArray[np.float64]:
        """Sum the values of each row's leaves over the trees, in their order."""
        native = self._read(X)
        n_rows = len(X) if isinstance(X, np.ndarray) else SMALL_BATCH + 1
        n_threads = 1 if n_rows <= SMALL_BATCH else self._threads()
        return self._ask(native, n_threads)

    def _ask(self, rows: _engine.Table, n_threads: int) -> npt.NDArray[np.float64]:
        return self._native().predict(rows, n_threads=n_threads)

    def _outputs(self, X: Any) -> npt.NDArray[np.float64]:
        """Class shares or means for each row."""
        return self._sums(X)


class TreeEstimator(EngineEstimator):
    """What the estimators of one tree share: walking and measuring it."""

    _holder = "tree_"
    tree_: Tree

    def _native(self) -> _engine.Forest:
        if not isinstance(self.tree_, Tree):
            found = f"tree_ is {class_name(self.tree_)}, no Tree"
            raise InputError(describe("M-TREE", "tree_", found, fix="fit the model again"))
        return self.tree_.forest

    def _ask(self, rows: _engine.Table, n_threads: int) -> npt.NDArray[np.float64]:
        return self.tree_.predict(rows, n_threads)

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """Share of the impurity decrease that each feature's splits brought; sums to one."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    def apply(self, X: Any) -> npt.NDArray[np.int64]:
        """Find the leaf of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Indices into the arrays of ``tree_``.
        """
        native = self._read(X)
        return self.tree_.apply(native, self._threads())

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """Mark the nodes that each row passes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        csr_matrix of shape (n_samples, node_count)
            1 where a row passes a node.
        """
        native = self._read(X)
        return self.tree_.decision_path(native, self._threads())

    def get_depth(self) -> int:
        """Count the splits between the root and the deepest leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Count the leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves


class ClassOutputs(ClassifierMixin, EngineEstimator):
    """Labels and probabilities from trees whose leaves hold class shares."""

    classes_: Any
    n_classes_: Any

    def _set_classes(self, classes: list[npt.NDArray[Any]]) -> None:
        self.n_outputs_ = len(classes)
        single = len(classes) == 1
        counts = [len(c) for c in classes]
        self.classes_ = classes[0] if single else classes
        self.n_classes_ = counts[0] if single else counts

    def _class_lists(self) -> list[npt.NDArray[Any]]:
        """Class labels per output, held against the trees: a tampered attribute is an error."""
        try:
            lists = [self.classes_] if self.n_outputs_ == 1 else list(self.classes_)
            counts, width = [len(c) for c in lists], self._native().n_outputs
        except TypeError:
            found = f"classes_ or n_outputs_ was changed: {self.n_outputs_!r} output(s)"
            raise InputError(
                describe("M-CLASSES", "classes_", found, fix="fit the model again")
            ) from None
        if sum(counts) != width:
            found = f"classes_ holds {counts} classes, the leaves {width}"
            raise InputError(describe("M-CLASSES", "classes_", found, fix="fit the model again"))
        return lists

    def _split(self, outputs: npt.NDArray[np.float64]) -> list[npt.NDArray[np.float64]]:
        """Part columns of all classes by output; the classes are on the last axis."""
        ends = np.cumsum([len(c) for c in self._class_lists()])[:-1]
        return np.split(outputs, ends, axis=-1) if len(ends) else [outputs]

    def _labels(self, outputs: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        """Name the class of the largest share, the first of equal ones."""
        pairs = zip(self._class_lists(), self._split(outputs), strict=True)
        labels = [classes.take(shares.argmax(axis=1)) for classes, shares in pairs]
        return labels[0] if len(labels) == 1 else np.stack(labels, axis=1)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class of each row: the one with the largest share in its leaf or leaves.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Labels; of equal shares the first class in the order of ``classes_``.
        """
        return self._labels(self._outputs(X))

    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities: the mean shares of the classes in each row's leaves.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or a list of them for several outputs
            In the order of ``classes_``.
        """
        shares = self._split(self._outputs(X))
        return shares[0] if len(shares) == 1 else shares

    def predict_log_proba(self, X: Any) -> Any:
        """Predict the logarithm of ``predict_proba``; minus infinity where a share is zero.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or a list of them for several outputs
            In the order of ``classes_``.
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(s) for s in shares] if isinstance(shares, list) else np.log(shares)


class TreeClassifier(ClassOutputs, TreeEstimator):
    """A tree whose leaves hold class shares."""
