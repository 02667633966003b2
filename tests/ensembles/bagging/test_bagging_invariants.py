"""What must not change a bagged committee, and what must add up in it."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_friedman1
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier as OtherTree

from committee.ensembles.bagging import BaggingClassifier, BaggingRegressor
from committee.learners.tree import DecisionTreeClassifier, DecisionTreeRegressor


@pytest.fixture(scope="module")
def rows():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :8], y


@pytest.fixture(scope="module")
def numbers():
    return make_friedman1(200, random_state=0, noise=1.0)


CHANGES = {
    "engine": {},
    "hard": {"voting": "hard"},
    "subspace": {"max_features": 3},
    "features twice": {"bootstrap_features": True},
    "pessimistic": {"estimator": DecisionTreeClassifier(pruning="pessimistic")},
    "projection": {"feature_map": "sparse"},
    "other": {"estimator": OtherTree(max_features=2)},
    "neighbours": {"estimator": KNeighborsClassifier(3), "max_samples": 0.5},
    "pasting": {"bootstrap": False, "max_samples": 0.5},
}


@pytest.mark.parametrize("how", CHANGES)
def test_warm_start_equals_one_fit(rows, how):
    X, y = rows
    model = BaggingClassifier(n_estimators=6, oob_score=True, random_state=0, **CHANGES[how])
    with np.errstate(all="raise"):
        whole = _quiet(clone(model), X, y)
    steps = _quiet(clone(model).set_params(n_estimators=2, warm_start=True), X, y)
    steps = _quiet(steps.set_params(n_estimators=6), X, y)
    np.testing.assert_array_equal(steps.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(steps.oob_decision_function_, whole.oob_decision_function_)
    np.testing.assert_array_equal(steps.left_out_.bitmap, whole.left_out_.bitmap)
    assert steps.oob_score_ == whole.oob_score_
    assert len(steps) == len(steps.estimators_) == 6


def _quiet(model, X, y):
    """Fit a committee so small that some rows are never left out."""
    with pytest.warns(UserWarning, match="B-NEVER-OUT"):
        return model.fit(X, y)


def test_warm_start_without_a_seed_goes_on_with_the_first(rows):
    X, y = rows
    model = BaggingClassifier(n_estimators=3, warm_start=True).fit(X, y)
    first = model.bag_plan_.seed
    assert model.set_params(n_estimators=5).fit(X, y).bag_plan_.seed == first
    other = BaggingClassifier(n_estimators=5).fit(X, y)
    assert other.bag_plan_.seed != first
    drawn = model.bag_plan_.native().left_out(0, 5, 1)
    np.testing.assert_array_equal(model.left_out_.bitmap, drawn)


@pytest.mark.parametrize("how", CHANGES)
def test_order_of_rows_is_no_matter(rows, how):
    X, y = rows
    model = BaggingClassifier(n_estimators=4, random_state=0, **CHANGES[how])
    order = np.random.default_rng(0).permutation(len(y))
    expected = clone(model).fit(X, y).predict_proba(X)
    moved = clone(model).fit(X[order], y[order]).predict_proba(X)
    if how == "projection":  # the scale of a feature is a sum of floats
        np.testing.assert_allclose(moved, expected, atol=0.3)
        assert np.mean(moved != expected) < 0.01
    else:
        np.testing.assert_array_equal(moved, expected)


@pytest.mark.parametrize("how", ["engine", "subspace", "pessimistic", "neighbours"])
def test_whole_weights_are_repetitions(rows, how):
    X, y = rows
    model = BaggingClassifier(n_estimators=4, random_state=0, **CHANGES[how])
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    expected = clone(model).fit(X[again], y[again]).predict_proba(X)
    for factor in (1, 0.25):
        weighted = clone(model).fit(X, y, sample_weight=weight * factor)
        np.testing.assert_array_equal(weighted.predict_proba(X), expected)


def test_numbers_too(numbers):
    X, y = numbers
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    for how in ({}, {"max_features": 0.4}, {"estimator": DecisionTreeRegressor(ccp_alpha=0.1)}):
        model = BaggingRegressor(n_estimators=5, random_state=0, **how)
        expected = clone(model).fit(X[again], y[again]).predict(X)
        np.testing.assert_array_equal(clone(model).fit(X, y, weight).predict(X), expected)
        *_, last = clone(model).fit(X, y, weight).staged_predict(X)
        np.testing.assert_array_equal(last, expected)


def test_subspaces_of_engine_trees_are_true(rows):
    """Trees look at the features that are said to be theirs, and can be asked about these alone."""
    X, y = rows
    for replace in (False, True):
        model = BaggingClassifier(
            n_estimators=10, max_features=3, bootstrap_features=replace, random_state=0
        ).fit(X, y)
        total = np.zeros((len(y), 2))
        for member, features in zip(model.estimators_, model.estimators_features_, strict=True):
            assert len(features) == 3
            used = np.unique(member.tree_.feature[member.tree_.feature >= 0])
            assert len(used) > 1
            total += member.predict_proba(X[:, features])
        np.testing.assert_array_equal(total / 10, model.predict_proba(X))
        used = [set(np.flatnonzero(share)) for share in model.importances_]
        seen = [set(features.tolist()) for features in model.estimators_features_]
        assert all(u <= s for u, s in zip(used, seen, strict=True))
        assert len({tuple(features) for features in model.estimators_features_}) > 3


def test_subspace_is_ho_half(rows):
    X, y = rows
    model = BaggingClassifier(feature_map="subspace", bootstrap=False, random_state=0).fit(X, y)
    assert {len(features) for features in model.estimators_features_} == {4}


def test_groups_are_drawn_together(rows):
    X, y = rows
    groups = np.arange(len(y)) // 5
    model = BaggingClassifier(n_estimators=5, oob_score=False, random_state=0)
    model.fit(X, y, groups=groups)
    for member in range(5):
        out = model.left_out_.mask(member)
        assert all(len(set(out[groups == g])) == 1 for g in range(0, groups.max(), 7))
    assert model.verify_no_leak(X, y, groups=groups)


def test_stratified_bags_keep_the_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.r_[np.zeros(54), np.ones(6)]
    model = BaggingClassifier(n_estimators=30, stratify=True, random_state=0).fit(X, y)
    assert {int(y[drawn].sum()) for drawn in model.estimators_samples_} == {6}
    plain = BaggingClassifier(n_estimators=30, random_state=0).fit(X, y)
    assert len({int(y[drawn].sum()) for drawn in plain.estimators_samples_}) > 3


def test_nested_parameters_and_copies(rows):
    X, y = rows
    model = BaggingClassifier(DecisionTreeClassifier(), random_state=0)
    model.set_params(estimator__max_depth=1, n_estimators=3)
    assert model.get_params()["estimator__max_depth"] == 1
    assert clone(model).estimator.max_depth == 1
    model.fit(X, y)
    assert {member.get_depth() for member in model.estimators_} == {1}
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.verify_no_leak(X, y)
    np.testing.assert_array_equal(again.estimators_samples_[1], model.estimators_samples_[1])


def test_sizes_and_stages(rows):
    X, y = rows
    model = BaggingClassifier(n_estimators=5, max_samples=0.3, random_state=0).fit(X, y)
    assert {len(drawn) for drawn in model.estimators_samples_} == {int(0.3 * len(y))}
    stages = list(model.staged_predict_proba(X))
    np.testing.assert_array_equal(stages[-1], model.predict_proba(X))
    np.testing.assert_array_equal(stages[0], model.estimators_[0].predict_proba(X))
    shorter = BaggingClassifier(n_estimators=3, max_samples=0.3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(stages[2], shorter.predict_proba(X))
    np.testing.assert_array_equal(model.committee_[:3].decision(X) / 3, stages[2])


def test_pasting_draws_without_replacement(rows):
    X, y = rows
    for size, expected in ((1, 1), (50, 50), (0.5, len(y) // 2), (1.0, len(y)), (None, len(y))):
        model = BaggingClassifier(n_estimators=3, bootstrap=False, max_samples=size, random_state=0)
        for drawn in model.fit(X, y).estimators_samples_:
            assert len(drawn) == len(np.unique(drawn)) == expected


@pytest.mark.parametrize("estimator", [None, KNeighborsClassifier()])
def test_members_are_told_as_they_come(rows, capsys, estimator):
    BaggingClassifier(estimator, 3, verbose=1, random_state=0).fit(*rows)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("] ")[1] for line in lines] == [f"{k} of 3 members" for k in (1, 2, 3)]


def test_what_was_fitted_outlives_a_change_of_parameters(rows):
    X, y = rows
    model = BaggingClassifier(n_estimators=4, max_features=3, random_state=0).fit(X, y)
    features, expected = model.estimators_features_, model.predict_proba(X)
    model.set_params(max_features=5, random_state=1)
    assert all(map(np.array_equal, model.estimators_features_, features))
    model.set_params(n_estimators=6, warm_start=True).fit(X, y)
    assert [len(seen) for seen in model.estimators_features_] == [3, 3, 3, 3, 5, 5]
    total = np.zeros((len(y), 2))
    for member, seen in zip(model, model.estimators_features_, strict=True):
        total += member.predict_proba(X[:, seen])
    np.testing.assert_array_equal(total / 6, model.predict_proba(X))
    *_, fourth, _, _ = model.staged_predict_proba(X)
    np.testing.assert_array_equal(fourth, expected)
    hard = model.set_params(n_estimators=7, voting="hard").fit(X, y)
    votes = sum(
        np.eye(2)[m.predict(X[:, f])] for m, f in zip(hard, hard.estimators_features_, strict=True)
    )
    np.testing.assert_array_equal(votes / 7, hard.predict_proba(X))
