"""The tables that every estimator of this library must pass, on ensembles of named members."""

import warnings

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests import test_accepted_inputs as accepted
from tests import test_bad_inputs as bad
from tests import test_faults as faults
from tests import test_numbers as numbers
from tests.estimators import PANELS, fitted, model_bits, name_of, outputs_of, rows_for

from committee import DataWarning

every = pytest.mark.parametrize("estimator", PANELS, ids=name_of)

# Parameters of trees are nested, and nobody here has leaves to find rows in.
NOT_HERE = {"B14", "B21", "B56", "B56-index", "B59-apply", "B70-width", "B70-tree"}


@parametrize_with_checks(PANELS)
def test_estimator_check(estimator, check):
    check(estimator)


def lines():
    for estimator in PANELS:
        for case in bad.TABLE:
            if case.id not in NOT_HERE and case.where(estimator):
                yield pytest.param(case, estimator, id=f"{case.id}-{name_of(estimator)}")


@pytest.mark.parametrize(("case", "estimator"), list(lines()))
def test_bad_input(case, estimator):
    with parallel_config(backend="threading"):  # processes would be slow to start
        bad.test_bad_input(case, estimator)


SHARED = [
    accepted.test_b18_missing_values,
    accepted.test_b18_missing_at_predict_only,
    numbers.test_n13_missing_or_not_is_the_signal,
    faults.test_failed_fit_leaves_the_model,
    faults.test_refit_forgets_the_names,
]


@pytest.mark.parametrize("test", SHARED, ids=lambda test: test.__name__)
@every
def test_shared(test, estimator):
    test(estimator)


@every
def test_b16_containers(estimator, tmp_path):
    accepted.test_b16_containers(estimator, tmp_path)


@every
def test_b22_missing_category(estimator):
    X, y = rows_for(estimator)
    level = np.where(X[:, 0] > 0, "high", "low").astype(object)
    level[::6] = None
    frame = pd.DataFrame({"level": pd.Categorical(level), "b": X[:, 1]})
    assert np.isfinite(outputs_of(fitted(estimator, frame, y), frame)).all()


@every
def test_b33_few_rows_of_one_class(estimator):
    """It predicts what it saw, or says that there are too few rows to hold any out."""
    X, y = rows_for(estimator)
    y = np.full(len(y), y[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model = fitted(estimator, X, y)
    np.testing.assert_array_equal(model.predict(X), y)


@every
def test_b60_no_rows(estimator):
    X, y = rows_for(estimator)
    model = fitted(estimator, X, y)
    labels = model.predict(X[:0])
    assert labels.shape == (0,)
    assert labels.dtype == model.predict(X).dtype
    if hasattr(model, "predict_proba"):
        assert model.predict_proba(X[:0]).shape == (0, 2)


@every
@pytest.mark.parametrize("how", faults.COPIES)
def test_copies_are_equal(estimator, how):
    X, y = rows_for(estimator, n=200)
    X[::9, 1] = np.nan
    model = fitted(estimator, X, y)
    again = faults.COPIES[how](model)
    assert model_bits(again) == model_bits(model)
    np.testing.assert_array_equal(outputs_of(again, X), outputs_of(model, X))
    assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert model_bits(clone(again).fit(X, y)) == model_bits(model)


@every
def test_f12_same_bits_for_any_n_jobs(estimator):
    X, y = rows_for(estimator, n=200)
    expected = fitted(estimator, X, y)
    with parallel_config(backend="threading"):
        model = fitted(estimator, X, y, n_jobs=2)
    assert model_bits(model) == model_bits(expected)
    np.testing.assert_array_equal(outputs_of(model, X), outputs_of(expected, X))
