"""One step of LambdaMART against LightGBM's lambdarank; skipped where LightGBM is absent.

LightGBM grows one tree from given scores. A leaf of it is -G / (H + lambda), where G and H are the
sums over its rows, so two values of lambda show both. LightGBM keeps gradients as float32 and reads
the sigmoid from a table of 2**20 steps, an error that sums of both signs in G make more of: hence
the tolerance. With the same table in place of the exact sigmoid the difference is 3e-6 at most; so
it is where all scores are equal, as the table is exact at 0.
"""

import numpy as np
import pytest

from committee.losses.ranking import LambdaMART, ndcg

lightgbm = pytest.importorskip("lightgbm", reason="needs LightGBM (make .venv/.bench)")

SIZES = [30, 1, 12, 5, 40]


def ranking_problem():
    rng = np.random.default_rng(3)
    n = sum(SIZES)
    y = rng.choice(5, n, p=[0.4, 0.3, 0.15, 0.1, 0.05]).astype(float)
    y[31:43] = 0  # a group without anything relevant
    return rng.normal(size=(n, 20)), y, rng.normal(size=n)


def dataset(X, y, raw):
    params = {"min_data_in_bin": 1, "max_bin": 255, "feature_pre_filter": False, "verbosity": -1}
    return lightgbm.Dataset(X, y, group=SIZES, init_score=raw, params=params)


def settings(**others):
    return {
        "objective": "lambdarank",
        "num_leaves": 12,  # of single rows LightGBM, which counts by hessian, loses sight
        "learning_rate": 1.0,
        "min_data_in_leaf": 3,
        "num_threads": 1,
        "verbosity": -1,
        **others,
    }


@pytest.mark.parametrize("penalty", [0.01, 1.0])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(("k", "sigmoid"), [(1000, 1.0), (3, 1.0), (10, 2.0)])
@pytest.mark.parametrize("flat", [False, True])
def test_leaves_of_one_step(k, sigmoid, normalize, penalty, flat):
    X, y, raw = ranking_problem()
    raw = raw * (not flat)
    params = settings(
        lambda_l2=penalty,
        lambdarank_norm=normalize,
        lambdarank_truncation_level=k,
        sigmoid=sigmoid,
    )
    model = lightgbm.train(params, dataset(X, y, raw), num_boost_round=1)
    leaf = model.predict(X, pred_leaf=True).ravel()
    assert len(np.unique(leaf)) >= 6
    loss = LambdaMART(k=k, normalize=normalize, sigmoid=sigmoid)
    bound = loss.with_groups(np.concatenate([[0], np.cumsum(SIZES)]))
    gradient, hessian = bound.gradient_hessian(y, raw)
    total, curvature = np.bincount(leaf, gradient), np.bincount(leaf, hessian)
    step = -total / (curvature + penalty)
    rtol, atol = (5e-6, 1e-6) if flat else (2e-4, 2e-5)
    np.testing.assert_allclose(model.predict(X), step[leaf], rtol=rtol, atol=atol)


@pytest.mark.parametrize("k", [1, 5, 20])
def test_ndcg(k):
    X, y, raw = ranking_problem()
    params = settings(metric="ndcg", eval_at=[k], learning_rate=1e-30)
    told = {}
    lightgbm.train(
        params,
        dataset(X, y, raw),
        num_boost_round=1,
        valid_sets=[dataset(X, y, raw)],
        callbacks=[lightgbm.record_evaluation(told)],
    )
    ours = ndcg(raw, y, np.repeat(range(len(SIZES)), SIZES), k).mean()
    assert told["valid_0"][f"ndcg@{k}"][0] == pytest.approx(ours, abs=1e-12)
