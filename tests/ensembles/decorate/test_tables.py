"""The tables that every estimator of this library must pass, on DECORATE."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests import test_accepted_inputs as accepted
from tests import test_bad_inputs as bad
from tests import test_faults as faults
from tests import test_numbers as numbers
from tests.estimators import DECORATED, fitted, model_bits, outputs_of, rows_for


def named(estimator):
    return "c45" if estimator.estimator is None else "cart"


every = pytest.mark.parametrize("estimator", DECORATED, ids=named)
# Parameters of trees are nested, and a committee has no leaves to find rows in.
NESTED = {"B56", "B56-index", "B59-apply", "B70-width"}


@parametrize_with_checks(DECORATED)
def test_estimator_check(estimator, check):
    check(estimator)


def lines():
    for estimator in DECORATED:
        for case in bad.TABLE:
            if case.id not in NESTED and case.where(estimator):
                yield pytest.param(case, estimator, id=f"{case.id}-{named(estimator)}")


@pytest.mark.parametrize(("case", "estimator"), list(lines()))
def test_bad_input(case, estimator):
    bad.test_bad_input(case, estimator)


@pytest.mark.parametrize("value", [0, -5, "ten", 3.0, True])
@pytest.mark.parametrize("name", ["n_estimators", "max_trials"])
def test_b42_b43_numbers_of_members_and_trials(name, value):
    with pytest.raises(ValueError, match=name + r".*\[1, inf\).*" + repr(value)):
        fitted(DECORATED[0], **{name: value})


@pytest.mark.parametrize("value", [0, -0.5, "half", np.nan, True])
def test_artificial_size_is_a_positive_number(value):
    with pytest.raises(ValueError, match=r"artificial_size.*\(0\.0, inf\)"):
        fitted(DECORATED[0], artificial_size=value)


SHARED = [
    accepted.test_b18_missing_values,
    accepted.test_b18_missing_at_predict_only,
    accepted.test_b20_constant_column,
    accepted.test_b22_missing_category,
    accepted.test_b33_one_row,
    faults.test_failed_fit_leaves_the_model,
    faults.test_refit_forgets_the_names,
]


@pytest.mark.parametrize("test", SHARED, ids=lambda test: test.__name__)
@every
def test_shared(test, estimator):
    test(estimator)


def test_n13_missing_or_not_is_the_signal():
    numbers.test_n13_missing_or_not_is_the_signal(DECORATED[1])  # C4.5 cannot tell


@every
def test_b60_no_rows(estimator):
    X, y = rows_for(estimator)
    model = fitted(estimator, X, y)
    labels = model.predict(X[:0])
    assert labels.shape == (0,)
    assert labels.dtype == model.predict(X).dtype


@every
def test_b16_containers(estimator, tmp_path):
    accepted.test_b16_containers(estimator, tmp_path)


@every
@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_b40_extreme_weights(estimator, scale):
    X, y = rows_for(estimator)
    weight = np.random.default_rng(1).integers(1, 5, len(y)).astype(float)
    plain, scaled = fitted(estimator, X, y, weight), fitted(estimator, X, y, weight * scale)
    assert model_bits(scaled) == model_bits(plain)


@every
def test_f12_fits_in_many_threads(estimator):
    X, y = rows_for(estimator, n=200, p=4)
    expected = model_bits(fitted(estimator, X, y))
    with ThreadPoolExecutor(4) as pool:
        fits = [pool.submit(fitted, estimator, X, y, n_jobs=1 + k % 2) for k in range(4)]
        assert {model_bits(fit.result()) for fit in fits} == {expected}


@every
@pytest.mark.parametrize("how", faults.COPIES)
def test_copies_are_equal(estimator, how):
    X, y = rows_for(estimator, n=100)
    X[::9, 1] = np.nan
    model = fitted(estimator, X, y)
    again = faults.COPIES[how](model)
    assert model_bits(again) == model_bits(model)
    np.testing.assert_array_equal(outputs_of(again, X), outputs_of(model, X))
    assert model_bits(clone(again).fit(X, y)) == model_bits(model)
