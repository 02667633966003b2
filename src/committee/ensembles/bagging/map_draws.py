"""How the feature map of a member is drawn: a subspace, a projection, or a transformer's copy.

Each is called with the member's random generator and the rows, targets and weights of its bag, so
that nothing is learnt from rows the member left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from committee.core.params import invalid, resolve_max_features
from committee.data import InputError, InputTypeError
from committee.data.errors import describe
from committee.ensembles.bagging.feature_maps import (
    FeatureMap,
    FeatureSubset,
    Floats,
    GaussianProjection,
    SparseProjection,
    weighted_moments,
)
from committee.ensembles.member_fitting import DrawMap, takes_weights

PROJECTIONS = {"gaussian": GaussianProjection, "sparse": SparseProjection}


@dataclass(frozen=True)
class SubspaceDraw:
    """Some of the features (Ho 1998)."""

    n_features: int
    size: int
    replace: bool

    @property
    def whole(self) -> bool:
        """Whether every member sees every feature once."""
        return self.size == self.n_features and not self.replace

    def __call__(self, rng: np.random.Generator, X: Any, y: Any, weight: Floats) -> FeatureSubset:
        """Draw them; the rows have no say."""
        return self.subset(rng)

    def subset(self, rng: np.random.Generator) -> FeatureSubset:
        """Draw the features."""
        return FeatureSubset.draw(rng, self.n_features, self.size, replace=self.replace)


@dataclass(frozen=True)
class ProjectionDraw:
    """A random projection of features brought to one scale."""

    kind: str
    n_components: int

    def __call__(self, rng: np.random.Generator, X: Any, y: Any, weight: Floats) -> FeatureMap:
        """Draw the directions; the scale is that of the bag."""
        mean, scale = weighted_moments(X, weight)
        draw = PROJECTIONS[self.kind].draw
        return draw(rng, len(mean), self.n_components, fill=mean, scale=scale)


@dataclass(frozen=True, eq=False)
class TransformerDraw:
    """A copy of a scikit-learn transformer, fitted on the bag."""

    transformer: Any

    def __call__(self, rng: np.random.Generator, X: Any, y: Any, weight: Floats) -> FeatureMap:
        """Copy, seed and fit it; what only transforms is taken as it is."""
        if not hasattr(self.transformer, "fit"):
            fixed: FeatureMap = self.transformer
            return fixed
        copy = clone(self.transformer)
        names = [name for name in copy.get_params() if f"__{name}".endswith("__random_state")]
        copy.set_params(**{name: int(rng.integers(2**32)) for name in sorted(names)})
        if takes_weights(copy):
            fitted: FeatureMap = copy.fit(X, y, sample_weight=weight)
            return fitted
        whole = weight == np.rint(weight)
        times = np.where(whole, weight, 1).astype(np.int64)  # exponential weights repeat no row
        rows = np.repeat(np.arange(len(weight)), times)
        fitted = copy.fit(_safe_indexing(X, rows), _safe_indexing(y, rows))
        return fitted


def draw_of(
    feature_map: Any,
    *,
    n_features: int,
    max_features: Any,
    replace: bool,
    n_components: int | None,
    owner: str,
) -> SubspaceDraw | DrawMap:
    """Read the parameters of the representation.

    Parameters
    ----------
    feature_map : None, "subspace", "gaussian", "sparse" or object with ``transform``
        As the user gave it.
    n_features : int
        Features of X.
    max_features, replace : object
        Of the subspace.
    n_components : int or None
        Of a projection; None is half of the features.
    owner : str
        The estimator, for messages.

    Returns
    -------
    callable
        Draws the map of a member.
    """
    size = resolve_max_features(max_features, n_features, owner)
    if isinstance(feature_map, str) and feature_map not in ("subspace", *PROJECTIONS):
        allowed = "None, 'subspace', 'gaussian', 'sparse' or a transformer"
        raise invalid("feature_map", owner, allowed, feature_map)
    if feature_map is None or (isinstance(feature_map, str) and feature_map == "subspace"):
        if feature_map is not None and max_features == 1.0 and isinstance(max_features, float):
            size = max(1, round(n_features / 2))
        return SubspaceDraw(n_features, size, replace)
    if size != n_features or replace:
        found = f"feature_map={feature_map!r} with max_features={max_features!r}"
        found += " and bootstrap_features=True" if replace else ""
        fix = "leave max_features and bootstrap_features at their defaults, or feature_map=None"
        raise InputError(describe("P-MAP", "feature_map", found, fix=fix))
    if isinstance(feature_map, str):
        wanted = max(1, round(n_features / 2)) if n_components is None else n_components
        if wanted > n_features:
            allowed = f"None or an int in the range [1, {n_features}] (X has {n_features} features)"
            raise invalid("n_components", owner, allowed, n_components)
        return ProjectionDraw(feature_map, int(wanted))
    if isinstance(feature_map, type) or not hasattr(feature_map, "transform"):
        found = f"{feature_map!r} has no transform, or is a class; pass an instance"
        allowed = "None, 'subspace', 'gaussian', 'sparse' or a transformer"
        raise InputTypeError(describe("P-MAP", "feature_map", found, allowed=allowed))
    return TransformerDraw(feature_map)
