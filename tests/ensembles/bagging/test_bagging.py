"""Bagging: bags and votes against hand loops, what it does to variance, and its invariants."""

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier as OtherTree
from tests.estimators import forest_bits

from committee import _engine
from committee.core.members import ClassifierMember
from committee.core.randomness import seeded_clone
from committee.core.rounds import Round, assemble
from committee.data import InputTypeError, read_fit
from committee.data.rows import Rows
from committee.ensembles.bagging import BaggingClassifier, BaggingRegressor
from committee.learners.random_forest import RandomForestClassifier
from committee.learners.tree import DecisionTreeClassifier, DecisionTreeRegressor


@pytest.fixture(scope="module")
def rows():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :8], y


@pytest.fixture(scope="module")
def numbers():
    X, y = make_friedman1(200, random_state=0, noise=1.0)
    return X, y


def disagreement(model, X):
    """Share of rows on which two members differ, over all pairs."""
    votes = np.array(
        [
            member.predict(X if seen is None else seen.transform(X))
            for member, seen in zip(model.estimators_, model.feature_maps_, strict=True)
        ]
    )
    pairs = [(i, j) for i in range(len(votes)) for j in range(i)]
    return np.mean([np.mean(votes[i] != votes[j]) for i, j in pairs])


def test_r22_sample_and_representation_make_members_differ(rows):
    X, y = rows
    routes = {
        "none": {"bootstrap": False},
        "sample": {},
        "pasting": {"bootstrap": False, "max_samples": 0.5},
        "wagging": {"resampling": "exponential"},
        "subspace": {"bootstrap": False, "max_features": 0.5},
        "projection": {"bootstrap": False, "feature_map": "gaussian"},
        "both": {"max_features": 0.5},
    }
    found = {}
    for route, how in routes.items():
        model = BaggingClassifier(n_estimators=6, random_state=0, **how).fit(X[:300], y[:300])
        found[route] = disagreement(model, X[300:])
    assert found.pop("none") == 0
    assert min(found.values()) > 0.01
    assert found["both"] > found["sample"]


def test_r26_equal_weights_and_random_examples_are_bagging(rows):
    """The loop that boosting runs, with all weights alike and bootstrapped rows, is bagging."""
    X, y = rows
    base = OtherTree(max_depth=3)
    model = BaggingClassifier(base, n_estimators=7, voting="hard", random_state=5).fit(X, y)

    def algorithm():
        order = np.argsort(model.bag_plan_.keys, kind="stable")
        for member, drawn in enumerate(model.estimators_samples_):
            bag = np.bincount(drawn, minlength=len(y)).astype(float)
            seen = order[bag[order] > 0]
            estimator = seeded_clone(base, 5, member).fit(X[seen], y[seen], bag[seen])
            vote = ClassifierMember(estimator, np.unique(y), votes=True)
            yield Round(vote, np.ones(member + 1))

    committee = assemble(algorithm(), limit=7)
    np.testing.assert_array_equal(committee.decision(X) / 7, model.predict_proba(X))
    np.testing.assert_array_equal(committee.decision(X).argmax(axis=1), model.predict(X))


def test_r31_unique_share_of_a_bag():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 2)), rng.integers(0, 2, 1000)
    model = BaggingClassifier(DecisionTreeClassifier(max_depth=1), 200, random_state=0).fit(X, y)
    shares = [len(np.unique(drawn)) / 1000 for drawn in model.estimators_samples_]
    assert all(len(drawn) == 1000 for drawn in model.estimators_samples_)
    assert abs(np.mean(shares) - 0.6323) < 0.002
    assert abs(np.std(shares) - 0.0099) < 0.0025


def test_r32_three_out_of_five():
    X, y = np.arange(5.0)[:, None], np.array([0, 1, 0, 1, 0])
    model = BaggingClassifier(
        DecisionTreeClassifier(max_depth=1), 2000, max_samples=3, random_state=0
    ).fit(X, y)
    drawn = [tuple(rows) for rows in model.estimators_samples_]
    assert len(set(drawn)) == 35  # multisets
    assert abs(np.mean([len(set(rows)) for rows in drawn]) - 2.44) < 0.04


def test_r33_left_out_rows():
    rng = np.random.default_rng(0)
    n, members = 400, 300
    X, y = rng.normal(size=(n, 2)), rng.integers(0, 2, n)
    tree = DecisionTreeClassifier(max_depth=1)
    model = BaggingClassifier(tree, members, random_state=0).fit(X, y)
    counts, chance = model.left_out_.counts(), (1 - 1 / n) ** n
    assert abs(counts.mean() / members - chance) < 0.005
    assert abs(counts.var() / (members * chance * (1 - chance)) - 1) < 0.25
    few = BaggingClassifier(tree, 2, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        few.fit(X, y)
    never = few.left_out_.counts() == 0
    assert never.any()
    np.testing.assert_array_equal(np.isnan(few.oob_decision_function_).all(axis=1), never)


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_r35_votes_of_any_estimator_by_hand(rows, voting):
    X, y = rows
    train, test = slice(0, 300), slice(300, None)
    model = BaggingClassifier(KNeighborsClassifier(), 9, voting=voting, random_state=1)
    model.fit(X[train], y[train])
    total = np.zeros((len(y) - 300, 2))
    for drawn in model.estimators_samples_:
        member = KNeighborsClassifier().fit(X[train][drawn], y[train][drawn])
        if voting == "soft":
            total += member.predict_proba(X[test])
        else:
            total[np.arange(len(total)), member.predict(X[test])] += 1
    np.testing.assert_array_equal(model.predict_proba(X[test]), total / 9)
    np.testing.assert_array_equal(model.predict(X[test]), total.argmax(axis=1))


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_r35_votes_of_engine_trees_by_hand(rows, voting):
    X, y = rows
    model = BaggingClassifier(n_estimators=6, voting=voting, random_state=1).fit(X, y)
    table, _ = read_fit(X)
    binned = Rows.of(table, None, max_bins=255, n_threads=1)
    codes = np.ascontiguousarray(y, dtype=np.uint32).reshape(-1, 1)
    total = np.zeros((len(y), 2))
    for drawn in model.estimators_samples_:
        bag = np.bincount(drawn, minlength=len(y)).astype(float)
        stats = _engine.Stats.classes(codes, [2], bag)
        tree = _engine.grow_tree(binned.matrix, binned.mapper, stats, _engine.TreeParams(), 1)
        shares = tree.predict(_engine.Table(X, *X.shape))
        total += shares if voting == "soft" else np.eye(2)[shares.argmax(axis=1)]
    np.testing.assert_array_equal(model.predict_proba(X), total / 6)


def test_r35_mean_of_numbers_by_hand(numbers):
    X, y = numbers
    model = BaggingRegressor(KNeighborsRegressor(3), 8, random_state=0).fit(X, y)
    each = [KNeighborsRegressor(3).fit(X[d], y[d]).predict(X) for d in model.estimators_samples_]
    np.testing.assert_allclose(model.predict(X), np.mean(each, axis=0), rtol=1e-12)


def bias_and_variance(estimator, repeats=12):
    X, y = make_friedman1(300, random_state=99, noise=0)
    predictions = []
    for seed in range(repeats):
        rows, target = make_friedman1(150, random_state=seed, noise=1.0)
        predictions.append(clone(estimator).fit(rows, target).predict(X))
    mean = np.mean(predictions, axis=0)
    return np.mean((mean - y) ** 2), np.mean(np.var(predictions, axis=0, ddof=1))


def test_r37_bagging_lowers_variance_not_bias():
    tree = DecisionTreeRegressor(random_state=0)
    bias, variance = bias_and_variance(tree)
    bagged_bias, bagged_variance = bias_and_variance(BaggingRegressor(tree, 25, random_state=0))
    assert bagged_variance < 0.5 * variance
    assert bagged_bias > 0.8 * bias


def test_r38_stable_learners_gain_nothing():
    stable, unstable = LinearRegression(), DecisionTreeRegressor(random_state=0)
    errors = {}
    for base in (stable, unstable):
        alone = sum(bias_and_variance(base, 6))
        bagged = sum(bias_and_variance(BaggingRegressor(base, 20, random_state=0), 6))
        errors[base] = bagged / alone
    assert abs(errors[stable] - 1) < 0.03
    assert errors[unstable] < 0.7


@pytest.mark.parametrize(
    "how",
    [{}, {"max_features": 0.5}, {"estimator": DecisionTreeClassifier(ccp_alpha=0.01)}],
    ids=["engine", "subspace", "pruned"],
)
def test_r39_same_trees_for_any_number_of_jobs(rows, how):
    X, y = rows
    bits = {
        forest_bits(BaggingClassifier(random_state=0, n_jobs=jobs, **how).fit(X, y).forest_)
        for jobs in (1, 4)
    }
    assert len(bits) == 1


@pytest.mark.parametrize(("backend", "jobs"), [("loky", 2), ("threading", 4)])
def test_r39_same_estimators_for_any_number_of_jobs(rows, backend, jobs):
    X, y = rows
    settings = {"n_estimators": 25, "feature_map": "sparse", "random_state": 0, "oob_score": True}
    one = BaggingClassifier(OtherTree(max_features=2), **settings)
    expected = one.fit(X, y).predict_proba(X)
    with joblib.parallel_config(backend):
        many = clone(one).set_params(n_jobs=jobs).fit(X, y)
    np.testing.assert_array_equal(many.predict_proba(X), expected)
    np.testing.assert_array_equal(many.oob_decision_function_, one.oob_decision_function_)


def test_2z_poisson_weights_are_the_bootstrap_in_distribution():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 2)), rng.integers(0, 2, 500)
    tree, shares = DecisionTreeClassifier(max_depth=1), {}
    for how in ("replace", "poisson"):
        model = BaggingClassifier(tree, 100, resampling=how, random_state=0).fit(X, y)
        counts = [np.bincount(drawn, minlength=500) for drawn in model.estimators_samples_]
        shares[how] = np.bincount(np.minimum(np.concatenate(counts), 4), minlength=5) / 50_000
        poisson = np.exp(-1) * np.array([1, 1, 1 / 2, 1 / 6])
        np.testing.assert_allclose(shares[how][:4], poisson, atol=0.006)
    np.testing.assert_allclose(shares["replace"], shares["poisson"], atol=0.008)


def test_2z_wagging_leaves_no_row_out(rows):
    X, y = rows
    model = BaggingClassifier(GaussianNB(), 40, resampling="exponential", random_state=0).fit(X, y)
    assert not hasattr(model, "left_out_")
    weights = np.array([model.bag_plan_.native().weights(k) for k in range(40)])
    assert (weights > 0).all()
    np.testing.assert_allclose([weights.mean(), weights.var()], 1, atol=0.05)
    member = GaussianNB().fit(X, y, weights[0])
    np.testing.assert_allclose(model.estimators_[0].theta_, member.theta_)


def test_bagged_trees_are_a_forest(rows):
    """A tree that draws features at each node, bagged, is a random forest, bit for bit."""
    X, y = rows
    tree = DecisionTreeClassifier(max_features="sqrt")
    bagged = BaggingClassifier(tree, 8, random_state=3).fit(X, y)
    forest = RandomForestClassifier(8, max_features="sqrt", random_state=3).fit(X, y)
    assert forest_bits(bagged.forest_) == forest_bits(forest.forest_)
    np.testing.assert_array_equal(bagged.predict_proba(X), forest.predict_proba(X))
    np.testing.assert_array_equal(bagged.feature_importances_, forest.feature_importances_)


@pytest.mark.parametrize("base", [DecisionTreeRegressor(), LinearRegression()])
def test_members_of_the_other_kind_are_refused_before_any_work(rows, base):
    said = rf"P-ESTIMATOR.*BaggingClassifier asks its members for classes; {type(base).__name__}"
    with pytest.raises(InputTypeError, match=said):
        BaggingClassifier(base).fit(*rows)


@pytest.mark.parametrize("base", [DecisionTreeClassifier(), GaussianNB()])
def test_classifiers_are_no_members_for_numbers(rows, base):
    said = rf"P-ESTIMATOR.*BaggingRegressor asks its members for numbers; {type(base).__name__}"
    with pytest.raises(InputTypeError, match=said):
        BaggingRegressor(base).fit(*rows)
