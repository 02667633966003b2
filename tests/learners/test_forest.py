"""Random forests: what the lectures demand (R31 to R49), their own parameters, and honesty."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier as Reference
from tests.estimators import forest_bits

from committee import DataWarning, _engine, export_svg, export_text
from committee.learners.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from committee.learners.random_forest import RandomForestClassifier, RandomForestRegressor

FORESTS = [
    RandomForestClassifier,
    RandomForestRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
]
every = pytest.mark.parametrize("kind", FORESTS)
classifiers = pytest.mark.parametrize("kind", FORESTS[::2])


def rows(n=200, p=5, seed=0, noise=0.3, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    score = X[:, 0] + X[:, 1] * X[:, 2] + noise * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def fit(kind, *data, **params):
    return kind(**{"n_estimators": 12, "random_state": 0, **params}).fit(*(data or rows()))


def same(a, b):
    assert forest_bits(a.forest_) == forest_bits(b.forest_)
    np.testing.assert_array_equal(a.importances_, b.importances_)


def test_scikit_learns_parameters_in_order():
    ours, theirs = RandomForestClassifier().get_params(), Reference().get_params()
    assert {name: ours[name] for name in theirs} == theirs
    assert list(RandomForestClassifier.__init__.__wrapped__.__annotations__)[:19] == [
        "n_estimators", "criterion", "max_depth", "min_samples_split", "min_samples_leaf",
        "min_weight_fraction_leaf", "max_features", "max_leaf_nodes", "min_impurity_decrease",
        "bootstrap", "oob_score", "n_jobs", "random_state", "verbose", "warm_start",
        "class_weight", "ccp_alpha", "max_samples", "monotonic_cst",
    ]  # fmt: skip
    assert not ExtraTreesRegressor().bootstrap
    assert ExtraTreesClassifier().max_features == "sqrt"
    assert RandomForestRegressor().max_features == 1.0


# What the bootstrap is.


def test_r31_bags_of_the_forest():
    X, y = rows(1000)
    model = fit(RandomForestClassifier, X, y, n_estimators=60, max_depth=1)
    distinct = [len(np.unique(sample)) / 1000 for sample in model.estimators_samples_]
    assert abs(np.mean(distinct) - 0.6323) < 3.5 * 0.0099 / np.sqrt(60)
    assert all(len(sample) == 1000 for sample in model.estimators_samples_)


def test_r32_three_draws():
    X, y = rows(5)
    model = fit(RandomForestRegressor, X, y, max_samples=3, n_estimators=300)
    assert {len(sample) for sample in model.estimators_samples_} == {3}
    assert len({tuple(sample) for sample in model.estimators_samples_}) == 35


def test_r33_a_row_that_all_have_seen_is_nan():
    X, y = rows(40)
    with pytest.warns(DataWarning, match=r"B-NEVER-OUT.*do not have OOB scores"):
        model = fit(RandomForestClassifier, X, y, n_estimators=3, oob_score=True)
    unknown = model.left_out_.counts() == 0
    assert unknown.any()
    np.testing.assert_array_equal(
        np.isnan(model.oob_decision_function_), np.column_stack([unknown] * 2)
    )
    predicted = model.oob_decision_function_[~unknown].argmax(axis=1)
    assert model.oob_score_ == np.mean(predicted == y[~unknown])


@every
def test_r35_the_forest_is_its_members_by_hand(kind):
    """Each member is the tree grown on its bag's weights, and the forest is their mean."""
    X, y = rows(120)
    model = fit(kind, X, y, n_estimators=5)
    total = np.zeros_like(model._outputs(X))
    for tree in model.estimators_:
        total += tree._outputs(X)
    np.testing.assert_array_equal(total / 5, model._outputs(X))
    grower = model._prepare(X, y, None, None, model.bag_plan_.seed)
    alone = _engine.Forest.concatenate([grower._pruned(member) for member in range(5)])
    for name in ("threshold", "feature", "left"):
        np.testing.assert_array_equal(getattr(alone, name), getattr(model.forest_, name))
    leaves = np.isinf(alone.threshold)
    np.testing.assert_array_equal(alone.values[leaves], model.forest_.values[leaves])


@every
def test_r39_any_number_of_threads(kind):
    X, y = rows(700)
    expected = fit(kind, X, y, n_jobs=1, n_estimators=9)
    for n_jobs in (2, 4, 7):
        same(fit(kind, X, y, n_jobs=n_jobs, n_estimators=9), expected)


# What a random forest is.


@classifiers
@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio", "normalized_gain"])
def test_r40_trees_know_their_bags(kind, criterion):
    X, y = rows(150, n_classes=3)
    model = fit(kind, X, y, criterion=criterion, max_features=1)
    for tree, sample in zip(model.estimators_, model.estimators_samples_, strict=True):
        assert tree.score(X[sample], y[sample]) == 1


def test_r40_features_are_drawn_at_each_node():
    X, y = rows(400, p=10)
    for tree in fit(RandomForestClassifier, X, y, max_features=1, n_estimators=4).estimators_:
        used = tree.tree_.feature[~tree.tree_.is_leaf]
        assert set(used) == set(range(10))
        assert (np.bincount(used) / len(used)).max() < 0.3


def test_r41_number_of_features():
    X, y = rows(60, p=34)
    for rule, count in (("sqrt", 6), ("log2", 6), ("breiman", 6), (0.5, 17), (3, 3), (None, 34)):
        model = fit(RandomForestClassifier, X, y, max_features=rule, n_estimators=1)
        assert model.max_features_ == count
    assert fit(RandomForestClassifier, X[:, :10], y).max_features_ == 4  # the ceiling of 3.16


def test_r44_fewer_features_make_members_less_alike():
    X, y = rows(500, p=12, noise=1.0)
    fresh, _ = rows(400, p=12, seed=9)
    correlation = []
    for count in (12, 4, 1):
        model = fit(RandomForestRegressor, X, y, max_features=count, n_estimators=25)
        members = np.array([tree.predict(fresh) for tree in model.estimators_])
        pairs = np.corrcoef(members)[np.triu_indices(25, 1)]
        correlation.append(pairs.mean())
    assert correlation[0] > correlation[1] > correlation[2]


def test_r45_forests_overfit_noise():
    X, y = rows(600, noise=0.0)
    flip = np.random.default_rng(1).random(600) < 0.2
    noisy = np.where(flip, 1 - y, y)
    model = fit(RandomForestClassifier, X[:400], noisy[:400], n_estimators=60, oob_score=True)
    train, test = model.score(X[:400], noisy[:400]), model.score(X[400:], noisy[400:])
    assert train > 0.99
    assert train - test > 0.15
    assert abs(model.oob_score_ - test) < 0.08  # the honest number


def test_r49_variance_across_seeds_falls_with_members():
    X, y = rows(150, noise=1.0)
    fresh, _ = rows(60, seed=5)
    spread = {}
    for size in (1, 4, 16):
        seeds = [
            fit(RandomForestRegressor, X, y, n_estimators=size, random_state=k).predict(fresh)
            for k in range(40)
        ]
        spread[size] = np.var(seeds, axis=0, ddof=1).mean()
    assert spread[4] / spread[1] == pytest.approx(1 / 4, rel=0.25)
    assert spread[16] / spread[1] == pytest.approx(1 / 16, rel=0.25)


# Views.


@every
def test_stages_and_views(kind):
    X, y = rows()
    model = fit(kind, X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == len(model.estimators_) == len(model) == 12
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    np.testing.assert_array_equal(stages[4], kind(5, random_state=0).fit(X, y).predict(X))
    leaves, (path, begin) = model.apply(X), model.decision_path(X)
    assert leaves.shape == (200, 12)
    for member, tree in enumerate(model.estimators_):
        np.testing.assert_array_equal(tree.apply(X), leaves[:, member])
        part = path[:, begin[member] : begin[member + 1]]
        assert (part != tree.decision_path(X)).nnz == 0
        np.testing.assert_array_equal(tree.feature_importances_, model.importances_[member])
    assert path.shape == (200, begin[-1])
    assert model.feature_importances_.sum() == pytest.approx(1)
    np.testing.assert_array_equal(model[3].predict(X), model.estimators_[3].predict(X))
    assert [len(part) for part in (model.estimators_[2:4], list(model))] == [2, 12]
    assert model.estimator_.get_params()["splitter"] == kind.splitter


def test_importances_are_those_of_scikit_learn():
    X, y = rows(800, noise=0.0)
    ours = fit(RandomForestClassifier, X, y, n_estimators=60).feature_importances_
    theirs = Reference(60, random_state=0, max_features=3).fit(X, y).feature_importances_
    np.testing.assert_allclose(ours, theirs, atol=0.03)


def test_fit_keeps_no_rows():
    X, y = rows(3000)
    X[:, 0] = 123456.789
    model = fit(RandomForestClassifier, X, y, max_depth=2, n_estimators=2)
    assert len(pickle.dumps(model)) < X.nbytes
    assert np.float64(123456.789).tobytes() not in pickle.dumps(model)


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_members_can_be_drawn(kind):
    X, y = load_iris(return_X_y=True)
    member = kind(3, max_depth=2, random_state=0).fit(X, y).estimators_[1]
    assert "<svg" in export_svg(member)
    assert export_text(member).count("\n") >= 3
    assert member.tree_.weighted_n_node_samples[0] == len(y)
    with pytest.raises(AttributeError, match="not kept by the members of a forest"):
        _ = member.tree_.impurity
