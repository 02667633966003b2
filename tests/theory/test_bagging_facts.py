"""What the lectures say of bagging, measured: where it helps, where not, and what it costs."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_friedman1
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.tree import ExtraTreeRegressor

from committee import DecisionTreeClassifier, DecisionTreeRegressor
from committee.theory.decomposition import decompose
from committee.theory.error_law import measure_error_law


def test_r37_bagging_lowers_variance_and_not_bias():
    """Friedman1 with fresh training sets: the noiseless target tells the true bias."""
    rng = np.random.default_rng(0)
    X_test, target = make_friedman1(300, noise=0.0, random_state=1)
    trees, bags = [], []
    for k in range(15):
        X, y = make_friedman1(150, noise=1.0, random_state=int(rng.integers(2**31)))
        tree = DecisionTreeRegressor(random_state=k)
        trees.append(tree.fit(X, y).predict(X_test))
        bags.append(BaggingRegressor(tree, 12, random_state=k).fit(X, y).predict(X_test))
    tree, bag = (decompose(said, target, "squared") for said in (trees, bags))
    assert bag.overall["variance"] < tree.overall["variance"] / 2
    change = bag.bias_squared - tree.bias_squared
    error = change.std() / np.sqrt(len(change))
    assert change.mean() > -2 * error  # not lowered
    assert bag.overall["loss"] < tree.overall["loss"]


def test_r38_a_bagged_linear_model_is_unchanged():
    X_test, y_test = make_friedman1(500, noise=1.0, random_state=1)
    X, y = make_friedman1(200, noise=1.0, random_state=2)
    one = LinearRegression().fit(X, y).predict(X_test)
    bag = BaggingRegressor(LinearRegression(), 50, random_state=0).fit(X, y).predict(X_test)
    gains = (one - y_test) ** 2 - (bag - y_test) ** 2
    assert np.abs(gains.mean()) < 2.5 * gains.std() / np.sqrt(len(gains))  # within noise
    assert np.abs(gains.mean()) < 0.02 * ((one - y_test) ** 2).mean()
    assert np.corrcoef(one, bag)[0, 1] > 0.999


def test_r38_a_stable_stump_gains_little_and_a_tree_much():
    """One feature tells nearly all: every replicate finds it, and there is nothing to average."""
    rng = np.random.default_rng(0)

    def sample(n):
        X = rng.normal(size=(n, 10))
        return X, ((X[:, 0] > 0.3) ^ (rng.random(n) < 0.15)).astype(int)

    X_test, y_test = sample(3000)
    gains = {}
    for depth in (1, None):
        member = DecisionTreeClassifier(max_depth=depth)
        errors = []
        for k in range(6):
            X, y = sample(300)
            bag = BaggingClassifier(member, 25, random_state=k).fit(X, y)
            models = (member.fit(X, y), bag)
            errors.append([(model.predict(X_test) != y_test).mean() for model in models])
        one, many = np.mean(errors, axis=0)
        gains[depth] = one - many
        print(f"depth {depth}", f"{one:.3f} -> {many:.3f}")
    assert abs(gains[1]) < 0.01
    assert gains[None] > 0.05


def test_r45_a_forest_can_overfit():
    """A fifth of the labels is wrong: the forest knows them all by heart, and pays on new rows."""
    X, y = make_classification(600, n_informative=4, random_state=0)
    flipped = np.random.default_rng(1).random(600) < 0.2
    noisy = np.where(flipped, 1 - y, y)
    train, test = slice(0, 250), slice(250, None)
    forest = BaggingClassifier(
        DecisionTreeClassifier(max_features="sqrt"), 150, random_state=0
    ).fit(X[train], noisy[train])
    learnt = (forest.predict(X[train]) == noisy[train]).mean()
    met = (forest.predict(X[test]) == noisy[test]).mean()
    print("gap", learnt - met)
    assert learnt == 1.0
    assert met < 0.82  # who knew the truth would reach .8
    assert learnt - met > 0.18


def test_r49_averaging_removes_the_variance_that_randomisation_added():
    """Over seeds alone the variance falls as 1/M; over samples it falls to what the data add."""
    X_test, target = make_friedman1(100, noise=0.0, random_state=0)
    said = []
    for k in range(20):
        X, y = make_friedman1(100, noise=1.0, random_state=100 + k)
        trees = [ExtraTreeRegressor(max_features=1, random_state=1000 * k + t) for t in range(32)]
        said.append([tree.fit(X, y).predict(X_test) for tree in trees])
    said = np.array(said)  # [sample, tree, row]
    sizes = np.array([1, 2, 4, 8, 16])
    over_samples = np.array(
        [decompose(said[:, :m].mean(axis=1), target, "squared").overall["variance"] for m in sizes]
    )
    seeds = [
        said[0].reshape(32 // m, m, -1).mean(axis=1).var(axis=0, ddof=1).mean() for m in sizes[:4]
    ]
    np.testing.assert_allclose(np.array(seeds) * sizes[:4], seeds[0], rtol=0.35)
    design = np.column_stack([np.ones(5), 1 / sizes])
    (floor, slope), *_ = np.linalg.lstsq(design, over_samples, rcond=None)
    print("floor", floor)
    print("slope", slope)
    np.testing.assert_allclose(design @ [floor, slope], over_samples, rtol=0.1)
    assert slope > floor > 0
    assert slope == pytest.approx(seeds[0], rel=0.25)  # the part that falls is the seeds' own


def test_r49_the_law_foretells_a_larger_committee():
    X, y = make_friedman1(300, noise=1.0, random_state=0)
    X_test, y_test = make_friedman1(500, noise=1.0, random_state=1)
    trees = [ExtraTreeRegressor(random_state=k).fit(X, y).predict(X_test) for k in range(100)]
    small, large = measure_error_law(trees[:20], y_test), measure_error_law(trees, y_test)
    assert small.at(100) == pytest.approx(large.committee_error, rel=0.05)
    assert large.floor < large.committee_error < small.committee_error
