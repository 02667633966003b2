"""Extra trees: random cuts (R46), noise and the limits that answer it (R47), many of them (R49)."""

import numpy as np
import pytest
from scipy.stats import kstest

from committee import BaggingClassifier, InputError, RotationForestClassifier
from committee.learners.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from committee.learners.random_forest import RandomForestRegressor


def friedman(n, seed, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 6))
    truth = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    return X, truth + noise * rng.normal(size=n), truth


def test_r46_cuts_are_uniform_in_the_root():
    X = np.array([[-1.0], [0.2], [0.3], [3.0]])
    y = np.array([0.0, 1.0, 5.0, 2.0])
    model = ExtraTreesRegressor(2000, max_depth=1, random_state=0).fit(X, y)
    cuts = model.forest_.threshold[model.forest_.tree_begin[:-1].astype(int)]
    assert cuts.min() > -1
    assert cuts.max() < 3
    assert kstest(cuts, "uniform", args=(-1, 4)).pvalue > 0.01


def test_r46_cuts_are_uniform_in_every_node():
    """The second cut lies uniformly between the least and largest value of its own node."""
    X = np.linspace(0, 1, 50).reshape(-1, 1)
    model = ExtraTreesRegressor(1500, max_depth=2, random_state=0).fit(X, X[:, 0] ** 2)
    shares = []
    for member in model.estimators_:
        tree = member.tree_
        left = tree.children_left[0]
        if tree.children_left[left] < 0:
            continue
        inside = X[X[:, 0] <= tree.threshold[0], 0]
        if len(inside) > 20:
            shares.append(tree.threshold[left] / inside.max())
    assert len(shares) > 500
    assert kstest(shares, "uniform").pvalue > 0.01


def test_r46_one_feature_gives_a_structure_free_of_y():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = np.arange(200.0)  # distinct, so that no node is pure before its rows are alone
    trees = [
        ExtraTreesRegressor(10, max_features=1, random_state=3, max_depth=5).fit(X, target)
        for target in (y, rng.permutation(y), y**3)
    ]
    for other in trees[1:]:
        for name in ("feature", "threshold", "left"):
            expected = getattr(trees[0].forest_, name)
            np.testing.assert_array_equal(getattr(other.forest_, name), expected)
    assert (trees[0].forest_.values != trees[1].forest_.values).any()
    chosen = ExtraTreesRegressor(10, max_features=5, random_state=3, max_depth=5)
    a, b = (chosen.fit(X, t).forest_.feature.tolist() for t in (y, rng.permutation(y)))
    assert a != b


def test_r46_all_rows_are_used_and_known():
    X, y, _ = friedman(150, 0)
    model = ExtraTreesRegressor(5, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-12)
    assert not hasattr(model, "left_out_")
    for sample in model.estimators_samples_:
        np.testing.assert_array_equal(sample, np.arange(150))


def test_r47_larger_leaves_trade_variance_for_bias():
    fresh, _, truth = friedman(400, 99)
    bias, variance = [], []
    for n_min in (2, 10, 40, 80):
        said = np.array(
            [
                ExtraTreesRegressor(5, min_samples_split=n_min, random_state=k)
                .fit(*friedman(200, k, noise=2.0)[:2])
                .predict(fresh)
                for k in range(25)
            ]
        )
        variance.append(said.var(axis=0, ddof=1).mean())
        bias.append(((said.mean(axis=0) - truth) ** 2).mean() - variance[-1] / 25)
    assert (np.diff(bias) > 0).all()
    assert (np.diff(variance) < 0).all()


def test_r47_under_noise_fewer_features_are_best():
    def best(noise):
        rng = np.random.default_rng(5)
        X = rng.normal(size=(1500, 8))
        y = (X[:, 0] + X[:, 1] > 0).astype(int)
        noisy = np.where(rng.random(1500) < noise, 1 - y, y)
        scores = []
        for count in (1, 2, 4, 8):
            model = ExtraTreesClassifier(100, max_features=count, random_state=0)
            scores.append(model.fit(X[:500], noisy[:500]).score(X[500:], y[500:]))
        return int(np.argmax(scores))

    assert best(0.2) <= best(0.0)


def test_r49_averaging_removes_what_randomness_added():
    X, y, _ = friedman(150, 1)
    fresh, _, _ = friedman(100, 2)
    variance = {
        size: np.var(
            [
                ExtraTreesRegressor(size, max_features=2, random_state=k).fit(X, y).predict(fresh)
                for k in range(30)
            ],
            axis=0,
            ddof=1,
        ).mean()
        for size in (1, 10)
    }
    assert variance[10] / variance[1] == pytest.approx(0.1, rel=0.25)


def test_bootstrap_may_be_asked_for():
    X, y, _ = friedman(150, 3)
    model = ExtraTreesRegressor(60, bootstrap=True, oob_score=True, random_state=0).fit(X, y)
    assert model.oob_score_ > 0.5
    assert model.verify_no_leak(X, y).n_members == 60
    forest = RandomForestRegressor(60, oob_score=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.left_out_.bitmap, forest.left_out_.bitmap)


def test_warm_start_refuses_other_weights():
    """Nothing is drawn by them, but the members use them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).round()
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    weight = rng.uniform(1, 2, 60)
    for model in (
        ExtraTreesClassifier(2, warm_start=True, random_state=0),
        BaggingClassifier(n_estimators=2, bootstrap=False, warm_start=True, random_state=0),
        RotationForestClassifier(n_estimators=2, warm_start=True, random_state=0),
    ):
        model.fit(X, y).set_params(n_estimators=4)
        with pytest.raises(InputError, match="sample_weight"):
            model.fit(X, y, sample_weight=weight)
        assert len(model.fit(X, y, sample_weight=np.full(60, 2.0)).estimators_) == 4
