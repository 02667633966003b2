import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB

from committee import (
    DecisionStump,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    InputError,
    load_heart,
)
from committee.theory.comparison import MemberComparison, compare_members

MEMBERS = [
    ("tree", DecisionTreeClassifier(random_state=0)),
    ("stump", DecisionStump()),
    ("bayes", GaussianNB()),
]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[::2], y[::2]


def test_r30_best_member_and_ensemble_on_the_same_folds(cancer):
    cv = KFold(5, shuffle=True, random_state=3)
    result = compare_members(MEMBERS, VotingClassifier(MEMBERS), *cancer, cv)
    expected = [cross_val_score(model, *cancer, cv=cv) for _, model in MEMBERS]
    np.testing.assert_array_equal(result.scores, expected)
    ensemble = cross_val_score(VotingClassifier(MEMBERS), *cancer, cv=cv)
    np.testing.assert_array_equal(result.ensemble_scores, ensemble)
    best = int(np.argmax(np.mean(expected, axis=1)))
    assert result.best == MEMBERS[best][0]
    np.testing.assert_array_equal(result.best_scores, expected[best])
    assert result.gain == pytest.approx(np.mean(ensemble - expected[best]))
    text = str(result)
    assert "best single member" in text
    assert f"{result.gain:+.4f}" in text
    assert result.to_frame().shape == (5, 4)


def test_r30_a_splitter_without_a_seed_is_asked_once(cancer):
    """All must see the same rows, though each call of this splitter gives other folds."""
    tree = DecisionTreeClassifier(random_state=0)
    cv = ShuffleSplit(4, random_state=np.random.RandomState(0))
    result = compare_members({"a": tree, "b": tree}, tree, *cancer, cv)
    np.testing.assert_array_equal(result.scores[0], result.scores[1])
    np.testing.assert_array_equal(result.scores[0], result.ensemble_scores)
    assert (result.best, result.gain, result.gain_error) == ("a", 0, 0)


def test_scoring_and_workers(cancer):
    X, y = cancer
    one = compare_members(MEMBERS, VotingClassifier(MEMBERS), X, y, 3, scoring="f1")
    two = compare_members(
        MEMBERS,
        VotingClassifier(MEMBERS),
        sparse.coo_array(X).toarray(),
        y,
        3,
        scoring="f1",
        n_jobs=2,
    )
    np.testing.assert_array_equal(one.scores, two.scores)
    np.testing.assert_array_equal(one.ensemble_scores, two.ensemble_scores)


def test_frames_sparse_rows_and_numbers():
    X, y = load_heart(as_frame=True)
    tree = DecisionTreeClassifier(max_depth=3)
    assert compare_members([("tree", tree)], tree, X, y).ensemble_scores.mean() > 0.6
    rng = np.random.default_rng(0)
    rows = sparse.coo_array(rng.normal(size=(60, 3)) * (rng.random((60, 3)) < 0.5))
    target = rows.toarray().sum(axis=1)
    members = [("tree", DecisionTreeRegressor()), ("line", LinearRegression())]
    assert compare_members(members, LinearRegression(), rows, target).best == "line"


def test_numbers_by_hand():
    result = MemberComparison(("a", "b"), np.array([[1, 2, 3], [2, 2, 2.5]]), np.array([3.0, 2, 4]))
    assert result.best == "b"
    assert result.gain == pytest.approx((1 + 0 + 1.5) / 3)
    assert result.gain_error == pytest.approx(np.std([1, 0, 1.5], ddof=1) / np.sqrt(3))


def test_one_fold_has_no_standard_error():
    result = MemberComparison(("a",), np.array([[0.5]]), np.array([0.75]))
    assert result.gain == 0.25
    assert np.isnan(result.gain_error)


@pytest.mark.parametrize("members", [[], [("a", DecisionStump()), ("a", DecisionStump())]])
def test_members_have_names_of_their_own(members, cancer):
    with pytest.raises(InputError, match=r"\[P-VALUE\] estimators"):
        compare_members(members, DecisionStump(), *cancer)
