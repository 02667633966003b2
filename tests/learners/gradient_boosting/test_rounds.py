"""R65, R66 and the mechanics of rounds: what a tree fits, what moves, what stays the same."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import GradientBoostingRegressor as FriedmanRegressor
from tests.estimators import model_bits
from tests.plain_boosters import make_plain

from committee import GradientBoostingClassifier, GradientBoostingRegressor
from committee.losses import Logistic, Loss, Multinomial, Squared

N = 600


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 6))
    X[rng.random(X.shape) < 0.05] = np.nan
    signal = np.nan_to_num(X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3])
    return X, signal + 0.3 * rng.normal(size=N)


def target_of(kind, y):
    if kind == "numbers":
        return y
    if kind == "two classes":
        return (y > 0).astype(int)
    return np.digitize(y, [-0.7, 0.7])


def model_for(kind, **params):
    cls = GradientBoostingRegressor if kind == "numbers" else GradientBoostingClassifier
    return cls(**{"n_estimators": 12, "random_state": 0, **params})


KINDS = ["numbers", "two classes", "three classes"]


# --- R65: loss + weak learner + additive model ---


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"]
)
def test_r65_training_loss_never_rises(loss, rows):
    X, y = rows
    y = np.exp(y) if loss in ("poisson", "gamma", "tweedie") else y
    model = GradientBoostingRegressor(loss, n_estimators=25).fit(X, y)
    raws = [model.committee_.intercept, *model.committee_.staged(X)]
    losses = [model.loss_.value(y, np.broadcast_to(r, (N, 1))[:, 0]).mean() for r in raws]
    assert (np.diff(losses) <= 1e-9).all()
    assert losses[-1] < 0.8 * losses[0]


@pytest.mark.parametrize("rate", [0.5, 1.0])
@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "huber", "quantile", "several quantiles"]
)
def test_r65_best_leaves_never_raise_the_loss(loss, rate, rows):
    """A leaf holds its rows' best constant, the loss is convex: no step up to it can hurt."""
    X, y = rows
    params = {"n_estimators": 15, "learning_rate": rate, "min_samples_leaf": 1}
    if loss == "several quantiles":
        loss, params["quantile"] = "quantile", [0.2, 0.5, 0.9]
    model = GradientBoostingRegressor(loss, **params).fit(X, y)
    raws = [np.tile(model.committee_.intercept, (N, 1)), *model.committee_.staged(X)]
    losses = [model.loss_.value(y, r[:, 0] if r.shape[1] == 1 else r).mean() for r in raws]
    assert (np.diff(losses) <= 1e-9).all()
    assert losses[-1] < 0.5 * losses[0]


def test_r65_exponential_loss_never_rises(rows):
    X, y = rows
    y = (y > 0).astype(float)
    model = GradientBoostingClassifier("exponential", n_estimators=25).fit(X, y)
    raws = [np.tile(model.committee_.intercept, (N, 1)), *model.committee_.staged(X)]
    losses = [model.loss_.value(y, r[:, 0]).mean() for r in raws]
    assert (np.diff(losses) < 0).all()
    assert losses[-1] < 0.7 * losses[0]


def test_r65_partial_likelihood_of_cox_never_falls(rows):
    """The loss couples all rows, so that only a small step is sure to lower it."""
    X, y = rows
    time = np.exp(-y) * np.where(np.arange(N) % 4 == 0, -1, 1)  # a quarter were lost sight of
    model = GradientBoostingRegressor("cox", n_estimators=25).fit(X, time)
    raws = [np.zeros((N, 1)), *model.committee_.staged(X)]
    losses = [model.loss_.value(time, r[:, 0]).mean() for r in raws]
    assert (np.diff(losses) < 0).all()


@pytest.mark.parametrize("kind", ["two classes", "three classes"])
def test_r65_training_log_loss_never_rises(kind, rows):
    X, y = rows
    y = target_of(kind, y)
    model = model_for(kind, n_estimators=25).fit(X, y)
    shares = [p[np.arange(N), y] for p in model.staged_predict_proba(X)]
    assert (np.diff([-np.log(p).mean() for p in shares]) < 0).all()


def test_r65_a_squared_step_fits_the_residual(rows):
    """With rate 1 and enough leaves, what is left after a round has mean 0 in each leaf."""
    X, y = rows
    model = make_plain(GradientBoostingRegressor, n_estimators=1, learning_rate=1.0).fit(X, y)
    leaf, left = model.apply(X)[:, 0], y - model.predict(X)
    for node in np.unique(leaf):
        assert abs(left[leaf == node].mean()) < 1e-6


def test_r65_depth_one_least_squares_is_scikit_learns(rows):
    """The booster of the lectures: squared loss, stumps, full rows."""
    X, y = rows
    X = np.nan_to_num(X)
    params = {"n_estimators": 30, "learning_rate": 0.3}
    theirs = FriedmanRegressor(max_depth=1, criterion="squared_error", **params).fit(X, y)
    ours = make_plain(
        GradientBoostingRegressor,
        max_depth=1,
        min_samples_leaf=1,
        max_bins=65535,
        early_stopping=False,
        **params,
    ).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-5, atol=1e-6)


# --- R66: leaf and gain ---


def test_r66_leaf_and_gain_by_hand():
    """Leaf -G/(H + l2), gain GL²/(HL+l2) + GR²/(HR+l2) - G²/(H+l2) (XGBoost halves it on paper)."""
    x = np.arange(8.0)
    y = np.array([0, 0, 0, 1, 0, 1, 1, 1])
    l2 = 0.5
    model = GradientBoostingClassifier(
        n_estimators=1, max_leaf_nodes=2, min_samples_leaf=1, l2_regularization=l2
    ).fit(x[:, None], y)
    g, h = 0.5 - y, np.full(8, 0.25)

    def score(rows):
        return g[rows].sum() ** 2 / (h[rows].sum() + l2)

    gains = [score(x < c) + score(x > c) - score(x > -1) for c in x[:-1] + 0.5]
    forest = model.committee_.members.forests[0]
    best = int(np.argmax(gains))
    assert forest.threshold[0] == best + 0.5
    np.testing.assert_allclose(forest.gain[0], gains[best], rtol=1e-5)
    left = x < best + 0.5
    expected = [-g[s].sum() / (h[s].sum() + l2) for s in (left, ~left)]
    np.testing.assert_allclose(forest.values[1:, 0], expected, rtol=1e-6)


# --- the same bits ---


@pytest.mark.sanitize
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("params", [{}, {"subsample": 0.6}, {"growth": "level", "max_depth": 4}])
def test_threads(kind, params, rows):
    X, y = rows
    y = target_of(kind, y)
    expected = model_bits(model_for(kind, n_jobs=1, **params).fit(X, y))
    for n_jobs in (2, 4):
        assert model_bits(model_for(kind, n_jobs=n_jobs, **params).fit(X, y)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_containers(kind, rows):
    X, y = rows
    y = target_of(kind, y)
    expected = model_bits(model_for(kind).fit(X, y))
    for other in (np.asfortranarray(X), pd.DataFrame(X), sparse.csr_array(X), sparse.csc_array(X)):
        assert model_bits(model_for(kind).fit(other, y)) == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("subsample", [1.0, 0.5])
def test_warm_start(kind, subsample, rows):
    X, y = rows
    y = target_of(kind, y)
    whole = model_for(kind, subsample=subsample, n_estimators=15).fit(X, y)
    parts = model_for(kind, subsample=subsample, n_estimators=4, warm_start=True).fit(X, y)
    for n in (5, 15):
        parts.set_params(n_estimators=n).fit(X, y)
    assert model_bits(parts) == model_bits(whole)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))


def test_warm_start_keeps_the_rate_of_earlier_rounds(rows):
    X, y = rows
    model = GradientBoostingRegressor(n_estimators=5, learning_rate=0.3, warm_start=True).fit(X, y)
    before = model.predict(X)
    model.set_params(n_estimators=9, learning_rate=0.1).fit(X, y)
    np.testing.assert_array_equal(model.committee_.weights, [0.3] * 5 + [0.1] * 4)
    np.testing.assert_array_equal(list(model.staged_predict(X))[4], before)


def test_warm_start_refuses_what_earlier_rounds_would_misread(rows):
    X, y = rows
    frame = pd.DataFrame({"c": pd.Categorical(np.where(y > 0, "a", "b")), "x": X[:, 3]})
    model = GradientBoostingRegressor(n_estimators=3, warm_start=True).fit(frame, y)
    other = frame.assign(c=pd.Categorical(np.where(y > 0, "b", "c")))
    model.set_params(n_estimators=6)
    with pytest.raises(ValueError, match=r"P-WARM.*levels"):
        model.fit(other, y)
    with pytest.raises(ValueError, match=r"P-WARM.*Absolute"):
        model.set_params(loss="absolute_error").fit(frame, y)


class OwnSquared(Squared):
    """The same formulas, asked in Python: a subclass may mean something else."""


class OwnLogistic(Logistic):
    pass


class OwnMultinomial(Multinomial):
    pass


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("kind", "own"),
    [
        ("numbers", OwnSquared()),
        ("two classes", OwnLogistic()),
        ("three classes", OwnMultinomial(3)),
    ],
)
def test_losses_in_python_boost_alike(kind, own, weighted, rows):
    """The engine's formulas round otherwise in the last place, so that trees may differ by ties."""
    X, y = rows
    y = target_of(kind, y)
    w = np.random.default_rng(1).integers(1, 4, N).astype(float) if weighted else None
    native = model_for(kind, subsample=0.7).fit(X, y, sample_weight=w)
    python = model_for(kind, subsample=0.7, loss=own).fit(X, y, sample_weight=w)
    raw = [m.committee_.decision(X) for m in (native, python)]
    np.testing.assert_allclose(raw[0], raw[1], rtol=1e-3, atol=1e-3)


def test_one_round_at_a_time_is_the_same(rows):
    """Callers that look between rounds get the bits of those that do not."""
    X, y = rows
    alone = make_plain(GradientBoostingRegressor, n_estimators=9).fit(X, y)
    timed = make_plain(GradientBoostingRegressor, n_estimators=9, max_time=1e6).fit(X, y)
    assert model_bits(alone) == model_bits(timed)


# --- a loss of the user's ---


class LogCosh(Loss):
    def value(self, y, raw):
        distance = np.abs(raw - y)
        return distance + np.log1p(np.exp(-2 * distance)) - np.log(2)

    def gradient_hessian(self, y, raw):
        slope = np.tanh(raw - y)
        return slope, 1 - slope**2


def test_custom_loss(rows):
    X, y = rows
    y = y.copy()
    y[::50] += 100  # outliers count little
    model = make_plain(GradientBoostingRegressor, LogCosh(), n_estimators=60).fit(X, y)
    plain = make_plain(GradientBoostingRegressor, n_estimators=60).fit(X, y)
    usual = np.ones(N, bool)
    usual[::50] = False
    errors = [np.abs(m.predict(X) - y)[usual].mean() for m in (model, plain)]
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda y, raw: (np.full(len(y), np.nan), np.ones(len(y))), "gradient_hessian"),
        (lambda y, raw: (raw[:-1], np.ones(len(y))), "shape"),
        (lambda y, raw: (raw - y, -np.ones(len(y))), "hessian"),
    ],
    ids=["NaN", "shape", "negative"],
)
def test_b84_wrong_answers_are_named(answer, says, rows):
    X, y = rows

    class Wrong(Loss):
        def value(self, y, raw):
            return (raw - y) ** 2

        def gradient_hessian(self, y, raw):
            return answer(y, raw)

        def start(self, y, weight):
            return np.zeros(1)

    with pytest.raises(ValueError, match=says) as told:
        GradientBoostingRegressor(Wrong()).fit(X, y)
    assert "round 0" in str(told.value)
