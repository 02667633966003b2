"""Who saw what, at every depth: properties over random groupings, and a naive nested oracle."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    RepeatedKFold,
    TimeSeriesSplit,
)
from sklearn.neighbors import KNeighborsRegressor

from committee import CascadeRegressor, InputError, StackingRegressor
from committee.ensembles.levels.parts import Parts
from committee.ensembles.panel.folds import read_folds

SEEN = {}  # by an answer, the rows that the models behind it have seen


class Witness(RegressorMixin, BaseEstimator):
    """Its target is the number of the row; its answers stand for all that it and its rows saw."""

    def fit(self, X, y):
        behind = [SEEN.get(value, frozenset()) for value in np.ravel(X).tolist()]
        self.saw_ = frozenset(y.astype(int).tolist()).union(*behind)
        return self

    def predict(self, X):
        answers = []
        for row in np.asarray(X).tolist():
            answers.append(float(len(SEEN) + 1))
            SEEN[answers[-1]] = self.saw_.union(*[SEEN.get(v, frozenset()) for v in row])
        return np.array(answers)


def numbered(n_rows):
    """Rows that hold nothing but a number below 0, which is no answer, and their number as y."""
    rows = np.arange(n_rows, dtype=float)
    return -1 - rows.reshape(-1, 1), rows


@st.composite
def divisions(draw):
    """A number of levels, a cv and the group of each row."""
    n_levels, n_rows = draw(st.integers(1, 3)), draw(st.integers(10, 16))
    groups = np.array(draw(st.lists(st.integers(0, 6), min_size=n_rows, max_size=n_rows)))
    n_groups = len(np.unique(groups))
    kind = draw(st.sampled_from(["groups", "time", "rows", "predefined"]))
    if kind == "groups" and n_groups > n_levels:
        return n_levels, GroupKFold(draw(st.integers(n_levels + 1, n_groups))), groups
    if kind == "predefined" and n_groups > n_levels:
        folds = groups.copy()
        if len(np.unique(groups)) > n_levels + 1:
            folds[groups == groups[0]] = -1  # never asked about, always learned from
        return n_levels, PredefinedSplit(folds), groups
    groups = np.arange(n_rows)
    if kind == "time":
        return n_levels, TimeSeriesSplit(draw(st.integers(n_levels, 5)), gap=0), groups
    return n_levels, KFold(draw(st.integers(n_levels + 1, 5)), shuffle=True, random_state=1), groups


@settings(max_examples=40)
@given(divisions(), st.booleans())
def test_r106_no_model_at_any_depth_saw_the_row_or_its_group(division, cascade):
    n_levels, cv, groups = division
    SEEN.clear()
    X, y = numbered(len(groups))
    names = iter("abcdef")
    levels = [[(next(names), Witness()) for _ in range(2 - k % 2)] for k in range(n_levels)]
    if cascade:
        model = CascadeRegressor([level[0] for level in levels], cv=cv, check_leak=False)
    else:
        model = StackingRegressor(levels=levels, final_estimator="mean", cv=cv)
    model.fit(X, y, groups=groups)
    for answers in model.level_oof_:
        for row, said in enumerate(answers.tolist()):
            for answer in said:
                if not math.isnan(answer):
                    mates = np.flatnonzero(groups == groups[row])
                    assert not SEEN[answer] & set(mates.tolist()), (row, SEEN[answer])
    # The record says the same: nobody who answers for a row has seen it or one of its group.
    for row in range(len(groups)):
        for other in np.flatnonzero(groups == groups[row]):
            assert not set(model.record_.answered(row)) & set(model.record_.saw(other))
    known = ~np.isnan(model.level_oof_[-1][:, 0])
    assert known.any()
    if not cascade:
        assert model.n_unanswered_ == (~known).sum()
        for row in np.flatnonzero(known):
            assert len(model.record_.answered(row)) == len(levels[-1])


def test_the_last_word_is_of_models_that_saw_all_rows():
    SEEN.clear()
    X, y = numbered(12)
    levels = [[("a", Witness())], [("b", Witness())]]
    model = StackingRegressor(levels=levels, final_estimator="mean", cv=4).fit(X, y)
    assert [model.levels_[k][0].saw_ for k in range(2)] == [frozenset(range(12))] * 2


@pytest.mark.parametrize(("n_folds", "n_levels"), [(5, 1), (5, 2), (4, 3)])
def test_folds_share_parts(n_folds, n_levels):
    X, y = numbered(20)
    folds = read_folds(KFold(n_folds), X, y, None, classes=False)
    parts = Parts(folds, n_levels, np.ones(20, dtype=bool))
    assert len(parts) == sum(math.comb(n_folds, k) for k in range(n_levels + 1))
    for level in range(n_levels):
        depths = range(n_levels - level + 1)
        assert len(parts.levels[level]) == sum(math.comb(n_folds, k) for k in depths)


def test_splits_in_time_need_one_part_each():
    X, y = numbered(24)
    folds = read_folds(TimeSeriesSplit(5), X, y, None, classes=False)
    parts = Parts(folds, 2, np.ones(24, dtype=bool))
    assert len(parts) == 6
    # Before the second block nothing has been predicted, so that level 2 has nothing to learn.
    assert [len(part.rows) for part in parts.levels[1]] == [24, 8, 12, 16, 20]
    np.testing.assert_array_equal(parts.known(1, parts.whole), np.arange(24) >= 8)


@pytest.mark.parametrize("n_levels", [2, 3])
def test_too_few_folds_for_the_levels(n_levels):
    X, y = numbered(12)
    levels = [[(name, Witness())] for name in "abc"[:n_levels]]
    with pytest.raises(InputError, match=rf"cv: {n_levels} split.*{n_levels + 1} folds or more"):
        StackingRegressor(levels=levels, cv=n_levels).fit(X, y)


# A naive oracle: nested cross-validation as it is said, with nothing shared.


def features(X, y, rows, members, level, splits, wide):
    """What the levels below say of each row, by models of parts of ``rows`` without it."""
    sums, counts = np.zeros((len(X), len(members[level]))), np.zeros(len(X))
    for train, test in splits:
        inner, asked = np.intersect1d(rows, train), np.intersect1d(rows, test)
        if len(inner) and len(asked):
            said = answers(X, y, inner, asked, members, level, splits, wide)
            if said is not None:
                sums[asked] += said
                counts[asked] += 1
    with np.errstate(invalid="ignore"):
        return sums / counts[:, None]


def answers(X, y, rows, asked, members, level, splits, wide):
    """Fit levels up to ``level`` on ``rows`` alone; ask about others."""
    below = range(level) if wide else range(max(level - 1, 0), level)
    own = [features(X, y, rows, members, k, splits, wide)[rows] for k in below]
    other = [answers(X, y, rows, asked, members, k, splits, wide) for k in below]
    if any(said is None for said in other):
        return None
    seen = np.hstack(([X[rows]] if wide or not level else []) + own)
    known = ~np.isnan(seen).any(axis=1)
    if not known.any():
        return None
    shown = np.hstack(([X[asked]] if wide or not level else []) + other)
    fits = [clone(m).fit(seen[known], y[rows][known]) for m in members[level]]
    return np.column_stack([fit.predict(shown) for fit in fits])


CVS = [
    KFold(4, shuffle=True, random_state=0),
    TimeSeriesSplit(4),
    RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
]


@pytest.mark.parametrize("wide", [False, True], ids=["stack", "cascade"])
@pytest.mark.parametrize("cv", CVS, ids=lambda cv: type(cv).__name__)
def test_levels_equal_naive_nesting(cv, wide):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(48, 2))
    y = X[:, 0] - X[:, 1] ** 2 + 0.1 * rng.normal(size=48)
    members = [[Ridge(), KNeighborsRegressor(1)], [KNeighborsRegressor(3)]]
    if wide:
        members = [[Ridge()], [KNeighborsRegressor(3)]]
        model = CascadeRegressor([("a", Ridge()), ("b", KNeighborsRegressor(3))], cv=cv)
    else:
        names = iter("abc")
        levels = [[(next(names), m) for m in level] for level in members]
        model = StackingRegressor(levels=levels, cv=cv)
    model.fit(X, y)
    splits = list(cv.split(X, y))
    for level, oof in enumerate(model.level_oof_):
        naive = features(X, y, np.arange(48), members, level, splits, wide)
        np.testing.assert_allclose(oof, naive, rtol=1e-9, atol=1e-12)


def test_rows_of_weight_zero_are_asked_and_not_learned():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    y = X[:, 0] + rng.normal(size=40)
    splits = list(KFold(4).split(X))
    model = StackingRegressor([("a", Ridge())], cv=splits).fit(X, y, sample_weight=weight)
    kept = np.flatnonzero(weight)
    place = np.full(40, -1)
    place[kept] = np.arange(len(kept))
    fewer = [[place[side][place[side] >= 0] for side in split] for split in splits]
    small = StackingRegressor([("a", Ridge())], cv=fewer)
    small.fit(X[kept], y[kept], sample_weight=weight[kept])
    np.testing.assert_allclose(model.oof_[kept], small.oof_)
    np.testing.assert_allclose(model.predict(X), small.predict(X))
    assert not np.isnan(model.oof_).any()
    assert list(itertools.chain(*model.level_oof_[0].tolist())) == model.oof_[:, 0].tolist()
