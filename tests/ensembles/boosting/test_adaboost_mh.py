"""AdaBoost.MH (BoosTexter): the algorithm, worked out by hand and against explicit loops."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.ensembles.boosting.naive_mh import documents, naive_mh

from committee.data import DataWarning, InputError
from committee.ensembles.boosting.adaboost_mh import AdaBoostMHClassifier
from committee.ensembles.boosting.reweighting import NO_BETTER, PERFECT

VARIANTS = ("real", "abstaining", "discrete")
each_variant = pytest.mark.parametrize("variant", VARIANTS)
seeds = st.integers(0, 2**32 - 1)


@parametrize_with_checks([AdaBoostMHClassifier(n_estimators=20, variant=v) for v in VARIANTS])
def test_estimator_check(estimator, check):
    check(estimator)


# By hand: four documents, two words, one column of labels.
FOUR = sparse.csr_matrix(np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 3.0], [0.0, 0.0]]))
LABELS = np.array(["yes", "yes", "no", "yes"])


def test_r69_four_documents_by_hand():
    # m = 4 and s = 1/4. Round 1, D = 1/4 each. Word 0 is in documents 0 and 1: W+ = 1/2, W- = 0;
    # documents 2 and 3 lack it: W+ = W- = 1/4, so that Z = 0 + 2 sqrt(1/16) = 1/2. Word 1 has the
    # same Z, and the first wins. c(present) = 1/2 ln(3/4 : 1/4) = 1/2 ln 3, c(absent) = 0, and
    # with the smoothing Z = 1/2 exp(-1/2 ln 3) + 1/2 = (3 + sqrt 3) / 6.
    model = AdaBoostMHClassifier(n_estimators=2).fit(FOUR, LABELS)
    half_ln_3, root = np.log(3) / 2, np.sqrt(3)
    first, second = model.estimators_
    assert first.feature == 0
    np.testing.assert_allclose(first.values, [[0.0], [half_ln_3]], atol=1e-15)
    # Round 2: documents 0 and 1 weigh (sqrt 3 - 1) / 4, the others (3 - sqrt 3) / 4. Word 0 leaves
    # 2 (3 - sqrt 3) / 4 = .634, word 1 only 2 sqrt((sqrt 3 - 1) (3 - sqrt 3)) / 4 = .482.
    weights = list(model.staged_sample_weight(FOUR, LABELS))
    np.testing.assert_allclose(weights[0], np.full((4, 1), 0.25))
    heavy, light = (3 - root) / 4, (root - 1) / 4
    np.testing.assert_allclose(weights[1][:, 0], [light, light, heavy, heavy])
    assert second.feature == 1
    present = np.log((light + 0.25) / (heavy + 0.25)) / 2
    assert present == pytest.approx(np.log(root / (4 - root)) / 2)
    np.testing.assert_allclose(second.values, [[half_ln_3], [present]])
    decision = [2 * half_ln_3, half_ln_3 + present, present, half_ln_3]
    np.testing.assert_allclose(model.decision_function(FOUR), decision, atol=1e-15)
    assert model.predict(FOUR).tolist() == LABELS.tolist()
    said = np.array([half_ln_3, present, present, half_ln_3])
    z = np.sum(weights[1][:, 0] * np.exp(-np.array([1, 1, -1, 1]) * said))
    np.testing.assert_allclose(model.rounds_["z"], [(3 + root) / 6, z])
    np.testing.assert_allclose(
        model.predict_proba(FOUR)[:, 1], 1 / (1 + np.exp(-2 * np.array(decision)))
    )


def test_r60_abstaining_documents_keep_their_weight():
    # Word 0 alone is present and always right: W0 = 1/2, and Z = 1/2 + 1/2 exp(-1/2 ln 3).
    model = AdaBoostMHClassifier(n_estimators=1, variant="abstaining").fit(FOUR, LABELS)
    (rule,) = model.estimators_
    np.testing.assert_allclose(rule.values, [[0.0], [np.log(3) / 2]])
    z = 0.5 + 0.5 / np.sqrt(3)
    np.testing.assert_allclose(model.rounds_["z"], [z])
    before, after = model.staged_sample_weight(FOUR, LABELS)
    np.testing.assert_allclose(after[2:] * z, before[2:], rtol=1e-15)
    np.testing.assert_allclose(after[:2] * z, before[:2] / np.sqrt(3))


@each_variant
@pytest.mark.parametrize("several", [True, False])
@settings(max_examples=25)
@given(seed=seeds, n=st.integers(6, 25), p=st.integers(2, 8), n_labels=st.integers(2, 4))
def test_explicit_loops_give_the_same_scores(variant, several, seed, n, p, n_labels):
    X, y = documents(seed, n, p, n_labels, several)
    if not several and len(np.unique(y)) < 2:
        return
    naive = naive_mh(X.toarray() > 0, y, variant, n_rounds=6)
    if not naive.z:
        return
    model = AdaBoostMHClassifier(n_estimators=6, variant=variant).fit(X, y)
    assert model.committee_.members.features.tolist() == naive.words
    np.testing.assert_allclose(model.committee_.decision(X), naive.decision, atol=1e-9)
    np.testing.assert_allclose(model.rounds_["z"], naive.z, atol=1e-9)


@each_variant
@pytest.mark.parametrize("several", [True, False])
def test_hamming_loss_stays_below_the_product_of_z(variant, several):
    X, y = documents(3, 300, 60, 4, several)
    model = AdaBoostMHClassifier(n_estimators=40, variant=variant).fit(X, y)
    Y = 2 * y - 1 if several else np.where(y[:, None] == np.arange(4), 1, -1)
    product = np.cumprod(model.rounds_["z"])
    assert product[-1] < 0.9
    for stage, bound in zip(model.staged_decision_function(X), product, strict=True):
        assert np.mean(Y * stage <= 0) <= bound
        assert np.mean(np.exp(-Y * stage)) == pytest.approx(bound, rel=1e-10)
        lead = np.where(Y > 0, stage, -np.inf).max(1) - np.where(Y < 0, stage, -np.inf).max(1)
        assert np.mean((lead <= 0) & (Y > 0).any(axis=1)) <= 2 * bound  # K / 2 times


@each_variant
def test_two_classes_are_two_columns_that_mirror_each_other(variant):
    X, y = documents(5, 200, 30, 2, several=False)
    one = AdaBoostMHClassifier(n_estimators=15, variant=variant).fit(X, y)
    two = AdaBoostMHClassifier(n_estimators=15, variant=variant).fit(X, np.eye(2, dtype=int)[y])
    decision = one.decision_function(X)
    assert decision.shape == (200,)
    mirrored = np.column_stack([-decision, decision])
    np.testing.assert_allclose(two.decision_function(X), mirrored, atol=1e-12)
    np.testing.assert_allclose(one.rounds_["z"], two.rounds_["z"], rtol=1e-12)
    np.testing.assert_array_equal(one.predict(X), two.predict(X)[:, 1])
    assert (one.rank(X)[:, 0] == one.predict(X)).all()


def test_a_label_that_no_row_has_scores_negative_everywhere():
    X, y = documents(1)
    y[:, 1] = 0
    model = AdaBoostMHClassifier(n_estimators=10).fit(X, y)
    assert (model.decision_function(X)[:, 1] < 0).all()
    assert (model.predict_proba(X)[:, 1] < 0.5).all()
    assert model.certificate().holds


def test_discrete_rules_take_the_optimal_weight():
    X, y = documents(2, 400, 30, 1)
    model = AdaBoostMHClassifier(n_estimators=20, variant="discrete").fit(X, y[:, 0])
    r = model.rounds_["edge"]
    np.testing.assert_allclose(model.estimator_weights_, np.log((1 + r) / (1 - r)) / 2)
    assert set(np.unique(model.committee_.members.values)) <= {-1.0, 0.0, 1.0}
    np.testing.assert_allclose(model.rounds_["z"], np.sqrt(1 - r**2))  # no row is left out


def test_a_discrete_rule_without_error_decides_alone():
    model = AdaBoostMHClassifier(variant="discrete").fit(FOUR, ["a", "a", "b", "b"])
    assert len(model) == 1
    assert model.stop_reason_ == PERFECT
    assert model.predict(FOUR).tolist() == ["a", "a", "b", "b"]
    assert model.certificate().verify(FOUR, ["a", "a", "b", "b"])


@each_variant
def test_rows_that_look_alike_leave_the_shares_of_the_labels(variant):
    X, y = sparse.csr_matrix((9, 3)), np.array([0] * 6 + [1] * 3)
    model = AdaBoostMHClassifier(variant=variant).fit(X, y)
    assert (model.predict(X) == 0).all()
    assert model.stop_reason_ == NO_BETTER
    even = np.array([0, 1] * 4)
    with pytest.warns(DataWarning, match="M-PRIOR"):
        model.fit(X[:8], even)
    np.testing.assert_allclose(model.predict_proba(X[:8]), 0.5)


def test_the_smoothing_is_what_is_added_to_the_weights():
    model = AdaBoostMHClassifier(n_estimators=1, smoothing=0.5).fit(FOUR, LABELS)
    np.testing.assert_allclose(model.estimators_[0].values, [[0.0], [np.log(2) / 2]])
    with pytest.raises(ValueError, match="smoothing"):
        AdaBoostMHClassifier(smoothing=0.0).fit(FOUR, LABELS)


@each_variant
@pytest.mark.parametrize("several", [True, False])
def test_containers_give_the_same_bits(variant, several):
    X, y = documents(7, several=several)
    model = AdaBoostMHClassifier(n_estimators=15, variant=variant).fit(X, y)
    expected = model.decision_function(X)
    unsorted = sparse.coo_matrix(X)
    shuffle = np.random.default_rng(0).permutation(X.nnz)
    unsorted = sparse.coo_matrix(
        (unsorted.data[shuffle], (unsorted.row[shuffle], unsorted.col[shuffle])), shape=X.shape
    )
    forms = [X.tocsc(), unsorted, sparse.csr_array(X), sparse.lil_matrix(X), X.astype(np.int32)]
    for form in forms:
        other = AdaBoostMHClassifier(n_estimators=15, variant=variant).fit(form, y)
        np.testing.assert_array_equal(other.decision_function(form), expected)
    np.testing.assert_array_equal(model.decision_function(X.toarray()), expected)
    for form in (y.tolist(), pd.DataFrame(y) if several else pd.Series(y)):
        other = AdaBoostMHClassifier(n_estimators=15, variant=variant).fit(X, form)
        np.testing.assert_array_equal(other.decision_function(X), expected)
    if several:
        other = AdaBoostMHClassifier(n_estimators=15, variant=variant).fit(X, sparse.csr_matrix(y))
        np.testing.assert_array_equal(other.decision_function(X), expected)


@pytest.mark.parametrize("variant", ["real", "discrete"])  # numbers may abstain on either side
def test_dense_columns_of_zeros_and_ones_are_words(variant):
    X, y = documents(8)
    dense = (X.toarray() > 0).astype(float)
    words = AdaBoostMHClassifier(n_estimators=25, variant=variant).fit(X, y)
    cuts = AdaBoostMHClassifier(n_estimators=25, variant=variant).fit(dense, y)
    np.testing.assert_array_equal(
        cuts.committee_.members.features, words.committee_.members.features
    )
    np.testing.assert_array_equal(cuts.decision_function(dense), words.decision_function(X))
    np.testing.assert_array_equal(
        cuts.decision_function(sparse.csr_matrix(dense)), words.decision_function(X)
    )


def test_no_form_of_x_is_ever_made_dense(monkeypatch):
    rng = np.random.default_rng(0)
    n, p = 20_000, 200_000  # 32 GB if it were dense
    columns = rng.integers(0, p // 2, size=(n, 20)) * 2
    X = sparse.csr_matrix(
        (np.ones(columns.size), (np.repeat(np.arange(n), 20), columns.ravel())), shape=(n, p)
    )
    y = (np.asarray(X[:, :4000].sum(axis=1)).ravel() > 0).astype(int)

    def refuse(self, *args, **kwargs):
        raise AssertionError("made dense")

    for kind in ("csr", "csc", "coo"):
        for name in (f"{kind}_matrix", f"{kind}_array"):
            for method in ("toarray", "todense"):
                monkeypatch.setattr(getattr(sparse, name), method, refuse)
    model = AdaBoostMHClassifier(n_estimators=5).fit(X, y)
    assert model.score(X, y) > 0.5
    assert len(list(model.staged_predict(X.tocsc()))) == 5
    assert model.certificate().verify(X, y)


@each_variant
@pytest.mark.parametrize("several", [True, False])
def test_a_warm_start_gives_the_same_bits(variant, several):
    X, y = documents(9, several=several)
    whole = AdaBoostMHClassifier(n_estimators=40, variant=variant).fit(X, y)
    part = AdaBoostMHClassifier(n_estimators=7, variant=variant, warm_start=True).fit(X, y)
    for n_estimators in (8, 25, 40):
        part.set_params(n_estimators=n_estimators).fit(X, y)
    np.testing.assert_array_equal(part.decision_function(X), whole.decision_function(X))
    for name, numbers in whole.rounds_.items():
        np.testing.assert_array_equal(part.rounds_[name], numbers)
    assert type(part.committee_.members) is type(whole.committee_.members)
    with pytest.raises(InputError, match="P-WARM"):
        part.set_params(n_estimators=50).fit(X[:-1], y[:-1])
