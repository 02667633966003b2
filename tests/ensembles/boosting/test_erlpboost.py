"""2G: ERLPBoost's numbers, its weights by naive oracles, its caps and its number of rounds."""

import numpy as np
import pytest
from scipy.optimize import bisect, minimize
from tests.ensembles.boosting.label_noise import right_or_wrong, signs_problem
from tests.ensembles.boosting.ten_points import ERRORS
from tests.ensembles.boosting.ten_points import X as TOY
from tests.ensembles.boosting.ten_points import y as TOY_Y
from tests.estimators import model_bits

from committee import AdaBoostClassifier, DataWarning, ERLPBoostClassifier, LPBoostClassifier
from committee.ensembles.boosting.entropic_dual import capped_weights, compromise
from committee.ensembles.boosting.erlpboost import PRECISION
from committee.ensembles.boosting.lpboost import CONVERGED, NO_MARGIN
from committee.ensembles.boosting.reweighting import PERFECT

BEST = np.array([[-1.0 if i in errors else 1.0 for i in range(10)] for errors in ERRORS])


def noisy(seed, n=100, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).round(1)
    y = (X.sum(axis=1) + rng.normal(size=n) > 0).astype(int)
    return X, y


def test_2g_toy_weights():
    start = np.full(10, 0.1)
    found = compromise(BEST, start, 0.1, 3.0, np.array([1.0, 0.0, 0.0]), 1e-12)
    np.testing.assert_allclose(found.weight[:9], 0.109465, atol=5e-7)
    assert found.weight[9] == pytest.approx(0.014814, abs=5e-7)
    assert found.objective == pytest.approx(0.363478, abs=5e-7)
    np.testing.assert_allclose(found.votes, 1 / 3, atol=1e-9)


@pytest.mark.parametrize("eta", [0.5, 3.0, 20.0, 300.0])
def test_2g_toy_weights_in_closed_form(eta):
    q = 1 / (3 + np.exp(-2 * eta / 3) / 3)
    found = compromise(BEST, np.full(10, 0.1), 0.1, eta, np.array([0.0, 1.0, 0.0]), 1e-13)
    np.testing.assert_allclose(found.weight[:9], q / 3, rtol=1e-8)
    assert found.weight[9] == pytest.approx(q / 3 * np.exp(-2 * eta / 3), rel=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_capped_weights_by_bisection(seed):
    rng = np.random.default_rng(seed)
    n, nu, eta = 40, rng.choice([0.05, 0.3, 0.7, 0.95]), rng.choice([0.5, 5.0, 80.0])
    margins = rng.choice([-1, -0.2, 0.1, 0.6, 1.0], n) if seed % 2 else rng.uniform(-1, 1, n)
    start = rng.dirichlet(np.ones(n))

    def weights(log_c):
        return start * np.minimum(1 / nu, np.exp(np.minimum(log_c - eta * margins, 700)))

    log_c = bisect(lambda c: weights(c).sum() - 1, -400, 400, xtol=1e-13, maxiter=500)
    found = capped_weights(margins, start, nu, eta)
    np.testing.assert_allclose(found, weights(log_c), rtol=1e-9, atol=1e-15)
    assert found.sum() == pytest.approx(1, abs=1e-14)
    assert (found <= start / nu * (1 + 1e-12)).all()


@pytest.mark.parametrize(("nu", "eta"), [(1.0, 0.5), (1.0, 100.0), (1e-9, 1e4), (0.5, 1e6)])
def test_capped_weights_at_the_ends(nu, eta):
    margins, start = np.linspace(-1, 1, 20), np.full(20, 0.05)
    found = capped_weights(margins, start, nu, eta)
    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert (found <= start / nu * (1 + 1e-12)).all()
    if nu == 1:
        np.testing.assert_allclose(found, start, rtol=1e-12)
    if nu == 1e-9:
        assert found[0] == pytest.approx(1)


@pytest.mark.parametrize("seed", range(8))
def test_the_compromise_by_another_solver(seed):
    rng = np.random.default_rng(seed)
    n, k, nu, eta = 16, 5, rng.choice([0.2, 0.5]), rng.choice([1.0, 6.0, 15.0])
    agrees, start = rng.choice([-1.0, 1.0], (k, n), p=[0.35, 0.65]), rng.dirichlet(np.full(n, 3))
    found = compromise(agrees, start, nu, eta, np.eye(k)[0], 1e-12)

    def objective(z):
        d = np.maximum(z[:-1], 1e-300)
        return z[-1] + np.sum(d * np.log(d / start)) / eta

    def slope(z):
        d = np.maximum(z[:-1], 1e-300)
        return np.append((np.log(d / start) + 1) / eta, 1.0)

    other = minimize(
        objective,
        np.append(start, 1.0),
        jac=slope,
        bounds=[(1e-12, cap) for cap in start / nu] + [(-1, 1)],
        constraints=[
            {"type": "ineq", "fun": lambda z: z[-1] - agrees @ z[:-1]},
            {"type": "eq", "fun": lambda z: z[:-1].sum() - 1},
        ],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 2000},
    )
    assert abs(other.x[:-1].sum() - 1) < 1e-9  # it may end where rounding hides the way up
    assert (agrees @ other.x[:-1]).max() <= other.x[-1] + 1e-9
    assert found.objective == pytest.approx(other.fun, abs=1e-7)
    np.testing.assert_allclose(found.weight, other.x[:-1], atol=2e-4)
    above = (agrees @ found.weight).max() + found.entropy / eta  # the other side of the duality
    assert above - found.objective == pytest.approx(found.left, abs=1e-12)
    assert found.left <= 1e-9


@pytest.mark.parametrize("nu", [0.1, 0.2, 0.5, 0.9])
def test_2g_toy_value(nu):
    model = ERLPBoostClassifier(nu=nu, tol=0.01).fit(TOY, TOY_Y)
    assert model.stop_reason_ == CONVERGED
    assert 1 / 3 - 0.01 <= model.rounds_["value"][-1] <= 1 / 3 + 1e-9
    certificate = model.certificate()
    assert certificate.holds
    assert certificate.verify(TOY, TOY_Y)


@pytest.mark.parametrize("nu", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_within_tol_of_lpboost_in_the_promised_rounds(seed, nu):
    X, y = noisy(seed)
    tol = 0.02
    model = ERLPBoostClassifier(nu=nu, tol=tol).fit(X, y)
    assert model.stop_reason_ in (CONVERGED, NO_MARGIN)
    assert len(model) <= max(8 / tol, 32 / tol**2 * np.log(1 / nu))
    largest = LPBoostClassifier(nu=nu).fit(X, y).rounds_["value"][-1]
    assert largest - tol <= model.rounds_["value"][-1] <= largest + 1e-6
    assert (np.diff(model.rounds_["gap"]) <= 1e-9).all()
    assert model.certificate().holds


@pytest.mark.parametrize("weighted", [False, True])
def test_weights_of_every_round(weighted):
    X, y = noisy(5)
    weight = np.random.default_rng(0).uniform(0.3, 3, len(y)) if weighted else np.ones(len(y))
    model = ERLPBoostClassifier(nu=0.3, tol=0.05).fit(X, y, weight)
    start, agrees = weight / weight.sum(), right_or_wrong(model, X, y)
    stages = list(model.staged_sample_weight(X, y, weight))
    assert len(stages) > 3
    eta = 2 / 0.05 * np.log(1 / 0.3)
    for t, d in enumerate(stages):
        assert (d <= start / 0.3 * (1 + 1e-9)).all()
        if not t:
            continue
        entropy = np.sum(d[d > 0] * np.log(d[d > 0] / start[d > 0]))
        assert model.rounds_["entropy"][t - 1] == pytest.approx(entropy, abs=1e-9)
        here = (agrees[:t] @ d).max() + entropy / eta
        rng = np.random.default_rng(t)
        for _ in range(20):  # no other weights within the caps are a better compromise
            other = capped_weights(rng.normal(size=len(y)), start, 0.3, 1.0)
            mixed = 0.99 * d + 0.01 * other
            some = mixed > 0
            worse = (agrees[:t] @ mixed).max()
            worse += np.sum(mixed[some] * np.log(mixed[some] / start[some])) / eta
            assert worse >= here - PRECISION * 0.05
    assert model.certificate().verify(X, y, weight)


def test_warm_start_gives_the_same_bits():
    X, y = noisy(2)
    whole = ERLPBoostClassifier(nu=0.4).fit(X, y)
    assert len(whole) > 5
    model = ERLPBoostClassifier(nu=0.4, n_estimators=3, warm_start=True).fit(X, y)
    model.set_params(n_estimators=500).fit(X, y)
    assert model_bits(model) == model_bits(whole)


def test_r71_flipped_labels_cost_less_than_adaboost_pays():
    X, y, X_test, y_test, _ = signs_problem(0)
    ours = ERLPBoostClassifier(nu=0.3, n_estimators=100).fit(X, y).score(X_test, y_test)
    assert ours > AdaBoostClassifier(n_estimators=100).fit(X, y).score(X_test, y_test)


def test_a_perfect_member_decides_alone():
    with pytest.warns(DataWarning, match="whole committee"):
        model = ERLPBoostClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    assert (len(model), model.stop_reason_) == (1, PERFECT)
    assert model.certificate().holds
