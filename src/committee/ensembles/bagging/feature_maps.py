"""Feature maps: the representation in which a member sees the rows, drawn by (seed, member).

Feature subsets are Ho's random subspaces (1998); projections keep distances within 1 ± eps when
k >= 4 ln n / (eps²/2 - eps³/3) (Johnson and Lindenstrauss 1984, Dasgupta and Gupta 2003), also with
two thirds of the entries zero (Achlioptas 2003). Sums run in a fixed order, feature after feature,
so that a row alone has the bits it has in a batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import _safe_indexing

from committee.data.frames import open_frame

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
BLOCK = 1 << 20  # cells of a dense matrix projected in one go


@runtime_checkable
class FeatureMap(Protocol):
    """Anything that turns rows into the rows a member sees."""

    def transform(self, X: Any) -> Any:
        """Map rows."""


def johnson_lindenstrauss_size(n_rows: int, eps: float) -> int:
    """Count the components that keep all distances between rows within 1 ± eps.

    Parameters
    ----------
    n_rows : int
        The number of rows.
    eps : float
        The distortion of squared distances, between 0 and 1.

    Returns
    -------
    int
        ``ceil(4 ln n / (eps²/2 - eps³/3))``.

    Examples
    --------
    >>> from committee.ensembles.bagging.feature_maps import johnson_lindenstrauss_size
    >>> johnson_lindenstrauss_size(1000, 0.5)
    332
    """
    return math.ceil(4 * math.log(n_rows) / (eps**2 / 2 - eps**3 / 3))


@dataclass(frozen=True, eq=False)
class FeatureSubset:
    """Some of the features, in ascending order: the random subspace.

    Attributes
    ----------
    features : ndarray of int
        The columns; one may stand there twice when drawn with replacement.
    n_features : int
        How many there were to draw from.
    """

    features: Ints
    n_features: int

    @classmethod
    def draw(
        cls, rng: np.random.Generator, n_features: int, size: int, *, replace: bool = False
    ) -> Self:
        """Draw ``size`` of ``n_features`` columns."""
        return cls(np.sort(rng.choice(n_features, size, replace=replace)), n_features)

    @property
    def whole(self) -> bool:
        """Whether these are all features, once each."""
        return np.array_equal(self.features, np.arange(self.n_features))

    def transform(self, X: Any) -> Any:
        """Select the columns; frames stay frames unless a column is wanted twice."""
        if self.whole:
            return X
        repeated = len(np.unique(self.features)) < len(self.features)
        if repeated and open_frame(X) is not None:
            X = np.asarray(X)  # a frame cannot hold two columns of one name
        return _safe_indexing(X, self.features, axis=1)


@dataclass(frozen=True, eq=False)
class Projection:
    """Rows times a random matrix.

    Attributes
    ----------
    matrix : ndarray or csr_array of shape (n_features, n_components)
        The directions, one a column, divided by the scale of each feature.
    fill : ndarray of shape (n_features,)
        What stands in for a missing value: the mean of the rows the map was drawn for.
    """

    matrix: Any
    fill: Floats

    @staticmethod
    def directions(rng: np.random.Generator, n_features: int, n_components: int) -> Any:
        """Draw the matrix."""
        raise NotImplementedError

    @classmethod
    def draw(
        cls,
        rng: np.random.Generator,
        n_features: int,
        n_components: int,
        *,
        fill: Floats | None = None,
        scale: Floats | None = None,
    ) -> Self:
        """Draw the directions; ``scale`` brings the features to one unit first."""
        matrix = cls.directions(rng, n_features, n_components)
        if scale is not None:
            by_feature = (1 / scale)[:, None]
            matrix = (
                matrix.multiply(by_feature).tocsr()
                if sparse.issparse(matrix)
                else matrix * by_feature
            )
        return cls(matrix, np.zeros(n_features) if fill is None else fill)

    def transform(self, X: Any) -> Any:
        """Project rows; sparse rows are not spread out on the way."""
        if sparse.issparse(X):
            return filled_sparse(X, self.fill) @ self.matrix
        values = filled(as_floats(X), self.fill)
        out = np.empty((len(values), self.matrix.shape[1]))
        step = max(1, BLOCK // max(1, values.shape[1]))
        for begin in range(0, len(values), step):
            rows = slice(begin, begin + step)
            product = sparse.csr_array(values[rows]) @ self.matrix
            out[rows] = product.toarray() if sparse.issparse(product) else product
        return out


class GaussianProjection(Projection):
    """A matrix of independent N(0, 1/k); projected rows are dense."""

    @staticmethod
    def directions(rng: np.random.Generator, n_features: int, n_components: int) -> Floats:
        """Draw the matrix."""
        return rng.normal(size=(n_features, n_components)) / math.sqrt(n_components)


class SparseProjection(Projection):
    """Achlioptas' matrix: sqrt(3/k) times +1, 0, -1 with chances 1/6, 2/3, 1/6.

    Sparse rows stay sparse.
    """

    @staticmethod
    def directions(
        rng: np.random.Generator, n_features: int, n_components: int
    ) -> sparse.csr_array:
        """Draw the matrix."""
        sign = rng.choice([1.0, 0.0, -1.0], (n_features, n_components), p=[1 / 6, 2 / 3, 1 / 6])
        return sparse.csr_array(sign * math.sqrt(3 / n_components))


@dataclass(frozen=True, eq=False)
class Rotation:
    """Disjoint groups of features, each turned by an orthogonal matrix of its own.

    Attributes
    ----------
    groups : tuple of ndarray of int
        The features of each group.
    blocks : tuple of ndarray
        The orthogonal matrix of each group; its columns are the new axes.
    places : tuple of ndarray of int
        The columns in which the turned group stands: its own, so that features keep their order.
        A feature that completes the last group already has its place, and one is added at the end.
    """

    groups: tuple[Ints, ...]
    blocks: tuple[Floats, ...]
    places: tuple[Ints, ...]

    @property
    def n_columns(self) -> int:
        """Width of the rotated rows."""
        return sum(len(group) for group in self.groups)

    def transform(self, X: Floats) -> Floats:
        """Turn rows."""
        out = np.empty((len(X), self.n_columns), order="F")
        for group, block, places in zip(self.groups, self.blocks, self.places, strict=True):
            turned = X[:, group[:1]] * block[0]
            for a in range(1, len(group)):
                turned += X[:, group[a : a + 1]] * block[a]
            out[:, places] = turned
        return out


def as_floats(X: Any) -> Floats:
    """Read rows as numbers: arrays and numeric frames."""
    return np.asarray(X, dtype=np.float64)


def filled(values: Floats, fill: Floats) -> Floats:
    """Put ``fill`` in place of missing values."""
    missing = np.isnan(values)
    return np.where(missing, fill, values) if missing.any() else values


def filled_sparse(X: Any, fill: Floats) -> sparse.csr_array:
    """Do the same for the stored values of a sparse matrix."""
    rows = sparse.csr_array(X, dtype=np.float64)
    missing = np.isnan(rows.data)
    if missing.any():
        rows = rows.copy()
        rows.data[missing] = fill[rows.indices[missing]]
    return rows


def weighted_moments(X: Any, weight: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each feature over the values that are not missing.

    A feature without spread has scale 1: it is left as it is.
    """
    weight = weight / weight.max()
    if sparse.issparse(X):
        return _sparse_moments(sparse.csr_array(X, dtype=np.float64), weight)
    values = as_floats(X)
    known = ~np.isnan(values)
    by_row = weight[:, None]
    total = (by_row * known).sum(axis=0)  # sums by NumPy: those of BLAS depend on its threads
    total[total == 0] = 1
    mean = (by_row * np.where(known, values, 0)).sum(axis=0) / total
    spread = (by_row * np.where(known, values - mean, 0) ** 2).sum(axis=0) / total
    return mean, np.sqrt(np.where(spread > 0, spread, 1))


def _sparse_moments(X: sparse.csr_array, weight: Floats) -> tuple[Floats, Floats]:
    rows = X.copy()
    missing = sparse.csr_array((np.isnan(rows.data) * 1.0, rows.indices, rows.indptr), rows.shape)
    rows.data = np.nan_to_num(rows.data, nan=0.0)
    total = weight.sum() - weight @ missing
    total[total == 0] = 1
    mean = weight @ rows / total
    spread = weight @ rows.power(2) / total - mean**2
    return mean, np.sqrt(np.where(spread > 1e-12 * mean**2, spread, 1))
