"""DECORATE: what must hold in every fit, learners of any make, weights, errors, watching."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.estimators import model_bits

from committee import (
    DecisionTreeClassifier,
    DecorateClassifier,
    InputError,
    InputTypeError,
    load_heart,
)
from committee.ensembles.decorate.reading import c45

pytestmark = pytest.mark.filterwarnings("ignore::committee.DataWarning")


@st.composite
def problems(draw):
    n, p = draw(st.integers(2, 30)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, p)).round(draw(st.integers(0, 3)))
    X[rng.random(X.shape) < draw(st.sampled_from([0, 0.3]))] = np.nan
    y = rng.integers(0, draw(st.integers(1, 4)), n)
    weight = draw(st.sampled_from([None, rng.integers(1, 4, n), rng.random(n) + 0.1]))
    return X, y, weight


@settings(max_examples=40)
@given(
    problems(),
    st.sampled_from([None, DecisionTreeClassifier(max_depth=2), DecisionTreeClassifier()]),
    st.integers(1, 6),
    st.integers(1, 12),
    st.sampled_from([0.01, 0.5, 1, 2.5]),
)
def test_the_error_on_the_training_rows_never_rises(problem, base, size, tried, share):
    X, y, weight = problem
    model = DecorateClassifier(
        base, size, max_trials=tried, artificial_size=share, random_state=0
    ).fit(X, y, weight)
    trials, kept = model.trials_, model.trials_["kept"]
    assert len(model) == kept.sum() <= size
    assert len(kept) <= tried
    errors = trials["error_after"][kept]
    assert (np.diff(errors) <= 0).all()
    np.testing.assert_array_equal(
        trials["error_after"] <= trials["error_before"], [False, *kept[1:]]
    )
    np.testing.assert_array_equal(trials["error_before"][1:], _last_kept(trials))
    staged = [np.average(said != y, weights=weight) for said in model.staged_predict(X)]
    np.testing.assert_allclose(staged, errors, atol=1e-12)
    reason = model.stop_reason_
    if len(model) == size:
        assert reason == "n_estimators members found"
    elif len(set(y)) == 1:
        assert "single class" in reason
    else:
        assert reason == "max_trials trials made"
        assert len(kept) == tried


def _last_kept(trials):
    error, found = trials["error_after"][0], []
    for after, kept in zip(trials["error_after"][1:], trials["kept"][1:], strict=True):
        found.append(error)
        error = after if kept else error
    return found


SETS = {"heart": (load_heart, 40), "wine": (load_wine, 30), "cancer": (load_breast_cancer, 30)}


@pytest.mark.parametrize("name", SETS)
def test_r110_decorate_beats_its_base_learner_on_few_rows(name):
    load, n = SETS[name]
    X, y = load(as_frame=True) if name == "heart" else load(return_X_y=True, as_frame=True)
    gains = np.empty(8)
    for seed in range(len(gains)):
        order = np.random.default_rng(seed).permutation(len(y))
        few, rest = order[:n], order[n:]
        labels, truth = np.asarray(y)[few], np.asarray(y)[rest]
        model = DecorateClassifier(random_state=seed).fit(X.iloc[few], labels)
        alone = c45().fit(X.iloc[few], labels)
        first, ask = model.estimators_[0], X.iloc[rest]
        np.testing.assert_array_equal(first.predict(ask), alone.predict(ask))
        gains[seed] = model.score(ask, truth) - alone.score(ask, truth)
    assert gains.mean() > 0.02
    assert gains.mean() > 2 * gains.std(ddof=1) / np.sqrt(len(gains))


@pytest.mark.parametrize("base", [None, DecisionTreeClassifier(), GaussianNB()], ids=str)
def test_members_are_averaged_and_nothing_hangs_on_threads_or_the_order_of_rows(base):
    X, y = load_iris(return_X_y=True)
    X, y = X[::4], y[::4]
    model = DecorateClassifier(base, 5, random_state=3).fit(X, y)
    each = [member.predict_proba(X) for member in model.estimators_]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(each, axis=0), rtol=1e-12)
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_array_equal(last, model.predict_proba(X))
    mixed = np.random.default_rng(0).permutation(len(y))
    other = DecorateClassifier(base, 5, random_state=3, n_jobs=2).fit(X[mixed], y[mixed])
    np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    assert other.trials_["kept"].tolist() == model.trials_["kept"].tolist()
    different = DecorateClassifier(base, 5, random_state=4).fit(X, y)
    shifted = X + 0.13
    assert (different.predict_proba(shifted) != model.predict_proba(shifted)).any()


def test_a_longer_search_begins_like_a_shorter_one():
    """Trial t draws from (seed, t) alone."""
    X, y = load_iris(return_X_y=True)
    short, long = (DecorateClassifier(None, k, random_state=0).fit(X[::3], y[::3]) for k in (3, 6))
    for mine, other in zip(short.estimators_, long.estimators_[:3], strict=True):
        np.testing.assert_array_equal(mine.predict_proba(X), other.predict_proba(X))


def test_whole_weights_are_rows_and_zeros_are_none():
    X, y = load_iris(return_X_y=True)
    X, y = X[::5], y[::5]
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    for base in (None, KNeighborsClassifier(3)):
        model = DecorateClassifier(base, 4, random_state=0)
        weighed = model.fit(X, y, weight).predict_proba(X)
        np.testing.assert_array_equal(model.fit(X, y, 0.3 * weight).predict_proba(X), weighed)
        np.testing.assert_array_equal(model.fit(X[again], y[again]).predict_proba(X), weighed)


def test_fractions_of_weights_go_to_the_learner():
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).random(len(y))
    alone = GaussianNB().fit(X, y, weight)
    model = DecorateClassifier(GaussianNB(), 2, random_state=0).fit(X, y, weight)
    np.testing.assert_allclose(
        model.estimators_[0].predict_proba(X), alone.predict_proba(X), rtol=1e-6
    )
    wrong = np.average(alone.predict(X) != y, weights=weight)
    np.testing.assert_allclose(model.trials_["error_after"][0], wrong)
    with pytest.raises(InputTypeError, match=r"W-FIT.*KNeighborsClassifier.*takes no sample_w"):
        DecorateClassifier(KNeighborsClassifier()).fit(X, y, weight)


def test_pitfall_8_a_class_of_weight_zero_takes_no_labels():
    X, y = load_iris(return_X_y=True)
    weight = (y < 2).astype(float)
    for base in (None, GaussianNB()):
        model = DecorateClassifier(base, 5, random_state=0).fit(X[::3], y[::3], weight[::3])
        shares = model.predict_proba(X)
        assert shares.shape == (len(y), 3)
        assert (shares[:, 2] == 0).all()


@pytest.mark.parametrize("make", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"])
def test_learners_are_given_frames(make):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"town": rng.choice(["Kyiv", "Lviv", "Odesa"], 40), "rooms": rng.normal(size=40)}
    )
    frame.loc[::10, "town"] = None
    y = np.where(frame["town"] == "Lviv", frame["rooms"] > 0, frame["rooms"] < 0)
    encode = ColumnTransformer(
        [("town", OneHotEncoder(handle_unknown="ignore"), ["town"])], remainder="passthrough"
    )
    pipe = make_pipeline(encode, DecisionTreeClassifier(max_depth=3))
    X = make(frame)
    model = DecorateClassifier(pipe, 4, max_trials=8, random_state=0).fit(X, y)
    assert list(model.feature_names_in_) == ["town", "rooms"]
    assert model.score(X, y) >= 1 - model.trials_["error_after"][0]
    expected = DecorateClassifier(pipe, 4, max_trials=8, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(frame))


def test_categories_by_index_reach_the_trees_and_the_artificial_rows():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, 60), rng.normal(size=60)])
    y = np.isin(X[:, 0], [1, 3]).astype(int)
    model = DecorateClassifier(categorical_features=[0], random_state=0).fit(X, y)
    assert model.schema_.levels[0].tolist() == [0, 1, 2, 3]
    assert model.score(X, y) == 1
    frame = pd.DataFrame({"a": pd.Categorical(X[:, 0].astype(int)), "b": X[:, 1]})
    named = DecorateClassifier(random_state=0).fit(frame, y)
    np.testing.assert_array_equal(named.predict_proba(frame), model.predict_proba(X))


@pytest.mark.parametrize("base", [None, BernoulliNB()], ids=["tree", "bayes"])
@pytest.mark.parametrize("layout", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_rows_stay_sparse(base, layout):
    rng = np.random.default_rng(0)
    X = (rng.random((40, 30)) < 0.15).astype(float)
    y = (X[:, :4].sum(axis=1) > 0).astype(int)
    model = DecorateClassifier(base, 6, random_state=0).fit(layout(X), y)
    assert len(model) > 1
    np.testing.assert_allclose(model.predict_proba(layout(X)), model.predict_proba(X))
    wide = sparse.random(
        30, 20_000, 1e-3, format="csr", random_state=0
    )  # of 600,000 cells 600 are stored
    wide.data[:] = 1
    assert len(DecorateClassifier(base, 2, max_trials=2).fit(wide, np.arange(30) % 2)) >= 1


def test_one_class_and_one_member():
    X, y = load_iris(return_X_y=True)
    alone = DecorateClassifier(random_state=0).fit(X[:40], y[:40])
    assert len(alone) == 1
    assert alone.stop_reason_.startswith("y has a single class")
    assert (alone.predict(X) == 0).all()
    for params in ({"n_estimators": 1}, {"max_trials": 1}):
        model = DecorateClassifier(**params).fit(X, y)
        np.testing.assert_array_equal(model.predict_proba(X), c45().fit(X, y).predict_proba(X))


class Fragile(ClassifierMixin, BaseEstimator):
    """Fails from a number of rows on."""

    def __init__(self, limit=60):
        self.limit = limit

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if len(y) > self.limit:
            raise ValueError("too many rows for me")
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_learners_that_fail_are_named_and_the_model_stays():
    X, y = load_iris(return_X_y=True)
    model = DecorateClassifier(GaussianNB(), 2, random_state=0).fit(X, y)
    before = dict(model.__dict__)
    model.estimator = Fragile(200)
    with pytest.raises(InputError, match=r"M-FIT.*base learner Fragile.*too many rows") as raised:
        model.fit(X, y)
    assert isinstance(raised.value.__cause__, ValueError)
    assert {k: v for k, v in model.__dict__.items() if k != "estimator"} == {
        k: v for k, v in before.items() if k != "estimator"
    }


def test_what_is_no_classifier_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputTypeError, match=r"P-ESTIMATOR.*LinearRegression.*a classifier"):
        DecorateClassifier(LinearRegression()).fit(X, y)
    with pytest.raises(InputTypeError, match=r"pass an instance.*GaussianNB\(\)"):
        DecorateClassifier(GaussianNB).fit(X, y)
    with pytest.raises(ValueError, match=r"'max_depth' parameter of DecisionTreeClassifier"):
        DecorateClassifier(DecisionTreeClassifier(max_depth=-3)).fit(X, y)
    with pytest.raises(InputTypeError, match="X-SPARSE-CATEGORICAL"):
        DecorateClassifier(BernoulliNB(), categorical_features=[0]).fit(sparse.csr_matrix(X), y)


class Listener(ClassifierMixin, BaseEstimator):
    """Remembers the metadata it was given."""

    def fit(self, X, y, note=None):
        self.note_, self.classes_ = note, np.unique(y)
        return self

    def predict(self, X, tilt=0):
        return np.full(len(X), self.classes_[tilt])


def test_metadata_are_routed_unless_they_belong_to_rows():
    X, y = load_iris(return_X_y=True)
    with sklearn.config_context(enable_metadata_routing=True):
        base = Listener().set_fit_request(note=True).set_predict_request(tilt=True)
        model = DecorateClassifier(base, 3, random_state=0).fit(X, y, note="hello")
        assert {member.note_ for member in model.estimators_} == {"hello"}
        assert set(model.predict(X, tilt=2)) == {2}
        assert set(model.predict(X)) == {0}
        with pytest.raises(InputError, match=r"P-METADATA.*'note'.*150 rows.*artificial"):
            model.fit(X, y, note=np.arange(len(y)))
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        DecorateClassifier(Listener()).fit(X, y, note=1)


def test_progress_is_told(capsys):
    X, y = load_iris(return_X_y=True)
    DecorateClassifier(None, 2, random_state=0, verbose=1).fit(X[::3], y[::3])
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "[DecorateClassifier] 1 of 2 members after 1 trials"


class Watcher:
    """Collects the facts of each member, and may ask to stop."""

    def __init__(self, stop_after=None):
        self.stop_after, self.facts = stop_after, []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if not hasattr(context, "facts"):
            return False
        assert len(fitted_estimator) == len(self.facts) + 1
        self.facts.append(context.facts)
        return self.stop_after is not None and len(self.facts) >= self.stop_after


@pytest.mark.skipif(not hasattr(sklearn, "callback"), reason="callbacks came with 1.9")
def test_callbacks_see_the_trials_of_members_and_may_stop():
    X, y = load_iris(return_X_y=True)
    watcher = Watcher()
    model = DecorateClassifier(GaussianNB(), 6, max_trials=12, random_state=0)
    model.set_callbacks(watcher)
    model.fit(X[::4], y[::4])
    trials, kept = model.trials_, np.flatnonzero(model.trials_["kept"])
    assert [facts["trial"] for facts in watcher.facts] == kept.tolist()
    told = [facts["error_after"] for facts in watcher.facts]
    assert told == trials["error_after"][kept].tolist()
    model = DecorateClassifier(random_state=0)
    model.set_callbacks(Watcher(stop_after=3))
    model.fit(X[::4], y[::4])
    assert len(model) == 3
    assert model.stop_reason_ == "a callback asked to stop"
    whole = DecorateClassifier(n_estimators=3, random_state=0).fit(X[::4], y[::4])
    assert model_bits(model) == model_bits(whole)
