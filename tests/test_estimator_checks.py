"""scikit-learn's own checks: no expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.estimators import ESTIMATORS, RANKER


@parametrize_with_checks([*ESTIMATORS, RANKER])
def test_estimator_check(estimator, check):
    check(estimator)
