"""The decision stump: exact, with ties by feature, threshold and class."""

import numpy as np
import pandas as pd
import pytest
from tests.oracles.stumps import smallest_error

from committee import DataWarning, DecisionStump


def test_minimum_over_features_and_thresholds():
    rng = np.random.default_rng(0)
    for _ in range(20):
        X = rng.normal(size=(200, 5))
        y = (X[:, 2] + rng.normal(size=200) > 0).astype(int)
        w = rng.random(200)
        stump = DecisionStump().fit(X, y, sample_weight=w)
        assert stump.error_ == pytest.approx(smallest_error(X, y, w), rel=1e-7)


@pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [False, True]])
def test_both_polarities(labels):
    X = np.arange(6.0).reshape(-1, 1)
    for order in (1, -1):
        y = np.repeat(labels[::order], 3)
        stump = DecisionStump().fit(X, y)
        assert stump.error_ == 0
        assert stump.tree_.threshold[0] == 2.5
        np.testing.assert_array_equal(stump.predict(X), y)


def test_constants_compete():
    X = np.array([[0.0], [1.0], [2.0]])
    stump = DecisionStump().fit(X, [0, 1, 0], sample_weight=[5.0, 1.0, 5.0])
    assert stump.get_n_leaves() == 1  # no cut does better than "always 0"
    assert stump.error_ == pytest.approx(1 / 11)
    np.testing.assert_array_equal(stump.predict(X), [0, 0, 0])


def test_ties_go_to_the_lower_feature_then_threshold():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    stump = DecisionStump().fit(X, [0, 0, 1, 1])
    assert stump.tree_.feature[0] == 0
    # Cuts at 0.5 and at 2.5 both leave one error of five.
    X = np.arange(5.0).reshape(-1, 1)
    stump = DecisionStump().fit(X, [1, 0, 0, 0, 1])
    assert stump.error_ == pytest.approx(1 / 5)
    assert stump.tree_.threshold[0] == 0.5


def test_equal_halves_predict_the_first_class():
    stump = DecisionStump().fit([[1.0], [1.0]], ["b", "a"])
    assert stump.predict([[1.0]])[0] == "a"
    assert stump.error_ == 0.5


def test_exact_with_many_distinct_values():
    """Far more distinct values than 255 bins could hold."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 1))
    y = (X[:, 0] > np.sort(X[:, 0])[1234]).astype(int)
    stump = DecisionStump().fit(X, y)
    assert stump.error_ == 0
    assert (stump.predict(X) == y).all()


def test_too_many_distinct_values_are_told():
    X = np.arange(70000.0).reshape(-1, 1)
    with pytest.warns(DataWarning, match="X-COARSE.*column 0.*65535"):
        DecisionStump().fit(X, (X[:, 0] > 3).astype(int))


def test_at_the_limit_of_distinct_values_nothing_is_told():
    X = np.arange(65535.0).reshape(-1, 1)
    stump = DecisionStump().fit(X, (X[:, 0] > 3).astype(int))
    assert stump.error_ == 0


def test_categories_and_missing():
    frame = pd.DataFrame({"c": pd.Categorical(["u", "v", "w", None, "u", "w"])})
    stump = DecisionStump().fit(frame, [1, 0, 1, 0, 1, 1])
    assert stump.error_ == 0
    np.testing.assert_array_equal(stump.predict(frame), [1, 0, 1, 0, 1, 1])


def test_three_classes_get_the_best_two_sides():
    X = np.arange(6.0).reshape(-1, 1)
    stump = DecisionStump().fit(X, [0, 0, 0, 1, 1, 2])
    assert stump.error_ == pytest.approx(1 / 6)
    assert stump.predict_proba(X)[-1].tolist() == pytest.approx([0, 2 / 3, 1 / 3])


def test_class_weight_is_part_of_the_error():
    X = np.arange(4.0).reshape(-1, 1)
    y = [0, 1, 0, 0]
    assert DecisionStump().fit(X, y).error_ == pytest.approx(1 / 4)
    heavy = DecisionStump(class_weight={1: 10.0}).fit(X, y)
    assert heavy.error_ == pytest.approx(1 / 13)
