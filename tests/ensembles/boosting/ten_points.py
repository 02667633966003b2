"""The 10-point example of the lectures, and every stump there is on it."""

import numpy as np

X = np.array(
    [[8, 7], [6, 8], [7, 10], [1, 3], [2, 1], [3, 5], [5, 6], [4, 2], [10, 9], [9, 4]], dtype=float
)
y = np.array([1, 1, 1, 1, 1, 0, 0, 0, 0, 0])
signs = 2.0 * y - 1
# The published order of points: 1-3 are the first three, 4 and 5 the next two, then 6 to 10.
ERRORS = [{0, 1, 2}, {5, 6, 7}, {3, 4, 8}]  # of the three best stumps; point 10 is never missed


def all_stumps():
    """Give what every distinct stump says of the ten points: both polarities and the constants."""
    found = {}
    for column in X.T:
        cuts = np.sort(column)[:-1] + np.diff(np.sort(column)) / 2
        for cut in (-np.inf, *cuts):
            for sign in (1.0, -1.0):
                said = np.where(column > cut, sign, -sign)
                found[tuple(said)] = said
    return np.array(list(found.values()))
