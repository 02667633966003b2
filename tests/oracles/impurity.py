"""Impurities and split qualities from their definitions, over rows, never over running sums."""

import numpy as np

LEAST = 1e-300


def shares(y, w):
    totals = np.array([w[y == k].sum() for k in np.unique(y)])
    return totals / totals.sum()


def gini(y, w):
    return 1 - (shares(y, w) ** 2).sum()


def entropy(y, w):
    p = shares(y, w)
    p = p[p > 0]
    return -(p * np.log2(p)).sum()


def error(y, w):
    return 1 - shares(y, w).max()


def exponential(y, w):
    """Each class against the rest: for two classes 2 sqrt(p (1 - p))."""
    p = shares(y, w)
    return np.sqrt(p * (1 - p)).sum()


def squared_error(y, w):
    mean = (w * y).sum() / w.sum()
    return (w * (y - mean) ** 2).sum() / w.sum()


def absolute_error(y, w):
    """Mean distance to a weighted median: the smallest over all medians among the values."""
    return min((w * abs(y - m)).sum() for m in y[w > 0]) / w.sum()


def poisson(y, w):
    """Half the deviance from the mean."""
    mean = (w * y).sum() / w.sum()
    logs = np.where(y > 0, y * np.log(np.maximum(y, LEAST) / max(mean, LEAST)), 0.0)
    return (w * logs).sum() / w.sum()


IMPURITY = {
    "gini": gini,
    "entropy": entropy,
    "gain_ratio": entropy,
    "normalized_gain": entropy,
    "error": error,
    "exponential": exponential,
    "squared_error": squared_error,
    "absolute_error": absolute_error,
    "poisson": poisson,
}


def gain(criterion, y, w, left):
    """Decrease of weight times impurity when `left` is cut off."""
    impurity = IMPURITY[criterion]
    kept = sum(w[side].sum() * impurity(y[side], w[side]) for side in (left, ~left))
    return w.sum() * impurity(y, w) - kept


def split_entropy(w, left):
    return entropy(left, w)


def normalized_gain(y, w, left):
    """2 I / (H_split + H_class)."""
    information = gain("entropy", y, w, left) / w.sum()
    return 2 * information / (split_entropy(w, left) + entropy(y, w))


def gain_ratio(y, w, left):
    """I / H_split."""
    return gain("entropy", y, w, left) / w.sum() / split_entropy(w, left)
