"""C4.5's way with missing values: numbers of the book, and what must not change."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from committee import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    load_heart,
    load_weather,
)

C45 = DecisionTreeClassifier(
    criterion="gain_ratio", categorical_splits="multiway", min_samples_leaf=2, missing="parts"
)


@pytest.fixture
def golf():
    """Quinlan's example (1993, section 3.2): the outlook of one overcast day is not known."""
    X, y = load_weather(as_frame=True)
    X.loc[(X.outlook == "overcast") & (X.humidity == 90), "outlook"] = None
    assert X.outlook.isna().sum() == 1
    return X, y


def heart():
    """Heart disease, as numbers, where nothing is missing."""
    X, y = load_heart(as_frame=True)
    X = X.apply(lambda c: c.cat.codes if c.dtype == "category" else c).fillna(-1)
    return X.to_numpy(float), y


@pytest.fixture
def holes():
    """Heart disease with a fifth of its values gone."""
    X, y = heart()
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    return X, y


def test_gain_of_the_book(golf):
    """13/14 (0.961 - 0.747) = 0.199 bits a row, over three branches drawn as a chain of two."""
    tree = clone(C45).fit(*golf).tree_
    np.testing.assert_allclose(tree.gain[[0, 2]].sum() / 14, 0.199, atol=5e-4)
    assert set(tree.feature[[0, 2]]) == {0}


def test_parts_of_the_book(golf):
    """The day counts 5/13 sunny, 3/13 overcast and 5/13 rain."""
    tree = clone(C45).fit(*golf).tree_
    weights = tree.weighted_n_node_samples
    np.testing.assert_allclose(weights[1:5], [3 + 3 / 13, 10 + 10 / 13, 5 + 5 / 13, 5 + 5 / 13])
    np.testing.assert_allclose(np.sort(weights[tree.is_leaf])[-2:], [3 + 3 / 13, 3 + 5 / 13])


def test_prediction_of_the_book(golf):
    """Sunny, humidity unknown: play 2.0/5.4 100 % + 3.4/5.4 12 % = 44 %."""
    X, y = golf
    day = X.iloc[[0]].assign(humidity=np.nan, temperature=70.0)
    assert day.outlook.item() == "sunny"
    share = clone(C45).fit(X, y).predict_proba(day)[0, 1]
    exact = (2 + 5 / 13) / (5 + 5 / 13)
    np.testing.assert_allclose(share, exact)
    assert round(share, 2) == 0.44


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "params",
    [
        {"min_samples_leaf": 3},
        {"criterion": "gain_ratio", "pruning": "pessimistic"},
        {"criterion": "normalized_gain", "max_depth": 5},
        {"max_leaf_nodes": 9},
        {"splitter": "random", "max_features": 3, "random_state": 1},
        {"interaction_cst": "no_interactions"},
        {"min_weight_fraction_leaf": 0.05, "ccp_alpha": 0.005},
        {"categorical_features": [2], "categorical_splits": "multiway"},
    ],
    ids=str,
)
def test_nothing_missing_nothing_different(params, weighted):
    X, y = heart()
    w = np.random.default_rng(1).random(len(y)) if weighted else None
    side = DecisionTreeClassifier(**params).fit(X, y, sample_weight=w)
    parts = DecisionTreeClassifier(missing="parts", **params).fit(X, y, sample_weight=w)
    for name in ("left", "feature", "threshold"):
        np.testing.assert_array_equal(
            getattr(side.tree_.forest, name), getattr(parts.tree_.forest, name)
        )
    np.testing.assert_allclose(side.predict_proba(X), parts.predict_proba(X), rtol=1e-9)
    holes = np.where(np.random.default_rng(2).random(X.shape) < 0.2, np.nan, X)
    assert (side.predict_proba(holes) != parts.predict_proba(holes)).any()


def test_same_bits(holes):
    """Any number of threads, any order of rows, any container, and after a pickle."""
    X, y = holes
    first = clone(C45).set_params(n_jobs=1).fit(X, y)
    share = first.predict_proba(X)
    order = np.random.default_rng(3).permutation(len(y))
    again = {
        "threads": clone(C45).set_params(n_jobs=2).fit(X, y),
        "order": clone(C45).fit(X[order], y[order]),
        "columns": clone(C45).fit(np.asfortranarray(X), y),
        "sparse": clone(C45).fit(sparse.csr_matrix(X), y),
        "pickle": pickle.loads(pickle.dumps(first)),
    }
    for what, model in again.items():
        np.testing.assert_array_equal(share, model.predict_proba(X), err_msg=what)
        rows = sparse.csc_matrix(X)
        np.testing.assert_array_equal(share, model.predict_proba(rows), err_msg=what)
    one_by_one = np.concatenate([first.predict_proba(X[i : i + 1]) for i in range(50)])
    np.testing.assert_array_equal(share[:50], one_by_one)


def test_a_tree_has_no_more_leaves_than_rows():
    """Rows that miss almost everything multiply by nothing: sides hold a known row each."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 30)).astype(float)
    X[rng.random(X.shape) < 0.8] = np.nan
    y = rng.integers(0, 2, 60)
    tree = DecisionTreeClassifier(missing="parts").fit(X, y).tree_
    assert 2 < tree.n_leaves <= 60
    np.testing.assert_allclose(tree.weighted_n_node_samples[tree.is_leaf].sum(), 60)


def test_a_row_that_knows_nothing_gets_a_mean_of_all_leaves(holes):
    X, y = holes
    model = clone(C45).fit(X, y)
    share = model.predict_proba(np.full((1, X.shape[1]), np.nan))
    np.testing.assert_allclose(share[0], [np.mean(y == k) for k in model.classes_], rtol=1e-9)


def test_committees(holes):
    """Bags and boosters take such trees, and certificates hold them to what they say."""
    X, y = holes
    base = clone(C45).set_params(pruning="pessimistic")
    bag = BaggingClassifier(base, n_estimators=20, oob_score=True, random_state=0).fit(X, y)
    assert bag.oob_score_ > 0.6
    assert all(m.tree_.in_parts for m in bag.estimators_)
    boosted = AdaBoostClassifier(base, n_estimators=5).fit(X, y)
    assert boosted.certificate().verify(X, y)
    np.testing.assert_array_equal(
        np.sign(boosted.decision_function(X)) > 0, boosted.predict(X) == boosted.classes_[1]
    )


def test_unseen_level_is_missing(golf):
    X, y = golf
    model = clone(C45).fit(X, y)
    days = pd.concat([X.iloc[[0]], X.iloc[[0]]])
    days["outlook"] = pd.Categorical(["hail", None])
    with pytest.warns(match="X-UNSEEN"):
        hail, unknown = model.predict_proba(days)
    np.testing.assert_array_equal(hail, unknown)


def test_name_is_checked():
    with pytest.raises(ValueError, match="missing"):
        DecisionTreeClassifier(missing="both").fit([[0], [1]], [0, 1])
