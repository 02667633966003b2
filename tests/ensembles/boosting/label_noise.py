"""Problems with wrong labels, and what members of a committee say: shared by the tests of noise."""

import numpy as np


def signs_problem(seed, n=400, flips=0.05, n_test=4000):
    """R93: ten uniform features, y = sign of their sum, some training labels flipped."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 10))
    y = np.sign(X.sum(axis=1))
    flipped = np.zeros(n, dtype=bool)
    flipped[rng.choice(n, round(flips * n), replace=False)] = True
    X_test = rng.uniform(-1, 1, (n_test, 10))
    return X, np.where(flipped, -y, y), X_test, np.sign(X_test.sum(axis=1)), flipped


def five_of_twenty(seed):
    """2L: 2000 rows of 20 uniform features, y = (sum of the first five > 2.5), 10 % flips."""
    rng = np.random.default_rng(seed)
    X, X_test = rng.random((2000, 20)), rng.random((4000, 20))
    y, y_test = X[:, :5].sum(axis=1) > 2.5, X_test[:, :5].sum(axis=1) > 2.5
    return X, y ^ (rng.random(2000) < 0.1), X_test, y_test


def contradicted(seed=0, n=200):
    """R94: a separable problem; the last row repeats one far from the border, mislabelled."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 3))
    y = (X.sum(axis=1) > 0).astype(int)
    far = int(np.argmax(X.sum(axis=1)))
    return np.vstack([X, X[far]]), np.append(y, 0)


def right_or_wrong(model, X, y):
    """+1 where a member is right, -1 where it is wrong: [member, row]."""
    return np.array([np.where(member.predict(X) == y, 1.0, -1.0) for member in model.estimators_])
