"""Stacking against scikit-learn's, with the same folds and members.

Differences that are meant: members are fitted on labels, not on codes; labels of three or more
classes become a column each, where scikit-learn has one column of codes.
"""

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from committee import StackingClassifier, StackingRegressor

MEMBERS = [
    ("bayes", GaussianNB()),
    ("near", KNeighborsClassifier(7)),
    ("tree", DecisionTreeClassifier(max_depth=4, random_state=0)),
    ("plane", LinearDiscriminantAnalysis()),
]
SCORING = [("ridge", RidgeClassifier()), ("plane", LinearDiscriminantAnalysis())]


def rows_of(name):
    X, y = {"two": load_breast_cancer, "three": load_wine}[name](return_X_y=True)
    X, y = X[:200, :5], y[:200]  # three classes have 178 rows
    return (X - X.mean(axis=0)) / X.std(axis=0), y


WAYS = {
    "plain": {},
    "appended": {"passthrough": True},
    "decision": {"stack_method": "decision_function", "estimators": SCORING},
    "labels": {"stack_method": "predict"},
    "mixed": {"estimators": [*MEMBERS[:2], *SCORING[:1]]},
    "dropped": {"estimators": [("gone", "drop"), *MEMBERS[:2]]},
    "tree": {"final_estimator": DecisionTreeClassifier(max_depth=3, random_state=0)},
}


CASES = [(name, way) for name in ("two", "three") for way in WAYS]
CASES.remove(("three", "labels"))  # scikit-learn has one column: test_labels_of_three_classes


@pytest.mark.parametrize(("name", "way"), CASES)
def test_classes(name, way):
    X, y = rows_of(name)
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    params = {"estimators": MEMBERS, "final_estimator": LogisticRegression(), "cv": cv, **WAYS[way]}
    ours = StackingClassifier(**clone(params, safe=False)).fit(X, y)
    theirs = ensemble.StackingClassifier(**clone(params, safe=False)).fit(X, y)
    assert ours.stack_method_ == theirs.stack_method_
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-12, atol=1e-15)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    # scikit-learn does not keep its meta-features: they are made again as it makes them.
    kept = [m for _, m in params["estimators"] if not isinstance(m, str)]
    columns = []
    for member, method in zip(kept, theirs.stack_method_, strict=True):
        said = cross_val_predict(clone(member), X, y, cv=cv, method=method)
        said = said.reshape(len(y), -1)
        columns.append(said[:, 1:] if method == "predict_proba" and name == "two" else said)
    np.testing.assert_allclose(ours.oof_, np.hstack(columns), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


def test_labels_of_three_classes():
    X, y = rows_of("three")
    ours = StackingClassifier(MEMBERS, "linear", cv=KFold(5, shuffle=True, random_state=1))
    ours.set_params(stack_method="predict").fit(X, y)
    for place, (_, member) in enumerate(MEMBERS):
        codes = cross_val_predict(clone(member), X, y, cv=ours.cv)
        np.testing.assert_array_equal(ours.oof_[:, 3 * place : 3 * place + 3].argmax(axis=1), codes)


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("final", [None, LinearRegression()], ids=["default", "linear"])
def test_numbers(final, passthrough):
    X, y = (part[:150] for part in load_diabetes(return_X_y=True))
    members = [("ridge", Ridge()), ("near", KNeighborsRegressor(9))]
    params = {"final_estimator": final, "cv": KFold(5), "passthrough": passthrough}
    ours = StackingRegressor(members, **params).fit(X, y)
    theirs = ensemble.StackingRegressor(members, **params).fit(X, y)
    columns = [cross_val_predict(clone(m), X, y, cv=KFold(5)) for _, m in members]
    np.testing.assert_allclose(ours.oof_, np.column_stack(columns), rtol=1e-12)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-12)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)


def test_members_that_are_fitted_already():
    X, y = rows_of("two")
    members = [(name, clone(member).fit(X[::2], y[::2])) for name, member in MEMBERS]
    ours = StackingClassifier(members, cv="prefit").fit(X[1::2], y[1::2])
    theirs = ensemble.StackingClassifier(members, cv="prefit").fit(X[1::2], y[1::2])
    assert ours.estimators_[0] is members[0][1]
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
