"""Rounds that draw rows by gradient, make several trees, or leave earlier rounds out."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.estimators import model_bits
from tests.oracles import rounds as oracle
from tests.plain_boosters import make_plain

from committee import (
    GradientBoostingClassifier,
    GradientBoostingRanker,
    GradientBoostingRegressor,
    _engine,
)
from committee.learners.gradient_boosting.dart import Dart, weights_with
from committee.learners.gradient_boosting.task import BoostingTask
from committee.losses import Loss

N = 400
BY_GRADIENT = {"subsample": 0.5, "sampling_method": "gradient_based"}
FOREST = {"n_parallel_trees": 3, "subsample": 0.6, "max_features": 0.5}
DART = {"drop_rate": 0.3, "skip_drop": 0.2}
KINDS = {
    "by gradient": BY_GRADIENT,
    "forest": FOREST,
    "dart": DART,
    "all": FOREST | BY_GRADIENT | DART,
}


class LogCosh(Loss):
    """A loss of a user's."""

    def value(self, y, raw):
        distance = np.abs(raw - y)
        return distance + np.log1p(np.exp(-2 * distance)) - np.log(2)

    def gradient_hessian(self, y, raw):
        slope = np.tanh(raw - y)
        return slope, 1 - slope**2


TARGETS = {
    "numbers": (GradientBoostingRegressor, "squared_error"),
    "renewed": (GradientBoostingRegressor, "absolute_error"),
    "own": (GradientBoostingRegressor, LogCosh()),
    "two": (GradientBoostingClassifier, "log_loss"),
    "three": (GradientBoostingClassifier, "log_loss"),
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 5))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2])) + 0.3 * rng.normal(size=N)
    return X, y


def make(target, kind, **params):
    cls, loss = TARGETS[target]
    known = {"n_estimators": 8, "random_state": 3, "early_stopping": False, **KINDS[kind]}
    return cls(loss, max_leaf_nodes=8, **(known | params))


def target_of(target, y):
    if target == "two":
        return (y > 0).astype(int)
    return np.digitize(y, [-0.5, 0.5]) if target == "three" else y


def bits(model):
    committee = model.committee_
    return model_bits(model), committee.weights.tobytes(), committee.intercept.tobytes()


# --- the same bits, whatever the way ---


@pytest.mark.sanitize
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", TARGETS)
def test_threads(target, kind, rows):
    X, y = rows[0], target_of(target, rows[1])
    params = {"early_stopping": True, "validation_fraction": 0.2}
    one, three = (make(target, kind, n_jobs=n, **params).fit(X, y) for n in (1, 3))
    assert bits(one) == bits(three)
    np.testing.assert_array_equal(one.held_out_loss_, three.held_out_loss_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", TARGETS)
def test_warm_start(target, kind, rows):
    """Also with held-out rows, whose losses are then those of the fit made at once."""
    X, y = rows[0], target_of(target, rows[1])
    held = {"X_val": X, "y_val": y}  # the loss falls in (nearly) every round, so that none is cut
    params = {"early_stopping": True, "n_iter_no_change": 99, "n_estimators": 9}
    whole = make(target, kind, **params).fit(X, y, **held)
    assert len(whole.committee_) == whole.n_estimators_ == 9
    parts = make(target, kind, **(params | {"n_estimators": 4}), warm_start=True)
    parts.fit(X, y, **held)
    parts = pickle.loads(pickle.dumps(parts))
    parts.set_params(n_estimators=9).fit(X, y, **held)
    assert bits(parts) == bits(whole)
    np.testing.assert_array_equal(parts.held_out_loss_[-5:], whole.held_out_loss_[-5:])
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", ["numbers", "two", "three"])
def test_one_at_a_time_and_in_python(target, kind, rows, monkeypatch):
    X, y = rows[0], target_of(target, rows[1])
    weight = np.random.default_rng(1).integers(1, 4, N) if kind == "by gradient" else None
    together = make(target, kind).fit(X, y, sample_weight=weight)
    alone = make(target, kind, max_time=1e6).fit(X, y, sample_weight=weight)
    assert bits(together) == bits(alone)

    def in_python(self, first, n_rounds):
        made = [self._round(number) for number in range(first, first + n_rounds)]
        return [_engine.Forest.concatenate(list(trees)) for trees in zip(*made, strict=True)]

    monkeypatch.setattr(BoostingTask, "_boost_natively", in_python)
    assert bits(make(target, kind).fit(X, y, sample_weight=weight)) == bits(together)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_committee(kind, rows):
    """Stages count rounds, are slices to the bit, and Shapley values add up to them."""
    X, y = rows[0], target_of("three", rows[1])
    model = pickle.loads(pickle.dumps(make("three", kind).fit(X, y)))
    committee = model.committee_
    staged = list(committee.staged(X))
    assert len(staged) == len(committee) == model.n_estimators_ == 8
    for k in (1, 5, 8):
        np.testing.assert_array_equal(staged[k - 1], committee[:k].decision(X))
    outputs = committee.outputs(X)
    total = committee.intercept + np.tensordot(committee.weights, outputs, 1)
    np.testing.assert_allclose(total, committee.decision(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(committee.members[2].outputs(X), outputs[2])
    np.testing.assert_array_equal(committee[1:8:3].outputs(X), outputs[1:8:3])
    both = committee + committee
    np.testing.assert_allclose(both.decision(X), 2 * committee.decision(X), rtol=1e-12, atol=1e-12)
    shown = model.shap_values(X[:20]).sum(axis=1)
    np.testing.assert_allclose(shown, committee.decision(X[:20]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_rankers_have_them_too(kind, rows):
    X, groups = rows[0], np.arange(N) // 20
    y = np.digitize(rows[1], [-1, 0, 1])
    params = {"n_estimators": 4, "random_state": 0, **KINDS[kind]}
    whole = GradientBoostingRanker(**params).fit(X, y, groups=groups)
    parts = GradientBoostingRanker(**(params | {"n_estimators": 2}), warm_start=True, n_jobs=2)
    parts.fit(X, y, groups=groups).set_params(n_estimators=4).fit(X, y, groups=groups)
    assert bits(whole) == bits(parts)


# --- draws by gradient ---


@given(
    st.integers(0, 2**31),
    st.floats(0.01, 0.99),
    st.sampled_from([1, 3]),
    st.sampled_from([0.3, 1.0, 4.0]),
)
def test_chances_are_those_of_bisection(seed, share, n_outputs, tail):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 300))
    g = (rng.normal(size=(n_outputs, n)) * np.exp(tail * rng.normal(size=n))).astype(np.float32)
    h = rng.random((n_outputs, n)).astype(np.float32) + np.float32(0.01)
    draw = _engine.GradientDraw(n)
    for gradient, hessian in zip(g, h, strict=True):
        draw.add(gradient, hessian, 2)
    draw.settle(share, 2)
    # Scores are kept in single precision.
    np.testing.assert_allclose(draw.chance, oracle.chances(g, h, share), rtol=1e-6)


def test_drawn_sums_are_right_on_average():
    """Over many draws the mean of drawn sums is near the whole: four of its deviations."""
    rng = np.random.default_rng(2)
    n, n_draws, share = 300, 400, 0.2
    g = (rng.normal(size=n) ** 3).astype(np.float32)
    key = rng.integers(0, 2**63, n, dtype=np.uint64)
    draw = _engine.GradientDraw(n)
    draw.add(g, None)
    draw.settle(share)
    sums, counts = np.zeros((n_draws, 2)), np.zeros(n_draws)
    for k in range(n_draws):
        drawn = draw.rows(7, k, key)
        sums[k] = [part.sum(dtype=float) for part in draw.weighed(drawn, g, None)]
        counts[k] = len(drawn)
    p = draw.chance
    for values, whole in ((sums[:, 0], g), (sums[:, 1], np.ones(n))):
        deviation = np.sqrt((whole.astype(float) ** 2 * (1 - p) / p).sum() / n_draws)
        assert abs(values.mean() - whole.sum(dtype=float)) < 4 * deviation
    assert abs(counts.mean() - share * n) < 4 * np.sqrt((p * (1 - p)).sum() / n_draws)


def test_draws_follow_the_rows_not_their_order():
    rng = np.random.default_rng(3)
    g = rng.normal(size=500).astype(np.float32)
    key = rng.integers(0, 2**63, 500, dtype=np.uint64)
    order = rng.permutation(500)
    drawn = []
    for rows in (np.arange(500), order):
        draw = _engine.GradientDraw(500)
        draw.add(np.ascontiguousarray(g[rows]), None)
        draw.settle(0.3)
        drawn.append(set(key[rows][draw.rows(1, 2, np.ascontiguousarray(key[rows]))]))
    assert drawn[0] == drawn[1]


def test_renewed_leaves_count_rows_by_their_chance():
    """Rows above a high quantile are drawn more often, which must not lift the leaves."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(3000, 2)), rng.normal(size=3000)
    params = {"n_estimators": 20, "learning_rate": 0.3, "min_samples_leaf": 300}
    model = GradientBoostingRegressor(
        "quantile", quantile=0.9, subsample=0.3, sampling_method="gradient_based", **params
    ).fit(X, y)
    assert abs((y <= model.predict(X)).mean() - 0.9) < 0.03


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_learn_or_to_draw(kind, rows):
    """No gradient at all, and a share that leaves no row: one is drawn, and no score moves."""
    X = rows[0]
    model = make("numbers", kind, subsample=1e-9).fit(X, np.full(N, 2.5))
    np.testing.assert_array_equal(model.predict(X), 2.5)
    assert len(make("three", kind, subsample=1e-9).fit(X, np.arange(N) % 3).committee_) == 8


# --- several trees a round ---


def test_a_round_of_trees_is_a_forest(rows):
    X, y = rows
    params = {"subsample": 0.5, "max_features": 0.4, "random_state": 0, "early_stopping": False}
    model = GradientBoostingRegressor(
        n_estimators=1, learning_rate=1.0, n_parallel_trees=7, **params
    ).fit(X, y)
    forest = model.committee_.members.forests[0]
    assert forest.n_trees == 7
    assert model.n_estimators_ == 1
    members = np.stack([tree[:, 0] for tree in forest.predict_members(model._read(X))])
    assert len({tree.tobytes() for tree in members}) == 7
    np.testing.assert_allclose(model.predict(X), y.mean() + members.mean(axis=0), rtol=1e-12)
    assert model.apply(X).shape == (N, 7)


@pytest.mark.parametrize("target", TARGETS)
def test_equal_trees_are_one(target, rows):
    """Nothing is drawn, so that all trees of a round are the same: four times a quarter."""
    X, y = rows[0], target_of(target, rows[1])
    four = make(target, "forest", n_parallel_trees=4, subsample=1.0, max_features=None).fit(X, y)
    one = make(target, "forest", n_parallel_trees=1, subsample=1.0, max_features=None).fit(X, y)
    np.testing.assert_allclose(four.committee_.decision(X), one.committee_.decision(X), rtol=1e-9)


def test_warm_start_keeps_the_trees_of_a_round(rows):
    model = make("numbers", "forest", warm_start=True).fit(*rows)
    model.set_params(n_parallel_trees=2, n_estimators=12)
    with pytest.raises(ValueError, match=r"P-WARM.*n_parallel_trees"):
        model.fit(*rows)
    assert len(model.committee_) == 8


# --- DART ---


def test_dart_by_hand():
    """One dropped of weight 0.5, rate 0.5: it keeps 2/3, the new one weighs 1/3."""
    weights = weights_with(np.array([0.5, 0.5]), np.array([1]), 0.5)
    np.testing.assert_allclose(weights, [0.5, 1 / 3, 1 / 3])
    weights = weights_with(weights, np.array([0, 1]), 0.5)
    np.testing.assert_allclose(weights, [0.4, 0.8 / 3, 1 / 3, 0.2])
    np.testing.assert_array_equal(weights_with(weights, np.empty(0, int), 0.5), [*weights, 0.5])


def test_dart_is_the_naive_one():
    rng = np.random.default_rng(5)
    x = rng.normal(size=60)
    y = np.sin(2 * x) + 0.1 * rng.normal(size=60)
    params = {"drop_rate": 0.4, "skip_drop": 0.3, "learning_rate": 0.5, "random_state": 1}
    model = make_plain(
        GradientBoostingRegressor,
        n_estimators=15,
        max_leaf_nodes=2,
        min_samples_leaf=1,
        early_stopping=False,
        **params,
    ).fit(x[:, None], y)
    plan = Dart(0.4, 0.3, 0.5, model.seed_)
    dropped = [plan.dropped(number) for number in range(15)]
    assert max(map(len, dropped)) > 2
    assert sum(len(out) == 0 for out in dropped) > 1
    predicted, weights = oracle.dart(x, y, dropped, 0.5)[-1]
    np.testing.assert_allclose(model.committee_.weights, weights, rtol=1e-12)
    np.testing.assert_allclose(model.predict(x[:, None]), predicted, rtol=1e-5, atol=1e-6)


def test_dart_draws():
    plan = Dart(0.25, 0.4, 0.1, seed=11)
    assert len(plan.dropped(0)) == 0
    counts = np.array([len(plan.dropped(number)) for number in range(40, 440)])
    shares = counts / np.arange(40, 440)
    skipped = (counts == 0).mean()
    assert abs(skipped - 0.4) < 4 * np.sqrt(0.24 / 400)
    assert abs(shares[counts > 0].mean() - 0.25) < 0.02
    rare = Dart(1e-9, 0.0, 0.1, seed=11)
    chosen = [rare.dropped(10) for rare.seed in range(200)]
    assert {len(out) for out in chosen} == {1}
    assert {int(out[0]) for out in chosen} == set(range(10))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", TARGETS)
def test_best_round_weighs_what_it_weighed_then(target, kind, rows):
    """A fit that stops early is the fit of as many rounds, whatever later rounds did to it."""
    X, y = rows[0], target_of(target, rows[1])
    params = {"learning_rate": 1.0, "n_estimators": 120, "n_iter_no_change": 8}
    stopped = make(target, kind, early_stopping=True, **params)
    stopped.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    best = stopped.n_estimators_
    assert best < len(stopped.held_out_loss_) - 1
    assert np.argmin(stopped.held_out_loss_) in (best, 0)
    plain = make(target, kind, **(params | {"n_estimators": best})).fit(X[:200], y[:200])
    assert bits(stopped) == bits(plain)


def test_held_out_loss_follows_the_weights(rows):
    """What early stopping hears of each round is the loss of a fit of as many rounds."""
    X, y = rows
    heard = make("numbers", "all", n_estimators=9, early_stopping=True, n_iter_no_change=99)
    heard.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    for n in (1, 4, 9):
        model = make("numbers", "all", n_estimators=n).fit(X[:300], y[:300])
        loss = model.loss_.value(y[300:], model.predict(X[300:])).mean()
        np.testing.assert_allclose(heard.held_out_loss_[n], loss, rtol=1e-12)


def test_warm_start_that_gets_no_better_is_the_fit_before(rows):
    X, y = rows
    held = {"X_val": X[200:], "y_val": y[200:]}
    model = make("numbers", "dart", early_stopping=True, n_estimators=60, learning_rate=1.0)
    model.set_params(warm_start=True, n_iter_no_change=8).fit(X[:200], y[:200], **held)
    before, weights = bits(model), model.committee_.weights
    model.set_params(tol=1e6).fit(X[:200], y[:200], **held)
    assert len(model.held_out_loss_) == 9
    assert bits(model) == before
    np.testing.assert_array_equal(model.committee_.weights, weights)
