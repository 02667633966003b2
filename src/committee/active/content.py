"""Rows by what they hold: keys that are equal for equal rows.

Draws and ties are decided by keys, so that neither the order of a pool nor its container matters,
and a row of the pool that was labelled before is recognised wherever it stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _num_samples

from committee.data import InputError
from committee.data.errors import describe
from committee.ensembles.any_rows import AnyRows

Keys: TypeAlias = npt.NDArray[np.uint64]


def row_keys(rows: AnyRows, n_threads: int = 1) -> Keys:
    """Hash what each row holds.

    Parameters
    ----------
    rows : AnyRows
        The rows.
    n_threads : int
        The keys do not depend on it.

    Returns
    -------
    ndarray of uint64
        Equal for equal rows, in any container and number format.
    """
    return rows.keys(np.zeros((rows.n_rows, 1)), n_threads)


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows to ask about, read once for many queries.

    Attributes
    ----------
    rows : AnyRows
        The rows.
    keys : ndarray of uint64
        What they hold.
    """

    rows: AnyRows
    keys: Keys

    @classmethod
    def read(cls, X: Any, n_threads: int = 1) -> Pool:
        """Read rows; a pool that was read before is itself.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
            The rows.
        n_threads : int
            For large pools.

        Returns
        -------
        Pool
            The rows and their keys.
        """
        if isinstance(X, Pool):
            return X
        if _num_samples(X) == 0:
            raise empty_pool("it has no rows")
        rows = AnyRows.read(X)
        return cls(rows, row_keys(rows, n_threads))

    @property
    def X(self) -> Any:
        """The rows in their container."""
        return self.rows.X

    def __len__(self) -> int:
        return self.rows.n_rows


def empty_pool(why: str) -> InputError:
    """Compose the error for a pool without a row to ask about."""
    fix = "pass rows without a label; where there are none, all is labelled"
    return InputError(describe("Q-POOL", "pool", f"the pool is empty: {why}", fix=fix))


def shuffled(keys: Keys, seed: int) -> Keys:
    """Give each key a random number of its own, by splitmix64 (Steele, Lea and Flood 2014)."""
    start = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    with np.errstate(over="ignore"):
        z = (keys ^ start) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)), dtype=np.uint64)
