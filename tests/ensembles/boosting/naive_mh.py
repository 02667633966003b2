"""AdaBoost.MH over words in explicit loops, and documents to boost: for the tests."""

from dataclasses import dataclass, field
from math import exp, log, sqrt

import numpy as np
from scipy import sparse


@dataclass
class Naive:
    """What comes out."""

    decision: np.ndarray
    words: list = field(default_factory=list)
    z: list = field(default_factory=list)


def documents(seed=0, n=120, p=40, n_labels=3, several=True):
    """Counts of words, and labels that some of the words speak for."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.choice([0.05, 0.3, 1.0], size=p), size=(n, p)).astype(float)
    scores = (X > 0) @ rng.normal(size=(p, n_labels)) + rng.normal(size=(n, n_labels))
    y = (scores > 0.5).astype(int) if several else scores.argmax(axis=1)
    return sparse.csr_matrix(X), y


def signs_of(y):
    """+1 where a row has the label; one column for two classes."""
    if y.ndim == 2:
        return np.where(y == 1, 1, -1)
    classes = np.unique(y)
    if len(classes) == 2:
        return np.where(y == classes[1], 1, -1)[:, None]
    return np.where(y[:, None] == classes, 1, -1)


def naive_mh(present, y, variant, n_rounds):
    """Boost one-word rules, one pair of row and label after the other."""
    Y = signs_of(y)
    (n, n_labels), n_words = Y.shape, present.shape[1]
    pairs = [(i, k) for i in range(n) for k in range(n_labels)]
    D = {pair: 1 / len(pairs) for pair in pairs}
    out = Naive(np.zeros((n, n_labels)))
    for _ in range(n_rounds):
        best = None
        for word in range(n_words):
            if not 0 < present[:, word].sum() < n:
                continue
            score, c = score_and_values(present[:, word], D, Y, pairs, variant)
            if best is None or score < best[0] - 1e-11:
                best = (score, word, c)
        if best is None:
            break
        _, word, c = best
        h = {(i, k): c[bool(present[i, word]), k] for i, k in pairs}
        weight = 1.0
        if variant == "discrete":
            r = sum(D[pair] * Y[pair] * h[pair] for pair in pairs)
            if r >= 1 - 1e-9:
                break
            weight = log((1 + r) / (1 - r)) / 2
        D = {pair: D[pair] * exp(-weight * Y[pair] * h[pair]) for pair in pairs}
        z = sum(D.values())
        if z >= 1 - 1e-12:
            break
        D = {pair: weight_of / z for pair, weight_of in D.items()}
        for pair in pairs:
            out.decision[pair] += weight * h[pair]
        out.words.append(word)
        out.z.append(z)
    return out


def score_and_values(column, D, Y, pairs, variant):
    """What the word leaves, and what it says of each label where it is absent or present."""
    n_labels = Y.shape[1]
    W = {}
    for i, k in pairs:
        key = bool(column[i]), k, Y[i, k]
        W[key] = W.get(key, 0.0) + D[i, k]
    score, c, smooth = 0.0, {}, 1 / len(pairs)
    for cell in (False, True):
        for k in range(n_labels):
            plus, minus = W.get((cell, k, 1), 0.0), W.get((cell, k, -1), 0.0)
            c[cell, k] = log((plus + smooth) / (minus + smooth)) / 2
            if variant == "abstaining" and not cell:
                c[cell, k] = 0.0
                score += plus + minus
            elif variant == "discrete":
                c[cell, k] = 0.0 if abs(plus - minus) <= 1e-11 else np.sign(plus - minus)
                score -= abs(plus - minus)
            else:
                score += 2 * sqrt(plus * minus)
    return score, c
