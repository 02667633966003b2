"""What features are worth: sums over splits, shuffled features, partial dependence."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.inspection import PartialDependenceDisplay, partial_dependence
from tests.plain_boosters import make_plain

from committee import GradientBoostingClassifier, GradientBoostingRegressor, InputError

N = 600


def frame_of(seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=2 * N), "b": rng.normal(size=2 * N)})
    X["kind"] = pd.Categorical(rng.choice(["low", "mid", "high"], size=2 * N))
    X["noise"] = rng.normal(size=2 * N)
    effect = X["kind"].map({"low": -1.0, "mid": 0.0, "high": 1.0}).astype(float)
    return X, (X["a"] + 2 * effect + 0.2 * rng.normal(size=2 * N)).to_numpy()


@pytest.fixture(scope="module")
def rows():
    return frame_of()


@pytest.fixture(scope="module")
def model(rows):
    X, y = rows
    return GradientBoostingRegressor(n_estimators=40, random_state=0).fit(X[:N], y[:N])


# --- sums over splits ---


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sums_over_splits_by_a_loop(n_classes, rows):
    X, y = rows
    y = np.digitize(y, [0] if n_classes == 2 else [-1, 1])
    model = GradientBoostingClassifier(n_estimators=6).fit(X, y)
    slow = {kind: np.zeros(4) for kind in ("gain", "split", "cover")}
    for forest in model.committee_.members.forests:
        for tree in (forest.slice(t, t + 1) for t in range(forest.n_trees)):
            for node in range(tree.n_nodes):
                if tree.left[node] != node:
                    feature = tree.feature[node] & 0x3FFFFFFF
                    slow["gain"][feature] += tree.gain[node]
                    slow["split"][feature] += 1
                    slow["cover"][feature] += tree.count[node]
    for kind, sums in slow.items():
        np.testing.assert_allclose(model.importances(kind), sums, rtol=1e-12)
    share = slow["gain"] / slow["gain"].sum()
    np.testing.assert_allclose(model.feature_importances_, share, rtol=1e-12)


def test_one_split_by_hand():
    X = np.repeat([[0.0, 5.0], [1.0, 5.0]], 10, axis=0)
    y = np.repeat([0.0, 4.0], 10)
    model = make_plain(GradientBoostingRegressor, n_estimators=1, min_samples_leaf=1).fit(X, y)
    np.testing.assert_array_equal(model.importances("split"), [1, 0])
    np.testing.assert_array_equal(model.importances("cover"), [20, 0])
    # G = -+ 20 on the sides, H = 10, and 0 together: 400 / 10 + 400 / 10
    np.testing.assert_allclose(model.importances("gain"), [80, 0], rtol=1e-6)
    with pytest.raises(ValueError, match=r"kind.*'gain', 'split' or 'cover'.*'weight'"):
        model.importances("weight")


# --- shuffled features ---


def test_shuffling_finds_the_signal(rows, model):
    X, y = rows
    found = model.permutation_importance(X[N:], y[N:], random_state=0)
    assert found.features == ["a", "b", "kind", "noise"]
    assert found.importances.shape == (4, 5)
    mean = found.importances_mean
    assert mean[2] > mean[0] > 0.3
    assert np.abs(mean[[1, 3]]).max() < 0.01
    again = model.permutation_importance(X[N:], y[N:], random_state=0, n_jobs=2)
    np.testing.assert_array_equal(found.importances, again.importances)
    one = model.permutation_importance(X[N:], y[N:], random_state=0, features=["kind", ("a", "b")])
    np.testing.assert_array_equal(one.importances[0], found.importances[2])
    assert one.features == ["kind", ("a", "b")]


def test_the_loss_by_hand():
    """A feature of two values and a stump: what shuffling costs can be said."""
    x = np.tile([0.0, 1.0], 50)[:, None]
    model = make_plain(GradientBoostingRegressor, n_estimators=1, learning_rate=1.0).fit(
        x, 10 * x[:, 0]
    )
    found = model.permutation_importance(x, 10 * x[:, 0], n_repeats=100, random_state=0)
    moved = found.importances[0] / 50  # each row that changes costs 10^2 / 2
    np.testing.assert_allclose(moved, moved.round(2), atol=1e-6)
    np.testing.assert_allclose(found.importances_mean, 25, rtol=0.03)
    scored = model.permutation_importance(
        x, 10 * x[:, 0], n_repeats=100, random_state=0, scoring="neg_mean_squared_error"
    )
    np.testing.assert_allclose(scored.importances, 2 * found.importances, rtol=1e-5)


@pytest.mark.parametrize("scoring", [None, "accuracy", "neg_log_loss"])
def test_classes_weights_and_containers(scoring, rows):
    X, y = rows
    X, y = X[["a", "b", "noise"]].to_numpy(), np.where(y > 0, "up", "down")
    model = GradientBoostingClassifier(n_estimators=15, random_state=0).fit(X[:N], y[:N])
    given = {"random_state": 0, "scoring": scoring}
    found = model.permutation_importance(X[N:], y[N:], **given)
    assert found.importances_mean.argmax() == 0
    thin = model.permutation_importance(sparse.csr_array(X[N:]), y[N:], **given)
    np.testing.assert_allclose(thin.importances, found.importances)
    weight = np.ones(N)
    weight[: N // 2] = 0
    half = model.permutation_importance(X[N:], y[N:], sample_weight=weight, **given)
    assert (half.importances != found.importances).any()
    with pytest.raises(InputError, match=r"\] y: classes that fit has not seen: sideways"):
        model.permutation_importance(X[:1], ["sideways"])
    with pytest.raises(ValueError, match="n_repeats"):
        model.permutation_importance(X, y, n_repeats=0)


def test_margins_stay_where_they_are(rows):
    X, y = rows
    X = X[["a", "b"]].to_numpy()
    model = GradientBoostingRegressor(n_estimators=15).fit(X, y, base_margin=y)
    found = model.permutation_importance(X, y, base_margin=y, random_state=0)
    assert np.abs(found.importances).max() < 1e-9  # the margin says all


def test_encoded_categories_are_shuffled_as_such(rows):
    X, y = rows
    model = GradientBoostingRegressor(
        n_estimators=40, categorical_encoding="ordered_target", random_state=0
    ).fit(X[:N], y[:N])
    found = model.permutation_importance(X[N:], y[N:], random_state=0)
    assert found.importances_mean.argmax() == 2


# --- scikit-learn's partial dependence ---


def brute(model, X, feature, values):
    means = []
    for value in values:
        moved = X.copy()
        moved[feature] = pd.Categorical([value] * len(X)) if feature == "kind" else value
        answer = model.predict_proba(moved)[:, 1] if hasattr(model, "classes_") else None
        means.append(np.mean(model.predict(moved) if answer is None else answer))
    return means


@pytest.mark.parametrize("kind", ["numbers", "classes"])
@pytest.mark.parametrize("encoding", ["native", "ordered_target"])
def test_partial_dependence(kind, encoding, rows):
    X, y = rows
    X, y = X[:N], y[:N]
    params = {"n_estimators": 15, "categorical_encoding": encoding, "random_state": 0}
    if kind == "numbers":
        model = GradientBoostingRegressor(**params).fit(X, y)
    else:
        model = GradientBoostingClassifier(**params).fit(X, (y > 0).astype(int))
    found = partial_dependence(model, X, ["a"], method="brute", grid_resolution=7)
    grid, curve = found["grid_values"][0], found["average"][0]
    np.testing.assert_allclose(curve, brute(model, X, "a", grid), rtol=1e-9)
    assert curve[-1] > curve[0] + 0.1
    found = partial_dependence(model, X, ["kind"], method="brute", categorical_features=["kind"])
    levels = found["grid_values"][0].tolist()
    assert sorted(levels) == ["high", "low", "mid"]
    means = dict(zip(levels, found["average"][0], strict=True))
    np.testing.assert_allclose(found["average"][0], brute(model, X, "kind", levels), rtol=1e-9)
    assert means["low"] < means["mid"] < means["high"]


def test_partial_dependence_is_displayed(rows, model):
    plt = pytest.importorskip("matplotlib.pyplot")
    X, _ = rows
    shown = PartialDependenceDisplay.from_estimator(
        model,
        X[:100],
        ["a", "kind", ("a", "b")],
        categorical_features=["kind"],
        method="brute",
        grid_resolution=5,
    )
    assert len(shown.lines_.ravel()) + len(shown.bars_.ravel()) >= 3
    plt.close(shown.figure_)
