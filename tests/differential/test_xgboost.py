"""One tree against XGBoost's: L1, L2, missing values; skipped where XGBoost is absent.

Both bin every value apart, count nothing by rows, and grow by depth. XGBoost keeps derivatives and
sums as float32 or float64 and reports its gains as float32, hence the tolerance.
"""

import json

import numpy as np
import pytest
from tests.plain_boosters import make_plain

from committee import GradientBoostingClassifier, GradientBoostingRegressor

xgboost = pytest.importorskip("xgboost", reason="needs XGBoost (make .venv/.bench)")

N = 400
CLOSE = 2e-5


def rows(task):
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(N, 5)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    signal = np.nan_to_num(X[:, 0] * X[:, 1] + 2 * X[:, 2]) + 0.5 * rng.normal(size=N)
    y = signal if task == "numbers" else (signal > 0).astype(float)
    # Of weights like these no two splits are equally good: each would break a tie its own way.
    return X, y, rng.uniform(0.5, 2, N).astype(np.float32).astype(float)


def theirs(X, y, weight, task, alpha, depth):
    mean = np.average(y, weights=weight)
    objective = "reg:squarederror" if task == "numbers" else "binary:logistic"
    params = {
        "objective": objective,
        "base_score": float(mean),
        "eta": 1.0,
        "max_depth": depth,
        "alpha": alpha,
        "lambda": 0.5,
        "min_child_weight": 0.6,
        "tree_method": "exact",
        "nthread": 1,
    }
    booster = xgboost.train(params, xgboost.DMatrix(X, y, weight=weight), 1)
    start = mean if task == "numbers" else np.log(mean / (1 - mean))
    margin = booster.predict(xgboost.DMatrix(X), output_margin=True) - start
    return margin, json.loads(booster.get_dump(dump_format="json", with_stats=True)[0])


def ours(X, y, weight, task, alpha, depth):
    cls = GradientBoostingRegressor if task == "numbers" else GradientBoostingClassifier
    model = make_plain(
        cls,
        n_estimators=1,
        learning_rate=1.0,
        growth="level",
        max_depth=depth,
        max_leaf_nodes=None,
        min_samples_leaf=1,
        min_child_weight=0.6,
        l1_regularization=alpha,
        l2_regularization=0.5,
        max_bins=1024,
    ).fit(X, y, sample_weight=weight)
    return model.committee_.decision(X)[:, 0] - model.committee_.intercept[0], model


def gains_of(node):
    if "leaf" in node:
        return []
    return [node["gain"]] + [g for child in node["children"] for g in gains_of(child)]


@pytest.mark.parametrize("task", ["numbers", "classes"])
@pytest.mark.parametrize("alpha", [0.0, 3.0, 20.0])
def test_a_tree_with_l1(task, alpha):
    X, y, weight = rows(task)
    value, model = ours(X, y, weight, task, alpha, depth=4)
    expected, dump = theirs(X, y, weight, task, alpha, depth=4)
    np.testing.assert_allclose(value, expected, rtol=CLOSE, atol=CLOSE)
    gain = np.asarray(model.committee_.members.forests[0].gain)
    found, wanted = np.sort(gain[gain > 0]), np.sort([g for g in gains_of(dump) if g > 0])
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    assert len(found) > 5
