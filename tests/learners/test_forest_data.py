"""Forests: categories, several outputs, constraints, and the weights of classes and rows."""

import numpy as np
import pandas as pd
import pytest
from tests.learners.test_forest import FORESTS, classifiers, every, fit, rows

from committee import InputError, _engine, load_heart
from committee.learners.random_forest import RandomForestClassifier, RandomForestRegressor

# Data as it is.


def test_categories_and_missing_values():
    X, y = load_heart(as_frame=True)
    X = X.copy()
    X.loc[X.index[::7], X.columns[0]] = np.nan
    model = fit(RandomForestClassifier, X, y, n_estimators=60, oob_score=True)
    assert model.oob_score_ > 0.75
    assert np.isfinite(model.predict_proba(X)).all()
    frame = model.estimators_[0].predict(X)
    assert set(frame) <= set(model.classes_)


@classifiers
def test_several_outputs(kind):
    X, y = rows(n_classes=3)
    both = np.column_stack([y, (X[:, 3] > 0).astype(int)])
    model = fit(kind, X, both, bootstrap=True, oob_score=True, n_estimators=60)
    assert [p.shape for p in model.predict_proba(X)] == [(200, 3), (200, 2)]
    assert model.predict(X).shape == (200, 2)
    assert model.oob_decision_function_.shape == (200, 3, 2)
    assert (model.oob_decision_function_[:, 2, 1] == 0).all()
    right = (model.oob_decision_function_.argmax(axis=1) == both).all(axis=1)
    assert model.oob_score_ == right.mean()
    model.verify_no_leak(X, both)


def test_several_numbers():
    X, _ = rows()
    both = np.column_stack([X[:, 0], X[:, 1] ** 2])
    model = fit(RandomForestRegressor, X, both, oob_score=True, n_estimators=60)
    assert model.predict(X).shape == model.oob_prediction_.shape == (200, 2)
    assert model.oob_score_ > 0.7
    model.verify_no_leak(X, both)


@pytest.mark.parametrize("sign", [1, -1])
@every
def test_monotone_forests(kind, sign):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (400, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.5 * sign * X[:, 0]
    y = (y > 0).astype(int) if "Classifier" in kind.__name__ else y
    model = fit(kind, X, y, monotonic_cst=[sign, 0], n_estimators=15)
    grid = np.linspace(-2, 2, 150)
    for other in (-1.0, 0.5):
        outputs = model._outputs(np.column_stack([grid, np.full(150, other)]))[:, -1]
        assert (sign * np.diff(outputs) >= -1e-12).all()
    free = fit(kind, X, y, n_estimators=15)._outputs(np.column_stack([grid, np.zeros(150)]))[:, -1]
    assert (sign * np.diff(free) < -1e-9).any()


# Weights of classes and rows.


def leaf_shares(weight, codes):
    sums = np.bincount(codes, weights=weight, minlength=2)
    return sums / sums.sum()


@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize("spec", [{0: 1.0, 1: 5.0}, "balanced", "balanced_subsample", None])
def test_class_weights_by_hand(spec, bootstrap):
    """Trees of one leaf show the weighted class shares of their bags."""
    X, y = rows(60)
    X[:] = 0.0
    y = (np.arange(60) < 12).astype(int)
    model = fit(RandomForestClassifier, X, y, class_weight=spec, bootstrap=bootstrap)
    for tree, sample in zip(model.estimators_, model.estimators_samples_, strict=True):
        bag = np.bincount(sample, minlength=60).astype(float)
        counts = np.bincount(y, weights=bag if spec == "balanced_subsample" else None)
        factor = {
            "balanced": counts.sum() / (2 * counts),
            "balanced_subsample": counts.sum() / (2 * counts),
            None: np.ones(2),
        }.get(spec if not isinstance(spec, dict) else "", np.array([1.0, 5.0]))
        expected = leaf_shares(bag * factor[y], y)
        np.testing.assert_allclose(tree.predict_proba(X[:1])[0], expected, rtol=1e-12)
    if spec == "balanced_subsample":
        np.testing.assert_allclose(model.predict_proba(X[:1])[0], 0.5, rtol=1e-12)


@pytest.mark.parametrize("ccp_alpha", [1e-300, 0.01])
@pytest.mark.parametrize("class_weight", [None, "balanced_subsample", {0: 1, 1: 3}])
def test_pruned_members(ccp_alpha, class_weight):
    X, y = rows(300, noise=1.0)
    free = fit(RandomForestClassifier, X, y, class_weight=class_weight)
    model = fit(RandomForestClassifier, X, y, class_weight=class_weight, ccp_alpha=ccp_alpha)
    if ccp_alpha == 1e-300:
        np.testing.assert_array_equal(model.predict_proba(X), free.predict_proba(X))
        np.testing.assert_allclose(model.importances_, free.importances_, atol=1e-12)
    else:
        assert model.forest_.n_nodes < free.forest_.n_nodes / 2


def test_stratified_bags():
    X, _ = rows(100)
    y = (np.arange(100) < 7).astype(int)
    model = fit(RandomForestClassifier, X, y, stratify=True, n_estimators=30)
    assert {int(y[sample].sum()) for sample in model.estimators_samples_} == {7}
    plain = fit(RandomForestClassifier, X, y, n_estimators=30)
    assert len({int(y[sample].sum()) for sample in plain.estimators_samples_}) > 3


def test_groups():
    X, y = rows(60)
    groups = np.arange(60) // 5
    model = RandomForestClassifier(20, random_state=0, oob_score=True).fit(X, y, groups=groups)
    for member in range(20):
        mask = model.left_out_.mask(member).reshape(12, 5)
        assert (mask == mask[:, :1]).all()
    model.verify_no_leak(X, y, groups=groups)
    with pytest.raises(InputError, match=r"M-LEAK"):
        model.verify_no_leak(X, y)


@pytest.mark.parametrize("resampling", ["replace", "subset", "poisson", "exponential"])
def test_tiny_data(resampling):
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    model = RandomForestClassifier(40, random_state=0, resampling=resampling).fit(X, y)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert shares[0, 0] >= shares[1, 0]


def test_a_bag_of_nothing_is_told():
    X, y = np.arange(4.0).reshape(-1, 1), np.array([0, 0, 0, 1])
    model = RandomForestClassifier(40, random_state=0, class_weight={0: 0.0})
    with pytest.raises(InputError, match=r"P-BAG.*bag of member \d+ has only rows of classes"):
        model.fit(X, y)


def test_one_row_equals_the_batch():
    X, y = rows(600)
    for kind in FORESTS:
        model = fit(kind, X, y, n_jobs=2)
        batch = model._outputs(X)
        for row in (0, 17, 599):
            np.testing.assert_array_equal(model._outputs(X[row : row + 1]), batch[row : row + 1])


def test_wrong_width_of_a_tampered_forest():
    X, y = rows()
    model = fit(RandomForestClassifier, X, y)
    model.forest_ = fit(RandomForestClassifier, X[:, :3], y).forest_
    with pytest.raises(InputError, match=r"M-TREE.*forest_ has 3 features"):
        model.predict(X)
    assert isinstance(model.forest_, _engine.Forest)
    frame = pd.DataFrame(X, columns=list("abcde"))
    assert fit(RandomForestClassifier, frame, y).feature_names_in_.tolist() == list("abcde")
