"""Importances from left-out rows, on plain arrays and through the methods of committees."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from committee.core.bags import LeftOut
from committee.core.importance import permutation_drops, permuted, split_gains, summary
from committee.core.importance_methods import OutOfBagMethods, Training, TreeArrays
from committee.data import InputError


class Judge(OutOfBagMethods):
    """The methods over scikit-learn's forests, whose bags are known."""

    def __init__(self, model, n_jobs=None):
        self.model, self.n_jobs = model, n_jobs

    def _training(self, X, y, sample_weight):
        classes = getattr(self.model, "classes_", None)
        trees = self.model.estimators_
        bags = self.model.estimators_samples_
        target = y if classes is None else np.searchsorted(classes, y)
        plain = np.asarray(X, dtype=float)

        def outputs(member, rows):
            tree, rows = trees[member], np.asarray(rows, dtype=float)
            return tree.predict(rows)[:, None] if classes is None else tree.predict_proba(rows)

        def arrays(member):
            t = trees[member].tree_
            values = t.value[:, 0, :] if classes is not None else t.value[:, :, 0]
            leaf = trees[member].apply(plain)
            return TreeArrays(t.children_left, t.children_right, t.feature, values, leaf)

        masks = np.ones((len(bags), len(y)), dtype=bool)
        for mask, bag in zip(masks, bags, strict=True):
            mask[bag] = False
        return Training(
            rows=X,
            target=np.asarray(target, dtype=float)[:, None],
            classes=None if classes is None else [classes],
            weight=sample_weight,
            left_out=LeftOut.of_masks(masks),
            outputs=outputs,
            n_features=X.shape[1],
            feature_names=np.array(X.columns) if hasattr(X, "columns") else None,
            trees=arrays,
        )


def classes_with_noise(n=400, seed=0):
    """One informative binary feature; noise features of 2 to 1000 levels."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, k, n) for k in (2, 2, 4, 10, 100, 1000)]).astype(float)
    y = np.where(rng.random(n) < 0.75, X[:, 0], 1 - X[:, 0]).astype(int)
    return X, y


def numbers(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 1] = X[:, 0] + 0.05 * rng.normal(size=n)
    return X, X[:, 0] + X[:, 2] ** 2 + 0.3 * rng.normal(size=n) + 100


@pytest.fixture(scope="module")
def regression():
    X, y = numbers()
    return X, y, RandomForestRegressor(60, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def classification():
    X, y = classes_with_noise()
    return X, y, RandomForestClassifier(50, random_state=0).fit(X, y)


def test_permutation_by_hand(regression):
    """The drops equal a plain loop that copies all rows and permutes by the same keys."""
    X, y, model = regression
    found = Judge(model).permutation_importance(X, y, n_repeats=2, random_state=5)
    expected = np.empty((4, 60))
    for member, (tree, bag) in enumerate(
        zip(model.estimators_, model.estimators_samples_, strict=True)
    ):
        rows = np.setdiff1d(np.arange(len(y)), bag)
        error = np.mean((tree.predict(X[rows]) - y[rows]) ** 2)
        for feature in range(4):
            rng = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(member, feature)))
            rise = 0
            for _ in range(2):
                changed = X[rows].copy()
                changed[:, feature] = changed[rng.permutation(len(rows)), feature]
                rise += (np.mean((tree.predict(changed) - y[rows]) ** 2) - error) / 2
            expected[feature, member] = rise
    np.testing.assert_allclose(found.importances, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.importances_mean, expected.mean(axis=1))
    np.testing.assert_allclose(found.importances_std, expected.std(axis=1, ddof=1))
    np.testing.assert_allclose(found.importances_se, found.importances_std / np.sqrt(60))


def test_permutation_finds_what_matters(classification):
    X, y, model = classification
    found = Judge(model).permutation_importance(X, y, random_state=0)
    assert found.importances_mean.argmax() == 0
    assert found.importances_mean[0] > 0.1
    assert np.abs(found.importances_mean[1:]).max() < 0.02
    assert found.importances_mean[0] > 10 * found.importances_se[0]


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_same_bits_for_any_n_jobs(classification, n_jobs):
    X, y, model = classification
    alone = Judge(model).permutation_importance(X, y, random_state=3)
    together = Judge(model).permutation_importance(X, y, random_state=3, n_jobs=n_jobs)
    assert alone.importances.tobytes() == together.importances.tobytes()


def test_a_feature_does_not_depend_on_the_others_asked_for(regression):
    X, y, model = regression
    every = Judge(model).permutation_importance(X, y, random_state=1)
    one = Judge(model).permutation_importance(X, y, random_state=1, features=[2])
    assert (one.importances[0] == every.importances[2]).all()


def test_correlated_features_count_together(regression):
    """Each stands in for the other; only the pair shows what both are worth."""
    X, y, model = regression
    found = Judge(model).permutation_importance(X, y, features=[0, 1, (0, 1)], random_state=0)
    assert found.features == [0, 1, (0, 1)]
    single, pair = found.importances_mean[:2], found.importances_mean[2]
    assert pair > 1.2 * single.sum()


def test_constant_column_is_exactly_zero():
    X, y = numbers()
    X[:, 3] = 7
    model = RandomForestRegressor(10, random_state=0).fit(X, y)
    assert (Judge(model).permutation_importance(X, y).importances[3] == 0).all()
    assert (Judge(model).debiased_importance(X, y).importances[3] == 0).all()


def test_rows_are_left_as_they_were(regression):
    X, y, model = regression
    before = X.copy()
    Judge(model).permutation_importance(X, y, features=[(0, 3)])
    assert (before == X).all()


def test_frames_and_names(regression):
    X, y, model = regression
    names = ["age", "mass", "time", "site"]
    plain = Judge(model).permutation_importance(X, y, features=[0, (1, 2)], random_state=0)
    for frame in (
        pd.DataFrame(X, columns=names, index=np.arange(len(X))[::-1]),
        pl.DataFrame(X, names),
    ):
        found = Judge(model).permutation_importance(
            frame, y, features=["age", ["mass", "time"]], random_state=0
        )
        assert found.features == ["age", ("mass", "time")]
        np.testing.assert_array_equal(found.importances, plain.importances)


def test_permuted_sparse_equals_dense():
    stored = sparse.random(30, 5, 0.4, random_state=0, format="csc")
    dense = stored.toarray()
    order = np.random.default_rng(0).permutation(30)
    with permuted(stored, (1, 4), order) as a, permuted(dense, (1, 4), order) as b:
        assert (a.toarray() == b).all()
        assert all((np.diff(a.indices[slice(*a.indptr[k : k + 2])]) > 0).all() for k in range(5))
    assert (stored.toarray() == dense).all()


def test_scorers(classification):
    X, y, model = classification
    judge, asked = Judge(model), {"features": [0, 5], "random_state": 0}
    ours = judge.permutation_importance(X, y, **asked)
    theirs = judge.permutation_importance(X, y, scoring="accuracy", **asked)
    np.testing.assert_allclose(ours.importances, theirs.importances, atol=1e-12)
    brier = judge.permutation_importance(X, y, scoring="neg_brier_score", **asked)
    assert brier.importances_mean.argmax() == 0

    def count(estimator, rows, true):
        assert len(rows) == len(true)
        return -float((estimator.predict(rows) != true).sum())

    wrong = judge.permutation_importance(X, y, scoring=count, **asked)
    assert wrong.importances_mean[0] > 5


def test_scorer_for_numbers(regression):
    X, y, model = regression
    ours = Judge(model).permutation_importance(X, y, random_state=0)
    theirs = Judge(model).permutation_importance(
        X, y, random_state=0, scoring="neg_mean_squared_error"
    )
    np.testing.assert_allclose(ours.importances, theirs.importances, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error"])
def test_weights_are_repetitions(regression, scoring):
    """Rows of weight 0 do not count; doubling all weights changes nothing."""
    X, y, model = regression
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    judge = Judge(model)
    once = judge.permutation_importance(X, y, sample_weight=weight, scoring=scoring, random_state=0)
    twice = judge.permutation_importance(
        X, y, sample_weight=2 * weight, scoring=scoring, random_state=0
    )
    plain = judge.permutation_importance(X, y, scoring=scoring, random_state=0)
    np.testing.assert_allclose(once.importances, twice.importances, rtol=1e-10, atol=1e-12)
    assert not np.allclose(once.importances, plain.importances)


def test_members_without_left_out_rows_say_nothing():
    X, y = numbers(40)
    drops = permutation_drops(
        lambda member, rows: rows[:, :1],
        lambda outputs, indices, rows: -np.mean((outputs[:, 0] - y[indices]) ** 2),
        X,
        [np.arange(10), np.array([], dtype=np.int64), np.arange(5, 30)],
        [(0,), (3,)],
    )
    assert np.isnan(drops[:, 1]).all()
    assert (drops[1, [0, 2]] == 0).all()
    found = summary(drops, [0, 3])
    np.testing.assert_allclose(found.importances_mean[0], drops[0, [0, 2]].mean())
    np.testing.assert_allclose(found.importances_se[0], drops[0, [0, 2]].std(ddof=1) / np.sqrt(2))


def test_one_member_has_no_error():
    found = summary(np.array([[0.5], [np.nan]]), ["a", "b"])
    assert found.importances_mean[0] == 0.5
    assert np.isnan(found.importances_mean[1])
    assert np.isnan(found.importances_se).all()


def test_debiased_is_the_ordinary_importance_on_the_bag(regression, classification):
    for X, y, model in (regression, classification):
        judge = Judge(model)
        training = judge._training(X, y, None)
        for member in (0, 7):
            bag = model.estimators_samples_[member]
            tree = training.trees(member)
            found = split_gains(
                tree.left,
                tree.right,
                tree.feature,
                tree.values,
                tree.leaf[bag],
                training.indicators()[bag],
                None,
                X.shape[1],
            )
            expected = model.estimators_[member].tree_.compute_feature_importances(normalize=False)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_debiased_by_hand(regression):
    """Every node by itself, with masks of the rows in it: the covariance of target and value."""
    X, y, model = regression
    tree = model.estimators_[3].tree_
    rows = np.setdiff1d(np.arange(len(y)), model.estimators_samples_[3])
    expected, value = np.zeros(4), tree.value[:, 0, 0]
    inside = model.estimators_[3].decision_path(X[rows]).toarray().astype(bool)
    for node in np.flatnonzero((tree.children_left >= 0) & inside.any(axis=0)):
        here = inside[:, node]
        goes_left = inside[here, tree.children_left[node]]
        left, right = tree.children_left[node], tree.children_right[node]
        child = np.where(goes_left, value[left], value[right])
        target = y[rows][here]
        gain = np.sum((target - target.mean()) * (child - child.mean()))
        expected[tree.feature[node]] += gain / len(rows)
    found = Judge(model).debiased_importance(X, y).importances[:, 3]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_debiased_does_not_favour_many_levels():
    """Over ten data sets: the ordinary importance rises with the levels, the debiased is zero."""
    ordinary, debiased = [], []
    for seed in range(10):
        X, y = classes_with_noise(300, seed)
        model = RandomForestClassifier(40, random_state=0).fit(X, y)
        ordinary.append(model.feature_importances_)
        debiased.append(Judge(model).debiased_importance(X, y).importances_mean)
    ordinary, debiased = np.array(ordinary), np.array(debiased)
    assert ordinary.mean(axis=0)[5] > ordinary.mean(axis=0)[0]  # a thousand levels of noise win
    assert (debiased.argmax(axis=1) == 0).all()
    noise = debiased[:, 1:]
    error = noise.std(axis=0, ddof=1) / np.sqrt(len(noise))
    assert (np.abs(noise.mean(axis=0)) < 3.5 * error).all()
    assert np.abs(noise.mean(axis=0)).max() < 0.05 * debiased[:, 0].mean()


def test_debiased_ignores_an_added_constant(regression):
    X, y, model = regression
    training = Judge(model)._training(X, y, None)
    rows, tree = training.rows_left_out(0), training.trees(0)
    arrays = (tree.left, tree.right, tree.feature)
    here = split_gains(*arrays, tree.values, tree.leaf[rows], y[rows, None], None, 4)
    there = split_gains(*arrays, tree.values - 9, tree.leaf[rows], y[rows, None] + 50, None, 4)
    np.testing.assert_allclose(here, there, rtol=1e-9, atol=1e-12)


def test_debiased_with_weights(regression):
    X, y, model = regression
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    once = Judge(model).debiased_importance(X, y, sample_weight=weight)
    twice = Judge(model).debiased_importance(X, y, sample_weight=2 * weight)
    np.testing.assert_allclose(once.importances, twice.importances, rtol=1e-9)


@pytest.mark.parametrize(
    ("features", "text"),
    [([4], "4 is not a feature"), (["a"], "'a'"), ([()], "empty"), ("age", "no sequence")],
)
def test_wrong_features(regression, features, text):
    X, y, model = regression
    with pytest.raises(InputError, match=text) as error:
        Judge(model).permutation_importance(X, y, features=features)
    assert error.value.code == "P-FEATURE"


@pytest.mark.parametrize("n_repeats", [0, 1.5, True])
def test_wrong_repeats(regression, n_repeats):
    X, y, model = regression
    with pytest.raises(ValueError, match="n_repeats"):
        Judge(model).permutation_importance(X, y, n_repeats=n_repeats)


def test_debiased_needs_trees():
    class Blind(Judge):
        def _training(self, X, y, sample_weight):
            from dataclasses import replace

            return replace(super()._training(X, y, sample_weight), trees=None)

    X, y = numbers(50)
    model = RandomForestRegressor(3, random_state=0).fit(X, y)
    with pytest.raises(InputError, match="permutation_importance"):
        Blind(model).debiased_importance(X, y)
