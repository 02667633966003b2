"""R66: one tree on twenty rows beside the XGBoost package; skipped where it is absent.

Node by node: the rows, the gain ``loss_chg``, the cover (the sum of hessians) and, of leaves, the
value -G / (H + lambda). XGBoost works in single precision, so that numbers agree to 1e-5; its cuts
lie on values, ours between them, so that rows are compared and not thresholds. Both start from the
same score. No step is so long that ours would be cut (``longest_step`` of a loss).
"""

import json

import numpy as np
import pytest
from tests.oracles.walk import goes_left
from tests.plain_boosters import make_plain

from committee import GradientBoostingClassifier, GradientBoostingRegressor
from committee._engine import FEATURE_MASK

xgboost = pytest.importorskip("xgboost", reason="needs XGBoost (make .venv/.bench)")

N = 20
RATE = 0.5
# Lambda is above 0: without it, parting rows of one class gains what rounding leaves.
SETTINGS = {
    "little": {"lambda": 0.01, "gamma": 0.0, "min_child_weight": 0.0},
    "lambda": {"lambda": 1.5, "gamma": 0.0, "min_child_weight": 0.0},
    "gamma": {"lambda": 1.0, "gamma": 0.6, "min_child_weight": 0.0},
    "min_child_weight": {"lambda": 0.5, "gamma": 0.0, "min_child_weight": 1.1},
    "all": {"lambda": 2.0, "gamma": 0.2, "min_child_weight": 0.8},
}


def twenty_rows(kind, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3)).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = np.nan
    signal = np.nan_to_num(X[:, 0] - X[:, 1], nan=0.7) + 0.5 * rng.normal(size=N)
    y = signal if kind == "squared" else (signal > np.median(signal) - 0.3).astype(float)
    return X, y, rng.integers(1, 4, N).astype(float)


def fit_ours(kind, X, y, w, settings):
    cls = GradientBoostingRegressor if kind == "squared" else GradientBoostingClassifier
    return make_plain(
        cls,
        n_estimators=1,
        learning_rate=RATE,
        growth="level",
        max_depth=3,
        max_leaf_nodes=None,
        min_samples_leaf=1,
        l2_regularization=settings["lambda"],
        min_split_gain=settings["gamma"],
        min_child_weight=settings["min_child_weight"],
        early_stopping=False,
    ).fit(X, y, sample_weight=w)


def fit_theirs(kind, X, y, w, settings, start):
    logistic = kind == "logistic"
    params = {
        "objective": "binary:logistic" if logistic else "reg:squarederror",
        "tree_method": "hist",
        "max_depth": 3,
        "eta": RATE,
        "base_score": 1 / (1 + np.exp(-start)) if logistic else start,
        "nthread": 1,
        **settings,
    }
    model = xgboost.train(params, xgboost.DMatrix(X, y, weight=w), num_boost_round=1)
    return json.loads(model.get_dump(dump_format="json", with_stats=True)[0])


def their_left(node, X):
    """Which rows go to the first child."""
    x = X[:, int(node["split"][1:])]
    first = node["yes"] == node["children"][0]["nodeid"]
    missing = node["missing"] == node["yes"]
    yes = np.where(np.isnan(x), missing, x < np.float32(node["split_condition"]))
    return yes == first


def compare(forest, node, other, X, rows):
    """Walk both trees; return how many splits there were."""
    np.testing.assert_allclose(forest.weight[node], other["cover"], rtol=1e-5)
    here = int(forest.left[node])
    assert (here == node) == ("leaf" in other), f"one of them is a leaf: {rows}"
    if here == node:
        step = RATE * forest.values[node, 0]
        np.testing.assert_allclose(step, other["leaf"], rtol=1e-5, atol=1e-6)
        return 0
    np.testing.assert_allclose(forest.gain[node], other["gain"], rtol=2e-5)
    assert int(forest.feature[node]) & FEATURE_MASK == int(other["split"][1:])
    mine = np.array([goes_left(forest, node, row) for row in X[rows]])
    theirs = their_left(other, X[rows])
    np.testing.assert_array_equal(mine, theirs)
    return 1 + sum(
        compare(forest, here + side, other["children"][side], X, rows[mine == (side == 0)])
        for side in (0, 1)
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("kind", ["squared", "logistic"])
def test_r66_twenty_rows(kind, settings, weighted):
    n_splits = 0
    for seed in range(3):
        X, y, w = twenty_rows(kind, seed)
        w = w if weighted else None
        ours = fit_ours(kind, X, y, w, settings)
        start = float(ours.committee_.intercept[0])
        theirs = fit_theirs(kind, X, y, w, settings, start)
        forest = ours.committee_.members.forests[0]
        n_splits += compare(forest, 0, theirs, X, np.arange(N))
    assert n_splits >= 4
