"""What a booster is given, read once: rows for its weak learner, targets, weights, who they are."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from committee.core.bags import repetitions
from committee.core.members import Floats
from committee.core.randomness import member_seed
from committee.data import InputError, read_classes, read_numbers, read_weights
from committee.data.errors import describe
from committee.ensembles.boosting.rows import BoostingRows, plain_rows, tree_rows
from committee.ensembles.boosting.weak_learners import grown_by_engine
from committee.ensembles.continuing import Origin

SPLIT = 2**32 - 1  # seeds the split; members have smaller numbers


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Rows that weigh something, with their targets.

    Attributes
    ----------
    rows : BoostingRows
        The rows.
    y : ndarray
        Class codes, or numbers.
    classes : ndarray or None
        The labels behind the codes; None for numbers.
    given : ndarray of float64
        The weights as the user gave them, ones by default.
    kept : ndarray of int or None
        Which of the user's rows these are; None where all.
    n_given : int
        How many rows the user gave.
    part : bool
        Whether this is one class against the rest, of several such problems.
    n_threads : int
        Threads that the fit may use.
    """

    rows: BoostingRows
    y: npt.NDArray[Any]
    classes: npt.NDArray[Any] | None
    given: Floats
    kept: npt.NDArray[np.intp] | None
    n_given: int
    part: bool = False
    n_threads: int = 1

    @property
    def distribution(self) -> Floats:
        """The weights as shares of their total, which float64 itself may not hold."""
        # The smallest weights may vanish beside the largest; a row that was given any has some.
        part = np.maximum(self.given / self.given.max(), np.finfo(np.float64).tiny)
        return np.asarray(part / part.sum())

    @property
    def size(self) -> int:
        """How many rows there are, where one of weight k stands for k rows."""
        units = repetitions(self.given)
        return self.rows.n_rows if units is None else int(units.sum())

    def origin(self, seed: int, n_threads: int) -> Origin:
        """Say what members are a function of, besides parameters and index."""
        target = np.ascontiguousarray(self.y, dtype=np.float64).reshape(len(self.y), -1)
        digest = hashlib.blake2b(self.distribution.tobytes(), digest_size=16).hexdigest()
        return Origin(self.rows.keys(target, n_threads), seed, digest)

    def against_rest(self, code: int) -> TrainingSet:
        """Make the two-class problem of one class against all others."""
        own = (self.y == code).astype(np.intp)
        return replace(self, y=own, classes=np.array([0, 1]), part=True)


def read_training(
    X: Any, y: Any, sample_weight: Any, *, base: Any, classifies: bool, n_threads: int, owner: str
) -> TrainingSet:
    """Read the training rows of a booster; those of weight 0 are left out.

    Parameters
    ----------
    X, y, sample_weight
        As the user gave them.
    base : estimator
        The weak learner, which decides how rows are kept.
    classifies : bool
        Whether ``y`` holds classes.
    n_threads : int
        Threads to bin with.
    owner : str
        The booster's class name, for messages.
    """
    n_rows = _num_samples(X) if hasattr(X, "__len__") or hasattr(X, "shape") else None
    weight = None if n_rows is None else read_weights(sample_weight, n_rows)
    if grown_by_engine(base):
        rows: BoostingRows = tree_rows(
            X, weight, base=base, n_threads=n_threads, estimator_name=owner
        )
    else:
        rows = plain_rows(X, weight)
    n_rows = rows.n_rows if n_rows is None else n_rows
    kept = None if weight is None or weight.all() else np.flatnonzero(weight)
    given = np.ones(n_rows) if weight is None else weight
    if classifies:
        labels = read_classes(y, n_rows, estimator_name=owner)
        targets: npt.NDArray[Any] = labels.codes[:, 0].astype(np.intp)
        classes: npt.NDArray[Any] | None = labels.classes[0]
    else:
        targets, classes = read_numbers(y, n_rows, estimator_name=owner)[:, 0], None
    if kept is not None:
        targets, given = targets[kept], given[kept]
    return TrainingSet(rows, targets, classes, given, kept, n_rows, n_threads=n_threads)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows to judge the committee by while it grows, as the user gave them."""

    X: Any
    y: Any
    weight: Floats | None = None


def split_off(
    X: Any, y: Any, sample_weight: Any, *, fraction: float, seed: int, classifies: bool
) -> tuple[Any, Any, Any, HeldOut]:
    """Hold some rows out; of every class its share where it has two rows or more."""
    n_rows = _num_samples(X)
    weight = read_weights(sample_weight, n_rows)
    held = rows_to_hold(y, weight, n_rows, fraction=fraction, seed=seed, classifies=classifies)
    kept = np.setdiff1d(np.arange(n_rows), held)
    part = None if weight is None else weight[held]
    out = HeldOut(_safe_indexing(X, held), _safe_indexing(y, held), part)
    rest = None if weight is None else weight[kept]
    return _safe_indexing(X, kept), _safe_indexing(y, kept), rest, out


def rows_to_hold(
    y: Any, weight: Floats | None, n_rows: int, *, fraction: float, seed: int, classifies: bool
) -> npt.NDArray[np.intp]:
    """Draw the rows to hold out, of those that weigh something; the same for the same seed."""
    from sklearn.model_selection import train_test_split  # slow to import

    rows = np.arange(n_rows) if weight is None else np.flatnonzero(weight)
    codes = read_classes(y, n_rows).codes[rows, 0] if classifies else None
    if codes is not None and np.unique(codes, return_counts=True)[1].min() < 2:
        codes = None
    try:
        _, held = train_test_split(
            rows, test_size=fraction, stratify=codes, random_state=member_seed(seed, SPLIT)
        )
    except ValueError as error:
        found = f"{len(rows)} row(s) cannot be split: {error}"
        fix = "more rows, another validation_fraction, or give fit X_val and y_val"
        raise InputError(describe("P-SPLIT", "validation_fraction", found, fix=fix)) from None
    return np.sort(held)
