"""VotingClassifier and VotingRegressor: the lectures' demands, and errors."""

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.base import clone
from sklearn.datasets import make_classification, make_friedman1
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from committee import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    InputError,
    InputTypeError,
    VotingClassifier,
    VotingRegressor,
    ambiguity,
)
from committee.core.randomness import seeded_clone
from committee.core.voting import majority


@pytest.fixture(scope="module")
def rows():
    return make_classification(200, 6, n_informative=4, n_classes=3, random_state=0)


def constant(label, classes):
    """A member that always says the same, fitted on all classes."""
    strategy = DummyClassifier(strategy="constant", constant=label)
    return strategy.fit(np.zeros((len(classes), 1)), classes)


def saying(*labels, classes=("cat", "dog"), **params):
    members = [(f"m{k}", constant(label, classes)) for k, label in enumerate(labels)]
    model = VotingClassifier(members, prefit=True, **params)
    return model.fit(np.zeros((len(classes), 1)), list(classes))


# --- R25: different learners, or copies of one


def test_r25_one_interface_for_different_learners_and_for_copies(rows):
    X, y = rows
    different = [("svm", SVC()), ("gda", QuadraticDiscriminantAnalysis(reg_param=0.1))]
    bags = [np.random.default_rng(k).integers(0, 200, 200) for k in range(10)]
    copies = [(f"c{k}", GaussianNB().fit(X[bag], y[bag])) for k, bag in enumerate(bags)]
    models = [
        VotingClassifier(different).fit(X, y),
        VotingClassifier(copies, prefit=True).fit(X, y),
    ]
    for model, n_members in zip(models, (2, 10), strict=True):
        votes = np.stack([np.eye(3)[member.predict(X)] for member in model.estimators_])
        assert len(votes) == n_members
        np.testing.assert_array_equal(model.predict(X), votes.sum(axis=0).argmax(axis=1))
        assert model.score(X, y) > 0.7


# --- R26: unweighted votes on random examples are bagging, weighted ones on hard examples boosting


def test_r26_equal_votes_of_bootstrapped_members_are_bagging(rows):
    X, y = rows
    base = DecisionTreeClassifier(max_depth=2)
    bagging = BaggingClassifier(base, 7, voting="hard", random_state=5).fit(X, y)
    members = []
    for k, drawn in enumerate(bagging.estimators_samples_):
        bag = np.bincount(drawn, minlength=len(y)).astype(float)
        members.append((f"t{k}", seeded_clone(base, 5, k).fit(X, y, bag)))
    vote = VotingClassifier(members, prefit=True).fit(X, y)
    np.testing.assert_array_equal(vote.predict(X), bagging.predict(X))


def test_r26_a_vote_with_alphas_is_adaboost_and_without_is_not(rows):
    """Boosting is its members and their weights; forced to be equal, it is another committee."""
    X, y = rows[0], (rows[1] == 1).astype(int)
    boosted = AdaBoostClassifier(n_estimators=20).fit(X, y)
    members = [(f"t{k}", tree) for k, tree in enumerate(boosted.estimators_)]
    alphas = VotingClassifier(members, weights=boosted.estimator_weights_, prefit=True).fit(X, y)
    equal = clone(alphas, safe=False).set_params(estimators=members, weights=None).fit(X, y)
    np.testing.assert_array_equal(alphas.predict(X), boosted.predict(X))
    assert (equal.predict(X) != boosted.predict(X)).any()


# --- R27: votes, weights and ties


def test_r27_cat_or_dog():
    assert saying("cat", "cat", "dog", "cat", "dog").predict([[0]]) == ["cat"]
    weighted = saying("cat", "cat", "dog", "cat", "dog", weights=[1, 1, 2, 1, 2])
    assert weighted.predict([[0]]) == ["dog"]


@pytest.mark.parametrize("voting", ["hard", "soft", "product", "max", "median", "trimmed_mean"])
def test_r27_ties_go_to_the_lowest_class(voting):
    for order in (("dog", "cat"), ("cat", "dog")):
        assert saying(*order, voting=voting).predict([[0]]) == ["cat"]
    assert saying(9, 3, 7, classes=(3, 7, 9), voting=voting).predict([[0]]) == [3]


# --- R28: the average


@pytest.mark.parametrize("weights", [None, [3, 1, 2]])
def test_r28_the_gap_between_members_and_mean_is_the_ambiguity(weights):
    X, y = make_friedman1(200, random_state=0)
    members = [
        ("line", LinearRegression()),
        ("near", KNeighborsRegressor()),
        ("tree", DecisionTreeRegressor(max_depth=4)),
    ]
    model = VotingRegressor(members, weights=weights).fit(X[:100], y[:100])
    parts = ambiguity(model.transform(X[100:]).T, y[100:], weights=weights)
    error = (model.predict(X[100:]) - y[100:]) ** 2
    np.testing.assert_allclose(parts.member_error - parts.ambiguity, error, rtol=1e-9, atol=1e-12)
    assert (parts.ambiguity >= 0).all()
    assert error.mean() < np.average(
        ((model.transform(X[100:]).T - y[100:]) ** 2).mean(axis=1), weights=weights
    )


# --- R29: early exit and stages


@pytest.mark.parametrize("weights", [None, [5, 1, 1, 1, 1], [0.1, 0.4, 0.3, 0.7, 0.2]])
def test_r29_early_exit_gives_the_same_labels(rows, weights):
    X, y = rows
    members = [(f"t{k}", DecisionTreeClassifier(max_depth=3, max_features=2)) for k in range(5)]
    model = VotingClassifier(members, weights=weights, random_state=0).fit(X, y)
    early = clone(model).set_params(early_exit=True).fit(X, y)
    vote = early.settled_vote(X)
    np.testing.assert_array_equal(early.predict(X), model.predict(X))
    np.testing.assert_array_equal(model.classes_[vote.codes], model.predict(X))
    assert 0 < vote.saved < 5 * len(X)
    outputs = np.stack([np.eye(3)[m.predict(X)] for m in model.estimators_])
    np.testing.assert_array_equal(vote.codes, majority(outputs, weights))


@pytest.mark.parametrize("voting", ["soft", "product", "max", "median", "trimmed_mean"])
def test_r29_early_exit_is_refused_where_all_members_are_asked(rows, voting):
    model = VotingClassifier([("a", GaussianNB())], voting=voting, early_exit=True)
    said = rf"P-VALUE\] early_exit.*voting='{voting}'.*Allowed: .*'hard'.*Fix: .*early_exit=False"
    with pytest.raises(InputError, match=said):
        model.fit(*rows)
    assert not hasattr(model, "estimators_")


@pytest.mark.parametrize("voting", ["hard", "soft", "median"])
def test_r29_stages_are_votes_of_the_first_members(rows, voting):
    X, y = rows
    members = [(f"t{k}", DecisionTreeClassifier(max_depth=3, random_state=k)) for k in range(4)]
    weights = [1, 0, 2, 3]
    model = VotingClassifier(members, voting=voting, weights=weights).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == 3
    for stage, k in zip(stages, (1, 3, 4), strict=True):
        part = VotingClassifier(members[:k], voting=voting, weights=weights[:k]).fit(X, y)
        np.testing.assert_array_equal(stage, part.predict(X))


def test_r29_stages_of_numbers():
    X, y = make_friedman1(60, random_state=0)
    members = [("a", LinearRegression()), ("b", DummyRegressor())]
    first, both = VotingRegressor(members).fit(X, y).staged_predict(X)
    np.testing.assert_allclose(first, LinearRegression().fit(X, y).predict(X))
    np.testing.assert_allclose(both, (first + y.mean()) / 2)


# --- what a member must be able to say


@pytest.mark.parametrize("voting", ["soft", "product", "max", "median", "trimmed_mean"])
def test_b53_members_without_probabilities_are_named_before_any_fit(rows, voting):
    members = [("svm", SVC()), ("bayes", GaussianNB()), ("ridge", RidgeClassifier())]
    model = VotingClassifier(members, voting=voting)
    with pytest.raises(InputError, match=r"2 of 3 lack it: 'svm' \(SVC\), 'ridge' \(Ridge"):
        model.fit(*rows)
    assert not hasattr(model, "estimators_")


def test_probabilities_are_not_to_be_had_of_counted_labels(rows):
    model = VotingClassifier([("bayes", GaussianNB())]).fit(*rows)
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(rows[0])
    with pytest.raises(AttributeError, match="settled_vote"):
        model.set_params(voting="soft").settled_vote(rows[0])


# --- weights


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([1], r"must be equal; got weights of shape \(1,\), 2 estimators"),
        ([1, -1], ">= 0"),
        ([0, 0], "not all of them 0"),
        ([1, np.nan], "finite|>= 0"),
        (["a", "b"], "one number"),
        ([[1, 2]], r"shape \(1, 2\)"),
    ],
)
def test_bad_weights(rows, weights, says):
    members = [("a", GaussianNB()), ("b", DecisionTreeClassifier())]
    with pytest.raises(ValueError, match=says):
        VotingClassifier(members, weights=weights).fit(*rows)


def test_a_maximum_does_not_count_members(rows):
    members = [("a", GaussianNB()), ("b", DecisionTreeClassifier())]
    with pytest.raises(InputError, match="does not count members"):
        VotingClassifier(members, voting="max", weights=[1, 2]).fit(*rows)
    VotingClassifier(members, voting="max", weights=[0, 2]).fit(*rows)


def test_a_dropped_member_takes_its_weight_along(rows):
    X, y = rows
    members = [("a", GaussianNB()), ("b", SVC()), ("c", DecisionTreeClassifier(random_state=0))]
    model = VotingClassifier(members, voting="soft", weights=[1, 7, 3]).set_params(b="drop")
    rest = VotingClassifier([members[0], members[2]], voting="soft", weights=[1, 3]).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), rest.predict_proba(X))


# --- numbers


def test_median_and_trimmed_mean_bear_a_member_that_is_far_off():
    X, y = make_friedman1(100, random_state=0)
    far = DummyRegressor(strategy="constant", constant=1e6)
    members = [("line", LinearRegression()), ("near", KNeighborsRegressor()), ("far", far)]
    errors = {
        voting: np.abs(VotingRegressor(members, voting=voting, trim=0.34).fit(X, y).predict(X) - y)
        for voting in ("mean", "median", "trimmed_mean")
    }
    assert errors["median"].max() < 20 > errors["trimmed_mean"].max()
    assert errors["mean"].min() > 1e5


def test_several_outputs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    Y = X @ rng.normal(size=(3, 2))
    members = [("line", LinearRegression()), ("tree", DecisionTreeRegressor())]
    model = VotingRegressor(members).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), (LinearRegression().fit(X, Y).predict(X) + Y) / 2)
    assert model.transform(X).shape == (80, 4)
    names = ["line0", "line1", "tree0", "tree1"]
    assert [n.split("_")[1] for n in model.get_feature_names_out()] == names


def test_members_that_predict_only_once_fitted_are_taken(rows):
    """The stacks of scikit-learn hide their predict until the default meta-model is there."""
    members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2))]
    stack = ensemble.StackingClassifier(members)
    assert not hasattr(stack, "predict")
    model = VotingClassifier([("stack", stack)]).fit(*rows)
    np.testing.assert_array_equal(model.predict(rows[0]), stack.fit(*rows).predict(rows[0]))
    scaled = make_pipeline(StandardScaler())  # it never will
    with pytest.raises(InputTypeError, match="Pipeline has no fit and predict"):
        VotingClassifier([("scaled", scaled)]).fit(*rows)
