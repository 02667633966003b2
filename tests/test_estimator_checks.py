"""scikit-learn's own checks: no expected failure but of what a ranking cannot mean."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from committee import GradientBoostingRanker
from tests.estimators import ESTIMATORS, RANKER

# A weight belongs to a query. These checks know none, so that all rows are of one query, and weigh
# each row by itself, which is refused (W-QUERY); test_ranker.py weighs queries in their place.
OF_ROWS = "rows of one query have one weight"
RANKER_FAILS = {
    "check_sample_weights_not_overwritten": OF_ROWS,
    "check_sample_weight_equivalence_on_dense_data": OF_ROWS,
    "check_sample_weight_equivalence_on_sparse_data": OF_ROWS,
}


def expected_failures(estimator):
    return RANKER_FAILS if isinstance(estimator, GradientBoostingRanker) else {}


@parametrize_with_checks([*ESTIMATORS, RANKER], expected_failed_checks=expected_failures)
def test_estimator_check(estimator, check):
    check(estimator)
