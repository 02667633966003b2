"""AdaBoost as scikit-learn's, and its three forms for more than two classes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import AdaBoostClassifier as OtherAdaBoost
from sklearn.tree import DecisionTreeClassifier as OtherTree

from committee import AdaBoostClassifier, DataWarning, DecisionStump, DecisionTreeClassifier


def test_same_committee_as_scikit_learns():
    """Their stumps split by gini, exactly; so do ours with as many bins as there are values."""
    X, y = load_breast_cancer(return_X_y=True)
    theirs = OtherAdaBoost(OtherTree(max_depth=1), n_estimators=30).fit(X, y)
    stump = DecisionTreeClassifier(max_depth=1, max_bins=1000)
    ours = AdaBoostClassifier(stump, n_estimators=30).fit(X, y)
    np.testing.assert_allclose(2 * ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_samme_as_scikit_learns():
    X, y = load_iris(return_X_y=True)
    theirs = OtherAdaBoost(OtherTree(max_depth=2), n_estimators=15, random_state=0).fit(X, y)
    ours = AdaBoostClassifier(OtherTree(max_depth=2), n_estimators=15, random_state=0)
    ours.fit(X, y)
    np.testing.assert_allclose(
        2 * ours.estimator_weights_[:5], theirs.estimator_weights_[:5], rtol=1e-9
    )
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=0.02)


def test_m1_stops_where_half_is_wrong_and_samme_goes_on():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(240, 1)).astype(float)
    y = X[:, 0].astype(int)  # six classes: a stump is right on a third
    with pytest.warns(DataWarning, match="chance"):
        m1 = AdaBoostClassifier(algorithm="m1", n_estimators=20).fit(X, y)
    assert len(m1) == 1
    assert m1.score(X, y) > np.bincount(y).max() / len(y)  # the first stump, not the largest class
    assert m1.score(X, y) == DecisionStump().fit(X, y).score(X, y)
    assert m1.rounds_["alpha"].tolist() == [0]
    assert "chance" in m1.stop_reason_
    assert m1.certificate().holds
    assert m1.certificate().verify(X, y)
    samme = AdaBoostClassifier(n_estimators=60).fit(X, y)
    m2 = AdaBoostClassifier(algorithm="m2", n_estimators=60).fit(X, y)
    assert len(samme) == 60
    assert m2.score(X, y) > 0.9
    assert m2.certificate().holds
    assert m2.certificate().verify(X, y)


def test_m2_against_the_formulas():
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(algorithm="m2", n_estimators=12).fit(X, y)
    n, K = len(y), 3
    D = np.full((n, K), 1 / (n * (K - 1)))
    D[np.arange(n), y] = 0
    outputs = model.committee_.outputs(model._rows(X))
    for t, h in enumerate(outputs):
        own = h[np.arange(n), y][:, None]
        e = 0.5 * np.sum(D * (1 - own + h))
        beta = e / (1 - e)
        assert model.rounds_["error"][t] == pytest.approx(e, abs=1e-12)
        assert model.estimator_weights_[t] == pytest.approx(np.log(1 / beta) / 2, abs=1e-10)
        D = D * beta ** ((1 + own - h) / 2)
        D[np.arange(n), y] = 0
        D /= D.sum()
    bound = (K - 1) * np.prod(2 * np.sqrt(model.rounds_["error"] * (1 - model.rounds_["error"])))
    assert 1 - model.score(X, y) <= bound
    assert (K - 1) * np.prod(model.rounds_["z"]) <= bound + 1e-12


def least_pseudo_loss(frame, y, D):
    """Try every cut of numbers, missing on either side, and every level against the rest."""
    sides = [np.zeros(len(y), dtype=bool)]
    for name, values in frame.items():
        known = values.notna().to_numpy()
        for value in values.dropna().unique():
            first = (values == value if name == "level" else values <= value).to_numpy()
            sides += [first & known, first | ~known]
    own = np.eye(D.shape[1])[y] * D.sum(axis=1, keepdims=True)
    least = 1.0
    for side in sides:
        gains = [(own - D)[rows].sum(axis=0) for rows in (side, ~side)]
        least = min(least, (1 - np.maximum(gains, 0).sum()) / 2)
    return least


def test_m2_cuts_a_stump_where_the_pseudo_loss_is_least():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 9, size=(90, 3)).astype(float), columns=["a", "b", "c"])
    X["level"] = pd.Categorical(rng.choice(list("pqrs"), 90))
    y = ((X["a"] > 3).astype(int) + 2 * (X["b"] > X["c"]) + (X["level"] == "q")).to_numpy()
    X.loc[rng.random(90) < 0.2, "b"] = np.nan
    X.loc[rng.random(90) < 0.2, "level"] = np.nan
    model = AdaBoostClassifier(algorithm="m2", n_estimators=25).fit(X, y)
    n, K = len(y), 5
    assert len(model) == 25
    D = np.full((n, K), 1 / (n * (K - 1)))
    for t, h in enumerate(model.committee_.outputs(model._rows(X))):
        D[np.arange(n), y] = 0
        D /= D.sum()
        assert model.rounds_["error"][t] == pytest.approx(least_pseudo_loss(X, y, D), abs=1e-9)
        D = D * np.exp(-model.estimator_weights_[t] * (h[np.arange(n), y][:, None] - h))
    assert model.certificate().verify(X, y)
