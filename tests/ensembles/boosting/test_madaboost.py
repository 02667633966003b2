"""2N: MadaBoost's capped weights by a naive oracle; R71, R93, R94, R100: what the cap is worth."""

import dataclasses

import numpy as np
import pytest
from scipy import special
from tests.ensembles.boosting.label_noise import contradicted, right_or_wrong, signs_problem
from tests.ensembles.boosting.ten_points import X as TOY
from tests.ensembles.boosting.ten_points import y as TOY_Y

from committee.ensembles.boosting.adaboost import AdaBoostClassifier
from committee.ensembles.boosting.madaboost import MadaBoostClassifier


@pytest.mark.parametrize("weighted", [False, True])
def test_2n_weights_and_votes_are_the_printed_ones(weighted):
    X, y, *_ = signs_problem(1, n=100)
    weight = np.random.default_rng(0).uniform(0.1, 5, len(y)) if weighted else np.ones(len(y))
    model = MadaBoostClassifier(n_estimators=40).fit(X, y, weight)
    start = weight / weight.sum()
    product = np.ones(len(y))  # of beta^u
    staged = model.staged_sample_weight(X, y, weight)
    for d, u, alpha in zip(
        staged, right_or_wrong(model, X, y), model.estimator_weights_, strict=False
    ):
        kept = start * np.minimum(1, product)
        assert (kept <= start).all()
        np.testing.assert_allclose(d, kept / kept.sum(), rtol=1e-10)
        error = d[u < 0].sum()
        beta = np.sqrt(error / (1 - error))
        assert alpha == pytest.approx(np.log(1 / beta), rel=1e-10)
        product = product * beta**u


def test_2n_first_round_is_adaboosts():
    mada = MadaBoostClassifier(n_estimators=3).fit(TOY, TOY_Y)
    assert mada.estimator_weights_[0] == pytest.approx(0.423649, abs=1e-6)
    assert mada.score(TOY, TOY_Y) == 1


def test_r71_r94_weights_never_exceed_the_initial_ones():
    X, y = contradicted()
    mada = MadaBoostClassifier(n_estimators=300).fit(X, y)
    ada = AdaBoostClassifier(n_estimators=300).fit(X, y)
    n = len(y)
    kept = np.append(1.0, mada.rounds_["kept"])
    capped = np.array(list(mada.staged_sample_weight(X, y)))
    assert len(capped) == len(kept)
    assert (capped * kept[:, None] <= (1 + 1e-12) / n).all()
    np.testing.assert_allclose((capped * kept[:, None])[1:, -1], 1 / n)  # the cap holds it at once
    behind = np.cumsum(ada.estimator_weights_ * -right_or_wrong(ada, X, y)[:, -1])
    assert behind.max() > 2  # without a cap it has grown by exp of this
    free = np.array(list(ada.staged_sample_weight(X, y)))[:, -1]
    assert free[:10].max() > 5 * capped[:10, -1].max()
    claim = mada.certificate().claims[0]
    assert claim.value == pytest.approx(1)
    assert claim.holds


def test_certificate():
    X, y, *_ = signs_problem(2)
    certificate = MadaBoostClassifier(n_estimators=30).fit(X, y).certificate()
    assert certificate.holds
    assert certificate.verify(X, y)
    rounds = {**certificate.rounds, "kept": certificate.rounds["kept"] * 0.999}
    assert not dataclasses.replace(certificate, rounds=rounds).verify(X, y)
    assert not dataclasses.replace(certificate, weights=certificate.weights * 2).verify(X, y)
    grown = {**certificate.rounds, "growth": certificate.rounds["growth"] * 2}
    forged = dataclasses.replace(certificate, rounds=grown)
    claims = tuple(certificate.model._claims(forged))
    assert not claims[0].holds


def test_probabilities_estimate_the_odds():
    """With members that tell all values of x apart, F is the log-odds where p exp(-F) = 1 - p."""
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 1.0, 2.0], 4000)
    p = np.array([0.2, 0.6, 0.9])[x.astype(int)]
    y = rng.random(len(x)) < p
    model = MadaBoostClassifier(n_estimators=200).fit(x[:, None], y)
    found = model.predict_proba([[0.0], [1.0], [2.0]])[:, 1]
    np.testing.assert_allclose(found, [y[x == v].mean() for v in (0, 1, 2)], atol=0.01)
    F = model.decision_function([[0.0], [1.0], [2.0]])
    np.testing.assert_allclose(found, special.expit(F), atol=1e-14)


def test_r93_r100_caps_help_at_moderate_numbers_of_rounds():
    errors = {}
    for kind in (AdaBoostClassifier, MadaBoostClassifier):
        each = []
        for seed in range(6):
            X, y, X_test, y_test, _ = signs_problem(seed)
            models = [kind(n_estimators=t).fit(X, y) for t in (50, 100, 1000)]
            each.append([1 - model.score(X_test, y_test) for model in models])
        errors[kind] = np.mean(each, axis=0)
    ada, mada = errors[AdaBoostClassifier], errors[MadaBoostClassifier]
    np.testing.assert_allclose(ada, [0.131, 0.134, 0.163], atol=0.015)
    np.testing.assert_allclose(mada, [0.110, 0.107, 0.162], atol=0.015)
    assert (mada[:2] < ada[:2] - 0.01).all()
    assert abs(mada[2] - ada[2]) < 0.015  # the advantage is gone
