"""Feature maps: what they keep, how they are drawn, and which containers they leave as they are."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.datasets import make_classification

from committee.ensembles.bagging import BaggingClassifier
from committee.ensembles.bagging.feature_maps import (
    FeatureSubset,
    GaussianProjection,
    Rotation,
    SparseProjection,
    johnson_lindenstrauss_size,
    weighted_moments,
)
from committee.learners.tree import DecisionTreeClassifier

PROJECTIONS = [GaussianProjection, SparseProjection]


@pytest.mark.parametrize("kind", PROJECTIONS)
@pytest.mark.parametrize("eps", [0.3, 0.5])
def test_r48_distances_are_kept(kind, eps):
    rng = np.random.default_rng(0)
    n, p = 60, 2000
    X = rng.normal(size=(n, p)) * rng.exponential(size=p)
    k = johnson_lindenstrauss_size(n, eps)
    assert k == math.ceil(4 * math.log(n) / (eps**2 / 2 - eps**3 / 3))
    ratio = (pdist(kind.draw(rng, p, k).transform(X)) / pdist(X)) ** 2
    assert ratio.min() > 1 - eps
    assert ratio.max() < 1 + eps
    # A tenth of the components does not do.
    few = (pdist(kind.draw(rng, p, k // 10).transform(X)) / pdist(X)) ** 2
    assert few.max() > 1 + eps


@pytest.mark.parametrize("feature_map", ["gaussian", "sparse", "subspace"])
def test_r48_projected_trees_together_beat_one(feature_map):
    X, y = make_classification(600, 20, n_informative=8, n_redundant=8, random_state=0)
    model = BaggingClassifier(
        n_estimators=40, bootstrap=False, feature_map=feature_map, random_state=0
    ).fit(X[:300], y[:300])
    stages = [np.mean(labels == y[300:]) for labels in model.staged_predict(X[300:])]
    alone = [
        np.mean(member.predict(seen.transform(X[300:])) == y[300:])
        for member, seen in zip(model.estimators_, model.feature_maps_, strict=True)
    ]
    assert stages[-1] > np.mean(alone) + 0.05
    assert stages[-1] >= max(alone)


def test_entries_of_the_sparse_matrix():
    k = 40
    matrix = SparseProjection.draw(np.random.default_rng(0), 3000, k).matrix.toarray()
    values, counts = np.unique(matrix, return_counts=True)
    np.testing.assert_allclose(values, np.sqrt(3 / k) * np.array([-1, 0, 1]))
    np.testing.assert_allclose(counts / matrix.size, [1 / 6, 2 / 3, 1 / 6], atol=0.005)


def test_entries_of_the_gaussian_matrix():
    matrix = GaussianProjection.draw(np.random.default_rng(0), 3000, 40).matrix
    assert abs(matrix.mean()) < 2e-3
    np.testing.assert_allclose(matrix.var(), 1 / 40, rtol=0.02)


@pytest.mark.parametrize("kind", PROJECTIONS)
def test_sparse_rows_are_not_spread_out(kind):
    X = sparse.random_array((50, 400), density=0.02, rng=np.random.default_rng(0), format="csr")
    drawn = kind.draw(np.random.default_rng(1), 400, 300)
    out = drawn.transform(X)
    assert sparse.issparse(out) == (kind is SparseProjection)
    dense = out.toarray() if sparse.issparse(out) else out
    np.testing.assert_allclose(dense, drawn.transform(X.toarray()), atol=1e-12)


@pytest.mark.parametrize("kind", PROJECTIONS)
def test_a_row_alone_has_the_bits_it_has_in_a_batch(kind):
    X = np.random.default_rng(0).normal(size=(5000, 300))
    drawn = kind.draw(np.random.default_rng(1), 300, 20)
    batch = drawn.transform(X)
    for row in (0, 17, 4999):
        np.testing.assert_array_equal(drawn.transform(X[row : row + 1]), batch[row : row + 1])
    np.testing.assert_allclose(
        batch, X @ (drawn.matrix.toarray() if sparse.issparse(drawn.matrix) else drawn.matrix)
    )


def test_missing_values_stand_at_the_mean():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(200, 3)) + 5, rng.integers(1, 4, 200).astype(float)
    X[::7, 1] = np.nan
    mean, scale = weighted_moments(X, weight)
    repeated = np.repeat(X, weight.astype(int), axis=0)
    np.testing.assert_allclose(mean, np.nanmean(repeated, axis=0))
    np.testing.assert_allclose(scale, np.nanstd(repeated, axis=0))
    drawn = GaussianProjection.draw(np.random.default_rng(1), 3, 2, fill=mean, scale=scale)
    filled = np.where(np.isnan(X), mean, X)
    np.testing.assert_array_equal(drawn.transform(X), drawn.transform(filled))
    holes = drawn.transform(sparse.csr_array(X))
    np.testing.assert_allclose(holes, drawn.transform(X))
    for part in (mean, scale):
        assert part.shape == (3,)
    sparse_mean, sparse_scale = weighted_moments(sparse.csr_array(X), weight)
    np.testing.assert_allclose(sparse_mean, mean)
    np.testing.assert_allclose(sparse_scale, scale)


def test_constant_features_keep_their_scale():
    mean, scale = weighted_moments(np.full((5, 2), 3.0), np.ones(5))
    np.testing.assert_array_equal(mean, [3, 3])
    np.testing.assert_array_equal(scale, [1, 1])


def test_subsets_by_chance():
    drawn = [FeatureSubset.draw(np.random.default_rng(s), 5, 3).features for s in range(3000)]
    assert all(len(np.unique(features)) == 3 for features in drawn)
    counts = np.bincount(np.concatenate(drawn))
    np.testing.assert_allclose(counts / 3000, 0.6, atol=0.03)
    again = [
        FeatureSubset.draw(np.random.default_rng(s), 5, 3, replace=True).features
        for s in range(3000)
    ]
    distinct = np.mean([len(np.unique(features)) for features in again])
    assert abs(distinct - 2.44) < 0.05  # as many as in a bag of three out of five


def test_subsets_keep_the_container():
    X = np.arange(12.0).reshape(3, 4)
    chosen = FeatureSubset(np.array([1, 3]), 4)
    frame = pd.DataFrame(X, columns=list("abcd"))
    assert list(chosen.transform(frame).columns) == ["b", "d"]
    assert chosen.transform(pl.from_pandas(frame)).columns == ["b", "d"]
    for rows in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
        out = chosen.transform(rows)
        assert type(out) is type(rows)
        np.testing.assert_array_equal(out if rows is X else out.toarray(), X[:, [1, 3]])
    twice = FeatureSubset(np.array([1, 1]), 4)
    np.testing.assert_array_equal(twice.transform(frame), X[:, [1, 1]])
    assert FeatureSubset(np.arange(4), 4).transform(frame) is frame


def test_rotation_is_written_out():
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    rotation = Rotation(
        (np.array([2, 0]), np.array([1])), (turn, np.eye(1)), (np.array([2, 0]), np.array([1]))
    )
    X = np.random.default_rng(0).normal(size=(4, 3))
    out = rotation.transform(X)
    np.testing.assert_allclose(out[:, [2, 0]], X[:, [2, 0]] @ turn)
    np.testing.assert_array_equal(out[:, 1], X[:, 1])


def test_a_tree_cannot_tell_a_scaled_projection_from_its_bag():
    """The scale of a feature is learnt from the bag: left-out rows have no say in it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = (X[:, 0] > 0).astype(int)
    settings = {"n_estimators": 3, "feature_map": "gaussian", "random_state": 0}
    model = BaggingClassifier(DecisionTreeClassifier(max_depth=2), **settings).fit(X, y)
    for index, seen in enumerate(model.feature_maps_):
        bag = model.estimators_samples_[index]
        mean, scale = weighted_moments(X[bag], np.ones(len(bag)))
        np.testing.assert_allclose(seen.fill, mean, rtol=1e-12)
        plain = np.random.default_rng(
            np.random.SeedSequence(model.bag_plan_.seed, spawn_key=(index,))
        ).normal(size=(4, 2)) / np.sqrt(2)
        np.testing.assert_allclose(seen.matrix, plain / scale[:, None], rtol=1e-12)
