"""The best split of a node of several outputs by trying everything, and the leaf of its rows."""

import numpy as np

from tests.oracles.splits import both_ways, numeric_cuts


def score(G, H, rows, l2, least):
    """Sum G_k^2 / (H_k + l2) over outputs, whose hessians count with ``least`` at least."""
    g, h = G[:, rows].sum(axis=1), H[:, rows].sum(axis=1)
    return (g**2 / (np.maximum(h, least) + l2)).sum()


def level_cuts(x, G, H, l2, least):
    """Prefixes of the levels in the order of each output's leaf values."""
    missing = np.isnan(x)
    levels = np.unique(x[~missing])
    for g, h in zip(G, H, strict=True):
        sums = [(g[x == v].sum(), max(h[x == v].sum(), least)) for v in levels]
        order = levels[np.argsort([-a / (b + l2) for a, b in sums], kind="stable")]
        for size in range(1, len(order) + 1):
            yield from both_ways(np.isin(x, order[:size]), missing)


def best_split(X, G, H, *, categorical, min_rows, min_weight, l2, least):
    """Return the largest gain and the mask of the rows that go left; None where there is none."""
    everything = np.ones(len(X), bool)
    best = (0.0, None)
    for j in range(X.shape[1]):
        x = X[:, j]
        cuts = level_cuts(x, G, H, l2, least) if j in categorical else numeric_cuts(x)
        for left in cuts:
            if min(left.sum(), (~left).sum()) < min_rows:
                continue
            if min(H[:, left].sum(axis=1).mean(), H[:, ~left].sum(axis=1).mean()) < min_weight:
                continue
            gain = sum(score(G, H, side, l2, least) for side in (left, ~left))
            gain -= score(G, H, everything, l2, least)
            if gain > best[0] * (1 + 1e-9):  # of equal ones the first
                best = (gain, left)
    return best


def leaf_value(G, H, l2, least):
    """Return -G_k / (H_k + l2) of each output."""
    return -G.sum(axis=1) / (np.maximum(H.sum(axis=1), least) + l2)
