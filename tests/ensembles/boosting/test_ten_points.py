"""R1 to R6: the 10-point example through the public interface."""

from itertools import pairwise

import numpy as np
import pytest
from tests.ensembles.boosting.ten_points import ERRORS, X, all_stumps, signs, y

from committee import AdaBoostClassifier

EXACT = {"rtol": 0, "atol": 1e-12}
EPS = np.array([3 / 10, 3 / 14, 3 / 22])
ALPHA = np.log((1 - EPS) / EPS) / 2


@pytest.fixture(scope="module")
def model():
    return AdaBoostClassifier(n_estimators=3).fit(X, y)


def test_r1_errors_and_weights(model):
    np.testing.assert_allclose(model.estimator_errors_, EPS, **EXACT)
    np.testing.assert_allclose(model.estimator_weights_, ALPHA, **EXACT)
    np.testing.assert_allclose(model.estimator_weights_, [0.423649, 0.649641, 0.922913], atol=1e-6)


def test_r1_members_are_the_three_stumps_in_some_order(model):
    missed = [set(np.flatnonzero(member.predict(X) != y)) for member in model.estimators_]
    assert sorted(map(sorted, missed)) == sorted(map(sorted, ERRORS))
    assert len(all_stumps()) == 38


def test_r2_weights_of_the_points(model):
    found = list(model.staged_sample_weight(X, y))
    order = [sorted(np.flatnonzero(member.predict(X) != y)) for member in model.estimators_]
    expected = [np.full(10, 1 / 10), np.full(10, 1 / 14), np.full(10, 1 / 22), np.full(10, 1 / 38)]
    expected[1][order[0]] = 1 / 6
    expected[2][order[0]], expected[2][order[1]] = 7 / 66, 1 / 6
    expected[3][order[0]], expected[3][order[1]], expected[3][order[2]] = 7 / 114, 11 / 114, 1 / 6
    assert len(found) == 4
    for distribution, exact in zip(found, expected, strict=True):
        np.testing.assert_allclose(distribution, exact, **EXACT)


def test_r3_normalisers_and_bounds(model):
    z = model.rounds_["z"]
    np.testing.assert_allclose(z, 2 * np.sqrt(EPS * (1 - EPS)), **EXACT)
    np.testing.assert_allclose(z, [0.916515, 0.820652, 0.686349], atol=1e-6)
    loss = np.mean(np.exp(-signs * model.decision_function(X)))
    np.testing.assert_allclose(np.prod(z), loss, **EXACT)
    np.testing.assert_allclose(np.prod(z), 0.516230, atol=1e-6)
    errors = [1 - score for score in model.staged_score(X, y)]
    np.testing.assert_allclose(errors, [0.3, 0.3, 0.0], **EXACT)
    gammas = 1 / 2 - model.estimator_errors_
    bounds = np.exp(-2 * np.cumsum(gammas**2))
    np.testing.assert_allclose(bounds, [0.9231, 0.7841, 0.6019], atol=5e-5)
    claim = next(c for c in model.certificate().claims if "gamma" in c.text)
    np.testing.assert_allclose(claim.bound, bounds[-1], **EXACT)


def test_r4_regions_of_the_vote(model):
    """A 3 x 2 grid: top row + + -, bottom row + - -; any two stumps outvote the third."""
    corners = [[x, height] for height in (8.0, 4.0) for x in (1.0, 5.0, 9.0)]
    assert model.predict(corners).tolist() == [1, 1, 0, 1, 0, 0]
    a, b, c = np.sort(model.estimator_weights_)
    assert a + b > c
    grid = np.array([[x, h] for x in np.linspace(0, 11, 45) for h in np.linspace(0, 11, 45)])
    column = np.digitize(grid[:, 0], [2.5, 8.5], right=True)
    top = grid[:, 1] > 6.5
    expected = np.where(column == 0, 1, np.where(column == 2, 0, top.astype(int)))
    assert (model.predict(grid) == expected).all()


def test_r5_margins(model):
    margins = model.certificate().margins
    order = [sorted(np.flatnonzero(member.predict(X) != y)) for member in model.estimators_]
    np.testing.assert_allclose(margins[order[0]], 0.5755, atol=5e-5)
    np.testing.assert_allclose(margins[order[1]], 0.3491, atol=5e-5)
    np.testing.assert_allclose(margins[order[2]], 0.0753, atol=5e-5)
    np.testing.assert_allclose(margins[9], 1.0, **EXACT)
    share = 1 - 2 * ALPHA / ALPHA.sum()
    for points, exact in zip(order, share, strict=True):
        np.testing.assert_allclose(margins[points], exact, **EXACT)


def test_r6_long_run_cycles():
    model = AdaBoostClassifier(n_estimators=1000).fit(X, y)
    assert len(model) == 1000
    np.testing.assert_allclose(model.estimator_errors_[-1], (3 - np.sqrt(5)) / 4, atol=1e-6)
    assert model.certificate().margins.min() == pytest.approx(0.3327, abs=1e-4)
    hundred = AdaBoostClassifier(n_estimators=100).fit(X, y)
    assert hundred.certificate().margins.min() == pytest.approx(0.3267, abs=1e-4)


def test_r80_margins_rise_after_the_training_error_is_zero():
    smallest = [
        AdaBoostClassifier(n_estimators=t).fit(X, y).certificate().margins.min()
        for t in range(1, 6)
    ]
    np.testing.assert_allclose(smallest, [-1, -0.21, 0.075, 0.148, 0.192], atol=5e-3)
    assert all(a < b for a, b in pairwise(smallest))
