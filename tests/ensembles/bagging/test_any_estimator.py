"""Bagging over estimators of any make: containers, classes, weights, errors, routing."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, make_regression
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.random_projection import GaussianRandomProjection
from sklearn.svm import SVC, SVR, LinearSVC

from committee import DecisionStump
from committee.core.randomness import member_seed
from committee.data import InputError, InputTypeError
from committee.ensembles.bagging import BaggingClassifier, BaggingRegressor
from committee.learners.tree import DecisionTreeClassifier, DecisionTreeRegressor

CLASSIFIERS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "logistic-weights": LogisticRegression(),
    "neighbours": KNeighborsClassifier(),
    "bayes": GaussianNB(),
    "network": MLPClassifier((4,), max_iter=20, solver="lbfgs"),
    "machine": SVC(),
    "linear machine": make_pipeline(StandardScaler(), LinearSVC()),
    "stump": DecisionStump(),
}
REGRESSORS = [LinearRegression(), Ridge(), KNeighborsRegressor(), SVR(C=100)]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(iris, name):
    X, y = iris
    train, test = slice(0, None, 2), slice(1, None, 2)
    model = BaggingClassifier(CLASSIFIERS[name], n_estimators=12, oob_score=True, random_state=0)
    model.fit(X[train], y[train])
    shares = model.predict_proba(X[test])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X[test]))
    assert model.score(X[test], y[test]) > (0.6 if name == "stump" else 0.9)
    assert model.oob_score_ > (0.6 if name == "stump" else 0.88)
    assert "No leak" in str(model.verify_no_leak(X[train], y[train]))
    assert {type(member) for member in model.estimators_} == {type(CLASSIFIERS[name])}


@pytest.mark.parametrize("base", REGRESSORS, ids=lambda base: type(base).__name__)
def test_regressors(base):
    X, y = make_regression(200, 5, noise=5, random_state=0)
    model = BaggingRegressor(base, n_estimators=20, oob_score=True, random_state=0).fit(X, y)
    assert model.oob_score_ > 0.7
    each = [member.predict(X) for member in model.estimators_]
    np.testing.assert_allclose(model.predict(X), np.mean(each, axis=0))
    assert "No leak" in str(model.verify_no_leak(X, y))


def mixed_frame(n=120):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"town": rng.choice(["Kyiv", "Lviv", "Odesa"], n), "rooms": rng.normal(size=n)}
    )
    frame.loc[::10, "town"] = None
    return frame, np.where(frame["town"] == "Lviv", frame["rooms"] > 0, frame["rooms"] < 0)


@pytest.mark.parametrize("make", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"])
def test_members_are_given_frames(make):
    """A pipeline picks columns by name; text that no engine could read is no hindrance."""
    frame, y = mixed_frame()
    encode = ColumnTransformer(
        [("town", OneHotEncoder(handle_unknown="ignore"), ["town"])], remainder="passthrough"
    )
    X = make(frame)
    pipe = make_pipeline(encode, KNeighborsClassifier(3))
    model = BaggingClassifier(pipe, n_estimators=15, oob_score=True, random_state=0).fit(X, y)
    assert model.oob_score_ > 0.85
    assert list(model.feature_names_in_) == ["town", "rooms"]
    assert model.predict(X[:7]).shape == (7,)
    np.testing.assert_array_equal(
        model.predict_proba(X),
        BaggingClassifier(pipe, n_estimators=15, random_state=0).fit(frame, y).predict_proba(frame),
    )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"rooms": "windows"}))


def test_columns_of_a_frame_are_cut_by_name():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = BaggingClassifier(GaussianNB(), max_features=2, random_state=0).fit(X, y)
    for member, features in zip(model.estimators_, model.estimators_features_, strict=True):
        np.testing.assert_array_equal(member.feature_names_in_, X.columns[features])
    assert model.score(X, y) > 0.9
    own = BaggingClassifier(DecisionTreeClassifier(), max_features=2, random_state=0).fit(X, y)
    for member, features in zip(own.estimators_, own.estimators_features_, strict=True):
        np.testing.assert_array_equal(member.feature_names_in_, X.columns[features])
    own.estimators_[0].predict(X.iloc[:, own.estimators_features_[0]])


def test_engine_trees_split_on_categories_in_subspaces():
    frame, y = mixed_frame()
    frame["town"] = pd.Categorical(frame["town"])
    frame["noise"] = np.random.default_rng(1).normal(size=len(y))
    model = BaggingClassifier(n_estimators=20, max_features=2, oob_score=True, random_state=0)
    model.fit(frame, y)
    assert model.score(frame, y) > 0.95
    total = np.zeros((len(y), 2))
    for member, features in zip(model.estimators_, model.estimators_features_, strict=True):
        total += member.predict_proba(frame.iloc[:, features])
    np.testing.assert_array_equal(total / 20, model.predict_proba(frame))


@pytest.mark.parametrize("layout", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
def test_sparse_rows(layout):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.4, (150, 12)).astype(float)
    y = (X[:, :3].sum(axis=1) > 1).astype(int)
    for base in (MultinomialNB(), None):
        model = BaggingClassifier(base, n_estimators=10, random_state=0)
        dense = model.fit(X, y).predict_proba(X)
        np.testing.assert_allclose(model.fit(layout(X), y).predict_proba(layout(X)), dense)
    projected = BaggingClassifier(LinearSVC(), feature_map="sparse", random_state=0)
    assert projected.fit(layout(X), y).score(layout(X), y) > 0.7


def test_classes_missing_from_a_bag_are_aligned(iris):
    """With five draws most bags miss a class; columns still belong to the right classes."""
    X, y = iris
    settings = {"n_estimators": 60, "max_samples": 5, "random_state": 0}
    for base in (GaussianNB(var_smoothing=1e-2), KNeighborsClassifier(1)):
        model = BaggingClassifier(base, **settings).fit(X, y)
        assert min(len(member.classes_) for member in model.estimators_) < 3
        assert model.score(X, y) > 0.85
        total = np.zeros((len(y), 3))
        for member in model.estimators_:
            total[:, np.searchsorted(model.classes_, member.classes_)] += member.predict_proba(X)
        np.testing.assert_array_equal(model.predict_proba(X), total / 60)


def test_decision_function(iris):
    X, y = iris
    model = BaggingClassifier(SVC(), random_state=0).fit(X, y)
    each = [member.decision_function(X) for member in model.estimators_]
    np.testing.assert_allclose(model.decision_function(X), np.mean(each, axis=0))
    assert not hasattr(BaggingClassifier(GaussianNB()), "decision_function")
    with pytest.raises(AttributeError, match="decision_function"):
        BaggingClassifier().decision_function(X)
    two = np.r_[0:10, 50:60, 100]  # one row of the third class: most bags miss it
    few = BaggingClassifier(SVC(), n_estimators=6, random_state=0).fit(X[two], y[two])
    with pytest.raises(InputError, match=r"has not seen class 'virginica'.*stratify=True"):
        few.decision_function(X)


def test_left_out_rows_are_out_of_sight(iris):
    """Not even a scaler that ignores weights sees a row that its member left out."""
    X, y = iris
    pipe = make_pipeline(StandardScaler(), GaussianNB())
    model = BaggingClassifier(pipe, n_estimators=5, random_state=0).fit(X, y)
    for member, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
        np.testing.assert_allclose(member[0].mean_, X[drawn].mean(axis=0))


@pytest.mark.parametrize(
    "feature_map", [PCA(2), GaussianRandomProjection(2), SelectKBest(k=2), StandardScaler()]
)
def test_transformers_are_copied_for_each_member(iris, feature_map):
    X, y = iris
    settings = {"feature_map": feature_map, "n_estimators": 12, "random_state": 0}
    model = BaggingClassifier(oob_score=False, **settings).fit(X, y)
    assert len({id(seen) for seen in model.feature_maps_}) == 12
    assert not hasattr(feature_map, "n_features_in_")
    assert model.score(X, y) > 0.85
    if hasattr(feature_map, "random_state"):
        assert len({seen.random_state for seen in model.feature_maps_[:12]}) == 12
    again = BaggingClassifier(**settings).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


class Moody(ClassifierMixin, BaseEstimator):
    """Raises in some of its copies."""

    def __init__(self, random_state=None, error=ValueError):
        self.random_state = random_state
        self.error = error

    def fit(self, X, y):
        if self.random_state == member_seed(0, 3):
            raise self.error("out of sorts")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("error", "kind"), [(ValueError, ValueError), (TypeError, TypeError), (OSError, RuntimeError)]
)
def test_b58_a_member_that_raises(iris, jobs, error, kind):
    import joblib

    X, y = iris
    model = BaggingClassifier(GaussianNB(), n_estimators=2, random_state=0).fit(X, y)
    model.set_params(estimator=Moody(error=error), n_estimators=6, n_jobs=jobs)
    before = dict(vars(model))
    with (
        joblib.parallel_config("threading"),
        pytest.raises(kind, match=f"member 3 .*seed {member_seed(0, 3)}.*out of sorts") as raised,
    ):
        model.fit(X, y)
    assert type(raised.value.__cause__) is error
    assert vars(model) == before


def test_one_class_in_a_bag_is_explained():
    X, y = np.arange(12.0)[:, None], np.r_[np.zeros(11), 1]
    with pytest.raises(InputError, match=r"holds 1 class.*stratify=True"):
        BaggingClassifier(SVC(), n_estimators=20, random_state=0).fit(X, y)
    BaggingClassifier(SVC(), 20, stratify=True, random_state=0).fit(X, y)


@pytest.mark.parametrize("base", [GaussianNB, DecisionTreeClassifier])
def test_b51_class_instead_of_instance(iris, base):
    with pytest.raises(TypeError, match=f"pass an instance.*{base.__name__}\\(\\)"):
        BaggingClassifier(base).fit(*iris)
    with pytest.raises(InputTypeError, match="no fit and predict"):
        BaggingClassifier(StandardScaler()).fit(*iris)


def test_parameters_that_contradict_each_other(iris):
    X, y = iris
    cases = [
        ({"estimator": KNeighborsClassifier(), "resampling": "exponential"}, "sample_weight"),
        ({"feature_map": "gaussian", "max_features": 2}, "max_features"),
        ({"feature_map": PCA, "bootstrap": False}, "pass an instance"),
        ({"feature_map": "gaussian", "n_components": 9}, "n_components.*4 features"),
        ({"feature_map": "fourier"}, "fourier"),
        ({"max_features": 5}, "max_features.*4 features"),
        ({"max_samples": 0.0}, "max_samples"),
        ({"resampling": "subset", "max_samples": 999}, "999"),
    ]
    for params, fact in cases:
        model = BaggingClassifier(**params)
        with pytest.raises(ValueError, match=fact):
            model.fit(X, y)
        assert not hasattr(model, "committee_")


def test_weights_without_draws(iris):
    X, y = iris
    weight = np.random.default_rng(0).random(len(y))
    model = BaggingClassifier(GaussianNB(), n_estimators=2, bootstrap=False).fit(X, y, weight)
    alone = GaussianNB().fit(X, y, weight)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), rtol=1e-8)
    whole = np.arange(len(y)) % 3
    counted = BaggingClassifier(KNeighborsClassifier(3), n_estimators=2, bootstrap=False)
    again = np.repeat(np.arange(len(y)), whole)
    np.testing.assert_array_equal(
        counted.fit(X, y, whole).predict_proba(X), counted.fit(X[again], y[again]).predict_proba(X)
    )
    with pytest.raises(InputError, match="takes no sample_weight"):
        counted.fit(X, y, weight)


def test_tags_follow_the_members():
    tags = [sklearn.utils.get_tags(BaggingClassifier(base)) for base in (None, GaussianNB())]
    assert [tag.input_tags.allow_nan for tag in tags] == [True, False]
    assert [tag.input_tags.sparse for tag in tags] == [True, False]
    several = [DecisionTreeRegressor(), Ridge(), SVR()]
    found = [
        sklearn.utils.get_tags(BaggingRegressor(base)).target_tags.multi_output for base in several
    ]
    assert found == [True, True, False]


class Listener(ClassifierMixin, BaseEstimator):
    """Remembers the metadata it was given."""

    def fit(self, X, y, note=None):
        self.note_, self.n_ = note, len(y)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X, tilt=0):
        return np.full(len(X), self.classes_[tilt])


def test_metadata_are_routed(iris):
    X, y = iris
    with sklearn.config_context(enable_metadata_routing=True):
        base = Listener().set_fit_request(note=True).set_predict_request(tilt=True)
        model = BaggingClassifier(base, n_estimators=3, random_state=0)
        model.fit(X, y, note=np.arange(len(y)))
        for member, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
            np.testing.assert_array_equal(np.sort(member.note_), drawn)
        assert set(model.predict(X, tilt=2)) == {"virginica"}
        assert set(model.predict(X)) == {"setosa"}
        with pytest.raises(TypeError, match="word"):
            model.fit(X, y, word=1)
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        BaggingClassifier(Listener()).fit(X, y, note=1)


@pytest.mark.skipif(not hasattr(sklearn, "callback"), reason="callbacks came with 1.9")
def test_callbacks_may_stop_the_fit(iris):
    from sklearn.callback import FitCallback

    class Enough(FitCallback):
        def setup(self, estimator, context):
            self.seen = 0

        def on_fit_task_begin(self, *args, **kwargs):
            pass

        def on_fit_task_end(self, estimator, context, **kwargs):
            self.seen += 1
            return self.seen >= 3

        def teardown(self, estimator, context):
            pass

    X, y = iris
    for base in (GaussianNB(), None):
        model = BaggingClassifier(base, n_estimators=9, random_state=0).set_callbacks(Enough())
        assert len(model.fit(X, y)) == 3
        assert len(model.estimators_) == len(model.left_out_) == 3
