"""R116: a fit that goes on where another ended gives the same model."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier

from committee import AdaBoostClassifier, DecisionTreeClassifier, InputError


@pytest.fixture(scope="module")
def noisy():
    return make_classification(300, 8, n_informative=4, flip_y=0.2, random_state=1)


def test_r116_a_fit_that_is_resumed_is_the_same_model(noisy):
    X, y = noisy
    for how in (
        {},
        {"estimator": DecisionTreeClassifier(max_depth=3, splitter="random", max_features=2)},
        {"estimator": KNeighborsClassifier(5)},
        {"learning_rate": 0.3, "resample": True},
    ):
        whole = AdaBoostClassifier(n_estimators=12, random_state=3, **how).fit(X, y)
        steps = AdaBoostClassifier(n_estimators=5, random_state=3, warm_start=True, **how).fit(X, y)
        steps = pickle.loads(pickle.dumps(steps))
        steps.set_params(n_estimators=12).fit(X, y)
        np.testing.assert_array_equal(steps.estimator_weights_, whole.estimator_weights_)
        np.testing.assert_array_equal(steps.decision_function(X), whole.decision_function(X))
        assert steps.rounds_.keys() == whole.rounds_.keys()
        for name, column in whole.rounds_.items():
            np.testing.assert_array_equal(steps.rounds_[name], column)


def test_a_warm_start_needs_the_same_rows(noisy):
    X, y = noisy
    model = AdaBoostClassifier(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    before = model.estimator_weights_
    model.set_params(n_estimators=5)
    with pytest.raises(InputError, match="rows are not those"):
        model.fit(X[:-1], y[:-1])
    with pytest.raises(InputError, match="weights are not those"):
        model.fit(X, y, np.arange(1, len(y) + 1))
    np.testing.assert_array_equal(model.estimator_weights_, before)
