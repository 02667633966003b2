import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris, make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import ExtraTreeRegressor

from committee import DecisionTreeClassifier, DecisionTreeRegressor, InputError, load_heart
from committee.core.randomness import member_rng, seeded_clone
from committee.theory.bias_variance import bootstrap_bias_variance
from committee.theory.decomposition import decompose
from committee.theory.replicates import left_out_predictions, read_problem


class Strict(ClassifierMixin, BaseEstimator):
    """The nearest class mean; refuses a single class, as many classifiers do."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError("two classes are needed")
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        distances = ((X[:, None, :] - self.means_) ** 2).sum(axis=2)
        return self.classes_[distances.argmin(axis=1)]


def arrays_of(result):
    return {name: value for name, value in vars(result).items() if isinstance(value, np.ndarray)}


def assert_same(result, other):
    for name, value in arrays_of(result).items():
        np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)


def predictions_of(estimator, X, y, *, n_replicates, random_state=0, **options):
    problem = read_problem(
        estimator, X, y, None, options.get("sample_weight"), options.get("groups")
    )
    return left_out_predictions(problem, n_replicates=n_replicates, seed=random_state, n_jobs=None)


def test_r33_a_row_that_is_never_left_out_has_no_numbers():
    X, y = load_iris(return_X_y=True)
    result = bootstrap_bias_variance(DecisionTreeClassifier(), X, y, n_replicates=2, random_state=0)
    never, once = result.n_left_out == 0, result.n_left_out == 1
    assert never.sum() > 20
    assert once.sum() > 20
    for term in (result.prediction, result.loss, result.bias, result.variance):
        assert np.isnan(term[never]).all()
    assert np.isnan(result.variance[once]).all()
    assert not np.isnan(result.loss[once]).any()
    assert f"{int((~never & ~once).sum())} of 150 rows counted" in str(result)
    assert not np.isnan(result.overall["loss"])


def test_r34_equals_a_hand_loop():
    X, y = make_friedman1(60, random_state=0)
    result = bootstrap_bias_variance(
        ExtraTreeRegressor(random_state=5), X, y, n_replicates=15, random_state=3
    )
    votes = [[] for _ in y]
    for k in range(15):
        bag = np.sort(member_rng(3, k).integers(60, size=60))
        model = seeded_clone(ExtraTreeRegressor(), 3, k).fit(X[bag], y[bag])
        for row in set(range(60)) - set(bag.tolist()):
            votes[row].append(model.predict(X[row : row + 1])[0])
    for row, said in enumerate(votes):
        assert result.n_left_out[row] == len(said)
        if len(said) > 1:
            assert result.bias[row] == pytest.approx(y[row] - np.mean(said))
            assert result.variance[row] == pytest.approx(np.var(said, ddof=1))


def test_r34_a_tree_varies_more_than_a_linear_model():
    X, y = make_friedman1(150, noise=1.0, random_state=0)
    tree = bootstrap_bias_variance(DecisionTreeRegressor(), X, y, n_replicates=60, random_state=0)
    line = bootstrap_bias_variance(LinearRegression(), X, y, n_replicates=60, random_state=0)
    assert tree.overall["variance"] > 5 * line.overall["variance"]


def test_r17_terms_of_a_known_target_add_up_to_the_risk():
    """A line fitted to x²: bias² is the approximation error, variance the estimation error."""
    rng = np.random.default_rng(0)
    grid = np.linspace(-1, 1, 101)[:, None]
    target = grid[:, 0] ** 2
    samples = rng.choice(101, size=(400, 30))
    fits = [LinearRegression().fit(grid[rows], target[rows]).predict(grid) for rows in samples]
    best = LinearRegression().fit(grid, target).predict(grid)
    overall = decompose(fits, target, "squared").overall
    risk = np.mean([(fit - target) ** 2 for fit in fits])
    assert overall["bias_squared"] + overall["variance"] == pytest.approx(risk, rel=1e-12)
    assert overall["bias_squared"] == pytest.approx(np.mean((best - target) ** 2), rel=0.02)
    estimation = np.mean([(fit - best) ** 2 for fit in fits])
    assert overall["variance"] == pytest.approx(estimation, rel=0.05)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_same_bits_for_any_number_of_workers(kind):
    if kind == "classes":
        estimator, (X, y) = DecisionTreeClassifier(max_features=1), load_iris(return_X_y=True)
    else:
        estimator, (X, y) = ExtraTreeRegressor(), make_friedman1(80, random_state=0)
    one = bootstrap_bias_variance(estimator, X, y, n_replicates=12, random_state=7)
    two = bootstrap_bias_variance(estimator, X, y, n_replicates=12, random_state=7, n_jobs=2)
    assert_same(one, two)


def test_same_bits_in_another_process():
    """What reaches a worker process is a pickle, fitted there replicate by replicate."""
    X, y = load_heart(as_frame=True)
    tree = DecisionTreeClassifier(max_features=3)
    problem = read_problem(tree, X, y, None, None, None)
    here = left_out_predictions(problem, n_replicates=6, seed=7, n_jobs=None)
    with joblib.parallel_config("multiprocessing", n_jobs=2):
        sent = pickle.loads(pickle.dumps(problem))
        there = left_out_predictions(sent, n_replicates=6, seed=7, n_jobs=None)
    np.testing.assert_array_equal(here, there)


def test_more_replicates_begin_with_the_same_ones():
    X, y = make_friedman1(40, random_state=0)
    tree = ExtraTreeRegressor()
    few = predictions_of(tree, X, y, n_replicates=5)
    many = predictions_of(tree, X, y, n_replicates=9)
    np.testing.assert_array_equal(many[:5], few)
    assert not np.array_equal(predictions_of(tree, X, y, n_replicates=5, random_state=1), few)


def test_containers_give_the_same_numbers():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = np.round(X[::6, :8], 1), y[::6]
    tree = DecisionTreeClassifier(max_depth=3)
    names = [f"x{j}" for j in range(8)]
    expected = bootstrap_bias_variance(tree, X, y, n_replicates=8, random_state=0)
    for container in (
        pd.DataFrame(X, columns=names, index=np.arange(len(y))[::-1]),
        pl.DataFrame(X, schema=names),
        sparse.csr_array(X),
        sparse.coo_matrix(X),
        X.tolist(),
    ):
        other = bootstrap_bias_variance(tree, container, y, n_replicates=8, random_state=0)
        assert_same(expected, other)
    series = pd.Series(y, index=np.arange(len(y))[::-1])
    assert_same(expected, bootstrap_bias_variance(tree, X, series, n_replicates=8, random_state=0))


def test_frames_with_categories_need_no_encoding():
    X, y = load_heart(as_frame=True)
    result = bootstrap_bias_variance(
        DecisionTreeClassifier(), X, y, n_replicates=30, random_state=0
    )
    assert result.overall["loss"] < 0.35
    assert set(result.prediction) <= set(np.unique(y))


@pytest.mark.parametrize(
    "learner",
    [Strict(), make_pipeline(StandardScaler(), DecisionTreeClassifier())],
    ids=["strict", "pipeline"],
)
def test_a_class_may_be_missing_from_a_replicate(learner):
    """Three rows of class c, and only one of b: many replicates have not seen one or both."""
    rng = np.random.default_rng(0)
    y = np.array(["a"] * 20 + ["b"] + ["c"] * 3)
    X = rng.normal(size=(24, 2)) + (y == "c")[:, None] * 6
    result = bootstrap_bias_variance(learner, X, y, n_replicates=40, random_state=0)
    only_b = result.y == "b"
    assert result.loss[only_b] == 1.0  # no model that left it out knows of b
    assert result.bias[only_b] == 1.0
    assert result.loss[result.y == "a"].mean() < 0.2


def test_a_replicate_of_one_class_predicts_it():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 0, 0, 1])
    seen = predictions_of(Strict(), X, y, n_replicates=60)
    lone = np.array([5 not in member_rng(0, k).integers(6, size=6) for k in range(60)])
    assert lone.any()
    assert not lone.all()
    left = seen[lone]
    assert (left[~np.isnan(left)] == 0).all()


class Untouched(ClassifierMixin, BaseEstimator):
    """Fails the test when a row of weight 0 reaches it."""

    def fit(self, X, y):
        assert not (X == 99).any()
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        assert not (X == 99).any()
        return np.full(len(X), self.classes_[0])


def test_a_row_of_weight_zero_might_as_well_not_be_there():
    X, y = load_iris(return_X_y=True)
    weight = np.ones(150)
    weight[::10] = 0
    X[::10] = 99
    bootstrap_bias_variance(Untouched(), X, y, n_replicates=5, sample_weight=weight, random_state=0)
    tree, keep = DecisionTreeClassifier(), weight > 0
    weighted = predictions_of(tree, X, y, n_replicates=6, sample_weight=weight)
    dropped = predictions_of(tree, X[keep], y[keep], n_replicates=6, sample_weight=weight[keep])
    np.testing.assert_array_equal(weighted[:, keep], dropped)
    assert np.isnan(weighted[:, ~keep]).all()


def test_weights_are_chances_and_their_scale_is_nothing():
    X, y = make_friedman1(50, random_state=0)
    weight = np.ones(50)
    weight[0] = 25
    line = LinearRegression()
    heavy = predictions_of(line, X, y, n_replicates=100, sample_weight=weight)
    scaled = predictions_of(line, X, y, n_replicates=100, sample_weight=4 * weight)
    np.testing.assert_array_equal(heavy, scaled)
    assert np.isnan(heavy[:, 0]).all()  # drawn with chance 1/3 fifty times over
    light = (~np.isnan(heavy[:, 1:])).mean()
    assert light == pytest.approx((1 - 1 / 74) ** 50, abs=0.02)


def test_groups_are_left_out_together():
    X, y = make_friedman1(60, random_state=0)
    groups = np.repeat(list("abcdefghijkl"), 5)
    order = np.random.default_rng(0).permutation(60)
    seen = predictions_of(
        LinearRegression(), X[order], y[order], n_replicates=50, groups=groups[order]
    )
    out = ~np.isnan(seen)
    for group in np.unique(groups):
        members = out[:, groups[order] == group]
        assert (members == members[:, :1]).all()
    assert out.mean() == pytest.approx((1 - 1 / 12) ** 12, abs=0.05)


def test_the_estimator_is_left_as_it_was():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=3)
    before = clone(tree).get_params()
    bootstrap_bias_variance(tree, X, y, n_replicates=2, random_state=0)
    assert tree.get_params() == before
    assert not hasattr(tree, "tree_")


def test_squared_loss_of_a_classifier_of_numbers():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::8], y[::8]
    tree = DecisionTreeClassifier()
    votes = bootstrap_bias_variance(tree, X, y, n_replicates=20, random_state=0).overall
    numbers = bootstrap_bias_variance(
        tree, X, y, n_replicates=20, loss="squared", random_state=0
    ).overall
    for name in ("loss", "bias_squared", "variance"):  # of labels 0 and 1 they are the same
        assert numbers[name] == pytest.approx(votes[name], abs=1e-12)


class Stumbling(BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("out of luck")

    def predict(self, X):
        return np.zeros(len(X))


def test_an_error_names_its_replicate():
    with pytest.raises(RuntimeError, match="out of luck") as caught:
        bootstrap_bias_variance(Stumbling(), [[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0], random_state=0)
    assert "resample 0 of the rows for" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"X": np.empty((0, 2)), "y": []}, "X-EMPTY"),
        ({"y": [1.0, 2.0]}, "Y-LENGTH"),
        ({"y": None}, "Y-NONE"),
        ({"y": [1.0, np.nan, 3.0, 4.0]}, "Y-NAN"),
        ({"sample_weight": [1, 1, -1, 1]}, "W-NEGATIVE"),
        ({"sample_weight": [0, 0, 0, 0]}, "W-ZERO"),
        ({"groups": [1, 2]}, "P-VALUE"),
        ({"estimator": DecisionTreeRegressor}, "P-VALUE"),
        ({"estimator": "tree"}, "P-VALUE"),
        ({"loss": "hinge"}, "P-VALUE"),
        ({"loss": "zero_one"}, "P-VALUE"),
        ({"n_replicates": 0}, "P-VALUE"),
        ({"n_replicates": 2.5}, "P-VALUE"),
        ({"random_state": "seed"}, "P-VALUE"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else value,
)
def test_bad_input_is_named_before_any_fit(change, code):
    arguments = {
        "estimator": Stumbling() if change.get("loss") != "zero_one" else DecisionTreeRegressor(),
        "X": np.arange(4.0)[:, None],
        "y": [1.0, 2.0, 3.0, 4.0],
        **change,
    }
    with pytest.raises(ValueError, match=rf"\[{code}\]"):
        bootstrap_bias_variance(**arguments)


def test_labels_that_y_does_not_have_are_refused():
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(InputError, match="labels that y does not have"):
        bootstrap_bias_variance(
            KMeans(3), X, ["a", "b", "c"] * 10, loss="zero_one", n_replicates=2, random_state=0
        )


def test_one_model_from_all_rows_is_cross_validated():
    X, y = make_friedman1(45, random_state=0)
    line = LinearRegression()
    result = bootstrap_bias_variance(line, X, y, n_replicates=3, random_state=4)
    fold = member_rng(4, 1 << 31).permutation(45) % 10
    for k in range(10):
        test = fold == k
        said = clone(line).fit(X[~test], y[~test]).predict(X[test])
        np.testing.assert_allclose(result.single_loss[test], (said - y[test]) ** 2)
    assert "loss of one from all rows" in str(result)
    tree = bootstrap_bias_variance(
        DecisionTreeClassifier(), *load_iris(return_X_y=True), n_replicates=3, random_state=4
    )
    assert set(tree.single_loss) == {0.0, 1.0}
    assert tree.overall["single_loss"] < 0.1


def test_folds_keep_groups_and_drop_rows_of_weight_zero():
    """A group tells y and nothing else does: a fold that split it would be right by memory."""
    rng = np.random.default_rng(0)
    groups = np.arange(60) // 2
    X, y = groups[:, None].astype(float), rng.integers(0, 2, 30)[groups]
    weight = np.ones(60)
    weight[:4] = 0
    options = {"n_replicates": 2, "random_state": 0, "sample_weight": weight}
    nearest = KNeighborsClassifier(1)
    split = bootstrap_bias_variance(nearest, X, y, **options)
    whole = bootstrap_bias_variance(nearest, X, y, groups=groups, **options)
    assert np.isnan(split.single_loss[:4]).all()
    assert np.nanmean(split.single_loss) < 0.2 < np.nanmean(whole.single_loss)
    alone = bootstrap_bias_variance(nearest, X[:4], [0, 1, 0, 1], groups=[1] * 4, n_replicates=2)
    assert np.isnan(alone.single_loss).all()


def test_advice_on_real_learners():
    X, y = make_friedman1(200, noise=1.0, random_state=0)
    tree = bootstrap_bias_variance(DecisionTreeRegressor(), X, y, n_replicates=60, random_state=0)
    assert tree.advice.startswith("Bagging should pay: the mean of the replicates errs less")
    line = bootstrap_bias_variance(LinearRegression(), X, y, n_replicates=60, random_state=0)
    assert line.advice.startswith("Bagging should gain little")
    X, y = load_iris(return_X_y=True)  # a replicate is worse than its vote, a full model is not
    near = bootstrap_bias_variance(KNeighborsClassifier(1), X, y, n_replicates=60, random_state=0)
    assert near.overall["committee_loss"] < near.overall["loss"]
    assert near.advice == ""
