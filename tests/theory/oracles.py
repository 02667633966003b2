"""The formulas of the theory folder once more, as loops over single votes."""

from collections import Counter

import numpy as np


def said(column):
    """The votes on one row, without the missing ones."""
    return [vote for vote in column if vote is not None and vote == vote]


def squared(column, y):
    """(loss, bias, bias_squared, variance) of one row, by their definitions."""
    votes = said(column)
    K = len(votes)
    if K == 0:
        return (np.nan,) * 4
    mean = sum(votes) / K
    loss = sum((y - vote) ** 2 for vote in votes) / K
    if K < 2:
        return loss, y - mean, np.nan, np.nan
    variance = sum((mean - vote) ** 2 for vote in votes) / (K - 1)
    return loss, y - mean, (y - mean) ** 2 - variance / K, variance


def kohavi_wolpert(column, y, classes):
    """(loss, bias_squared, variance) of one row: the paper's sums with its corrections for K."""
    votes = said(column)
    K = len(votes)
    if K < 2:
        return (sum(vote != y for vote in votes) / K if K else np.nan), np.nan, np.nan
    loss = sum(vote != y for vote in votes) / K
    bias = variance = 0.0
    for label in classes:
        p = votes.count(label) / K
        bias += ((label == y) - p) ** 2 - p * (1 - p) / (K - 1)
        variance += p * (1 - p) * K / (K - 1)
    return loss, bias / 2, variance / 2


def domingos(column, y):
    """(main prediction, bias, unbiased variance, biased variance) of one row."""
    votes = said(column)
    counts = Counter(votes)
    main = min(counts, key=lambda label: (-counts[label], label))
    bias = float(main != y)
    dissent = [vote for vote in votes if vote != main]
    unbiased = (1 - bias) * len(dissent) / len(votes)
    biased = bias * sum(vote == y for vote in dissent) / len(votes)
    return main, bias, unbiased, biased


def hits(first, second, y):
    """N11, N10, N01, N00 of two members on the rows where both have a say."""
    counts = Counter(
        (a == truth, b == truth)
        for a, b, truth in zip(first, second, y, strict=True)
        if len(said([a, b])) == 2
    )
    return tuple(
        counts[key] for key in [(True, True), (True, False), (False, True), (False, False)]
    )
