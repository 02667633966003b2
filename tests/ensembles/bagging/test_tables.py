"""The tables that every estimator of this library must pass, on the committees over any learner."""

import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests import test_accepted_inputs as accepted
from tests import test_bad_inputs as bad
from tests import test_faults as faults
from tests import test_numbers as numbers
from tests.estimators import COMMITTEES, fitted, model_bits, name_of, outputs_of, rows_for
from tests.warm_processes import run_script

from committee.data import InputError
from committee.ensembles.bagging import BaggingClassifier
from committee.learners.tree import DecisionTreeClassifier

every = pytest.mark.parametrize("estimator", COMMITTEES, ids=name_of)
# In processes of their own: one for each way of making members, of which bagging has one.
names = pytest.mark.parametrize("name", ["BaggingClassifier", "RotationForestClassifier"])

# Parameters of trees are nested in bagging, and nobody here has leaves to find rows in.
NESTED = {"B14", "B21", "B56", "B56-index"}
NOT_SPARSE = {"B14", "B17-sparse", "B61-sparse", "B67-sparse"}
NO_LEAVES = {"B59-apply", "B70-width"}


@parametrize_with_checks(COMMITTEES)
def test_estimator_check(estimator, check):
    check(estimator)


def lines():
    for estimator in COMMITTEES:
        rotation = name_of(estimator).startswith("Rotation")
        skipped = NO_LEAVES | (NOT_SPARSE if rotation else NESTED)
        for case in bad.TABLE:
            if case.id not in skipped and case.where(estimator):
                yield pytest.param(case, estimator, id=f"{case.id}-{name_of(estimator)}")


@pytest.mark.parametrize(("case", "estimator"), list(lines()))
def test_bad_input(case, estimator):
    bad.test_bad_input(case, estimator)


@pytest.mark.parametrize("value", [0, -5, "ten", 3.0, True])
@every
def test_b42_b43_number_of_members(estimator, value):
    with pytest.raises(ValueError, match=r"n_estimators.*\[1, inf\).*" + repr(value)):
        fitted(estimator, n_estimators=value)


def test_nested_parameters_are_checked_before_any_work():
    X, y = rows_for(BaggingClassifier())
    tree = DecisionTreeClassifier(categorical_features=[0])
    with pytest.raises(InputError, match=r"sparse.*toarray\(\)"):
        BaggingClassifier(tree).fit(sparse.csr_matrix(X), y)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    with pytest.raises(InputError, match=r"'zz'"):
        BaggingClassifier(DecisionTreeClassifier(categorical_features=["zz"])).fit(frame, y)
    with pytest.raises(ValueError, match=r"'max_depth' parameter of DecisionTreeClassifier"):
        BaggingClassifier(DecisionTreeClassifier(max_depth=-3)).fit(X, y)


SHARED = [
    accepted.test_b18_missing_values,
    accepted.test_b18_missing_at_predict_only,
    accepted.test_b22_missing_category,
    accepted.test_b33_one_row,
    numbers.test_n13_missing_or_not_is_the_signal,
    faults.test_f12_fits_in_many_threads,
    faults.test_failed_fit_leaves_the_model,
    faults.test_refit_forgets_the_names,
]


@pytest.mark.parametrize("test", SHARED, ids=lambda test: test.__name__)
@every
def test_shared(test, estimator):
    test(estimator)


@every
def test_f10_predict_from_many_threads(estimator):
    X, y = rows_for(estimator, n=300)
    model = fitted(estimator, X, y, n_jobs=2)
    parts = [X, X[:7], X[:1]]
    expected = [outputs_of(model, part).tobytes() for part in parts]

    def wrong(start):
        asked = (parts[(start + k) % 3] for k in range(200))
        return sum(outputs_of(model, part).tobytes() not in expected for part in asked)

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(wrong, range(16))) == 0


@every
def test_b16_containers(estimator, tmp_path):
    accepted.test_b16_containers(estimator, tmp_path)


@every
@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_b40_extreme_weights(estimator, scale):
    X, y = rows_for(estimator)
    weight = np.random.default_rng(1).integers(1, 5, len(y)).astype(float)
    plain, scaled = fitted(estimator, X, y, weight), fitted(estimator, X, y, weight * scale)
    np.testing.assert_allclose(outputs_of(scaled, X), outputs_of(plain, X), rtol=1e-6)


@every
def test_b60_no_rows(estimator):
    X, y = rows_for(estimator)
    model = fitted(estimator, X, y)
    labels = model.predict(X[:0])
    assert labels.shape == (0,)
    assert labels.dtype == model.predict(X).dtype


@every
@pytest.mark.parametrize("how", faults.COPIES)
def test_copies_are_equal(estimator, how):
    X, y = rows_for(estimator, n=200)
    X[::9, 1] = np.nan
    model = fitted(estimator, X, y)
    again = faults.COPIES[how](model)
    assert model_bits(again) == model_bits(model)
    np.testing.assert_array_equal(outputs_of(again, X), outputs_of(model, X))
    assert again.get_params() == model.get_params()
    assert model_bits(clone(again).fit(X, y)) == model_bits(model)


def run(script, *args):
    """Run a script of the fault table in a process of its own, on one of the committees."""
    text = faults.PRELUDE.replace("in ESTIMATORS", "in COMMITTEES") + textwrap.dedent(script)
    return run_script(text, *args)


@pytest.mark.clock
@names
def test_f07_interrupt(name):
    assert max(map(float, run(faults.INTERRUPT, name, 2).split())) <= 0.5


@names
def test_f09_fork_after_fit(name):
    assert run(faults.FORK, name, 2).strip() == "same"
