"""Disagreement in plain loops, as other libraries write it; small and slow on purpose."""

import math


def entropy(numbers):
    return -sum(p * math.log(p) for p in numbers if p > 0)


def counts(outputs, row, weights):
    """Weigh the votes for each class, the first of equal ones."""
    total = [0.0] * len(outputs[0][0])
    for member, weight in zip(outputs, weights, strict=True):
        said = list(member[row])
        total[said.index(max(said))] += weight
    return total


def means(outputs, row, weights):
    whole = sum(weights)
    return [
        sum(w * member[row][c] for member, w in zip(outputs, weights, strict=True)) / whole
        for c in range(len(outputs[0][0]))
    ]


def gap(numbers):
    first, second = sorted(numbers, reverse=True)[:2]
    return first - second


def measure(name, outputs, weights=None):
    """Compute a measure of every row."""
    alike = [1.0] * len(outputs)
    weights = alike if weights is None else list(weights)
    found = []
    for row in range(len(outputs[0])):
        votes = [v / len(outputs) for v in counts(outputs, row, alike)]
        heavy = [v / sum(weights) for v in counts(outputs, row, weights)]
        p, q = means(outputs, row, alike), means(outputs, row, weights)
        found.append(
            {
                "vote_margin": lambda v=votes: gap(v),
                "weighted_vote_margin": lambda v=heavy: gap(v),
                # modAL: scipy's entropy of the shares of the votes
                "vote_entropy": lambda v=votes: entropy(v),
                # scikit-activeml: sum over members and classes of p log(p / mean), over members
                "kl_to_mean": lambda p=p, row=row: (
                    sum(
                        m[row][c] * math.log(m[row][c] / p[c])
                        for m in outputs
                        for c in range(len(p))
                        if m[row][c] > 0
                    )
                    / len(outputs)
                ),
                # sum over members of w KL(p || sum w p), the other way to write Jensen-Shannon
                "jensen_shannon": lambda q=q, row=row: (
                    sum(
                        w * m[row][c] * math.log(m[row][c] / q[c])
                        for w, m in zip(weights, outputs, strict=True)
                        for c in range(len(q))
                        if m[row][c] > 0
                    )
                    / sum(weights)
                ),
                "margin": lambda p=p: gap(p),
            }[name]()
        )
    return found
