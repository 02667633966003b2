"""C4.5's pessimistic pruning, after the source of release 8 (Quinlan 1993), on a tree's arrays."""

import math

VALUES = [0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00]
DEVIATIONS = [4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00]


def coefficient(confidence):
    i = next(k for k, value in enumerate(VALUES) if confidence <= value)
    share = (confidence - VALUES[i - 1]) / (VALUES[i] - VALUES[i - 1])
    return (DEVIATIONS[i - 1] + (DEVIATIONS[i] - DEVIATIONS[i - 1]) * share) ** 2


def added_errors(n, e, confidence):
    """Errors to add to e observed among n."""
    none = n * (1 - math.exp(math.log(confidence) / n))
    if e < 1e-6:
        return none
    if e < 0.9999:
        return none + e * (added_errors(n, 1.0, confidence) - none)
    if e + 0.5 >= n:
        return 0.67 * (n - e)
    c = coefficient(confidence)
    root = math.sqrt(c * ((e + 0.5) * (1 - (e + 0.5) / n) + c / 4))
    return n * (e + 0.5 + c / 2 + root) / (n + c) - e


def leaves_left(tree, confidence, node=0):
    """Return the estimate of a node and the nodes that are leaves after pruning."""
    n = tree.weighted_n_node_samples[node]
    e = n * (1 - tree.value[node].max())
    as_leaf = e + added_errors(n, e, confidence)
    if tree.children_left[node] < 0:
        return as_leaf, [node]
    left, below = leaves_left(tree, confidence, tree.children_left[node])
    right, more = leaves_left(tree, confidence, tree.children_right[node])
    if as_leaf <= left + right + 0.1:
        return as_leaf, [node]
    return left + right, below + more
