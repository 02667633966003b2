"""Each library as a gradient booster, with parameters that mean the same, as far as they can.

What is equal in all:

- 100 trees, learning rate .1, the mean log-odds to begin with, one Newton step a leaf;
- at most 255 bins a feature (CatBoost counts the 254 borders between them);
- lambda = 1 in leaves and gains. It must not be 0, because leaves may have one row;
- leaves of one row: only LightGBM, scikit-learn and we can ask for more; XGBoost bounds the sum of
  hessians alone, CatBoost's symmetric trees nothing. The least sum of hessians is .001, which is
  fixed in scikit-learn;
- all rows and all features in every tree, no validation split, no early stopping, no noise.

Libraries are imported inside: a process loads no peer but the one that it measures, scikit-learn
aside, which we need ourselves.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.peers import Plan, versions
from benchmarks.report import OURS

MISSING_LEVEL = "missing"  # CatBoost takes no missing value in a category

Score = Callable[[Any], np.ndarray]  # probabilities: a column a class, or of class 1 alone


@dataclass(frozen=True)
class Contestant:
    """One way to boost: how to fit, to predict probabilities and to explain.

    `prepare` turns rows into the container that a library takes; it is not timed. `contributions`
    returns a column a feature, with or without one more for the intercept.
    """

    fit: Callable[[Any, np.ndarray, Plan], Any]
    scorer: Callable[[Any, int], Score]  # of a model and a number of threads
    contributions: Callable[[Any, np.ndarray, int], np.ndarray] | None = None
    prepare: Callable[[Any], Any] = lambda X: X
    sparse: bool = True

    def probability(self, model: Any, X: Any, threads: int) -> np.ndarray:
        """Return a column for each class."""
        p = np.asarray(self.scorer(model, threads)(X), dtype=np.float64)
        return np.column_stack([1 - p, p]) if p.ndim == 1 else p


def _n_classes(y: np.ndarray) -> int:
    return int(y.max()) + 1


# --- ours ---


def _ours(growth: str) -> Contestant:
    def fit(X: Any, y: np.ndarray, plan: Plan) -> Any:
        from committee import GradientBoostingClassifier

        by_leaves = growth == "leaf"
        model = GradientBoostingClassifier(
            n_estimators=plan.n_trees,
            learning_rate=plan.rate,
            max_leaf_nodes=plan.n_leaves if by_leaves else None,
            max_depth=None if by_leaves else plan.depth,
            min_samples_leaf=1,
            l2_regularization=plan.l2,
            max_features=None,
            max_bins=255,
            growth=growth,
            random_state=0,
            n_jobs=plan.threads,
        )
        return model.fit(X, y)

    def scorer(model: Any, threads: int) -> Score:
        return model.set_params(n_jobs=threads).predict_proba

    def contributions(model: Any, X: np.ndarray, threads: int) -> np.ndarray:
        return model.set_params(n_jobs=threads).shap_values(X)

    return Contestant(fit, scorer, contributions)


# --- LightGBM ---


def _lightgbm(**more: Any) -> Contestant:
    def fit(X: Any, y: np.ndarray, plan: Plan) -> Any:
        import lightgbm

        classes = _n_classes(y)
        params = {
            "objective": "binary" if classes == 2 else "multiclass",
            "num_class": 1 if classes == 2 else classes,
            "num_leaves": plan.n_leaves,
            "learning_rate": plan.rate,
            "lambda_l2": plan.l2,
            "max_bin": 255,
            "min_data_in_leaf": 1,
            "min_sum_hessian_in_leaf": 1e-3,
            "num_threads": plan.threads,
            "verbose": -1,
            **more,
        }
        return lightgbm.train(params, lightgbm.Dataset(X, y), plan.n_trees)

    def scorer(model: Any, threads: int) -> Score:
        return lambda X: model.predict(X, num_threads=threads)

    def contributions(model: Any, X: np.ndarray, threads: int) -> np.ndarray:
        return model.predict(X, pred_contrib=True, num_threads=threads)

    return Contestant(fit, scorer, contributions)


# --- XGBoost ---


def _xgboost(policy: str) -> Contestant:
    """Bound trees by leaves alone, best first, or by depth alone, level by level."""

    def fit(X: Any, y: np.ndarray, plan: Plan) -> Any:
        import xgboost

        by_leaves = policy == "lossguide"
        classes = _n_classes(y)
        params = {
            "objective": "binary:logistic" if classes == 2 else "multi:softprob",
            "tree_method": "hist",
            "grow_policy": policy,
            "max_leaves": plan.n_leaves if by_leaves else 0,
            "max_depth": 0 if by_leaves else plan.depth,
            "eta": plan.rate,
            "lambda": plan.l2,
            "min_child_weight": 1e-3,
            "max_bin": 255,
            "nthread": plan.threads,
        }
        if classes > 2:
            params["num_class"] = classes
        # What a sparse matrix leaves out it takes as missing: on counts without zeros, the same.
        data = xgboost.QuantileDMatrix(
            X, y, max_bin=255, nthread=plan.threads, enable_categorical=True
        )
        return xgboost.train(params, data, plan.n_trees)

    def scorer(model: Any, threads: int) -> Score:
        model.set_param({"nthread": threads})
        return model.inplace_predict

    def contributions(model: Any, X: np.ndarray, threads: int) -> np.ndarray:
        import xgboost

        model.set_param({"nthread": threads})
        return model.predict(xgboost.DMatrix(X, nthread=threads), pred_contribs=True)

    return Contestant(fit, scorer, contributions)


# --- CatBoost ---


def _catboost() -> Contestant:
    """Switch off what the others lack.

    By default it draws 80 % of the rows (MVS), adds noise to the scores of splits and refines
    leaves in ten steps. Its own way with categories, ordered statistics, it keeps.
    """

    def fit(X: Any, y: np.ndarray, plan: Plan) -> Any:
        import catboost

        two = _n_classes(y) == 2
        model = catboost.CatBoostClassifier(
            iterations=plan.n_trees,
            depth=plan.depth,
            learning_rate=plan.rate,
            l2_leaf_reg=plan.l2,
            border_count=254,
            loss_function="Logloss" if two else "MultiClass",
            boost_from_average=True if two else None,  # it has none for more classes
            boosting_type="Plain",
            bootstrap_type="No",
            random_strength=0,
            leaf_estimation_method="Newton",
            leaf_estimation_iterations=1,
            cat_features=categorical(X),
            thread_count=plan.threads,
            random_seed=0,
            allow_writing_files=False,
            verbose=False,
        )
        return model.fit(X, y)

    def scorer(model: Any, threads: int) -> Score:
        return lambda X: model.predict(X, prediction_type="Probability", thread_count=threads)

    def contributions(model: Any, X: np.ndarray, threads: int) -> np.ndarray:
        import catboost

        pool = catboost.Pool(X, thread_count=threads)
        return model.get_feature_importance(pool, type="ShapValues", thread_count=threads)

    return Contestant(fit, scorer, contributions, name_missing)


def categorical(X: Any) -> list[str]:
    if not isinstance(X, pd.DataFrame):
        return []
    return [n for n, kind in X.dtypes.items() if isinstance(kind, pd.CategoricalDtype)]


def name_missing(X: Any) -> Any:
    if not isinstance(X, pd.DataFrame):
        return X
    named = {n: X[n].astype(object).where(X[n].notna(), MISSING_LEVEL) for n in categorical(X)}
    return X.assign(**{name: column.astype("category") for name, column in named.items()})


# --- scikit-learn ---


def _sklearn() -> Contestant:
    from threadpoolctl import threadpool_limits

    def fit(X: Any, y: np.ndarray, plan: Plan) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(
            max_iter=plan.n_trees,
            learning_rate=plan.rate,
            max_leaf_nodes=plan.n_leaves,
            max_depth=None,
            min_samples_leaf=1,
            l2_regularization=plan.l2,
            max_bins=255,
            early_stopping=False,
            random_state=0,
        )
        with threadpool_limits(plan.threads, "openmp"):
            return model.fit(X, y)

    def scorer(model: Any, threads: int) -> Score:
        def score(X: Any) -> np.ndarray:
            if len(X) == 1:  # setting the limit would cost more than the trees
                return model.predict_proba(X)
            with threadpool_limits(threads, "openmp"):
                return model.predict_proba(X)

        return score

    return Contestant(fit, scorer, sparse=False)


# --- all ---

LEVEL, SYMMETRIC = f"{OURS} level", f"{OURS} symmetric"
QUANTISED = "LightGBM quantised"

# By growth, ours first.
GROWTHS: Mapping[str, tuple[str, ...]] = {
    "leaf": (OURS, "LightGBM", QUANTISED, "scikit-learn HGB", "XGBoost lossguide"),
    "level": (LEVEL, "XGBoost depthwise"),
    "symmetric": (SYMMETRIC, "CatBoost"),
}


def every() -> dict[str, Contestant]:
    """Return the contestants whose library is installed, ours among them, built or not."""
    known = {
        OURS: _ours("leaf"),
        "LightGBM": _lightgbm(),
        QUANTISED: _lightgbm(use_quantized_grad=True),
        "scikit-learn HGB": _sklearn(),
        "XGBoost lossguide": _xgboost("lossguide"),
        LEVEL: _ours("level"),
        "XGBoost depthwise": _xgboost("depthwise"),
        SYMMETRIC: _ours("symmetric"),
        "CatBoost": _catboost(),
    }
    absent = tuple(name for name, version in versions().items() if version == "absent")
    return {n: c for n, c in known.items() if not n.startswith(absent or ("?",))}
