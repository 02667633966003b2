"""Seeds of members: a function of the committee's seed and the member's index, of nothing else.

Neither the worker that makes a member nor the members made before it have a part in its seed, so
that the same committee comes out in any order, on any number of workers, and grown in any
number of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

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


def fill_seeds(estimator: Estimator, seed: int, member: int) -> Estimator:
    """Clone an estimator and give every ``random_state`` in it that is None a seed of the member's.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn estimator, perhaps a nest of them; left as it is. What is frozen stays the
        same object.
    seed : int
        The committee's seed, not negative.
    member : int
        The member's index.

    Returns
    -------
    estimator
        The unfitted clone, with the seeds it was given.
    """
    copy = clone(estimator)
    params = {} if isinstance(copy, FrozenEstimator) else copy.get_params()
    frozen = [f"{name}__" for name, value in params.items() if isinstance(value, FrozenEstimator)]
    names = [name for name in _seeds_in(params) if not name.startswith(tuple(frozen))]
    drawn = zip(names, _sequence(seed, member).generate_state(len(names)).tolist(), strict=True)
    filled = {name: number for name, number in drawn if params[name] is None}
    return copy.set_params(**filled) if filled else copy  # type: ignore[no-any-return]


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
    names = _seeds_in(copy.get_params())
    copy.set_params(**dict(zip(names, draw(len(names)).tolist(), strict=True)))
    return copy  # type: ignore[no-any-return]


def _seeds_in(params: Mapping[str, Any]) -> list[str]:
    """Name the parameters that are seeds, outermost first."""
    names = [name for name in params if f"__{name}".endswith("__random_state")]
    return sorted(names, key=lambda name: (name.count("__"), name))


def _sequence(seed: int, member: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=(member,))
