"""What holds alike for BrownBoost, RobustBoost, SmoothBoost and MadaBoost."""

import warnings

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from tests.ensembles.boosting.label_noise import signs_problem

from committee import DecisionTreeClassifier
from committee.data.errors import DataWarning
from committee.ensembles.boosting.adaboost import AdaBoostClassifier
from committee.ensembles.boosting.brownboost import BrownBoostClassifier
from committee.ensembles.boosting.madaboost import MadaBoostClassifier
from committee.ensembles.boosting.robustboost import RobustBoostClassifier
from committee.ensembles.boosting.smoothboost import SmoothBoostClassifier
from committee.ensembles.boosting.weighing import growth, heaviest

KINDS = [
    BrownBoostClassifier,
    RobustBoostClassifier,
    SmoothBoostClassifier,
    MadaBoostClassifier,
]
each_kind = pytest.mark.parametrize("kind", KINDS)


def check_sound(model, X, y, weight=None):
    """Everything is finite, and the certificate holds and is verified."""
    shares = model.predict_proba(X)
    assert np.isfinite(shares).all()
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert np.isfinite(model.decision_function(X)).all()
    certificate = model.certificate()
    assert certificate.holds, str(certificate)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # those of fit, once more
        verification = certificate.verify(X, y, weight)
    assert verification, str(verification)
    for part in getattr(model, "parts_", [model]):
        assert (np.abs(part.train_margins_) <= 1 + 1e-12).all()
        assert np.isfinite(part.estimator_weights_).all()


@each_kind
def test_perfect_learner(kind):
    X, y, *_ = signs_problem(0, n=60, flips=0.0)
    with pytest.warns(DataWarning, match="M-PERFECT"):
        model = kind(DecisionTreeClassifier()).fit(X, y)
    assert len(model) == 1
    assert model.score(X, y) == 1
    check_sound(model, X, y)


@each_kind
def test_learner_at_chance(kind):
    X, y = [[0, 0], [1, 1], [0, 1], [1, 0]] * 3, [0, 0, 1, 1] * 3
    with pytest.warns(DataWarning, match="M-PRIOR"):
        model = kind().fit(X, y)
    assert model.stop_reason_
    check_sound(model, X, y)


@each_kind
def test_one_class(kind):
    X = np.arange(10.0)[:, None]
    with pytest.warns(DataWarning):
        model = kind().fit(X, np.ones(10))
    assert (model.predict(X) == 1).all()
    assert (model.predict_proba(X) == 1).all()


@each_kind
def test_two_rows(kind):
    X, y = [[0.0], [1.0]], [0, 1]
    with pytest.warns(DataWarning, match="M-PERFECT"):
        model = kind().fit(X, y)
    assert model.score(X, y) == 1
    check_sound(model, X, y)
    with pytest.warns(DataWarning, match="M-PRIOR"):
        check_sound(kind().fit([[0.0], [0.0]], y), [[0.0], [0.0]], y)


@each_kind
@pytest.mark.parametrize("power", [10, 300])
def test_extreme_weights(kind, power):
    X, y, *_ = signs_problem(0, n=80)
    rng = np.random.default_rng(1)
    weight = 10.0 ** rng.uniform(-power, power, len(y))
    check_sound(kind(n_estimators=30).fit(X, y, weight), X, y, weight)
    mild = np.where(rng.random(len(y)) < 0.5, 1.0, 10.0**-power)
    check_sound(kind(n_estimators=30).fit(X, y, mild), X, y, mild)


@pytest.mark.parametrize("target", [1e-300, 1e-9, 0.5, 0.9, 1 - 1e-12])
@pytest.mark.parametrize("kind", [BrownBoostClassifier, RobustBoostClassifier])
def test_extreme_targets(kind, target):
    X, y, *_ = signs_problem(0, n=80)
    check_sound(kind(n_estimators=30, target_error=target).fit(X, y), X, y)


@pytest.mark.parametrize("far", [1e-6, 1.0, 100.0, 1e100])
def test_extreme_schedules(far):
    X, y, *_ = signs_problem(0, n=80)
    check_sound(RobustBoostClassifier(sigma_final=far).fit(X, y), X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # a margin out of reach leaves the prior
        check_sound(RobustBoostClassifier(target_margin=far).fit(X, y), X, y)


@each_kind
def test_weights_of_rows_are_counts(kind):
    X, y, *_ = signs_problem(3, n=60)
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    model = kind(n_estimators=15).fit(X, y, counts)
    copies = kind(n_estimators=15).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(model.estimator_weights_, copies.estimator_weights_, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), copies.predict(X))


@each_kind
@pytest.mark.parametrize("n_classes", [2, 3])
def test_warm_start_gives_the_same_bits(kind, n_classes):
    X, _, *_ = signs_problem(3, n=200)
    y = np.digitize(X.sum(axis=1), [0] if n_classes == 2 else [-1, 1])
    y[:10] = y[10:20]
    once = kind(n_estimators=14).fit(X, y)
    twice = kind(n_estimators=5, warm_start=True).fit(X, y)
    twice.set_params(n_estimators=14).fit(X, y)
    for a, b in zip(
        getattr(once, "parts_", [once]), getattr(twice, "parts_", [twice]), strict=True
    ):
        assert a.estimator_weights_.tobytes() == b.estimator_weights_.tobytes()
        for name, column in a.rounds_.items():
            assert column.tobytes() == b.rounds_[name].tobytes()
    assert once.decision_function(X).tobytes() == twice.decision_function(X).tobytes()


@each_kind
def test_more_classes_one_against_the_rest(kind):
    X, codes = load_iris(return_X_y=True)
    y = load_iris().target_names[codes]
    model = kind(n_estimators=200).fit(X, y)
    assert len(model.parts_) == 3
    assert model.score(X, y) > 0.93
    check_sound(model, X, y)
    assert (model.classes_[model.predict_proba(X).argmax(axis=1)] == model.predict(X)).mean() > 0.99


@pytest.mark.parametrize("kind", KINDS[:3])
def test_a_rare_class_has_a_goal_of_its_own(kind):
    X, y = load_digits(return_X_y=True)
    X, y = X[:500], y[:500]  # each class has a tenth of the rows, as many as may be given up
    slow = kind is SmoothBoostClassifier
    model = kind(n_estimators=300 if slow else 30).fit(X, y)
    goals = [getattr(part, "kappa_", None) or part.target_error_ for part in model.parts_]
    np.testing.assert_allclose(goals, 0.2 * np.bincount(y) / len(y))
    assert model.score(X, y) > 0.7
    check_sound(model, X, y)


class Guess(ClassifierMixin, BaseEstimator):
    """Says what a random number says, so that about half of its answers are below chance."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.cut_ = np.random.default_rng(self.random_state).uniform(-1, 1, X.shape[1])
        return self

    def predict_proba(self, X):
        second = (X @ self.cut_ > 0).astype(float)
        return np.stack([1 - second, second], axis=1)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@each_kind
def test_an_unlucky_draw_is_drawn_again(kind):
    X, y, *_ = signs_problem(3, n=200)
    promise = {"gamma": 0.01} if kind is SmoothBoostClassifier else {}
    model = kind(Guess(), n_estimators=8, random_state=0, **promise).fit(X, y)
    assert len(model) == 8
    assert (np.diff(model.questions_) > 1).any()
    check_sound(model, X, y)


@each_kind
@pytest.mark.parametrize("learner", [KNeighborsClassifier(3), LogisticRegression()])
def test_any_learner(kind, learner):
    X, y, *_ = signs_problem(3, n=150)
    model = kind(learner, n_estimators=6, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    check_sound(model, X, y)


@each_kind
def test_early_stopping_keeps_claims_of_the_rounds_that_are_kept(kind):
    X, y, X_test, y_test, _ = signs_problem(6, n=150, flips=0.15)
    model = kind(n_estimators=300, n_iter_no_change=5)
    model.fit(X, y, X_val=X_test[:300], y_val=y_test[:300])
    assert len(model) == len(model.rounds_["error"]) <= len(model.validation_losses_)
    held = 1 - model.score(X_test[:300], y_test[:300])
    assert held == pytest.approx(model.validation_losses_.min())
    check_sound(model, X, y)


@each_kind
@hypothesis.settings(max_examples=25)
@hypothesis.given(seed=st.integers(0, 2**20), n=st.integers(6, 60), levels=st.integers(2, 50))
def test_certificates_hold_on_random_problems(kind, seed, n, levels):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, size=(n, 3)).astype(float)
    y = (X.sum(axis=1) + rng.normal(scale=levels / 3, size=n) > X.sum(axis=1).mean()).astype(int)
    y[:2] = 0, 1
    weight = rng.uniform(0.01, 3, n) if seed % 2 else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model = kind(n_estimators=25).fit(X, y, weight)
    check_sound(model, X, y, weight)


def test_alarm_for_noise():
    assert heaviest(np.full(100, 0.01)) == pytest.approx(0.05)
    assert heaviest(np.array([0.9, 0.1])) == 0.9
    d = np.full(40, 0.5 / 38)
    d[[3, 7]] = 0.25
    assert heaviest(d) == pytest.approx(0.5)
    clean, noisy = (
        list(AdaBoostClassifier().fit(X, y).staged_sample_weight(X, y))[-1]
        for X, y in (signs_problem(1, flips=share)[:2] for share in (0.0, 0.1))
    )
    assert heaviest(noisy) > heaviest(clean) > 0.05


def test_growth_is_that_of_shares():
    assert growth(np.array([0.5, 0.5]), np.array([0.25, 0.75])) == 2
    assert growth(np.array([1.0, 5e-324]), np.array([1.0, 5e-324])) == 1
