"""Split search by trying everything: each threshold, each subset of levels, both ways for missing.

A candidate is (feature, the mask of the rows that go left). Rows of weight zero are to be left out
by the caller.
"""

import itertools

import numpy as np

from tests.oracles import impurity


def both_ways(left, missing):
    """A cut of the present rows, with the missing ones on either side; no side may be empty."""
    sides = [left | missing, left] if missing.any() else [left]
    return [side for side in sides if 0 < side.sum() < len(side)]


def numeric_cuts(x):
    missing = np.isnan(x)
    for value in np.unique(x[~missing]):
        with np.errstate(invalid="ignore"):
            yield from both_ways(x <= value, missing)


def subset_cuts(x):
    """All subsets of the levels."""
    missing = np.isnan(x)
    levels = np.unique(x[~missing])
    for size in range(1, len(levels) + 1):
        for subset in itertools.combinations(levels, size):
            yield from both_ways(np.isin(x, subset), missing)


def class_order_cuts(x, y, w):
    """The rule for more than two classes: prefixes of the levels by each class's share."""
    missing = np.isnan(x)
    levels = np.unique(x[~missing])
    for k in np.unique(y):
        share = [(w * (y == k))[x == v].sum() / w[x == v].sum() for v in levels]
        order = levels[np.argsort(share, kind="stable")]
        for size in range(1, len(order) + 1):
            yield from both_ways(np.isin(x, order[:size]), missing)


def candidates(X, y, w, categorical=(), exhaustive=True):
    for j in range(X.shape[1]):
        x = X[:, j]
        if j not in categorical:
            cuts = numeric_cuts(x)
        else:
            cuts = subset_cuts(x) if exhaustive else class_order_cuts(x, y, w)
        for left in cuts:
            yield j, left


def allowed(criterion, y, w, left, min_rows):
    if min(left.sum(), (~left).sum()) < min_rows:
        return False
    if criterion == "poisson":  # a mean of zero has no logarithm
        return (w * y)[left].sum() > 0 and (w * y)[~left].sum() > 0
    return True


def best_gain(criterion, X, y, w, categorical=(), min_rows=1, exhaustive=True):
    """The largest gain of any split; None where there is no split."""
    gains = [
        impurity.gain(criterion, y, w, left)
        for _, left in candidates(X, y, w, categorical, exhaustive)
        if allowed(criterion, y, w, left, min_rows)
    ]
    return max(gains) if gains else None


def best_normalized_gain(X, y, w, categorical=()):
    cuts = candidates(X, y, w, categorical)
    return max((impurity.normalized_gain(y, w, left) for _, left in cuts), default=None)


def best_gain_ratio(X, y, w, categorical=()):
    """C4.5: of the features whose best gain is at least the average, the best gain ratio."""
    by_feature: dict[int, tuple[float, list]] = {}
    for j, left in candidates(X, y, w, categorical):
        gained = impurity.gain("entropy", y, w, left)
        best, cuts = by_feature.get(j, (-np.inf, []))
        if gained > best * (1 + 1e-12) + 1e-12:
            by_feature[j] = (gained, [left])
        elif abs(gained - best) <= 1e-12 * (1 + abs(best)):
            cuts.append(left)  # equal gains: the engine may hold either
    if not by_feature:
        return None, None
    positive = [gained for gained, _ in by_feature.values() if gained > 1e-12]
    average = np.mean(positive) if positive else -np.inf
    best = [
        [impurity.gain_ratio(y, w, left) for left in cuts]
        for gained, cuts in by_feature.values()
        if gained >= average * (1 - 1e-9)
    ]
    return max(map(min, best)), max(map(max, best))
