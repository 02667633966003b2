"""Prediction intervals: by hand, and whether they cover as often as they say."""

import numpy as np
import pytest
from sklearn.model_selection import train_test_split
from tests.estimators import model_bits
from tests.plain_boosters import make_plain

from committee import DataWarning, GradientBoostingRegressor, InputError
from committee.losses import Multinomial

LEVELS = [0.05, 0.95]
FAST = {"n_estimators": 15, "learning_rate": 0.2, "max_leaf_nodes": 8}


def uneven(n, seed):
    """A sine whose noise grows tenfold along the second feature."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    return X, np.sin(6 * X[:, 0]) + (0.1 + 0.9 * X[:, 1]) * rng.normal(size=n)


def held_out(n, fraction, seed):
    """The rows that calibrate, for a model of that seed."""
    return np.sort(train_test_split(np.arange(n), test_size=fraction, random_state=seed + 1)[1])


def test_distances_of_held_out_rows_by_hand():
    X, y = uneven(200, 0)
    model = GradientBoostingRegressor(
        intervals="conformal", calibration_fraction=19, random_state=3, **FAST
    ).fit(X, y)
    apart = held_out(200, 19, model.seed_)
    plain = GradientBoostingRegressor(random_state=3, **FAST)
    plain.fit(np.delete(X, apart, axis=0), np.delete(y, apart))
    assert model_bits(model) == model_bits(plain)
    distances = np.sort(np.abs(y[apart] - model.predict(X[apart])))
    np.testing.assert_array_equal(model.intervals_.scores, distances)
    bounds = model.predict_interval(X[:7], alpha=0.1)  # ceil(0.9 * 20) = 18 of 19
    np.testing.assert_allclose(bounds[:, 1], model.predict(X[:7]) + distances[17])
    np.testing.assert_allclose(bounds[:, 0], model.predict(X[:7]) - distances[17])
    wide = model.predict_interval(X[:7], alpha=0.05)  # ceil(0.95 * 20) = 19
    np.testing.assert_allclose(np.diff(wide)[:, 0], 2 * distances[18])
    with pytest.warns(DataWarning, match=r"P-COVERAGE.*19 held-out rows.*at least 24 rows"):
        assert np.isinf(model.predict_interval(X[:2], alpha=0.04)).all()


def test_distances_from_quantiles_by_hand():
    X, y = uneven(300, 1)
    params = {"quantile": [0.05, 0.5, 0.95], "random_state": 3, **FAST}
    model = GradientBoostingRegressor("quantile", intervals="conformal", **params).fit(X, y)
    apart = held_out(300, 0.2, model.seed_)
    said = model.predict(X[apart])
    scores = np.sort(np.maximum(said[:, 0] - y[apart], y[apart] - said[:, 2]))
    np.testing.assert_array_equal(model.intervals_.scores, scores)
    assert scores[0] < 0  # most lie inside
    bounds = model.predict_interval(X, alpha=0.1)
    move = scores[54]  # ceil(0.9 * 61) = 55 of 60
    ends = model.predict(X)[:, [0, 2]] + [-move, move]
    np.testing.assert_allclose(bounds, np.where((ends[:, 0] > ends[:, 1])[:, None], bounds, ends))
    raw = GradientBoostingRegressor("quantile", intervals="quantile", **params).fit(X, y)
    np.testing.assert_array_equal(raw.predict_interval(X), raw.predict(X)[:, [0, 2]])


@pytest.mark.parametrize("loss", ["squared_error", "quantile"])
def test_coverage(loss):
    """Forty draws of 80 calibrating and 300 new rows; their coverage is 90 %, or 1 / 81 more."""
    params = {"quantile": LEVELS} if loss == "quantile" else {}
    halves = []
    for seed in range(40):
        X, y = uneven(800, seed)
        model = make_plain(
            GradientBoostingRegressor,
            loss,
            intervals="conformal",
            calibration_fraction=80,
            random_state=seed,
            **params,
            **FAST,
        ).fit(X[:500], y[:500])
        low, high = model.predict_interval(X[500:], alpha=0.1).T
        inside, loud = (low <= y[500:]) & (y[500:] <= high), X[500:, 1] > 0.5
        halves.append([inside[~loud].mean(), inside[loud].mean(), inside.mean()])
    quiet, loud, all_rows = np.mean(halves, axis=0)
    error = np.sqrt((0.09 / 82 + 0.09 / 300) / 40)
    assert 0.9 - 3 * error < all_rows < 0.9 + 1 / 81 + 3 * error
    if loss == "quantile":  # widths follow the noise
        assert quiet - loud < 0.08
    else:
        assert quiet - loud > 0.1


def test_raw_quantiles_cover_less():
    """What 'quantile' gives is not calibrated: the reason that 'conformal' exists."""
    covered = []
    for seed in range(5):
        X, y = uneven(500, seed)
        model = GradientBoostingRegressor(
            "quantile", quantile=LEVELS, intervals="quantile", n_estimators=60, min_samples_leaf=5
        ).fit(X[:200], y[:200])
        low, high = model.predict_interval(X[200:]).T
        covered.append(np.mean((low <= y[200:]) & (y[200:] <= high)))
    assert np.mean(covered) < 0.85


def test_three_uses_of_rows_do_not_meet():
    X, y = uneven(1000, 2)
    weight = np.ones(1000)
    weight[:100] = 0
    model = GradientBoostingRegressor(
        intervals="conformal", early_stopping=True, random_state=0, n_estimators=5
    ).fit(X, y, sample_weight=weight)
    assert len(model.intervals_.scores) == 180
    trees = model.committee_.members.forests[0]
    assert trees.count[trees.tree_begin[0]] == 900 - 180 - 72  # of 720, a tenth to stop by


def test_margins_belong_to_it():
    X, y = uneven(400, 4)
    margin = 50 * X[:, 0]
    params = {"intervals": "conformal", "random_state": 0, **FAST}
    plain = GradientBoostingRegressor(**params).fit(X, y - y.mean(), base_margin=np.zeros(400))
    moved = GradientBoostingRegressor(**params).fit(X, y - y.mean() + margin, base_margin=margin)
    bounds = moved.predict_interval(X, base_margin=margin)
    np.testing.assert_allclose(bounds - margin[:, None], plain.predict_interval(X), atol=1e-3)


def test_warm_start_keeps_the_rows_apart():
    X, y = uneven(300, 5)
    params = {"intervals": "conformal", "random_state": 0, "early_stopping": False}
    once = GradientBoostingRegressor(n_estimators=9, **params).fit(X, y)
    steps = GradientBoostingRegressor(n_estimators=4, warm_start=True, **params).fit(X, y)
    steps.set_params(n_estimators=9).fit(X, y)
    assert model_bits(once) == model_bits(steps)
    np.testing.assert_array_equal(once.intervals_.scores, steps.intervals_.scores)
    steps.set_params(n_estimators=12, calibration_fraction=0.3)
    with pytest.raises(InputError, match=r"P-WARM\] intervals: 90 rows held out, 60 in"):
        steps.fit(X, y)
    late = GradientBoostingRegressor(n_estimators=4, warm_start=True).fit(X, y)
    with pytest.raises(InputError, match=r"P-WARM\] intervals: 60 rows held out, 0 in"):
        late.set_params(n_estimators=8, intervals="conformal").fit(X, y)


def test_what_cannot_be_given_is_refused():
    X, y = uneven(100, 6)
    with pytest.raises(InputError, match=r"P-INTERVALS\] intervals: fit kept nothing"):
        GradientBoostingRegressor(n_estimators=2).fit(X, y).predict_interval(X)
    for params in ({}, {"loss": "quantile"}, {"loss": "quantile", "quantile": [0.5]}):
        with pytest.raises(InputError, match=r"P-INTERVALS\] intervals: 'quantile' with"):
            GradientBoostingRegressor(intervals="quantile", **params).fit(X, y)
    for loss in ("cox", Multinomial(n_classes=3)):
        with pytest.raises(InputError, match=r"P-INTERVALS\] intervals: 'conformal' with"):
            GradientBoostingRegressor(loss, intervals="conformal").fit(X, y)
    with pytest.raises(InputError, match=r"calibration_fraction: 100 of 100 row\(s\)"):
        GradientBoostingRegressor(intervals="conformal", calibration_fraction=100).fit(X, y)
    model = GradientBoostingRegressor("quantile", quantile=LEVELS, intervals="conformal", **FAST)
    model.fit(X, y)
    with pytest.raises(
        InputError, match=r"alpha=0.2, but levels 0.05 and 0.95 leave 0.1.*0.1, 0.9"
    ):
        model.predict_interval(X, alpha=0.2)
    with pytest.raises(ValueError, match="alpha"):
        model.predict_interval(X, alpha=1.0)
