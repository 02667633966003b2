"""2H: AdaBoost*'s numbers, its steps by a naive oracle, and the margin that it promises."""

import math

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from tests.ensembles.boosting.label_noise import right_or_wrong
from tests.ensembles.boosting.ten_points import X as TOY
from tests.ensembles.boosting.ten_points import y as TOY_Y
from tests.estimators import model_bits

from committee import AdaBoostStarClassifier, boosting_payoff, solve_game
from committee.data.errors import DataWarning
from committee.ensembles.boosting.adaboost_star import GUARANTEED, rounds_needed
from committee.ensembles.boosting.reweighting import PERFECT


def additive(seed, n=60, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(2)
    y = (X.sum(axis=1) + noise * rng.normal(size=n) > 0).astype(int)
    return X, y


@pytest.mark.parametrize(
    ("nu", "rounds", "margin"), [(0.2, 116, 0.3277), (0.1, 461, 0.3319), (0.05, 1843, 0.3330)]
)
def test_2h_toy_numbers(nu, rounds, margin):
    model = AdaBoostStarClassifier(nu=nu).fit(TOY, TOY_Y)
    assert len(model) == rounds
    assert model.stop_reason_ == GUARANTEED
    assert model.train_margins_.min() == pytest.approx(margin, abs=5e-5)
    assert model.train_margins_.min() >= 1 / 3 - nu
    certificate = model.certificate()
    assert certificate.holds
    assert certificate.verify(TOY, TOY_Y)


@pytest.mark.parametrize("weighted", [False, True])
def test_2h_steps_are_the_printed_ones(weighted):
    X, y = additive(0, noise=0.5)
    weight = np.random.default_rng(1).uniform(0.5, 3, len(y)) if weighted else np.ones(len(y))
    model = AdaBoostStarClassifier(n_estimators=30, nu=0.15).fit(X, y, weight)
    stages = list(model.staged_sample_weight(X, y, weight))
    D, least = weight / weight.sum(), 1.0
    for t, u in enumerate(right_or_wrong(model, X, y)):
        np.testing.assert_allclose(stages[t], D, rtol=1e-9)
        g = np.sum(D * u)
        least = min(least, g)
        rho = least - 0.15
        alpha = math.log((1 + g) / (1 - g)) / 2 - math.log((1 + rho) / (1 - rho)) / 2
        assert model.estimator_weights_[t] == pytest.approx(alpha, rel=1e-9)
        assert model.rounds_["rho"][t] == pytest.approx(rho, abs=1e-12)
        D = D * np.exp(-alpha * u)
        D /= D.sum()
    assert (model.estimator_weights_ > 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_reaches_the_largest_margin_less_nu(seed):
    X, y = additive(seed)
    largest = solve_game(boosting_payoff(X, y)).value
    assert largest > 0.02
    model = AdaBoostStarClassifier(nu=0.1, n_estimators=5000).fit(X, y)
    assert model.stop_reason_ == GUARANTEED
    assert len(model) == math.ceil(2 * math.log(60) / 0.01)
    assert largest - 0.1 <= model.train_margins_.min() <= largest + 1e-9
    assert (model.rounds_["edge"] >= largest - 1e-7).all()  # weights are rounded to 2^-31
    assert (np.diff(model.rounds_["least_edge"]) <= 0).all()


def test_noise_leaves_a_negative_aim_and_the_promise():
    X, y = additive(5, n=80, noise=1.0)
    largest = solve_game(boosting_payoff(X, y)).value
    model = AdaBoostStarClassifier(nu=0.2).fit(X, y)
    assert model.rounds_["rho"][-1] < 0
    assert model.train_margins_.min() >= largest - 0.2
    assert model.certificate().holds


def test_the_largest_nu_does_not_break_the_aim():
    model = AdaBoostStarClassifier(nu=1.0).fit(TOY, TOY_Y)
    assert np.isfinite(model.estimator_weights_).all()
    assert model.certificate().holds


def test_rounds_by_the_smallest_weight():
    assert rounds_needed(1 / 10, 0.1) == 461
    assert rounds_needed(1.0, 0.1) == 1
    weight = np.ones(10)
    weight[0] = 0.01
    model = AdaBoostStarClassifier(nu=0.3).fit(TOY, TOY_Y, weight)
    assert len(model) == math.ceil(2 * math.log(weight.sum() / 0.01) / 0.09)
    assert model.train_margins_.min() >= 1 / 3 - 0.3


def test_warm_start_gives_the_same_bits():
    X, y = additive(2)
    whole = AdaBoostStarClassifier(n_estimators=40).fit(X, y)
    model = AdaBoostStarClassifier(n_estimators=15, warm_start=True).fit(X, y)
    model.set_params(n_estimators=40).fit(X, y)
    assert model_bits(model) == model_bits(whole)
    np.testing.assert_array_equal(model.rounds_["rho"], whole.rounds_["rho"])


def test_a_perfect_member_decides_alone():
    with pytest.warns(DataWarning, match="whole committee"):
        model = AdaBoostStarClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    assert (len(model), model.stop_reason_) == (1, PERFECT)
    assert model.certificate().holds


def test_an_unlucky_draw_is_drawn_again():
    X, y = additive(6, noise=1.5)
    learner = KNeighborsClassifier(n_neighbors=15)
    model = AdaBoostStarClassifier(learner, nu=0.3, random_state=0, resample=True).fit(X, y)
    assert model.stop_reason_ == GUARANTEED
    assert model.questions_[-1] > len(model)  # some draws were of no use
    assert (model.rounds_["edge"] > 0).all()
    assert model.certificate().verify(X, y)
