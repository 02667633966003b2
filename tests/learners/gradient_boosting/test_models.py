"""What users meet: stopping early, limits, constraints, weights, explanations."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss, mean_pinball_loss, r2_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.estimators import model_bits
from tests.plain_boosters import make_plain
from threadpoolctl import threadpool_limits

from committee import GradientBoostingClassifier, GradientBoostingRegressor, InputError

N = 2000


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2 * N, 8))
    signal = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3]
    return X, signal + 0.5 * rng.normal(size=2 * N)


# --- stopping ---


def test_early_stopping_gives_the_best_round(rows):
    X, y = rows
    labels = (y > 0).astype(int)
    params = {"n_estimators": 400, "learning_rate": 0.3, "random_state": 0}
    model = GradientBoostingClassifier(early_stopping=True, **params).fit(X[:N], labels[:N])
    losses = model.held_out_loss_
    assert model.n_estimators_ == losses.argmin() < 400
    assert len(losses) == model.n_estimators_ + 10 + 1
    long = GradientBoostingClassifier(early_stopping=False, **params).fit(X[:N], labels[:N])
    test = [log_loss(labels[N:], m.predict_proba(X[N:])) for m in (model, long)]
    assert test[0] < test[1]


def test_given_rows_to_stop_by(rows):
    X, y = rows
    model = GradientBoostingRegressor(n_estimators=300, learning_rate=0.3)
    model.fit(X[:N], y[:N], X_val=X[N:], y_val=y[N:])
    staged = [np.mean((p - y[N:]) ** 2) / 2 for p in model.staged_predict(X[N:])]
    assert np.argmin(model.held_out_loss_) == model.n_estimators_
    np.testing.assert_allclose(model.held_out_loss_[1 : len(staged) + 1], staged, rtol=1e-6)


def test_stopping_does_not_change_the_rounds(rows):
    X, y = rows
    stopped = make_plain(GradientBoostingRegressor, n_estimators=300, learning_rate=0.3)
    stopped.fit(X[:N], y[:N], X_val=X[N:], y_val=y[N:])
    plain = make_plain(
        GradientBoostingRegressor,
        n_estimators=stopped.n_estimators_,
        learning_rate=0.3,
        early_stopping=False,
    ).fit(X[:N], y[:N])
    assert model_bits(stopped) == model_bits(plain)


def test_in_pipelines_and_cross_validation(rows):
    X, y = rows
    model = make_pipeline(
        StandardScaler(), GradientBoostingRegressor(early_stopping=True, random_state=0)
    )
    assert cross_val_score(model, X, y, cv=3).min() > 0.75


def test_held_out_rows_must_fit(rows):
    X, y = rows
    labels = np.where(y > 0, "b", "a")
    model = GradientBoostingClassifier()
    with pytest.raises(InputError, match="y_val"):
        model.fit(X, labels, X_val=X)
    with pytest.raises(InputError, match=r"y_val.* c"):
        model.fit(X, labels, X_val=X[:2], y_val=["a", "c"])
    with pytest.raises(InputError, match="early_stopping"):
        model.set_params(early_stopping=False).fit(X, labels, X_val=X, y_val=labels)


def test_deadline(rows):
    X, y = rows
    model = GradientBoostingRegressor(n_estimators=10**6, max_time=0.3, early_stopping=False)
    model.fit(X, y)
    assert 1 <= model.n_estimators_ < 10**6


# --- limits ---


@pytest.mark.parametrize("growth", ["leaf", "level"])
def test_limits_on_trees(growth, rows):
    X, y = rows
    model = GradientBoostingClassifier(
        n_estimators=40,
        growth=growth,
        max_leaf_nodes=12,
        max_depth=5,
        min_samples_leaf=25,
        early_stopping=False,
    ).fit(X, (y > 1).astype(int))
    forest = model.committee_.members.forests[0]
    for t in range(forest.n_trees):
        tree = forest.slice(t, t + 1)
        leaves = tree.left == np.arange(tree.n_nodes)
        assert leaves.sum() <= 12
        assert tree.max_depth(0) <= 5
        assert tree.count[leaves].min() >= 25  # rows, not hessians


def test_monotone(rows):
    X, y = rows
    model = GradientBoostingRegressor(monotonic_cst=[0, 0, 1, 0, 0, 0, 0, -1]).fit(X, y)
    grid = np.tile(X[:50], (40, 1))
    for feature, sign in ((2, 1), (7, -1)):
        moved = grid.copy()
        moved[:, feature] = np.repeat(np.linspace(-3, 3, 40), 50)
        steps = np.diff(model.predict(moved).reshape(40, 50), axis=0)
        assert (sign * steps >= -1e-12).all()
    with pytest.raises(InputError, match="monotonic"):
        GradientBoostingClassifier(monotonic_cst=[1] * 8).fit(X, np.digitize(y, [-1, 1]))


def test_interactions(rows):
    X, y = rows
    model = GradientBoostingRegressor(interaction_cst="no_interactions").fit(X, y)
    values = model.shap_interactions(X[:30])
    apart = values.copy()
    apart[:, np.arange(9), np.arange(9)] = 0
    np.testing.assert_allclose(apart, 0, atol=1e-9)


def test_zero_weights_are_absent(rows):
    X, y = rows
    w = np.ones(N)
    w[::3] = 0
    params = {"n_estimators": 20, "random_state": 0}
    weighted = GradientBoostingRegressor(**params).fit(X[:N], y[:N], sample_weight=w)
    without = GradientBoostingRegressor(**params).fit(X[:N][w > 0], y[:N][w > 0])
    np.testing.assert_allclose(weighted.predict(X), without.predict(X), rtol=1e-9)


# --- quality, beside scikit-learn's ---


def test_no_worse_than_histogram_boosting(rows):
    """One split: differences of 0.01 of R2 come and go with the seed."""
    X, y = rows
    labels = (y > 0).astype(int)
    with threadpool_limits(1):  # on a busy machine theirs spend most of the time waiting
        theirs = HistGradientBoostingClassifier(early_stopping=False).fit(X[:N], labels[:N])
        shares = theirs.predict_proba(X[N:])
        theirs = HistGradientBoostingRegressor(early_stopping=False).fit(X[:N], y[:N])
        numbers = theirs.predict(X[N:])
    ours = GradientBoostingClassifier(early_stopping=False).fit(X[:N], labels[:N])
    loss = log_loss(labels[N:], ours.predict_proba(X[N:]))
    assert loss < log_loss(labels[N:], shares) * 1.03
    ours = GradientBoostingRegressor(early_stopping=False).fit(X[:N], y[:N])
    assert r2_score(y[N:], ours.predict(X[N:])) > r2_score(y[N:], numbers) - 0.02


def test_quantiles_do_not_cross(rows):
    X, y = rows
    levels = [0.1, 0.5, 0.9]
    model = GradientBoostingRegressor("quantile", quantile=levels).fit(X[:N], y[:N])
    found = model.predict(X[N:])
    assert found.shape == (N, 3)
    assert (np.diff(found, axis=1) >= 0).all()
    for k, level in enumerate(levels):
        alone = mean_pinball_loss(y[N:], found[:, k], alpha=level)
        flat = mean_pinball_loss(y[N:], np.full(N, np.quantile(y[:N], level)), alpha=level)
        assert alone < 0.7 * flat


# --- explanations ---


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shap_values_add_up(n_classes, rows):
    X, y = rows
    labels = np.digitize(y, [0] if n_classes == 2 else [-1, 1])
    model = GradientBoostingClassifier(n_estimators=20).fit(X[:N], labels[:N])
    some = X[:40].copy()
    some[::4, 3] = np.nan
    values = model.shap_values(some)
    np.testing.assert_allclose(values.sum(axis=1), model.decision_function(some), atol=1e-9)
    both = model.shap_interactions(some)
    np.testing.assert_allclose(both.sum(axis=2), values, atol=1e-9)


def test_importances_find_the_signal(rows):
    X, y = rows
    found = GradientBoostingRegressor().fit(X, y).feature_importances_
    assert set(np.argsort(found)[-4:]) == {0, 1, 2, 3}
    np.testing.assert_allclose(found.sum(), 1)
