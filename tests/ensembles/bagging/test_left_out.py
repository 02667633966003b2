"""The rows that members left out: predictions against brute force, and tampering that shows."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_friedman1
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier as OtherTree

from committee.core.bags import LeftOut
from committee.data import InputError
from committee.ensembles.bagging import BaggingClassifier, BaggingRegressor
from committee.learners.tree import DecisionTreeClassifier

WAYS = {
    "engine": {},
    "hard": {"voting": "hard"},
    "subspace": {"max_features": 3},
    "pruned": {"estimator": DecisionTreeClassifier(pruning="pessimistic")},
    "other": {"estimator": OtherTree(max_features=2)},
    "neighbours": {"estimator": KNeighborsClassifier(3), "max_features": 0.5},
    "poisson": {"resampling": "poisson"},
    "subset": {"resampling": "subset"},
    "projection": {"feature_map": "gaussian"},
    "weighted": {},
}


@pytest.fixture(scope="module")
def rows():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:200, :8], y[:200]


@pytest.fixture(scope="module")
def fits(rows):
    X, y = rows
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    out = {}
    for name, how in WAYS.items():
        given = weight if name == "weighted" else None
        model = BaggingClassifier(n_estimators=40, oob_score=True, random_state=0, **how)
        out[name] = (model.fit(X, y, sample_weight=given), given)
    return out


@pytest.mark.parametrize("way", WAYS)
def test_out_of_bag_equals_brute_force(rows, fits, way):
    X, y = rows
    model, weight = fits[way]
    sums, counts = np.zeros((len(y), 2)), np.zeros(len(y))
    members = zip(model.estimators_, model.feature_maps_, model.estimators_samples_, strict=True)
    for estimator, seen, drawn in members:
        out = np.setdiff1d(np.arange(len(y)), drawn)
        if weight is not None:
            out = out[weight[out] > 0]
        asked = X if seen is None else seen.transform(X)
        shares = estimator.predict_proba(asked[out])
        if model.voting == "hard":
            shares = np.eye(2)[shares.argmax(axis=1)]
        sums[out] += shares
        counts[out] += 1
    with np.errstate(invalid="ignore"):
        expected = sums / counts[:, None]
    np.testing.assert_array_equal(model.oob_decision_function_, expected)
    known = counts > 0
    right = expected[known].argmax(axis=1) == y[known]
    assert model.oob_score_ == pytest.approx(
        np.average(right, weights=None if weight is None else weight[known]), rel=1e-14
    )


@pytest.mark.parametrize("way", WAYS)
def test_nothing_leaks_and_tampering_shows(rows, fits, way):
    X, y = rows
    model, weight = fits[way]
    assert "No leak" in str(model.verify_no_leak(X, y, sample_weight=weight))
    honest = model.left_out_
    try:
        bitmap = honest.bitmap.copy()
        bitmap[7, 3] ^= 1 << 5
        model.left_out_ = LeftOut(bitmap, honest.n_rows)
        with pytest.raises(InputError, match=r"member 7, row 29"):
            model.verify_no_leak(X, y, sample_weight=weight)
    finally:
        model.left_out_ = honest


def test_other_rows_and_weights_are_refused(rows, fits):
    X, y = rows
    model, _ = fits["engine"]
    for other in ((X[:-1], y[:-1]), (X, 1 - y), (X[::-1], y[::-1]), (-X, y)):
        with pytest.raises(InputError, match="M-LEAK"):
            model.verify_no_leak(*other)
    with pytest.raises(InputError, match="sample_weight"):
        model.verify_no_leak(X, y, sample_weight=np.arange(len(y)) % 3 + 1)


def test_forged_predictions_show(rows):
    X, y = rows
    model = BaggingClassifier(n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    model.oob_decision_function_[4] = [0.25, 0.75]
    with pytest.raises(InputError, match="row 4"):
        model.verify_no_leak(X, y)


@pytest.mark.parametrize("way", ["engine", "hard", "neighbours", "weighted"])
def test_curve_ends_at_the_score(rows, fits, way):
    X, y = rows
    model, weight = fits[way]
    curve = model.oob_curve(X, y, sample_weight=weight)
    assert curve.shape == (40,)
    assert curve[-1] == model.oob_score_
    assert len(set(curve)) > 3


def test_score_by_a_callable(rows):
    X, y = rows
    model = BaggingClassifier(n_estimators=40, oob_score=balanced_accuracy_score, random_state=0)
    model.fit(X, y)
    labels = model.oob_decision_function_.argmax(axis=1)
    assert model.oob_score_ == pytest.approx(balanced_accuracy_score(y, labels))


def test_numbers():
    X, y = make_friedman1(150, random_state=0)
    several = np.column_stack([y, -y])
    for target in (y, several):
        model = BaggingRegressor(n_estimators=40, oob_score=True, random_state=0).fit(X, target)
        assert model.oob_prediction_.shape == target.shape
        assert model.oob_score_ == pytest.approx(r2_score(target, model.oob_prediction_))
        assert "No leak" in str(model.verify_no_leak(X, target))
        assert model.predict(X).shape == target.shape


@pytest.mark.parametrize("how", [{"bootstrap": False}, {"resampling": "exponential"}])
def test_b55_nothing_is_left_out(rows, how):
    X, y = rows
    with pytest.raises(InputError, match=r"oob_score=True while (bootstrap=False|resampling)"):
        BaggingClassifier(oob_score=True, **how).fit(X, y)
    model = BaggingClassifier(n_estimators=2, **how).fit(X, y)
    with pytest.raises(InputError, match="no member left a row out"):
        model.verify_no_leak(X, y)
