"""The tables that every estimator of this library must pass, on the learners that ask."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests import test_accepted_inputs as accepted
from tests import test_bad_inputs as bad
from tests import test_faults as faults
from tests.estimators import ACTIVE, fitted, model_bits, name_of, outputs_of, rows_for

every = pytest.mark.parametrize("estimator", ACTIVE, ids=name_of)


@parametrize_with_checks(ACTIVE)
def test_estimator_check(estimator, check):
    check(estimator)


# Parameters of trees are nested, and nobody here has leaves to find rows in.
SKIPPED = {"B14", "B21", "B56", "B56-index", "B59-apply", "B70-width", "B70-tree", "B70-schema"}


def lines():
    for estimator in ACTIVE:
        for case in bad.TABLE:
            if case.id not in SKIPPED and case.where(estimator):
                yield pytest.param(case, estimator, id=f"{case.id}-{name_of(estimator)}")


@pytest.mark.parametrize(("case", "estimator"), list(lines()))
def test_bad_input(case, estimator):
    bad.test_bad_input(case, estimator)


SHARED = [
    accepted.test_b18_missing_values,
    accepted.test_b18_missing_at_predict_only,
    accepted.test_b33_one_row,
    faults.test_failed_fit_leaves_the_model,
    faults.test_refit_forgets_the_names,
]


@pytest.mark.parametrize("test", SHARED, ids=lambda test: test.__name__)
@every
def test_shared(test, estimator):
    test(estimator)


@every
def test_b22_missing_category(estimator):
    X, y = rows_for(estimator)
    level = np.where(X[:, 0] > 0, "high", "low").astype(object)
    level[::6] = None
    frame = pd.DataFrame({"level": pd.Categorical(level), "b": X[:, 1]})
    model = fitted(estimator, frame[:30], y[:30])
    assert np.isfinite(outputs_of(model, frame)).all()
    assert len(model.query(frame, 3)) == 3


@every
def test_f12_fits_in_many_threads(estimator):
    X, y = rows_for(estimator, n=200)
    expected = model_bits(fitted(estimator, X, y))
    with ThreadPoolExecutor(8) as pool:
        fits = [pool.submit(fitted, estimator, X, y, n_jobs=1 + k % 4) for k in range(8)]
        assert {model_bits(fit.result()) for fit in fits} == {expected}


@every
def test_b16_containers(estimator, tmp_path):
    accepted.test_b16_containers(estimator, tmp_path)


@every
def test_b60_no_rows(estimator):
    X, y = rows_for(estimator)
    model = fitted(estimator, X, y)
    assert model.predict(X[:0]).shape == (0,)


@every
@pytest.mark.parametrize("how", faults.COPIES)
def test_copies_are_equal_and_ask_alike(estimator, how):
    X, y = rows_for(estimator, n=100)
    X[::9, 1] = np.nan
    model = fitted(estimator, X[:40], y[:40])
    again = faults.COPIES[how](model)
    assert model_bits(again) == model_bits(model)
    np.testing.assert_array_equal(outputs_of(again, X), outputs_of(model, X))
    np.testing.assert_array_equal(again.query(X, 5).indices, model.query(X, 5).indices)
    assert model_bits(clone(model).fit(X[:40], y[:40])) == model_bits(model)
    taught = again.teach(X[40:50], y[40:50])
    assert model_bits(taught) == model_bits(model.teach(X[40:50], y[40:50]))
