"""R60 and 2D: hypotheses that abstain, and hypotheses that say how sure they are."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from tests.ensembles.boosting.ten_points import X as TOY
from tests.ensembles.boosting.ten_points import y as TOY_Y

from committee import (
    AbstainingAdaBoostClassifier,
    DecisionTreeClassifier,
    GentleBoostClassifier,
    RealAdaBoostClassifier,
)
from committee.ensembles.boosting.abstaining import Abstention, least_lead, member_weight


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


def normaliser(right, wrong, open_, alpha):
    return open_ + right * np.exp(-alpha) + wrong * np.exp(alpha)


def test_r60_numbers():
    shared = member_weight(0.6, 0.2, 0.2, 0.0, shared=True)
    best = member_weight(0.6, 0.2, 0.2, 0.0, shared=False)
    assert shared == pytest.approx(0.4236, abs=1e-4)
    assert best == pytest.approx(0.5493, abs=1e-4)
    assert normaliser(0.6, 0.2, 0.2, shared) == pytest.approx(0.8983, abs=1e-4)
    assert normaliser(0.6, 0.2, 0.2, best) == pytest.approx(0.8928, abs=1e-4)
    assert 2 * np.sqrt(0.7 * 0.3) == pytest.approx(0.9165, abs=1e-4)


@hypothesis.given(st.floats(0.01, 1), st.floats(0.01, 1), st.floats(0, 1))
def test_r60_bound_and_optimum(right, wrong, open_):
    total = right + wrong + open_
    right, wrong, open_ = right / total, wrong / total, open_ / total
    shared = member_weight(right, wrong, open_, 0.0, shared=True)
    z = normaliser(right, wrong, open_, shared)
    assert z <= 2 * np.sqrt((right + open_ / 2) * (wrong + open_ / 2)) + 1e-12
    assert z >= open_ + 2 * np.sqrt(right * wrong) - 1e-12
    best = member_weight(right, wrong, open_, 0.0, shared=False)
    grid = np.linspace(best - 1, best + 1, 401)
    assert (
        normaliser(right, wrong, open_, best) <= normaliser(right, wrong, open_, grid).min() + 1e-12
    )


@hypothesis.given(st.integers(0, 10**6), st.integers(2, 12))
def test_the_abstention_chosen_leaves_the_least_z(seed, n):
    """Against every possible threshold."""
    rng = np.random.default_rng(seed)
    lead = rng.choice([-1.0, -0.5, -0.2, 0.0, 0.2, 0.5, 1.0], n)
    signs, d = rng.choice([-1.0, 1.0], n), rng.random(n) + 0.01
    d = d / d.sum()

    def least_z(threshold):
        said = Abstention(threshold)(lead[:, None])[:, 0]
        right, wrong = d[said == signs].sum(), d[said == -signs].sum()
        return 1 - right - wrong + 2 * np.sqrt(right * wrong)

    found = least_lead(lead, d, signs)
    assert least_z(found) <= min(map(least_z, [0.2, 0.5, 1.0, np.inf])) + 1e-9


@pytest.mark.parametrize("alpha", ["optimal", "shared"])
def test_r60_rows_left_open_keep_their_weight(cancer, alpha):
    X, y = cancer
    model = AbstainingAdaBoostClassifier(n_estimators=25, alpha=alpha).fit(X, y)
    stages = list(model.staged_sample_weight(X, y))
    outputs = model.committee_.outputs(model._rows(X))[:, :, 0]
    assert set(np.unique(outputs)) <= {-1.0, 0.0, 1.0}
    assert (model.rounds_["open"] > 0).any()
    for t, said in enumerate(outputs):
        z = model.rounds_["z"][t]
        np.testing.assert_allclose(stages[t + 1][said == 0] * z, stages[t][said == 0], rtol=1e-9)
    loss = np.mean(np.exp(-(2 * y - 1) * model.decision_function(X)))
    assert loss == pytest.approx(np.prod(model.rounds_["z"]), rel=1e-9)
    assert model.certificate().holds
    assert model.certificate().verify(X, y)


def test_abstaining_members_of_any_kind(cancer):
    X, y = cancer
    model = AbstainingAdaBoostClassifier(GaussianNB(), n_estimators=5).fit(X, y)
    assert model.certificate().verify(X, y)
    assert (model.rounds_["open"] > 0).any()


def naive_real_adaboost(X, y, rounds):
    """Try every cut of every feature; cells say half their smoothed log-odds."""
    signs, n = 2.0 * y - 1, len(y)
    d, F, s = np.full(n, 1 / n), np.zeros(n), 1 / (2 * n)
    for _ in range(rounds):
        best = None
        for column in X.T:
            for cut in np.unique(column)[:-1]:
                side = column <= cut
                sums = [(d[side & (y == k)].sum(), d[~side & (y == k)].sum()) for k in (1, 0)]
                z = 2 * np.sqrt(np.prod(sums, axis=0)).sum()
                if best is None or z < best[0] - 1e-9:
                    best = (z, side, np.log((np.array(sums[0]) + s) / (np.array(sums[1]) + s)) / 2)
        f = np.where(best[1], best[2][0], best[2][1])
        F += f
        d = d * np.exp(-signs * f)
        d /= d.sum()
    return F


def test_real_adaboost_against_a_naive_one():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, size=(60, 3)).astype(float)
    y = (X.sum(axis=1) + 2 * rng.normal(size=60) > 10).astype(int)
    model = RealAdaBoostClassifier(n_estimators=6).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), naive_real_adaboost(X, y, 6), atol=1e-9)


@pytest.mark.parametrize("booster", [RealAdaBoostClassifier, GentleBoostClassifier])
def test_exponential_loss_is_the_product_of_z(cancer, booster):
    X, y = cancer
    model = booster(n_estimators=30).fit(X, y)
    loss = np.mean(np.exp(-(2 * y - 1) * model.decision_function(X)))
    assert loss == pytest.approx(np.prod(model.rounds_["z"]), rel=1e-9)
    assert model.certificate().holds
    assert model.certificate().verify(X, y)
    assert model.score(X, y) > 0.97


def test_real_adaboost_over_probabilities(cancer):
    X, y = cancer
    model = RealAdaBoostClassifier(GaussianNB(), n_estimators=4).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.certificate().verify(X, y)
    deep = RealAdaBoostClassifier(DecisionTreeClassifier(), n_estimators=4).fit(X, y)
    assert np.isfinite(deep.decision_function(X)).all()  # smoothing caps an unmixed leaf


def test_2j_gentleboost_on_ten_points():
    model = GentleBoostClassifier(n_estimators=2).fit(TOY, TOY_Y)
    first, second = (member.tree_ for member in model.estimators_)
    assert (first.feature[0], first.threshold[0]) == (0, 2.5)
    np.testing.assert_allclose(first.value.ravel()[1:], [1.0, -0.25], atol=1e-12)
    assert (second.feature[0], second.threshold[0]) == (1, 6.5)
    np.testing.assert_allclose(second.value.ravel()[1:], [-0.617883, 0.663649], atol=1e-6)


def naive_gentleboost(X, y, rounds):
    signs, n = 2.0 * y - 1, len(y)
    d, F = np.full(n, 1 / n), np.zeros(n)
    for _ in range(rounds):
        best = None
        for column in X.T:
            for cut in np.unique(column)[:-1]:
                side = column <= cut
                means = [np.average(signs[part], weights=d[part]) for part in (side, ~side)]
                f = np.where(side, *means)
                loss = np.sum(d * (signs - f) ** 2)
                if best is None or loss < best[0] - 1e-9:
                    best = (loss, f)
        F += best[1]
        d = d * np.exp(-signs * best[1])
        d /= d.sum()
    return F


def test_gentleboost_against_a_naive_one():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 8, size=(60, 3)).astype(float)
    y = (X.sum(axis=1) + 2 * rng.normal(size=60) > 10).astype(int)
    model = GentleBoostClassifier(n_estimators=6).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), naive_gentleboost(X, y, 6), atol=1e-9)


def test_gentleboost_has_no_problem_with_a_perfect_member():
    model = GentleBoostClassifier(n_estimators=5).fit([[0.0], [1.0]], [0, 1])
    assert len(model) == 5
    np.testing.assert_allclose(model.decision_function([[0.0], [1.0]]), [-5.0, 5.0])
