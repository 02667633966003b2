"""Three synthetic tasks on which questions should be worth more than random rows, and rows."""

import numpy as np


def stripe(rng, n):
    """A boundary across one of four features: most rows lie far from it."""
    X = rng.uniform(-1, 1, size=(n, 4))
    return X, (X[:, 0] > 0.3).astype(int)


def corner(rng, n):
    """A rare class in a corner of the square."""
    X = rng.random((n, 2))
    return X, ((X[:, 0] > 0.7) & (X[:, 1] > 0.6)).astype(int)


def clusters(rng, n):
    """Three normal clouds, of which two overlap."""
    y = rng.integers(3, size=n)
    centre = np.array([[0.0, 0.0], [1.8, 0.0], [6.0, 6.0]])
    return centre[y] + rng.normal(size=(n, 2)), y


TASKS = {"stripe": stripe, "corner": corner, "clusters": clusters}


def labelled(n=40, seed=0, classes=("no", "yes")):
    """Rows of two classes with a noisy boundary, and a pool of others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.array(classes)[(X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)]
    return X, y, rng.normal(size=(200, 3))
