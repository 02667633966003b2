"""Scores that rows bring along: offsets, continued models, exposures."""

import numpy as np
import pytest
from tests.estimators import model_bits
from tests.plain_boosters import make_plain

from committee import (
    GradientBoostingClassifier,
    GradientBoostingRanker,
    GradientBoostingRegressor,
    InputError,
)

N = 400


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 4))
    return X, X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=N)


def last_trees(model, first):
    stages = model.committee_.members[first:]
    return b"".join(forest.pack() for forest in stages.forests)


def test_exposure_of_counts_by_hand():
    """Counts of two groups during different times: rates are events per time, in each group."""
    rng = np.random.default_rng(0)
    group = np.repeat([0.0, 1.0], 100)
    exposure = rng.uniform(0.5, 20, size=200)
    y = rng.poisson(exposure * np.where(group, 0.3, 2.0)).astype(float)
    X, margin = group[:, None], np.log(exposure)
    model = make_plain(GradientBoostingRegressor, "poisson", n_estimators=1, learning_rate=1.0)
    model.fit(X, y, base_margin=margin)
    for g in (0, 1):  # the Newton step from the margin: -G / H, G = sum(exposure - y)
        at = group == g
        step = (y[at].sum() - exposure[at].sum()) / exposure[at].sum()
        np.testing.assert_allclose(np.log(model.predict([[g]])), step, rtol=1e-3)
    np.testing.assert_array_equal(model.committee_.intercept, [0.0])
    model.set_params(n_estimators=12).fit(X, y, base_margin=margin)
    rates = [y[group == g].sum() / exposure[group == g].sum() for g in (0, 1)]
    np.testing.assert_allclose(model.predict([[0], [1]]), rates, rtol=1e-6)
    told = model.predict(X, base_margin=margin)
    np.testing.assert_allclose(told, exposure * np.where(group, rates[1], rates[0]), rtol=1e-6)


@pytest.mark.parametrize("kind", ["numbers", "two classes", "three classes", "medians"])
def test_a_model_as_margin_is_continued(kind, rows):
    X, y = rows
    params = {"n_estimators": 12, "early_stopping": False}
    if kind in ("numbers", "medians"):
        loss = "squared_error" if kind == "numbers" else "absolute_error"
        whole, rest = (make_plain(GradientBoostingRegressor, loss, **params) for _ in range(2))
    else:
        y = np.digitize(y, [0] if kind == "two classes" else [-1, 1])
        whole, rest = (make_plain(GradientBoostingClassifier, **params) for _ in range(2))
    whole.fit(X, y)
    margin = whole.committee_[:7].decision(X)
    rest.set_params(n_estimators=5).fit(X, y, base_margin=margin)
    assert last_trees(rest, 0) == last_trees(whole, 7)
    told = rest._scores(X, margin)
    np.testing.assert_allclose(told, whole.committee_.decision(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("subsample", [1.0, 0.6])
def test_warm_start_has_the_same_bits(n_classes, subsample, rows):
    X, y = rows
    y = np.digitize(y, [0] if n_classes == 2 else [-1, 1])
    margin = np.random.default_rng(1).normal(size=(N, 1 if n_classes == 2 else 3))
    params = {"subsample": subsample, "random_state": 5, "early_stopping": False}
    once = GradientBoostingClassifier(n_estimators=9, **params).fit(X, y, base_margin=margin)
    steps = GradientBoostingClassifier(n_estimators=2, warm_start=True, **params)
    for n in (2, 5, 9):
        steps.set_params(n_estimators=n).fit(X, y, base_margin=margin)
    assert model_bits(once) == model_bits(steps)
    other = GradientBoostingClassifier(n_estimators=9, n_jobs=2, **params)
    assert model_bits(once) == model_bits(other.fit(X, y, base_margin=margin))
    with pytest.raises(InputError, match=r"P-WARM.*base_margin: not given"):
        steps.set_params(n_estimators=10).fit(X, y)


def test_every_way_of_asking_adds_it(rows):
    X, y = rows
    y = np.digitize(y, [-1, 1])
    margin = np.random.default_rng(1).normal(size=(N, 3))
    model = GradientBoostingClassifier(n_estimators=4).fit(X, y, base_margin=margin)
    own = model.decision_function(X)
    raw = model.decision_function(X, base_margin=margin)
    np.testing.assert_allclose(raw, own + margin, rtol=1e-15)
    share = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X, base_margin=margin), share, rtol=1e-9)
    logs = model.predict_log_proba(X, base_margin=margin)
    np.testing.assert_allclose(logs, np.log(share), rtol=1e-7, atol=1e-9)
    *_, last = model.staged_predict_proba(X, base_margin=margin)
    np.testing.assert_array_equal(last, model.predict_proba(X, base_margin=margin))
    *_, last = model.staged_predict(X, base_margin=margin)
    np.testing.assert_array_equal(last, model.predict(X, base_margin=margin))
    np.testing.assert_allclose(model.shap_values(X[:5]).sum(axis=1), own[:5], atol=1e-9)


def test_rows_to_stop_by_have_theirs(rows):
    X, y = rows
    margin = 3 * X[:, 3]
    model = GradientBoostingRegressor(
        n_estimators=300, learning_rate=0.3, early_stopping=True, random_state=0
    )
    held = {"X_val": X[300:], "y_val": (y + margin)[300:], "base_margin_val": margin[300:]}
    model.fit(X[:300], (y + margin)[:300], base_margin=margin[:300], **held)
    plain = [0.5 * np.mean(y[300:] ** 2)]
    plain += [0.5 * np.mean((p - y[300:]) ** 2) for p in model.staged_predict(X[300:])]
    np.testing.assert_allclose(model.held_out_loss_[: len(plain)], plain, rtol=1e-9)
    assert model.n_estimators_ < 300
    split = GradientBoostingRegressor(n_estimators=60, early_stopping=True, random_state=0)
    split.fit(X, y + margin, base_margin=margin)
    assert split.held_out_loss_[-1] < 0.5 * split.held_out_loss_[0]


def test_rankings_take_one(rows):
    X, y = rows
    relevance, query = np.digitize(y, [-0.5, 0.5]), np.repeat(np.arange(20), 20)
    whole = make_plain(GradientBoostingRanker, n_estimators=8).fit(X, relevance, query)
    margin = whole.committee_[:3].decision(X)[:, 0]
    rest = make_plain(GradientBoostingRanker, n_estimators=5).fit(
        X, relevance, query, base_margin=margin
    )
    assert last_trees(rest, 0) == last_trees(whole, 3)
    told = rest.predict(X, base_margin=margin)
    np.testing.assert_allclose(told, whole.predict(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("margin", "says"),
    [
        (np.zeros(N - 1), r"shape \(399,\)"),
        (np.zeros((N, 2)), r"shape \(400, 2\)"),
        (0.0, r"shape \(\)"),
        (np.where(np.arange(N) == 7, np.nan, 0), "row 7"),
        (np.where(np.arange(N) == 7, -np.inf, 0), "row 7"),
        (["a"] * N, "numbers"),
    ],
)
def test_what_is_no_margin_is_refused(margin, says, rows):
    X, y = rows
    model = GradientBoostingRegressor(n_estimators=2)
    with pytest.raises(InputError, match=rf"P-MARGIN\] base_margin: .*{says}"):
        model.fit(X, y, base_margin=margin)
    assert not hasattr(model, "committee_")
    model.fit(X, y)
    for ask in (model.predict, lambda X, **a: next(model.staged_predict(X, **a))):
        with pytest.raises(InputError, match=rf"P-MARGIN.*{says}"):
            ask(X, base_margin=margin)


def test_margins_that_do_not_meet_are_refused(rows):
    X, y = rows
    model, some = GradientBoostingRegressor(n_estimators=2), {"X_val": X[:9], "y_val": y[:9]}
    with pytest.raises(InputError, match=r"base_margin_val: given without X_val"):
        model.fit(X, y, base_margin_val=y)
    with pytest.raises(InputError, match=r"P-MARGIN\] base_margin_val"):
        model.fit(X, y, base_margin=y, **some)
    with pytest.raises(InputError, match=r"P-MARGIN\] base_margin:"):
        model.fit(X, y, base_margin_val=y[:9], **some)
    with pytest.raises(InputError, match=r"base_margin_val: shape \(8,\)"):
        model.fit(X, y, base_margin=y, base_margin_val=y[:8], **some)
    with pytest.raises(InputError, match=r"shape \(400,\) for 400 row\(s\) with 3"):
        GradientBoostingClassifier().fit(X, np.digitize(y, [-1, 1]), base_margin=y)
