"""Voting beside scikit-learn's, with the same members: the same predictions."""

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.datasets import load_iris, make_classification, make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from committee import VotingClassifier, VotingRegressor

CLASSIFIERS = [
    ("near", KNeighborsClassifier(3)),
    ("bayes", GaussianNB()),
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ("broad", GaussianNB(var_smoothing=0.5)),
]
REGRESSORS = [
    ("near", KNeighborsRegressor()),
    ("line", LinearRegression()),
    ("tree", DecisionTreeRegressor(max_depth=5, random_state=0)),
]


def problems():
    X, y = load_iris(return_X_y=True)
    yield X, np.array(["u", "v", "w"])[y]
    yield make_classification(300, 8, n_informative=5, n_classes=4, flip_y=0.2, random_state=1)


@pytest.mark.parametrize("weights", [None, [1, 2, 1, 2], [0.3, 0.1, 0.5, 0.0]])
@pytest.mark.parametrize(("voting", "flatten"), [("hard", True), ("soft", True), ("soft", False)])
def test_classifiers(voting, weights, flatten):
    params = {"voting": voting, "weights": weights, "flatten_transform": flatten}
    for X, y in problems():
        ours = VotingClassifier(CLASSIFIERS, **params).fit(X[::2], y[::2])
        theirs = ensemble.VotingClassifier(CLASSIFIERS, **params).fit(X[::2], y[::2])
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
        np.testing.assert_array_equal(ours.classes_, theirs.classes_)
        if voting == "soft":
            np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
        if voting == "hard" or flatten:
            names = ours.get_feature_names_out()
            np.testing.assert_array_equal(names, theirs.get_feature_names_out())
        else:
            with pytest.raises(ValueError, match="flatten_transform"):
                ours.get_feature_names_out()


@pytest.mark.parametrize("weights", [None, [1, 2, 4]])
def test_regressors(weights):
    X, y = make_friedman1(200, random_state=0)
    ours = VotingRegressor(REGRESSORS, weights=weights).fit(X[:100], y[:100])
    theirs = ensemble.VotingRegressor(REGRESSORS, weights=weights).fit(X[:100], y[:100])
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    names = ours.get_feature_names_out()
    np.testing.assert_array_equal(names, theirs.get_feature_names_out())


def test_sample_weights():
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).random(len(y))
    members = CLASSIFIERS[1:]
    ours = VotingClassifier(members, voting="soft").fit(X, y, sample_weight=weight)
    theirs = ensemble.VotingClassifier(members, voting="soft").fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
