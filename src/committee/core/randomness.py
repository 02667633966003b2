"""Seeds of members: a function of the committee's seed and the member's index, of nothing else.

Neither the worker that makes a member nor the members made before it have a part in its seed, so
that the same committee comes out in any order, on any number of workers, and grown in any
number of steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

Estimator = TypeVar("Estimator")


def member_seed(seed: int, member: int) -> int:
    """Seed a member with 32 bits, as scikit-learn's ``random_state`` takes them.

    Parameters
    ----------
    seed : int
        The committee's seed, not negative.
    member : int
        The member's index.

    Returns
    -------
    int
        In ``[0, 2**32)``.

    Examples
    --------
    >>> [member_seed(7, member) for member in range(3)]
    [1201125462, 3618983171, 3831650445]
    """
    return int(_sequence(seed, member).generate_state(1)[0])


def member_rng(seed: int, member: int) -> np.random.Generator:
    """Make the random generator of a member.

    Parameters
    ----------
    seed : int
        The committee's seed, not negative.
    member : int
        The member's index.

    Returns
    -------
    numpy.random.Generator
        A fresh one at each call.
    """
    return np.random.default_rng(_sequence(seed, member))


def seeded_clone(estimator: Estimator, seed: int, member: int) -> Estimator:
    """Clone an estimator and give every ``random_state`` in it a seed of the member's.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn estimator, perhaps a nest of them; left as it is.
    seed : int
        The committee's seed, not negative.
    member : int
        The member's index.

    Returns
    -------
    estimator
        The unfitted clone. An outermost ``random_state`` is :func:`member_seed`.
    """
    return _seeded(estimator, lambda count: _sequence(seed, member).generate_state(count))


def reseeded_clone(estimator: Estimator, rng: np.random.Generator) -> Estimator:
    """Clone an estimator and draw a seed for every ``random_state`` in it.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn estimator, perhaps a nest of them; left as it is.
    rng : numpy.random.Generator
        Drawn from once per seed.

    Returns
    -------
    estimator
        The unfitted clone.
    """
    return _seeded(estimator, lambda count: rng.integers(2**32, size=count))


def _seeded(estimator: Estimator, draw: Callable[[int], npt.NDArray[Any]]) -> Estimator:
    copy = clone(estimator)
    names = [name for name in copy.get_params() if f"__{name}".endswith("__random_state")]
    names.sort(key=lambda name: (name.count("__"), name))
    copy.set_params(**dict(zip(names, draw(len(names)).tolist(), strict=True)))
    return copy  # type: ignore[no-any-return]


def _sequence(seed: int, member: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=(member,))
