"""scikit-learn's own checks: no expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.estimators import ESTIMATORS


@parametrize_with_checks(ESTIMATORS)
def test_estimator_check(estimator, check):
    check(estimator)
