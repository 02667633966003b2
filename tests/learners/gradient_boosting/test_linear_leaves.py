"""Linear leaves: the system they solve, what stays the same, where they end, what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.oracles.linear_leaves import tree_outputs
from tests.plain_boosters import make_plain

from committee import (
    GradientBoostingClassifier,
    GradientBoostingRanker,
    GradientBoostingRegressor,
    _engine,
)
from committee.data import InputError
from committee.losses import Huber, Logistic, Multinomial, Squared

N = 600


def draw(n=N, missing=0.05):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    X[:, 4] = rng.integers(0, 2, size=n)  # does not vary behind a split on it
    y = np.where(X[:, 0] > 0, 3 * X[:, 1] + X[:, 0], X[:, 2]) + X[:, 4] + 0.1 * rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, rng.choice([0.5, 1.0, 2.5], size=n)


COMMON = {
    "n_estimators": 8,
    "max_leaf_nodes": 6,
    "random_state": 0,
    "linear_leaves": True,
    "early_stopping": False,
}


def regressor(**params):
    return make_plain(GradientBoostingRegressor, **COMMON | params)


def classifier(**params):
    return make_plain(GradientBoostingClassifier, **COMMON | params)


def bits(model):
    return [pickle.dumps(forest) for forest in model.committee_.members.forests]


# --- what a leaf says ---


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize(("l2", "slope_l2"), [(0.0, 0.0), (2.0, 7.0)])
def test_squared_leaves_by_the_whole_system(weighted, missing, l2, slope_l2):
    X, y, weight = draw(missing=missing)
    weight = weight if weighted else np.ones(N)
    params = {"n_estimators": 1, "learning_rate": 1.0, "max_leaf_nodes": 8}
    model = regressor(l2_regularization=l2, linear_l2=slope_l2, **params).fit(X, y, weight)
    start = model.committee_.intercept[0]
    tree = model.committee_.members.forests[0].trees
    expected = tree_outputs(
        tree, X, model.apply(X)[:, 0], weight * (start - y), weight, l2, slope_l2
    )
    # Constants come of gradients rounded to the units of histograms: hence the tolerance.
    np.testing.assert_allclose(model.predict(X) - start, expected, rtol=1e-6, atol=1e-6)


def test_logistic_leaves_by_the_whole_system():
    X, y, _ = draw()
    params = {"n_estimators": 1, "learning_rate": 1.0, "linear_l2": 1.0}
    first = classifier(**params).fit(X, y > 0)
    model = classifier(**params | {"n_estimators": 2}).fit(X, y > 0)
    before, after = first.decision_function(X), model.decision_function(X)
    p = 1 / (1 + np.exp(-before))
    stage = model.committee_.members.forests[0].slice(1, 2)
    expected = tree_outputs(
        stage.trees, X, model.apply(X)[:, 1], p - (y > 0), p * (1 - p), slope_l2=1.0
    )
    np.testing.assert_allclose(after - before, expected, rtol=1e-5, atol=1e-6)


def test_two_lines_by_hand():
    """y = 2x below 0 and 8 - 3x above: the first stump with the right cut has no residual."""
    x = np.concatenate([np.linspace(-4, -0.5, 40), np.linspace(0.5, 4, 40)])
    y = np.where(x < 0, 2 * x - 10, 18 - 3 * x)
    model = regressor(n_estimators=1, learning_rate=1.0, max_leaf_nodes=2).fit(x[:, None], y)
    forest = model.committee_.members.forests[0]
    np.testing.assert_allclose(forest.slope, [2, -3], rtol=1e-6)  # derivatives are floats
    np.testing.assert_array_equal([forest.low, forest.high], [[-4, 0.5], [-0.5, 4]])
    np.testing.assert_allclose(model.predict(x[:, None]), y, atol=1e-5)
    # Beyond the rows of a leaf its value stays where they ended; a missing x is no line's.
    ends = model.predict([[-4.0], [4.0], [-1e9], [1e9]])
    np.testing.assert_array_equal(ends[:2], ends[2:])
    constant = forest.trees.values[model.apply([[np.nan]])[0, 0], 0]
    assert model.predict([[np.nan]])[0] == model.committee_.intercept[0] + constant


def test_a_row_that_misses_a_feature_gets_the_constant():
    X, y, _ = draw()
    model = regressor(n_estimators=1, learning_rate=1.0).fit(X, y)
    forest = model.committee_.members.forests[0]
    leaves = model.apply(X)[:, 0]
    missed = [
        np.isnan(X[r, forest.feature[forest.begin[k] : forest.begin[k + 1]]]).any()
        for r, k in enumerate(leaves)
    ]
    assert any(missed)
    constants = model.committee_.intercept[0] + forest.trees.values[leaves, 0]
    np.testing.assert_array_equal((model.predict(X) == constants), missed)


@pytest.mark.parametrize("copies", [1, 3])
def test_a_feature_that_others_determine_is_left_out(copies):
    """Copies, shifted and scaled, add nothing and blow up no slope."""
    X, y, _ = draw(missing=0.0)
    extra = [1e6 + X * 3.0**k for k in range(copies)]
    rows = np.column_stack([X, *extra])
    params = {"n_estimators": 3, "max_features": 0.5, "max_leaf_nodes": 12}
    model = regressor(**params).fit(rows, y)
    forest = model.committee_.members.forests[0]
    for k in range(forest.trees.n_nodes):
        used = forest.feature[forest.begin[k] : forest.begin[k + 1]] % 5
        assert len(set(used)) == len(used)
    far = np.random.default_rng(1).normal(size=rows.shape) * 1e8
    assert np.abs(model.predict(far)).max() < 10 * np.abs(y).max()


# --- what they are for ---


def test_they_win_where_the_target_is_piecewise_linear():
    X, y, _ = draw(2000, missing=0.0)
    train, test = slice(1000), slice(1000, 2000)
    errors = {}
    for linear in (False, True):
        model = regressor(linear_leaves=linear, n_estimators=40).fit(X[train], y[train])
        errors[linear] = np.mean((model.predict(X[test]) - y[test]) ** 2)
    assert errors[True] < errors[False] / 3


@pytest.mark.parametrize("loss", ["squared_error", "poisson", "gamma"])
def test_training_loss_never_rises(loss):
    X, y, _ = draw()
    y = y if loss == "squared_error" else np.exp(y / 2)
    model = regressor(loss=loss, n_estimators=25).fit(X, y)
    losses = [model.loss_.value(y, raw[:, 0]).mean() for raw in model.committee_.staged(X)]
    assert (np.diff(losses) < 0).all()


def test_predictions_stay_where_the_training_rows_ended():
    X, y, _ = draw(missing=0.0)
    model = regressor(n_estimators=30).fit(X, y)
    far = 1e5 * np.random.default_rng(1).normal(size=(300, 5))
    nearest = np.clip(far, X.min(axis=0), X.max(axis=0))
    np.testing.assert_array_equal(model.predict(far), model.predict(nearest))


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_about_as_good_as_lightgbm(kind):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, _ = draw(3000)
    y = y if kind == "numbers" else (y > 1).astype(int)
    train, test = slice(1500), slice(1500, 3000)
    model = (regressor if kind == "numbers" else classifier)(
        n_estimators=60, max_leaf_nodes=15, linear_l2=0.1
    ).fit(X[train], y[train])
    given = {"num_leaves": 15, "linear_tree": True, "linear_lambda": 0.1, "verbose": -1}
    given |= {"objective": "l2" if kind == "numbers" else "binary", "num_threads": 1}
    data = lightgbm.Dataset(X[train], y[train], params=given)
    theirs = lightgbm.train(given, data, 60).predict(X[test])
    if kind == "numbers":
        ours = model.predict(X[test])
        assert np.mean((ours - y[test]) ** 2) < 1.15 * np.mean((theirs - y[test]) ** 2)
    else:
        ours = model.predict_proba(X[test])[:, 1]
        loss = [-np.log(np.where(y[test] == 1, p, 1 - p)).mean() for p in (ours, theirs)]
        assert loss[0] < 1.15 * loss[1]


# --- the same bits ---


@pytest.mark.sanitize
@pytest.mark.parametrize("make", [regressor, classifier])
def test_threads_calls_and_containers(make):
    X, y, weight = draw(missing=0.0)
    X = np.where(np.abs(X) < 0.5, 0.0, X).astype(np.float32)
    y = y if make is regressor else np.digitize(y, [-1, 1])
    whole = make(n_jobs=1, subsample=0.7).fit(X, y, weight)
    for other in (
        make(n_jobs=3, subsample=0.7).fit(X, y, weight),
        make(n_jobs=1, subsample=0.7, max_time=1e6).fit(X, y, weight),
        make(n_jobs=2, subsample=0.7).fit(sparse.csr_matrix(X), y, weight),
        make(n_jobs=2, subsample=0.7).fit(sparse.csc_matrix(X), y, weight),
        make(n_jobs=2, subsample=0.7).fit(np.asfortranarray(X, np.float64), y, weight),
    ):
        assert bits(other) == bits(whole)
    raw = whole.committee_.decision(X)
    for form in (sparse.csr_matrix(X), sparse.csc_matrix(X), X.astype(np.float64)):
        np.testing.assert_array_equal(whole.committee_.decision(form, n_threads=2), raw)
    np.testing.assert_array_equal(whole.committee_.decision(X[:1]), raw[:1])


class PythonSquared(Squared):
    pass


class PythonLogistic(Logistic):
    pass


class PythonMultinomial(Multinomial):
    pass


@pytest.mark.parametrize("subsample", [1.0, 0.6])
def test_losses_in_python_give_the_same(subsample):
    X, y, weight = draw()
    codes = np.digitize(y, [-1, 1])
    for make, native, python, target in (
        (regressor, Squared(), PythonSquared(), y),
        (classifier, Logistic(), PythonLogistic(), y > 0),
        (classifier, Multinomial(3), PythonMultinomial(3), codes),
    ):
        ours, theirs = (
            make(loss=loss, subsample=subsample, linear_l2=0.5).fit(X, target, weight)
            for loss in (native, python)
        )
        # NumPy's exponential and the engine's differ in a last bit; squares do not.
        if make is regressor:
            assert bits(ours) == bits(theirs)
        np.testing.assert_allclose(
            ours.committee_.decision(X), theirs.committee_.decision(X), rtol=1e-5, atol=1e-5
        )


def test_warm_start_staged_slices_and_pickles():
    X, y, _ = draw()
    whole = regressor(n_estimators=7).fit(X, y)
    steps = regressor(n_estimators=3, warm_start=True).fit(X, y)
    steps.set_params(n_estimators=7).fit(X, y)
    assert bits(steps) == bits(whole)
    *_, last = whole.staged_predict(X)
    np.testing.assert_array_equal(last, whole.predict(X))
    outputs = whole.committee_.outputs(X)
    np.testing.assert_array_equal(whole.committee_.members[2].outputs(X), outputs[2])
    np.testing.assert_array_equal(whole.committee_[::3].outputs(X), outputs[::3])
    again = pickle.loads(pickle.dumps(whole))
    np.testing.assert_array_equal(again.predict(X), last)


def test_early_stopping_ends_at_the_best_round():
    X, y, _ = draw()
    model = regressor(n_estimators=300, early_stopping=True, learning_rate=0.5).fit(X, y)
    assert model.n_estimators_ < 300
    assert np.argmin(model.held_out_loss_) == model.n_estimators_


def test_without_numeric_features_leaves_are_constant():
    X, y, _ = draw()
    frame = pd.DataFrame(np.digitize(np.nan_to_num(X), [-1, 0, 1])).astype("category")
    plain, linear = (regressor(linear_leaves=use).fit(frame, y) for use in (False, True))
    assert not len(linear.committee_.members.forests[0].slope)
    np.testing.assert_array_equal(plain.predict(frame), linear.predict(frame))


def test_a_ranker_has_them():
    X, y, _ = draw(missing=0.0)
    query = np.arange(N) // 20
    relevance = np.digitize(y, [-1, 1, 3])
    model = GradientBoostingRanker(**COMMON).fit(X, relevance, groups=query)
    assert len(model.committee_.members.forests[0].slope)
    assert model.score(X, relevance, groups=query) > 0.9


# --- what is refused ---


@pytest.mark.parametrize(
    "params",
    [
        {"monotonic_cst": [1, 0, 0, 0, 0]},
        {"loss": "absolute_error"},
        {"loss": Huber(1.0)},
        {"drop_rate": 0.1},
        {"n_parallel_trees": 2},
        {"sampling_method": "gradient_based"},
        {"categorical_encoding": "ordered_target"},
        {"multi_strategy": "multi_output_tree"},
    ],
    ids=str,
)
def test_what_does_not_go_together(params):
    X, y, _ = draw()
    model = regressor(**params)
    with pytest.raises(InputError, match="P-LINEAR"):
        model.fit(X, y)
    assert not hasattr(model, "committee_")


def test_shapley_values_and_mixed_warm_starts_are_refused():
    X, y, _ = draw()
    model = regressor(warm_start=True).fit(X, y)
    for ask in (model.shap_values, model.shap_interactions):
        with pytest.raises(InputError, match=r"P-LINEAR.*linear_leaves=False"):
            ask(X)
    assert model.feature_importances_.argmax() in (0, 1)
    model.set_params(linear_leaves=False, n_estimators=9)
    with pytest.raises(InputError, match="P-WARM"):
        model.fit(X, y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("begin", np.array([0, 1, 1, 1], np.uint64)),
        ("begin", np.array([0, 2, 1, 2], np.uint64)),
        ("begin", np.array([0, 1, 2], np.uint64)),
        ("level", np.array([0.0, np.nan, 0.0])),
        ("feature", np.array([0, 1], np.uint32)),
        ("slope", np.array([1.0, np.inf])),
        ("low", np.array([9.0, 0.0])),
        ("high", np.array([1.0])),
    ],
)
def test_arrays_that_are_no_leaves(name, value):
    x = np.concatenate([np.linspace(-1, -0.1, 50), np.linspace(0.1, 1, 50)])
    forest = (
        regressor(n_estimators=1, max_leaf_nodes=2)
        .fit(x[:, None], np.abs(x) + (x > 0))
        .committee_.members.forests[0]
    )
    names = ("begin", "level", "feature", "slope", "low", "high")
    arrays = {key: getattr(forest, key) for key in names}
    assert list(arrays["begin"]) == [0, 0, 1, 2]
    _engine.LinearForest.from_arrays(forest.trees, **arrays)
    with pytest.raises(ValueError, match="linear forest"):
        _engine.LinearForest.from_arrays(forest.trees, **arrays | {name: value})
