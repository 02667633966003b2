"""Odd but good inputs: accepted in silence, for every estimator; warnings are errors here.

Ids are those of the acceptance matrix beside the table of bad inputs.
"""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier

from committee import DataWarning
from tests.estimators import (
    ESTIMATORS,
    GRADIENT_BOOSTERS,
    fitted,
    forest_of,
    model_bits,
    name_of,
    only_leaves,
    outputs_of,
    rows_for,
)

every = pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)


def quarters(estimator, n=60):
    """Rows of quarters: exact in every float type, so that all containers hold equal values."""
    X, y = rows_for(estimator, n)
    return np.round(X * 4) / 4, y


def containers(X, tmp_path):
    strided = np.full((2 * len(X), 2 * X.shape[1]), 7.0)
    strided[::2, ::2] = X
    fixed = X.copy()
    fixed.flags.writeable = False
    memory = np.memmap(tmp_path / "rows", dtype=np.float64, mode="w+", shape=X.shape)
    memory[:] = X
    frame = pd.DataFrame(X)
    return {
        "fortran": np.asfortranarray(X),
        "strided": strided[::2, ::2],
        "backwards": X[::-1][::-1],
        "read-only": fixed,
        "memmap": memory,
        "big-endian": X.astype(">f8"),
        "float16": X.astype(np.float16),
        "float32": X.astype(np.float32),
        "longdouble": X.astype(np.longdouble),
        "list": X.tolist(),
        "object": X.astype(object),
        "nullable": frame.astype("Float64"),
        "arrow-backed": frame.astype("double[pyarrow]"),
    }


@every
def test_b16_containers(estimator, tmp_path):
    X, y = quarters(estimator)
    expected = model_bits(fitted(estimator, X, y))
    for kind, same in containers(X, tmp_path).items():
        assert model_bits(fitted(estimator, same, y)) == expected, kind


@every
@pytest.mark.parametrize("dtype", [bool, "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4"])
def test_b16_integers(estimator, dtype):
    X, y = rows_for(estimator)
    whole = (X > 0).astype(np.int64)
    assert model_bits(fitted(estimator, whole.astype(dtype), y)) == model_bits(
        fitted(estimator, whole.astype(np.float64), y)
    )


@every
def test_b18_missing_values(estimator):
    X, y = quarters(estimator)
    X[::7, 1] = np.nan
    expected = model_bits(fitted(estimator, X, y))
    objects = X.astype(object)
    for value in (None, float("nan"), pd.NA):
        holes = objects.copy()
        holes[::7, 1] = value
        assert model_bits(fitted(estimator, holes, y)) == expected, repr(value)
    names = ["a", "b", "c"]
    nulls = pl.DataFrame(X, schema=names).with_columns(pl.all().fill_nan(None))
    nullable = pd.DataFrame(X, columns=names).astype("Float64")
    for frame in (nulls, nulls.to_arrow(), nullable):
        assert model_bits(fitted(estimator, frame, y)) == expected, type(frame)


@every
def test_b18_missing_at_predict_only(estimator):
    X, y = rows_for(estimator)
    outputs = outputs_of(fitted(estimator, X, y), np.full((2, 3), np.nan))
    assert np.isfinite(outputs).all()


@every
def test_b19_all_missing_column_is_not_used(estimator):
    X, y = rows_for(estimator)
    wide = np.column_stack([np.full(len(X), np.nan), X])
    with pytest.warns(DataWarning, match="column 0"):
        model = fitted(estimator, wide, y)
    assert model.feature_importances_[0] == 0
    if hasattr(model, "tree_"):  # bags and draws of features hang on all columns
        expected = outputs_of(fitted(estimator, X, y), X)
        np.testing.assert_array_equal(outputs_of(model, wide), expected)


@every
def test_b20_constant_column(estimator):
    X, y = rows_for(estimator)
    X[:, 1] = 5.0
    assert fitted(estimator, X, y).feature_importances_[1] == 0


@every
def test_b22_missing_category(estimator):
    X, y = rows_for(estimator)
    level = np.where(X[:, 0] > 0, "high", "low").astype(object)
    level[::6] = None
    frame = pd.DataFrame({"level": pd.Categorical(level), "b": X[:, 1]})
    model = fitted(estimator, frame, y)
    assert np.isfinite(outputs_of(model, frame)).all()
    assert set(model.schema_.levels[0]) == {"high", "low"}


@every
def test_b33_one_row(estimator):
    X, y = rows_for(estimator)
    model = clone(estimator)
    if is_classifier(estimator):
        with pytest.warns(DataWarning, match="Y-ONE-CLASS"):
            model.fit(X[:1], y[:1])
    else:
        model.fit(X[:1], y[:1])
    np.testing.assert_array_equal(model.predict(X), np.full(len(X), y[0]))
    assert only_leaves(model)


@every
@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_b40_extreme_weights(estimator, scale):
    """Weights are scaled by powers of two inside, so a power of two changes no bit."""
    X, y = rows_for(estimator)
    weight = np.random.default_rng(1).integers(1, 5, len(y)).astype(float)
    if estimator in GRADIENT_BOOSTERS:  # a penalty is in units of weight
        estimator = clone(estimator).set_params(l2_regularization=0)
    plain = fitted(estimator, X, y, weight)
    power = 2.0 ** np.round(np.log2(scale))
    scaled = fitted(estimator, X, y, weight * power)
    exact = ("weight", "gain")  # these carry the scale
    assert model_bits(scaled, exact) == model_bits(plain, exact)
    if hasattr(estimator, "learning_rate"):  # ties of gains fall otherwise by the last bit
        return
    decimal = fitted(estimator, X, y, weight * scale)
    np.testing.assert_array_equal(decimal.apply(X), plain.apply(X))
    np.testing.assert_allclose(outputs_of(decimal, X), outputs_of(plain, X), rtol=1e-6)


@every
def test_b60_no_rows(estimator):
    X, y = rows_for(estimator)
    model = fitted(estimator, X, y)
    labels = model.predict(X[:0])
    assert labels.shape == (0,)
    assert labels.dtype == model.predict(X).dtype
    assert len(model.apply(X[:0])) == 0
    if hasattr(model, "decision_path"):
        path = model.decision_path(X[:0])
        path = path[0] if isinstance(path, tuple) else path
        assert path.shape == (0, forest_of(model).n_nodes)
    if is_classifier(model):
        assert model.predict_proba(X[:0]).shape == (0, 2)
