"""AdaBoost.MH as an estimator: weights, certificate, early stopping, numbers and frames."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import hamming_loss
from sklearn.pipeline import make_pipeline
from tests.ensembles.boosting.naive_mh import documents

from committee import load_heart
from committee.data import InputError
from committee.ensembles.boosting.adaboost_mh import AdaBoostMHClassifier
from committee.ensembles.boosting.word_rules import WordRules

VARIANTS = ("real", "abstaining", "discrete")
each_variant = pytest.mark.parametrize("variant", VARIANTS)


@each_variant
@pytest.mark.parametrize("several", [True, False])
@pytest.mark.parametrize("dense", [True, False])
def test_weights_are_repetitions(variant, several, dense):
    X, y = documents(4, several=several)
    X = X.toarray() if dense else X
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weight[0] = 1
    repeated = np.repeat(np.arange(len(y)), weight)
    params = {"n_estimators": 20, "variant": variant}
    weighted = AdaBoostMHClassifier(**params).fit(X, y, sample_weight=weight)
    copied = AdaBoostMHClassifier(**params).fit(X[repeated], y[repeated])
    scaled = AdaBoostMHClassifier(**params).fit(X, y, sample_weight=weight * 1e-3)
    without = AdaBoostMHClassifier(**params).fit(X[weight > 0], y[weight > 0], weight[weight > 0])
    np.testing.assert_allclose(
        weighted.decision_function(X), copied.decision_function(X), atol=1e-9
    )
    np.testing.assert_allclose(
        weighted.decision_function(X), scaled.decision_function(X), atol=1e-9
    )
    np.testing.assert_array_equal(weighted.decision_function(X), without.decision_function(X))


def test_even_weights_change_nothing():
    X, y = documents(4)
    plain = AdaBoostMHClassifier(n_estimators=10).fit(X, y)
    even = AdaBoostMHClassifier(n_estimators=10).fit(X, y, sample_weight=np.full(len(y), 0.3))
    np.testing.assert_array_equal(plain.decision_function(X), even.decision_function(X))


@each_variant
@pytest.mark.parametrize("several", [True, False])
def test_the_certificate_holds_and_finds_what_was_changed(variant, several):
    X, y = documents(6, several=several)
    weight = np.random.default_rng(1).random(len(y)) + 0.1
    model = AdaBoostMHClassifier(n_estimators=12, variant=variant).fit(X, y, weight)
    certificate = model.certificate()
    assert certificate.holds
    texts = [claim.text for claim in certificate.claims]
    assert "Hamming loss <= product of Z" in texts
    assert "one-error <= 1.5 times product of Z" in texts
    assert ("product of Z <= product of sqrt(1 - r^2)" in texts) == (variant == "discrete")
    assert len(certificate.margins) == y.size if several else 3 * len(y)
    assert np.abs(certificate.margins).max() <= 1 + 1e-12
    assert "pairs of training row and label" in str(certificate)
    assert certificate.verify(X, y, weight)
    changed_y = y.copy()
    changed_y[0] = 1 - changed_y[0] if several else (changed_y[0] + 1) % 3
    assert not certificate.verify(X, changed_y, weight)
    assert not certificate.verify(X, y)
    model.committee_.members.values[3] *= 1.01
    found = certificate.verify(X, y, weight)
    assert not found
    assert "z: " in str(found)


def test_a_changed_one_error_is_found():
    X, y = documents(6)
    model = AdaBoostMHClassifier(n_estimators=5).fit(X, y)
    model.train_one_error_ += 0.01
    assert "one-error" in str(model.certificate().verify(X, y))
    with pytest.raises(InputError, match="M-CLASSES"):
        model.certificate().verify(X, y[:, 0])


def test_many_labels_are_learnt():
    X, Y = documents(10, 1000, 50, 5)
    model = AdaBoostMHClassifier(n_estimators=200).fit(X[:700], Y[:700])
    guess = np.minimum(Y[:700].mean(axis=0), 1 - Y[:700].mean(axis=0)).mean()
    loss = hamming_loss(Y[700:], model.predict(X[700:]))
    assert loss < 0.6 * guess
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares, 1 / (1 + np.exp(-2 * model.decision_function(X))))
    np.testing.assert_array_equal(model.predict(X), (shares > 0.5).astype(int))
    ranked = model.rank(X)
    scores = np.take_along_axis(model.decision_function(X), ranked, axis=1)
    assert (np.diff(scores, axis=1) <= 0).all()


def test_one_label_of_many_has_shares_that_sum_to_one():
    X, y = documents(10, 300, 50, 4, several=False)
    names = np.array(["d", "c", "b", "a"])[y]
    model = AdaBoostMHClassifier(n_estimators=60).fit(X, names)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    each = 1 / (1 + np.exp(-2 * model.decision_function(X)))
    np.testing.assert_allclose(shares, each / each.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
    np.testing.assert_array_equal(model.predict(X), model.rank(X)[:, 0])
    assert model.score(X, names) > 0.7


@pytest.mark.parametrize("several", [True, False])
def test_stages_end_with_the_model(several):
    X, y = documents(11, several=several)
    model = AdaBoostMHClassifier(n_estimators=9).fit(X, y)
    *_, decision = model.staged_decision_function(X)
    np.testing.assert_array_equal(decision, model.decision_function(X))
    *_, labels = model.staged_predict(X)
    np.testing.assert_array_equal(labels, model.predict(X))
    *_, shares = model.staged_predict_proba(X)
    np.testing.assert_array_equal(shares, model.predict_proba(X))
    scores = list(model.staged_score(X, y))
    assert len(scores) == len(model) == 9
    assert scores[-1] == model.score(X, y)
    assert isinstance(model.committee_.members, WordRules)
    for k, stage in enumerate(model.staged_decision_function(X)):
        np.testing.assert_array_equal(stage, model.committee_[: k + 1].decision(X))


@pytest.mark.parametrize("several", [True, False])
def test_early_stopping(several):
    X, y = documents(12, 400, 60, 3, several)
    model = AdaBoostMHClassifier(
        n_estimators=300, early_stopping=True, n_iter_no_change=5, random_state=0
    ).fit(X, y)
    losses = model.validation_losses_
    assert len(model) == losses.argmin() + 1 < 300
    assert len(losses) == len(model) + 5
    judged = AdaBoostMHClassifier(n_estimators=30, n_iter_no_change=30)
    judged.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    last = judged.validation_losses_[len(judged) - 1]
    wrong = judged.predict(X[300:]) != y[300:]
    assert last == pytest.approx(wrong.mean())


def test_pickles_and_threads_change_nothing():
    X, y = documents(13)
    model = AdaBoostMHClassifier(n_estimators=10).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
    threads = AdaBoostMHClassifier(n_estimators=10, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(threads.decision_function(X), model.decision_function(X))


def test_importances_are_shares_of_what_the_rules_brought():
    X, y = documents(14)
    model = AdaBoostMHClassifier(n_estimators=10).fit(X, y)
    importances = model.feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    used = np.unique(model.committee_.members.features)
    assert set(np.flatnonzero(importances)) == set(used)
    log_z = np.log(model.rounds_["z"])
    first = model.committee_.members.features == used[0]
    assert importances[used[0]] == pytest.approx(log_z[first].sum() / log_z.sum())


@each_variant
def test_numbers_with_cuts(variant):
    X, y = make_blobs(300, centers=4, n_features=3, random_state=0, cluster_std=1.2)
    model = AdaBoostMHClassifier(n_estimators=100, variant=variant).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.85
    X, y = load_iris(return_X_y=True)
    model = AdaBoostMHClassifier(n_estimators=60, variant=variant).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9


@each_variant
def test_frames_with_categories_and_missing_numbers(variant):
    X, y = load_heart(as_frame=True)
    number = X.select_dtypes("number").columns[0]
    X[number] = X[number].where(np.arange(len(X)) % 7 > 0)
    model = AdaBoostMHClassifier(n_estimators=40, variant=variant).fit(X, y)
    assert model.score(X, y) > 0.85
    assert model.certificate().verify(X, y)
    assert repr(model.estimators_[0]).startswith("<'")
    assert model.feature_names_in_.tolist() == X.columns.tolist()


def test_levels_are_told_apart_one_by_one():
    colour = pd.Categorical(["red", "green", "blue"] * 20, ["red", "green", "blue"])
    X = pd.DataFrame({"colour": colour})
    y = (colour == "green").astype(int)  # the middle level: no cut parts it from the others
    model = AdaBoostMHClassifier(n_estimators=1).fit(X, y)
    assert model.score(X, y) == 1.0


def test_texts_by_a_pipeline():
    texts = ["not good", "good", "bad", "not bad", "good film", "not good film", "bad film"]
    y = ["-", "+", "-", "+", "+", "-", "-"]
    words = CountVectorizer(ngram_range=(1, 2), binary=True)
    model = make_pipeline(words, AdaBoostMHClassifier(n_estimators=20)).fit(texts, y)
    assert model.predict(texts).tolist() == y
    names = words.get_feature_names_out()
    used = {names[rule.feature] for rule in model[-1].estimators_}
    assert used & {"not good", "not bad"}


def test_a_matrix_of_other_numbers_is_refused():
    X, _ = documents(n=4)
    with pytest.raises(InputError, match=r"Y-SHAPE.*MultiLabelBinarizer"):
        AdaBoostMHClassifier().fit(X, [[0, 2], [1, 0], [0, 1], [1, 1]])
    with pytest.raises(InputError, match="Y-LENGTH"):
        AdaBoostMHClassifier().fit(X, [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="variant"):
        AdaBoostMHClassifier(variant="gentle").fit(X, [0, 1, 0, 1])
