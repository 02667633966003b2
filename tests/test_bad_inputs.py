"""The table of bad inputs: for every estimator, what is raised and which facts the message holds.

Ids are those of the acceptance matrix. Left out here because they need estimators of other kinds:
B34 (cross-validation), B42, B43, B44 (rounds and learning rates), B51 to B55, B57, B58 (members),
B64 (command line and server).
"""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.utils import get_tags
from sklearn.utils._param_validation import InvalidParameterError

from committee import DataWarning
from tests.estimators import ESTIMATORS, fitted, name_of, rows_for

FRAME_NAMES = ["a", "b", "c"]
UNCODED = {"B29-column", "B50", "B59", "B59-apply", "B68", "B69"}  # scikit-learn's or Python's


@dataclass(frozen=True)
class Case:
    """One line of the table: `act(estimator, X, y)` must raise (or warn), saying all of `says`."""

    id: str
    act: Callable[..., Any]
    expected: type[Exception]
    says: list[str]
    where: Callable[[Any], bool] = lambda estimator: True

    @property
    def coded(self) -> bool:
        """Whether the message is ours: it opens with a stable code."""
        return self.id not in UNCODED


def has(*names: str) -> Callable[[Any], bool]:
    return lambda estimator: set(names) <= set(estimator.get_params())


def single_output(estimator: Any) -> bool:
    tags = get_tags(estimator)
    several_labels = tags.classifier_tags is not None and tags.classifier_tags.multi_label
    return not (tags.target_tags.multi_output or several_labels)


def fit_x(make: Callable[[Any], Any], **params: Any) -> Callable[..., Any]:
    return lambda e, X, y: e.set_params(**params).fit(make(X), y)


def damaged(X: Any) -> Any:
    """A sparse matrix whose row pointers lead beyond its entries."""
    matrix = sparse.csr_matrix(X)
    matrix.indptr[3] = 900
    return matrix


def fit_y(make: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda e, X, y: e.fit(X, make(y))


def fit_w(make: Callable[[int], Any]) -> Callable[..., Any]:
    return lambda e, X, y: e.fit(X, y, sample_weight=make(len(y)))


def fit_p(**params: Any) -> Callable[..., Any]:
    return lambda e, X, y: e.set_params(**params).fit(X, y)


def predict(make: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda e, X, y: e.fit(X, y).predict(make(X))


def predict_frame(make: Callable[[Any], Any], **columns: Any) -> Callable[..., Any]:
    def act(e: Any, X: Any, y: Any) -> Any:
        data = frame(X).assign(**columns)
        return e.fit(data, y).predict(make(data))

    return act


def frame(X: Any) -> pd.DataFrame:
    return pd.DataFrame(X, columns=FRAME_NAMES)


def levels(text: str) -> pd.Categorical:
    return pd.Categorical(list(text))


def too_many_levels() -> tuple[Any, Any]:
    return np.arange(65536).reshape(-1, 1), np.arange(65536) % 2


def with_value(X: Any, row: int, column: int, value: Any) -> Any:
    out = np.array(X, dtype=object if isinstance(value, str) else None)
    out[row, column] = value
    return out


def with_column(values: Callable[[int], Any]) -> Callable[[Any], Any]:
    return lambda X: frame(X).assign(b=values(len(X)))


def first_set(y: Any, value: Any, dtype: Any = None) -> Any:
    out = np.array(y, dtype=dtype)
    out[[2, 5]] = value
    return out


def tamper(**attributes: Callable[[Any], Any]) -> Callable[..., Any]:
    def act(e: Any, X: Any, y: Any) -> Any:
        e.fit(X, y)
        for name, change in attributes.items():
            setattr(e, name, change(e))
        return e.predict(X)

    return act


def wider(e: Any) -> Any:
    return fitted(e, *rows_for(e, p=9, seed=3))


CLASSES, NUMBERS = is_classifier, is_regressor
DAYS = "2020-01-01"
NOT_2D = [r"2-D|2D", r"1-D|1D", "Reshape your data"]
WIDTH = [r"X has \d features, but \w+ is expecting 3 features as input"]

# fmt: off
# Raised while fitting: X.
X_CASES = [
    Case("B01", lambda e, X, y: e.fit(X[:0], y[:0]), ValueError,
         [r"0 sample\(s\) \(shape=\(0, 3\)\)", "minimum of 1"]),
    Case("B02", fit_x(lambda X: X[:, :0]), ValueError,
         [r"0 feature\(s\) \(shape=\(40, 0\)\) while a minimum of 1 is required"]),
    Case("B03", fit_x(lambda X: X[:, 0]), ValueError, NOT_2D),
    Case("B03-series", fit_x(lambda X: frame(X)["a"]), ValueError, NOT_2D),
    Case("B04", fit_x(lambda X: X[:, :, None]), ValueError, [r"\(40, 3, 1\)"]),
    Case("B05", lambda e, X, y: e.fit(X, y[:-3]), ValueError, [r"\b40\b", r"\b37\b"]),
    Case("B06", fit_x(lambda X: [*X[:7].tolist(), [1.0, 2.0], *X[8:].tolist()]), ValueError,
         ["row 7", r"\b2 value", "expected 3"]),
    Case("B07", fit_x(lambda X: X + 1j), ValueError, ["Complex data not supported"]),
    Case("B07-object", fit_x(lambda X: (X + 1j).astype(object)), ValueError,
         ["Complex data not supported"]),
    Case("B08", fit_x(with_column(lambda n: ["1"] * 4 + ["tall"] * (n - 4))), ValueError,
         ["'b'", "row 4", "'tall'", "declare it categorical"]),
    Case("B08-array", fit_x(lambda X: with_value(X, 6, 1, "tall")), ValueError,
         ["column 1", "row 6", "'tall'", "declare it categorical"]),
    Case("B09", fit_x(with_column(lambda n: pd.to_datetime([DAYS] * n))), ValueError,
         ["'b'", "(?i)datetime", "derive numbers", "weekday"]),
    Case("B09-delta", fit_x(with_column(lambda n: pd.to_timedelta([1] * n))), ValueError,
         ["'b'", "(?i)duration|timedelta", "seconds"]),
    Case("B09-array", fit_x(lambda X: X.astype("M8[s]")), ValueError,
         ["column", "datetime64", "derive numbers"]),
    Case("B10", fit_x(lambda X: pl.DataFrame({"a": X[:, 0], "b": X.tolist()})), ValueError,
         ["'b'", "(?i)list"]),
    Case("B10-struct", fit_x(lambda X: pl.DataFrame({"a": X[:, 0], "b": [{"u": 1}] * 40})),
         ValueError, ["'b'", "(?i)struct"]),
    Case("B10-bytes", fit_x(lambda X: pl.DataFrame({"a": X[:, 0], "b": [b"u"] * 40})), ValueError,
         ["'b'", "(?i)binary|bytes"]),
    Case("B11", fit_x(lambda X: pd.DataFrame(X, columns=["a", "b", "a"])), ValueError, ["'a'"]),
    Case("B11-arrow", fit_x(lambda X: pa.table([X[:, 0], X[:, 1]], ["d", "d"])), ValueError,
         ["'d'"]),
    Case("B12", fit_x(lambda X: pd.DataFrame(X, columns=["a", 1, "c"])), TypeError, ["int", "str"]),
    Case("B13", fit_x(lambda X: pl.DataFrame(X).lazy()), TypeError,
         [r"collect\(\)/compute\(\) first"]),
    Case("B13-generator", fit_x(lambda X: (row for row in X)), TypeError,
         [r"collect\(\)/compute\(\) first", "generator"]),
    Case("B14", fit_x(sparse.csr_matrix, categorical_features=[0]), TypeError,
         ["sparse", r"toarray\(\)", r"\d MB"]),
    Case("B15", fit_x(lambda X: np.column_stack([2**53 + np.arange(40), X > 0])), DataWarning,
         ["column 0", r"\b29 different values collide"]),
    Case("B17", fit_x(lambda X: with_value(with_value(X, 3, 1, np.inf), 8, 1, -np.inf)),
         ValueError, ["infinity", "column 1", "rows 3, 8", r"\b2 in all"]),
    Case("B17-frame", fit_x(lambda X: frame(with_value(X, 3, 1, np.inf))), ValueError,
         ["infinity", "'b'", "row 3"]),
    Case("B15-damaged", fit_x(damaged), ValueError, ["sparse", "row pointers"],
         lambda e: get_tags(e).input_tags.sparse),
    Case("B17-sparse", fit_x(lambda X: sparse.csc_matrix(with_value(X, 3, 1, np.inf))), ValueError,
         ["infinity", "column 1", "row 3"]),
    Case("B19", fit_x(lambda X: np.column_stack([X, np.full(len(X), np.nan)])), DataWarning,
         ["column 3", "missing"]),
    Case("B19-frame", fit_x(with_column(lambda n: np.full(n, np.nan))), DataWarning,
         ["'b'", "missing"]),
    Case("B21", lambda e, X, y: e.set_params(categorical_features=[0]).fit(*too_many_levels()),
         ValueError, ["column 0", "65536", "65535", "group", "TargetEncoder"]),
    Case("B56", fit_x(frame, categorical_features=["a", "zz"]), ValueError,
         ["'zz'", "'a'", "'b'", "'c'"]),
    Case("B56-index", fit_p(categorical_features=[0, 99]), ValueError, [r"\b99\b", r"\[0, 2\]"]),
    Case("B56-monotone", fit_x(frame, monotonic_cst={"zz": 1}), ValueError,
         ["'zz'", "'a'", "'b'", "'c'"], has("monotonic_cst")),
    Case("B56-monotone-length", fit_p(monotonic_cst=[1, 0]), ValueError,
         [r"\(2,\)", r"\b3 features"], has("monotonic_cst")),
    Case("B56-monotone-value", fit_p(monotonic_cst=[2, 0, 0]), ValueError,
         [r"\b2\b", "-1, 0 or 1|-1, 0 and 1"], has("monotonic_cst")),
    Case("B56-monotone-fraction", fit_x(frame, monotonic_cst={"a": 0.9}), ValueError,
         [r"\b0\.9\b", "-1, 0 or 1|-1, 0 and 1"], has("monotonic_cst")),
    Case("B56-monotone-text", fit_x(frame, monotonic_cst={"a": "up"}), ValueError,
         ["'up'", "-1, 0 or 1|-1, 0 and 1"], has("monotonic_cst")),
    Case("B56-interaction-flat", fit_p(interaction_cst=[0, 1]), ValueError,
         ["0 is no group", r"\[\["], has("interaction_cst")),
    Case("B56-interaction-text", fit_p(interaction_cst=["ab"]), ValueError,
         ["'ab' is no group"], has("interaction_cst")),
    Case("B56-interaction", fit_p(interaction_cst=[[0, 99]]), ValueError, [r"\b99\b", r"\[0, 2\]"],
         has("interaction_cst")),
]

# Raised while fitting: y and weights.
Y_CASES = [
    Case("B23", fit_y(lambda y: None), ValueError,
         ["requires y to be passed, but the target y is None"]),
    Case("B24", fit_y(lambda y: first_set(y, np.nan, float)), ValueError,
         ["NaN", r"\b2 row", "rows 2, 5"], CLASSES),
    Case("B25", fit_y(lambda y: first_set(y, None, object)), ValueError,
         [r"\b2 row", "rows 2, 5", "None"]),
    Case("B26", fit_y(lambda y: first_set(y, np.nan)), ValueError, ["NaN", "rows 2, 5", r"\b2\b"],
         NUMBERS),
    Case("B26-inf", fit_y(lambda y: first_set(y, -np.inf)), ValueError,
         ["infinity", "rows 2, 5", r"\b2 in all"], NUMBERS),
    Case("B26-masked", fit_y(lambda y: np.ma.array(y, mask=np.arange(len(y)) == 4)), ValueError,
         ["[Mm]asked", "row 4"]),
    Case("B27", fit_y(lambda y: first_set(y, -2e150)), ValueError,
         ["rows 2, 5", r"-2e\+150", "rescale or log"], NUMBERS),
    Case("B28", fit_y(lambda y: y + 0.5), ValueError,
         ["Unknown label type: continuous", "(?i)regressor"], CLASSES),
    Case("B29", fit_y(lambda y: np.column_stack([y, y])), ValueError, [r"\(40, 2\)"],
         single_output),
    Case("B29-3d", fit_y(lambda y: y.reshape(-1, 2, 2)), ValueError, [r"\(10, 2, 2\)"]),
    Case("B29-column", fit_y(lambda y: y.reshape(-1, 1)), DataConversionWarning, ["ravel"]),
    Case("B30", fit_y(lambda y: [1, "1"] * (len(y) // 2)), ValueError, [r"int \(20", r"str \(20"],
         CLASSES),
    Case("B31", fit_y(lambda y: [str(v) for v in y]), ValueError,
         ["first value '", "convert to float"], NUMBERS),
    Case("B32", fit_y(lambda y: np.full(len(y), 7)), DataWarning,
         ["class 7", "2 or more to learn"], CLASSES),
    Case("B35", fit_w(lambda n: np.ones(n - 1)), ValueError, [r"\b39\b", r"\b40\b"]),
    Case("B36", fit_w(lambda n: first_set(np.ones(n), np.nan)), ValueError, ["rows 2, 5", "NaN"]),
    Case("B36-inf", fit_w(lambda n: first_set(np.ones(n), np.inf)), ValueError,
         ["rows 2, 5", "inf"]),
    Case("B36-masked", fit_w(lambda n: np.ma.array(np.ones(n), mask=np.arange(n) == 4)), ValueError,
         ["row 4", "NaN"]),
    Case("B37", fit_w(lambda n: first_set(np.ones(n), -1e-9)), ValueError,
         ["rows 2, 5", "weights must be >= 0"]),
    Case("B38", fit_w(np.zeros), ValueError, ["at least one non-zero"]),
    Case("B39", fit_w(lambda n: np.ones((n, 2))), ValueError, [r"\(40, 2\)"]),
    Case("B41", fit_p(class_weight={0: 1, 5: 2}), ValueError, ["class 5", "known classes: 0, 1"],
         has("class_weight")),
]

# Parameters.
P_CASES = [
    Case("B45", fit_p(max_depth=-3), InvalidParameterError, ["max_depth", r"\[1, inf\)", "-3"],
         has("max_depth")),
    Case("B46-0", fit_p(max_features=0), InvalidParameterError,
         ["max_features", r"\b0\b", r"\b3\b"], has("max_features")),
    Case("B46-1.5", fit_p(max_features=1.5), InvalidParameterError,
         ["max_features", r"1\.5", r"\b3\b"], has("max_features")),
    Case("B46-p", fit_p(max_features=4), InvalidParameterError,
         ["max_features", r"\b4\b", r"\b3\b"], has("max_features")),
    Case("B47", fit_p(random_state=-1), InvalidParameterError,
         ["random_state", r"range \[0, ", "-1"], has("random_state")),
    Case("B47-text", fit_p(random_state="a"), InvalidParameterError,
         ["random_state", r"range \[0, ", "'a'"], has("random_state")),
    Case("B48", fit_p(n_jobs=0), ValueError, ["n_jobs", "-1", "positive int"], has("n_jobs")),
    Case("B48-cap", fit_p(n_jobs=10**6), DataWarning, ["1000000", r"\d+ are used"], has("n_jobs")),
    Case("B49", lambda e, X, y: type(e)(n_job=2), TypeError, ["n_job", "did you mean 'n_jobs'"],
         has("n_jobs")),
    Case("B50", lambda e, X, y: e.set_params(trees__depth=2), ValueError,
         ["trees", "Valid parameters are: .*n_jobs"]),
]

# Raised while predicting.
PREDICT_CASES = [
    Case("B59", lambda e, X, y: e.predict(X), NotFittedError, ["Call 'fit'"]),
    Case("B59-apply", lambda e, X, y: e.apply(X), NotFittedError, ["Call 'fit'"]),
    Case("B61", predict(lambda X: X[:, :2]), ValueError, ["X has 2 features", *WIDTH]),
    Case("B61-more", predict(lambda X: np.hstack([X, X])), ValueError,
         ["X has 6 features", *WIDTH]),
    Case("B61-sparse", predict(lambda X: sparse.csr_matrix(X[:, :2])), ValueError,
         ["X has 2 features", *WIDTH]),
    Case("B62", predict_frame(lambda f: f[["a", "c"]]), ValueError, ["now missing:\n- b\n"]),
    Case("B63", predict_frame(lambda f: f[["c", "b", "a"]]), ValueError,
         ["same order as they were in fit", r"X\[model\.feature_names_in_\]"]),
    Case("B65", predict_frame(lambda f: f.assign(b=["1.5"] * 3 + ["12,5"] * (len(f) - 3))),
         ValueError, ["'b'", "'12,5'", "(?i)float64"]),
    Case("B65-category",
         predict_frame(lambda f: f.assign(b=1.0), b=levels("uv" * 20)), ValueError,
         ["'b'", "u, v"]),
    Case("B66", predict_frame(lambda f: f.assign(b=levels("u" * 37 + "www")), b=levels("uv" * 20)),
         DataWarning, ["'b'", "'w'", r"\b3 row"]),
    Case("B67", predict(lambda X: with_value(X, 4, 2, -np.inf)), ValueError,
         ["infinity", "column 2", "row 4"]),
    Case("B67-sparse", predict(lambda X: sparse.csr_matrix(with_value(X, 4, 2, np.inf))),
         ValueError, ["infinity", "column 2", "row 4"]),
    Case("B68", lambda e, X, y: e.fit(frame(X), y).predict(X), UserWarning,
         ["X does not have valid feature names, but \\w+ was fitted with feature names"]),
    Case("B69", lambda e, X, y: e.fit(X, y).predict_proba(X), AttributeError,
         ["DecisionTreeRegressor|Regressor", "predict_proba"], NUMBERS),
    Case("B70", tamper(classes_=lambda e: e.classes_[:1]), ValueError, ["classes_"], CLASSES),
    Case("B70-width", tamper(tree_=lambda e: wider(e).tree_), ValueError, ["tree_"],
         lambda e: not has("n_estimators")(e)),
    Case("B70-tree", tamper(tree_=lambda e: None), ValueError, ["tree_"],
         lambda e: not has("n_estimators")(e)),
    Case("B70-schema", tamper(schema_=lambda e: None), ValueError, ["schema_"],
         lambda e: not has("n_estimators")(e)),
    Case("B70-none", tamper(classes_=lambda e: None), ValueError, ["classes_"],
         lambda e: is_classifier(e) and not has("n_estimators")(e)),
    Case("B70-width-forest", tamper(forest_=lambda e: wider(e).forest_), ValueError, ["forest_"],
         has("n_estimators", "bootstrap", "max_bins")),
    Case("B55", fit_p(oob_score=True, bootstrap=False), ValueError,
         ["oob_score=True", "bootstrap=False"], has("oob_score", "bootstrap")),
]

# fmt: on

TABLE = [*X_CASES, *Y_CASES, *P_CASES, *PREDICT_CASES]


def lines() -> list[Any]:
    return [
        pytest.param(case, estimator, id=f"{case.id}-{name_of(estimator)}")
        for case in TABLE
        for estimator in ESTIMATORS
        if case.where(estimator)
    ]


def told(case: Case, model: Any, X: Any, y: Any) -> str:
    """Run a case; return the message of the exception or of the one warning it must give."""
    if not issubclass(case.expected, Warning):
        with pytest.raises(case.expected) as raised:
            case.act(model, X, y)
        return str(raised.value)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        case.act(model, X, y)
    messages = [str(w.message) for w in caught if issubclass(w.category, case.expected)]
    assert len(messages) == 1, messages
    return messages[0]


@pytest.mark.parametrize(("case", "estimator"), lines())
def test_bad_input(case, estimator):
    message = told(case, clone(estimator), *rows_for(estimator))
    for fact in case.says:
        assert re.search(fact, message), f"{fact!r} is not in: {message}"
    if case.coded:
        assert re.match(r"\[[A-Z]+(-[A-Z]+)*\] \w+: ", message), message


def test_ids_are_unique():
    ids = [case.id for case in TABLE]
    assert len(ids) == len(set(ids))
