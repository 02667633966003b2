"""Newton's leaves and gains with both penalties, from their definitions (Chen and Guestrin 2016).

A leaf minimises G w + (H + l2) w² / 2 + l1 |w|. Its value is found here by looking at the three
pieces of that function, and its score as minus twice the minimum: nothing is thresholded.
"""

import numpy as np


def objective(w, g, h, l1, l2):
    return g.sum() * w + (h.sum() + l2) * w**2 / 2 + l1 * abs(w)


def leaf(g, h, l1=0.0, l2=0.0):
    """The best w: at the kink, or where one of the two branches is flat, if that lies on it."""
    curve = h.sum() + l2
    places = [0.0]
    if curve > 0:
        positive, negative = -(g.sum() + l1) / curve, -(g.sum() - l1) / curve
        places += [max(positive, 0.0), min(negative, 0.0)]
    return min(places, key=lambda w: objective(w, g, h, l1, l2))


def score(g, h, l1=0.0, l2=0.0):
    return -2 * objective(leaf(g, h, l1, l2), g, h, l1, l2)


def gain(g, h, left, l1=0.0, l2=0.0):
    left = np.asarray(left)
    sides = [score(g[side], h[side], l1, l2) for side in (left, ~left)]
    return sum(sides) - score(g, h, l1, l2)
