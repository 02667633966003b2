"""R70 and 2P: boosting and wagging in one."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from tests.estimators import forest_bits

from committee import (
    AdaBoostClassifier,
    DecisionStump,
    DecisionTreeClassifier,
    InputError,
    MultiBoostClassifier,
)


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


def test_r70_boundaries_reset_the_weights(cancer):
    X, y = cancer
    model = MultiBoostClassifier(n_estimators=16, random_state=0).fit(X, y)
    assert model.rounds_["subcommittee"].tolist() == [k for k in range(4) for _ in range(4)]
    stages = list(model.staged_sample_weight(X, y))
    assert np.ptp(stages[0]) == 0
    for begin in (4, 8, 12):
        wagged = stages[begin] * len(y)
        # Exponential variables of mean 1: a share exp(-1) exceeds the mean, and variance is 1.
        assert np.mean(wagged > 1) == pytest.approx(np.exp(-1), abs=0.06)
        assert wagged.var() == pytest.approx(1, abs=0.35)
    alpha, error = model.estimator_weights_, model.estimator_errors_
    np.testing.assert_allclose(alpha, np.log((1 - error) / error) / 2, rtol=1e-12)


def test_r70_within_a_subcommittee_it_is_adaboost(cancer):
    X, y = cancer
    stump = DecisionStump()  # as many bins as values: bins follow the weights that fit is given
    model = MultiBoostClassifier(stump, n_estimators=12, subcommittee_size=4, random_state=0)
    stages = list(model.fit(X, y).staged_sample_weight(X, y))
    part = AdaBoostClassifier(stump, n_estimators=4).fit(X, y, stages[4])
    np.testing.assert_allclose(part.estimator_weights_, model.estimator_weights_[4:8], rtol=1e-6)
    first = AdaBoostClassifier(stump, n_estimators=4).fit(X, y)
    np.testing.assert_allclose(first.estimator_weights_, model.estimator_weights_[:4], rtol=1e-12)


def test_r70_subcommittees_of_one_member_are_wagging(cancer):
    X, y = cancer
    model = MultiBoostClassifier(n_estimators=6, subcommittee_size=1, random_state=0).fit(X, y)
    stages = list(model.staged_sample_weight(X, y))
    assert np.ptp(stages[0]) == 0
    draws = np.array(stages[1:6])
    assert np.abs(np.corrcoef(draws)[np.triu_indices(5, 1)]).max() < 0.2  # drawn anew each time
    assert draws.mean() == pytest.approx(1 / len(y))


def test_perfect_and_failing_members_begin_a_new_subcommittee(cancer):
    X, y = cancer
    deep = MultiBoostClassifier(DecisionTreeClassifier(), n_estimators=9, random_state=0).fit(X, y)
    assert len(deep) == 9
    assert len(np.unique(deep.rounds_["subcommittee"])) == 9  # each has no error on its weights
    assert np.isfinite(deep.estimator_weights_).all()
    assert deep.certificate().verify(X, y)


def test_it_certifies_every_subcommittee_and_is_the_same_on_any_threads(cancer):
    X, y = cancer
    runs = [
        MultiBoostClassifier(n_estimators=12, random_state=5, n_jobs=jobs).fit(X, y)
        for jobs in (1, 2)
    ]
    assert len({forest_bits(run.committee_.members.forest) for run in runs}) == 1
    assert runs[0].certificate().holds
    assert runs[0].certificate().verify(X, y)


def test_many_classes():
    X, y = load_iris(return_X_y=True)
    model = MultiBoostClassifier(
        DecisionTreeClassifier(max_depth=2), n_estimators=20, random_state=0
    ).fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.certificate().verify(X, y)


def test_a_warm_start_needs_a_size(cancer):
    X, y = cancer
    with pytest.raises(InputError, match="subcommittee_size"):
        MultiBoostClassifier(warm_start=True).fit(X, y)
    how = {"subcommittee_size": 3, "random_state": 0}
    whole = MultiBoostClassifier(n_estimators=10, **how).fit(X, y)
    steps = MultiBoostClassifier(n_estimators=5, warm_start=True, **how).fit(X, y)
    steps.set_params(n_estimators=10).fit(X, y)
    np.testing.assert_array_equal(steps.decision_function(X), whole.decision_function(X))
