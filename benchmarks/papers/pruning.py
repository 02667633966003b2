"""CART's way to a tree of the right size (Breiman, Friedman, Olshen and Stone 1984, chapter 3).

Cutting the weakest link again and again gives a sequence of ever smaller subtrees, each the best
for an interval of alpha, the price of a leaf. Rows that the tree was not grown on, or
cross-validation, then choose from the sequence.
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone

ROUNDING = 1e-12  # links that differ by less are cut together


def sequence(tree: Any, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where each subtree's interval of alpha begins, and its number of errors on (X, y)."""
    nodes = tree.tree_
    left, right = nodes.children_left.tolist(), nodes.children_right.tolist()
    parent = [-1] * len(left)
    for node, child in enumerate(left):
        if child >= 0:
            parent[child] = parent[right[node]] = node
    share = nodes.weighted_n_node_samples / nodes.weighted_n_node_samples[0]
    cost = (nodes.impurity * share).tolist()
    wrong = _errors_of_nodes(tree, parent, X, y).tolist()

    # What the leaves below a node sum to. Children come after their parents, so go backwards.
    below = [[0.0, 0, 0] if left[t] >= 0 else [cost[t], wrong[t], 1] for t in range(len(left))]
    for node in range(len(left) - 1, 0, -1):
        below[parent[node]] = [a + b for a, b in zip(below[parent[node]], below[node], strict=True)]
    link = np.array([_link(cost[t], below[t]) for t in range(len(left))])

    alphas, errors = [0.0], [below[0][1]]
    while below[0][2] > 1:
        weakest = int(link.argmin())
        alpha = max(alphas[-1], float(link[weakest]))
        _forget(weakest, left, right, link)
        becomes = [cost[weakest], wrong[weakest], 1]
        change = [a - b for a, b in zip(becomes, below[weakest], strict=True)]
        node = weakest
        while node >= 0:
            below[node] = [a + b for a, b in zip(below[node], change, strict=True)]
            link[node] = _link(cost[node], below[node])
            node = parent[node]
        if alpha > alphas[-1] * (1 + ROUNDING) + ROUNDING:
            alphas.append(alpha)
            errors.append(0)
        errors[-1] = below[0][1]
    return np.array(alphas), np.array(errors)


def _errors_of_nodes(tree: Any, parent: list[int], X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Count the rows in each node that its majority gets wrong."""
    n_classes = len(tree.classes_)
    code = np.searchsorted(tree.classes_, y)
    code[~np.isin(y, tree.classes_)] = n_classes  # a class the tree has never seen
    counts = np.zeros((len(parent), n_classes + 1), dtype=np.int64)
    np.add.at(counts, (tree.apply(X), code), 1)
    for node in range(len(parent) - 1, 0, -1):
        counts[parent[node]] += counts[node]
    majority = tree.tree_.value[:, 0, :n_classes].argmax(axis=1)
    return counts.sum(axis=1) - counts[np.arange(len(parent)), majority]


def _link(cost: float, below: list[float]) -> float:
    """Return how much cost a leaf of the subtree saves; infinite where there is no subtree."""
    return (cost - below[0]) / (below[2] - 1) if below[2] > 1 else np.inf


def _forget(node: int, left: list[int], right: list[int], link: np.ndarray) -> None:
    """Take a subtree out of the search."""
    stack = [node]
    while stack:
        t = stack.pop()
        link[t] = np.inf
        if left[t] >= 0:
            stack += [left[t], right[t]]


def middles(alphas: np.ndarray) -> np.ndarray:
    """Return one alpha inside each interval: the geometric mean of its ends."""
    return np.append(np.sqrt(alphas[:-1] * alphas[1:]), 2 * alphas[-1])


def fewest(errors: np.ndarray) -> int:
    """Return the smallest subtree with the fewest errors."""
    return len(errors) - 1 - int(errors[::-1].argmin())


def cross_validated(tree: Any, X: np.ndarray, y: np.ndarray, seed: int, folds: int = 10) -> Any:
    """Return the tree, cut back as cross-validation finds best."""
    alphas = middles(sequence(clone(tree).fit(X, y), X, y)[0])
    fold = np.random.default_rng(seed).permutation(len(y)) % folds
    errors = np.zeros(len(alphas), dtype=np.int64)
    for k in range(folds):
        out = fold == k
        begins, wrong = sequence(clone(tree).fit(X[~out], y[~out]), X[out], y[out])
        errors += wrong[np.searchsorted(begins, alphas, side="right") - 1]
    return clone(tree).set_params(ccp_alpha=alphas[fewest(errors)]).fit(X, y)


class PrunedTree(ClassifierMixin, BaseEstimator):
    """A tree that is cut back to the subtree with the fewest errors on given rows.

    In bagging it is grown on a bag and judged by the learning set that the bag was drawn from. It
    has no probabilities: it votes.
    """

    def __init__(self, tree: Any, judge_X: np.ndarray, judge_y: np.ndarray) -> None:
        self.tree = tree
        self.judge_X = judge_X
        self.judge_y = judge_y

    def fit(self, X: np.ndarray, y: np.ndarray) -> "PrunedTree":
        alphas, errors = sequence(clone(self.tree).fit(X, y), self.judge_X, self.judge_y)
        alpha = middles(alphas)[fewest(errors)]
        self.tree_ = clone(self.tree).set_params(ccp_alpha=alpha).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.tree_.predict(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
