"""AdaBoost: its three printed forms, stop rules, weights, resampling, stopping, warm start."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as OtherTree
from tests.estimators import forest_bits

from committee import (
    AdaBoostClassifier,
    BaggingClassifier,
    DataWarning,
    DecisionStump,
    DecisionTreeClassifier,
    InputError,
    InputTypeError,
    SubsetNeighborClassifier,
)
from committee.ensembles.boosting.weak_learners import draw_counts


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def noisy():
    X, y = make_classification(300, 8, n_informative=4, flip_y=0.2, random_state=1)
    return X, y


def random_rounds(seed, n=25, rounds=20):
    """Labels and votes of hypotheses that are right a little more often than not."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n)
    return y, np.where(rng.random((rounds, n)) < 0.62, y, -y)


class Votes(ClassifierMixin, BaseEstimator):
    """A weak learner whose answers are given in advance; the row number is the only feature."""

    def __init__(self, votes=None, calls=None):
        self.votes = votes
        self.calls = calls

    def __sklearn_clone__(self):
        return Votes(self.votes, self.calls)  # all copies share the list

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.said_ = np.asarray(self.votes)[len(self.calls)]
        self.calls.append(np.array(sample_weight))
        return self

    def predict(self, X):
        return self.classes_[(self.said_[np.asarray(X)[:, 0].astype(int)] > 0).astype(int)]


@pytest.mark.parametrize("seed", range(5))
def test_r51_r52_r53_three_printed_forms_are_one(seed):
    y, votes = random_rounds(seed)
    d = beta_form = last_form = np.full(len(y), 1 / len(y))
    alphas, ln_inverse_betas, last_alphas = [], [], []
    for h in votes:
        miss = h != y
        e = d[miss].sum()
        alphas.append(np.log((1 - e) / e) / 2)  # R51
        d = d * np.exp(-alphas[-1] * y * h)
        d = d / d.sum()
        e = beta_form[miss].sum()  # R52: the right ones times beta
        beta = e / (1 - e)
        beta_form = np.where(miss, beta_form, beta_form * beta)
        beta_form = beta_form / beta_form.sum()
        ln_inverse_betas.append(np.log(1 / beta))
        e = last_form[miss].sum() / last_form.sum()  # R53: the wrong ones times exp(alpha)
        last_alphas.append(np.log((1 - e) / e))
        last_form = last_form * np.exp(last_alphas[-1] * miss)
        np.testing.assert_allclose(beta_form, d, rtol=0, atol=1e-15)
        np.testing.assert_allclose(last_form / last_form.sum(), d, rtol=0, atol=1e-15)
    np.testing.assert_allclose(ln_inverse_betas, 2 * np.array(alphas), rtol=1e-10)
    np.testing.assert_allclose(last_alphas, 2 * np.array(alphas), rtol=1e-10)

    rows, calls = np.arange(len(y))[:, None], []
    keep = np.cumprod(np.array(alphas) > 0).astype(bool)  # the model stops at the first bad one
    model = AdaBoostClassifier(Votes(votes, calls), n_estimators=len(votes)).fit(rows, y)
    np.testing.assert_allclose(model.estimator_weights_, np.array(alphas)[keep], rtol=1e-12)
    label = np.sign(np.sum(np.array(alphas)[keep, None] * votes[keep], axis=0))
    assert (model.predict(rows) == label).all()


def test_r52_error_of_exactly_one_half_has_no_vote():
    """beta = 1: the vote is 0 and the weights stay; the model stops instead of seating it."""
    y = np.array([-1, -1, 1, 1])
    calls = []
    with pytest.warns(DataWarning, match="no member beat chance"):
        model = AdaBoostClassifier(Votes([[1, -1, 1, -1]], calls)).fit(np.arange(4)[:, None], y)
    assert len(calls) == 1
    assert model.rounds_ == {}
    assert model.predict([[0], [1]]).tolist() == [-1, -1]


def test_r54_a_member_worse_than_chance_has_no_seat():
    y = np.array([-1] * 5 + [1] * 5)
    good, bad = y.copy(), -y
    good[0] = 1
    bad[1:5] = y[1:5]
    model = AdaBoostClassifier(Votes([good, bad], []), n_estimators=5).fit(
        np.arange(10)[:, None], y
    )
    assert len(model) == 1
    assert "chance" in model.stop_reason_
    assert (model.estimator_weights_ > 0).all()


def test_r55_stop_when_everything_is_classified_on_request(cancer):
    X, y = cancer
    tree = DecisionTreeClassifier(max_depth=2)
    default = AdaBoostClassifier(tree, n_estimators=150).fit(X, y)
    assert len(default) == 150
    early = AdaBoostClassifier(tree, n_estimators=150, stop_at_zero_error=True).fit(X, y)
    assert early.stop_reason_ == "every training row is classified"
    assert len(early) < 100
    assert early.score(X, y) == 1.0
    stages = list(default.staged_score(X, y))
    assert stages.index(1.0) + 1 == len(early)


def test_r58_boosted_1nn_says_that_it_is_degenerate(cancer):
    X, y = cancer
    with pytest.warns(DataWarning, match="M-PERFECT"):
        # Every row is drawn sooner or later only without weights; give it all rows.
        model = AdaBoostClassifier(AllNeighbors()).fit(X, y)
    assert len(model) == 1
    assert np.isfinite(model.estimator_weights_).all()
    assert "without error" in model.stop_reason_
    subset = AdaBoostClassifier(SubsetNeighborClassifier(0.2), n_estimators=15, random_state=0)
    assert len(subset.fit(X, y)) == 15


class AllNeighbors(KNeighborsClassifier):
    """1-NN that takes no notice of weights, although it takes them."""

    def __init__(self):
        super().__init__(1)

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


def test_r59_r113_the_number_of_rounds_is_all_it_needs(cancer):
    X, y = cancer
    assert AdaBoostClassifier(n_estimators=10).fit(X, y).score(X, y) > 0.94


def test_r61_uniform_weights_change_nothing(noisy):
    X, y = noisy
    plain = AdaBoostClassifier(n_estimators=20).fit(X, y)
    even = AdaBoostClassifier(n_estimators=20).fit(X, y, np.full(len(y), 0.37))
    assert forest_bits(plain.committee_.members.forest) == forest_bits(
        even.committee_.members.forest
    )
    np.testing.assert_array_equal(plain.estimator_weights_, even.estimator_weights_)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = AdaBoostClassifier(n_estimators=20).fit(X, y, weight)
    first = next(weighted.staged_sample_weight(X, y, weight))
    np.testing.assert_allclose(first, weight / weight.sum(), atol=1e-15)
    repeated = AdaBoostClassifier(n_estimators=20).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-9
    )


def test_r64_a_learner_without_weights_gets_a_sample(noisy):
    X, y = noisy
    model = AdaBoostClassifier(KNeighborsClassifier(5), n_estimators=8, random_state=0).fit(X, y)
    assert len(model) == 8
    again = AdaBoostClassifier(KNeighborsClassifier(5), n_estimators=8, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))
    for member, d, error in zip(
        model.estimators_, model.staged_sample_weight(X, y), model.estimator_errors_, strict=False
    ):
        assert d[member.predict(X) != y].sum() == pytest.approx(error, abs=1e-12)  # on all rows
    weight = np.array([0.5, 0.25, 0.25, 0.0])
    drawn = sum(draw_counts(weight, np.random.default_rng(k)) for k in range(2000))
    np.testing.assert_allclose(drawn / drawn.sum(), weight, atol=0.02)
    assert drawn[3] == 0


def test_b52_resample_false_refuses_a_learner_without_weights(noisy):
    with pytest.raises(InputError, match=r"KNeighborsClassifier.*resample=True"):
        AdaBoostClassifier(KNeighborsClassifier(), resample=False).fit(*noisy)


def test_resampled_trees_differ_by_seed_and_not_by_threads(noisy):
    X, y = noisy
    tree = DecisionTreeClassifier(max_depth=2)
    runs = [
        AdaBoostClassifier(tree, n_estimators=6, resample=True, random_state=s, n_jobs=j).fit(X, y)
        for s, j in ((0, 1), (0, 2), (1, 1))
    ]
    bits = [forest_bits(run.committee_.members.forest) for run in runs]
    assert bits[0] == bits[1] != bits[2]


def test_r96_an_unpruned_tree_does_not_collapse_in_silence(cancer):
    X, y = cancer
    with pytest.warns(DataWarning, match=r"resample=True.*max_depth"):
        model = AdaBoostClassifier(DecisionTreeClassifier(), n_estimators=10).fit(X, y)
    assert len(model) == 1
    way_out = AdaBoostClassifier(
        DecisionTreeClassifier(), n_estimators=10, resample=True, random_state=0
    ).fit(X, y)
    assert len(way_out) == 10


def test_r67_the_learner_is_an_argument(cancer):
    X, y = cancer
    for learner in (
        GaussianNB(),
        OtherTree(max_depth=1),
        make_pipeline(StandardScaler(), GaussianNB()),
    ):
        model = AdaBoostClassifier(learner, n_estimators=3)
        assert clone(model).estimator is not learner
        assert model.fit(X, y).score(X, y) > 0.85
        assert not hasattr(learner, "classes_")
    grid = GridSearchCV(
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=5),
        {"estimator__max_depth": [1, 2]},
        cv=3,
    ).fit(X, y)
    assert grid.best_score_ > 0.9


def test_r70_bagged_boosters(noisy):
    X, y = noisy
    booster = AdaBoostClassifier(n_estimators=10)
    model = BaggingClassifier(booster, 25, oob_score=True, random_state=0).fit(X, y)
    assert len(model) == 25
    assert model.oob_score_ > 0.65


def test_r72_how_weak_may_the_learner_be(noisy):
    X, y = noisy
    edges, errors = [], []
    for depth in range(1, 7):
        model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), n_estimators=10)
        model.fit(X[:200], y[:200])
        edges.append(model.rounds_["edge"][0] / 2)
        errors.append(1 - model.score(X[200:], y[200:]))
    assert (np.diff(edges) > 0).all()  # a deeper tree is less weak on what it has seen
    assert max(errors) < 0.45


def test_r114_random_labels_are_learnt_and_nothing_is_learnt():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 6)), rng.integers(0, 2, 400)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=6), n_estimators=60).fit(
        X[:200], y[:200]
    )
    assert model.score(X[:200], y[:200]) == 1.0
    fresh, labels = rng.normal(size=(4000, 6)), rng.integers(0, 2, 4000)
    assert model.score(fresh, labels) == pytest.approx(0.5, abs=0.03)
    assert "promises nothing" in str(model.certificate())


def test_early_stopping_goes_back_to_the_best_round():
    X, y = make_classification(600, 10, n_informative=3, flip_y=0.3, random_state=0)
    fit = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=3), n_estimators=200, n_iter_no_change=8
    ).fit
    model = fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    losses = model.validation_losses_
    assert len(model) == losses.argmin() + 1
    assert len(losses) == len(model) + 8 < 200
    assert losses[len(model) - 1] == pytest.approx(1 - model.score(X[300:], y[300:]), abs=1e-12)
    assert "held-out" in model.stop_reason_
    inside = AdaBoostClassifier(n_estimators=300, early_stopping=True, random_state=0).fit(X, y)
    assert len(inside) < 300
    again = AdaBoostClassifier(n_estimators=300, early_stopping=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(inside.decision_function(X), again.decision_function(X))
    with pytest.raises(InputError, match="together"):
        model.fit(X, y, X_val=X)


def test_learning_rate_scales_alpha(cancer):
    X, y = cancer
    full = AdaBoostClassifier(n_estimators=1).fit(X, y)
    half = AdaBoostClassifier(n_estimators=1, learning_rate=0.5).fit(X, y)
    np.testing.assert_allclose(half.estimator_weights_, full.estimator_weights_ / 2)
    slow = AdaBoostClassifier(n_estimators=40, learning_rate=0.2).fit(X, y)
    assert slow.certificate().holds
    assert slow.certificate().verify(X, y)


def test_n11_extreme_weights_and_perfect_members_stay_finite():
    X = np.arange(8.0)[:, None]
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    with pytest.warns(DataWarning, match="M-PERFECT"):
        model = AdaBoostClassifier().fit(X, y)
    assert model.estimator_weights_.tolist() == [1.0]
    assert (np.abs(model.certificate().margins) <= 1).all()
    y[0] = 1
    weight = np.array([1e-300, 1e300, 1.0, 1e-5, 1e300, 1e-300, 1.0, 1.0])
    heavy = AdaBoostClassifier(n_estimators=10).fit(X, y, weight)
    assert np.isfinite(heavy.decision_function(X)).all()
    assert (np.abs(heavy.certificate().margins) <= 1).all()


def test_a_perfect_member_later_on_decides_alone():
    y = np.array([-1] * 5 + [1] * 5)
    first = y.copy()
    first[0] = 1
    X = np.arange(10)[:, None]
    with pytest.warns(DataWarning, match="member 2 classifies every training row"):
        model = AdaBoostClassifier(Votes([first, y], []), n_estimators=5).fit(X, y)
    assert model.estimator_weights_.tolist() == [0.0, 1.0]
    assert model.score(X, y) == 1.0


def test_a_member_whose_errors_weigh_nothing_is_not_perfect():
    """Rows that are always right weigh exp(-800), 0 in float64; in the end they are wrong."""
    y, row = np.array([-1, 1] * 100), np.arange(200)
    X, weight = row[:, None], np.where(row < 100, 1.0, 1e-290)
    votes = [np.where(row == i % 4, -y, y) for i in range(600)]
    votes.append(np.where(row < 100, y, -y))
    model = AdaBoostClassifier(Votes(votes, []), n_estimators=601).fit(X, y, weight)
    assert (list(model.staged_sample_weight(X, y, weight))[600][100:] == 0).all()
    assert len(model) == 601
    assert (model.estimator_weights_ > 0).all()
    assert np.isfinite(model.rounds_["alpha"]).all()
    assert model.certificate().holds


def test_what_is_no_weak_learner_is_refused(noisy):
    from sklearn.linear_model import LinearRegression

    with pytest.raises(InputTypeError, match="classifier"):
        AdaBoostClassifier(LinearRegression()).fit(*noisy)
    with pytest.raises(InputTypeError, match="pass an instance"):
        AdaBoostClassifier(DecisionStump).fit(*noisy)


def test_n12_a_thousand_rounds_keep_their_numbers(noisy):
    X, y = noisy
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=1000).fit(X, y)
    *_, last = model.staged_sample_weight(X, y)
    assert last.sum() == pytest.approx(1, abs=1e-12)
    assert np.isfinite(model.rounds_["z"]).all()
    assert model.certificate().holds


def test_estimators_and_importances_are_those_of_trees(cancer):
    X, y = cancer
    model = AdaBoostClassifier(n_estimators=7).fit(X, y)
    assert len(model.estimators_) == 7
    vote = sum(
        alpha * (2.0 * member.predict(X) - 1)
        for alpha, member in zip(model.estimator_weights_, model.estimators_, strict=True)
    )
    np.testing.assert_allclose(vote, model.decision_function(X), atol=1e-12)
    used = {int(member.tree_.feature[0]) for member in model.estimators_}
    assert set(np.flatnonzero(model.feature_importances_)) == used
    assert model.feature_importances_.sum() == pytest.approx(1)
