"""The stock losses, each with targets that it takes: for tests that hold of all of them."""

import numpy as np

from committee.losses import (
    Absolute,
    Cox,
    Exponential,
    Gamma,
    Huber,
    Logistic,
    Multinomial,
    Poisson,
    Quantile,
    Quantiles,
    Squared,
    Tweedie,
)

NUMBERS = [Squared(), Absolute(), Huber(delta=0.7), Quantile(level=0.8), Quantiles((0.1, 0.5, 0.9))]
COUNTS = [Poisson(), Tweedie(power=1.1), Tweedie(power=1.5), Tweedie(power=1.9)]
CLASSES = [Logistic(), Exponential(), Multinomial(2), Multinomial(4)]
STOCK = [*NUMBERS, *COUNTS, Gamma(), *CLASSES, Cox()]

EXTREME_SCORES = (0.0, 1e3, -1e3, 1e150, -1e150)


def target(loss, rng, n=40):
    """Draw a target in the domain of ``loss``."""
    if loss in NUMBERS:
        return rng.normal(scale=2, size=n).round(2)
    if loss in COUNTS:
        return np.append(rng.poisson(1.5, size=n - 1).astype(float), 3.0)
    if isinstance(loss, Gamma):
        return rng.gamma(2.0, size=n) + 1e-3
    if isinstance(loss, Cox):  # times with ties, some of them censored
        return np.append(rng.integers(1, 12, n - 1) * rng.choice([-1.0, 1.0], n - 1), 5.0)
    classes = max(2, loss.n_outputs)
    return np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)]).astype(float)


def extremes(loss):
    """Return the ends of the domain of ``loss``."""
    if loss in NUMBERS:
        return [-1e150, -1.0, 0.0, 1.0, 1e150]
    if loss in COUNTS:
        return [0.0, 1e-300, 1.0, 1e150]
    if isinstance(loss, Gamma):
        return [1e-300, 1e-10, 1.0, 1e150]
    if isinstance(loss, Cox):
        return [1.0, -1.0, 1e150, -1e150, 1e-300]
    return [float(code) for code in range(max(2, loss.n_outputs))]


def scores(loss, rng, n=40, scale=1.0):
    """Draw scores of the shape that ``loss`` takes."""
    return rng.normal(scale=scale, size=n if loss.n_outputs == 1 else (n, loss.n_outputs))


def constant(loss, score, n):
    """Spread constant scores over ``n`` rows."""
    shape = (n,) if loss.n_outputs == 1 else (n, loss.n_outputs)
    return np.broadcast_to(score, shape).astype(float).copy()
