"""A certificate can neither be forged nor be refused to an honest model; other rows are refused."""

import numpy as np
import pytest
from tests.estimators import BOOSTERS, fitted, name_of

from committee import (
    AdaBoostClassifier,
    AdaBoostMHClassifier,
    Committee,
    DecisionRegionsDisplay,
    FirstBoostingClassifier,
    InputError,
    RobustBoostClassifier,
    SmoothBoostClassifier,
    WeightShareDisplay,
)

CERTIFIED = [model for model in BOOSTERS if hasattr(model, "certificate")]
every = pytest.mark.parametrize("booster", CERTIFIED, ids=name_of)


def rows(n=90, n_classes=2):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 4))
    score = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def part_of(model):
    return model.parts_[0] if hasattr(model, "parts_") else model


def forge_shares(part):
    shares = np.ones(len(part.train_margins_))
    shares[0] = 50.0
    part.train_distribution_ = shares / shares.sum()


def forge_rounds(part):
    part.rounds_ = {}


def drop_member(part):
    part.committee_ = part.committee_[:-1]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("forge", [forge_shares, forge_rounds, drop_member])
@every
def test_forgery_is_found(booster, forge, n_classes):
    X, y = rows(n_classes=n_classes)
    model = fitted(booster, X, y)
    assert model.certificate().verify(X, y)
    forge(part_of(model))
    assert not model.certificate().verify(X, y)


def test_a_reason_that_can_be_recomputed_is():
    X = np.arange(10)[:, None]
    with pytest.warns(match="M-PERFECT"):
        model = AdaBoostClassifier().fit(X, X[:, 0] > 4)
    model.stop_reason_ = "a lie"
    assert "a lie" in str(model.certificate().verify(X, X[:, 0] > 4))


def test_a_prior_that_votes_otherwise_is_found():
    X, y = np.ones((60, 2)), np.repeat([0, 1], 30)
    with pytest.warns(match="M-PRIOR"):
        model = SmoothBoostClassifier().fit(X, y)
    assert model.certificate().verify(X, y)
    model.committee_ = Committee(model.committee_.members, -model.committee_.weights)
    assert not model.certificate().verify(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
@every
def test_rows_held_out_are_told_from_rows_of_the_fit(booster, n_classes):
    if "early_stopping" not in booster.get_params():
        pytest.skip(f"{name_of(booster)} holds no rows out")
    X, y = rows(n_classes=n_classes)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    model = fitted(booster, X, y, weight, early_stopping=True)
    assert model.certificate().verify(X, y, weight)
    *_, last = model.staged_sample_weight(X, y, weight)
    used = last > 0 if last.ndim == 1 else (last > 0).any(axis=int(last.shape[0] == len(y)))
    assert used.sum() < (weight > 0).sum()
    assert not used[weight == 0].any()


@every
def test_other_rows_are_refused(booster):
    X, y = rows()
    model = fitted(booster, X, y)
    for other in ((X[:40], y[:40]), (X, 1 - y), (X + 1, y)):
        with pytest.raises(InputError, match="M-ROWS"):
            list(model.staged_sample_weight(*other))
        with pytest.raises(InputError, match="M-ROWS"):
            model.suspect_labels(*other)


@pytest.mark.filterwarnings("ignore::committee.DataWarning")  # five bags leave few rows unseen
@pytest.mark.parametrize("n_classes", [2, 3])
def test_suspect_labels_of_labels(n_classes):
    X, y = rows(n_classes=n_classes)
    found = AdaBoostMHClassifier(n_estimators=10).fit(X, y).suspect_labels(X, y, n_bags=5)
    assert len(found) == len(y)
    assert found.weight.sum() == pytest.approx(1.0)
    several = np.column_stack([y > 0, y == 0]).astype(int)
    with pytest.raises(InputError, match="several labels"):
        AdaBoostMHClassifier().fit(X, several).suspect_labels(X, several)


@pytest.mark.filterwarnings("ignore::committee.DataWarning")
@every
def test_a_model_without_rounds_says_so(booster):
    X, y = np.random.default_rng(0).normal(size=(10, 2)), np.full(10, "k")
    model = fitted(booster, X, y)
    assert model.certificate().verify(X, y)
    for ask in (model.suspect_labels, lambda X, y: WeightShareDisplay.from_estimator(model, X, y)):
        with pytest.raises(InputError, match="no round"):
            ask(X, y)
    with pytest.raises(InputError, match="one class alone"):
        DecisionRegionsDisplay.from_estimator(model, X, y)
    assert (model.feature_importances_ == 0).all()


@pytest.mark.parametrize("variant", ["real", "abstaining", "discrete"])
@pytest.mark.filterwarnings("ignore::committee.DataWarning")
def test_rows_that_all_look_alike_leave_the_shares_of_the_labels(variant):
    X, y = np.ones((60, 2)), np.repeat(["a", "b", "c"], [15, 28, 17])
    model = AdaBoostMHClassifier(variant=variant).fit(X, y)
    assert model.predict(X[:1]) == ["b"]
    assert model.certificate().holds
    assert model.certificate().verify(X, y)


@pytest.mark.filterwarnings("ignore::committee.DataWarning")
def test_parts_without_a_hypothesis_are_compared_by_the_shares_of_their_classes():
    X, y = np.ones((60, 2)), np.repeat(["a", "b", "c"], [15, 28, 17])
    assert SmoothBoostClassifier().fit(X, y).predict(X[:1]) == ["b"]


def test_rows_that_cannot_judge_are_refused():
    X, y = rows()
    model = AdaBoostClassifier(n_estimators=5)
    with pytest.raises(InputError, match=r"M-CLASSES.*'0'"):
        model.fit(X, y, X_val=X[:3], y_val=["0", "1", "1"])
    with pytest.raises(InputError, match=r"M-CLASSES.*7.*row 2"):
        AdaBoostMHClassifier().fit(X, y, X_val=X[:3], y_val=[0, 1, 7])
    for booster in (model, RobustBoostClassifier(n_estimators=5)):
        with pytest.raises(InputError, match="Y-LENGTH"):
            booster.fit(X, y, X_val=X[:4], y_val=[0, 1, 1])
    with pytest.raises(InputError, match="three hypotheses"):
        FirstBoostingClassifier().fit(X, y, X_val=X[:3], y_val=[0, 1, 1])


def test_rows_of_weight_0_are_not_held_out():
    X, y = rows()
    weight = np.r_[np.ones(20), np.zeros(70)]
    model = AdaBoostClassifier(n_estimators=5, early_stopping=True, random_state=0)
    assert np.isfinite(model.fit(X, y, weight).validation_losses_).all()
