"""The search for rules against explicit loops over words or cuts, labels and cells."""

from itertools import pairwise
from math import fsum, isnan, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from committee import _engine
from committee.data import read_fit
from committee.ensembles.boosting.cell_rules import CellRule, RuleHypothesis
from committee.ensembles.boosting.threshold_rules import BinRows, ThresholdRules
from committee.ensembles.boosting.word_rules import WordRows, WordRules

TIE = 1e-11
VARIANTS = ("real", "abstaining", "discrete")
seeds = st.integers(0, 2**32 - 1)


def cell_sums(inside, d, Y):
    """W+ and W- of each label, one pair of row and label after the other."""
    labels = range(Y.shape[1])
    plus = [fsum(d[i, k] for i in inside if Y[i, k] > 0) for k in labels]
    minus = [fsum(d[i, k] for i in inside if Y[i, k] < 0) for k in labels]
    return plus, minus


def naive_score(cells, d, Y, variant, silent=()):
    total = 0.0
    for name, inside in cells.items():
        for plus, minus in zip(*cell_sums(inside, d, Y), strict=True):
            if name in silent:
                total += plus + minus
            elif variant == "discrete":
                total -= abs(plus - minus)
            else:
                total += 2 * sqrt(plus * minus)
    return total


def first_smallest(scores):
    best = min(score for _, score in scores)
    return next(what for what, score in scores if score <= best + TIE)


def naive_word(B, d, Y, variant):
    """The column of the best word; None where none tells rows apart."""
    scores, silent = [], ("absent",) if variant == "abstaining" else ()
    for word in range(B.shape[1]):
        cells = {"absent": np.flatnonzero(~B[:, word]), "present": np.flatnonzero(B[:, word])}
        if all(map(len, cells.values())):
            scores.append((word, naive_score(cells, d, Y, variant, silent)))
    return first_smallest(scores) if scores else None


def naive_cut(X, d, Y, variant, levels=()):
    """The column, cut and speaking side of the best rule; every cell named by its rows."""
    scores = []
    for feature, x in enumerate(X.T):
        seen = sorted({value for value in x if not isnan(value)})
        cuts = seen if feature in levels else [*((a + b) / 2 for a, b in pairwise(seen)), np.inf]
        missing = np.flatnonzero(np.isnan(x))
        for cut in cuts:
            high = np.flatnonzero(x == cut if feature in levels else x > cut)
            low = np.setdiff1d(np.arange(len(x)), np.union1d(high, missing))
            cells = {"low": low, "high": high, "missing": missing}
            if sum(len(rows) > 0 for rows in cells.values()) < 2:
                continue
            for silent in [("low", "missing"), ("high", "missing")]:
                said = silent if variant == "abstaining" else ()
                scores.append(((feature, cut, silent), naive_score(cells, d, Y, variant, said)))
    return first_smallest(scores)


def problem(rng, n, p, n_labels):
    B = rng.random((n, p)) < rng.choice([0.1, 0.3, 0.6, 0.95], size=p)
    Y = np.where(rng.random((n, n_labels)) < 0.4, 1.0, -1.0)
    d = rng.choice([0.01, 0.2, 1.0, 1.0], size=(n, n_labels)) * rng.choice([1.0, 3.0], size=(n, 1))
    return B, Y, d / d.sum()


def word_rows(B):
    return WordRows.of(*read_fit(sparse.csr_array(B.astype(float))))


@pytest.mark.parametrize("variant", VARIANTS)
@given(seed=seeds, n=st.integers(2, 12), p=st.integers(1, 7), n_labels=st.integers(1, 3))
def test_the_best_word_is_that_of_explicit_loops(variant, seed, n, p, n_labels):
    B, Y, d = problem(np.random.default_rng(seed), n, p, n_labels)
    found = word_rows(B).search(Y, variant).best(n * d)
    word = naive_word(B, d, Y, variant)
    if word is None:  # a rule that puts all rows into one cell
        assert not found.cells.any()
        assert found.speaks.all()
        return
    assert found.rule.features.tolist() == [word]
    np.testing.assert_array_equal(found.cells, B[:, word])
    assert found.speaks.tolist() == [variant != "abstaining", True]


@pytest.mark.parametrize("variant", VARIANTS)
@given(seed=seeds, n=st.integers(2, 10), p=st.integers(1, 4), n_labels=st.integers(1, 3))
def test_the_best_cut_is_that_of_explicit_loops(variant, seed, n, p, n_labels):
    rng = np.random.default_rng(seed)
    _, Y, d = problem(rng, n, p, n_labels)
    X = rng.choice([0.0, 1.0, 2.0, 5.0, np.nan], size=(n, p))
    X[0] = [1.0, 2.0, 0.0, 5.0][:p]  # no column is missing altogether
    X[1, 0] = 0.0 if X[0, 0] else 1.0  # and one tells rows apart
    levels = [p - 1] if p > 1 else []
    frame = pd.DataFrame({f"x{j}": X[:, j] for j in range(p)})
    for j in levels:
        frame[f"x{j}"] = pd.Categorical(frame[f"x{j}"], [0.0, 1.0, 2.0, 5.0])
    table, schema = read_fit(frame)
    found = BinRows.of(table, schema, None, 1).search(Y, variant).best(n * d)
    feature, cut, silent = naive_cut(X, d, Y, variant, levels)
    assert found.rule.features.tolist() == [feature]
    x = X[:, feature]
    high = x == cut if feature in levels else x > cut
    np.testing.assert_array_equal(found.cells, np.where(np.isnan(x), 2, high))
    speaks = [True] * 3
    if variant == "abstaining":
        speaks = [name not in silent for name in ("low", "high", "missing")]
    assert found.speaks.tolist() == speaks


@pytest.mark.parametrize("variant", VARIANTS)
@given(seed=seeds, n_labels=st.integers(1, 3))
def test_sums_that_are_carried_on_choose_as_a_full_pass_does(variant, seed, n_labels):
    rng = np.random.default_rng(seed)
    n, p = 60, 150
    B, Y, d = problem(rng, n, p, n_labels)
    B[:, : p // 2] = rng.random((n, p // 2)) < 0.03  # rare words are what is worth it
    rows = word_rows(B)
    search, log_d, carried = rows.search(Y, variant), np.log(d), 0
    for _ in range(25):
        d = np.exp(log_d - log_d.max())
        found = search.best(d / d.sum() * n)
        carried += search.native.looked_at < n
        fresh = rows.search(Y, variant).best(d / d.sum() * n)
        assert found.rule.features.tolist() == fresh.rule.features.tolist()
        cells = found.cells if rng.random() < 0.9 else rng.integers(0, 2, n)  # or by another rule
        log_d -= Y * rng.normal(scale=0.4, size=(2, n_labels))[cells]
    assert carried or np.diff(rows.by_word.indptr).max() > n / 2


def test_most_rounds_look_only_at_the_documents_with_the_last_word():
    rng = np.random.default_rng(0)
    B, Y, d = problem(rng, 400, 300, 1)
    B &= rng.random(B.shape) < 0.1
    search, log_d, last, carried = word_rows(B).search(Y, "real"), np.log(d), 0, 0
    for _ in range(20):
        d = np.exp(log_d - log_d.max())
        found = search.best(d / d.sum() * 400)
        if search.native.looked_at < 400:
            assert search.native.looked_at == last
            carried += 1
        last = np.count_nonzero(found.cells)
        log_d -= Y * np.array([[-0.05], [0.3]])[found.cells]
    assert carried > 10


def test_the_engine_refuses_words_that_do_not_fit():
    begin, rows = np.array([0, 1, 3]), np.array([0, 0, 2], dtype=np.int32)
    has, real = np.ones((3, 1), dtype=np.uint8), _engine.RuleKind.real
    search = _engine.WordSearch(begin, rows, has, real)
    with pytest.raises(ValueError, match="shape"):
        search.best(np.ones((2, 1)))
    with pytest.raises(ValueError, match="no numbers"):
        search.best(np.full((3, 1), np.nan))
    for wrong in ([0, 1, 2], [1, 1, 3], [0, 4, 3], []):
        with pytest.raises(ValueError, match="do not fit"):
            _engine.WordSearch(np.array(wrong, dtype=np.int64), rows, has, real)
    for row in (3, -1):
        with pytest.raises(ValueError, match="do not fit"):
            _engine.WordSearch(begin, np.array([0, 0, row], dtype=np.int32), has, real)
    nothing = _engine.WordSearch(np.array([0]), np.empty(0, dtype=np.int32), has, real)
    with pytest.raises(ValueError, match="no words"):
        nothing.best(np.ones((3, 1)))


def test_a_word_in_all_or_no_documents_is_no_rule():
    B = np.array([[1, 0, 1], [1, 0, 0], [1, 0, 1]], dtype=bool)
    assert word_rows(B).words.tolist() == [2]
    stored_zeros = sparse.csr_array(B.astype(float))
    stored_zeros.data[stored_zeros.indices == 2] = 0.0
    assert not len(WordRows.of(*read_fit(stored_zeros)).words)


def test_an_absent_cell_without_a_row_of_the_label_weighs_exactly_nothing():
    # Sums of the same numbers in another order differ in the last bit, whose root is 1e-8.
    rng = np.random.default_rng(0)
    n = 1000
    Y = np.where(rng.random((n, 1)) < 0.3, 1.0, -1.0)
    B = np.column_stack([Y[:, 0] > 0, np.ones(n)]).astype(bool)
    B[np.flatnonzero(Y < 0)[:3], 0] = True
    B[np.flatnonzero(Y < 0)[0], 1] = False
    d = rng.random((n, 1))
    rows = word_rows(B)
    total = np.cumsum(np.vstack([(d * (Y > 0)).T, (d * (Y < 0)).T]), axis=1)[:, -1:]
    sides = np.hstack([d * (Y > 0), d * (Y < 0)])
    assert (total[0, 0] - (rows.by_word @ sides)[:, 0] == 0.0).all()


def rules_of(kind, n_labels=2, size=5, n_features=4):
    rng = np.random.default_rng(0)
    _, schema = read_fit(np.zeros((1, n_features)))
    features = rng.integers(0, n_features, size)
    values = rng.normal(size=(size, len(kind.CELLS), n_labels))
    return kind(features, np.full(size, 0.5), values, schema)


@pytest.mark.parametrize("kind", [WordRules, ThresholdRules])
def test_rules_asked_together_say_what_each_says(kind):
    rules = rules_of(kind)
    X = np.random.default_rng(1).integers(0, 2, (30, 4)).astype(float)
    weights = np.array([1.0, 0.5, 2.0, -1.0, 1.5])
    each = [rule.outputs(X) for rule in rules]
    np.testing.assert_array_equal(rules.outputs(X), each)
    total = sum(w * said for w, said in zip(weights, each, strict=True))
    for form in (X, sparse.csr_matrix(X), sparse.csc_array(X), sparse.coo_matrix(X)):
        np.testing.assert_array_equal(rules.total(form, weights, np.zeros(1)), total)
    start = np.array([3.0, -1.0])
    np.testing.assert_allclose(rules.total(X, weights, start), total + start)
    assert len(rules[1:4]) == 3
    np.testing.assert_array_equal(rules[1:4].outputs(X), each[1:4])
    again = kind.of([*rules[:2], *rules[2:]], rules.schema)
    np.testing.assert_array_equal(again.total(X, weights, np.zeros(1)), total)


def test_a_rule_tells_what_it_says():
    rule = rules_of(WordRules)[-1]
    assert isinstance(rule, CellRule)
    assert repr(rule).startswith(f"<column {rule.feature} absent: [")
    assert "not above 0.5" in repr(rules_of(ThresholdRules)[0])
    with pytest.raises(IndexError):
        rules_of(WordRules)[5]


def test_a_cell_that_abstains_keeps_silent():
    found = word_rows(np.array([[True], [False]])).search(np.array([[1.0], [-1.0]]), "abstaining")
    h = found.best(np.ones((2, 1)))
    assert isinstance(h, RuleHypothesis)
    assert h.valued(np.array([[7.0], [1.0]])).said.tolist() == [[1.0], [0.0]]


def test_missing_numbers_are_a_cell_of_their_own():
    X = np.array([[1.0], [1.0], [np.nan], [np.nan]])
    Y = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    found = BinRows.of(*read_fit(X), None, 1).search(Y, "real").best(np.ones((4, 1)))
    assert found.rule.cuts.tolist() == [np.inf]  # what matters is whether there is a number
    assert found.cells.tolist() == [0, 0, 2, 2]
