"""Symmetric trees by trying everything: each question of a level is asked of all its nodes.

A question is the mask of the rows that go left. A node counts where both sides have at least the
hessian asked for, and their share of the node's hessian is at least that of the rows asked for.
"""

from dataclasses import dataclass

import numpy as np

from tests.oracles import newton
from tests.oracles.splits import numeric_cuts


@dataclass
class Rules:
    l1: float = 0.0
    l2: float = 0.0
    min_rows: int = 1
    min_weight: float = 0.0
    categorical: tuple[int, ...] = ()


def category_cuts(x, g, h, rules):
    """Prefixes of the levels by -G / (H + l2) of all rows, with the missing ones on either side."""
    missing = np.isnan(x)
    levels = np.unique(x[~missing])
    value = [-g[x == v].sum() / (h[x == v].sum() + rules.l2) for v in levels]
    order = levels[np.argsort(value, kind="stable")]
    for n in range(1, len(order) + 1):
        left = np.isin(x, order[:n])
        for side in (left, left | missing) if missing.any() else (left,):
            if 0 < side.sum() < len(side):
                yield side


def questions(X, g, h, rules, features=None):
    for j in range(X.shape[1]) if features is None else features:
        if j in rules.categorical:
            yield from category_cuts(X[:, j], g, h, rules)
        else:
            yield from numeric_cuts(X[:, j])


def counts(g, h, left, rules):
    """Whether a node gains by a question at all."""
    for side in (left, ~left):
        share = h[side].sum() / h.sum() if h.sum() > 0 else 0.0
        few = share < rules.min_rows / len(h) - 1e-12 if rules.min_rows > 1 else not side.any()
        if few or h[side].sum() < rules.min_weight:
            return False
    return True


def level_gain(left, nodes, g, h, rules):
    """What a question gains in all nodes of a level, given as masks of rows."""
    total = 0.0
    for rows in nodes:
        if rows.any() and counts(g[rows], h[rows], left[rows], rules):
            total += newton.gain(g[rows], h[rows], left[rows], rules.l1, rules.l2)
    return total


def best_gain(X, nodes, g, h, rules, features=None):
    gains = [level_gain(q, nodes, g, h, rules) for q in questions(X, g, h, rules, features)]
    return max(gains, default=0.0)


def split(nodes, left):
    return [side for rows in nodes for side in (rows & left, rows & ~left)]


def values(levels, g, h, rules):
    """Of the last level's nodes; one that is too small has that of the nearest above it."""
    value = [newton.leaf(g, h, rules.l1, rules.l2)]
    for nodes in levels[1:]:
        own = []
        for k, rows in enumerate(nodes):
            small = rows.sum() < max(1, rules.min_rows) or h[rows].sum() < rules.min_weight
            own.append(
                value[k // 2] if small else newton.leaf(g[rows], h[rows], rules.l1, rules.l2)
            )
        value = own
    return np.array(value)
