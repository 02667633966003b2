"""2F: LPBoost's numbers, its linear programs by a naive oracle, what it keeps in every round."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.neighbors import KNeighborsClassifier
from tests.ensembles.boosting.label_noise import contradicted, right_or_wrong, signs_problem
from tests.ensembles.boosting.ten_points import X as TOY
from tests.ensembles.boosting.ten_points import y as TOY_Y
from tests.estimators import model_bits

from committee import (
    AdaBoostClassifier,
    DataWarning,
    ERLPBoostClassifier,
    LPBoostClassifier,
    boosting_payoff,
    max_edge,
    min_margin,
)
from committee.ensembles.boosting.lpboost import CONVERGED, NO_MARGIN
from committee.ensembles.boosting.margin_lp import MarginLP, soft_margin
from committee.ensembles.boosting.reweighting import PERFECT


def full_program(payoff, caps):
    """The first program as it is printed, over all rows and slacks at once."""
    n, k = payoff.shape
    solved = linprog(
        np.concatenate([np.zeros(k), caps, [-1.0]]),  # a, xi, rho
        A_ub=np.hstack([-payoff, -np.eye(n), np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.concatenate([np.ones(k), np.zeros(n + 1)])[None],
        b_eq=[1.0],
        bounds=[(0, None)] * (k + n) + [(None, None)],
        method="highs",
    )
    assert solved.status == 0
    return -solved.fun


def noisy(seed, n=80, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).round(1)
    y = (X.sum(axis=1) + rng.normal(size=n) > 0).astype(int)
    return X, y


@pytest.mark.parametrize(
    ("k", "value"), [(1, 1 / 3), (2, 1 / 3), (5, 1 / 3), (9, 1 / 3), (9.5, 0.368421), (10, 0.4)]
)
def test_2f_toy_values(k, value):
    model = LPBoostClassifier(nu=k / 10).fit(TOY, TOY_Y)
    assert model.rounds_["value"][-1] == pytest.approx(value, abs=5e-7)
    assert model.stop_reason_ == CONVERGED
    certificate = model.certificate()
    assert certificate.holds
    assert certificate.verify(TOY, TOY_Y)
    oracle = full_program(boosting_payoff(TOY, TOY_Y), np.full(10, 1 / k))
    assert model.rounds_["value"][-1] == pytest.approx(oracle, abs=1e-9)
    weights = model.estimator_weights_
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    if k < 9:  # at 9 a single stump is as good: (6 - 3) / 9
        np.testing.assert_allclose(weights[weights > 0], np.full(3, 1 / 3), atol=1e-9)
        assert len(model) <= 8
    if k == 10:
        assert len(model) == 1


@pytest.mark.parametrize("seed", range(12))
def test_the_smallest_margins_are_a_program_of_their_own(seed):
    rng = np.random.default_rng(seed)
    margins, caps = rng.choice([-0.5, 0.1, 0.2, 0.9], 30), rng.uniform(0.01, 0.2, 30)
    caps *= max(1, 1.01 / caps.sum())
    solved = linprog(
        margins, A_eq=np.ones((1, 30)), b_eq=[1], bounds=np.c_[np.zeros(30), caps], method="highs"
    )
    value, rho = soft_margin(margins, caps)
    assert value == pytest.approx(solved.fun, abs=1e-9)
    assert caps[margins < rho].sum() < 1
    assert caps[margins <= rho].sum() >= 1 - 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_the_program_with_few_free_rows_is_the_full_one(seed):
    """1500 rows are more than are let go to begin with."""
    rng = np.random.default_rng(seed)
    n = 1500
    truth = rng.normal(size=n)
    weight = rng.uniform(0.1, 2, n) if seed % 2 else np.ones(n)
    caps = weight / weight.sum() / rng.choice([0.05, 0.3, 0.7])
    program, payoff = MarginLP(caps), np.empty((n, 0))
    for step in range(10):
        agrees = np.where(truth + rng.normal(scale=1.5, size=n) > -0.3, 1.0, -1.0)
        payoff = np.column_stack([payoff, agrees])
        found = program.add(agrees)
        if step % 3 == 0:
            assert found.value == pytest.approx(full_program(payoff, caps), abs=1e-9)
        assert found.value == pytest.approx(found.edge, abs=1e-9)
        assert (found.weight <= caps).all()
        assert found.weight.min() >= 0
        assert found.weight.sum() == pytest.approx(1, abs=1e-9)
        assert found.votes.min() >= 0
        np.testing.assert_allclose(payoff @ found.votes, found.margins, atol=1e-12)


@hypothesis.given(st.integers(0, 2**20), st.integers(1, 40), st.integers(1, 6), st.booleans())
def test_the_program_on_random_signs(seed, n, k, weighted):
    rng = np.random.default_rng(seed)
    payoff = rng.choice([-1.0, 1.0], (n, k))
    weight = rng.dirichlet(np.ones(n)) if weighted else np.full(n, 1 / n)
    caps = weight / rng.uniform(0.05, 1)
    program = MarginLP(caps)
    for column in payoff.T:
        found = program.add(column)
    assert found.value == pytest.approx(full_program(payoff, caps), abs=1e-8)
    assert found.value == pytest.approx(found.edge, abs=1e-9)


@pytest.mark.parametrize("nu", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_over_all_stumps(seed, nu):
    X, y = noisy(seed)
    model = LPBoostClassifier(nu=nu).fit(X, y)
    assert model.stop_reason_ in (CONVERGED, NO_MARGIN)
    oracle = full_program(boosting_payoff(X, y), np.full(len(y), 1 / (nu * len(y))))
    assert model.rounds_["value"][-1] == pytest.approx(oracle, abs=1e-6)
    if oracle > 1e-6:
        margins = model.certificate().margins
        assert soft_margin(margins, np.full(len(y), 1 / (nu * len(y))))[0] == pytest.approx(
            oracle, abs=1e-6
        )
        rho = model.rounds_["rho"][-1]
        assert np.mean(margins < rho - 1e-9) <= nu


@pytest.mark.parametrize("nu", [0.15, 0.4, 0.7])
@pytest.mark.parametrize("weighted", [False, True])
def test_caps_edges_and_gap_in_every_round(nu, weighted):
    X, y = noisy(7)
    weight = np.random.default_rng(1).uniform(0.2, 3, len(y)) if weighted else np.ones(len(y))
    model = LPBoostClassifier(nu=nu).fit(X, y, weight)
    start, rounds = weight / weight.sum(), model.rounds_
    agrees = right_or_wrong(model, X, y)
    stages = list(model.staged_sample_weight(X, y, weight))
    assert len(stages) >= len(model)
    for t, d in enumerate(stages):
        assert d.sum() == pytest.approx(1, abs=1e-12)
        assert (d <= start / nu * (1 + 1e-9)).all()
        if t < len(model):
            assert rounds["edge"][t] == pytest.approx(np.sum(d * agrees[t]), abs=1e-12)
        if t:  # no member so far has a larger edge than the value
            assert max_edge(agrees[:t].T, d) <= rounds["value"][t - 1] + 1e-9
    assert (np.diff(rounds["gap"]) <= 1e-9).all()
    assert (np.diff(rounds["value"]) >= -1e-9).all()
    assert rounds["gap"][-1] <= 1e-6
    certificate = model.certificate()
    assert certificate.holds
    assert certificate.verify(X, y, weight)


def test_a_share_of_one_row_is_the_hard_margin():
    X, y = noisy(3)
    y = (X.sum(axis=1) > 0).astype(int)
    model = LPBoostClassifier(nu=1e-3).fit(X, y)  # below 1 / n
    game = boosting_payoff(X, y, model)
    assert model.rounds_["value"][-1] > 0.01
    smallest = min_margin(game, model.estimator_weights_)
    assert smallest == pytest.approx(model.rounds_["value"][-1], abs=1e-9)
    assert model.certificate().training_error == 0


def test_weighted_rows_are_repeated_rows():
    X, y = noisy(11)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = LPBoostClassifier(nu=0.4).fit(X, y, weight.astype(float))
    repeated = LPBoostClassifier(nu=0.4).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.rounds_["value"][-1] == pytest.approx(repeated.rounds_["value"][-1], abs=1e-6)


def test_warm_start_gives_the_same_bits():
    X, y = noisy(2)
    whole = LPBoostClassifier(nu=0.4).fit(X, y)
    assert len(whole) > 8
    model = LPBoostClassifier(nu=0.4, n_estimators=5, warm_start=True).fit(X, y)
    model.set_params(n_estimators=500).fit(X, y)
    assert model_bits(model) == model_bits(whole)
    for name, column in whole.rounds_.items():
        np.testing.assert_array_equal(model.rounds_[name], column)


def test_where_no_margin_is_positive_the_best_member_decides():
    X, y = contradicted(n=60)
    model = LPBoostClassifier(nu=0.01).fit(X, y)
    assert model.stop_reason_ == NO_MARGIN
    assert model.rounds_["value"][-1] == pytest.approx(0, abs=1e-9)
    weights, errors = model.estimator_weights_, (right_or_wrong(model, X, y) < 0).mean(axis=1)
    assert errors[np.argmax(weights)] == errors.min()
    assert sorted(weights)[-2:] == [0, 1]
    assert model.certificate().holds


def test_without_a_tolerance_a_repeated_member_is_the_end():
    model = LPBoostClassifier(nu=0.3, tol=0).fit(*noisy(4))
    assert model.stop_reason_ in (CONVERGED, NO_MARGIN)
    assert model.certificate().holds


@pytest.mark.parametrize("booster", [LPBoostClassifier, ERLPBoostClassifier])
def test_a_committee_cut_by_held_out_rows_claims_no_convergence(booster):
    X, y = noisy(0, n=200)
    model = booster(nu=0.5, n_iter_no_change=500).fit(
        X[:100], y[:100], X_val=X[100:], y_val=y[100:]
    )
    assert model.stop_reason_ == CONVERGED
    assert len(model) < len(model.validation_losses_)
    certificate = model.certificate()
    assert certificate.holds
    assert not any("smallest edge asked for" in claim.text for claim in certificate.claims)
    assert certificate.verify(X[:100], y[:100])


def test_a_class_of_few_rows_is_not_given_up():
    """With nu itself a constant vote would have a soft margin of 1 - 2 (1 / 8) / 0.5 in a part."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(8), 40)
    X = np.column_stack([y + rng.normal(scale=0.2, size=320), rng.normal(size=320)])
    model = LPBoostClassifier().fit(X, y)
    assert [part.nu_ for part in model.parts_] == pytest.approx([0.125] * 8)
    assert model.score(X, y) > 0.8
    assert model.certificate().holds
    assert LPBoostClassifier().fit(TOY, TOY_Y).nu_ == 0.5


def test_r71_flipped_labels_weigh_no_more_than_the_cap():
    X, y, _, _, flipped = signs_problem(0, n=200)
    model = LPBoostClassifier(nu=0.3, n_estimators=40).fit(X, y)
    heaviest = max(d[flipped].max() for d in model.staged_sample_weight(X, y))
    cap = 1 / (0.3 * len(y))
    assert heaviest == pytest.approx(cap, rel=1e-9)  # some reach it, none exceeds it


def test_r71_flipped_labels_cost_less_than_adaboost_pays():
    X, y, X_test, y_test, _ = signs_problem(0)
    ours = LPBoostClassifier(nu=0.3, n_estimators=100).fit(X, y).score(X_test, y_test)
    assert ours > AdaBoostClassifier(n_estimators=100).fit(X, y).score(X_test, y_test)


def test_a_perfect_member_decides_alone():
    with pytest.warns(DataWarning, match="whole committee"):
        model = LPBoostClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    assert (len(model), model.stop_reason_) == (1, PERFECT)
    assert model.certificate().holds


def test_an_unlucky_draw_is_no_proof_of_the_optimum():
    X, y = noisy(8, n=150)
    learner = KNeighborsClassifier(n_neighbors=9)
    model = LPBoostClassifier(
        learner, nu=0.5, n_estimators=30, resample=True, random_state=0, tol=0.01
    ).fit(X, y)
    assert model.questions_[-1] >= len(model)  # some draws were of no use
    assert model.certificate().verify(X, y)
