"""What a round may do, said plainly: chances by bisection, DART by sums over all rounds."""

import numpy as np


def chances(gradients, hessians, share):
    """Give the chances of minimal variance sampling: (n_outputs, n_rows) derivatives each."""
    scores = np.zeros(gradients.shape[1])
    for g, h in zip(gradients.astype(float), hessians.astype(float), strict=True):
        leaf = np.abs(g).sum() / h.sum()
        scores += g**2 + leaf**2 * h**2
    scores = np.sqrt(scores)
    low, high = 0.0, scores.sum() / (share * len(scores)) + scores.max()
    for _ in range(200):
        mu = (low + high) / 2
        expected = np.minimum(1, scores / mu).sum()
        low, high = (mu, high) if expected > share * len(scores) else (low, mu)
    return np.minimum(1, scores / high)


def stump(x, residual):
    """Fit the least-squares cut of one feature; return it as a function of x."""
    best = (-np.inf, None)
    for cut in (np.unique(x)[:-1] + np.unique(x)[1:]) / 2:
        left, right = residual[x <= cut], residual[x > cut]
        gain = len(left) * left.mean() ** 2 + len(right) * right.mean() ** 2
        if gain > best[0]:
            best = gain, (cut, left.mean(), right.mean())
    cut, left, right = best[1]
    return lambda at: np.where(at <= cut, left, right)


def dart(x, y, dropped, rate):
    """Boost stumps by least squares; round t leaves the rounds ``dropped[t]`` out.

    Returns the predictions and the weights after each round.
    """
    trees, weights, stages = [], [], []
    for out in dropped:
        kept = [t for t in range(len(trees)) if t not in out]
        score = y.mean() + sum(weights[t] * trees[t](x) for t in kept)
        trees.append(stump(x, y - score))
        k = len(out)
        for t in out:
            weights[t] = weights[t] * k / (k + rate)
        weights.append(rate if k == 0 else rate / (k + rate))
        total = y.mean() + sum(w * tree(x) for w, tree in zip(weights, trees, strict=True))
        stages.append((total, list(weights)))
    return stages
