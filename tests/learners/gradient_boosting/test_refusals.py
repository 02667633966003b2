"""What a booster refuses before it boosts, and what it must not: found by a stranger's tries."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from tests.estimators import model_bits

from committee import (
    GradientBoostingClassifier,
    GradientBoostingRanker,
    GradientBoostingRegressor,
    InputError,
    check_loss,
)
from committee.losses import (
    Absolute,
    Columns,
    Logistic,
    Loss,
    Multinomial,
    Poisson,
    Quantiles,
    Squared,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = X[:, 0] + 0.3 * RNG.normal(size=300)
CODES = (Y > 0).astype(int)
GROUPS = np.repeat(np.arange(30), 10)
FEW = {"n_estimators": 5, "random_state": 0}


def regressor(loss="squared_error", **more):
    return GradientBoostingRegressor(loss, **{**FEW, **more})


def classifier(loss="log_loss", **more):
    return GradientBoostingClassifier(loss, **{**FEW, **more})


def refused(code, *parts):
    words = ".*".join([rf"\[{code}\]", *parts])
    return pytest.raises(InputError, match=f"(?s){words}")


# --- derivatives that single precision does not hold ---


@pytest.mark.parametrize("loss", ["squared_error", "huber", "poisson", "tweedie"])
@pytest.mark.parametrize("scale", [1e-46, 1e35, 1e140])
def test_targets_out_of_scale_are_refused(loss, scale):
    with refused("Y-SCALE", "y: the gradient of", "row", "divide y"):
        regressor(loss, power=1.1).fit(X, np.exp(Y) * scale)


def test_one_target_out_of_scale_is_named():
    y = Y.copy()
    y[17] = 1e35
    with refused("Y-SCALE", "row 17"):
        regressor().fit(X, y)
    with refused("Y-SCALE", "row 17", "e\\+35"):
        regressor().fit(X, np.column_stack([Y, y]))


def test_scales_that_are_held_make_no_difference():
    step, rate = np.where(X[:, 0] < 0, -1.0, 1.0), {"learning_rate": 1.0, "l2_regularization": 0.0}
    for scale in (1e-25, 1.0, 1e29):
        model = regressor(**rate, n_estimators=1).fit(X, step * scale)
        assert np.allclose(model.predict(X) / scale, step)
    for scale in (1e-300, 1e100):  # these losses have bounded derivatives
        model = regressor("absolute_error", **rate, n_estimators=1).fit(X, step * scale)
        assert np.allclose(model.predict(X) / scale, step)
    assert (regressor().fit(X, np.full(300, 1e140)).predict(X) == 1e140).all()  # nothing to learn


class Steep(Squared):
    """A loss of a user's."""


def test_a_loss_of_ones_own_out_of_scale_is_refused():
    with refused("Y-SCALE"):
        regressor(Steep()).fit(X, Y * 1e39)


# --- rows to stop by ---


def test_a_warm_start_does_not_stop_by_rows_it_has_learned():
    model = regressor(warm_start=True).fit(X, Y)
    before = model_bits(model)
    with refused("P-WARM", "early_stopping"):
        model.set_params(n_estimators=9, early_stopping=True).fit(X, Y)
    assert model_bits(model) == before
    model = regressor(warm_start=True, early_stopping=True).fit(X, Y)
    with refused("P-WARM", "early_stopping"):
        clone_with(model, validation_fraction=0.3).fit(X, Y)
    model.set_params(n_estimators=9).fit(X, Y)  # the same rows are held out again
    assert model.validation_split_ == 0.1
    model.set_params(n_estimators=12).fit(X[:200], Y[:200], X_val=X[200:], y_val=Y[200:])
    assert model.validation_split_ is None


def clone_with(model, **params):
    """Copy a fitted model, with other parameters."""
    copy = clone(model).set_params(**params)
    fitted = {k: v for k, v in vars(model).items() if k not in model.get_params()}
    vars(copy).update(fitted)
    return copy


def test_cox_is_judged_by_rows_with_events():
    times = np.where(CODES, 1, -1) * np.exp(Y)
    with refused("Y-EVENTS", "y_val"):
        regressor("cox").fit(X, times, X_val=X[:50], y_val=-np.exp(Y[:50]))
    rare = -np.exp(Y)
    rare[5] *= -1
    with refused("Y-EVENTS", "early stopping", "random_state"):
        regressor("cox", early_stopping=True).fit(X, rare)
    weight = np.ones(300)
    weight[5] = 0
    with refused("Y-EVENTS"):
        regressor("cox").fit(X, rare, sample_weight=weight)


def test_arguments_for_rows_to_stop_by_belong_together():
    ranker = GradientBoostingRanker(**FEW)
    with refused("P-SPLIT", "sample_weight_val", "without X_val"):
        regressor().fit(X, Y, sample_weight_val=np.ones(3))
    with refused("P-SPLIT", "groups_val", "without X_val"):
        ranker.fit(X, CODES, groups=GROUPS, groups_val=np.ones(7))
    with refused("P-SPLIT", "query_weight_val", "without X_val"):
        ranker.fit(X, CODES, groups=GROUPS, query_weight_val=np.ones(7))
    with refused("P-SPLIT", "groups_val", "one query"):
        ranker.fit(X, CODES, groups=GROUPS, X_val=X, y_val=CODES)
    with refused("P-SPLIT", "X_val", "no rows"):
        regressor().fit(X, Y, X_val=X[:0], y_val=Y[:0])


def test_errors_of_rows_to_stop_by_name_them():
    with refused("X-WIDTH", "about X_val"):
        regressor().fit(X, Y, X_val=X[:, :2], y_val=Y)
    with refused("W-ZERO", "about sample_weight_val"):
        regressor().fit(X, Y, X_val=X, y_val=Y, sample_weight_val=np.zeros(300))
    with refused("Y-POSITIVE", "about y_val"):
        regressor("gamma").fit(X, np.exp(Y), X_val=X, y_val=np.zeros(300))
    with refused("Y-NEGATIVE", "about y_val"):
        regressor("poisson").fit(X, np.exp(Y), X_val=X, y_val=-np.ones(300))
    with refused("Y-EVENTS", "about y_val"):
        regressor("cox").fit(X, np.exp(Y), X_val=X, y_val=np.append(0, np.exp(Y[1:])))
    with refused("Y-CODES", "about y_val"):
        regressor(Logistic()).fit(X, CODES, X_val=X, y_val=np.full(300, 7.0))
    ranker = GradientBoostingRanker(**FEW)
    with refused("Y-RELEVANCE", "about y_val"):
        ranker.fit(X, CODES, groups=GROUPS, X_val=X, y_val=CODES - 5, groups_val=GROUPS)
    with pytest.raises(InputError, match="about groups_val"):
        ranker.fit(X, CODES, groups=GROUPS, X_val=X, y_val=CODES, groups_val=GROUPS[:7])


def test_counts_of_zero_can_be_judged_by():
    counts = RNG.poisson(np.exp(Y))
    model = regressor("poisson").fit(X, counts, X_val=X[:50], y_val=np.zeros(50))
    assert np.isfinite(model.held_out_loss_).all()


def test_splits_of_few_rows():
    many = np.arange(100) % 40
    model = classifier(early_stopping=True).fit(X[:100], many)
    assert len(model.classes_) == 40
    with refused("P-SPLIT", "validation_fraction", "300 of 300"):
        regressor(early_stopping=True, validation_fraction=300).fit(X, Y)
    with refused("P-SPLIT", "validation_fraction", "1 of 1 row"):
        regressor(early_stopping=True).fit(X[:1], Y[:1])
    with refused("P-SPLIT", "validation_fraction", "queries"):
        ranker = GradientBoostingRanker(**FEW, early_stopping=True, validation_fraction=30)
        ranker.fit(X, CODES, groups=GROUPS)
    one = np.zeros(10)
    one[-1] = 1
    with refused("Y-ZERO", "what early stopping leaves"):
        for seed in range(20):
            halves = regressor("poisson", early_stopping=True, validation_fraction=0.5)
            halves.set_params(random_state=seed).fit(X[:10], one)


# --- losses that do not fit the question ---


@pytest.mark.parametrize("loss", [Squared(), Poisson(), Quantiles((0.2, 0.8)), Multinomial(4)])
def test_a_classifier_needs_probabilities(loss):
    with refused("P-LOSS", "probabilities of 2 classes"):
        classifier(loss).fit(X, CODES)


def test_conformal_intervals_need_a_number():
    with refused("P-INTERVALS"):
        regressor(Logistic(), intervals="conformal").fit(X, CODES)


class Pair(Loss):
    """Absolute distances of two columns, which renew leaves."""

    n_outputs, exact_hessian, renews_leaves = 2, False, True

    def start(self, y, weight):
        return np.median(y, axis=0)

    def value(self, y, raw):
        return np.abs(raw - y).sum(axis=1)

    def gradient_hessian(self, y, raw):
        return np.sign(raw - y), np.ones(raw.shape)

    def best_constant(self, residual, weight, output=0):
        return float(np.median(residual))


def test_losses_of_columns_are_checked():
    both = np.column_stack([Y, 2 * Y])
    check_loss(Columns((Squared(), Absolute())), both)
    check_loss(Pair(), both)
    for y in ([], both, ["a", "b"]):
        with refused("P-VALUE", "y:"):
            check_loss(Squared(), y)


def test_rows_of_weight_0_are_absent_from_the_domain():
    y = np.append(np.exp(Y[:-1]), 0.0)
    weight = np.append(np.ones(299), 0.0)
    model = regressor("gamma").fit(X, y, sample_weight=weight)
    same = regressor("gamma").fit(X[:-1], y[:-1])
    assert (model.predict(X) == same.predict(X)).all()
    with refused("Y-POSITIVE", "row 299"):
        regressor("gamma").fit(X, y)


# --- scores ---


def test_quantiles_score_by_their_loss():
    levels = np.array([0.1, 0.9])
    model = regressor("quantile", quantile=levels, n_estimators=60).fit(X, Y)
    by_hand = [
        sum(
            np.maximum(a * (Y - q), (a - 1) * (Y - q)).mean()
            for a, q in zip(levels, qs, strict=True)
        )
        for qs in (model.predict(X).T, np.quantile(Y, levels, method="inverted_cdf"))
    ]
    assert model.score(X, Y) == pytest.approx(1 - by_hand[0] / by_hand[1], rel=1e-6)
    assert 0.3 < model.score(X, Y) < 1
    assert np.isfinite(cross_val_score(model, X, Y, cv=3)).all()
    assert regressor("quantile", quantile=[0.1, 0.9], n_estimators=1).fit(X, Y).score(X, Y) > -1


def test_cox_scores_by_its_likelihood():
    times = np.where(RNG.random(300) < 0.8, 1, -1) * np.exp(-Y)
    model = regressor("cox", n_estimators=50).fit(X, times)
    assert 0 < model.score(X, times) < 1
    shuffled = RNG.permutation(times)
    assert model.score(X, shuffled) < model.score(X, times)


def test_a_warm_start_says_that_losses_must_compare():
    model = regressor(Pair(), warm_start=True).fit(X, np.column_stack([Y, Y]))
    with refused("P-WARM", "__eq__"):
        clone_with(model, loss=Pair(), n_estimators=9).fit(X, np.column_stack([Y, Y]))
