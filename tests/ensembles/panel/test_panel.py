"""Named members: their list, seeds, prefit ones, weights, routing, progress and errors."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from joblib import parallel_config
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from tests.watcher import Watcher

from committee import (
    DataWarning,
    DecisionTreeClassifier,
    InputError,
    InputTypeError,
    RandomForestClassifier,
    VotingClassifier,
    VotingRegressor,
)
from committee.core.randomness import fill_seeds, member_seed
from committee.ensembles.panel import folds_of, out_of_fold

ROWS = np.array([[0.0, 1], [1, 0], [2, 3], [3, 1], [4, 4], [5, 0]])
LABELS = np.array(["b", "a", "b", "a", "a", "b"])


def panel(*members, **params):
    named = [(f"m{k}", member) for k, member in enumerate(members)]
    return VotingClassifier(named, **params)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


# --- B54: the list


@pytest.mark.parametrize(
    ("estimators", "says"),
    [
        ([("a", GaussianNB()), ("b", SVC()), ("a", GaussianNB())], "not unique: a"),
        ([("a__b", GaussianNB())], "must not contain __: got a__b.*'a_b'"),
        ([("voting", GaussianNB())], "conflict with constructor arguments: voting"),
        ([("", GaussianNB())], "index 0 has an empty name"),
        ([], "non-empty list"),
        ([GaussianNB()], "non-empty list"),
        ([("a", GaussianNB(), 3)], "non-empty list"),
        ({"a": GaussianNB()}, "non-empty list"),
        (None, "non-empty list"),
        ([("a", "drop")], "All estimators are dropped"),
        ([("a", "none")], "member 'a' is 'none'"),
        ([("a", GaussianNB)], r"class GaussianNB; pass an instance.*GaussianNB\(\)"),
        ([("a", LinearRegression())], "LinearRegression should be a classifier"),
        ([("a", 3)], "int has no fit and predict"),
    ],
)
def test_b54_bad_lists(estimators, says):
    with pytest.raises(InputError, match=says):
        VotingClassifier(estimators).fit(ROWS, LABELS)


def test_a_regressor_takes_regressors():
    with pytest.raises(InputError, match="GaussianNB should be a regressor"):
        VotingRegressor([("a", GaussianNB())]).fit(ROWS, ROWS[:, 0])


def test_members_and_their_parameters_are_parameters(iris):
    model = VotingClassifier([("tree", DecisionTreeClassifier()), ("bayes", GaussianNB())])
    assert model.get_params()["tree__max_depth"] is None
    assert set(model.get_params(deep=False)) == set(type(model)._parameter_constraints)
    model.set_params(tree__max_depth=1, bayes="drop", voting="soft").fit(*iris)
    assert model.named_estimators_["bayes"] == "drop"
    assert model.named_estimators_["tree"] is model.estimators_[0]
    assert model.seats_ == ("tree",)
    assert model.estimators_[0].max_depth == 1
    assert model.named_estimators["tree"] is model.estimators[0][1]
    assert clone(model).get_params()["tree__max_depth"] == 1
    with pytest.raises(ValueError, match="Invalid parameter 'forest'"):
        model.set_params(forest__max_depth=1)


def test_notebooks_show_the_members_side_by_side():
    shown = VotingClassifier([("bayes", GaussianNB()), ("tree", "drop")])._repr_html_()
    assert "sk-parallel" in shown
    assert all(name in shown for name in ("bayes", "tree", "GaussianNB"))


# --- seeds


def test_seeds_are_filled_by_place_and_given_ones_stay(iris):
    free, own = RandomForestClassifier(2), RandomForestClassifier(2, random_state=9)
    model = panel(free, own, free, random_state=3).fit(*iris)
    seeds = [member.random_state for member in model.estimators_]
    assert seeds == [member_seed(3, 0), 9, member_seed(3, 2)]
    assert free.random_state is None
    dropped = clone(model).set_params(m0="drop").fit(*iris)
    assert [member.random_state for member in dropped.estimators_] == seeds[1:]
    rest = panel(free).fit(*iris).estimators_[0].random_state
    assert rest != panel(free).fit(*iris).estimators_[0].random_state


def test_seeds_are_filled_in_a_nest_and_nothing_frozen_is_touched(iris):
    frozen = FrozenEstimator(RandomForestClassifier(2).fit(*iris))
    filled = fill_seeds(make_pipeline(RandomForestClassifier(2)), 3, 1)
    assert filled.get_params()["randomforestclassifier__random_state"] is not None
    assert fill_seeds(frozen, 3, 1) is frozen
    nested = fill_seeds(make_pipeline(frozen), 3, 1)
    assert nested.steps[0][1] is frozen
    model = panel(frozen, voting="soft").fit(*iris)
    np.testing.assert_array_equal(model.predict_proba(iris[0]), frozen.predict_proba(iris[0]))


# --- prefit members


def test_prefit_members_are_taken_as_they_are(iris):
    X, y = iris
    fitted = [GaussianNB().fit(X[::2], y[::2]), DecisionTreeClassifier().fit(X[::2], y[::2])]
    model = panel(*fitted, voting="soft", prefit=True).fit(X, y)
    assert model.estimators_ == fitted
    expected = (fitted[0].predict_proba(X) + fitted[1].predict_proba(X)) / 2
    np.testing.assert_array_equal(model.predict_proba(X), expected)


@pytest.mark.parametrize(
    ("member", "says"),
    [
        (lambda X, y: GaussianNB(), r"'m0' \(GaussianNB\) is not fitted"),
        (lambda X, y: GaussianNB().fit(X[:, :3], y), "fitted on 3 features, X has 4 features"),
        (lambda X, y: GaussianNB().fit(X[:100], y[:100]), "the classes setosa, versicolor.*virg"),
        (lambda X, y: GaussianNB().fit(X, np.unique(y, return_inverse=True)[1]), "classes 0, 1"),
    ],
)
def test_prefit_members_are_checked(iris, member, says):
    X, y = iris
    model = panel(member(X, y), prefit=True)
    with pytest.raises(InputError, match=says) as error:
        model.fit(X, y)
    assert error.value.code == "M-PREFIT"
    assert not hasattr(model, "estimators_")


def test_prefit_members_are_given_nothing(iris):
    X, y = iris
    model = panel(GaussianNB().fit(X, y), prefit=True)
    with pytest.raises(InputError, match="sample_weight given, but the members are fitted"):
        model.fit(X, y, np.ones(len(y)))


# --- weights and metadata


def test_weights_go_to_members_that_take_them(iris):
    X, y = iris
    weight = np.random.default_rng(0).random(len(y))
    model = panel(GaussianNB(), DecisionTreeClassifier(random_state=0), voting="soft")
    found = model.fit(X, y, weight).predict_proba(X)
    each = [clone(m).fit(X, y, weight).predict_proba(X) for _, m in model.estimators]
    np.testing.assert_array_equal(found, (each[0] + each[1]) / 2)


def test_members_that_take_no_weights_are_named(iris):
    X, y = iris
    model = panel(GaussianNB(), KNeighborsClassifier(), KNeighborsClassifier(3))
    with pytest.raises(InputTypeError, match=r"2 of 3 .*'m1' \(KNeigh.*'m2'") as error:
        model.fit(X, y, np.ones(len(y)))
    assert error.value.code == "W-FIT"
    model.set_params(m1="drop", m2="drop").fit(X, y, np.ones(len(y)))


def test_metadata_are_routed_to_those_who_ask(iris):
    X, y = iris
    weight = np.random.default_rng(0).random(len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        asks = GaussianNB().set_fit_request(sample_weight=True)
        model = panel(asks, KNeighborsClassifier(), voting="soft").fit(X, y, sample_weight=weight)
        found = model.predict_proba(X)
        with pytest.raises(TypeError, match=r"unexpected.*nothing"):
            model.fit(X, y, nothing=1)
    each = GaussianNB().fit(X, y, weight), KNeighborsClassifier().fit(X, y)
    np.testing.assert_array_equal(found, sum(m.predict_proba(X) for m in each) / 2)
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        panel(GaussianNB()).fit(X, y, nothing=1)


class Shifted(GaussianNB):
    """Asks for a number when it predicts."""

    def predict_proba(self, X, shift=0.0):
        return super().predict_proba(X) + shift


def test_metadata_are_routed_to_questions(iris):
    X, y = iris
    with sklearn.config_context(enable_metadata_routing=True):
        member = Shifted().set_predict_proba_request(shift=True)
        model = panel(member, GaussianNB(), voting="soft").fit(X, y)
        plain, moved = model.predict_proba(X), model.predict_proba(X, shift=2.0)
    np.testing.assert_allclose(moved, plain + 1.0)


# --- progress, warnings and errors


def test_progress_is_printed_by_name(iris, capsys):
    panel(GaussianNB(), DecisionTreeClassifier(), verbose=1).fit(*iris)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("[VotingClassifier] 1 of 2: 'm0' (GaussianNB), ")
    assert second.startswith("[VotingClassifier] 2 of 2: 'm1' (DecisionTreeClassifier), ")


def test_callbacks_see_every_member_and_cannot_leave_any_out(iris):
    pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")
    watcher = Watcher()
    model = panel(GaussianNB(), "drop", DecisionTreeClassifier())
    model.set_callbacks(watcher).fit(*iris)
    assert [facts["member"] for facts in watcher.facts] == [0, 2]
    before = model.estimators_
    model.set_callbacks(Watcher(stop=True))
    with pytest.raises(RuntimeError, match=r"M-STOPPED.*after 1 of 2 jobs"):
        model.fit(*iris)
    assert model.estimators_ is before


class Broken(GaussianNB):
    """Fails when it is fitted."""

    def __init__(self, random_state=None):
        super().__init__()
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        raise ValueError("no luck today")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_b58_a_member_that_fails_is_named(iris, n_jobs):
    model = panel(GaussianNB(), Broken(random_state=7), n_jobs=n_jobs)
    with parallel_config(backend="threading"), pytest.raises(InputError) as error:
        model.fit(*iris)
    assert "member 1, 'm1' (Broken), seed 7, raised ValueError: no luck today" in str(error.value)
    assert isinstance(error.value.__cause__, ValueError)


def test_remarks_are_made_once_also_from_other_processes(iris):
    X, y = iris
    wide = np.column_stack([X, np.full(len(X), np.nan)])
    trees = panel(DecisionTreeClassifier(), DecisionTreeClassifier(max_depth=2), n_jobs=2)
    processes = parallel_config(backend="multiprocessing")
    with processes, pytest.warns(DataWarning, match="column 4") as caught:
        trees.fit(wide, y)
    assert len(caught) == 1
    np.testing.assert_array_equal(
        trees.predict(wide), clone(trees).set_params(n_jobs=1).fit(X, y).predict(X)
    )
    with pytest.warns(ConvergenceWarning):
        panel(LogisticRegression(max_iter=1)).fit(X, y)


def test_remarks_that_are_errors_are_raised_as_themselves(iris):
    X, y = iris
    wide = np.column_stack([X, np.full(len(X), np.nan)])
    model = panel(DecisionTreeClassifier())
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        with pytest.raises(DataWarning, match="column 4"):
            model.fit(wide, y)
    assert not hasattr(model, "estimators_")


# --- containers


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.coo_array, pd.DataFrame])
def test_rows_in_any_container(make):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, (80, 6)).astype(float)
    y = X[:, 0] > X[:, 1]
    model = panel(MultinomialNB(), DecisionTreeClassifier(random_state=0), voting="soft")
    expected = clone(model).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(model.fit(make(X), y).predict_proba(make(X)), expected, atol=1e-9)


@pytest.mark.parametrize("make", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"])
def test_members_are_given_frames(make):
    """A tree splits on categories and missing values, a pipeline picks columns by name."""
    rng = np.random.default_rng(0)
    town = pd.Categorical(rng.choice(["Kyiv", "Lviv", None], 120))
    frame = pd.DataFrame({"town": town, "rooms": rng.normal(size=120)})
    y = np.where(frame["town"] == "Lviv", frame["rooms"] > 0, frame["rooms"] < 0)
    encode = ColumnTransformer([("town", OneHotEncoder(), ["town"])], remainder="passthrough")
    members = panel(DecisionTreeClassifier(), make_pipeline(encode, KNeighborsClassifier(3)))
    model = members.set_params(voting="soft", random_state=0).fit(make(frame), y)
    assert model.score(make(frame), y) > 0.95
    assert list(model.feature_names_in_) == ["town", "rooms"]
    task = members._read(make(frame), y, None, {})
    held_out = out_of_fold(task, list(folds_of(4, task, None)))
    assert ((held_out.mean(axis=0).argmax(axis=1) == y).mean()) > 0.8
    with pytest.raises(InputError, match="feature names"):
        model.predict(frame.rename(columns={"rooms": "windows"}))


# --- out of fold


@pytest.mark.parametrize(
    "cv", [3, KFold(4), StratifiedKFold(3), GroupKFold(5)], ids=lambda cv: type(cv).__name__
)
def test_out_of_fold_by_hand(iris, cv):
    X, y = iris
    groups = np.arange(len(y)) % 10 if isinstance(cv, GroupKFold) else None
    model = panel(GaussianNB(), DecisionTreeClassifier(), random_state=0)
    task = model._read(X, y, None, {})
    splits = list(folds_of(cv, task, groups))
    found = out_of_fold(task, splits)
    expected = np.zeros((2, len(y), 3))
    for k, (_, member) in enumerate(model.estimators):
        for train, test in splits:
            again = fill_seeds(member, 0, k).fit(X[train], y[train])
            seen = np.searchsorted(np.unique(y), again.classes_)
            expected[k][np.ix_(test, seen)] = again.predict_proba(X[test])
    np.testing.assert_array_equal(found, expected)


def test_rows_held_out_never_or_often(iris):
    X, y = iris
    task = panel(GaussianNB())._read(X, y, None, {})
    splits = list(folds_of(ShuffleSplit(4, test_size=0.3, random_state=0), task, None))
    found = out_of_fold(task, splits)
    times = np.bincount(np.concatenate([test for _, test in splits]), minlength=len(y))
    assert set(times) >= {0, 1, 2}
    np.testing.assert_array_equal(np.isnan(found[0, :, 0]), times == 0)
    row = np.flatnonzero(times == 2)[0]
    each = [GaussianNB().fit(X[a], y[a]).predict_proba(X[[row]])[0] for a, b in splits if row in b]
    np.testing.assert_allclose(found[0, row], np.mean(each, axis=0))


def test_a_class_that_no_member_saw_has_share_zero(iris):
    X, y = iris
    task = panel(DummyClassifier(strategy="prior"))._read(X, y, None, {})
    last = y == "virginica"
    found = out_of_fold(task, [(np.flatnonzero(~last), np.flatnonzero(last))])
    np.testing.assert_array_equal(found[0, last], np.tile([0.5, 0.5, 0.0], (50, 1)))


def test_b34_a_class_rarer_than_folds(iris):
    X, y = iris
    task = panel(GaussianNB())._read(X[:103], y[:103], None, {})
    with pytest.raises(InputError, match=r"Y-RARE.*'virginica' has 3 row\(s\), cv has 5 folds"):
        folds_of(5, task, None)


def test_rows_are_not_learned_and_held_out_at_once(iris):
    task = panel(GaussianNB())._read(*iris, None, {})
    with pytest.raises(InputError, match=r"P-FOLDS.*2 row\(s\) are learned and held out"):
        out_of_fold(task, [(np.arange(100), np.arange(98, 150))])
