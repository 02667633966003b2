"""Importances of forests: engine trees asked about the rows they left out."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from committee.data import InputError
from committee.learners.extra_trees import ExtraTreesRegressor
from committee.learners.random_forest import RandomForestClassifier, RandomForestRegressor


def numbers(n=250, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + X[:, 1] ** 2 + 0.2 * rng.normal(size=n)


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_permutation_equals_a_loop_over_the_trees(kind):
    X, y = numbers()
    model = kind(12, bootstrap=True, random_state=0).fit(X, y)
    found = model.permutation_importance(X, y, random_state=7).importances
    for member, tree in enumerate(model.estimators_):
        rows = np.flatnonzero(model.left_out_.mask(member))
        error = np.mean((tree.predict(X[rows]) - y[rows]) ** 2)
        for feature in range(4):
            rng = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(member, feature)))
            changed = X[rows]
            changed[:, feature] = changed[rng.permutation(len(rows)), feature]
            rise = np.mean((tree.predict(changed) - y[rows]) ** 2) - error
            np.testing.assert_allclose(found[feature, member], rise, rtol=1e-9, atol=1e-12)


def test_debiased_on_its_own_paths():
    X, y = numbers()
    model = RandomForestRegressor(6, random_state=0).fit(X, y)
    found = model.debiased_importance(X, y).importances
    paths, begins = model.decision_path(X)
    for member in range(6):
        rows = np.flatnonzero(model.left_out_.mask(member))
        tree = model.estimators_[member].tree_
        inside = paths[rows][:, begins[member] : begins[member + 1]].toarray().astype(bool)
        value, expected = tree.value[:, 0, 0], np.zeros(4)
        for node in np.flatnonzero((tree.children_left >= 0) & inside.any(axis=0)):
            here = inside[:, node]
            left, right = tree.children_left[node], tree.children_right[node]
            child = np.where(inside[here, left], value[left], value[right])
            target = y[rows][here]
            expected[tree.feature[node]] += np.sum(
                (target - target.mean()) * (child - child.mean())
            )
        np.testing.assert_allclose(found[:, member], expected / len(rows), rtol=1e-8, atol=1e-12)


def test_sparse_equals_dense():
    rng = np.random.default_rng(0)
    stored = sparse.random(200, 10, 0.3, random_state=0, format="csr")
    y = stored[:, [0]].toarray()[:, 0] + 0.1 * rng.normal(size=200)
    one = RandomForestRegressor(8, random_state=0).fit(stored, y)
    two = RandomForestRegressor(8, random_state=0).fit(stored.toarray(), y)
    for name, params in (
        ("permutation_importance", {"random_state": 0}),
        ("debiased_importance", {}),
    ):
        here = getattr(one, name)(stored, y, **params).importances
        there = getattr(two, name)(stored.toarray(), y, **params).importances
        assert (here == there).all()


def test_categories_names_and_several_targets():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=300), "b": rng.choice(["x", "y", "z"], 300)})
    frame["b"] = frame["b"].astype("category")
    first = np.where(frame["b"] == "x", "no", "yes")
    second = (frame["a"] > 0).astype(int).astype(str)
    model = RandomForestClassifier(20, random_state=0).fit(frame, first)
    found = model.permutation_importance(frame, first, random_state=0)
    assert found.features == ["a", "b"]
    assert found.importances_mean[1] > 0.3 > 0.05 > abs(found.importances_mean[0])
    assert model.debiased_importance(frame, first).importances_mean.argmax() == 1
    y = np.column_stack([first, second])
    both = RandomForestClassifier(20, random_state=0).fit(frame, y)
    found = both.permutation_importance(frame, y, random_state=0)
    assert (found.importances_mean > 0.15).all()


def test_same_bits_for_any_n_jobs():
    X, y = numbers()
    found = [
        RandomForestRegressor(10, random_state=0, n_jobs=n)
        .fit(X, y)
        .permutation_importance(X, y, random_state=0)
        for n in (1, 3)
    ]
    assert (found[0].importances == found[1].importances).all()


def test_weights_given_to_fit():
    X, y = numbers()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    model = RandomForestRegressor(10, random_state=0).fit(X, y, sample_weight=weight)
    found = model.permutation_importance(X, y, sample_weight=weight, random_state=0)
    assert found.importances_mean[:2].min() > 10 * np.abs(found.importances_mean[2:]).max()


def test_other_rows_are_refused():
    X, y = numbers()
    model = RandomForestRegressor(5, random_state=0).fit(X, y)
    for wrong in ((X[:, ::-1], y), (X[::-1], y), (X, y + 1), (X[:50], y[:50])):
        with pytest.raises(InputError):
            model.permutation_importance(*wrong)
    whole = RandomForestRegressor(5, bootstrap=False, random_state=0).fit(X, y)
    with pytest.raises(InputError, match="no member left a row out"):
        whole.debiased_importance(X, y)
