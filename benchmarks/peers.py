"""The peers, each behind one small adapter. A peer that is not installed is absent, not an error.

Every adapter can do some of: `bin` a table, `train` a boosted ensemble of the plan's size, say how
it `score`s rows (raw scores where it has them) and what `probability` it gives. Libraries are
imported inside, so that the others do not pay for them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np

from benchmarks.data import sigmoid

PACKAGES = {
    "scikit-learn": "scikit-learn",
    "LightGBM": "lightgbm",
    "XGBoost": "xgboost",
    "CatBoost": "catboost",
    "YDF": "ydf",
}


def versions() -> dict[str, str]:
    """Return the version of each peer, or "absent"."""
    found = {}
    for name, package in PACKAGES.items():
        try:
            found[name] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[name] = "absent"
    return found


@dataclass(frozen=True)
class Plan:
    """What to train, as alike as the libraries' parameters allow."""

    n_trees: int = 100
    n_leaves: int = 255
    depth: int = 8  # for those whose trees are complete
    rate: float = 0.1
    l2: float = 1.0
    threads: int = 2


Scorer = Callable[[np.ndarray], Any]


class Peer:
    """What one library can do; a method that is None it cannot, or not comparably."""

    name: str
    bin: Callable[[np.ndarray, int], Any] | None = None
    train: Callable[[np.ndarray, np.ndarray, Plan], Any] | None = None
    scorer: Callable[[Any, int], Scorer] | None = None
    probability: Callable[[Any, np.ndarray], np.ndarray] | None = None


class LightGBM(Peer):
    name = "LightGBM"

    def bin(self, X: np.ndarray, threads: int) -> Any:
        import lightgbm

        params = {"max_bin": 255, "num_threads": threads, "verbose": -1}
        return lightgbm.Dataset(X, params=params).construct()

    def train(self, X: np.ndarray, y: np.ndarray, plan: Plan) -> Any:
        import lightgbm

        params = {
            "objective": "binary",
            "num_leaves": plan.n_leaves,
            "learning_rate": plan.rate,
            "lambda_l2": plan.l2,
            "max_bin": 255,
            "num_threads": plan.threads,
            "min_data_in_leaf": 1,
            "min_sum_hessian_in_leaf": 1e-3,
            "verbose": -1,
        }
        return lightgbm.train(params, lightgbm.Dataset(X, y), plan.n_trees)

    def scorer(self, model: Any, threads: int) -> Scorer:
        return lambda X: model.predict(X, raw_score=True, num_threads=threads)

    def probability(self, model: Any, X: np.ndarray) -> np.ndarray:
        return model.predict(X)


class XGBoost(Peer):
    name = "XGBoost"

    def bin(self, X: np.ndarray, threads: int) -> Any:
        import xgboost

        return xgboost.QuantileDMatrix(X, max_bin=255, nthread=threads)

    def train(self, X: np.ndarray, y: np.ndarray, plan: Plan) -> Any:
        import xgboost

        params = {
            "objective": "binary:logistic",
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_leaves": plan.n_leaves,
            "max_depth": 0,
            "eta": plan.rate,
            "lambda": plan.l2,
            "max_bin": 255,
            "min_child_weight": 1e-3,
            "nthread": plan.threads,
        }
        data = xgboost.QuantileDMatrix(X, y, max_bin=255, nthread=plan.threads)
        return xgboost.train(params, data, plan.n_trees)

    def scorer(self, model: Any, threads: int) -> Scorer:
        booster = model.copy()
        booster.set_param({"nthread": threads})
        return lambda X: booster.inplace_predict(X, predict_type="margin")

    def probability(self, model: Any, X: np.ndarray) -> np.ndarray:
        return model.inplace_predict(X)


class CatBoost(Peer):
    """Its trees are symmetric: the depth that has as many leaves."""

    name = "CatBoost"

    def bin(self, X: np.ndarray, threads: int) -> Any:
        import catboost

        pool = catboost.Pool(X, thread_count=threads)
        pool.quantize(border_count=254)
        return pool

    def train(self, X: np.ndarray, y: np.ndarray, plan: Plan) -> Any:
        import catboost

        model = catboost.CatBoostClassifier(
            iterations=plan.n_trees,
            depth=plan.depth,
            learning_rate=plan.rate,
            l2_leaf_reg=plan.l2,
            border_count=254,
            thread_count=plan.threads,
            allow_writing_files=False,
            verbose=False,
        )
        return model.fit(X, y)

    def scorer(self, model: Any, threads: int) -> Scorer:
        return lambda X: model.predict(X, prediction_type="RawFormulaVal", thread_count=threads)

    def pool_scorer(self, model: Any, threads: int, X: np.ndarray) -> Callable[[], Any]:
        """Score rows that were converted before: the time of the trees alone."""
        import catboost

        pool = catboost.Pool(X)
        return lambda: self.scorer(model, threads)(pool)

    def probability(self, model: Any, X: np.ndarray) -> np.ndarray:
        return model.predict_proba(X)[:, 1]


class SklearnHistogram(Peer):
    name = "scikit-learn HGB"

    def bin(self, X: np.ndarray, threads: int) -> Any:
        from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

        X = np.asarray(X, dtype=np.float64)  # as its fit does
        return _BinMapper(n_bins=256, random_state=0, n_threads=threads).fit_transform(X)

    def train(self, X: np.ndarray, y: np.ndarray, plan: Plan) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits

        model = HistGradientBoostingClassifier(
            max_iter=plan.n_trees,
            max_leaf_nodes=plan.n_leaves,
            max_depth=None,
            min_samples_leaf=1,
            learning_rate=plan.rate,
            l2_regularization=plan.l2,
            early_stopping=False,
        )
        with threadpool_limits(plan.threads, "openmp"):
            return model.fit(X, y)

    def scorer(self, model: Any, threads: int) -> Scorer:
        from threadpoolctl import ThreadpoolController

        controller = ThreadpoolController()

        def score(X: np.ndarray) -> np.ndarray:
            if len(X) == 1:  # setting the limit would cost more than the trees
                return model.decision_function(X)
            with controller.limit(limits=threads, user_api="openmp"):
                return model.decision_function(X)

        return score

    def probability(self, model: Any, X: np.ndarray) -> np.ndarray:
        return sigmoid(model.decision_function(X))


class SklearnForest(Peer):
    """Trees of as many leaves; grown on a fifth of the rows, because only their walk is timed."""

    name = "scikit-learn forest"

    def train(self, X: np.ndarray, y: np.ndarray, plan: Plan) -> Any:
        from sklearn.ensemble import RandomForestClassifier

        model = RandomForestClassifier(
            plan.n_trees, max_leaf_nodes=plan.n_leaves, max_samples=0.2, n_jobs=plan.threads
        )
        return model.fit(X, y)

    def scorer(self, model: Any, threads: int) -> Scorer:
        def score(X: np.ndarray) -> np.ndarray:
            model.n_jobs = threads
            return model.predict_proba(X)

        return score

    def probability(self, model: Any, X: np.ndarray) -> np.ndarray:
        return model.predict_proba(X)[:, 1]


class YDF(Peer):
    """Takes columns by name; they are cut out of the table beforehand."""

    name = "YDF"

    def columns(self, X: np.ndarray) -> dict[str, np.ndarray]:
        return {f"f{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])}

    def train(self, X: np.ndarray, y: np.ndarray, plan: Plan) -> Any:
        import ydf

        learner = ydf.GradientBoostedTreesLearner(
            label="y",
            num_trees=plan.n_trees,
            growing_strategy="BEST_FIRST_GLOBAL",
            max_num_nodes=plan.n_leaves,
            max_depth=-1,
            min_examples=1,
            shrinkage=plan.rate,
            l2_regularization=plan.l2,
            validation_ratio=0.0,
            early_stopping="NONE",
            discretize_numerical_columns=True,
            num_discretized_numerical_bins=255,
            num_threads=plan.threads,
        )
        return learner.train({**self.columns(X), "y": y}, verbose=0)

    def cart(self, X: np.ndarray, y: np.ndarray, classify: bool) -> Any:
        """Grow one unpruned tree on one thread."""
        import ydf

        task = ydf.Task.CLASSIFICATION if classify else ydf.Task.REGRESSION
        learner = ydf.CartLearner(
            label="y", task=task, min_examples=1, max_depth=-1, validation_ratio=0.0, num_threads=1
        )
        return learner.train({**self.columns(X), "y": y}, verbose=0)

    def scorer(self, model: Any, threads: int) -> Scorer:
        return lambda columns: model.predict(columns, num_threads=threads)

    def probability(self, model: Any, X: np.ndarray) -> np.ndarray:
        return model.predict(self.columns(X))


def peers() -> list[Peer]:
    """Return the adapters of the libraries that are installed."""
    found = versions()
    every = [SklearnHistogram(), SklearnForest(), LightGBM(), XGBoost(), CatBoost(), YDF()]
    return [
        p for p in every if any(p.name.startswith(n) for n, v in found.items() if v != "absent")
    ]
