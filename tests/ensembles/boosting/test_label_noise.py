"""R93, R95, R100: wrong labels, with the numbers of the design. Means over six seeds, T = 1000."""

import functools

import numpy as np
import pytest

from committee.ensembles.boosting.adaboost import AdaBoostClassifier
from committee.ensembles.boosting.brownboost import BrownBoostClassifier
from committee.ensembles.boosting.lpboost import LPBoostClassifier
from committee.ensembles.boosting.madaboost import MadaBoostClassifier
from committee.ensembles.boosting.robustboost import RobustBoostClassifier
from committee.theory.displays.boosting_curve import BoostingCurveDisplay
from committee.theory.displays.weight_share import heaviest_share

ROUNDS, SEEDS, AT = 1000, 6, (50, 100, 300, 1000)
NEAR = 0.015  # the numbers come from six other draws of the same experiment


def problem(seed, flips):
    rng = np.random.default_rng(seed)
    X, X_test = rng.random((400, 10)), rng.random((5000, 10))
    y, y_test = (np.sign((rows - 0.5).sum(axis=1)) for rows in (X, X_test))
    flipped = rng.permutation(400)[: round(400 * flips)]
    y[flipped] *= -1
    return X, y, X_test, y_test, flipped


def held(curve):
    """Let a booster that has ended stay as it is."""
    curve = np.asarray(curve)[:ROUNDS]
    return np.pad(curve, (0, ROUNDS - len(curve)), mode="edge")


@functools.cache
def runs(booster, flips):
    """Training and test error, weights of flipped and heaviest rows: [seed, which, round]."""
    each = []
    for seed in range(SEEDS):
        X, y, X_test, y_test, flipped = problem(seed, flips)
        model = booster(n_estimators=ROUNDS).fit(X, y)
        curve = BoostingCurveDisplay.curve(model, X_test, y_test, X_train=X, y_train=y)
        weights = list(model.staged_sample_weight(X, y))
        flipped_weight = [d[flipped].sum() for d in weights]
        heaviest = [heaviest_share(d) for d in weights]
        each.append([held(c) for c in (curve.training, curve.test, flipped_weight, heaviest)])
    return np.array(each)


def means(booster, flips):
    return runs(booster, flips).mean(axis=0)


def test_error_at(booster, flips):
    _, test, _, _ = means(booster, flips)
    return test[np.array(AT) - 1]


test_error_at.__test__ = False


@pytest.mark.parametrize(
    ("flips", "expected"),
    [(0.0, (0.092, 0.079, 0.071, 0.070)), (0.05, (0.131, 0.134, 0.146, 0.163))],
)
def test_r93_test_error_of_adaboost(flips, expected):
    np.testing.assert_allclose(test_error_at(AdaBoostClassifier, flips), expected, atol=NEAR)


def test_r93_five_percent_of_wrong_labels_turn_the_curve_up():
    clean = test_error_at(AdaBoostClassifier, 0.0)
    noisy = test_error_at(AdaBoostClassifier, 0.05)
    assert (noisy > clean + 0.03).all()
    assert clean[3] < clean[1] < clean[0]
    assert noisy[3] > noisy[2] > noisy[1]
    assert noisy[3] - clean[3] > 1.5 * (noisy[0] - clean[0])  # the harm grows


def test_r93_flipped_rows_hold_a_quarter_of_the_weight():
    _, _, flipped, heaviest = means(AdaBoostClassifier, 0.05)
    assert flipped[0] == pytest.approx(0.05)
    for t in AT:
        assert flipped[t - 1] == pytest.approx(0.23, abs=0.05)
    assert (heaviest >= flipped - 1e-12).all()  # no 5 % of rows weigh more than the heaviest


def test_r95_twenty_percent_slow_learning():
    training, test, _, _ = means(AdaBoostClassifier, 0.2)
    assert training[99] == pytest.approx(0.154, abs=NEAR)
    assert means(AdaBoostClassifier, 0.0)[0][99] == pytest.approx(0.0, abs=1e-3)
    assert test[49] == pytest.approx(0.209, abs=NEAR)
    assert test[999] == pytest.approx(0.272, abs=NEAR)
    assert test[999] > test[299] > test[49]


def test_r100_caps_help_at_moderate_rounds_and_not_in_the_end():
    capped, plain = (test_error_at(b, 0.05) for b in (MadaBoostClassifier, AdaBoostClassifier))
    np.testing.assert_allclose(capped[[0, 1, 3]], (0.110, 0.107, 0.162), atol=NEAR)
    assert (capped[:2] < plain[:2] - 0.01).all()
    assert capped[3] == pytest.approx(plain[3], abs=NEAR)


@pytest.mark.parametrize("booster", [BrownBoostClassifier, RobustBoostClassifier])
def test_boosters_that_give_rows_up_beat_adaboost_in_the_end(booster):
    robust, plain = (test_error_at(b, 0.05) for b in (booster, AdaBoostClassifier))
    assert robust[3] < plain[3] - 0.03
    assert robust[3] < robust[0] + NEAR  # and they do not turn up


def test_soft_margins_beat_adaboost_in_the_end():
    nu, tol, seeds = 0.4, 3e-3, 2  # well above twice the share of flips; near the optimum is enough
    errors = []
    for seed in range(seeds):
        X, y, X_test, y_test, _ = problem(seed, 0.05)
        model = LPBoostClassifier(nu=nu, tol=tol, n_estimators=ROUNDS).fit(X, y)
        errors.append(np.mean(model.predict(X_test) != y_test))
        assert len(model) < ROUNDS  # it is as good as it can get
    plain = runs(AdaBoostClassifier, 0.05)[:seeds, 1].mean(axis=0)
    assert np.mean(errors) < plain[-1] - 0.03
    assert np.mean(errors) < plain.min()  # not even a stop at the best round would do
