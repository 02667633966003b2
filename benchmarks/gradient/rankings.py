"""LambdaMART of three libraries on queries made from a seed: NDCG@10 on queries not seen.

Same parameters: 100 rounds at rate .1 on at most 255 bins, lambda 1, at least .1 of hessian in a
leaf (hessians of pairs are small), pairs with a document among the first 30. By leaves (31) beside
LightGBM, by levels (depth 6) beside XGBoost.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.gradient.models import DEPTH, L2, LEAVES, RATE, ROUNDS, THREADS
from committee.losses.ranking import ndcg

QUERIES, TEST_QUERIES, DEEPEST, LEAST, PAIRS = 300, 600, 10, 0.1, 30


@dataclass(frozen=True)
class Queries:
    """Documents of some queries, query by query."""

    X: np.ndarray
    y: np.ndarray
    sizes: np.ndarray

    @property
    def query(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


def make_queries(n: int, seed: int) -> Queries:
    """Draw queries of 5 to 60 documents; relevance 0 to 4 is relative to the query."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 61, n)
    query = np.repeat(np.arange(n), sizes)
    X = rng.normal(size=(len(query), 12))
    X[:, 10:] = rng.normal(size=(n, 2))[query]  # of the query alone
    merit = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) * X[:, 10] + 0.5 * np.abs(X[:, 4])
    merit += rng.normal(size=n)[query] + 0.7 * rng.normal(size=len(query))
    return Queries(X, np.digitize(merit, [0.5, 1.5, 2.5, 3.5]), sizes)


Ranker = Callable[[Queries, np.ndarray], np.ndarray]  # learns; scores of other documents


def _ours(**params: object) -> Ranker:
    def rank(data: Queries, X: np.ndarray) -> np.ndarray:
        from committee import GradientBoostingRanker

        model = GradientBoostingRanker(
            "lambdamart",
            k=PAIRS,
            n_estimators=ROUNDS,
            learning_rate=RATE,
            l2_regularization=L2,
            min_samples_leaf=1,
            min_child_weight=LEAST,
            max_features=None,
            n_jobs=THREADS,
            **params,
        )
        return model.fit(data.X, data.y, groups=data.query).predict(X)

    return rank


def _lightgbm(data: Queries, X: np.ndarray) -> np.ndarray:
    import lightgbm

    model = lightgbm.LGBMRanker(
        n_estimators=ROUNDS,
        learning_rate=RATE,
        num_leaves=LEAVES,
        reg_lambda=L2,
        min_child_samples=1,
        min_child_weight=LEAST,
        lambdarank_truncation_level=PAIRS,
        n_jobs=THREADS,
        verbose=-1,
    )
    return model.fit(data.X, data.y, group=data.sizes).predict(X)


def _xgboost(data: Queries, X: np.ndarray) -> np.ndarray:
    import xgboost

    model = xgboost.XGBRanker(
        objective="rank:ndcg",
        lambdarank_pair_method="topk",
        lambdarank_num_pair_per_sample=PAIRS,
        n_estimators=ROUNDS,
        learning_rate=RATE,
        max_depth=DEPTH,
        reg_lambda=L2,
        min_child_weight=LEAST,
        max_bin=255,
        n_jobs=THREADS,
    )
    return model.fit(data.X, data.y, qid=data.query).predict(X)


RANKERS: dict[str, tuple[Ranker, str, Ranker]] = {
    "31 leaves": (_ours(max_leaf_nodes=LEAVES), "LightGBM", _lightgbm),
    "depth 6": (
        _ours(max_leaf_nodes=None, max_depth=DEPTH, growth="level"),
        "XGBoost",
        _xgboost,
    ),
}


def measured(seeds: int) -> dict[str, tuple[np.ndarray, str, np.ndarray]]:
    """Return mean NDCG@10 by seed: ours, the peer's name, the peer's."""
    found = {}
    for growth, (ours, peer, theirs) in RANKERS.items():
        both: tuple[list[float], list[float]] = ([], [])
        for seed in range(seeds):
            data, test = make_queries(QUERIES, seed), make_queries(TEST_QUERIES, 1000 + seed)
            for model, scores in zip((ours, theirs), both, strict=True):
                answer = model(data, test.X)
                scores.append(float(ndcg(answer, test.y, test.query, DEEPEST).mean()))
        found[growth] = np.array(both[0]), peer, np.array(both[1])
    return found
