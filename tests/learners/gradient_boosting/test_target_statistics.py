"""Ordered target statistics: by hand, against leakage, and seen from the user's features."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import log_loss
from tests.estimators import model_bits
from tests.plain_boosters import make_plain

from committee import (
    DataWarning,
    GradientBoostingClassifier,
    GradientBoostingRanker,
    GradientBoostingRegressor,
    InputError,
)
from committee.data import read_fit
from committee.data.target_statistics import ordered_encoding, random_order, sums_before
from committee.learners.gradient_boosting.encoding import encode_rows
from committee.learners.gradient_boosting.given import GivenRows
from committee.losses import Squared

ORDERED = {"categorical_encoding": "ordered_target"}


def frame_of(n, seed, n_levels=12):
    """Two numbers and two categories, of which one matters; some values are missing."""
    rng = np.random.default_rng(seed)
    level = rng.integers(n_levels, size=n)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    X["city"] = pd.Categorical([f"c{k:03}" for k in level])
    X["noise"] = pd.Categorical(rng.choice(["x", "y", "z"], size=n))
    X.loc[::17, "city"] = np.nan
    effect = np.random.default_rng(99).normal(size=n_levels)
    return X, X["a"].to_numpy() + 2 * effect[level] + 0.3 * rng.normal(size=n)


def test_six_rows_by_hand():
    """p = 4/6; each row sees those of its level above it, and one row's worth of p."""
    keys, seed = np.arange(6, dtype=np.uint64), 5
    order = random_order(keys, seed)
    assert order.tolist() != sorted(order)
    city = np.empty(6, dtype=object)
    y, earlier, p = np.empty(6), np.empty(6), 4 / 6
    city[order] = ["a", "a", "b", "a", "b", None]
    y[order] = [1, 0, 1, 1, 0, 1]
    earlier[order] = [p, (1 + p) / 2, p, (1 + 0 + p) / 3, (1 + p) / 2, p]
    table, schema = read_fit(pd.DataFrame({"n": range(6), "city": pd.Categorical(city)}))
    encoded, told = ordered_encoding(table, schema, y[:, None], None, keys, seed)
    np.testing.assert_allclose(encoded.values[:, 1], earlier, rtol=1e-15)
    np.testing.assert_array_equal(encoded.values[:, 0], range(6))
    means = [(2 + p) / 4, (1 + p) / 3, (1 + p) / 2, p]  # of a, b, missing, unseen
    np.testing.assert_allclose(told.encoding.means[1][:, 0], means, rtol=1e-15)


@settings(max_examples=25)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.integers(0, 2**32))
def test_sums_before_by_two_loops(levels, seed):
    rng = np.random.default_rng(seed)
    levels, n = np.array(levels), len(levels)
    order, numbers = rng.permutation(n), rng.integers(-9, 9, size=(n, 2)).astype(float)
    slow = np.zeros((n, 2))
    for k, row in enumerate(order):
        for other in order[:k]:
            slow[row] += numbers[other] * (levels[other] == levels[row])
    np.testing.assert_array_equal(sums_before(numbers, levels, order), slow)


def test_weights_by_hand_and_their_scale():
    keys = np.arange(4, dtype=np.uint64)
    order = random_order(keys, 0)
    y, weight = np.empty((4, 1)), np.empty(4)
    y[order, 0], weight[order] = [5, 1, 3, 7], [2, 1, 0.5, 0.5]  # of mean 1
    table, schema = read_fit(pd.DataFrame({"c": pd.Categorical(["k"] * 4)}))
    p = (10 + 1 + 1.5 + 3.5) / 4
    seen = [p, (10 + p) / 3, (11 + p) / 4, (12.5 + p) / 4.5]
    encoded, _ = ordered_encoding(table, schema, y, weight, keys, 0)
    np.testing.assert_allclose(encoded.values[order, 0], seen, rtol=1e-14)
    again, _ = ordered_encoding(table, schema, y, 1024 * weight, keys, 0)
    np.testing.assert_array_equal(encoded.values, again.values)


def test_a_huge_target_stays_in_its_level():
    keys = np.arange(40, dtype=np.uint64)
    y = np.where(np.arange(40) < 20, 1e140, np.arange(40) % 2)[:, None]
    y[:20:2] *= -1
    table, schema = read_fit(pd.DataFrame({"c": pd.Categorical(["b"] * 20 + ["a"] * 20)}))
    encoded, _ = ordered_encoding(table, schema, y - y.mean(), None, keys, 0)
    assert np.abs(encoded.values[20:]).max() < 2


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_in_any_order_are_encoded_alike(n_classes):
    X, y = frame_of(120, 0)
    X = pd.concat([X, X[:30]])  # equal rows, too
    y = np.digitize(np.append(y, y[:30]), [0] if n_classes == 2 else [-1, 1])
    order = np.random.default_rng(1).permutation(150)
    weight = 1.0 + np.arange(150) % 3
    whole_rows = GivenRows(X, y.astype(float), weight)
    found = []
    for rows in (np.arange(150), order):
        part = whole_rows.take(rows)
        table, schema = encode_rows(*read_fit(part.X), part, n_classes, Squared(), seed=1)
        whole = np.column_stack([table.values, part.y, part.weight])
        found.append((whole[np.lexsort(whole.T)], schema.encoding))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1].equals(found[1][1])
    assert table.values.shape == (150, 4 if n_classes == 2 else 4 + 2 * 2)
    assert schema.encoding.source.tolist() == [0, 1, 2, 3] + [2, 2, 3, 3] * (n_classes == 3)
    other, _ = encode_rows(*read_fit(part.X), part, n_classes, Squared(), seed=2)
    assert (other.values[:, 2] != table.values[:, 2]).any()


def greedy(X, y, new):
    """The naive way: the mean target of the level, with the row's own target in it."""
    means = pd.Series(y).groupby(X).mean()
    return X.map(means).to_numpy(float)[:, None], new.map(means).to_numpy(float)[:, None]


def test_noise_of_many_levels_does_not_leak():
    """Levels of one or two rows and targets of pure chance: the best that can be is log 2."""
    rng = np.random.default_rng(0)
    n = 1000
    train, new = (pd.Series(rng.integers(700, size=n)).astype(str) for _ in range(2))
    y, y_new = rng.integers(2, size=n), rng.integers(2, size=n)
    G, G_new = greedy(train, y, new)
    params = {"n_estimators": 50, "random_state": 0}
    naive = make_plain(GradientBoostingClassifier, **params).fit(G, y)
    leaked = log_loss(y, naive.predict_proba(G)), log_loss(y_new, naive.predict_proba(G_new))
    assert leaked[0] < 0.35
    assert leaked[1] > 1.5
    X, X_new = (pd.DataFrame({"c": s.astype("category")}) for s in (train, new))
    model = make_plain(GradientBoostingClassifier, **params, **ORDERED).fit(X, y)
    with pytest.warns(DataWarning, match=r"X-UNSEEN.*the mean of all rows stands for them"):
        fresh = log_loss(y_new, model.predict_proba(X_new))
    assert log_loss(y, model.predict_proba(X)) > 0.55
    assert fresh < 0.8


@pytest.mark.parametrize("kind", ["numbers", "two classes", "three classes"])
def test_signal_in_many_levels_is_found(kind):
    X, y = frame_of(3000, 3, n_levels=150)
    cls = GradientBoostingRegressor
    if kind != "numbers":
        cls, y = GradientBoostingClassifier, np.digitize(y, [0] if kind[1] == "w" else [-1, 1])
    params = {"n_estimators": 40, "random_state": 0}
    model = cls(**params, **ORDERED).fit(X[:2000], y[:2000])
    without = cls(**params).fit(X[["a", "b"]][:2000], y[:2000])
    ours = model.score(X[2000:], y[2000:])
    assert ours > without.score(X[["a", "b"]][2000:], y[2000:]) + 0.15
    assert model.feature_importances_.shape == (4,)
    assert model.feature_importances_.argmax() == 2
    assert model.n_features_in_ == 4
    some = X[2000:2040]
    raw = model._outputs(some)
    values = model.shap_values(some)
    assert values.shape[:2] == (40, 5)
    np.testing.assert_allclose(values.sum(axis=1).reshape(40, -1), raw, atol=1e-9)
    both = model.shap_interactions(some)
    assert both.shape[:3] == (40, 5, 5)
    np.testing.assert_allclose(both.sum(axis=2), values, atol=1e-9)


def test_missing_and_unseen_differ():
    """Missing values have a mean of their own; a new level has that of all rows."""
    rng = np.random.default_rng(0)
    city = pd.Series(rng.choice(["u", "v", "w"], size=400), dtype=object)
    city[rng.random(400) < 0.3] = None
    y = np.where(city.isna(), 10.0, 0.0) + rng.normal(size=400)
    X = pd.DataFrame({"city": city.astype("category")})
    params = {"n_estimators": 60, "random_state": 0, **ORDERED}
    model = GradientBoostingRegressor(**params).fit(X, y)
    new = pd.DataFrame({"city": pd.Categorical(["u", None, "??"])})
    with pytest.warns(DataWarning, match="X-UNSEEN"):
        told = model.predict(new)
    assert told[0] < 2
    assert told[1] > 8
    means = model.schema_.encoding.means[0][:, 0]
    assert means[-1] == pytest.approx(y.mean())
    codes = np.array([[0.0], [np.nan], [7.0]])
    arrays = GradientBoostingRegressor(categorical_features=[0], **params)
    arrays.fit(X["city"].cat.codes.replace(-1, np.nan).to_numpy()[:, None], y)
    with pytest.warns(DataWarning, match="X-UNSEEN"):
        np.testing.assert_allclose(arrays.predict(codes), told)


def test_same_bits_in_steps_on_threads_and_from_pickles():
    X, y = frame_of(400, 4)
    y = np.digitize(y, [-1, 1])
    params = {"subsample": 0.7, "random_state": 3, "early_stopping": False, **ORDERED}
    once = GradientBoostingClassifier(n_estimators=9, n_jobs=2, **params).fit(X, y)
    steps = GradientBoostingClassifier(n_estimators=4, warm_start=True, **params).fit(X, y)
    steps.set_params(n_estimators=9).fit(X, y)
    assert model_bits(once) == model_bits(steps)
    again = pickle.loads(pickle.dumps(once))
    np.testing.assert_array_equal(again.predict_proba(X), once.predict_proba(X))
    np.testing.assert_array_equal(once.committee_.decision(X), once.decision_function(X))
    with pytest.raises(InputError, match=r"P-WARM.*target statistics"):
        steps.set_params(n_estimators=12).fit(X[:-1], y[:-1])
    with pytest.raises(InputError, match=r"P-WARM.*target statistics"):
        steps.set_params(categorical_encoding="native").fit(X, y)


def test_constraints_are_about_the_users_features():
    X, y = frame_of(600, 5)
    three = np.digitize(y, [-1, 1])
    apart = GradientBoostingClassifier(
        n_estimators=30, interaction_cst=[[0, 1], [2], [3]], random_state=0, **ORDERED
    ).fit(X, three)
    values = apart.shap_interactions(X[:20])
    for one, other in ((0, 2), (0, 3), (1, 2), (2, 3)):
        np.testing.assert_allclose(values[:, one, other], 0, atol=1e-9)
    assert np.abs(values[:, 0, 1]).max() > 1e-6
    rising = GradientBoostingRegressor(
        monotonic_cst={"a": 1}, max_features=2, random_state=0, **ORDERED
    )
    rising.fit(X, y)
    grid = X.iloc[np.repeat(np.arange(10), 30)].copy()
    grid["a"] = np.tile(np.linspace(-3, 3, 30), 10)
    assert (np.diff(rising.predict(grid).reshape(10, 30)) >= -1e-12).all()
    with pytest.raises(InputError, match=r"P-MONOTONE.*categorical"):
        GradientBoostingRegressor(monotonic_cst={"city": 1}, **ORDERED).fit(X, y)


def test_stopping_rankings_and_what_is_refused():
    X, y = frame_of(500, 6)
    model = make_plain(
        GradientBoostingRegressor, early_stopping=True, random_state=0, **ORDERED
    ).fit(X, y)
    assert model.held_out_loss_.min() < 0.3 * model.held_out_loss_[0]
    query = np.repeat(np.arange(25), 20)
    ranker = make_plain(GradientBoostingRanker, n_estimators=20, **ORDERED)
    ranker.fit(X, np.digitize(y, [0, 1]), query)
    assert ranker.score(X, np.digitize(y, [0, 1]), query) > 0.8
    with pytest.raises(InputError, match=r"P-LOSS\] categorical_encoding"):
        make_plain(GradientBoostingRegressor, "cox", **ORDERED).fit(X, np.exp(y))
    numbers = X[["a", "b"]]  # nothing to encode: as without
    plain = make_plain(GradientBoostingRegressor, n_estimators=5).fit(numbers, y)
    same = make_plain(GradientBoostingRegressor, n_estimators=5, **ORDERED).fit(numbers, y)
    assert model_bits(plain) == model_bits(same)
