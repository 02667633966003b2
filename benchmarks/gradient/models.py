"""Gradient boosters whose predictions are compared: with the same parameters, and by default.

With the same parameters, 100 rounds at rate .1 on at most 255 bins with lambda 1, without early
stopping, six comparisons:

- 31 leaves of at least 1 of hessian, beside LightGBM, which does not try a feature again below a
  node where none of its splits gained: here `retire_features`;
- the same beside XGBoost hist with the policy "lossguide", which tries all, as we do by default;
- XGBoost in our place beside LightGBM, to tell what comes of LightGBM's rule;
- 31 leaves of at least 20 rows, beside LightGBM, which counts rows by their share of the hessian;
- the same beside scikit-learn, which counts them one by one, as we do, and tries all features;
- depth 6, level by level, at least 1 of hessian in a leaf, beside XGBoost hist.

For more than two classes the hessians of libraries differ by a factor: 2 p (1 - p) in XGBoost, p (1
- p) in scikit-learn, K / (K - 1) p (1 - p) in LightGBM and here. Rate, lambda and least hessian are
scaled by the ratio, which makes the steps equal.

Categories are codes for all, so that the work is the same. By default, each library gets categories
and missing values in the form that it takes: strings for CatBoost, pandas' categories for the
others. Libraries are imported inside.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from benchmarks.gradient.contestants import categorical, name_missing
from benchmarks.gradient.sets import Fold
from benchmarks.report import OURS

Model = Callable[[Fold, int], np.ndarray]  # of a fold and a seed: probabilities, or numbers

ROUNDS, RATE, L2 = 100, 0.1, 1.0
LEAVES, DEPTH, LEAST_ROWS, LEAST_HESSIAN = 31, 6, 20, 1.0
THREADS = int(os.environ.get("COMMITTEE_BENCH_THREADS", "2"))
SMALL = 3000  # rows up to which a second thread does not pay


def threads(fold: Fold) -> int:
    return 1 if len(fold.y) < SMALL else THREADS


def _kind(fold: Fold) -> str:
    return "Classifier" if fold.n_classes else "Regressor"


def answers(model: Any, fold: Fold) -> np.ndarray:
    """Fit and predict as in scikit-learn."""
    model.fit(fold.X, fold.y)
    return model.predict_proba(fold.X_test) if fold.n_classes else model.predict(fold.X_test)


def ours(**params: Any) -> Model:
    def model(fold: Fold, seed: int) -> np.ndarray:
        import committee

        make = getattr(committee, f"GradientBoosting{_kind(fold)}")
        return answers(make(**params, random_state=seed, n_jobs=threads(fold)), fold)

    return model


# --- the same parameters ---


def _hessian_ratio(n_classes: int, factor: float | None) -> float:
    """Divide our factor of the multinomial hessian by that of a peer; None is ours."""
    if n_classes <= 2 or factor is None:
        return 1.0
    return n_classes / (n_classes - 1) / factor


def _same(factor: float | None = None, **params: Any) -> Model:
    """Boost as a peer whose multinomial hessian has this factor."""

    def model(fold: Fold, seed: int) -> np.ndarray:
        ratio = _hessian_ratio(fold.n_classes, factor)
        given = {
            "n_estimators": ROUNDS,
            "learning_rate": RATE * ratio,
            "l2_regularization": L2 * ratio,
            "max_features": None,
            **params,
        }
        given["min_child_weight"] = params.get("min_child_weight", 0.0) * ratio
        return ours(**given)(fold, seed)

    return model


def _same_lightgbm(**params: Any) -> Model:
    def model(fold: Fold, seed: int) -> np.ndarray:
        import lightgbm

        made = getattr(lightgbm, f"LGBM{_kind(fold)}")(
            n_estimators=ROUNDS,
            learning_rate=RATE,
            num_leaves=LEAVES,
            reg_lambda=L2,
            max_bin=255,
            min_data_in_bin=1,
            random_state=seed,
            n_jobs=threads(fold),
            verbose=-1,
            **params,
        )
        return answers(made, fold)

    return model


def _same_sklearn(fold: Fold, seed: int) -> np.ndarray:
    ratio = _hessian_ratio(fold.n_classes, 1.0)
    return _sklearn(
        fold,
        seed,
        max_iter=ROUNDS,
        learning_rate=RATE / ratio,
        l2_regularization=L2 / ratio,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=LEAST_ROWS,
        early_stopping=False,
    )


def _same_xgboost(as_lightgbm: bool = False, **params: Any) -> Model:
    def model(fold: Fold, seed: int) -> np.ndarray:
        import xgboost

        ratio = 1 / _hessian_ratio(fold.n_classes, 2.0) if as_lightgbm else 1.0
        made = getattr(xgboost, f"XGB{_kind(fold)}")(
            n_estimators=ROUNDS,
            learning_rate=RATE * ratio,
            min_child_weight=LEAST_HESSIAN * ratio,
            reg_lambda=L2 * ratio,
            max_bin=255,
            tree_method="hist",
            random_state=seed,
            n_jobs=threads(fold),
            **params,
        )
        return answers(made, fold)

    return model


# --- by default ---


def _xgboost(fold: Fold, seed: int) -> np.ndarray:
    import xgboost

    make = getattr(xgboost, f"XGB{_kind(fold)}")
    return answers(make(enable_categorical=True, random_state=seed, n_jobs=threads(fold)), fold)


def _lightgbm(fold: Fold, seed: int) -> np.ndarray:
    import lightgbm

    make = getattr(lightgbm, f"LGBM{_kind(fold)}")
    return answers(make(random_state=seed, n_jobs=threads(fold), verbose=-1), fold)


def _catboost(fold: Fold, seed: int) -> np.ndarray:
    import catboost

    make = getattr(catboost, f"CatBoost{_kind(fold)}")
    model = make(
        cat_features=categorical(fold.X),
        random_seed=seed,
        thread_count=threads(fold),
        allow_writing_files=False,
        verbose=False,
    )
    X, X_test = name_missing(fold.X), name_missing(fold.X_test)
    return answers(model, Fold(X, fold.y, X_test, fold.y_test, fold.n_classes))


def _sklearn(fold: Fold, seed: int, **params: Any) -> np.ndarray:
    """Leave out columns without a value; it takes neither them nor a sparse matrix."""
    import sklearn.ensemble
    from threadpoolctl import threadpool_limits

    X, X_test = fold.X, fold.X_test
    if sparse.issparse(X):
        return np.full((X_test.shape[0], fold.n_classes), np.nan)
    if isinstance(X, pd.DataFrame):
        some = X.columns[X.notna().any()]
        X, X_test = X[some], X_test[some]
    else:
        some = ~np.isnan(X).all(axis=0)
        X, X_test = X[:, some], X_test[:, some]
    make = getattr(sklearn.ensemble, f"HistGradientBoosting{_kind(fold)}")
    with threadpool_limits(threads(fold), "openmp"):
        return answers(
            make(random_state=seed, **params),
            Fold(X, fold.y, X_test, fold.y_test, fold.n_classes),
        )


_BY_ROWS: dict[str, Any] = {"max_leaf_nodes": LEAVES, "min_samples_leaf": LEAST_ROWS}
_LIGHTGBM_BY_HESSIAN = _same_lightgbm(min_child_samples=1, min_child_weight=LEAST_HESSIAN)
_BEST_FIRST: dict[str, Any] = {"grow_policy": "lossguide", "max_depth": 0, "max_leaves": LEAVES}
SAME: dict[str, tuple[str, Model, str, Model]] = {  # who, and beside whom
    "31 leaves, hessian at least 1": (
        OURS,
        _same(
            max_leaf_nodes=LEAVES,
            min_samples_leaf=1,
            min_child_weight=LEAST_HESSIAN,
            retire_features=True,
        ),
        "LightGBM",
        _LIGHTGBM_BY_HESSIAN,
    ),
    "31 leaves, hessian at least 1, of peers": (
        "XGBoost",
        _same_xgboost(as_lightgbm=True, **_BEST_FIRST),
        "LightGBM",
        _LIGHTGBM_BY_HESSIAN,
    ),
    "31 leaves, 20 rows by hessian": (
        OURS,
        _same(**_BY_ROWS, retire_features=True),
        "LightGBM",
        _same_lightgbm(min_child_samples=LEAST_ROWS, min_child_weight=1e-3),
    ),
    "31 leaves, 20 rows": (OURS, _same(**_BY_ROWS), "scikit-learn HGB", _same_sklearn),
    "depth 6, hessian at least 1": (
        OURS,
        _same(
            2.0,
            max_leaf_nodes=None,
            max_depth=DEPTH,
            min_samples_leaf=1,
            min_child_weight=LEAST_HESSIAN,
            growth="level",
        ),
        "XGBoost",
        _same_xgboost(max_depth=DEPTH),
    ),
    "31 leaves, best first, hessian at least 1": (
        OURS,
        _same(2.0, max_leaf_nodes=LEAVES, min_samples_leaf=1, min_child_weight=LEAST_HESSIAN),
        "XGBoost",
        _same_xgboost(**_BEST_FIRST),
    ),
}
PEERS = {
    "XGBoost": _xgboost,
    "LightGBM": _lightgbm,
    "CatBoost": _catboost,
    "scikit-learn HGB": _sklearn,
}
