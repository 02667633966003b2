"""Ensemble selection: the greedy path against a naive loop, R30, bags, prefit pools, errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_friedman1
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from committee import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
    InputError,
)
from committee.ensembles.selection.greedy import climb, draw_pools, single_scores
from committee.ensembles.selection.judges import CLASS_SCORES, NUMBER_SCORES, Judge

POOL = [
    ("near1", KNeighborsClassifier(1)),
    ("near15", KNeighborsClassifier(15)),
    ("bayes", GaussianNB()),
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ("ridge", RidgeClassifier()),
]
NUMBERS = [
    ("line", LinearRegression()),
    ("near", KNeighborsRegressor()),
    ("tree", DecisionTreeRegressor(max_depth=5, random_state=0)),
    ("mean", DummyRegressor()),
]


@pytest.fixture(scope="module")
def rows():
    return make_classification(150, 6, n_informative=4, n_classes=3, flip_y=0.1, random_state=0)


def sklearn_score(scoring, y, outputs, weight):
    """Score outputs by scikit-learn's own functions."""
    if scoring == "neg_log_loss":
        labels = np.arange(outputs.shape[1])
        return -metrics.log_loss(y, outputs, labels=labels, sample_weight=weight)
    if scoring == "accuracy":
        return metrics.accuracy_score(y, outputs.argmax(axis=1), sample_weight=weight)
    if scoring == "neg_brier_score":
        truth = np.eye(outputs.shape[1])[y]
        scale = 0.5 if outputs.shape[1] == 2 else 1.0
        return -scale * np.average(((outputs - truth) ** 2).sum(axis=1), weights=weight)
    if scoring == "r2":
        return metrics.r2_score(y, outputs, sample_weight=weight)
    name = {
        "neg_mean_squared_error": "mean_squared_error",
        "neg_mean_absolute_error": "mean_absolute_error",
    }[scoring]
    return -getattr(metrics, name)(y, outputs, sample_weight=weight)


def naive_climb(outputs, y, scoring, weight, n_rounds, n_init):
    """Caruana's loop as it is written, with lists of members and means of all of them."""

    def score(chosen):
        return sklearn_score(scoring, y, np.mean([outputs[m] for m in chosen], axis=0), weight)

    ranked = sorted(range(len(outputs)), key=lambda m: (-score([m]), m))
    if n_init == "auto":
        tried = [score(ranked[: k + 1]) for k in range(len(ranked))]
        n_init = 1 + int(np.argmax(tried))
    chosen = ranked[:n_init]
    scores = [score(chosen)]
    for _ in range(n_rounds):
        best = max(range(len(outputs)), key=lambda m: (score([*chosen, m]), -m))
        chosen = [*chosen, best]
        scores.append(score(chosen))
    kept = n_init + int(np.argmax(scores))
    return chosen, scores, [chosen[:kept].count(m) / kept for m in range(len(outputs))]


def random_task(kind, seed, weighted):
    rng = np.random.default_rng(seed)
    n, members = 30, 5
    weight = rng.random(n) if weighted else None
    if kind == "numbers":
        y = rng.normal(size=n)
        return (y + rng.normal(size=(members, n)) * rng.random((members, 1)))[:, :, None], y, weight
    n_classes = int(rng.integers(2, 5))
    y = rng.integers(0, n_classes, n)
    tilt = 2 * np.eye(n_classes)[y] * rng.random((members, 1, 1))
    shares = np.exp(rng.normal(size=(members, n, n_classes)) + tilt)
    return shares / shares.sum(axis=2, keepdims=True), y, weight


TASKS = [("classes", score) for score in CLASS_SCORES]
TASKS += [("numbers", score) for score in NUMBER_SCORES]


@settings(max_examples=10)
@given(
    st.integers(0, 10**6),
    st.sampled_from([1, 3, "auto"]),
    st.booleans(),
    st.sampled_from(
        [("classes", s) for s in CLASS_SCORES] + [("numbers", s) for s in NUMBER_SCORES]
    ),
)
def test_the_path_is_that_of_a_naive_loop(seed, n_init, weighted, task):
    kind, scoring = task
    outputs, y, weight = random_task(kind, seed, weighted)
    judge = Judge(outputs, y, scoring, weight=weight)
    singles = single_scores(judge)
    path = climb(judge, np.arange(5), singles, n_rounds=4, n_init=n_init)
    flat = outputs[:, :, 0] if kind == "numbers" else outputs
    chosen, scores, weights = naive_climb(flat, y, scoring, weight, 4, n_init)
    start = len(path.added) - 5
    np.testing.assert_allclose(path.scores[start:], scores, rtol=1e-9, atol=1e-12)
    assert np.isnan(path.scores[:start]).all()
    if scoring != "accuracy":  # counts tie, and rounding may then choose another member
        assert path.added.tolist() == chosen
        np.testing.assert_allclose(path.weights(5), weights)
    assert path.score == np.nanmax(path.scores)
    assert path.score >= singles.max() or n_init == 3
    assert path.weights(5).sum() == pytest.approx(1)


# --- R30: selection beside combination


@pytest.mark.parametrize("scoring", CLASS_SCORES)
def test_r30_best_single_and_ensemble_on_the_same_rows(rows, scoring):
    X, y = rows
    model = EnsembleSelectionClassifier(POOL[:4], scoring=scoring, cv=4, n_rounds=10).fit(X, y)
    expected = []
    for k, (_, member) in enumerate(POOL[:4]):
        held_out = cross_val_predict(member, X, y, cv=4, method="predict_proba")
        np.testing.assert_allclose(model.oof_[k], held_out)
        expected.append(sklearn_score(scoring, y, held_out, None))
    np.testing.assert_allclose(model.scores_, expected)
    assert model.best_single_ == POOL[int(np.argmax(expected))][0]
    assert model.best_single_score_ == model.scores_.max()
    mean = np.tensordot(model.weights_, model.oof_, axes=1)
    assert model.score_ == pytest.approx(sklearn_score(scoring, y, mean, None))
    assert model.score_ >= model.best_single_score_


def test_r30_numbers():
    X, y = make_friedman1(150, random_state=0)
    model = EnsembleSelectionRegressor(NUMBERS, n_rounds=20).fit(X, y)
    assert model.best_single_ == "line"
    assert model.score_ > model.best_single_score_
    assert dict(zip(model.pool_, model.weights_, strict=True))["mean"] < 0.1
    each = [clone(member).fit(X, y).predict(X) for name, member in NUMBERS if name in model.seats_]
    weights = model.weights_[model.weights_ > 0]
    np.testing.assert_allclose(model.predict(X), np.average(each, axis=0, weights=weights))


# --- the model


def test_members_not_chosen_are_not_fitted(rows):
    model = EnsembleSelectionClassifier(POOL, n_rounds=0, n_init=1).fit(*rows)
    assert model.seats_ == (model.best_single_,)
    assert len(model.estimators_) == 1
    assert model.named_estimators_["ridge"] == "drop"
    assert model.weights_.tolist() == [float(name == model.best_single_) for name in model.pool_]
    np.testing.assert_array_equal(model.predict(rows[0]), model.estimators_[0].predict(rows[0]))


def test_members_without_probabilities_vote(rows):
    model = EnsembleSelectionClassifier(POOL, scoring="accuracy", n_rounds=5).fit(*rows)
    assert set(np.unique(model.oof_[4])) == {0.0, 1.0}
    assert model.predict_proba(rows[0]).sum(axis=1) == pytest.approx(1)


def test_bags_are_drawn_by_number_and_averaged(rows):
    X, y = rows
    model = EnsembleSelectionClassifier(POOL, n_rounds=5, n_bags=4, random_state=3).fit(X, y)
    pools = draw_pools(5, 4, 0.5, 3)
    assert [path.pool.tolist() for path in model.paths_] == [pool.tolist() for pool in pools]
    assert {len(pool) for pool in pools} == {3}
    for path in model.paths_:
        assert set(path.added) <= set(path.pool)
    np.testing.assert_allclose(
        model.weights_, np.mean([p.weights(5) for p in model.paths_], axis=0)
    )
    assert [p.tolist() for p in draw_pools(5, 2, 0.5, 3)] == [p.tolist() for p in pools[:2]]
    mean = np.tensordot(model.weights_, model.oof_, axes=1)
    assert model.score_ == pytest.approx(-metrics.log_loss(y, mean))


def test_a_prefit_pool_is_judged_by_rows_it_has_not_seen(rows):
    X, y = rows
    pool = [(name, clone(member).fit(X[:100], y[:100])) for name, member in POOL[:4]]
    model = EnsembleSelectionClassifier(pool, prefit=True, n_rounds=10).fit(X[100:], y[100:])
    for k, (_, member) in enumerate(pool):
        np.testing.assert_array_equal(model.oof_[k], member.predict_proba(X[100:]))
    assert all(member in [m for _, m in pool] for member in model.estimators_)
    with pytest.raises(InputError, match="cv given"):
        model.set_params(cv=3).fit(X[100:], y[100:])


def test_weights_count_in_the_score_and_in_members(rows):
    X, y = rows
    weight = np.random.default_rng(0).random(len(y))
    pool = [POOL[2], POOL[3]]
    model = EnsembleSelectionClassifier(pool, n_rounds=4).fit(X, y, weight)
    mean = np.tensordot(model.weights_, model.oof_, axes=1)
    assert model.score_ == pytest.approx(-metrics.log_loss(y, mean, sample_weight=weight))
    with pytest.raises(InputError, match="near15"):
        EnsembleSelectionClassifier(POOL).fit(X, y, weight)


def test_rows_never_held_out_have_no_part(rows):
    X, y = rows
    cv = ShuffleSplit(2, test_size=0.2, random_state=0)
    model = EnsembleSelectionClassifier(POOL[:4], cv=cv, n_rounds=3).fit(X, y)
    known = ~np.isnan(model.oof_[0, :, 0])
    assert 30 < known.sum() < 60
    mean = np.tensordot(model.weights_, model.oof_[:, known], axes=1)
    assert model.score_ == pytest.approx(-metrics.log_loss(y[known], mean))


def test_groups_stay_together(rows):
    X, y = rows
    groups = [f"g{k % 7}" for k in range(len(y))]
    model = EnsembleSelectionClassifier(POOL[:2], cv=GroupKFold(7), n_rounds=2)
    held_out = cross_val_predict(
        POOL[0][1], X, y, groups=groups, cv=GroupKFold(7), method="predict_proba"
    )
    np.testing.assert_allclose(model.fit(X, y, groups=groups).oof_[0], held_out)
    # A number of folds keeps them together, too, and a splitter that does not is refused.
    together = StratifiedGroupKFold(5)
    held_out = cross_val_predict(
        POOL[0][1], X, y, groups=groups, cv=together, method="predict_proba"
    )
    for cv in (None, 5):
        np.testing.assert_allclose(
            model.set_params(cv=cv).fit(X, y, groups=groups).oof_[0], held_out
        )
    with pytest.raises(InputError, match=r"P-FOLDS.*group 'g0' on both sides"):
        model.set_params(cv=KFold(5)).fit(X, y, groups=groups)


def test_splits_may_be_masks(rows):
    X, y = rows
    late = np.arange(len(y)) >= 100
    model = EnsembleSelectionClassifier(POOL[:2], cv=[(~late, late)], n_rounds=2).fit(X, y)
    np.testing.assert_array_equal(np.isnan(model.oof_[0, :, 0]), ~late)
    near = clone(POOL[0][1]).fit(X[~late], y[~late])
    np.testing.assert_array_equal(model.oof_[0, late], near.predict_proba(X[late]))


@pytest.mark.parametrize(
    ("cv", "says"),
    [
        (1, r"'cv' parameter .*pairs\. Got 1"),
        ([(range(9), [700])], r"P-FOLDS.*split 0 .*0 to 149"),
        ([(range(9), [])], r"P-FOLDS.*split 0 has no rows to be asked about"),
        ([([], range(9))], r"P-FOLDS.*split 0 has no rows to learn from"),
        ([], r"P-FOLDS.*there is no split"),
        (60, r"Y-RARE.*row\(s\), cv has 60 folds"),
    ],
)
def test_b34_bad_folds(rows, cv, says):
    model = EnsembleSelectionClassifier(POOL[:2], cv=cv)
    with pytest.raises(ValueError, match=says):
        model.fit(*rows)
    assert not hasattr(model, "estimators_")


def test_a_callable_judges_labels_and_shares():
    X, y = load_iris(return_X_y=True)
    y = np.array(["u", "v", "w"])[y]
    seen = []

    def recall_of_w(labels, shares):
        seen.append(shares.shape)
        return float((shares[labels == "w", 2] > 0.5).mean())

    model = EnsembleSelectionClassifier(POOL[:4], scoring=recall_of_w, n_rounds=2).fit(X, y)
    assert set(seen) == {(150, 3)}
    assert 0.8 < model.score_ <= 1
    with pytest.raises(InputError, match="gave nan"):
        model.set_params(scoring=lambda y, shares: float("nan")).fit(X, y)


@pytest.mark.parametrize("scoring", ["r2", "log_loss", None, 3])
def test_bad_scoring(rows, scoring):
    with pytest.raises(ValueError, match=r"neg_log_loss.*or a callable"):
        EnsembleSelectionClassifier(POOL, scoring=scoring).fit(*rows)


def test_a_constant_target_has_no_r2():
    X = np.arange(20.0)[:, None]
    with pytest.raises(InputError, match="r2 is not defined"):
        EnsembleSelectionRegressor(NUMBERS, scoring="r2").fit(X, np.ones(20))
