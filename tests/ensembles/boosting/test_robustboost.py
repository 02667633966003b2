"""2L: RobustBoost's schedule, its two equations in every round, its goals, and noise."""

import dataclasses

import numpy as np
import pytest
from scipy import optimize, special
from tests.ensembles.boosting.label_noise import five_of_twenty, right_or_wrong, signs_problem
from tests.ensembles.boosting.ten_points import X as TOY
from tests.ensembles.boosting.ten_points import y as TOY_Y

from committee.core.params import check_params
from committee.ensembles.boosting import robust_step
from committee.ensembles.boosting.adaboost import AdaBoostClassifier
from committee.ensembles.boosting.robust_step import RobustStep, Schedule
from committee.ensembles.boosting.robustboost import GOAL_MET, TIME_UP, RobustBoostClassifier


def mu_sigma(error, theta, sigma_f, t):
    """The formulas as printed."""
    sigma = np.sqrt((sigma_f**2 + 1) * np.exp(2 * (1 - t)) - 1)
    sigma_0 = np.sqrt((sigma_f**2 + 1) * np.exp(2) - 1)
    rho = (sigma_0 * special.erfinv(1 - error) + np.e * theta) / (2 * (np.e - 1))
    return (theta - 2 * rho) * np.exp(1 - t) + 2 * rho, sigma


def mean_potential(m, t, goals, start):
    mu, sigma = mu_sigma(*goals, t)
    return np.sum(start * np.minimum(1, 1 - special.erf((m - mu) / sigma)))


def balance(m, u, t, goals, start):
    mu, sigma = mu_sigma(*goals, t)
    w = np.where(m > mu, start * np.exp(-(((m - mu) / sigma) ** 2)), 0.0)
    return np.sum(w * u) / np.sum(w)


def test_2l_schedule():
    schedule = Schedule(0.1, 0.0, 0.1)
    assert schedule.rho == pytest.approx(0.860405, abs=5e-7)
    assert schedule.centre(0.0) == pytest.approx(-2.956838, abs=5e-7)
    assert schedule.width(0.0) == pytest.approx(2.542233, abs=5e-7)
    assert schedule.potential(np.zeros(1), 0.0)[0] == pytest.approx(0.1, abs=1e-15)


@pytest.mark.parametrize("goals", [(0.1, 0.0, 0.1), (0.01, 0.3, 0.5), (0.4, 1.0, 0.01)])
def test_schedule_is_the_printed_one(goals):
    schedule = Schedule(*goals)
    for t in (0.0, 0.2, 0.9, 1.0):
        mu, sigma = mu_sigma(*goals, t)
        assert schedule.centre(t) == pytest.approx(mu, abs=1e-13)
        assert schedule.width(t) == pytest.approx(sigma, rel=1e-12)
    assert (schedule.centre(1.0), schedule.width(1.0)) == goals[1:]
    m = np.linspace(-4, 4, 81)
    z = (m - schedule.centre(0.5)) / schedule.width(0.5)
    np.testing.assert_allclose(
        schedule.potential(m, 0.5), np.minimum(1, 1 - special.erf(z)), atol=1e-15
    )
    np.testing.assert_allclose(
        np.exp(schedule.log_weight(m, 0.5)), np.where(z > 0, np.exp(-(z**2)), 0)
    )


def test_slopes_are_derivatives():
    rng = np.random.default_rng(5)
    u = rng.choice([-1.0, 1.0], 30)
    step = RobustStep(Schedule(0.1, 0.1, 0.2), rng.normal(size=30), u, np.full(30, 1 / 30), 0.3)
    h, at = 1e-6, step.slopes(0.3, 0.2)
    more, less = step.slopes(0.3 + h, 0.2), step.slopes(0.3 - h, 0.2)
    later, sooner = step.slopes(0.3, 0.2 + h), step.slopes(0.3, 0.2 - h)
    assert at.by_vote == pytest.approx((more.excess - less.excess) / (2 * h), rel=1e-6)
    assert at.by_time == pytest.approx((later.excess - sooner.excess) / (2 * h), rel=1e-6)
    assert at.edge_by_vote == pytest.approx((more.edge - less.edge) / (2 * h), rel=1e-6)
    assert at.edge_by_time == pytest.approx((later.edge - sooner.edge) / (2 * h), rel=1e-6)


def check_rounds(model, X, y, weight=None):
    """Hold every round against the printed equations, solved by SciPy from the members' answers."""
    goals = model.target_error, model.target_margin, model.sigma_final
    start = np.full(len(y), 1 / len(y)) if weight is None else weight / weight.sum()
    m, t, interior = np.zeros(len(y)), 0.0, 0
    for u, ds, then in zip(
        right_or_wrong(model, X, y), model.rounds_["alpha"], model.rounds_["time"], strict=True
    ):
        dt, before = then - t, m
        m = before * np.exp(-dt) + ds * u
        potential = mean_potential(m, then, goals, start)
        if then < 1:
            interior += 1
            assert potential == pytest.approx(goals[0], abs=1e-11)
            assert abs(balance(m, u, then, goals, start)) < 1e-9

            def both(x, at=t, old=before, vote=u):
                new = old * np.exp(-x[1]) + x[0] * vote
                time = at + x[1]
                gap = mean_potential(new, time, goals, start) - goals[0]
                return gap, balance(new, vote, time, goals, start)

            found = optimize.root(both, [ds * 1.0005, dt * 0.9995], tol=1e-13)
            np.testing.assert_allclose(found.x, [ds, dt], rtol=1e-6, atol=1e-9)
        else:
            assert potential <= goals[0] + 1e-11

            def at_end(vote, old=before, passed=dt, says=u):
                return mean_potential(old * np.exp(-passed) + vote * says, 1.0, goals, start)

            if at_end(0.0) > goals[0]:
                assert potential == pytest.approx(goals[0], abs=1e-9)
            else:  # the vote that lowers it most, of those near it
                assert potential <= min(at_end(ds * 0.98), at_end(ds * 1.02))
        t = then
    assert m == pytest.approx(model.decision_function(X) * np.where(y == model.classes_[1], 1, -1))
    return interior


def test_2l_toy_rounds_solve_the_equations():
    model = RobustBoostClassifier().fit(TOY, TOY_Y)
    assert check_rounds(model, TOY, TOY_Y) == 3
    assert model.stop_reason_ == TIME_UP
    assert model.rounds_["time"][-1] == 1
    assert model.score(TOY, TOY_Y) == 1


@pytest.mark.parametrize(
    "goals", [(0.05, 0.0, 0.1), (0.1, 0.0, 0.1), (0.15, 0.2, 0.1), (0.3, 0.0, 0.5)]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_2l_noisy_rounds_solve_the_equations(goals, weighted):
    X, y, *_ = signs_problem(4, n=200)
    weight = np.random.default_rng(0).uniform(0.1, 5, len(y)) if weighted else None
    error, margin, sigma = goals
    model = RobustBoostClassifier(
        n_estimators=40, target_error=error, target_margin=margin, sigma_final=sigma
    ).fit(X, y, weight)
    assert check_rounds(model, X, y, weight) >= 4
    assert model.certificate().holds
    assert model.certificate().verify(X, y, weight)


@pytest.mark.parametrize("seed", range(10))
def test_bracketing_gives_a_step_where_newton_does_not(seed):
    rng = np.random.default_rng(seed)
    schedule, n = Schedule(0.1, 0.0, 0.1), 60
    u = np.where(rng.random(n) < 0.65, 1.0, -1.0)
    step = RobustStep(schedule, np.zeros(n), u, np.full(n, 1 / n), 0.0)
    newton = step.solve([(0.3, 0.1)])
    ds, dt = step.solve([])
    assert (ds, dt) == pytest.approx(newton, abs=1e-6)
    assert step.slopes(ds, dt).excess == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_the_short_way_where_only_right_rows_are_in_play_gives_the_same_bits(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n = 40
    wrong = rng.random(n) < rng.choice([0.0, 0.1, 0.3])
    # Rows that are wrong are given up, or so far ahead that they weigh nothing as yet.
    m = rng.normal(size=n) + np.where(wrong, rng.uniform(-4, 0) if seed % 2 else 25.0, 0.0)
    schedule = Schedule(rng.uniform(0.02, 0.3), 0.0, rng.uniform(0.1, 1.0))
    t = rng.uniform(0, 0.9)
    step = RobustStep(schedule, m, np.where(wrong, -1.0, 1.0), np.full(n, 1 / n), t)
    times = np.linspace(0, 1 - t, 7)
    short = [step._lowest(dt) for dt in times]
    monkeypatch.setattr(robust_step, "ALL", 2.0)  # no edge is above it: every stride is made
    assert [step._lowest(dt) for dt in times] == short


def test_old_members_shrink():
    X, y, *_ = signs_problem(4)
    model = RobustBoostClassifier(n_estimators=10).fit(X, y)
    time = model.rounds_["time"]
    expected = model.rounds_["alpha"] * np.exp(time - time[-1])
    np.testing.assert_allclose(model.estimator_weights_, expected, rtol=1e-12)


def test_goals_are_met_at_the_end():
    X, y, *_ = signs_problem(5)
    for margin in (0.0, 0.2):
        model = RobustBoostClassifier(n_estimators=500, target_margin=margin).fit(X, y)
        assert model.stop_reason_ in (TIME_UP, GOAL_MET)
        ahead = model.decision_function(X) * y
        if model.rounds_["time"][-1] == 1:
            assert np.mean(ahead <= margin) <= 0.1
            assert model.certificate().claims[-1].bound == pytest.approx(0.1, rel=1e-12)
        assert model.certificate().holds


def test_certificate_before_the_end():
    X, y, *_ = signs_problem(5)
    certificate = RobustBoostClassifier(n_estimators=8, target_error=0.05).fit(X, y).certificate()
    assert certificate.rounds["time"][-1] < 1
    _, lost, behind = certificate.claims
    assert lost.bound == 0.05
    assert behind.bound > 0.05
    assert certificate.holds
    assert certificate.verify(X, y)
    rounds = {**certificate.rounds, "alpha": certificate.rounds["alpha"] + 1e-6}
    assert not dataclasses.replace(certificate, rounds=rounds).verify(X, y)
    assert not dataclasses.replace(certificate, weights=certificate.weights[::-1]).verify(X, y)


def test_2l_robustboost_beats_adaboost_on_its_test_bed():
    for seed in range(3):
        X, y, X_test, y_test = five_of_twenty(seed)
        ada = AdaBoostClassifier(n_estimators=300).fit(X, y)
        model = RobustBoostClassifier(n_estimators=300, target_error=0.15).fit(X, y)
        error, other = 1 - model.score(X_test, y_test), 1 - ada.score(X_test, y_test)
        assert error < 0.08
        assert error < other - 0.03


def test_r93_robustboost_beats_adaboost_after_1000_rounds_with_flipped_labels():
    robust, ada = [], []
    for seed in range(6):
        X, y, X_test, y_test, _ = signs_problem(seed)
        robust.append(1 - RobustBoostClassifier(n_estimators=1000).fit(X, y).score(X_test, y_test))
        ada.append(1 - AdaBoostClassifier(n_estimators=1000).fit(X, y).score(X_test, y_test))
    assert np.mean(robust) < 0.12 < np.mean(ada)


def test_r71_rows_far_behind_weigh_nothing():
    X, y, _, _, flipped = signs_problem(0)
    model = RobustBoostClassifier(n_estimators=500).fit(X, y)
    last = list(model.staged_sample_weight(X, y))[-1]
    given_up = last == 0
    assert given_up.any()
    assert flipped[given_up].mean() > 5 * flipped.mean()


@pytest.mark.parametrize(
    "wrong",
    [{"target_error": 0.0}, {"target_error": 1.0}, {"target_margin": -0.1}, {"sigma_final": 0.0}],
)
def test_parameters_are_checked(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        check_params(RobustBoostClassifier(**wrong))
