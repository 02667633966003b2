"""Rules that combine ``outputs[member, row, output]``: median, trimmed mean, product, maximum.

Kittler, Hatef, Duin and Matas, "On combining classifiers" (1998), derive the rules for
probabilities: the product is right for members that err independently, and one member's zero is a
veto; the sum, which is the mean, bears errors best; maximum and median lie near the sum. In every
rule a member of weight k counts like k members of weight 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from committee.core.members import Floats
from committee.core.voting import mean, read_votes, vote_counts

Rule = Callable[[Floats, Any], Floats]


def median(outputs: Floats, weights: Any = None) -> Floats:
    """Find the weighted median of the members.

    Parameters
    ----------
    outputs : ndarray of shape (n_members, n_rows, n_outputs)
        What the members said.
    weights : array-like of shape (n_members,), optional
        Not negative; by default all alike.

    Returns
    -------
    ndarray of shape (n_rows, n_outputs)
        The number with half of the weight on either side; the mean of two where any between them
        would do.

    Examples
    --------
    >>> guesses = np.array([1.0, 2.0, 9.0]).reshape(3, 1, 1)
    >>> median(guesses).item(), median(guesses, [1, 1, 2]).item(), median(guesses, [2, 1, 5]).item()
    (2.0, 5.5, 9.0)
    """
    values, below = _sorted(outputs, weights)
    half = below[-1] / 2
    low = (below < half).sum(axis=0)  # the first whose weight reaches half
    high = (below <= half).sum(axis=0)  # the first whose weight exceeds half
    return np.asarray((_pick(values, low) + _pick(values, high)) / 2)


def trimmed_mean(outputs: Floats, weights: Any = None, *, trim: float = 0.1) -> Floats:
    """Average the members without the ``trim`` largest and smallest of the weight.

    Parameters
    ----------
    outputs : ndarray of shape (n_members, n_rows, n_outputs)
        What the members said.
    weights : array-like of shape (n_members,), optional
        Not negative; by default all alike.
    trim : float
        The share of the weight that is cut on either side, below 0.5. A member at the edge counts
        with the rest of its weight, so 0 is the mean, and close to 0.5 it is the median.

    Returns
    -------
    ndarray of shape (n_rows, n_outputs)
        The means.

    Examples
    --------
    >>> guesses = np.array([1.0, 2.0, 3.0, 90.0]).reshape(4, 1, 1)
    >>> [trimmed_mean(guesses, trim=trim).item() for trim in (0.0, 0.25, 0.375)]
    [24.0, 2.5, 2.5]
    """
    values, below = _sorted(outputs, weights)
    whole = below[-1]
    inside = np.clip(below, trim * whole, (1 - trim) * whole)
    kept = np.diff(inside, axis=0, prepend=(trim * whole)[None])
    total = np.zeros(outputs.shape[1:])
    for weight, value in zip(kept, values, strict=True):
        total += weight * value
    return np.asarray(total / kept.sum(axis=0))


def product(outputs: Floats, weights: Any = None) -> Floats:
    """Multiply probabilities: the weighted geometric mean, scaled to sum to 1.

    Parameters
    ----------
    outputs : ndarray of shape (n_members, n_rows, n_classes)
        Probabilities.
    weights : array-like of shape (n_members,), optional
        Not negative; by default all alike.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Shares. Where every class is given zero by some member, there is no product and the mean
        takes its place.

    Examples
    --------
    >>> product(np.array([[[0.5, 0.5]], [[0.9, 0.1]]])).round(2)
    array([[0.75, 0.25]])
    >>> product(np.array([[[0.0, 0.2, 0.8]], [[0.9, 0.1, 0.0]]]))
    array([[0., 1., 0.]])
    """
    votes = read_votes(weights, len(outputs))
    total, whole = np.zeros(outputs.shape[1:]), 0.0
    with np.errstate(divide="ignore"):
        for weight, output in zip(votes, outputs, strict=True):
            if weight > 0:  # a member without weight has no veto
                total += weight * np.log(output)
                whole += weight
    best = total.max(axis=1, keepdims=True)
    vetoed = np.isneginf(best[:, 0])
    shares = np.exp((total - np.where(vetoed[:, None], 0.0, best)) / whole)
    return _shares(shares, outputs, votes)


def maximum(outputs: Floats, weights: Any = None) -> Floats:
    """Take the largest probability that any member of some weight gives, scaled to sum to 1.

    Parameters
    ----------
    outputs : ndarray of shape (n_members, n_rows, n_classes)
        Probabilities.
    weights : array-like of shape (n_members,), optional
        Not negative. A maximum does not count members, so only zeros matter.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Shares.

    Examples
    --------
    >>> maximum(np.array([[[0.6, 0.4]], [[0.7, 0.3]], [[0.1, 0.9]]])).round(3)
    array([[0.437, 0.562]])
    """
    votes = read_votes(weights, len(outputs))
    return _shares(outputs[votes > 0].max(axis=0), outputs, votes)


def class_rule(voting: str, trim: float = 0.1) -> Rule:
    """Find the rule for class shares by its name; all but "hard" give shares that sum to 1.

    Parameters
    ----------
    voting : {"hard", "soft", "product", "max", "median", "trimmed_mean"}
        The name.
    trim : float
        For "trimmed_mean".

    Returns
    -------
    callable
        Of outputs and weights.
    """
    if voting in ("median", "trimmed_mean"):
        robust = number_rule(voting, trim)
        return lambda outputs, weights: _shares(robust(outputs, weights), outputs, weights)
    rules: dict[str, Rule] = {
        "hard": vote_counts,
        "soft": mean,
        "product": product,
        "max": maximum,
    }
    return rules[voting]


def number_rule(voting: str, trim: float = 0.1) -> Rule:
    """Find the rule for numbers by its name.

    Parameters
    ----------
    voting : {"mean", "median", "trimmed_mean"}
        The name.
    trim : float
        For "trimmed_mean".

    Returns
    -------
    callable
        Of outputs and weights.
    """
    trimmed = partial(trimmed_mean, trim=trim)
    rules: dict[str, Rule] = {"mean": mean, "median": median, "trimmed_mean": trimmed}
    return rules[voting]


def _shares(scores: Floats, outputs: Floats, weights: Any) -> Floats:
    """Scale rows to sum to 1; the mean takes the place of a row of zeros."""
    sums = scores.sum(axis=1, keepdims=True)
    empty = sums[:, 0] == 0
    if empty.any():
        scores = np.where(empty[:, None], mean(outputs, weights), scores)
        sums = np.where(empty[:, None], 1.0, sums)
    return np.asarray(scores / sums)


def _sorted(outputs: Floats, weights: Any) -> tuple[Floats, Floats]:
    """Sort the members of each row and output; give the weight up to and with each."""
    votes = read_votes(weights, len(outputs))
    kept = votes > 0
    order = np.argsort(outputs[kept], axis=0, kind="stable")
    values = np.take_along_axis(outputs[kept], order, axis=0)
    return values, np.cumsum(votes[kept][order], axis=0)


def _pick(values: Floats, place: Any) -> Floats:
    return np.asarray(np.take_along_axis(values, place[None], axis=0)[0])
