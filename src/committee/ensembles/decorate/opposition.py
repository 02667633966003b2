"""Labels that oppose the committee: the less it believes in a class, the likelier the label."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from committee.core.members import Floats

FLOOR = 1e-12  # stands for a probability of 0: such classes share nearly all of the labels evenly


def oppose(
    shares: Floats, possible: npt.NDArray[np.bool_], uniform: Floats
) -> npt.NDArray[np.intp]:
    """Draw a class for each row with chances inversely proportional to its probabilities.

    Parameters
    ----------
    shares : ndarray of shape (n_rows, n_classes)
        Class probabilities of the committee.
    possible : ndarray of bool, shape (n_classes,)
        The classes that training rows have. A class that none has would be at 0 everywhere and
        take all labels; it is never drawn.
    uniform : ndarray of shape (n_rows,)
        A uniform random number in [0, 1) for each row.

    Returns
    -------
    ndarray of int, shape (n_rows,)
        Codes of classes.

    Examples
    --------
    >>> shares = np.array([[0.25, 0.75, 0.0], [0.25, 0.75, 0.0]])
    >>> oppose(shares, np.array([True, True, False]), np.array([0.74, 0.76])).tolist()
    [0, 1]
    >>> oppose(shares, np.array([True, True, True]), np.array([0.1, 0.9])).tolist()
    [2, 2]
    """
    chance = np.where(possible, 1.0 / np.maximum(shares, FLOOR), 0.0)
    ends = np.cumsum(chance, axis=1)
    codes = (uniform[:, None] * ends[:, -1:] >= ends).sum(axis=1)
    drawn: npt.NDArray[np.intp] = np.minimum(codes, int(np.flatnonzero(possible)[-1]))
    return drawn
