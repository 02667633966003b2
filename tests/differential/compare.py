"""Two trees side by side: node by node as long as their splits agree or tie.

Equal gains are common: in small nodes several features part the rows alike, and sums of absolute
errors are piecewise linear. Where two libraries then choose differently, neither is wrong; the
oracle says whether it was a tie.
"""

from dataclasses import dataclass

import numpy as np
from tests.oracles import impurity


@dataclass
class Agreement:
    """How many splits agreed, and how many were ties decided differently."""

    same: int = 0
    tied: int = 0


def rows_by_node(model, X):
    path = model.decision_path(X).tocsc()
    return [set(path[:, i].indices.tolist()) for i in range(path.shape[1])]


def compare(ours, theirs, X, y, w=None):
    """Walk both trees in step; raise AssertionError at the first split that is no tie."""
    w = np.ones(len(X)) if w is None else w
    mine, other = rows_by_node(ours, X), rows_by_node(theirs, X)
    a, b = ours.tree_, theirs.tree_
    atol = 1e-8 + np.ptp(y) * 2.0**-30  # targets keep 30 bits of their range in sums
    result = Agreement()
    pairs = [(0, 0)]
    while pairs:
        i, j = pairs.pop()
        check_facts(a, i, b, j, atol)
        ends = a.children_left[i] < 0, b.children_left[j] < 0
        assert ends[0] == ends[1], f"one of {i}, {j} is a leaf: {sorted(mine[i])[:20]}"
        if ends[0]:
            continue
        left = mine[a.children_left[i]]
        if left == other[b.children_left[j]]:
            result.same += 1
            pairs.append((a.children_left[i], b.children_left[j]))
            pairs.append((a.children_right[i], b.children_right[j]))
        elif left == other[b.children_right[j]]:  # the same two sets, cut from the other end
            result.tied += 1
        else:
            check_tie(ours.criterion, y, w, mine[i], left, other[b.children_left[j]])
            result.tied += 1
    return result


def check_facts(a, i, b, j, atol):
    assert a.n_node_samples[i] == b.n_node_samples[j]
    facts = [
        np.append(t.value[k].ravel(), [t.impurity[k], t.weighted_n_node_samples[k]])
        for t, k in ((a, i), (b, j))
    ]
    np.testing.assert_allclose(*facts, rtol=1e-6, atol=atol)


def check_tie(criterion, y, w, node, mine, other):
    rows = np.array(sorted(node))
    gains = [
        impurity.gain(criterion, y[rows], w[rows], np.isin(rows, sorted(left)))
        for left in (mine, other)
    ]
    scale = w[rows].sum() * impurity.IMPURITY[criterion](y[rows], w[rows])
    assert abs(gains[0] - gains[1]) <= 1e-9 * scale, f"ours gains {gains[0]}, theirs {gains[1]}"
