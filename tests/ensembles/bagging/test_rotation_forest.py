"""Rotation forest: axes that are axes, published behaviour, and the edges of its door."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

from committee.data import InputError, InputTypeError
from committee.ensembles.bagging import BaggingClassifier
from committee.ensembles.bagging.feature_maps import Rotation
from committee.ensembles.bagging.rotation import (
    Preparation,
    RotationDraw,
    draw_classes,
    draw_groups,
    draw_sample,
    principal_axes,
)
from committee.ensembles.bagging.rotation_forest import RotationForestClassifier
from committee.learners.tree import DecisionTreeClassifier


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def rotated(model, member, X):
    return model.rotations_[member].transform(model._rows(X).values)


def test_rotations_are_orthogonal_and_lose_nothing(wine):
    X, y = wine
    model = RotationForestClassifier(random_state=0).fit(X, y)
    prepared = model._rows(X).values
    for rotation in model.rotations_:
        for block in rotation.blocks:
            np.testing.assert_allclose(block.T @ block, np.eye(len(block)), atol=1e-14)
        turned = rotation.transform(prepared)
        for group, places in zip(rotation.groups, rotation.places, strict=True):
            np.testing.assert_allclose(
                np.linalg.norm(turned[:, places], axis=1),
                np.linalg.norm(prepared[:, group], axis=1),
            )
    assert len({rotation.groups[0].tobytes() for rotation in model.rotations_}) > 1


def test_members_are_trained_on_all_rows(wine):
    """An unpruned tree tells all training rows apart in any axes."""
    X, y = wine
    model = RotationForestClassifier(random_state=0).fit(X, y)
    for index, member in enumerate(model.estimators_):
        assert member.score(rotated(model, index, X), y) == 1


def test_groups_cover_all_features():
    for p in range(1, 12):
        for size in (1, 2, 3, 5):
            groups, places = draw_groups(np.random.default_rng(p), p, size)
            assert {len(group) for group in groups} == {min(size, p)}
            assert set(np.concatenate(groups).tolist()) == set(range(p))
            where = np.sort(np.concatenate(places))
            np.testing.assert_array_equal(where, np.arange(len(where)))
            for group, place in zip(groups, places, strict=True):
                assert len(set(group.tolist())) == len(group)
                own = place < p
                np.testing.assert_array_equal(group[own], place[own])


def test_principal_axes_are_those_of_a_decomposition():
    rng = np.random.default_rng(0)
    X = rng.random((300, 4)) @ rng.random((4, 4))
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    counts = rng.integers(0, 3, 300)
    axes = principal_axes(X, counts)
    expected = PCA().fit(np.repeat(X, counts, axis=0)).components_.T
    np.testing.assert_allclose(np.abs(axes), np.abs(expected), atol=1e-6)
    assert (axes[np.abs(axes).argmax(axis=0), np.arange(4)] > 0).all()


def test_axes_without_spread():
    np.testing.assert_array_equal(principal_axes(np.full((5, 3), 0.5), np.ones(5, int)), np.eye(3))


def test_classes_and_samples_are_drawn_as_in_the_paper():
    rng = np.random.default_rng(0)
    chosen = np.array([draw_classes(rng, 3) for _ in range(7000)])
    sets, counts = np.unique(chosen @ [1, 2, 4], return_counts=True)
    np.testing.assert_array_equal(sets, np.arange(1, 8))
    np.testing.assert_allclose(counts / 7000, 1 / 7, atol=0.015)
    units = np.array([0, 2, 0, 6])
    for replace in (True, False):
        drawn = np.array([draw_sample(rng, units, 0.75, replace) for _ in range(2000)])
        assert (drawn.sum(axis=1) == 6).all()
        np.testing.assert_allclose(drawn.mean(axis=0), [0, 1.5, 0, 4.5], atol=0.1)
        if not replace:
            assert (drawn <= units).all()


def test_too_small_a_sample_is_replaced_by_all_rows():
    X = np.array([[0.0, 0.0], [1.0, 0.9], [0.5, 0.6], [0.2, 0.1]])
    y = np.array([0, 1, 1, 1])
    draw = RotationDraw(group_size=2, share=0.3, replace=True)
    everything = principal_axes(X, np.ones(4, int))
    few = [draw(np.random.default_rng(s), X, y, np.ones(4)).blocks[0] for s in range(20)]
    assert any(
        np.array_equal(np.sort(np.abs(b).ravel()), np.sort(np.abs(everything).ravel())) for b in few
    )


def test_repeated_rows_and_whole_weights_are_the_same(wine):
    X, y = wine
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, len(y))
    again = rng.permutation(np.repeat(np.arange(len(y)), weight))
    model = RotationForestClassifier(n_estimators=4, random_state=0)
    weighted = clone(model).fit(X, y, sample_weight=weight).predict_proba(X)
    np.testing.assert_array_equal(clone(model).fit(X[again], y[again]).predict_proba(X), weighted)


def test_same_for_any_number_of_jobs_and_in_two_steps(wine):
    X, y = wine
    for estimator in (None, GaussianNB()):
        model = RotationForestClassifier(estimator, n_estimators=5, random_state=3).fit(X, y)
        expected = model.predict_proba(X)
        with joblib.parallel_config("threading"):
            jobs = clone(model).set_params(n_jobs=2).fit(X, y)
        np.testing.assert_array_equal(jobs.predict_proba(X), expected)
        steps = clone(model).set_params(n_estimators=2, warm_start=True).fit(X, y)
        steps.set_params(n_estimators=5).fit(X, y)
        np.testing.assert_array_equal(steps.predict_proba(X), expected)


def test_row_alone_equals_row_in_batch(wine):
    X, y = wine
    model = RotationForestClassifier(random_state=0).fit(X, y)
    batch = model.predict_proba(X)
    for row in (0, 50):
        np.testing.assert_array_equal(model.predict_proba(X[row : row + 1]), batch[row : row + 1])


def test_scale_and_shift_of_features_play_no_part(wine):
    X, y = wine
    model = RotationForestClassifier(n_estimators=4, random_state=0)
    factor = 2.0 ** np.arange(-6, 7)
    expected = clone(model).fit(X, y).predict(X)
    np.testing.assert_array_equal(clone(model).fit(X * factor, y).predict(X * factor), expected)


@pytest.mark.parametrize(
    ("name", "gain"), [("wine", 0.03), ("heart-statlog", 0.02), ("segment", 0.005)]
)
def test_beats_a_tree_and_keeps_up_with_bagging(shared_data, name, gain):
    """The paper's finding with ten members: ahead of one tree on all, of bagging on most sets."""
    X, y = shared_data(name)
    X, y = X.iloc[:900], y.iloc[:900]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scores = [
        cross_val_score(model, X, y, cv=folds).mean()
        for model in (
            DecisionTreeClassifier(random_state=0),
            BaggingClassifier(random_state=0),
            RotationForestClassifier(random_state=0),
        )
    ]
    assert scores[2] >= scores[0] + gain
    assert scores[2] >= scores[1] - 0.01


def test_missing_values_become_means_learnt_at_fit():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :6].copy()
    X[::5, 2] = np.nan
    model = RotationForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    low, high = np.nanmin(X[:, 2]), np.nanmax(X[:, 2])
    middle = np.nanmean(X[:, 2])
    filled = np.where(np.isnan(X), middle, X)
    prepared = model._rows(X).values
    assert not np.isnan(prepared).any()
    np.testing.assert_allclose(prepared[0, 2], (middle - low) / (high - low), atol=1e-7)
    assert prepared.shape == (len(y), 7)
    np.testing.assert_array_equal(prepared[:, 3], np.isnan(X[:, 2]))
    np.testing.assert_allclose(model._rows(filled).values[:, 2], prepared[:, 2], atol=1e-7)
    nowhere = np.full((1, 6), np.nan)
    assert np.isfinite(model.predict_proba(nowhere)).all()


def test_that_a_value_is_missing_may_tell_all():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    X[y == 1, 1] = np.nan
    model = RotationForestClassifier(random_state=0).fit(X[:40], y[:40])
    assert model.score(X[40:], y[40:]) == 1


def test_categories_become_indicators():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 300)
    size = rng.normal(size=300)
    y = np.where(colour == "red", size > 0, size < 0)
    frame = pd.DataFrame({"colour": pd.Categorical(colour), "size": size, "same": 1.0})
    model = RotationForestClassifier(random_state=0).fit(frame[:200], y[:200])
    preparation = model.committee_.members[0].reading.preparation
    assert preparation.columns == ((0, 0), (0, 1), (0, 2), (1, None))  # "same" is dropped
    assert model.score(frame[200:], y[200:]) > 0.9
    codes = np.column_stack([pd.Categorical(colour).codes.astype(float), size])
    by_index = RotationForestClassifier(categorical_features=[0], random_state=0)
    assert by_index.fit(codes[:200], y[:200]).score(codes[200:], y[200:]) > 0.9


def test_nothing_varies():
    X, y = np.full((20, 3), 7.0), np.arange(20) % 2
    model = RotationForestClassifier(n_estimators=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), np.full((20, 2), 0.5))
    assert isinstance(model.rotations_[0], Rotation)


def test_far_apart_values():
    X = np.array([[-1e308, 1.0], [1e308, 2.0], [0.0, 3.0], [5e307, 4.0]])
    model = RotationForestClassifier(n_estimators=2, random_state=0).fit(X, [0, 1, 0, 1])
    np.testing.assert_array_equal(model.predict(X), [0, 1, 0, 1])


def test_preparation_reads_what_was_learnt():
    from committee.data import read_fit

    table, _ = read_fit(np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0], [9.0, 5.0]]))
    prepared = Preparation.learn(table, np.array([1.0, 1.0, 1.0, 0.0]))
    np.testing.assert_allclose(prepared.transform(table), [[0, 0], [1, 0], [0.5, 1], [4, 0]])


def test_b14_sparse_rows(wine):
    X, y = wine
    with pytest.raises(InputTypeError, match=r"sparse.*toarray\(\) \(0\.0 MB\).*forest"):
        RotationForestClassifier().fit(sparse.csr_matrix(X), y)
    model = RotationForestClassifier(n_estimators=1).fit(X, y)
    with pytest.raises(TypeError, match="X-SPARSE"):
        model.predict(sparse.csr_matrix(X))


def test_b51_class_instead_of_instance(wine):
    with pytest.raises(TypeError, match="pass an instance"):
        RotationForestClassifier(DecisionTreeClassifier).fit(*wine)


def test_warm_start_refuses_other_rows(wine):
    X, y = wine
    model = RotationForestClassifier(n_estimators=2, warm_start=True, random_state=0).fit(X, y)
    before = dict(vars(model))
    with pytest.raises(InputError, match="P-WARM"):
        model.set_params(n_estimators=3).fit(X[::-1], y[::-1])
    model.set_params(n_estimators=2)
    assert vars(model) == before


def test_pickle_and_stages(wine):
    X, y = wine
    model = RotationForestClassifier(n_estimators=4, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_array_equal(again.predict_proba(X), last)
    np.testing.assert_array_equal(model.committee_.decision(X) / 4, last)
    first = next(model.staged_predict(X))
    np.testing.assert_array_equal(first, model.estimators_[0].predict(rotated(model, 0, X)))
