"""What a majority of independent voters can do (Condorcet 1785; Hansen & Salamon 1990).

Better than chance, each by itself, and independent: then the majority's error falls to 0 with the
number of voters. Both conditions are needed; ``diversity`` measures how far the second fails.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from committee.core.params import integer, invalid
from committee.data import InputError
from committee.data.errors import describe


def majority_error(error: Any, n_voters: int | None = None) -> float:
    """Compute the error of a majority of independent voters on a two-class question.

    Parameters
    ----------
    error : float or array-like of shape (n_voters,)
        The chance that a voter is wrong: of all voters, or of each.
    n_voters : int or None
        The number of voters when they all have the same ``error``.

    Returns
    -------
    float
        The chance that more than half are wrong, plus half of the chance of a tie.

    Examples
    --------
    >>> [round(majority_error(0.3, n), 4) for n in (1, 3, 5, 11, 21)]
    [0.3, 0.216, 0.1631, 0.0782, 0.0264]
    >>> round(majority_error([0.1, 0.2, 0.3]), 3)
    0.098
    """
    errors = np.asarray(error, dtype=np.float64)
    if errors.ndim > 1 or errors.size == 0 or not ((errors >= 0) & (errors <= 1)).all():
        found = f"{error!r}"
        allowed = "a probability in [0, 1], or one per voter"
        raise InputError(describe("P-VALUE", "error", found, allowed=allowed))
    if errors.ndim == 0:
        if n_voters is None or not integer(1).is_satisfied_by(n_voters):
            raise invalid("n_voters", "majority_error", "an int in the range [1, inf)", n_voters)
        half = n_voters // 2
        more = float(special.bdtrc(half, n_voters, float(errors)))  # P(more than half are wrong)
        return more + _tie(half, float(errors)) / 2 if n_voters % 2 == 0 else more
    if n_voters not in (None, len(errors)):
        raise invalid("n_voters", "majority_error", f"None or {len(errors)}", n_voters)
    chances = np.ones(1)  # chances[k]: that k of the voters so far are wrong
    for chance in errors:
        chances = np.convolve(chances, [1 - chance, chance])
    lead = 2 * np.arange(len(chances)) - len(errors)  # wrong votes less right ones
    return float(chances[lead > 0].sum() + chances[lead == 0].sum() / 2)


def _tie(half: int, error: float) -> float:
    """Compute the chance that exactly ``half`` of ``2 * half`` voters are wrong."""
    ways = special.gammaln(2 * half + 1) - 2 * special.gammaln(half + 1)
    return float(np.exp(ways + special.xlogy(half, error * (1 - error))))
