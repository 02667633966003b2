"""R81 to R83 and R92: what margins promise. R81 in every round is tested with AdaBoost."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from tests.ensembles.boosting.ten_points import X as TOY
from tests.ensembles.boosting.ten_points import all_stumps
from tests.ensembles.boosting.ten_points import signs as TOY_SIGNS
from tests.ensembles.boosting.ten_points import y as TOY_Y

from committee import (
    AdaBoostClassifier,
    InputError,
    compare_norms,
    margin_bound,
    margin_limit,
    margin_terms,
)


def base(gamma, theta):
    return np.sqrt((1 - 2 * gamma) ** (1 - theta) * (1 + 2 * gamma) ** (1 + theta))


def test_r81_the_bound_is_the_printed_product():
    rng = np.random.default_rng(0)
    errors, theta = rng.uniform(0.05, 0.5, 30), np.linspace(-1, 1, 9)
    printed = [
        np.prod([2 * np.sqrt(e ** (1 - th) * (1 - e) ** (1 + th)) for e in errors]) for th in theta
    ]
    np.testing.assert_allclose(margin_bound(errors, theta), printed, rtol=1e-12)
    assert margin_bound([0.3, 3 / 14, 3 / 22], 0.0) == pytest.approx(0.516230, abs=5e-7)  # R3
    assert margin_bound([], 0.5) == 1


@pytest.mark.parametrize("gamma", [1e-6, 0.01, 0.1, 0.2, 0.4, 0.4999])
def test_r81_the_limit_is_where_the_base_is_one(gamma):
    limit = margin_limit(gamma)
    assert gamma < limit <= 2 * gamma
    if 0.01 <= gamma <= 0.4:
        root = brentq(lambda th: np.log(base(gamma, th)), -1, 1, xtol=1e-14)
        assert limit == pytest.approx(root, abs=1e-10)


def test_r81_the_limit_of_a_fifth():
    assert margin_limit(0.2) == pytest.approx(0.2058, abs=5e-5)


def test_r82_both_terms():
    model = AdaBoostClassifier(n_estimators=40).fit(TOY, TOY_Y)
    margins = model.certificate().margins
    for theta in (0.1, 0.25, 0.5):
        terms = margin_terms(margins, theta, dimension=3)
        assert terms.share == pytest.approx(np.mean(margins <= theta), abs=1e-12)
    d, m, delta, theta = 3, 10, 0.1, 0.25
    printed = np.sqrt((d * np.log(m / d) ** 2 / theta**2 + np.log(1 / delta)) / m)
    found = margin_terms(margins, theta, dimension=d, delta=delta)
    assert found.complexity == pytest.approx(printed, rel=1e-12)


def test_r82_weights_count_in_the_share():
    weight = np.array([1, 0, 3])
    terms = margin_terms([0.1, 0.2, 0.4], 0.3, dimension=1, sample_weight=weight)
    assert terms.share == pytest.approx(0.25)


def test_r82_the_second_term_falls_like_one_over_theta_root_m():
    def complexity(m, theta):
        return margin_terms(np.zeros(m), theta, dimension=2, delta=0.9).complexity

    assert complexity(10_000, 0.01) / complexity(10_000, 0.02) == pytest.approx(2, rel=1e-3)
    small, large = 10_000, 1_000_000
    logs = np.log(large / 2) / np.log(small / 2)
    ratio = complexity(small, 0.01) / complexity(large, 0.01)
    assert ratio == pytest.approx(10 / logs, rel=1e-3)


def test_r83_margins_below_the_advantage_decay_exponentially():
    model = AdaBoostClassifier(n_estimators=60).fit(TOY, TOY_Y)
    errors = model.estimator_errors_
    gamma = 0.5 - errors.max()
    theta = gamma - 1e-6  # every error is below 1/2 - theta
    factor = base(gamma, theta)
    assert factor < 1
    bounds = [float(margin_bound(errors[:t], theta)) for t in range(1, 61)]
    assert (bounds <= factor ** np.arange(1, 61) * (1 + 1e-9)).all()
    assert bounds[-1] < 0.1  # below 1 / m: no row is left
    assert model.certificate().margins.min() > theta


@pytest.fixture(scope="module")
def nineteen():
    distinct = np.unique([said * said[0] for said in all_stumps()], axis=0)
    assert distinct.shape == (19, 10)
    return compare_norms((distinct * TOY_SIGNS).T)


def test_r92_norms_on_the_toy(nineteen):
    boosting, machine = nineteen.boosting, nineteen.machine
    assert nineteen.l1_margin(boosting) == pytest.approx(1 / 3, abs=1e-12)
    assert np.count_nonzero(np.abs(boosting) > 1e-9) == 3
    assert nineteen.l2_margin(boosting) == pytest.approx(0.1325, abs=5e-5)
    assert np.count_nonzero(np.abs(machine) > 1e-9) == 19
    assert nineteen.l2_margin(machine) == pytest.approx(0.1915, abs=5e-5)
    assert nineteen.l1_margin(machine) == pytest.approx(0.2314, abs=5e-5)


def test_r92_the_quadratic_program_by_another_solver(nineteen):
    payoff = nineteen.payoff
    found = minimize(
        lambda a: a @ a / 2,
        nineteen.boosting * 3,
        jac=lambda a: a,
        constraints={"type": "ineq", "fun": lambda a: payoff @ a - 1, "jac": lambda a: payoff},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    margin = 1 / (np.linalg.norm(found.x) * np.sqrt(19))
    assert nineteen.l2_margin(nineteen.machine) == pytest.approx(margin, abs=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_r92_either_vote_is_best_by_its_own_norm(seed):
    rng = np.random.default_rng(seed)
    payoff = rng.choice([-1.0, 1.0], (8, 20))
    found = compare_norms(payoff)
    for _ in range(200):
        other = rng.normal(size=20) * rng.choice([0, 1], 20)
        other = other if other.any() else np.ones(20)
        assert found.l1_margin(other) <= found.l1_margin(found.boosting) + 1e-9
        assert found.l2_margin(other) <= found.l2_margin(found.machine) + 1e-9
    assert found.l1_margin(found.machine) <= found.l1_margin(found.boosting) + 1e-9
    assert found.l2_margin(found.boosting) <= found.l2_margin(found.machine) + 1e-9


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: margin_bound([0.0], 0.1), "errors"),
        (lambda: margin_bound([0.6], 0.1), "errors"),
        (lambda: margin_bound([0.3], 1.1), "theta"),
        (lambda: margin_limit(0.5), "gamma"),
        (lambda: margin_terms([], 0.1, dimension=1), "margins"),
        (lambda: margin_terms([0.1, 0.2], 0.0, dimension=1), "theta"),
        (lambda: margin_terms([0.1, 0.2], 0.1, dimension=3), "dimension"),
        (lambda: margin_terms([0.1, 0.2], 0.1, dimension=1, delta=1.0), "delta"),
        (lambda: compare_norms([[0.5, 1.0]]), "payoff"),
        (lambda: compare_norms([[1.0, -1.0], [-1.0, 1.0]]), "right about every row"),
    ],
)
def test_bad_input(call, match):
    with pytest.raises((InputError, ValueError), match=match):
        call()
