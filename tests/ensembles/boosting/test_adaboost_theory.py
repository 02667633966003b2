"""R73 to R85 and R115: the theorems, on random problems and in every round."""

import warnings
from itertools import pairwise

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from tests.ensembles.boosting.ten_points import X as TOY
from tests.ensembles.boosting.ten_points import signs as TOY_SIGNS
from tests.ensembles.boosting.ten_points import y as TOY_Y
from tests.oracles.stumps import smallest_error

from committee import (
    AdaBoostClassifier,
    DataWarning,
    DecisionTreeClassifier,
    bootstrap_bias_variance,
)
from committee.core.margins import log_margin_bound


@st.composite
def problems(draw):
    seed = draw(st.integers(0, 2**20))
    n, p = draw(st.integers(12, 60)), draw(st.integers(1, 4))
    rng = np.random.default_rng(seed)
    X = rng.integers(0, draw(st.sampled_from([3, 10, 1000])), size=(n, p)).astype(float)
    y = (X.sum(axis=1) + rng.normal(scale=X.std() + 0.1, size=n) > X.sum(axis=1).mean()).astype(int)
    y[:2] = 0, 1
    weight = rng.integers(1, 5, size=n).astype(float) if draw(st.booleans()) else None
    return X, y, weight


def votes_of(model, X):
    """What each member says of each row, -1 or +1: [member, row]."""
    return np.array([2.0 * member.predict(X) - 1 for member in model.estimators_])


@hypothesis.given(problems(), st.integers(1, 25))
def test_r73_r75_r76_r81_r85_in_every_round(problem, rounds):
    X, y, weight = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # a perfect stump, or none
        model = AdaBoostClassifier(n_estimators=rounds).fit(X, y, weight)
    hypothesis.assume(model.rounds_ and np.isfinite(model.rounds_["alpha"]).all())
    signs, votes = 2.0 * y - 1, votes_of(model, X)
    start = np.ones(len(y)) if weight is None else weight
    start = start / start.sum()
    stages = list(model.staged_sample_weight(X, y, weight))
    alpha, error, z = (model.rounds_[name] for name in ("alpha", "error", "z"))
    F = np.cumsum(alpha[:, None] * votes, axis=0)
    for t in range(len(alpha)):
        wrong = votes[t] != signs
        assert error[t] == pytest.approx(stages[t][wrong].sum(), abs=1e-12)
        assert model.rounds_["edge"][t] == pytest.approx(  # R85
            np.sum(stages[t] * signs * votes[t]), abs=1e-12
        )
        loss = np.sum(start * np.exp(-signs * F[t]))
        assert loss == pytest.approx(np.prod(z[: t + 1]), rel=1e-10)  # R73, equality
        assert start[signs * F[t] <= 0].sum() <= loss + 1e-12  # R73, bound
        assert z[t] == pytest.approx(2 * np.sqrt(error[t] * (1 - error[t])), abs=1e-12)  # R76
        if t + 1 < len(stages):
            assert stages[t + 1][wrong].sum() == pytest.approx(1 / 2, abs=1e-12)  # R75
        margins = signs * F[t] / alpha[: t + 1].sum()
        for theta in (-0.5, 0.0, 0.1, 0.4):
            exact = np.prod(
                2 * np.sqrt(error[: t + 1] ** (1 - theta) * (1 - error[: t + 1]) ** (1 + theta))
            )
            bound = np.exp(log_margin_bound(theta, alpha[: t + 1], np.log(z[: t + 1])))
            assert bound == pytest.approx(exact, rel=1e-9)
            assert start[margins <= theta].sum() <= exact + 1e-12  # R81
    assert np.prod(z) <= np.exp(-2 * np.sum((1 / 2 - error) ** 2)) + 1e-12  # R76
    assert model.certificate().holds
    assert model.certificate().verify(X, y, weight)


def test_r74_alpha_minimises_z():
    grid = np.linspace(-3, 3, 60001)
    for right in (0.9, 0.7, 0.55):
        wrong = 1 - right
        z = wrong * np.exp(grid) + right * np.exp(-grid)
        assert grid[z.argmin()] == pytest.approx(np.log(right / wrong) / 2, abs=1e-4)


def test_r75_corollary_the_next_member_differs():
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=60).fit(X, y)
    votes = votes_of(model, X)
    for before, after in pairwise(votes):
        assert (before != after).any()
        assert (before != -after).any()


def test_r76_rounds_until_the_training_error_is_zero():
    """The smallest gamma on the toy is .2, so that 29 rounds are enough; 3 were needed."""
    model = AdaBoostClassifier(n_estimators=3).fit(TOY, TOY_Y)
    gamma = (1 / 2 - model.estimator_errors_).min()
    assert gamma == pytest.approx(0.2, abs=1e-12)
    assert np.ceil(np.log(10) / (2 * gamma**2)) == 29


def test_r77_the_exponential_loss_splits_into_misses():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n, a = 30, rng.normal()
        w, y, h = rng.random(n), rng.choice([-1.0, 1.0], n), rng.choice([-1.0, 1.0], n)
        miss = y != h
        np.testing.assert_allclose(y * h, 1 - 2 * miss, atol=0)
        loss = np.sum(w * np.exp(-a / 2 * y * h))
        split = (np.exp(a / 2) - np.exp(-a / 2)) * np.sum(w * miss) + np.exp(-a / 2) * np.sum(w)
        assert loss == pytest.approx(split, rel=1e-12)
        after = w * np.exp(-a / 2 * y * h)
        np.testing.assert_allclose(after, np.exp(-a / 2) * w * np.exp(a * miss), rtol=1e-12)


def test_r78_half_the_log_odds():
    """On a finite domain with a stump for every cell F becomes 1/2 ln(p / (1 - p))."""
    shares = {0.0: (3, 1), 1.0: (1, 4), 2.0: (5, 2)}
    X = np.concatenate([np.full(a + b, x) for x, (a, b) in shares.items()])[:, None]
    y = np.concatenate([[1] * a + [0] * b for a, b in shares.values()])
    model = AdaBoostClassifier(n_estimators=3000).fit(X, y)
    F = model.decision_function([[x] for x in shares])
    exact = [np.log(a / b) / 2 for a, b in shares.values()]
    np.testing.assert_allclose(F, exact, atol=1e-6)
    shown = model.predict_proba([[x] for x in shares])[:, 1]
    np.testing.assert_allclose(shown, [a / (a + b) for a, b in shares.values()], atol=1e-6)
    np.testing.assert_allclose(shown, 1 / (1 + np.exp(-2 * F)), rtol=1e-12)


def test_r79_margins_say_who_is_right_and_how_sure():
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    certificate = model.certificate()
    margins, weights = certificate.margins, model.estimator_weights_
    assert (np.abs(margins) <= 1).all()
    assert ((margins > 0) == (model.predict(X) == y)).all()
    by_hand = (2 * y - 1) * np.sum(weights[:, None] * votes_of(model, X), axis=0) / weights.sum()
    np.testing.assert_allclose(margins, by_hand, atol=1e-12)
    theta = np.linspace(-1, 1, 9)
    share = [np.mean(margins <= t) for t in theta]
    np.testing.assert_allclose(certificate.margin_distribution(theta), share, atol=1e-12)


def test_r81_base_and_its_limit():
    g = 0.2
    limit = -np.log(1 - 4 * g**2) / np.log((1 + 2 * g) / (1 - 2 * g))
    assert limit == pytest.approx(0.2058, abs=1e-4)
    for theta, below in ((0.0, True), (0.19, True), (limit - 1e-6, True), (limit + 1e-6, False)):
        base = np.sqrt((1 - 2 * g) ** (1 - theta) * (1 + 2 * g) ** (1 + theta))
        assert bool(base < 1) is below


def test_r84_boosting_lowers_the_bias_of_stumps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=300) > 0).astype(int)
    settings = {"n_replicates": 40, "random_state": 0}
    stump = bootstrap_bias_variance(DecisionTreeClassifier(max_depth=1), X, y, **settings)
    boosted = bootstrap_bias_variance(AdaBoostClassifier(n_estimators=50), X, y, **settings)
    assert boosted.bias.mean() < stump.bias.mean() - 0.02


def test_r115_the_edge_is_the_largest_there_is():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3)).round(1)
    y = (X.sum(axis=1) + rng.normal(size=80) > 0).astype(int)
    model = AdaBoostClassifier(n_estimators=30).fit(X, y)
    stages = list(model.staged_sample_weight(X, y))
    for d, error in zip(stages, model.estimator_errors_, strict=False):
        assert error <= smallest_error(X, y, d) + 1e-7  # weights are rounded to 2^-31 of all


def test_r91_averaged_weights_and_votes_approach_the_value_of_the_game():
    model = AdaBoostClassifier(n_estimators=2000).fit(TOY, TOY_Y)
    from tests.ensembles.boosting.ten_points import all_stumps

    averaged = np.mean(list(model.staged_sample_weight(TOY, TOY_Y))[:-1], axis=0)
    largest = (all_stumps() @ (averaged * TOY_SIGNS)).max()
    smallest = model.certificate().margins.min()
    assert smallest <= 1 / 3 <= largest
    assert largest - smallest < 0.01
