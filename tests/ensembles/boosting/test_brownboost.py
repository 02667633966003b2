"""2K: BrownBoost's numbers, its differential equation, its invariant and what follows from it."""

import dataclasses

import numpy as np
import pytest
from scipy import special
from scipy.integrate import solve_ivp
from tests.ensembles.boosting.label_noise import right_or_wrong, signs_problem
from tests.ensembles.boosting.ten_points import X as TOY
from tests.ensembles.boosting.ten_points import y as TOY_Y

from committee.core.params import check_params
from committee.ensembles.boosting.adaboost import AdaBoostClassifier
from committee.ensembles.boosting.brownboost import TIME_UP, BrownBoostClassifier
from committee.ensembles.boosting.potential import BrownianStep, crossing


def integrate(ahead, u, start, c, left, tolerance):
    """Follow dt / dalpha = sum w u / sum w by Runge and Kutta, until edge or time are used up."""

    def edge(alpha, t):
        w = start * np.exp(-((ahead + alpha * u - t[0]) ** 2) / c)
        return np.sum(w * u) / np.sum(w)

    def spent(alpha, t):
        return edge(alpha, t) - tolerance

    def up(alpha, t):
        return t[0] - left

    spent.terminal = up.terminal = True
    path = solve_ivp(
        lambda alpha, t: [edge(alpha, t)],
        (0, 50),
        [0.0],
        events=[spent, up],
        rtol=1e-12,
        atol=1e-13,
        max_step=0.05,
    )
    assert path.status == 1
    return path.t[-1], path.y[0, -1]


def follow(model, X, y, weight=None):
    """Take every round again with the members' answers; yield alpha and time left, each twice."""
    start = np.full(len(y), 1 / len(y)) if weight is None else weight / weight.sum()
    c = special.erfinv(1 - model.target_error) ** 2
    r, s = np.zeros(len(y)), c
    for u, alpha, left in zip(
        right_or_wrong(model, X, y), model.rounds_["alpha"], model.rounds_["time_left"], strict=True
    ):
        expected, t = integrate(r + s, u, start, c, s, model.edge_tolerance)
        yield alpha, expected, left, s - t
        r, s = r + alpha * u, left
        potential = np.sum(start * (1 - special.erf((r + s) / np.sqrt(c))))
        assert potential == pytest.approx(model.target_error, abs=1e-12)


def test_2k_toy_numbers():
    model = BrownBoostClassifier(n_estimators=20, target_error=0.1).fit(TOY, TOY_Y)
    assert model.clock_ == pytest.approx(1.352772, abs=5e-7)
    published = [0.2191, 0.3309, 0.4720, 0.3768, 0.3934]  # of a coarser solver of the equation
    np.testing.assert_allclose(model.estimator_weights_[:5], published, atol=2.5e-4)
    exact = [0.21908496, 0.33088046, 0.47189045, 0.37668633, 0.39320847]  # oneDAL, 1e-8
    np.testing.assert_allclose(model.estimator_weights_[:5], exact, atol=2e-8)
    assert model.stop_reason_ == TIME_UP
    assert model.rounds_["time_left"][-1] == 0
    assert model.score(TOY, TOY_Y) == 1


@pytest.mark.parametrize("tolerance", [0.0, 0.01, 0.2])
def test_2k_toy_is_the_solution_of_the_equation(tolerance):
    model = BrownBoostClassifier(n_estimators=20, edge_tolerance=tolerance).fit(TOY, TOY_Y)
    for alpha, expected, left, expected_left in follow(model, TOY, TOY_Y):
        assert alpha == pytest.approx(expected, abs=1e-8)
        assert left == pytest.approx(expected_left, abs=1e-8)


@pytest.mark.parametrize("target", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_2k_noisy_rounds_are_solutions_of_the_equation(target, weighted):
    X, y, *_ = signs_problem(3, n=120)
    weight = np.random.default_rng(0).uniform(0.1, 5, len(y)) if weighted else None
    model = BrownBoostClassifier(n_estimators=12, target_error=target).fit(X, y, weight)
    for alpha, expected, left, expected_left in follow(model, X, y, weight):
        assert alpha == pytest.approx(expected, abs=1e-7)
        assert left == pytest.approx(expected_left, abs=1e-7)


@pytest.mark.parametrize("seed", range(20))
def test_bracketing_finds_what_newton_finds(seed):
    rng = np.random.default_rng(seed)
    n, c = 50, special.erfcinv(0.1) ** 2
    ahead, u = rng.normal(0.5, 1.0, n), np.where(rng.random(n) < 0.7, 1.0, -1.0)
    start = rng.dirichlet(np.ones(n))
    potential = float(np.sum(start * special.erfc(ahead / np.sqrt(c))))
    step = BrownianStep(ahead, u, start, np.sqrt(c), potential)
    if step.slopes(0.0, 0.0).edge <= 0:
        step = BrownianStep(ahead, -u, start, np.sqrt(c), potential)
    for left in (0.01, 0.1, 10.0):
        alpha, t = step.solve(left, 0.0)
        again, at = step._march(step.width / 4, left, 0.0)
        assert (alpha, t) == pytest.approx((again, at), abs=1e-9)
        assert (alpha, t) == pytest.approx(integrate(ahead, step.u, start, c, left, 0.0), abs=1e-7)
        assert abs(step.slopes(alpha, t).excess) < 1e-13


def test_slopes_are_derivatives():
    rng = np.random.default_rng(5)
    step = BrownianStep(
        rng.normal(size=30), rng.choice([-1.0, 1.0], 30), rng.dirichlet(np.ones(30)), 1.1, 0.3
    )
    h, at = 1e-6, step.slopes(0.3, 0.2)
    more, less = step.slopes(0.3 + h, 0.2), step.slopes(0.3 - h, 0.2)
    later, sooner = step.slopes(0.3, 0.2 + h), step.slopes(0.3, 0.2 - h)
    assert at.by_vote == pytest.approx((more.excess - less.excess) / (2 * h), rel=1e-6)
    assert at.by_time == pytest.approx((later.excess - sooner.excess) / (2 * h), rel=1e-6)
    assert at.edge_by_vote == pytest.approx((more.edge - less.edge) / (2 * h), rel=1e-6)
    assert at.edge_by_time == pytest.approx((later.edge - sooner.edge) / (2 * h), rel=1e-6)


@pytest.mark.parametrize("power", [1, 3, 9])
def test_crossing_survives_flat_and_steep_curves(power):
    def curve(x):
        return (x - 0.3) ** power, power * (x - 0.3) ** (power - 1)

    assert crossing(curve, -1.0, 2.0) == pytest.approx(0.3, abs=1e-9 if power == 1 else 1e-3)
    assert crossing(lambda x: (np.arctan(50 * (x - 0.3)), 0.0), 0.0, 1.0) == pytest.approx(0.3)


def test_certificate_while_time_is_left_and_when_it_is_up():
    X, y, *_ = signs_problem(1)
    short = BrownBoostClassifier(n_estimators=10).fit(X, y).certificate()
    assert short.rounds["time_left"][-1] > 0
    assert short.holds
    potential, lost, error = short.claims
    assert potential.relation == "="
    assert lost.bound == 0.1
    assert error.bound > 0.1  # the target is not promised yet
    done = BrownBoostClassifier(n_estimators=1000).fit(X, y).certificate()
    assert done.stop_reason == TIME_UP
    assert done.claims[-1].bound == 0.1
    assert done.training_error <= 0.1
    assert done.holds
    assert done.verify(X, y)


def test_tampering_is_found():
    X, y, *_ = signs_problem(1)
    model = BrownBoostClassifier(n_estimators=10).fit(X, y)
    certificate = model.certificate()
    assert certificate.verify(X, y)
    rounds = {**certificate.rounds, "time_left": certificate.rounds["time_left"] * 0.9}
    assert not dataclasses.replace(certificate, rounds=rounds).verify(X, y)
    assert not dataclasses.replace(certificate, weights=certificate.weights * 1.001).verify(X, y)
    other = y.copy()
    other[0] = -other[0]
    assert not certificate.verify(X, other)


def test_probabilities_are_those_of_the_error_function():
    X, y, X_test, _, _ = signs_problem(2)
    model = BrownBoostClassifier(n_estimators=30).fit(X, y)
    F = model.decision_function(X_test)
    expected = (1 + special.erf(F / np.sqrt(model.clock_))) / 2
    np.testing.assert_allclose(model.predict_proba(X_test)[:, 1], expected, atol=1e-14)
    model.set_params(target_error=0.4)  # a parameter, no part of the fit
    np.testing.assert_allclose(model.predict_proba(X_test)[:, 1], expected, atol=1e-14)
    three = np.digitize(X.sum(axis=1), [-1, 1])
    several = BrownBoostClassifier(n_estimators=20).fit(X, three)
    shares = several.predict_proba(X_test)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (several.classes_[shares.argmax(axis=1)] == several.predict(X_test)).all()
    assert several.score(X, three) > 0.8


def test_r71_a_row_that_is_lost_is_given_up():
    X, y, _, _, flipped = signs_problem(0)
    weights = {}
    for kind in (AdaBoostClassifier, BrownBoostClassifier):
        model = kind(n_estimators=150).fit(X, y)
        weights[kind] = np.array(list(model.staged_sample_weight(X, y)))[:, flipped]
    brown, ada = weights[BrownBoostClassifier], weights[AdaBoostClassifier]
    assert brown[-1].sum() < ada[-1].sum()
    worst = ada[-1].argmax()
    assert brown[-1, worst] < brown[:, worst].max() / 2  # it rose, then fell again
    assert ada[-1, worst] > 3 * brown[-1, worst]


def test_r93_brownboost_beats_adaboost_after_1000_rounds_with_flipped_labels():
    errors = {AdaBoostClassifier: [], BrownBoostClassifier: []}
    for seed in range(6):
        X, y, X_test, y_test, _ = signs_problem(seed)
        for kind, found in errors.items():
            found.append(1 - kind(n_estimators=1000).fit(X, y).score(X_test, y_test))
    ada, brown = (np.mean(found) for found in errors.values())
    assert ada == pytest.approx(0.163, abs=0.02)
    assert brown < 0.12
    assert all(b < a for a, b in zip(*errors.values(), strict=True))


@pytest.mark.parametrize(
    "wrong", [{"target_error": 0.0}, {"target_error": 1.0}, {"edge_tolerance": -0.1}]
)
def test_parameters_are_checked(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        check_params(BrownBoostClassifier(**wrong))
