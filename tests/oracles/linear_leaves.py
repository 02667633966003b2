"""A linear leaf by the whole system of its normal equations: no elimination, no blocks."""

import numpy as np


def path_features(tree, leaf):
    """Return the features on the way to a leaf of a tree whose splits are all numeric."""
    found, node = set(), leaf
    while node:
        inner = np.flatnonzero(tree.left != np.arange(tree.n_nodes))
        node = next(int(k) for k in inner if node in (tree.left[k], tree.left[k] + 1))
        found.add(int(tree.feature[node] & ((1 << 30) - 1)))
    return sorted(found)


def leaf_model(x, g, h, l2, slope_l2):
    """Return the function of least sum g f + h f^2 / 2 + penalties; x has no NaN, and varies."""
    mean = (h[:, None] * x).sum(axis=0) / h.sum()  # where the penalty on the constant applies
    design = np.column_stack([np.ones(len(x)), x - mean])
    penalty = np.diag([l2, *[slope_l2] * x.shape[1]])
    step = -np.linalg.solve(design.T @ (h[:, None] * design) + penalty, design.T @ g)
    low, high = x.min(axis=0), x.max(axis=0)
    return lambda new: step[0] + (np.clip(new, low, high) - mean) @ step[1:]


def tree_outputs(tree, X, leaves, g, h, l2=0.0, slope_l2=0.0):
    """Return what a tree with linear leaves says of its training rows."""
    out = np.array(tree.values[leaves, 0])
    for leaf in np.unique(leaves):
        used = path_features(tree, int(leaf))
        here = np.flatnonzero(leaves == leaf)
        used = [f for f in used if len(np.unique(X[here, f][~np.isnan(X[here, f])])) > 1]
        rows = here[~np.isnan(X[np.ix_(here, used)]).any(axis=1)]
        if used and len(rows) >= len(used) + 2:
            x = X[np.ix_(rows, used)]
            out[rows] = leaf_model(x, g[rows], h[rows], l2, slope_l2)(x)
    return out
