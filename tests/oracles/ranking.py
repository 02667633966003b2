"""Ranking losses from their definitions: every pair of one group, no sorting tricks."""

import math


def places(score):
    """The place of each document: how many are better, or as good and before it."""
    n = len(score)
    return [
        sum(score[j] > score[i] or (score[j] == score[i] and j < i) for j in range(n))
        for i in range(n)
    ]


def gain(relevance, linear=False):
    return relevance if linear else 2.0**relevance - 1


def discount(place):
    return 1 / math.log2(2 + place)


def dcg(gains_by_place, k=None):
    return sum(g * discount(p) for p, g in list(enumerate(gains_by_place))[:k])


def ndcg(score, relevance, k=None, linear=False):
    gains = [gain(r, linear) for r in relevance]
    ideal = dcg(sorted(gains, reverse=True), k)
    by_place = sorted(range(len(score)), key=places(score).__getitem__)
    return dcg([gains[i] for i in by_place], k) / ideal if ideal > 0 else 1.0


def logistic(x):
    return 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x))


def pairs(relevance):
    """(better, worse) for all pairs of different relevance."""
    n = len(relevance)
    return [(i, j) for i in range(n) for j in range(n) if relevance[i] > relevance[j]]


def pair_weights(score, relevance, k=None, linear=False, normalize=True):
    """|delta NDCG| of swapping two documents, relative to the ideal DCG@k."""
    place = places(score)
    k = len(score) if k is None else k
    ideal = dcg(sorted((gain(r, linear) for r in relevance), reverse=True), k)
    weights = {}
    for i, j in pairs(relevance):
        if min(place[i], place[j]) < k:
            change = gain(relevance[i], linear) - gain(relevance[j], linear)
            weight = change * abs(discount(place[i]) - discount(place[j])) / ideal
            if normalize and min(score) != max(score):
                weight /= 0.01 + abs(score[i] - score[j])
            weights[i, j] = weight
    return weights


def gradients(score, weights, sigmoid=1.0):
    """Sums over weighted pairs: gradient, hessian, and the sum of all |lambda|."""
    gradient, hessian, total = [0.0] * len(score), [0.0] * len(score), 0.0
    for (i, j), weight in weights.items():
        p = logistic(-sigmoid * (score[i] - score[j]))
        q = logistic(sigmoid * (score[i] - score[j]))
        gradient[i] -= sigmoid * weight * p
        gradient[j] += sigmoid * weight * p
        total += 2 * sigmoid * weight * p
        for row in (i, j):
            hessian[row] += sigmoid**2 * weight * p * q
    return gradient, hessian, total


def lambdas(score, relevance, k=None, linear=False, normalize=True, sigmoid=1.0):
    """Gradient and hessian of LambdaMART."""
    weights = pair_weights(score, relevance, k, linear, normalize)
    gradient, hessian, total = gradients(score, weights, sigmoid)
    factor = math.log1p(total) / math.log(2) / total if normalize and total > 0 else 1.0
    return [g * factor for g in gradient], [h * factor for h in hessian]


def pairwise_value(score, relevance, sigmoid=1.0):
    """RankNet's loss by row: half of each of its pairs."""
    value = [0.0] * len(score)
    for i, j in pairs(relevance):
        x = -sigmoid * (score[i] - score[j])
        loss = max(x, 0.0) + math.log1p(math.exp(-abs(x)))
        value[i] += loss / 2
        value[j] += loss / 2
    return value
