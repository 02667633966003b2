"""2M: SmoothBoost's numbers, its measure by a naive oracle, its cap, its promise."""

import dataclasses

import numpy as np
import pytest
from tests.ensembles.boosting.label_noise import contradicted, right_or_wrong, signs_problem
from tests.ensembles.boosting.ten_points import X as TOY
from tests.ensembles.boosting.ten_points import y as TOY_Y

from committee.core.params import check_params
from committee.data.errors import DataWarning
from committee.ensembles.boosting.adaboost import AdaBoostClassifier
from committee.ensembles.boosting.booster import ENOUGH
from committee.ensembles.boosting.smoothboost import BROKEN, FINISHED, SmoothBoostClassifier


def test_2m_toy_numbers():
    model = SmoothBoostClassifier(n_estimators=2000, kappa=0.1, gamma=0.15).fit(TOY, TOY_Y)
    assert len(model) == 103
    assert model.stop_reason_ == FINISHED
    assert model.train_margins_.min() == pytest.approx(0.320, abs=5e-4)
    certificate = model.certificate()
    assert certificate.holds
    assert certificate.verify(TOY, TOY_Y)
    most = certificate.claims[-1]
    assert (most.value, int(most.bound)) == (103, 964)


def measures(model, X, y, start):
    """The measure M after each round, row by row as printed."""
    theta = model.gamma / (2 + model.gamma)
    N = [0.0] * len(y)
    M = [1.0] * len(y)
    for u in right_or_wrong(model, X, y):
        total = sum(d * each for d, each in zip(start, M, strict=True))
        yield np.array([d * each / total for d, each in zip(start, M, strict=True)]), total
        N = [n + each - theta for n, each in zip(N, u, strict=True)]
        M = [1.0 if n < 0 else (1 - model.gamma) ** (n / 2) for n in N]


@pytest.mark.parametrize("weighted", [False, True])
def test_2m_weights_are_the_printed_measure(weighted):
    X, y, *_ = signs_problem(1, n=100)
    weight = np.random.default_rng(0).uniform(0.1, 5, len(y)) if weighted else np.ones(len(y))
    model = SmoothBoostClassifier(n_estimators=60, gamma=0.04).fit(X, y, weight)
    start = weight / weight.sum()
    staged = model.staged_sample_weight(X, y, weight)
    before = np.append(1.0, model.rounds_["left"])
    for (expected, total), d, left in zip(
        measures(model, X, y, start), staged, before, strict=False
    ):
        np.testing.assert_allclose(d, expected, rtol=1e-10)
        assert left == pytest.approx(total, rel=1e-10)
        assert (d <= start / model.kappa * (1 + 1e-12)).all()
    assert (model.estimator_weights_ == 1).all()


def test_finished_margins_and_rounds():
    X, y, *_ = signs_problem(1, flips=0.0)
    model = SmoothBoostClassifier(n_estimators=5000, kappa=0.25, gamma=0.04).fit(X, y)
    assert model.stop_reason_ == FINISHED
    assert np.mean(model.train_margins_ <= 0.04 / 2.04) < 0.25
    assert len(model) <= 2 / (0.25 * 0.04**2 * np.sqrt(0.96))
    certificate = model.certificate()
    assert [claim.bound for claim in certificate.claims][2] == 0.25
    assert certificate.holds


def test_a_broken_promise_ends_the_rounds_and_the_claims():
    X, y, *_ = signs_problem(1)
    model = SmoothBoostClassifier(n_estimators=1000, gamma=0.1).fit(X, y)
    assert model.stop_reason_ == BROKEN
    assert (model.rounds_["edge"] >= 0.2 - 1e-9).all()
    certificate = model.certificate()
    assert certificate.holds
    assert not any(
        "rounds" in claim.text or "<= kappa" in claim.text for claim in certificate.claims
    )
    with pytest.warns(DataWarning, match="broke the promise"):
        none = SmoothBoostClassifier(gamma=0.45).fit(X, y)
    assert none.certificate().claims == ()


def test_an_edge_of_exactly_two_gamma_keeps_the_promise():
    model = SmoothBoostClassifier(n_estimators=1, gamma=0.2).fit(TOY, TOY_Y)  # the edge is 0.4
    assert model.stop_reason_ == ENOUGH


def test_unfinished_claims_the_mean_of_the_measure():
    X, y, *_ = signs_problem(2)
    certificate = SmoothBoostClassifier(n_estimators=30).fit(X, y).certificate()
    assert certificate.stop_reason == ENOUGH
    assert certificate.claims[1].bound == certificate.rounds["left"][-1] > 0.1
    assert not any("<= kappa" in claim.text for claim in certificate.claims)
    assert certificate.holds
    assert certificate.verify(X, y)
    rounds = {**certificate.rounds, "left": certificate.rounds["left"] * 0.99}
    assert not dataclasses.replace(certificate, rounds=rounds).verify(X, y)


def test_r71_r94_no_row_weighs_more_than_the_cap():
    X, y = contradicted()
    n, kappa = len(y), 0.1
    smooth = SmoothBoostClassifier(n_estimators=400, kappa=kappa, gamma=0.02).fit(X, y)
    ada = AdaBoostClassifier(n_estimators=400).fit(X, y)
    capped = np.array(list(smooth.staged_sample_weight(X, y)))[:, -1]
    free = np.array(list(ada.staged_sample_weight(X, y)))[:, -1]
    assert free.max() > 1 / (kappa * n)
    assert free[:20].argmax() > 5  # it grows round after round
    assert capped.max() <= 1 / (kappa * n)


def test_shares_of_votes():
    X, y, X_test, _, _ = signs_problem(3)
    model = SmoothBoostClassifier(n_estimators=25).fit(X, y)
    votes = np.array([member.predict(X_test) == 1 for member in model.estimators_])
    np.testing.assert_allclose(model.predict_proba(X_test)[:, 1], votes.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("wrong", [{"kappa": 0.0}, {"kappa": 1.0}, {"gamma": 0.0}, {"gamma": 0.5}])
def test_parameters_are_checked(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        check_params(SmoothBoostClassifier(**wrong))
