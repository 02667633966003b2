"""Which features matter, judged by the rows that each member left out.

Permutation (Breiman 2001, section 10): shuffle a feature among a member's left-out rows and see how
much worse the member becomes. Impurity, debiased ("MDI-oob" of Li, Wang, Basu, Kumbier & Yu 2019):
let left-out rows, not those that chose the splits, say what each split gained. It was preferred to
its relative, the estimator of Zhou & Hooker 2021, as it is linear in the left-out targets: a split
on noise gains zero in the mean. On the rows of the bag it is the ordinary importance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import Bunch, _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Columns: TypeAlias = tuple[int, ...]

Outputs: TypeAlias = Callable[[int, Any], Floats]
"""From a member and some rows to the member's outputs, (n_rows, n_outputs)."""
Score: TypeAlias = Callable[[Floats, Ints, Any], float]
"""From outputs, the rows' indices and the rows themselves to a number; larger is better."""


def permutation_drops(
    outputs: Outputs,
    score: Score,
    X: Any,
    left_out: Sequence[Ints],
    groups: Sequence[Columns],
    *,
    n_repeats: int = 1,
    seed: int = 0,
    n_threads: int = 1,
) -> Floats:
    """Measure how much each member loses when a feature is shuffled among its left-out rows.

    Parameters
    ----------
    outputs : callable
        ``outputs(member, rows)``; predictions of one member.
    score : callable
        ``score(outputs, indices, rows)``; larger is better.
    X : ndarray, sparse matrix or data frame
        The training rows.
    left_out : sequence of ndarray of int64
        The rows that each member left out.
    groups : sequence of tuple of int
        Columns that are shuffled together; one column for an ordinary importance.
    n_repeats : int
        How often each group is shuffled; a member's drop is the mean over them.
    seed : int
        An order is a function of (seed, member, columns, repeat) and of nothing else.
    n_threads : int
        Members looked at side by side.

    Returns
    -------
    ndarray of shape (n_groups, n_members)
        The drops; NaN for a member that left nothing out.
    """

    def drops(member: int) -> Floats:
        rows = left_out[member]
        out = np.full(len(groups), np.nan)
        if len(rows) == 0:
            return out
        part = take_rows(X, rows)
        intact = score(outputs(member, part), rows, part)
        for g, columns in enumerate(groups):
            rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(member, *columns)))
            shuffled = []
            for _ in range(n_repeats):
                with permuted(part, columns, rng.permutation(len(rows))) as changed:
                    shuffled.append(score(outputs(member, changed), rows, changed))
            out[g] = intact - np.mean(shuffled)
        return out

    members = range(len(left_out))
    if n_threads == 1:
        found = [drops(member) for member in members]
    else:
        run = Parallel(n_jobs=n_threads, prefer="threads")
        found = run(delayed(drops)(member) for member in members)
    return np.array(found).reshape(len(left_out), len(groups)).T


def take_rows(X: Any, rows: Ints) -> Any:
    """Copy some rows, in a layout whose columns :func:`permuted` can change in place."""
    if sparse.issparse(X):
        part = X.tocsr()[rows].tocsc()
        part.sort_indices()
        return part
    return X[rows] if isinstance(X, np.ndarray) else _safe_indexing(X, rows)


@contextmanager
def permuted(rows: Any, columns: Columns, order: Ints) -> Iterator[Any]:
    """Give ``rows`` with some columns in another order; arrays are changed in place and back."""
    if isinstance(rows, np.ndarray):
        kept = rows[:, list(columns)]
        rows[:, list(columns)] = kept[order]
        try:
            yield rows
        finally:
            rows[:, list(columns)] = kept
    elif sparse.issparse(rows):
        spans = [slice(*rows.indptr[column : column + 2]) for column in columns]
        stored = [(rows.indices[span].copy(), rows.data[span].copy()) for span in spans]
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        for span, (indices, data) in zip(spans, stored, strict=True):
            moved = place[indices]
            sort = np.argsort(moved)
            rows.indices[span], rows.data[span] = moved[sort], data[sort]
        try:
            yield rows
        finally:
            for span, (indices, data) in zip(spans, stored, strict=True):
                rows.indices[span], rows.data[span] = indices, data
    else:
        frame = nw.from_native(rows, eager_only=True)
        changed = [frame[frame.columns[column]][order.tolist()] for column in columns]
        yield frame.with_columns(changed).to_native()


def split_gains(
    left: Ints,
    right: Ints,
    feature: Ints,
    values: Floats,
    leaf: Ints,
    target: Floats,
    weight: Floats | None,
    n_features: int,
) -> Floats:
    """Add up per feature what the splits of one tree gain on rows that the tree has not seen.

    With v the value of a node on its bag, a split of node t gains, summed over left-out rows with
    target y that go on to child c, ``(y - m_t) (v_c - v_t)``. Summed over the rows of the bag that
    would be the decrease of the squared error (of the Gini impurity for class shares). m_t is the
    mean of y over the left-out rows in t. The paper has 0 in its place; with 0 or v_t, chance that
    put more of a bag on one side of a split goes to the credit of a feature with many values.

    Parameters
    ----------
    left, right : ndarray of shape (n_nodes,)
        The children of each node; a leaf has itself or -1.
    feature : ndarray of shape (n_nodes,)
        The feature of each split; anything for leaves.
    values : ndarray of shape (n_nodes, n_outputs)
        Means, or class shares, of the bag in each node.
    leaf : ndarray of shape (n_rows,)
        The leaf of each left-out row.
    target : ndarray of shape (n_rows, n_outputs)
        Numbers, or classes as indicators.
    weight : ndarray of shape (n_rows,) or None
        The weights of the rows.
    n_features : int
        The number of features.

    Returns
    -------
    ndarray of shape (n_features,)
        Gains per unit of left-out weight; NaN without left-out rows.
    """
    n_nodes, n_outputs = values.shape
    ones = np.ones(len(leaf)) if weight is None else weight
    if ones.sum() == 0:
        return np.full(n_features, np.nan)
    mass = np.bincount(leaf, weights=ones, minlength=n_nodes)
    sums = np.empty((n_nodes, n_outputs))
    for k in range(n_outputs):
        sums[:, k] = np.bincount(leaf, weights=ones * target[:, k], minlength=n_nodes)
    levels = list(_levels(left, right))
    for inner in reversed(levels):  # from the leaves up: a node holds what its children hold
        mass[inner] = mass[left[inner]] + mass[right[inner]]
        sums[inner] = sums[left[inner]] + sums[right[inner]]
    total = np.zeros(n_features)
    for inner in levels:
        mean = sums[inner] / np.where(mass[inner] > 0, mass[inner], 1)[:, None]
        gain = np.zeros(len(inner))
        for child in (left[inner], right[inner]):
            excess = sums[child] - mass[child, None] * mean
            gain += (excess * (values[child] - values[inner])).sum(axis=1)
        total += np.bincount(feature[inner], weights=gain, minlength=n_features)
    return np.asarray(total / mass[0])


def _levels(left: Ints, right: Ints) -> Iterator[Ints]:
    """Give the inner nodes level by level, from the root down."""
    nodes = np.zeros(1, dtype=np.int64)
    while True:
        inner = nodes[(left[nodes] != nodes) & (left[nodes] >= 0)]
        if len(inner) == 0:
            return
        yield inner
        nodes = np.concatenate([left[inner], right[inner]])


def summary(importances: Floats, features: Sequence[Any]) -> Bunch:
    """Lay out importances by member as scikit-learn lays out those by repeat.

    Parameters
    ----------
    importances : ndarray of shape (n_features, n_members)
        NaN for members that say nothing.
    features : sequence
        What each row is about: a name, an index, or a tuple of them.

    Returns
    -------
    Bunch
        ``importances``, their ``importances_mean`` and ``importances_std`` over the members, the
        standard error of the mean ``importances_se`` (NaN with fewer than two members), and
        ``features``.
    """
    known = ~np.isnan(importances)
    n = known.sum(axis=1)
    sums = np.where(known, importances, 0.0).sum(axis=1)
    mean = np.divide(sums, n, out=np.full(len(n), np.nan), where=n > 0)
    squares = (np.where(known, importances - mean[:, None], 0.0) ** 2).sum(axis=1)
    variance = np.divide(squares, n - 1, out=np.full(len(n), np.nan), where=n > 1)
    std = np.sqrt(variance)
    return Bunch(
        importances=importances,
        importances_mean=mean,
        importances_std=std,
        importances_se=std / np.sqrt(np.maximum(n, 1)),
        features=list(features),
    )
