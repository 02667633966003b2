"""Cascades: against a naive chain, widths, order, levels that leak, and out-of-fold answers."""

import warnings
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier as OtherTree

from committee import (
    CascadeClassifier,
    CascadeRegressor,
    DataWarning,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    InputError,
)
from committee.core.randomness import member_rng
from committee.ensembles.cascade import leaking

BAYES, PLANE = ("bayes", GaussianNB()), ("plane", LinearDiscriminantAnalysis())
TREE = ("tree", OtherTree(max_depth=3, random_state=0))
TREE2 = ("last", OtherTree(max_depth=3, random_state=0))
NEAR = ("near", KNeighborsClassifier(1))
ROWS = np.random.default_rng(7).normal(size=(200, 3))
NUMBERS = ROWS[:, 0] + ROWS[:, 1] ** 2 + 0.5 * np.random.default_rng(8).normal(size=200)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.fixture(scope="module")
def noisy():
    X, y = make_classification(1300, 10, n_informative=3, flip_y=0.3, random_state=2)
    return X[:300], y[:300], X[300:], y[300:]


def naive(X, y, X_new, members, columns=lambda shares: shares):
    """Chain members as the paper has it; give what each level says of new rows."""
    said = []
    for member in members:
        member = clone(member).fit(X, y)
        own, new = member.predict_proba(X), member.predict_proba(X_new)
        said.append(new)
        X, X_new = np.hstack([X, columns(own)]), np.hstack([X_new, columns(new)])
    return said


def test_r109_width_is_that_of_the_features_and_of_all_classes(iris):
    X, y = iris
    model = CascadeClassifier([BAYES, TREE, PLANE], random_state=0).fit(X, y)
    assert model.widths_ == [4, 4 + 3, 4 + 3 + 3]
    assert [member.n_features_in_ for member in model.estimators_] == model.widths_
    fewer = CascadeClassifier([BAYES, TREE, PLANE], drop_last=True, random_state=0).fit(X, y)
    assert fewer.widths_ == [4, 4 + 2, 4 + 2 + 2]
    numbers = CascadeRegressor([("a", Ridge()), ("b", Ridge())], random_state=0).fit(ROWS, NUMBERS)
    assert numbers.widths_ == [3, 4]


@pytest.mark.parametrize("drop_last", [False, True])
def test_r109_in_sample_as_in_the_paper(iris, drop_last):
    X, y = iris
    members = [BAYES, ("near", KNeighborsClassifier(9)), TREE]
    model = CascadeClassifier(members, drop_last=drop_last, random_state=0).fit(X[::2], y[::2])

    def columns(shares):
        return shares[:, :-1] if drop_last else shares

    said = naive(X[::2], y[::2], X[1::2], [member for _, member in members], columns)
    for level, shares in enumerate(model.staged_predict_proba(X[1::2])):
        np.testing.assert_allclose(shares, said[level], atol=1e-12)
    np.testing.assert_array_equal(model.predict_proba(X[1::2]), shares)
    labels = list(model.staged_predict(X[1::2]))
    np.testing.assert_array_equal(labels[2], model.predict(X[1::2]))
    np.testing.assert_array_equal(labels[0], GaussianNB().fit(X[::2], y[::2]).predict(X[1::2]))


def test_r109_order_matters(noisy):
    X, y, X_test, _ = noisy
    one = CascadeClassifier([BAYES, TREE], random_state=0).fit(X, y)
    other = CascadeClassifier([TREE, BAYES], random_state=0).fit(X, y)
    assert one.widths_ == other.widths_
    assert (one.predict(X_test) != other.predict(X_test)).any()


def test_labels_are_votes_by_class(iris):
    X, y = iris
    model = CascadeClassifier(
        [BAYES, ("ridge", RidgeClassifier()), TREE], stack_method="predict", random_state=0
    )
    assert model.fit(X, y).stack_method_ == ["predict"] * 3
    votes = np.eye(3)[np.searchsorted(model.classes_, model.estimators_[0].predict(X))]
    ridge = RidgeClassifier().fit(np.hstack([X, votes]), y)
    np.testing.assert_allclose(model.estimators_[1].coef_, ridge.coef_)
    auto = CascadeClassifier([BAYES, ("ridge", RidgeClassifier())], random_state=0).fit(X, y)
    assert auto.stack_method_ == ["predict_proba", "predict"]
    assert not hasattr(auto, "predict_proba")


def test_constant_columns_are_dropped(iris):
    X, y = iris
    prior = ("prior", DummyClassifier())
    model = CascadeClassifier([prior, BAYES, TREE], random_state=0).fit(X, y)
    assert model.widths_ == [4, 4, 7]
    most = ("most", DummyClassifier(strategy="most_frequent"))
    assert CascadeClassifier([most, TREE], random_state=0).fit(X, y).widths_ == [4, 4]


class Odd(ClassifierMixin, BaseEstimator):
    """Is sure of one row, and of all others says the same; notes what it sees."""

    widths: ClassVar[list[int]] = []  # of all clones

    def __init__(self, value=None):
        self.value = value

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.widths.append(X.shape[1])
        return self

    def predict_proba(self, X):
        return np.where(X[:, :1] == self.value, [[1.0, 0.0]], [[0.5, 0.5]])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@pytest.mark.parametrize("odd", [None, 7], ids=["constant", "one row"])
def test_which_columns_are_constant_is_not_learned_from_rows_held_out(odd):
    """Models of parts without row 7 see as many columns whatever is said of it."""
    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40) % 2
    Odd.widths.clear()
    model = CascadeClassifier([("odd", Odd(odd)), ("last", Odd())], cv=4).fit(X, y)
    assert model.widths_ == [1, 3]
    assert sorted(Odd.widths) == [1] * 11 + [3] * 5
    assert "No leak" in str(model.verify_no_leak(X, y))


def test_a_class_that_is_never_seen_is_a_column_of_zeros(iris):
    X, y = iris  # sorted by class, so that each third lacks one
    splits = list(KFold(3).split(X))
    model = CascadeClassifier([BAYES, ("tree", DecisionTreeClassifier())], cv=splits).fit(X, y)
    for code in range(3):
        assert (model.level_oof_[0][50 * code : 50 * code + 50, code] == 0).all()
    np.testing.assert_array_equal(model.oof_scores_, [0, 0])


@pytest.mark.parametrize("name", ["near", "tree"])
def test_a_level_that_remembers_its_rows_is_warned_of(noisy, name):
    X, y, X_test, y_test = noisy
    first = (name, {"near": KNeighborsClassifier(1), "tree": OtherTree(random_state=0)}[name])
    with pytest.warns(DataWarning, match=rf"C-LEAK.*'{name}' has an error of 0.0% .*cv=5"):
        leaking = CascadeClassifier([first, TREE2], random_state=0).fit(X, y)
    # The next level believes it: nothing is gained over the first.
    scores = leaking.level_scores(X_test, y_test)
    assert scores[1] == scores[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        honest = CascadeClassifier([first, TREE2], cv=5).fit(X, y)
        CascadeClassifier([first, TREE2], check_leak=False).fit(X, y)
        CascadeClassifier([BAYES, first], random_state=0).fit(
            X, y
        )  # the last one shows nothing to anybody
    assert honest.score(X_test, y_test) > leaking.score(X_test, y_test) + 0.03


@pytest.mark.parametrize("n_rows", [30, 60, 150, 400])
def test_few_rows_are_enough_to_see_that_noise_is_remembered(n_rows):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(n_rows, 5)), rng.integers(0, 2, n_rows)
        with pytest.warns(DataWarning, match=r"C-LEAK.*'near' has an error of 0.0%"):
            CascadeClassifier([NEAR, BAYES], random_state=seed).fit(X, y)


def test_levels_that_do_not_remember_are_not_warned_of(noisy, iris):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for X, y in (noisy[:2], iris):
            for first in (BAYES, PLANE, TREE, ("near", KNeighborsClassifier(15))):
                CascadeClassifier([first, ("last", GaussianNB())], random_state=0).fit(X, y)
        # Separable rows: 1-NN is right about all rows, its own and others.
        clear = np.vstack([ROWS, ROWS + 20])
        CascadeClassifier([NEAR, TREE], random_state=0).fit(clear, np.repeat([0, 1], 200))
        # Too few rows to judge by, or too few for a copy to be fitted on.
        CascadeClassifier([NEAR, TREE], random_state=0).fit(noisy[0][:19], noisy[1][:19])
        for first in (KNeighborsRegressor(190), LinearRegression()):
            model = CascadeRegressor([("first", first), ("b", Ridge())], random_state=0)
            model.fit(ROWS, NUMBERS)
        # Classes of which the copy may have seen no row.
        CascadeClassifier([NEAR, TREE], random_state=0).fit(
            ROWS[:60], np.minimum(np.arange(60), 20)
        )


def test_rows_to_probe_are_drawn_by_no_seed_of_a_member(iris, monkeypatch):
    drawn = []

    def draw(seed, index):
        drawn.append(index)
        return member_rng(seed, index)

    monkeypatch.setattr(leaking, "member_rng", draw)
    CascadeClassifier([("none", "drop"), BAYES, TREE], random_state=0).fit(*iris)
    assert drawn == [3]  # the members' are 1 and 2


@pytest.mark.parametrize(
    "first", [KNeighborsRegressor(1), DecisionTreeRegressor(), RandomForestRegressor(9)], ids=str
)
def test_numbers_are_remembered_too(first):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=600)
    with pytest.warns(DataWarning, match=r"C-LEAK.*'first' has an error of"):
        CascadeRegressor([("first", first), ("b", Ridge())], random_state=0).fit(X, y)


def test_scores_by_level(iris):
    X, y = iris
    model = CascadeClassifier([BAYES, TREE], random_state=0).fit(X, y)
    expected = [np.mean(labels == y) for labels in model.staged_predict(X)]
    np.testing.assert_allclose(model.level_scores(X, y), expected)
    assert model.level_scores(X, y)[-1] == model.score(X, y)
    weight = np.arange(150.0)
    assert model.level_scores(X, y, weight)[-1] == model.score(X, y, weight)
    honest = CascadeClassifier([BAYES, TREE], cv=4).fit(X, y)
    for level, score in enumerate(honest.oof_scores_):
        labels = honest.classes_[honest.level_oof_[level].argmax(axis=1)]
        assert score == np.mean(labels == y)
    numbers = CascadeRegressor([("a", Ridge()), ("b", DecisionTreeRegressor(max_depth=2))], cv=3)
    scores = numbers.fit(ROWS, NUMBERS).level_scores(ROWS, NUMBERS)
    assert scores[-1] == numbers.score(ROWS, NUMBERS)
    assert (numbers.oof_scores_ < scores).all()
    single = CascadeRegressor([("a", Ridge())], cv=[(range(199), [199])], random_state=0).fit(
        ROWS, NUMBERS
    )
    assert np.isnan(single.oof_scores_).all()  # one row has no R²
    assert "Ridge" in single._repr_html_()


def test_out_of_fold_answers_are_proved(iris):
    X, y = iris
    groups = np.arange(150) % 12
    model = CascadeClassifier([BAYES, TREE], cv=4).fit(X, y, groups=groups)
    assert "No leak" in str(model.verify_no_leak(X, y, groups=groups))
    model.level_oof_[1][5, 0] += 1e-9
    with pytest.raises(InputError, match=r"level 1: answers.*row 5"):
        model.verify_no_leak(X, y, groups=groups)
    with pytest.raises(InputError, match=r"cv=None: levels learned from"):
        CascadeClassifier([BAYES, TREE], random_state=0).fit(X, y).verify_no_leak(X, y)


def test_frames_stay_frames_and_sparse_rows_sparse(iris):
    X, y = iris
    members = [("flat", DecisionTreeClassifier(max_depth=1)), ("deep", DecisionTreeClassifier())]
    expected = CascadeClassifier(members, random_state=0).fit(X, y).predict_proba(X)
    names = ["a", "b", "c", "d"]
    for rows in (pd.DataFrame(X, columns=names), pl.DataFrame(X, names), sparse.csr_array(X)):
        model = CascadeClassifier(members, random_state=0).fit(rows, y)
        np.testing.assert_array_equal(model.predict_proba(rows), expected)
        if not sparse.issparse(rows):
            seen = model.estimators_[1].feature_names_in_.tolist()
            assert seen == [*names, "flat_0", "flat_1", "flat_2"]
    clash = pd.DataFrame(X, columns=["a", "b", "c", "flat_1"])
    with pytest.raises(InputError, match=r"X-DUPLICATE-NAMES.*flat_1"):
        CascadeClassifier(members).fit(clash, y)


def test_b60_nobody_is_asked_about_no_rows(iris):
    """Members of scikit-learn refuse such rows."""
    X, y = iris
    model = CascadeClassifier([BAYES, TREE], random_state=0).fit(X, y)
    for method in ("staged_predict", "staged_predict_proba"):
        said, expected = (list(getattr(model, method)(rows)) for rows in (X[:0], X))
        assert [each.shape for each in said] == [(0, *each.shape[1:]) for each in expected]
        assert [each.dtype for each in said] == [each.dtype for each in expected]
    for targets in (NUMBERS, ROWS[:, :2]):
        numbers = CascadeRegressor([("a", Ridge()), ("b", Ridge())], random_state=0)
        numbers.fit(ROWS, targets)
        assert numbers.predict(ROWS[:0]).shape == targets[:0].shape
        assert [each.shape for each in numbers.staged_predict(ROWS[:0])] == [targets[:0].shape] * 2


def test_probabilities_are_those_of_the_last_level_that_is_not_dropped(iris):
    assert not hasattr(CascadeClassifier(None), "predict_proba")
    assert not hasattr(CascadeClassifier([("a", "drop")]), "predict_proba")
    ridge, none = ("ridge", RidgeClassifier()), ("none", "drop")
    model = CascadeClassifier([ridge, BAYES, none], random_state=0)
    assert hasattr(model, "predict_proba")
    assert hasattr(model.fit(*iris), "predict_proba")
    assert not hasattr(CascadeClassifier([BAYES, ridge, none]), "predict_proba")


def test_bad_parameters(iris):
    X, y = iris
    with pytest.raises(InputError, match="groups are given, while cv=None"):
        CascadeClassifier([BAYES, TREE], random_state=0).fit(X, y, groups=np.arange(150))
    rare = np.r_[np.arange(50, 150), :3]
    with pytest.raises(InputError, match=r"Y-RARE.*class 'setosa' has 3 row.*5 folds"):
        CascadeClassifier([BAYES, TREE], cv=5).fit(X[rare], y[rare])
    with pytest.raises(InputError, match=r"2 split.*3 folds or more"):
        CascadeClassifier([BAYES, TREE], cv=2).fit(X, y)
    with pytest.raises(InputError, match=r"'ridge' \(RidgeClassifier\).*predict_proba"):
        CascadeClassifier([BAYES, ("ridge", RidgeClassifier())], stack_method="predict_proba").fit(
            X, y
        )
    with pytest.raises(ValueError, match="stack_method"):
        CascadeClassifier([BAYES, TREE], stack_method="decision_function").fit(X, y)
    with pytest.raises(ValueError, match="'cv' parameter"):
        CascadeClassifier([BAYES, TREE], cv="prefit").fit(X, y)
