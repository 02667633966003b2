"""Rows in parts by hand: lists of (row, share), every split of every node tried.

The criterion is the decrease of weight times impurity among the rows that know their value.
"""

import numpy as np

from tests.oracles.impurity import IMPURITY


def worth(criterion, y, w):
    """Weight times impurity."""
    return w.sum() * IMPURITY[criterion](y, w) if w.sum() > 0 else 0.0


def cuts(x, categorical, multiway):
    """The ways to part rows that know x: lists of masks, a branch each."""
    values = np.unique(x)
    if categorical and multiway:
        if len(values) > 1:
            yield [x == v for v in values]
    elif categorical:
        for code in range(1, 2 ** max(len(values) - 1, 0)):
            left = np.isin(x, [v for i, v in enumerate(values) if code >> i & 1])
            yield [left, ~left]
    else:
        for v in values[:-1]:
            yield [x <= v, x > v]


def best_gain(criterion, X, y, share, weight, *, categorical=(), multiway=False, least=1):
    """The best gain over all features of a node whose rows are there with these shares."""
    best = None
    for j in range(X.shape[1]):
        known = ~np.isnan(X[:, j]) & (share > 0)
        x, own, w = X[known, j], share[known], (share * weight)[known]
        for branches in cuts(x, j in categorical, multiway):
            if sum(own[b].sum() >= least - 1e-5 for b in branches) < 2:
                continue
            after = sum(worth(criterion, y[known][b], w[b]) for b in branches)
            gain = worth(criterion, y[known], w) - after
            best = gain if best is None else max(best, gain)
    return best


def goes_left(tree, node, x):
    """1 for rows that go left, 0 for the right, NaN where the value is missing."""
    if tree.is_categorical[node]:
        left = np.isin(x, tree.left_levels(node))
    else:
        with np.errstate(invalid="ignore"):
            left = x <= tree.threshold[node]
    return np.where(np.isnan(x), np.nan, left)


def ways(tree, X, w, new=None):
    """Share of each row at each node: (n_rows, n_nodes); of `new` rows, by the training rows."""
    new = X if new is None else new
    here, out = (np.zeros((len(rows), tree.node_count)) for rows in (X, new))
    here[:, 0] = out[:, 0] = 1
    for node in np.flatnonzero(~tree.is_leaf):
        left, feature = tree.children_left[node], tree.feature[node]
        goes = goes_left(tree, node, X[:, feature])
        known = ~np.isnan(goes)
        amount = (here[:, node] * w)[known]
        fraction = (amount * goes[known]).sum() / amount.sum()
        for shares, rows in ((here, X), (out, new)):
            part = np.nan_to_num(goes_left(tree, node, rows[:, feature]), nan=fraction)
            shares[:, left] = shares[:, node] * part
            shares[:, left + 1] = shares[:, node] * (1 - part)
    return out
