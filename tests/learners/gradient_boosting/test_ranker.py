"""Rankings: rows of a query in order."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import ndcg_score
from tests.estimators import model_bits
from tests.plain_boosters import make_plain

from committee import GradientBoostingRanker, InputError


@pytest.fixture(scope="module")
def queries():
    """Two hundred queries of 5 to 40 rows; relevance 0 to 4 within each."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(5, 40, 200)
    query = np.repeat(np.arange(200), sizes)
    X = rng.normal(size=(sizes.sum(), 6))
    X[:, 5] = rng.normal(size=200)[query]  # the same for all rows of a query: of no use
    merit = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=len(X))
    y = np.digitize(merit, [0.0, 1.0, 2.0, 3.0])
    return X, y, query, query < 140


@pytest.mark.parametrize("loss", ["lambdamart", "pairwise"])
def test_ranks_better_than_chance(loss, queries):
    X, y, query, learn = queries
    model = GradientBoostingRanker(loss).fit(X[learn], y[learn], groups=query[learn])
    test = ~learn
    found = model.score(X[test], y[test], groups=query[test])
    by_signal = GradientBoostingRanker(loss, n_estimators=1, max_leaf_nodes=2)
    weak = by_signal.fit(X[learn], y[learn], groups=query[learn])
    assert found > weak.score(X[test], y[test], groups=query[test]) + 0.1
    assert found > 0.8


def test_score_is_ndcg(queries):
    X, y, query, learn = queries
    model = GradientBoostingRanker(n_estimators=20).fit(X[learn], y[learn], groups=query[learn])
    scores = model.predict(X)
    noise = scores + 1e-9 * np.arange(len(scores))  # no ties: theirs are averaged
    naive = [
        ndcg_score([2.0 ** y[query == q] - 1], [noise[query == q]], k=10)
        for q in range(200)
        if y[query == q].any()
    ]
    counted = [q for q in range(200) if y[query == q].any()]
    rows = np.isin(query, counted)
    np.testing.assert_allclose(
        model.score(X[rows], y[rows], groups=query[rows]), np.mean(naive), atol=0.02
    )


def test_rows_of_a_query_need_not_lie_together(queries):
    X, y, query, _ = queries
    together = make_plain(GradientBoostingRanker, n_estimators=8, loss="pairwise").fit(
        X, y, groups=query
    )
    order = np.random.default_rng(1).permutation(len(y))
    names = np.array([f"query {q}" for q in query])
    apart = make_plain(GradientBoostingRanker, n_estimators=8, loss="pairwise")
    apart.fit(X[order], y[order], groups=names[order])
    np.testing.assert_allclose(apart.predict(X), together.predict(X), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("subsample", [1.0, 0.5])
def test_same_bits(subsample, queries):
    X, y, query, _ = queries
    params = {"n_estimators": 6, "subsample": subsample, "random_state": 0}
    one = GradientBoostingRanker(n_jobs=1, **params).fit(X, y, groups=query)
    two = GradientBoostingRanker(n_jobs=2, **params).fit(X, y, groups=query)
    assert model_bits(one) == model_bits(two)


def test_stops_by_whole_queries(queries):
    X, y, query, learn = queries
    model = GradientBoostingRanker(
        n_estimators=200, learning_rate=0.3, early_stopping=True, random_state=0
    ).fit(X[learn], y[learn], groups=query[learn])
    assert model.n_estimators_ < 200
    given = GradientBoostingRanker(n_estimators=200, learning_rate=0.3).fit(
        X[learn], y[learn], query[learn], X_val=X[~learn], y_val=y[~learn], groups_val=query[~learn]
    )
    assert np.argmin(given.held_out_loss_) == given.n_estimators_


def test_relevance_is_checked(queries):
    X, y, query, _ = queries
    with pytest.raises(InputError, match="Y-RELEVANCE"):
        GradientBoostingRanker().fit(X, y - 1, groups=query)
    with pytest.raises(InputError, match="groups"):
        GradientBoostingRanker().fit(X, y, groups=query[:-1])


# --- weights of queries ---


def small_queries():
    """Forty queries of 4 to 9 rows, of values on a grid so that copies change no cut."""
    rng = np.random.default_rng(2)
    sizes = rng.integers(4, 10, 40)
    query = np.repeat(np.arange(40), sizes)
    X = rng.integers(0, 6, size=(len(query), 3)).astype(float)
    y = np.digitize(X[:, 0] - X[:, 1] * (query % 2) + rng.normal(size=len(query)), [0, 2, 4])
    return X, y, query, rng.integers(0, 4, 40).astype(float)


@pytest.mark.parametrize("loss", ["lambdamart", "pairwise"])
def test_a_query_of_weight_k_is_k_queries(loss):
    X, y, query, weight = small_queries()
    params = {"n_estimators": 12, "min_samples_leaf": 1, "min_child_weight": 0.1}
    weighed = make_plain(GradientBoostingRanker, loss, **params)
    weighed.fit(X, y, query, query_weight=weight[query])
    rows, names = [], []
    for q, times in enumerate(weight.astype(int)):
        for copy in range(times):
            rows.append(np.flatnonzero(query == q))
            names += [f"{q}, {copy}"] * len(rows[-1])
    rows = np.concatenate(rows)
    copied = make_plain(GradientBoostingRanker, loss, **params).fit(X[rows], y[rows], names)
    # Sums are rounded to units that depend on the number of rows: hence the tolerance.
    np.testing.assert_allclose(weighed.predict(X), copied.predict(X), rtol=1e-4, atol=1e-4)
    plain = make_plain(GradientBoostingRanker, loss, **params).fit(X, y, query)
    assert np.abs(weighed.predict(X) - plain.predict(X)).max() > 0.01
    score = weighed.score(X, y, query, query_weight=weight[query])
    np.testing.assert_allclose(score, weighed.score(X[rows], y[rows], names))


def test_equal_weights_change_nothing():
    X, y, query, _ = small_queries()
    params = {"n_estimators": 5, "min_samples_leaf": 1}
    plain = make_plain(GradientBoostingRanker, **params).fit(X, y, query)
    equal = make_plain(GradientBoostingRanker, **params).fit(
        X, y, query, query_weight=np.full(len(y), 2.0)
    )
    np.testing.assert_allclose(equal.predict(X), plain.predict(X), rtol=1e-4, atol=1e-4)


def test_the_held_out_loss_is_that_of_weighed_queries():
    X, y, query, weight = small_queries()
    learn, val = query < 25, query >= 25
    model = GradientBoostingRanker(n_estimators=4, min_samples_leaf=1, k=None).fit(
        X[learn],
        y[learn],
        query[learn],
        query_weight=weight[query[learn]],
        X_val=X[val],
        y_val=y[val],
        groups_val=query[val],
        query_weight_val=weight[query[val]],
    )
    score = model.score(X[val], y[val], query[val], k=None, query_weight=weight[query[val]])
    np.testing.assert_allclose(model.held_out_loss_[model.n_estimators_], 1 - score)


def test_weights_that_differ_within_a_query_are_refused():
    X, y, query, weight = small_queries()
    bad = weight[query]
    bad[3] += 1
    bad[-1] += 1
    model = GradientBoostingRanker()
    where = rf"W-QUERY.* query_weight: rows 3, {len(y) - 1} \(2 in all\) differ.*row 3 has"
    for fit in (model.fit, GradientBoostingRanker().fit(X, y, query).score):
        with pytest.raises(InputError, match=where):
            fit(X, y, query, query_weight=bad)
    assert not hasattr(model, "committee_")
    with pytest.raises(InputError, match=r"W-QUERY.* query_weight_val"):
        model.fit(X, y, query, X_val=X, y_val=y, groups_val=query, query_weight_val=bad)
    with pytest.raises(InputError, match="W-QUERY"):  # one query of all rows
        model.fit(X, y, query_weight=bad)


@pytest.mark.parametrize("subsample", [1.0, 0.5])
@pytest.mark.parametrize("k", [1, 10])
def test_rows_without_a_pair_lie_where_the_thresholds_say(k, subsample):
    """Rows of queries of one relevance, and behind the first k, add nothing to a round.

    Bins that hold no other row must not draw thresholds to them, and later rounds must know their
    scores as the model tells them.
    """
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, query = rng.normal(size=(300, 4)).round(1), np.repeat(np.arange(30), 10)
        y = rng.integers(0, 4, 300) * (query % 3 > 0)
        params = {"k": k, "min_samples_leaf": 5, "subsample": subsample, "random_state": 0}
        model = GradientBoostingRanker(n_estimators=12, **params)
        expected = model.fit(X, y, groups=query).predict(X)
        listed = model.fit(sparse.csr_array(X), y, groups=query).predict(X)
        np.testing.assert_array_equal(listed, expected)
        warm = GradientBoostingRanker(n_estimators=5, warm_start=True, **params)
        warm.fit(X, y, groups=query).set_params(n_estimators=12).fit(X, y, groups=query)
        np.testing.assert_array_equal(warm.predict(X), expected)
