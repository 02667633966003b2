"""Prediction by walking the arrays of a forest, one row and one tree at a time."""

import math

import numpy as np

from committee._engine import CATEGORICAL, FEATURE_MASK, MISSING_LEFT


def goes_left(forest, node, row):
    feature = int(forest.feature[node])
    x = float(row[feature & FEATURE_MASK])
    missing_left = bool(feature & MISSING_LEFT)
    if math.isnan(x):
        return missing_left
    if not feature & CATEGORICAL:
        return x <= forest.threshold[node]
    begin, end = (int(b) for b in forest.set_begin[int(forest.threshold[node]) :][:2])
    level = int(x)
    if x < 0 or level != x or level >= 64 * (end - begin):
        return missing_left
    return bool(int(forest.set_words[begin + level // 64]) >> (level % 64) & 1)


def leaf(forest, tree, row):
    """Index of the leaf inside its tree."""
    begin = int(forest.tree_begin[tree])
    node = 0
    while int(forest.left[begin + node]) != node:
        node = int(forest.left[begin + node]) + (not goes_left(forest, begin + node, row))
    return node


def leaves(forest, X):
    trees = range(forest.n_trees)
    return np.array([[leaf(forest, t, row) for t in trees] for row in X], dtype=np.uint32)


def members(forest, X):
    begin = forest.tree_begin[:-1].astype(np.int64)
    return np.moveaxis(forest.values[leaves(forest, X).astype(np.int64) + begin], 1, 0)
