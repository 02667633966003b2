"""The same bits on any number of threads; also run under the sanitizers."""

import pytest
from tests.estimators import BOOSTERS, fitted, model_bits, name_of, rows_for


@pytest.mark.sanitize
@pytest.mark.parametrize("estimator", BOOSTERS, ids=name_of)
def test_same_bits_on_any_number_of_threads(estimator):
    X, y = rows_for(estimator, n=3000, p=6)
    bits = {model_bits(fitted(estimator, X, y, n_jobs=jobs)) for jobs in (1, 2, 4, 7)}
    assert len(bits) == 1
