import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.random_projection import GaussianRandomProjection
from tests.theory import oracles

from committee import DecisionTreeClassifier, InputError
from committee.theory import diversity as measures
from committee.theory.diversity import measure_diversity

PAIRWISE = ("disagreement", "q_statistic", "kappa", "double_fault", "correlation")


@st.composite
def committees(draw, missing=True, classes=(2, 3)):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k, m, n = draw(st.sampled_from(classes)), draw(st.integers(2, 5)), draw(st.integers(1, 25))
    y = rng.integers(0, k, n)
    labels = np.where(rng.random((m, n)) < 0.6, y, rng.integers(0, k, (m, n))).astype(float)
    if missing:
        labels[rng.random((m, n)) < draw(st.sampled_from([0.0, 0.4, 0.9]))] = np.nan
    return labels, y


def test_measures_by_hand():
    # Hits: 1 1 1 0 1 0 and 1 0 1 0 0 1, so N11 = 2, N10 = 2, N01 = 1, N00 = 1.
    y = [0, 0, 0, 1, 1, 1]
    labels = [[0, 0, 0, 0, 1, 0], [0, 1, 0, 0, 0, 1]]
    assert measures.disagreement(labels, y).mean == pytest.approx(3 / 6)
    assert measures.q_statistic(labels, y).mean == pytest.approx((2 - 2) / (2 + 2))
    assert measures.double_fault(labels, y).mean == pytest.approx(1 / 6)
    assert measures.correlation(labels, y).mean == pytest.approx(0)
    # Equal labels on 3 of 6 rows; by chance (5 * 4 + 1 * 2) / 36 = 22 / 36.
    assert measures.kappa(labels, y).mean == pytest.approx((18 - 22) / (36 - 22))
    assert measures.entropy(labels, y) == pytest.approx(3 / 6)
    assert measures.kohavi_wolpert_variance(labels, y) == pytest.approx(3 / 4 / 6)
    report = measure_diversity(labels, y)
    np.testing.assert_allclose(report.member_error, [2 / 6, 3 / 6])
    assert float(report.disagreement) == 0.5


def ratio(above, below):
    return above / below if below else np.nan


@given(committees())
def test_pairwise_measures_equal_brute_force(committee):
    labels, y = committee
    report = measure_diversity(labels, y)
    for i in range(len(labels)):
        for j in range(len(labels)):
            n11, n10, n01, n00 = oracles.hits(labels[i], labels[j], y)
            n = n11 + n10 + n01 + n00
            product = (n11 + n10) * (n01 + n00) * (n11 + n01) * (n10 + n00)
            expected = {
                "disagreement": ratio(n10 + n01, n),
                "double_fault": ratio(n00, n),
                "q_statistic": ratio(n11 * n00 - n10 * n01, n11 * n00 + n10 * n01),
                "correlation": ratio(n11 * n00 - n10 * n01, product**0.5),
            }
            for name, value in expected.items():
                found = getattr(report, name).matrix[i, j]
                assert found == pytest.approx(value, nan_ok=True, abs=1e-12), name
    for name in PAIRWISE:
        np.testing.assert_array_equal(
            getattr(report, name).matrix, getattr(measures, name)(labels, y).matrix
        )


@given(committees())
def test_kappa_is_cohens_on_the_shared_rows(committee):
    labels, y = committee
    matrix = measures.kappa(labels, y).matrix
    both = ~np.isnan(labels[0]) & ~np.isnan(labels[1])
    if not both.any() or len(np.unique(labels[:2, both])) < 2:
        assert np.isnan(matrix[0, 1])
    else:
        expected = cohen_kappa_score(labels[0, both].astype(int), labels[1, both].astype(int))
        assert matrix[0, 1] == pytest.approx(expected, abs=1e-12)
    np.testing.assert_array_equal(matrix, matrix.T)


@given(committees(missing=False))
def test_kohavi_wolpert_variance_is_scaled_disagreement(committee):
    """Kuncheva & Whitaker 2003, appendix: KW = (m - 1) / (2 m) * mean disagreement."""
    labels, y = committee
    m = len(labels)
    found = measures.kohavi_wolpert_variance(labels, y)
    expected = (m - 1) / (2 * m) * measures.disagreement(labels, y).mean
    assert found == pytest.approx(expected, abs=1e-12)
    assert 0 <= measures.entropy(labels, y) <= 1


@given(committees())
def test_overall_measures_equal_brute_force(committee):
    labels, y = committee
    entropies, spreads = [], []
    for column, truth in zip(labels.T, y, strict=True):
        votes = oracles.said(column)
        K, hits = len(votes), sum(vote == truth for vote in votes)
        if K >= 1:
            spreads.append(hits * (K - hits) / K**2)
        if K >= 2:
            entropies.append(min(hits, K - hits) / (K - -(-K // 2)))
    expected = np.mean(entropies) if entropies else np.nan
    assert measures.entropy(labels, y) == pytest.approx(expected, nan_ok=True)
    expected = np.mean(spreads) if spreads else np.nan
    assert measures.kohavi_wolpert_variance(labels, y) == pytest.approx(expected, nan_ok=True)


def test_only_rows_that_both_left_out_count():
    nan = np.nan
    labels = [[0, 1, 1, nan, nan], [1, nan, 1, 1, nan]]
    y = [0, 0, 1, 1, 0]
    assert measures.disagreement(labels, y).matrix[0, 1] == 0.5  # rows 0 and 2
    apart = [[0, nan], [nan, 1]]
    assert np.isnan(measures.disagreement(apart, [0, 1]).mean)
    silent = measure_diversity([[nan, nan], [nan, nan]], [0, 1]).overall
    assert np.isnan(list(silent.values())).all()
    three = [[0, 1, nan], [0, 0, nan], [nan, nan, 1]]
    assert measures.disagreement(three, [0, 1, 1]).mean == 0.5  # the one pair that has shared rows


def test_text_labels_and_none():
    numbers = measure_diversity([[0, 1, np.nan], [0, 0, 1]], [0, 1, 1])
    text = measure_diversity([["a", "b", None], ["a", "a", "b"]], ["a", "b", "b"])
    for name in PAIRWISE:
        np.testing.assert_array_equal(getattr(numbers, name).matrix, getattr(text, name).matrix)
    assert text.to_frame().shape == (1, 7)
    assert "q statistic" in str(text)


def test_identical_and_opposite_members():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    member = np.where(rng.random(200) < 0.7, y, 1 - y)
    same = measure_diversity([member, member], y).overall
    assert (same["disagreement"], same["entropy"]) == (0, 0)
    assert same["q_statistic"] == same["kappa"] == 1
    assert same["correlation"] == pytest.approx(1)
    opposite = measure_diversity([member, 1 - member], y).overall
    assert (opposite["disagreement"], opposite["double_fault"]) == (1, 0)
    assert opposite["q_statistic"] == -1
    assert opposite["correlation"] == pytest.approx(-1)


def test_independent_members_have_no_association():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 50_000)
    labels = np.where(rng.random((4, 50_000)) < 0.7, y, 1 - y)
    overall = measure_diversity(labels, y).overall
    assert overall["q_statistic"] == pytest.approx(0, abs=0.02)
    assert overall["correlation"] == pytest.approx(0, abs=0.01)
    assert overall["disagreement"] == pytest.approx(2 * 0.7 * 0.3, abs=0.005)
    assert overall["double_fault"] == pytest.approx(0.09, abs=0.005)


@pytest.mark.parametrize("labels", [[0, 1], np.empty((0, 2)), np.zeros((2, 2, 2))])
def test_labels_come_by_member_and_row(labels):
    with pytest.raises(InputError, match=r"\[P-VALUE\] labels"):
        measure_diversity(labels, [0, 1])


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X = np.round(X + np.random.default_rng(0).normal(size=X.shape) * X.std(axis=0), 3)  # harder
    return train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)


def routes():
    tree = DecisionTreeClassifier(random_state=0)
    scaled = StandardScaler()
    return {
        "algorithm": [
            tree,
            make_pipeline(scaled, LogisticRegression()),
            make_pipeline(scaled, KNeighborsClassifier()),
            GaussianNB(),
        ],
        "hyper-parameter": [DecisionTreeClassifier(max_depth=d) for d in (1, 2, 4, 8)],
        "representation": [
            make_pipeline(scaled, GaussianRandomProjection(8, random_state=k), tree)
            for k in range(4)
        ],
        "sample": None,
    }


@pytest.mark.parametrize("route", routes())
def test_r22_four_routes_to_diversity(route, cancer):
    X, X_test, y, y_test = cancer
    members = routes()[route]
    if members is None:
        bag = BaggingClassifier(DecisionTreeClassifier(), 4, random_state=0).fit(X, y)
        labels = [model.predict(X_test) for model in bag.estimators_]
    else:
        labels = [model.fit(X, y).predict(X_test) for model in members]
    report = measure_diversity(labels, y_test)
    print(route, report)
    overall = report.overall
    assert 0.02 < overall["disagreement"] < 0.4
    assert overall["kappa"] < 0.95
    assert overall["double_fault"] < overall["member_error"] < 0.4
    assert -1 <= overall["q_statistic"] < 0.999
    vote = np.mean(labels, axis=0) >= 0.5
    assert (vote != y_test).mean() < overall["member_error"] + 0.01


def test_r44_fewer_features_at_a_node_make_members_less_alike(cancer):
    X, X_test, y, y_test = cancer
    found = []
    for n_features in (None, 5, 1):
        tree = DecisionTreeClassifier(max_features=n_features)
        bag = BaggingClassifier(tree, 30, random_state=0).fit(X, y)
        labels = [model.predict(X_test) for model in bag.estimators_]
        found.append(measures.correlation(labels, y_test).mean)
    assert found[0] > found[1] > found[2]
