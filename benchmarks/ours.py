"""Our side where no estimator exists yet: Newton boosting written on the engine itself."""

from dataclasses import dataclass

import numpy as np

from benchmarks.data import sigmoid
from benchmarks.peers import Plan
from committee import _engine
from committee.data import Schema, read_fit, read_predict
from committee.data.rows import Rows, engine_table


@dataclass
class Booster:
    """A forest with weights, used as an estimator would use it."""

    forest: _engine.Forest
    schema: Schema
    weight: np.ndarray
    intercept: np.ndarray

    def score(self, X: np.ndarray, threads: int = 1) -> np.ndarray:
        table = engine_table(read_predict(X, self.schema, estimator_name="Booster"))
        return self.forest.predict(table, self.weight, self.intercept, threads)

    def probability(self, X: np.ndarray) -> np.ndarray:
        return sigmoid(self.score(X)[:, 0])


def tree_params(plan: Plan) -> _engine.TreeParams:
    params = _engine.TreeParams()
    params.criterion = _engine.Criterion.newton
    params.growth = _engine.Growth.best_first
    params.max_leaves = plan.n_leaves
    params.min_gain = 0.0
    params.l2 = plan.l2
    return params


def train(X: np.ndarray, y: np.ndarray, plan: Plan) -> Booster:
    """Boost trees on the logistic loss."""
    table, schema = read_fit(X)
    rows = Rows.of(table, None, max_bins=255, n_threads=plan.threads)
    params = tree_params(plan)
    start = float(np.log(y.mean() / (1 - y.mean())))
    score = np.full(len(y), start)
    forests = []
    for _ in range(plan.n_trees):
        p = sigmoid(score)
        stats = _engine.Stats.newton(p - y, p * (1 - p))
        forest, order, begin, node = _engine.grow_tree_with_rows(
            rows.matrix, rows.mapper, stats, params, plan.threads
        )
        leaf_values = forest.values.ravel()[node]
        score[order] += plan.rate * np.repeat(leaf_values, np.diff(begin).astype(np.int64))
        forests.append(forest)
    weight = np.full(plan.n_trees, plan.rate)
    return Booster(_engine.Forest.concatenate(forests), schema, weight, np.array([start]))
