"""Queries: R111, ties, duplicates, candidates, cold starts, and the rows B71 to B75."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from tests.active.tasks import TASKS, labelled

from committee import BaggingClassifier, DataWarning, RandomForestClassifier
from committee.active import (
    ActiveDecorate,
    Pool,
    QueryByBagging,
    QueryByBoosting,
    QueryByCommittee,
    simulate_queries,
)
from committee.active.content import shuffled
from committee.active.query import ranked, sample_candidates
from committee.data import InputError, InputTypeError

LEARNERS = {
    "bagging": QueryByBagging(n_estimators=7, random_state=0),
    "boosting": QueryByBoosting(n_estimators=7, random_state=0),
    "decorate": ActiveDecorate(n_estimators=5, random_state=0),
    "committee": QueryByCommittee(RandomForestClassifier(7), random_state=0),
    "list": QueryByCommittee([GaussianNB(), LogisticRegression()], random_state=0),
}
every = pytest.mark.parametrize("name", LEARNERS)


def asker(name, **params):
    return type(LEARNERS[name])(**{**LEARNERS[name].get_params(deep=False), **params})


@every
def test_r111_the_chosen_row_has_the_smallest_margin(name):
    X, y, pool = labelled()
    for measure in ("vote_margin", "weighted_vote_margin", "margin"):
        model = asker(name, measure=measure).fit(X, y)
        margin = np.round(model.disagreement(pool), 12)
        query = model.query(pool, k=5)
        assert margin[query.indices[0]] == margin.min()
        np.testing.assert_array_equal(margin[query.indices], np.sort(margin)[:5])
        np.testing.assert_allclose(query.disagreement, 1 - margin[query.indices])
    for measure in ("vote_entropy", "kl_to_mean", "jensen_shannon"):
        model = asker(name, measure=measure).fit(X, y)
        value = np.round(model.disagreement(pool), 12)
        query = model.query(pool, k=5)
        np.testing.assert_array_equal(value[query.indices], -np.sort(-value)[:5])


def test_r111_bagging_counts_votes_and_boosting_weighs_them():
    X, y, pool = labelled()
    bagging = QueryByBagging(random_state=0).fit(X, y)
    votes = sum(m.predict(pool) == "yes" for m in bagging.estimator_.estimators_)
    assert abs(2 * votes - 20)[bagging.query(pool).indices[0]] == abs(2 * votes - 20).min()
    boosting = QueryByBoosting(random_state=0).fit(X, y)
    decision = np.abs(boosting.estimator_.decision_function(pool))
    assert boosting.query(pool).indices[0] == decision.argmin()
    decorate = ActiveDecorate(random_state=0).fit(X, y)
    gap = np.abs(np.diff(decorate.predict_proba(pool), axis=1)[:, 0])
    assert np.isclose(gap[decorate.query(pool).indices[0]], gap.min(), atol=1e-12)


def test_r111_questions_beat_random_rows_on_two_of_three_tasks():
    won = []
    for name, task in TASKS.items():
        X, y = task(np.random.default_rng(7), 400)
        curve = simulate_queries(
            QueryByBagging(n_estimators=10),
            X,
            y,
            n_rounds=20,
            n_repeats=2,
            random_state=3,
        )
        won += [name] * bool(curve.gain("queries").mean > 0)
    assert len(won) >= 2, won


@every
def test_reasons_say_how_the_members_are_split(name):
    X, y, pool = labelled()
    model = asker(name).fit(X, y)
    query = model.query(pool, k=3)
    assert len(query.reasons) == len(query) == 3
    assert all("'no'" in why and "'yes'" in why and " to " in why for why in query.reasons)
    assert query.measure == model.measure
    assert (query.n_pool, query.n_labelled, query.n_candidates) == (200, 0, 200)
    assert str(query).startswith("3 of 200 rows; 200 compared\n  row ")
    assert list(query.to_frame().columns) == ["row", "disagreement", "reason"]


@every
def test_neither_order_nor_container_nor_threads_matter(name):
    X, y, pool = labelled()
    pool = np.vstack([pool, pool[:50]])
    model = asker(name).fit(X, y)
    asked = [tuple(row) for row in pool[model.query(pool, k=6).indices]]
    order = np.random.default_rng(3).permutation(len(pool))
    moved = pool[order]
    assert [tuple(row) for row in moved[model.query(moved, k=6).indices]] == asked
    assert [tuple(r) for r in pool[model.query(Pool.read(pool), 6).indices]] == asked
    with parallel_config(backend="threading"):
        again = asker(name, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(again.query(pool, 6).indices, model.query(pool, 6).indices)


def test_containers_ask_alike():
    X, y, pool = labelled()
    columns = ["a", "b", "c"]
    indices = QueryByBagging(random_state=0).fit(X, y).query(pool, 4).indices
    for make in (
        lambda Z: pd.DataFrame(Z, columns=columns),
        lambda Z: pl.DataFrame(Z, schema=columns),
        sparse.csr_matrix,
        lambda Z: Z.astype(np.float64).tolist(),
    ):
        model = QueryByBagging(random_state=0).fit(make(X), y)
        np.testing.assert_array_equal(model.query(make(pool), 4).indices, indices)
        model.teach(make(pool[:3]), ["no", "yes", "no"])
        assert len(model.labelled_) == 43


def test_ties_are_drawn_by_content_and_seed():
    X, y, pool = labelled()
    chosen = set()
    for seed in range(8):
        model = QueryByBagging(n_estimators=2, random_state=seed).fit(X, y)
        ties = np.flatnonzero(model.disagreement(pool) == 0)
        first = model.query(pool).indices[0]
        assert first in ties
        chosen.add(first)
        assert model.query(pool).indices[0] == first
    assert len(chosen) > 1
    keys = np.arange(1000, dtype=np.uint64)
    firsts = [ranked(np.zeros(1000), keys, seed, 1)[0] for seed in range(400)]
    assert np.histogram(firsts, bins=4, range=(0, 1000))[0].min() > 60  # 100 each, binomial
    assert len(np.unique(shuffled(keys, 0))) == 1000


def test_rows_that_agree_to_twelve_decimals_tie():
    keys = np.arange(4, dtype=np.uint64)
    near = np.array([0.5, 0.5 + 1e-15, 0.5 - 1e-15, 0.4])
    assert {int(ranked(near, keys, seed, 1)[0]) for seed in range(30)} == {0, 1, 2}
    assert ranked(np.array([0.5, 0.5 + 1e-9]), keys[:2], 0, 1)[0] == 1


def test_equal_rows_are_asked_about_once():
    X, y, pool = labelled()
    twice = np.repeat(pool[:10], 3, axis=0)
    model = QueryByBagging(random_state=0).fit(X, y)
    query = model.query(twice, k=10)
    assert len(np.unique(twice[query.indices], axis=0)) == 10
    full = model.query(twice, k=30).indices
    assert len(np.unique(twice[full[:10]], axis=0)) == 10
    assert sorted(full) == list(range(30))


def test_candidates_are_drawn_by_content():
    keys = np.random.default_rng(0).integers(2**63, size=500).astype(np.uint64)
    drawn = sample_candidates(np.arange(500), keys, 50, seed=1)
    assert len(drawn) == 50
    order = np.random.default_rng(1).permutation(500)
    moved = sample_candidates(np.arange(500), keys[order], 50, seed=1)
    assert set(keys[order][moved]) == set(keys[drawn])
    assert set(sample_candidates(np.arange(500), keys, 50, seed=2)) != set(drawn)
    X, y, pool = labelled()
    model = QueryByBagging(n_candidates=20, random_state=0).fit(X, y)
    query = model.query(pool, k=2)
    assert query.n_candidates == 20
    margin = model.disagreement(pool)
    assert margin[query.indices[0]] > margin.min() or query.n_candidates < 200
    model.teach(pool[query.indices], ["no", "yes"])
    assert model.query(pool, 2).n_labelled == 2


@every
def test_cold_start_asks_at_random_and_says_so(name):
    X, _, pool = labelled()
    model = asker(name)  # one of them with logistic regression, which refuses a single class
    first = model.query(pool, k=3)
    assert first.random
    assert np.isnan(first.disagreement).all()
    assert first.reasons[0].startswith("random: no row has a label yet")
    with pytest.warns(DataWarning, match="Y-ONE-CLASS"):
        model.fit(X[:4], ["no"] * 4)
    assert model.predict(pool[:2]).tolist() == ["no", "no"]
    assert model.predict_proba(pool[:2]).tolist() == [[1.0], [1.0]]
    with pytest.raises(ValueError, match="2 features"):
        model.predict(pool[:, :2])
    second = model.query(pool, k=3)
    assert second.random
    assert "all 4 labels are 'no'" in second.reasons[0]
    assert not model.teach(X[:2], ["no", "yes"], new_classes=True).query(pool).random


def test_a_booster_without_error_says_that_all_rows_tie():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = QueryByBoosting(random_state=0).fit(X, [0, 0, 1, 1])
    query = model.query(np.linspace(0, 3, 50).reshape(-1, 1), k=2)
    assert "one member came out, so that all rows tie" in query.reasons[0]
    np.testing.assert_array_equal(query.disagreement, 0)


@every
def test_teach_refits_from_scratch(name):
    X, y, _ = labelled(60)
    model = asker(name).fit(X[:30], y[:30]).teach(X[30:], y[30:])
    whole = asker(name).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))
    assert asker(name).teach(X, y).labelled_.y.tolist() == whole.labelled_.y.tolist()


def test_weights_are_kept_and_rows_without_count_one():
    X, y, _ = labelled(60)
    weight = np.arange(60) % 3 + 1.0
    taught = QueryByBagging(random_state=0).fit(X[:30], y[:30], weight[:30])
    taught.teach(X[30:], y[30:], weight[30:])
    whole = QueryByBagging(random_state=0).fit(X, y, weight)
    np.testing.assert_array_equal(taught.predict_proba(X), whole.predict_proba(X))
    later = QueryByBagging(random_state=0).fit(X[:30], y[:30]).teach(X[30:], y[30:], weight[30:])
    np.testing.assert_array_equal(later.labelled_.weight, np.append(np.ones(30), weight[30:]))
    knn = QueryByCommittee([GaussianNB(), NoWeights()])
    with pytest.raises(InputTypeError, match=r"W-FIT.*'member1' \(NoWeights\)"):
        knn.fit(X, y, weight)
    with pytest.raises(InputTypeError, match=r"W-FIT.*NoWeightsVoting takes no sample_weight"):
        QueryByCommittee(NoWeightsVoting([("a", GaussianNB()), ("b", GaussianNB())])).fit(
            X, y, weight
        )


class NoWeights(GaussianNB):
    def fit(self, X, y):
        return super().fit(X, y)


class NoWeightsVoting(VotingClassifier):
    def fit(self, X, y):
        return super().fit(X, y)


@every
def test_b71_empty_pool(name):
    X, y, pool = labelled()
    model = asker(name)
    for state in (model, model.fit(X, y)):
        with pytest.raises(ValueError, match=r"Q-POOL.*pool is empty"):
            state.query(pool[:0])
    with pytest.raises(InputError, match=r"pool is empty: all 40 rows of it were labelled before"):
        model.query(X)


@every
def test_b72_more_asked_for_than_there_is(name):
    X, y, pool = labelled()
    model = asker(name).fit(X, y)
    with pytest.warns(DataWarning, match=r"k=9 rows asked for, the pool has 5 without a label"):
        query = model.query(np.vstack([pool[:5], X[:3]]), k=9)
    assert sorted(query.indices) == [0, 1, 2, 3, 4]


def test_b73_committee_of_one():
    X, y, _ = labelled()
    one = [
        QueryByBagging(n_estimators=1),
        QueryByBoosting(n_estimators=1),
        ActiveDecorate(n_estimators=1),
        QueryByCommittee(RandomForestClassifier(1)),
        QueryByCommittee([GaussianNB()]),
        QueryByCommittee(VotingClassifier([("a", GaussianNB()), ("b", "drop")])),
        QueryByCommittee(RandomForestClassifier(1).fit(X, y), prefit=True),
    ]
    for model in one:
        with pytest.raises(ValueError, match=r"Q-ALONE.*at least 2 members"):
            model.fit(X, y)
        assert not hasattr(model, "estimator_")


def test_b74_label_outside_the_known_classes():
    X, y, pool = labelled()
    model = QueryByBagging(random_state=0).fit(X, y)
    before = model.estimator_
    with pytest.raises(ValueError, match=r"Q-CLASS.*'maybe' in row 1 .*no, yes"):
        model.teach(pool[:2], ["no", "maybe"])
    assert model.estimator_ is before
    assert len(model.labelled_) == 40
    model.teach(pool[:2], ["no", "maybe"], new_classes=True)
    assert model.classes_.tolist() == ["maybe", "no", "yes"]
    model.teach(pool[2:3], ["maybe"])
    declared = QueryByBagging(classes=["no", "yes", "maybe"], random_state=0).fit(X, y)
    declared.teach(pool[:1], ["maybe"])
    with pytest.raises(InputError, match=r"Q-CLASS.*'odd'"):
        QueryByBagging(classes=["no", "yes"]).fit(X[:3], ["no", "yes", "odd"])
    with pytest.raises(InputError, match=r"Q-CLASS.*two or more"):
        QueryByBagging(classes=["no"]).fit(X, y)
    with pytest.raises(InputError, match=r"Y-MIXED|Q-CLASS"):
        model.teach(pool[:1], [3], new_classes=True)


def test_b75_labelled_rows_of_the_pool_are_skipped_and_counted():
    X, y, pool = labelled()
    model = QueryByBagging(random_state=0).fit(X, y)
    mixed = np.vstack([X[:7], pool, X[7:12]])
    query = model.query(mixed, k=20)
    assert query.n_labelled == 12
    assert query.n_pool == 212
    assert ((query.indices >= 7) & (query.indices < 207)).all()
    np.testing.assert_array_equal(query.indices - 7, model.query(pool, k=20).indices)
    assert "12 skipped as labelled before" in str(query)


@pytest.mark.parametrize("k", [0, -1, 1.0, True, "two"])
def test_wrong_k(k):
    X, y, pool = labelled()
    with pytest.raises(ValueError, match=r"P-VALUE.*'k' parameter"):
        QueryByBagging().fit(X, y).query(pool, k)


def test_rows_unlike_those_of_fit_are_refused():
    X, y, pool = labelled()
    model = QueryByBagging(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="2 features"):
        model.query(pool[:, :2])
    with pytest.raises(ValueError, match="2 features"):
        model.teach(pool[:2, :2], ["no", "yes"])
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model.fit(frame, y)
    with pytest.raises(InputError, match=r"Q-ROWS.*polars"):
        model.teach(pl.DataFrame(X[:2], schema=["a", "b", "c"]), ["no", "yes"])


def test_categories_stay_categories_when_rows_are_taught():
    X, y, _ = labelled()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["c"] = pd.Categorical(np.where(X[:, 2] > 0, "up", "down"))
    more = frame[:3].copy()
    more["c"] = pd.Categorical(["up", "left", "up"])
    model = QueryByBagging(random_state=0).fit(frame, y).teach(more, y[:3])
    assert set(model.labelled_.X["c"].cat.categories) == {"up", "down", "left"}
    assert len(model.labelled_.X) == 43


def test_prefit_committee_is_kept_until_it_is_taught():
    X, y, pool = labelled()
    forest = RandomForestClassifier(9, random_state=1).fit(X, y)
    model = QueryByCommittee(forest, prefit=True, random_state=0).fit(X, y)
    assert model.estimator_ is forest
    query = model.query(pool, 2)
    model.teach(pool[query.indices], ["no", "yes"])
    assert model.estimator_ is not forest
    assert len(model.labelled_) == 42
    minds = [GaussianNB().fit(X, y), LogisticRegression().fit(X, y)]
    listed = QueryByCommittee(minds, prefit=True).fit(X, y)
    np.testing.assert_allclose(
        listed.predict_proba(pool), np.mean([m.predict_proba(pool) for m in minds], axis=0)
    )
    with pytest.raises(InputError, match=r"M-CLASSES.*knows the classes no, yes"):
        QueryByCommittee(forest, prefit=True).fit(X, np.where(y == "no", "a", "b"))
    with pytest.raises(InputError, match=r"prefit=True without"):
        QueryByCommittee(prefit=True).fit(X, y)
    with pytest.raises(ValueError, match="columns"):
        QueryByCommittee(forest, prefit=True).fit(X[:, :2], y)


def test_seeds_that_a_committee_has_are_kept():
    X, y, pool = labelled()
    model = QueryByCommittee(RandomForestClassifier(9, random_state=5)).fit(X, y)
    plain = RandomForestClassifier(9, random_state=5).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(pool), plain.predict_proba(pool))
    minds = [RandomForestClassifier(3, random_state=5), RandomForestClassifier(3)]
    listed = QueryByCommittee(minds, random_state=0).fit(X, y).estimator_.estimators_
    assert listed[0].random_state == 5
    assert listed[1].random_state is not None


def test_out_of_bag_error_counts_left_out_rows():
    X, y, _ = labelled(60)
    model = QueryByBagging(random_state=0).fit(X, y)
    seed = model.estimator_.random_state
    kinds = {
        model: BaggingClassifier(None, 20, oob_score=True, random_state=seed),
        QueryByBagging(GaussianNB(), random_state=0).fit(X, y): BaggingClassifier(
            GaussianNB(), 20, oob_score=True, random_state=seed
        ),
    }
    for asks, plain in kinds.items():
        wrong, known = asks.out_of_bag_error()
        shares = plain.fit(X, y).oob_decision_function_
        assert known == (~np.isnan(shares[:, 0])).sum() == 60
        assert wrong == (model.classes_[shares.argmax(1)] != y).sum()
    with pytest.raises(InputError, match=r"Q-STOP.*AdaBoostClassifier"):
        QueryByBoosting().fit(X, y).out_of_bag_error()
