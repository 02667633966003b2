"""Several outputs: columns of y, classes, quantiles; with trees of their own, or shared ones."""

import pickle

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.metrics import r2_score
from tests.estimators import model_bits
from tests.plain_boosters import make_plain

from committee import GradientBoostingClassifier, GradientBoostingRegressor, InputError
from committee.learners.gradient_boosting import growth
from committee.losses import Absolute, Columns, Loss, Poisson, Squared

N = 500
OWN, SHARED = "one_output_per_tree", "multi_output_tree"
STRATEGIES = [OWN, SHARED]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 5))
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 4] = rng.integers(0, 6, N)
    f = np.nan_to_num(X)
    Y = np.column_stack([f[:, 0] * f[:, 1], f[:, 0] + (f[:, 4] % 2), np.sin(2 * f[:, 2])])
    return X, Y + 0.2 * rng.normal(size=Y.shape)


def model_for(kind, **params):
    cls = GradientBoostingClassifier if kind == "classes" else GradientBoostingRegressor
    if kind == "quantiles":
        params = {"loss": "quantile", "quantile": [0.2, 0.5, 0.8], **params}
    return make_plain(
        cls, **{"n_estimators": 6, "categorical_features": [4], "random_state": 0, **params}
    )


def target_of(kind, Y):
    if kind == "columns":
        return Y
    return Y[:, 0] if kind == "quantiles" else np.digitize(Y[:, 0], [-0.5, 0.3])


KINDS = ["columns", "classes", "quantiles"]


# --- columns of y ---


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"]
)
def test_columns_with_trees_of_their_own_are_models_of_their_own(loss, rows):
    X, Y = rows
    Y = np.exp(Y) if loss in ("poisson", "gamma", "tweedie") else Y
    weight = np.random.default_rng(0).integers(1, 4, N).astype(float)
    several = model_for("columns", loss=loss).fit(X, Y, weight)
    assert several.n_outputs_ == 3
    alone = [model_for("columns", loss=loss).fit(X, y, weight).predict(X) for y in Y.T]
    np.testing.assert_array_equal(several.predict(X), np.column_stack(alone))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("loss", ["squared_error", "huber", "poisson"])
def test_training_loss_falls(loss, strategy, rows):
    X, Y = rows
    Y = np.exp(Y) if loss == "poisson" else Y
    model = model_for("columns", loss=loss, n_estimators=20, multi_strategy=strategy).fit(X, Y)
    raws = [np.tile(model.committee_.intercept, (N, 1)), *map(np.copy, model._staged_raw(X))]
    losses = [model.loss_.value(Y, raw).mean() for raw in raws]
    assert (np.diff(losses) < 0).all()
    assert losses[-1] < 0.7 * losses[0]


def test_each_column_may_have_a_loss_of_its_own(rows):
    X, Y = rows
    Y = np.column_stack([Y[:, 0], np.exp(Y[:, 1]), Y[:, 2]])
    model = model_for("columns", loss=Columns((Squared(), Poisson(), Absolute()))).fit(X, Y)
    names = ("squared_error", "poisson", "absolute_error")
    alone = [model_for("columns", loss=loss) for loss in names]
    alone = [m.fit(X, y).predict(X) for m, y in zip(alone, Y.T, strict=True)]
    np.testing.assert_allclose(model.predict(X), np.column_stack(alone), rtol=1e-4, atol=1e-4)


def test_score_is_the_mean_of_the_columns(rows):
    X, Y = rows
    model = model_for("columns").fit(X, Y)
    assert model.score(X, Y) == r2_score(Y, model.predict(X))


def test_monotone_columns(rows):
    X, Y = rows
    model = model_for("columns", monotonic_cst=[1, 0, 0, 0, 0]).fit(X, Y)
    moved = np.tile(X[:20], (30, 1))
    moved[:, 0] = np.repeat(np.linspace(-2, 2, 30), 20)
    assert (np.diff(model.predict(moved).reshape(30, 20, 3), axis=0) >= -1e-12).all()


# --- trees that outputs share ---


@pytest.mark.parametrize("kind", KINDS)
def test_a_shared_tree_is_one_tree(kind, rows):
    X, Y = rows
    model = model_for(kind, multi_strategy=SHARED).fit(X, target_of(kind, Y))
    (forest,) = model.committee_.members.forests
    assert (forest.n_trees, forest.n_outputs) == (6, 3)
    assert model.apply(X).shape == (N, 6)
    assert model.feature_importances_.sum() == pytest.approx(1)
    raw = model.committee_.decision(X)
    np.testing.assert_allclose(model.shap_values(X).sum(axis=1), raw, rtol=1e-9, atol=1e-9)
    together = model.shap_interactions(X[:9])
    np.testing.assert_allclose(together.sum(axis=2), model.shap_values(X[:9]), atol=1e-9)
    *_, last = model._staged_raw(X)
    np.testing.assert_array_equal(last, raw)
    outputs = sum(0.1 * member.outputs(X) for member in model.committee_.members)
    np.testing.assert_allclose(outputs + model.committee_.intercept, raw, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_one_output_does_not_notice(kind, rows):
    X, Y = rows
    y = Y[:, :1].ravel() if kind == "columns" else target_of(kind, Y)
    params = {"quantile": [0.5]} if kind == "quantiles" else {}
    y = (y > 0).astype(int) if kind == "classes" else y
    models = [model_for(kind, multi_strategy=s, **params).fit(X, y) for s in STRATEGIES]
    assert model_bits(models[0]) == model_bits(models[1])


def test_equal_columns_split_as_one_does(rows):
    X, Y = rows
    one = model_for("columns").fit(X, Y[:, 0])
    two = model_for("columns", multi_strategy=SHARED).fit(X, Y[:, [0, 0]])
    np.testing.assert_array_equal(two.predict(X), one.predict(X)[:, None] * [1, 1])
    forests = [m.committee_.members.forests[0] for m in (one, two)]
    np.testing.assert_array_equal(forests[0].threshold, forests[1].threshold)
    np.testing.assert_allclose(2 * forests[0].gain, forests[1].gain, rtol=1e-9)


def test_shared_leaves_by_hand():
    """Gain and leaf are sums over outputs, and each output's own Newton step."""
    x = np.arange(6.0)
    Y = np.array([[0, 5], [0, 5], [2, 1], [2, 1], [2, 0], [0, 0]], float)
    l2 = 0.5
    model = GradientBoostingRegressor(
        n_estimators=1,
        max_leaf_nodes=2,
        min_samples_leaf=1,
        l2_regularization=l2,
        multi_strategy=SHARED,
    ).fit(x[:, None], Y)
    G = Y.mean(axis=0) - Y

    def score(rows):
        return (G[rows].sum(axis=0) ** 2 / (rows.sum() + l2)).sum()

    gains = [score(x < c) + score(x > c) - score(x > -1) for c in x[:-1] + 0.5]
    (forest,) = model.committee_.members.forests
    assert forest.threshold[0] == np.argmax(gains) + 0.5 == 1.5
    np.testing.assert_allclose(forest.gain[0], max(gains), rtol=1e-6)
    left = x < 1.5
    expected = [-G[s].sum(axis=0) / (s.sum() + l2) for s in (left, ~left)]
    np.testing.assert_allclose(forest.values[1:], expected, rtol=1e-6)


def test_an_output_without_hessian_moves_little():
    """One unlikely row must not throw a class's score far away, whatever the leaf's others say."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = (X[:, 0] > 0).astype(int)
    y[rng.choice(3000, 4, replace=False)] = 2
    model = model_for(
        "classes", n_estimators=100, categorical_features=None, multi_strategy=SHARED
    ).fit(X, y)
    assert np.abs(model.committee_.members.forests[0].values).max() <= 20


# --- the same bits ---


@pytest.mark.sanitize
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "params",
    [{"subsample": 0.6, "max_features": 3}, {"growth": "level", "max_depth": 3}],
    ids=["sampled", "level"],
)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_threads_pieces_and_warm_starts(kind, params, strategy, rows):
    X, Y = rows
    y = target_of(kind, Y)
    params = {**params, "multi_strategy": strategy}
    expected = model_bits(model_for(kind, n_jobs=1, **params).fit(X, y))
    assert model_bits(model_for(kind, n_jobs=3, **params).fit(X, y)) == expected
    assert model_bits(model_for(kind, max_time=1e6, **params).fit(X, y)) == expected
    warm = model_for(kind, warm_start=True, **params).set_params(n_estimators=2).fit(X, y)
    warm = pickle.loads(pickle.dumps(warm)).set_params(n_estimators=6).fit(X, y)
    assert model_bits(warm) == expected


class OwnColumns(Columns):
    """The same formulas, asked round by round."""


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_native_rounds_are_those_of_python(strategy, weighted, rows):
    """Squared error has the same derivatives to the last bit on both ways."""
    X, Y = rows
    weight = np.random.default_rng(1).integers(1, 4, N).astype(float) if weighted else None
    params = {"multi_strategy": strategy, "subsample": 0.7, "max_features": 3}
    native = model_for("columns", **params).fit(X, Y, weight)
    own = model_for("columns", loss=OwnColumns((Squared(),) * 3), **params).fit(X, Y, weight)
    assert model_bits(native) == model_bits(own)


# --- stopping, refusals ---


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_early_stopping_sums_over_columns(strategy, rows):
    X, Y = rows
    model = model_for("columns", n_estimators=200, learning_rate=0.5, multi_strategy=strategy)
    model.fit(X[:300], Y[:300], X_val=X[300:], y_val=Y[300:])
    staged = [((p - Y[300:]) ** 2 / 2).sum(axis=1).mean() for p in model.staged_predict(X[300:])]
    assert model.n_estimators_ == model.held_out_loss_.argmin() < 200
    np.testing.assert_allclose(model.held_out_loss_[1 : len(staged) + 1], staged, rtol=1e-9)
    split = model_for("columns", early_stopping=True, multi_strategy=strategy).fit(X, Y)
    assert len(split.held_out_loss_) > 1


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"monotonic_cst": [1, 0, 0, 0, 0]}, "monotonic_cst"),
        ({"growth": "symmetric"}, "growth"),
        ({"l1_regularization": 1.0}, "l1_regularization"),
        ({"sampling_method": "gradient_based", "subsample": 0.5}, "sampling_method"),
        ({"n_parallel_trees": 2}, "n_parallel_trees"),
        ({"drop_rate": 0.1}, "drop_rate"),
    ],
)
def test_what_shared_trees_cannot_do(params, says, rows):
    X, Y = rows
    model = model_for("columns", multi_strategy=SHARED, **params)
    with pytest.raises(InputError, match=rf"P-OUTPUTS.*{says}.*multi_output_tree"):
        model.fit(X, Y)
    assert not hasattr(model, "committee_")


def test_what_columns_cannot_do(rows):
    X, Y = rows
    with pytest.raises(InputError, match=r"P-LOSS.*Quantiles.*3 columns"):
        model_for("quantiles").fit(X, Y)
    with pytest.raises(InputError, match=r"P-LOSS.*Cox.*3 columns"):
        model_for("columns", loss="cox").fit(X, Y)
    with pytest.raises(InputError, match=r"Y-NEGATIVE.*column 2 of y"):
        model_for("columns", loss="poisson").fit(X, np.column_stack([np.exp(Y), Y])[:, [0, 1, 3]])
    with pytest.raises(InputError, match=r"P-SPLIT.*y_val: 2 columns, and y has 3"):
        model_for("columns").fit(X, Y, X_val=X, y_val=Y[:, :2])
    with pytest.raises(InputError, match=r"Y-SHAPE.*a column for each loss"):
        model_for("columns", loss=Columns((Squared(),) * 2)).fit(X, Y)
    warm = model_for("columns", warm_start=True).fit(X, Y)
    with pytest.raises(InputError, match=r"P-WARM.*multi_strategy"):
        warm.set_params(multi_strategy=SHARED, n_estimators=8).fit(X, Y)


# --- a loss of the user's, and XGBoost ---


class SoftmaxOfXGBoost(Loss):
    """Starts at 0, with the hessians 2 p (1 - p)."""

    n_outputs = 3

    def start(self, y, weight):
        return np.zeros(3)

    def value(self, y, raw):
        return -np.log(softmax(raw, axis=1)[np.arange(len(y)), y.astype(int)])

    def gradient_hessian(self, y, raw):
        p = softmax(raw, axis=1)
        return p - np.eye(3)[y.astype(int)], 2 * p * (1 - p)

    def predict(self, raw):
        return softmax(raw, axis=1)


@pytest.mark.parametrize("l2", [0.5, 3.0])
@pytest.mark.parametrize("kind", ["columns", "classes"])
def test_shared_trees_are_xgboosts(kind, l2, rows, monkeypatch):
    xgboost = pytest.importorskip("xgboost")
    monkeypatch.setattr(growth, "VECTOR_LEAST", 0.0)  # which XGBoost does not know
    X, Y = rows
    X = np.round(np.nan_to_num(X) * 8)  # as many values as bins: cuts are the same
    Y = Y - Y.mean(axis=0)
    y = target_of(kind, Y)
    params = {
        "tree_method": "hist",
        "multi_strategy": "multi_output_tree",
        "max_depth": 3,
        "eta": 0.3,
        "reg_lambda": l2,
        "min_child_weight": 0,
        "base_score": 0,
        "nthread": 1,
    }
    objective = {"columns": "reg:squarederror", "classes": "multi:softprob"}[kind]
    params |= {"objective": objective} | ({"num_class": 3} if kind == "classes" else {})
    theirs = xgboost.train(params, xgboost.DMatrix(X, y), 5)
    expected = theirs.predict(xgboost.DMatrix(X), output_margin=True)
    ours = model_for(
        kind,
        loss="squared_error" if kind == "columns" else SoftmaxOfXGBoost(),
        n_estimators=5,
        learning_rate=0.3,
        max_depth=3,
        max_leaf_nodes=None,
        growth="level",
        min_samples_leaf=1,
        l2_regularization=l2,
        categorical_features=None,
        multi_strategy=SHARED,
    ).fit(X, y)
    # Float32 there, fixed point here.
    np.testing.assert_allclose(ours.committee_.decision(X), expected, rtol=1e-4, atol=1e-4)
