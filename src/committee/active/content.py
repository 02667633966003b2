"""Rows by what they hold: keys that are equal for equal rows, and rows put behind others.

Draws and ties are decided by keys, so that neither the order of a pool nor its container matters,
and a row of the pool that was labelled before is recognised wherever it stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import _num_samples

from committee.data import InputError
from committee.data.arrays import as_matrix
from committee.data.errors import class_name, describe
from committee.data.frames import open_frame
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


def stacked(known: Any, more: Any) -> Any:
    """Put rows behind others of the same kind.

    Parameters
    ----------
    known, more : ndarray, sparse matrix or data frame
        As :class:`AnyRows` keeps them.

    Returns
    -------
    ndarray, csr matrix or frame
        All rows, in order.
    """
    if sparse.issparse(known) or sparse.issparse(more):
        if known.shape[1] != more.shape[1]:
            raise _unlike(f"{more.shape[1]} columns, those before have {known.shape[1]}")
        return sparse.vstack([sparse.csr_matrix(known), sparse.csr_matrix(more)], format="csr")
    frames = open_frame(known), open_frame(more)
    if frames[0] is None and frames[1] is None:
        first, second = as_matrix(known), as_matrix(more)
        if first.shape[1] != second.shape[1]:
            raise _unlike(f"{second.shape[1]} columns, those before have {first.shape[1]}")
        return np.concatenate([first, second])
    if frames[0] is None or frames[1] is None or type(known) is not type(more):
        raise _unlike(f"{class_name(more)}, those before are {class_name(known)}")
    if list(frames[0].columns) != list(frames[1].columns):
        raise _unlike(f"columns {frames[1].columns}, those before have {frames[0].columns}")
    return _stacked_frames(frames[0], frames[1])


def _stacked_frames(known: nw.DataFrame[Any], more: nw.DataFrame[Any]) -> Any:
    """Concatenate frames; categories become the union of both, so that levels stay levels."""
    if known.implementation.is_pandas():
        return _stacked_pandas(known.to_native(), more.to_native())
    return nw.concat([known, more], how="vertical").to_native()


def _stacked_pandas(known: Any, more: Any) -> Any:
    import pandas as pd

    columns = {}
    for name in known.columns:
        first, second = known[name], more[name]
        kinds = [isinstance(part.dtype, pd.CategoricalDtype) for part in (first, second)]
        if any(kinds) and first.dtype != second.dtype:
            if not all(kinds):
                raise _unlike(f"column {name!r} of {second.dtype}, before {first.dtype}")
            columns[name] = pd.api.types.union_categoricals([first, second], ignore_order=True)
        else:
            columns[name] = pd.concat([first, second], ignore_index=True).array
    return pd.DataFrame(columns)


def _unlike(found: str) -> InputError:
    fix = "teach rows of the same kind and columns as those of fit"
    return InputError(describe("Q-ROWS", "X", f"the rows have {found}", fix=fix))
