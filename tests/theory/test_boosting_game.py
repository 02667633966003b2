"""R7 and R86 to R90: boosting as a game. R85 and R91 are tested with AdaBoost's theorems."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.ensembles.boosting.label_noise import right_or_wrong
from tests.ensembles.boosting.ten_points import ERRORS, all_stumps
from tests.ensembles.boosting.ten_points import X as TOY
from tests.ensembles.boosting.ten_points import signs as TOY_SIGNS
from tests.ensembles.boosting.ten_points import y as TOY_Y

from committee import (
    AdaBoostClassifier,
    InputError,
    LPBoostClassifier,
    boosting_payoff,
    max_edge,
    min_margin,
    solve_game,
)

matrices = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 8), st.integers(1, 8)),
    elements=st.floats(-10, 10).map(lambda number: round(number, 3)),
)


def sign_matrix(seed, shape=(30, 12)):
    return np.random.default_rng(seed).choice([-1.0, 1.0], shape)


def test_r7_the_value_over_all_stumps_is_a_third():
    game = boosting_payoff(TOY, TOY_Y)
    assert game.shape == (10, 38)
    solution = solve_game(game)
    for found in (solution.value, solution.most, solution.least):
        assert found == pytest.approx(1 / 3, abs=1e-12)
    used = np.flatnonzero(solution.columns > 1e-12)
    np.testing.assert_allclose(solution.columns[used], 1 / 3, atol=1e-12)
    missed = [set(np.flatnonzero(game[:, column] < 0)) for column in used]
    assert sorted(map(sorted, missed)) == sorted(map(sorted, ERRORS))


def test_r7_by_the_hard_margin_of_lpboost():
    model = LPBoostClassifier(nu=0.1).fit(TOY, TOY_Y)
    assert model.train_margins_.min() == pytest.approx(1 / 3, abs=1e-12)
    assert model.rounds_["value"][-1] == pytest.approx(1 / 3, abs=1e-12)
    weights = model.estimator_weights_
    np.testing.assert_allclose(weights[weights > 0], np.full(3, 1 / 3), atol=1e-12)
    assert solve_game(boosting_payoff(TOY, TOY_Y, model)).value == pytest.approx(1 / 3, abs=1e-12)


def test_the_stumps_are_all_there_are():
    ours = boosting_payoff(TOY, TOY_Y).T * TOY_SIGNS
    assert {tuple(said) for said in ours} == {tuple(said) for said in all_stumps()}


def test_equal_values_have_no_threshold_between_them():
    game = boosting_payoff([[1, 5], [1, 5], [2, 5]], [0, 1, 1])
    assert game.shape == (3, 4)  # x > 1, its opposite, and the constants


def test_the_game_of_a_booster_is_what_its_members_say():
    labels = np.where(TOY_Y == 1, "yes", "no")
    model = AdaBoostClassifier(n_estimators=5).fit(TOY, labels)
    game = boosting_payoff(TOY, labels, model)
    np.testing.assert_array_equal(game.T, right_or_wrong(model, TOY, labels))
    smallest = model.certificate().margins.min()
    assert min_margin(game, model.estimator_weights_) == pytest.approx(smallest, abs=1e-12)


def test_r86_adaboost_forgets_the_last_edge_lpboost_keeps_all_small():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 4))
    y = (X.sum(axis=1) + rng.normal(size=120) > 0).astype(int)
    ada = AdaBoostClassifier(n_estimators=12).fit(X, y)
    game, weights = boosting_payoff(X, y, ada), list(ada.staged_sample_weight(X, y))
    for last, d in enumerate(weights[1:]):
        assert np.sum(d * game[:, last]) == pytest.approx(0, abs=1e-12)
    assert max(max_edge(game[:, : t + 1], d) for t, d in enumerate(weights[1:])) > 0.1

    lp = LPBoostClassifier(nu=0.4).fit(X, y)
    game, weights = boosting_payoff(X, y, lp), list(lp.staged_sample_weight(X, y))
    assert len(weights) > 5
    for t, d in enumerate(weights[1:]):
        assert max_edge(game[:, : t + 1], d) <= lp.rounds_["value"][t] + 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_r87_both_programs_have_one_value(seed):
    rng = np.random.default_rng(seed)
    game = sign_matrix(seed, tuple(rng.integers(2, 60, 2)))
    solution = solve_game(game)
    assert abs(solution.gap) <= 1e-9
    assert solution.rows.min() >= 0
    assert solution.columns.min() >= 0
    assert (game @ solution.columns).min() == pytest.approx((solution.rows @ game).max(), abs=1e-9)


def test_r88_rock_paper_scissors():
    solution = solve_game([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    assert solution.value == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(solution.rows, np.full(3, 1 / 3), atol=1e-12)
    np.testing.assert_allclose(solution.columns, np.full(3, 1 / 3), atol=1e-12)
    assert "Value" in str(solution)
    assert "3 of 3 rows" in str(solution)


def test_r88_a_game_by_hand():
    solution = solve_game([[3, -1], [-2, 1]])  # p: 3p - 2(1-p) = -p + (1-p)
    np.testing.assert_allclose(solution.rows, [3 / 7, 4 / 7], atol=1e-12)
    np.testing.assert_allclose(solution.columns, [2 / 7, 5 / 7], atol=1e-12)
    assert solution.value == pytest.approx(1 / 7, abs=1e-12)


@hypothesis.given(matrices, st.integers(0, 2**16))
def test_r88_strategies_guarantee_the_value(matrix, seed):
    solution = solve_game(matrix)
    assert abs(solution.gap) <= 1e-7 * max(1, np.abs(matrix).max())
    assert matrix.min(axis=0).max() <= solution.value + 1e-7  # pure strategies
    assert matrix.max(axis=1).min() >= solution.value - 1e-7
    rng = np.random.default_rng(seed)
    p, q = (rng.dirichlet(np.ones(size)) for size in matrix.shape)
    assert min_margin(matrix, q) <= solution.most + 1e-12 * np.abs(matrix).max()
    assert max_edge(matrix, p) >= solution.least - 1e-12 * np.abs(matrix).max()
    assert solution.rows @ matrix @ q <= solution.most + 1e-9
    assert p @ matrix @ solution.columns >= solution.least - 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_r89_an_advantage_makes_the_value(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    y = (X.sum(axis=1) > 0).astype(int)
    signed, shares = boosting_payoff(X, y), boosting_payoff(X, y, scale="share")
    assert set(np.unique(shares)) == {0.0, 1.0}
    value = solve_game(signed).value
    assert value > 0.01
    assert solve_game(shares).value == pytest.approx((1 + value) / 2, abs=1e-9)
    hardest = solve_game(signed).rows
    error = (hardest[:, None] * (signed < 0)).sum(axis=0).min()  # of the best stump
    gamma = 0.5 - error
    assert value >= 2 * gamma - 1e-9
    assert solve_game(shares).value >= 0.5 + gamma - 1e-9
    for _ in range(50):  # no weights leave the learner a smaller advantage
        assert max_edge(signed, rng.dirichlet(np.full(40, 0.1))) / 2 >= gamma - 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_r90_a_positive_value_is_a_vote_without_error(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (25, 3)).astype(float)
    y = (X.sum(axis=1) > 7).astype(int)
    y[:2] = 0, 1
    game = boosting_payoff(X, y)
    solution = solve_game(game)
    separable = solution.value > 1e-9
    margins = game @ solution.columns
    assert bool((margins > 1e-10).all()) is separable
    if separable:
        said = np.sign(np.where(game > 0, 1, -1) @ solution.columns)
        assert (said == 1).all()
    contradicted = boosting_payoff(np.vstack([X, X[:1]]), np.append(y, 1 - y[0]))
    assert solve_game(contradicted).value == pytest.approx(0, abs=1e-12)


def test_r90_some_of_these_problems_are_separable():
    X = np.random.default_rng(0).normal(size=(30, 2))
    game = boosting_payoff(X, (X[:, 0] > 0.3).astype(int))
    assert solve_game(game).value == pytest.approx(1, abs=1e-12)  # one stump is right everywhere


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: solve_game([1.0, 2.0]), "payoff"),
        (lambda: solve_game([[np.nan]]), "payoff"),
        (lambda: max_edge([[1.0], [1.0]], [1.0]), "weights"),
        (lambda: max_edge([[1.0], [1.0]], [-1.0, 2.0]), "weights"),
        (lambda: min_margin([[1.0, 1.0]], [0.0, 0.0]), "votes"),
        (lambda: boosting_payoff(TOY, np.arange(10)), "two classes"),
        (lambda: boosting_payoff(TOY[:9], TOY_Y), "finite numbers"),
        (lambda: boosting_payoff(TOY, TOY_Y, scale="half"), "scale"),
    ],
)
def test_bad_input(call, match):
    with pytest.raises((InputError, ValueError), match=match):
        call()


def test_a_committee_per_class_has_a_game_per_class():
    y = np.arange(10) % 3
    model = LPBoostClassifier(n_estimators=2).fit(TOY, y)
    with pytest.raises(InputError, match="parts_"):
        boosting_payoff(TOY, TOY_Y, model)
    part = boosting_payoff(TOY, (y == 0).astype(int), model.parts_[0])
    assert part.shape[0] == 10
