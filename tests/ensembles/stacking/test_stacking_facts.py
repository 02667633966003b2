"""Stacking: bad parameters, members and seeds, tampering, progress, metadata."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from joblib import parallel_config
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.watcher import Watcher

from committee import (
    CascadeClassifier,
    CascadeRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    InputError,
    StackingClassifier,
    StackingRegressor,
)
from committee.core.bags import LeftOut
from committee.ensembles.levels import climbing

TREES = [("flat", DecisionTreeClassifier(max_depth=1)), ("deep", DecisionTreeClassifier())]
ROWS = np.random.default_rng(7).normal(size=(60, 3))
NUMBERS = ROWS[:, 0] + ROWS[:, 1] ** 2


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def on(*levels):
    return {"estimators": None, "levels": list(levels)}


BAD = [
    ({"estimators": None}, "non-empty list"),
    ({"estimators": []}, "non-empty list"),
    ({"levels": [TREES]}, "both estimators and levels"),
    (on(), "levels: got"),
    ({"estimators": None, "levels": TREES}, "levels: got"),
    (on(TREES, TREES), "levels: .*'flat' on level 0 and level 1, 'deep' on level 0 and level 1"),
    (on(TREES, [("x", GaussianNB())], TREES[1:]), "levels: .*: 'deep' on level 0 and level 2"),
    (on(TREES, [("a__b", GaussianNB())]), "levels: .*must not contain __: got a__b"),
    (on(TREES, [("x", Ridge())]), "levels: member 'x' .*should be a classifier"),
    (on(TREES, []), "level 1 has no member"),
    (on(TREES, [("x", "drop")]), "level 1 has no member"),
    ({**on(TREES, [("x", GaussianNB())]), "cv": "prefit"}, "prefit"),
    ({"cv": "prefit"}, "'flat' .* is not fitted"),
    ({"cv": 1}, r"'cv' parameter .*Got 1"),
    ({"cv": True}, r"'cv' parameter .*Got True"),
    ({"cv": "loo"}, r"'cv' parameter .*Got 'loo'"),
    ({"cv": KFold}, r"'cv' parameter"),
    ({"cv": KFold(500)}, r"KFold cannot divide these 150 rows"),
    ({"cv": []}, "there is no split"),
    ({"cv": [([0, 1, 2], [2, 3])]}, r"split 0 is asked about rows it learns from: row 2\."),
    ({"cv": [(range(9), [700])]}, "split 0 .*0 to 149"),
    ({"cv": [(range(9), [])]}, "split 0 has no rows to be asked about"),
    ({"final_estimator": "median"}, r"'final_estimator' .*'per_class'.*Got 'median'"),
    ({"final_estimator": Ridge()}, "should be a classifier. Got Ridge"),
    ({"final_estimator": GaussianNB}, r"class GaussianNB; pass an instance"),
    ({"final_estimator": "mean", "passthrough": True}, "no use for features"),
    ({"final_estimator": "mean", "stack_method": "decision_function"}, "column for each class"),
    ({"stack_method": "transform"}, "stack_method"),
]


@pytest.mark.parametrize(("params", "says"), BAD, ids=lambda value: str(value)[:40])
def test_bad_parameters(iris, params, says):
    X, y = iris
    model = StackingClassifier(**{"estimators": TREES, "final_estimator": "linear", **params})
    with pytest.raises((ValueError, TypeError), match=says):
        model.fit(X, y)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_numbers_have_no_majority():
    for name in ("majority", "logistic", "per_class"):
        with pytest.raises(ValueError, match=rf"'mean', 'linear'.*{name}"):
            StackingRegressor([("line", Ridge())], name).fit(ROWS, NUMBERS)


def test_members_without_weights_are_named(iris):
    X, y = iris
    near = [("near", KNeighborsClassifier())]
    with pytest.raises(InputError, match="'near'"):
        StackingClassifier(near).fit(X, y, sample_weight=np.ones(150))
    final = StackingClassifier(TREES, KNeighborsClassifier())
    with pytest.raises(InputError, match="final_estimator KNeighborsClassifier takes no"):
        final.fit(X, y, sample_weight=np.ones(150))


def test_names_of_all_levels_are_parameters(iris):
    X, y = iris
    levels = sklearn.base.clone([TREES, [("top", LogisticRegression())]], safe=False)
    model = StackingClassifier(final_estimator="linear", levels=levels, cv=3)
    model.set_params(flat__max_depth=2, top=GaussianNB(), deep="drop")
    assert model.levels[0][0][1].max_depth == 2
    assert model.get_params()["top__var_smoothing"] == 1e-9
    assert [len(level) for level in model.fit(X, y).levels_] == [1, 1]
    assert model.named_estimators_["deep"] == "drop"
    assert model.seats_ == ("flat", "top")
    assert isinstance(sklearn.base.clone(model).levels[1][0][1], GaussianNB)


def test_seeds_go_by_place_and_given_ones_stay(iris):
    X, y = iris
    trees = [("a", DecisionTreeClassifier(max_features=1)), ("b", clone_seed(5))]
    fits = [StackingClassifier(trees, "linear", random_state=1).fit(X, y) for _ in range(2)]
    np.testing.assert_array_equal(fits[0].oof_, fits[1].oof_)
    assert fits[0].estimators_[1].random_state == 5
    other = StackingClassifier(trees, "linear", random_state=2).fit(X, y)
    assert (other.oof_ != fits[0].oof_)[:, :3].any()
    np.testing.assert_array_equal(other.oof_[:, 3:], fits[0].oof_[:, 3:])
    alone = StackingClassifier([("a", "drop"), trees[1]], "linear", random_state=2).fit(X, y)
    np.testing.assert_array_equal(alone.oof_, other.oof_[:, 3:])


def clone_seed(seed):
    return DecisionTreeClassifier(max_features=1, random_state=seed)


def test_verify_no_leak_shows_what_was_changed(iris):
    X, y = iris
    levels = [TREES, [("near", KNeighborsClassifier(3))]]
    model = StackingClassifier(levels=levels, final_estimator="linear", cv=3, random_state=0)
    report = model.fit(X, y).verify_no_leak(X, y)
    assert (report.n_models, report.n_parts, report.n_answers) == (2 * 7 + 4, 7, 300)
    assert "18 models" in str(report)
    with pytest.raises(InputError, match=r"M-LEAK.*row 3"):
        model.verify_no_leak(np.where(np.arange(150)[:, None] == 3, X + 1, X), y)
    with pytest.raises(InputError, match=r"M-LEAK.*149 rows"):
        model.verify_no_leak(X[1:], y[1:])
    known = model.level_oof_[1].copy()
    model.level_oof_[1][7, 2] += 1e-9
    with pytest.raises(InputError, match=r"level 1: answers.*row 7"):
        model.verify_no_leak(X, y)
    model.level_oof_[1][:] = known
    bits = model.record_.left_out.bitmap.copy()
    bits[2, 1] ^= 4
    object.__setattr__(model.record_, "left_out", LeftOut(bits, 150))
    with pytest.raises(InputError, match="part 2, row 10"):
        model.verify_no_leak(X, y)


def test_frozen_members_are_asked_as_they_are(iris):
    X, y = iris
    frozen = FrozenEstimator(GaussianNB().fit(X[::2], y[::2]))
    model = StackingClassifier([("old", frozen), *TREES], "linear", random_state=0)
    model.fit(X[1::2], y[1::2])
    np.testing.assert_array_equal(model.oof_[:, :3], frozen.predict_proba(X[1::2]))


@pytest.mark.parametrize("nested", [False, True])
def test_nobody_vouches_for_frozen_members(iris, nested):
    """1-NN that knows all labels says the same the second time; only its kind tells."""
    X, y = iris
    old = FrozenEstimator(KNeighborsClassifier(1).fit(X, y))
    member = ("old", make_pipeline(FunctionTransformer(), old) if nested else old)
    name = "Pipeline" if nested else "FrozenEstimator"
    for model in (
        StackingClassifier([*TREES, member], "linear", cv=3, random_state=0),
        StackingClassifier(levels=[[member], TREES], final_estimator="linear", cv=3),
        CascadeClassifier([member, TREES[0]], cv=3, random_state=0),
    ):
        with pytest.raises(InputError, match=rf"M-LEAK.*known to nobody here: 'old' \({name}\)"):
            model.fit(X, y).verify_no_leak(X, y)


def test_progress_is_told_and_printed(iris, capsys):
    X, y = iris
    model = StackingClassifier(TREES, "linear", cv=3, verbose=1, random_state=0)
    quiet = StackingClassifier(TREES, "linear", cv=3, random_state=0).fit(X, y)
    assert capsys.readouterr().out == ""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 * (1 + 3)
    assert lines[0].startswith("[StackingClassifier] 1 of 8: 'flat' (DecisionTreeClassifier)")
    np.testing.assert_array_equal(model.oof_, quiet.oof_)


def test_callbacks_count_the_models(iris):
    pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")
    X, y = iris
    watcher = Watcher()
    model = StackingClassifier(TREES, "linear", cv=3, random_state=0)
    model.set_callbacks(watcher).fit(X, y)
    # All rows first, then the three folds, two members each.
    assert [facts["member"] for facts in watcher.facts] == [0, 1] * (1 + 3)
    assert all(facts["seconds"] > 0 for facts in watcher.facts)
    watcher.facts.clear()
    fitted = [(name, sklearn.base.clone(member).fit(X, y)) for name, member in TREES]
    model.set_params(estimators=fitted, cv="prefit").fit(X, y)
    assert [facts["member"] for facts in watcher.facts] == [0, 1]


def test_fitted_members_are_asked_like_others(iris, capsys):
    """By name, with progress, in parallel; and they stay the objects that were given."""
    X, y = iris
    members = [(name, sklearn.base.clone(member).fit(X, y)) for name, member in TREES]
    model = StackingClassifier(members, "linear", cv="prefit", verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("[StackingClassifier] 2 of 2: 'deep' (DecisionTreeClassifier)")
    with parallel_config(backend="threading"):
        again = StackingClassifier(members, "linear", cv="prefit", n_jobs=2).fit(X, y)
    assert all(a is b for a, (_, b) in zip(again.estimators_, members, strict=True))
    np.testing.assert_array_equal(again.oof_, model.oof_)
    bad = [("bad", Mute().fit(X, y))]
    with pytest.raises(InputError, match=r"M-FIT.*member 0, 'bad' \(Mute\).*nothing to say"):
        StackingClassifier(bad, cv="prefit").fit(X, y)


class Mute(GaussianNB):
    """Fails when it is asked."""

    def predict_proba(self, X):
        raise ValueError("nothing to say")


@pytest.mark.parametrize("passthrough", [False, True])
def test_features_are_copied_for_levels_that_see_them_alone(iris, monkeypatch, passthrough):
    X, y = iris
    cut = []

    def indexing(rows, index):
        cut.append(len(index))
        return sklearn.utils._safe_indexing(rows, index)

    monkeypatch.setattr(climbing, "_safe_indexing", indexing)
    levels = [TREES, [("top", DecisionTreeClassifier())]]
    StackingClassifier(
        levels=levels, final_estimator="linear", cv=3, passthrough=passthrough, random_state=0
    ).fit(X, y)
    assert cut == ([150 + 3 * 150] if passthrough else [])


def test_metadata_is_routed(iris):
    X, y = iris
    weight = np.random.default_rng(0).integers(1, 4, 150).astype(float)
    expected = StackingClassifier(TREES, LogisticRegression(), random_state=0)
    expected.fit(X, y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        members = [
            (name, sklearn.base.clone(member).set_fit_request(sample_weight=True))
            for name, member in TREES
        ]
        final = LogisticRegression().set_fit_request(sample_weight=True)
        model = StackingClassifier(members, final, random_state=0).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X))
        final = LogisticRegression().set_fit_request(sample_weight=False)
        other = StackingClassifier(members, final, random_state=0).fit(X, y, sample_weight=weight)
    assert (other.final_estimator_.coef_ != model.final_estimator_.coef_).any()


def test_a_meta_model_that_fails_is_named(iris):
    X, y = iris
    model = StackingClassifier(TREES, KNeighborsClassifier(900), cv=3).fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors"):
        model.predict(X)
    with pytest.raises(ValueError, match=r"M-FIT.*final_estimator: LogisticRegression raised"):
        StackingClassifier(TREES, LogisticRegression(C=-1), cv=3).fit(X, y)


class Endless(Ridge):
    """Predicts infinity for the row that it is told."""

    def __init__(self, value=None):
        super().__init__()
        self.value = value

    def predict(self, X):
        return np.where(X[:, 0] == self.value, np.inf, super().predict(X))


@pytest.mark.parametrize("row", [3, 57])
def test_rows_are_numbered_as_given_at_every_level(row):
    """Levels above the first see rows in an order of their own, part by part."""
    weight = np.ones(60)
    weight[1] = 0  # learned from by nobody, so that later rows move up
    endless = Endless(ROWS[row, 0])
    cv = KFold(3, shuffle=True, random_state=0)
    tree = DecisionTreeRegressor()
    for model in (
        StackingRegressor(levels=[[("odd", endless)], [("tree", tree)]], cv=cv),
        CascadeRegressor([("odd", endless), ("tree", tree)], cv=cv),
    ):
        with pytest.raises(InputError, match=rf"member 1, 'tree'.*X-INFINITE.*\brow {row}\b"):
            model.fit(ROWS, NUMBERS, sample_weight=weight)


def test_what_the_meta_model_has_the_stack_has(iris):
    X, y = iris
    model = StackingClassifier(TREES, LinearDiscriminantAnalysis(), cv=3, random_state=0).fit(X, y)
    expected = model.final_estimator_.decision_function(model.transform(X))
    np.testing.assert_array_equal(model.decision_function(X), expected)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    bare = StackingClassifier(TREES, RidgeClassifier(), cv=3).fit(X, y)
    assert hasattr(bare, "decision_function")
    assert not hasattr(bare, "predict_proba")
    assert not hasattr(StackingClassifier(TREES, "mean"), "decision_function")
    assert hasattr(StackingClassifier(TREES), "decision_function")


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "predict_log_proba", "decision_function", "transform"]
)
def test_b59_nothing_can_be_asked_before_fit(iris, method):
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        getattr(StackingClassifier(TREES), method)(iris[0])
    with pytest.raises(NotFittedError):
        StackingClassifier(TREES).oof_  # noqa: B018


def test_parameters_of_predict_go_to_the_meta_model():
    model = StackingRegressor([("line", Ridge())], BayesianRidge()).fit(ROWS, NUMBERS)
    both = model.final_estimator_.predict(model.transform(ROWS), return_std=True)
    np.testing.assert_array_equal(model.predict(ROWS, return_std=True), both)
    with sklearn.config_context(enable_metadata_routing=True):
        final = BayesianRidge().set_predict_request(return_std=True)
        model = StackingRegressor([("line", Ridge())], final).fit(ROWS, NUMBERS)
        np.testing.assert_array_equal(model.predict(ROWS, return_std=True), both)
    assert model.get_feature_names_out().tolist() == ["stackingregressor_line"]


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, sparse.csr_array])
@pytest.mark.parametrize("passthrough", [False, True])
def test_b60_nobody_is_asked_about_no_rows(iris, make, passthrough):
    """Members of scikit-learn refuse such rows."""
    X, y = iris
    rows = make(pd.DataFrame(X, columns=["a", "b", "c", "d"]))
    none = rows[:0]
    levels = [[("near", KNeighborsClassifier(5))], [("top", KNeighborsClassifier(3))]]
    model = StackingClassifier(levels=levels, passthrough=passthrough, cv=3)
    model.set_params(final_estimator=LogisticRegression(C=0.1)).fit(rows, y)
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        said, expected = getattr(model, method)(none), getattr(model, method)(rows)
        assert type(said) is type(expected), method
        assert said.shape == (0, *expected.shape[1:]), method
    model.fit(rows, y == "setosa")
    assert model.decision_function(none).shape == (0,)
    for targets in (X[:, 0], X[:, :2]):
        numbers = StackingRegressor([("line", Ridge())], Ridge(), cv=3).fit(rows, targets)
        assert numbers.predict(none).shape == targets[:0].shape


def test_several_targets_need_a_meta_model_for_them():
    pair = np.stack([NUMBERS, -NUMBERS], axis=1)
    model = StackingRegressor([("line", Ridge())], BayesianRidge())
    with pytest.raises(InputError, match="2 targets, while BayesianRidge learns one"):
        model.fit(ROWS, pair)


def test_a_list_of_members_and_its_picture(iris):
    model = StackingClassifier(sklearn.base.clone(TREES, safe=False), "mean")
    assert model.set_params(deep="drop").estimators[1] == ("deep", "drop")
    assert model.named_estimators["flat"] is model.estimators[0][1]
    assert "GaussianNB" in model.set_params(deep=GaussianNB())._repr_html_()
    levels = [TREES, [("top", GaussianNB())]]
    html = StackingClassifier(levels=levels, final_estimator=LogisticRegression())._repr_html_()
    assert "LogisticRegression" in html
    assert "top" in html


def test_splits_may_be_masks():
    late = np.arange(60) >= 40
    model = StackingRegressor([("line", Ridge())], "linear", cv=[(~late, late)])
    model.fit(ROWS, NUMBERS)
    np.testing.assert_array_equal(np.isnan(model.oof_[:, 0]), ~late)


def test_records_of_other_shapes_are_refused(iris):
    X, y = iris
    model = StackingClassifier(TREES, "linear", cv=3, random_state=0).fit(X, y)
    known = model.level_oof_[0]
    model.level_oof_[0] = known[:, :3]
    with pytest.raises(InputError, match=r"level 0 has answers of shape \(150, 3\)"):
        model.verify_no_leak(X, y)
    model.level_oof_[0] = known
    left_out = model.record_.left_out
    object.__setattr__(model.record_, "left_out", LeftOut(left_out.bitmap[:2], 150))
    with pytest.raises(InputError, match="bitmap of shape"):
        model.verify_no_leak(X, y)
