"""The tables that every estimator of this library must pass, on the boosters."""

import textwrap

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests import test_accepted_inputs as accepted
from tests import test_bad_inputs as bad
from tests import test_faults as faults
from tests.ensembles.bagging import test_tables as committees
from tests.estimators import BOOSTERS, WEAK_LEARNERS, fitted, name_of, rows_for
from tests.warm_processes import run_script

every = pytest.mark.parametrize("estimator", BOOSTERS, ids=name_of)
names = pytest.mark.parametrize("name", ["AdaBoostClassifier", "AdaBoostRegressor"])

SKIPPED = committees.NESTED | committees.NO_LEAVES | {"B70-tree"}  # no tree_ to tamper with


@parametrize_with_checks([*BOOSTERS, *WEAK_LEARNERS])
def test_estimator_check(estimator, check):
    check(estimator)


def lines():
    for estimator in BOOSTERS:
        for case in bad.TABLE:
            if case.id not in SKIPPED and case.where(estimator):
                yield pytest.param(case, estimator, id=f"{case.id}-{name_of(estimator)}")


@pytest.mark.parametrize(("case", "estimator"), list(lines()))
def test_bad_input(case, estimator):
    bad.test_bad_input(case, estimator)


@pytest.mark.parametrize("value", [0, -5, "ten", 3.0, True])
@every
def test_b42_b43_number_of_rounds(estimator, value):
    if "n_estimators" not in estimator.get_params():
        pytest.skip(f"{name_of(estimator)} has as many members as it needs")
    with pytest.raises(ValueError, match=r"n_estimators.*\[1, inf\).*" + repr(value)):
        fitted(estimator, n_estimators=value)


SHARED = [
    accepted.test_b18_missing_values,
    accepted.test_b18_missing_at_predict_only,
    accepted.test_b22_missing_category,
    faults.test_f12_fits_in_many_threads,
    faults.test_failed_fit_leaves_the_model,
    faults.test_refit_forgets_the_names,
    committees.test_f10_predict_from_many_threads,
    committees.test_b60_no_rows,
]


@pytest.mark.parametrize("test", SHARED, ids=lambda test: test.__name__)
@every
def test_shared(test, estimator):
    test(estimator)


@every
def test_b16_containers(estimator, tmp_path):
    accepted.test_b16_containers(estimator, tmp_path)


@every
@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_b40_extreme_weights(estimator, scale):
    committees.test_b40_extreme_weights(estimator, scale)


@every
@pytest.mark.parametrize("how", faults.COPIES)
def test_copies_are_equal(estimator, how):
    committees.test_copies_are_equal(estimator, how)


@every
def test_weight_zero_is_no_row_and_weight_k_is_k_rows(estimator):
    if estimator.get_params().get("resample") is True:
        pytest.skip(f"{name_of(estimator)} draws rows, and other rows are drawn otherwise")
    X, y = rows_for(estimator, n=120)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = fitted(estimator, X, y, weight.astype(float))
    repeated = fitted(estimator, np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-9)


def run(script, *args):
    """Run a script of the fault table in a process of its own, on one of the boosters."""
    text = faults.PRELUDE.replace("in ESTIMATORS", "in BOOSTERS")
    text = text.replace("import ESTIMATORS", "import BOOSTERS") + textwrap.dedent(script)
    return run_script(text, *args)


@pytest.mark.clock
@names
def test_f07_interrupt(name):
    assert max(map(float, run(faults.INTERRUPT, name, 2).split())) <= 0.5


@names
def test_f09_fork_after_fit(name):
    assert run(faults.FORK, name, 2).strip() == "same"
