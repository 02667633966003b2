"""Shapley values of a forest by their definition: every coalition of features is asked.

A coalition is a set of features whose values are known. At a split on another feature a row goes
both ways, by the children's shares of the cover.
"""

from itertools import combinations
from math import factorial

import numpy as np

from committee._engine import FEATURE_MASK
from tests.oracles.walk import goes_left


def answer(forest, tree, row, known, node=0):
    """What a tree says when only the features in `known` are."""
    at = int(forest.tree_begin[tree])
    left = int(forest.left[at + node])
    if left == node:
        return forest.values[at + node]
    if int(forest.feature[at + node]) & FEATURE_MASK in known:
        return answer(forest, tree, row, known, left + (not goes_left(forest, at + node, row)))
    cover = forest.weight[at + left : at + left + 2]
    share = cover[0] / cover.sum() if cover.sum() > 0 else 0.5
    return share * answer(forest, tree, row, known, left) + (1 - share) * answer(
        forest, tree, row, known, left + 1
    )


def answers(forest, row, weight):
    """What the weighted sum of trees says to each coalition."""
    features = range(forest.n_features)
    coalitions = [frozenset(s) for n in range(len(features) + 1) for s in combinations(features, n)]
    return {
        s: sum(weight[t] * answer(forest, t, row, s) for t in range(forest.n_trees))
        for s in coalitions
    }


def values(forest, row, weight):
    """(n_features + 1, n_outputs), what is said without any feature behind the features."""
    n, said = forest.n_features, answers(forest, row, weight)
    phi = np.zeros((n + 1, forest.n_outputs))
    phi[n] = said[frozenset()]
    for i in range(n):
        for s in said:
            if i not in s:
                share = factorial(len(s)) * factorial(n - len(s) - 1) / factorial(n)
                phi[i] += share * (said[s | {i}] - said[s])
    return phi


def interactions(forest, row, weight):
    """(n_features + 1, n_features + 1, n_outputs), half of each pair's interaction on each side."""
    n, said = forest.n_features, answers(forest, row, weight)
    phi = np.zeros((n + 1, n + 1, forest.n_outputs))
    phi[n, n] = said[frozenset()]
    for i, j in ((i, j) for i in range(n) for j in range(n) if i != j):
        for s in said:
            if not s & {i, j}:
                share = factorial(len(s)) * factorial(n - len(s) - 2) / (2 * factorial(n - 1))
                phi[i, j] += share * (said[s | {i, j}] - said[s | {i}] - said[s | {j}] + said[s])
    value = values(forest, row, weight)
    for i in range(n):
        phi[i, i] = value[i] - phi[i].sum(axis=0)
    return phi
