from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from committee import DecisionTreeClassifier, DecisionTreeRegressor, InputError, InputTypeError
from committee.theory.bias_variance import bootstrap_bias_variance
from committee.theory.resampling_error import (
    apparent_errors,
    bootstrap_error,
    combine,
    relative_overfitting,
)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[::4, :6], y[::4]


def test_no_information_rate_by_hand():
    # Labels 3/5 a, 2/5 b; predicted 4/5 a, 1/5 b: gamma = .6 * .2 + .4 * .8 = .44.
    y, said = np.array(list("aaabb")), np.array(list("aaaab"))
    assert apparent_errors(said, y, "zero_one") == pytest.approx((0.2, 0.44))


@given(st.integers(0, 2**32 - 1), st.sampled_from(["squared", "zero_one"]), st.booleans())
def test_no_information_error_is_the_mean_over_all_pairs(seed, loss, weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 20))
    if loss == "squared":
        y, said = rng.normal(5, 2, n), rng.normal(4, 3, n)
    else:
        y, said = rng.integers(0, 3, n), rng.integers(0, 4, n)
    weight = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    pairs = (y[:, None] - said) ** 2 if loss == "squared" else y[:, None] != said
    share = weight / weight.sum()
    apparent, gamma = apparent_errors(said, y, loss, weight if weighted else None)
    assert gamma == pytest.approx(share @ pairs @ share, abs=1e-12)
    assert apparent == pytest.approx(share @ np.diag(pairs), abs=1e-12)


def test_combinations_by_hand():
    # Efron & Tibshirani 1997: R = (.4 - .1) / (.5 - .1) = .75, w = .632 / (1 - .368 * .75) = .8729,
    # .632+ = (1 - w) .1 + w .4.
    weight = 0.632 / (1 - 0.368 * 0.75)
    assert relative_overfitting(0.1, 0.4, 0.5) == pytest.approx(0.75)
    assert combine(".632", 0.1, 0.4, 0.5) == pytest.approx(0.368 * 0.1 + 0.632 * 0.4)
    assert combine(".632+", 0.1, 0.4, 0.5) == pytest.approx((1 - weight) * 0.1 + weight * 0.4)
    assert combine("oob", 0.1, 0.4, 0.5) == 0.4
    assert combine("apparent", 0.1, 0.4, 0.5) == 0.1


def test_combinations_at_the_edges():
    # Nothing learnt by a learner that fits everything: .632 says .316, .632+ says .5.
    assert combine(".632", 0.0, 0.5, 0.5) == pytest.approx(0.316)
    assert combine(".632+", 0.0, 0.5, 0.5) == pytest.approx(0.5)
    # Out-of-bag above gamma: R' = 1 and equation 32 gives .632 * .6 + .368 * .5.
    assert relative_overfitting(0.0, 0.6, 0.5) == 1
    assert combine(".632+", 0.0, 0.6, 0.5) == pytest.approx(0.632 * 0.6 + 0.368 * 0.5)
    # No overfitting, or gamma below the apparent error: R' = 0, plain .632.
    for apparent, out_of_bag, gamma in ((0.3, 0.2, 0.5), (0.3, 0.4, 0.25), (0.3, 0.3, 0.3)):
        assert relative_overfitting(apparent, out_of_bag, gamma) == 0
        plain = combine(".632", apparent, out_of_bag, gamma)
        assert combine(".632+", apparent, out_of_bag, gamma) == plain


@given(*[st.floats(0, 1)] * 3)
def test_the_plus_lies_between_plain_and_out_of_bag(apparent, out_of_bag, gamma):
    plus = combine(".632+", apparent, out_of_bag, gamma)
    plain = combine(".632", apparent, out_of_bag, gamma)
    assert 0 <= relative_overfitting(apparent, out_of_bag, gamma) <= 1
    assert min(plain, out_of_bag) - 1e-12 <= plus <= max(plain, out_of_bag) + 1e-12


def test_parts_are_what_they_are_called(cancer):
    X, y = cancer
    tree = DecisionTreeClassifier(max_depth=3)
    result = bootstrap_error(tree, X, y, n_replicates=30, random_state=0)
    said = tree.fit(X, y).predict(X)
    assert result.apparent == pytest.approx((said != y).mean())
    ours = bootstrap_bias_variance(tree, X, y, n_replicates=30, random_state=0)
    assert result.out_of_bag == pytest.approx(ours.loss[ours.n_left_out > 0].mean())
    shares = y.mean(), said.mean()
    gamma = shares[0] * (1 - shares[1]) + (1 - shares[0]) * shares[1]
    assert result.no_information == pytest.approx(gamma)
    assert result.apparent < result.error < result.out_of_bag
    assert float(result) == result.error
    assert "out-of-bag" in str(result)


def test_methods_share_their_replicates(cancer):
    tree = DecisionTreeClassifier()
    found = {
        method: bootstrap_error(tree, *cancer, method=method, n_replicates=15, random_state=1)
        for method in (".632+", ".632", "oob", "apparent")
    }
    parts = found[".632+"]
    for method, result in found.items():
        assert result.error == combine(
            method, parts.apparent, parts.out_of_bag, parts.no_information
        )
    assert found["apparent"].error == 0
    assert found["apparent"].n_replicates == 0
    assert np.isnan(found["apparent"].out_of_bag)


def test_labels_without_information_cost_half():
    """What the plus is for: 1-NN on coin flips, where .632 is far too hopeful."""
    rng = np.random.default_rng(0)
    errors = {".632": [], ".632+": []}
    for k in range(6):
        X, y = rng.normal(size=(40, 5)), np.arange(40) % 2
        for method, found in errors.items():
            result = bootstrap_error(
                KNeighborsClassifier(1), X, y, method=method, n_replicates=20, random_state=k
            )
            found.append(result.error)
    assert np.mean(errors[".632"]) < 0.36
    assert np.mean(errors[".632+"]) == pytest.approx(0.5, abs=0.06)


def test_squared_loss_meets_the_error_on_new_rows():
    X_new, y_new = make_friedman1(2000, noise=1.0, random_state=1)
    found, true = [], []
    for k in range(12):
        X, y = make_friedman1(100, noise=1.0, random_state=10 + k)
        line = LinearRegression()
        found.append(float(bootstrap_error(line, X, y, n_replicates=20, random_state=k)))
        true.append(((line.fit(X, y).predict(X_new) - y_new) ** 2).mean())
    assert np.mean(found) == pytest.approx(np.mean(true), rel=0.1)


def test_same_bits_for_any_number_of_workers_and_container(cancer):
    X, y = cancer
    tree = DecisionTreeClassifier(max_features=2)
    one = bootstrap_error(tree, X, y, n_replicates=10, random_state=5)
    assert bootstrap_error(tree, X, y, n_replicates=10, random_state=5, n_jobs=2) == one
    assert bootstrap_error(tree, sparse.csr_array(X), y, n_replicates=10, random_state=5) == one


def test_weights_of_zero_drop_rows(cancer):
    X, y = cancer
    weight = np.ones(len(y))
    weight[::5] = 0
    keep = weight > 0
    tree = DecisionTreeClassifier()
    dropped = bootstrap_error(
        tree, X[keep], y[keep], n_replicates=10, random_state=5, sample_weight=weight[keep]
    )
    y[~keep] = 1 - y[~keep]
    assert dropped == bootstrap_error(
        tree, X, y, n_replicates=10, random_state=5, sample_weight=weight
    )


def test_bad_input_is_named(cancer):
    with pytest.raises(ValueError, match=r"\[P-VALUE\] method"):
        bootstrap_error(DecisionTreeClassifier(), *cancer, method=".7")
    with pytest.raises(InputError, match="Y-LENGTH"):
        bootstrap_error(DecisionTreeRegressor(), cancer[0], cancer[1][:-1])


def test_weights_reach_every_fit():
    """Weight k is the row k times; only the draws differ, by chance."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 1))
    weight = np.repeat([10.0, 1.0], 100)
    y = np.where(weight > 1, x[:, 0], -x[:, 0])
    error = partial(bootstrap_error, LinearRegression(), n_replicates=50, random_state=0)
    weighted = error(x, y, sample_weight=weight)
    copies = np.repeat(np.arange(200), weight.astype(int))
    repeated = error(x[copies], y[copies])
    assert weighted.apparent == pytest.approx(repeated.apparent)
    assert weighted.no_information == pytest.approx(repeated.no_information)
    assert weighted.error == pytest.approx(repeated.error, rel=0.1)


def test_weights_need_a_learner_that_takes_them():
    X = np.random.default_rng(0).normal(size=(20, 2))
    weight = np.arange(1.0, 21)
    with pytest.raises(InputTypeError, match=r"W-FIT.*KNeighborsRegressor"):
        bootstrap_error(KNeighborsRegressor(), X, X[:, 0], sample_weight=weight)
    bootstrap_error(KNeighborsRegressor(), X, X[:, 0], sample_weight=np.ones(20), n_replicates=2)
