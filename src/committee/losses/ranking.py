"""Learning to rank: the order of rows within a query is all that counts.

RankNet (Burges et al., "Learning to rank using gradient descent", 2005) has a logistic loss for
each pair of documents of different relevance. LambdaRank and LambdaMART (Burges, "From RankNet to
LambdaRank to LambdaMART", 2010) weigh each pair by the NDCG that swapping the two would change,
which moves the effort to the top of the list. NDCG (Järvelin and Kekäläinen 2002) is a step
function of the scores, so what LambdaMART follows is the gradient of no function: its value is
1 - NDCG.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from committee import _engine
from committee.core.params import invalid
from committee.data.errors import InputError, describe, rows_text
from committee.data.groups import Groups, read_queries
from committee.losses.loss import LONGEST_STEP, Loss

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

GAINS = ("exponential", "linear")
MOST_RELEVANT = {"exponential": 31, "linear": 1e150}  # the bounds of the engine


@dataclass(frozen=True, eq=False)
class Queries:
    """Where the rows of each query are: what a bound loss knows beside its parameters."""

    begin: Ints
    order: Ints | None
    n_threads: int
    weight: Floats | None = None  # of each query

    def sort(self, values: Floats) -> Floats:
        """Bring the rows of a query side by side."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        expected = (int(self.begin[-1]),)
        if values.shape != expected:
            found = f"the groups have {expected[0]} rows, y or the scores have shape {values.shape}"
            raise InputError(describe("G-SHAPE", "groups", found, allowed="the same rows in all"))
        return values if self.order is None else values[self.order]

    def unsort(self, values: Floats) -> Floats:
        """Bring results back to the order that the rows came in."""
        if self.order is None:
            return values
        out = np.empty_like(values)
        out[self.order] = values
        return out


@dataclass(frozen=True, kw_only=True)
class RankingLoss(Loss):
    """What the ranking losses share: a steepness, and queries to be bound to."""

    sigmoid: float = 1.0
    queries: Queries | None = field(default=None, repr=False, compare=False)

    separable = False  # a row's loss depends on the scores of all rows of its query

    def __post_init__(self) -> None:
        if not _is_positive(self.sigmoid):
            raise invalid("sigmoid", type(self).__name__, "a number above 0", self.sigmoid)
        object.__setattr__(self, "longest_step", LONGEST_STEP / self.sigmoid)

    def with_groups(
        self,
        begin: npt.ArrayLike,
        order: npt.ArrayLike | None = None,
        *,
        weight: npt.ArrayLike | None = None,
        n_threads: int = 1,
    ) -> Self:
        """Return a copy that knows which rows belong to one query.

        Parameters
        ----------
        begin : array-like of int, shape (n_groups + 1,)
            Group g has the rows ``begin[g]`` to ``begin[g + 1] - 1``.
        order : array-like of int, shape (n_rows,), or None
            Where the rows do not lie together: group g has the rows
            ``order[begin[g]:begin[g + 1]]``, as :class:`~committee.data.groups.Groups` says it.
        weight : array-like of float, shape (n_groups,), or None
            What each group counts; the booster gives the weight of a group to all its rows, which
            is as good as a factor on all its pairs. Values scale by it, derivatives do not.
        n_threads : int, default=1
            Threads to use; results are the same bits for any number.

        Returns
        -------
        RankingLoss
            The bound copy; its methods take rows of these groups only.
        """
        offsets = np.ascontiguousarray(begin, dtype=np.int64)
        if offsets.ndim != 1 or not len(offsets) or offsets[0] != 0 or (np.diff(offsets) < 0).any():
            allowed = "offsets that rise from 0 to the number of rows"
            raise InputError(describe("G-SHAPE", "begin", f"got {begin!r}", allowed=allowed))
        rows = None if order is None else np.ascontiguousarray(order, dtype=np.int64)
        if rows is not None:
            in_place = np.arange(offsets[-1])
            if rows.shape != in_place.shape or (np.sort(rows) != in_place).any():
                allowed = "each row number once, as many as begin says"
                raise InputError(describe("G-SHAPE", "order", f"got {order!r}", allowed=allowed))
            rows = None if (rows == in_place).all() else rows
        weights = None if weight is None else np.array(weight, dtype=np.float64)
        if weights is not None and weights.shape != (len(offsets) - 1,):
            found = f"of shape {weights.shape} for {len(offsets) - 1} group(s)"
            raise InputError(describe("W-LENGTH", "weight", found, allowed="one for each group"))
        return replace(self, queries=Queries(offsets, rows, n_threads, weights))

    def bound(self) -> Queries:
        """Return the queries; an error where there are none yet."""
        if self.queries is None:
            raise InputError(
                describe(
                    "G-SHAPE",
                    "groups",
                    f"{type(self).__name__} does not know which rows belong to one query",
                    fix="loss.with_groups(begin)",
                )
            )
        return self.queries

    def start(self, y: Floats, weight: Floats) -> Floats:
        """Start from 0: only differences of scores count."""
        return np.zeros(1)

    def predict(self, raw: Floats) -> Floats:
        """Return the scores: higher is better, and their scale has no further meaning."""
        return raw


@dataclass(frozen=True, kw_only=True)
class LambdaMART(RankingLoss):
    """LambdaMART: pairs of documents, each weighed by what its swap would change of NDCG.

    With the options of LightGBM's ``lambdarank``, of which it is the same formula (there with a
    table for the sigmoid). Equal scores rank in the order of rows.

    Parameters
    ----------
    k : int or None, default=None
        Only pairs with a document among the first ``k`` count, and NDCG is relative to the best
        DCG@k (LightGBM: ``lambdarank_truncation_level``). Discounts go on beyond ``k``, so that a
        document is drawn up from any depth. None: all pairs.
    normalize : bool, default=True
        Divide the weight of a pair by .01 + the distance of its scores, and multiply all of a
        group by ``log2(1 + S) / S``, where S is the sum of its absolute lambdas: groups with many
        pairs weigh less (LightGBM: ``lambdarank_norm``).
    gain : {"exponential", "linear"}, default="exponential"
        What a document of relevance r is worth: ``2**r - 1`` or r.
    sigmoid : float, default=1.0
        Steepness of the logistic function of a difference of scores.
    queries : Queries or None
        Filled by :meth:`with_groups`.

    Examples
    --------
    Three documents of one query, the relevant one last:

    >>> import numpy as np
    >>> from committee.losses.ranking import LambdaMART
    >>> loss = LambdaMART(normalize=False).with_groups([0, 3])
    >>> y, raw = np.array([0.0, 0.0, 1.0]), np.zeros(3)
    >>> gradient, hessian = loss.gradient_hessian(y, raw)
    >>> gradient.round(4)
    array([ 0.25  ,  0.0655, -0.3155])
    >>> loss.value(y, raw).round(4)  # 1 - NDCG
    array([0.5, 0.5, 0.5])
    """

    k: int | None = None
    normalize: bool = True
    gain: str = "exponential"

    exact_hessian = False  # the weights of the pairs are taken as fixed

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_ndcg(self.k, self.gain, type(self).__name__)

    def check_target(self, y: Floats) -> None:
        """Refuse negative relevances, and those too large for their gain to be a number of use."""
        most = MOST_RELEVANT[self.gain]
        bad = np.flatnonzero(~((y >= 0) & (y <= most)))
        if len(bad):
            larger = self.gain == "exponential" and (y[bad] >= 0).all()
            raise InputError(
                describe(
                    "Y-RELEVANCE",
                    "y",
                    f"{rows_text(bad, len(bad))}, first value {y[bad[0]]:.6g}",
                    allowed=f"0 to {most:g}, more is better",
                    fix="use gain='linear'" if larger else "shift or rescale y to start at 0",
                )
            )

    def value(self, y: Floats, raw: Floats) -> Floats:
        """Return 1 - NDCG@k of each row's group, scaled so that the mean counts groups alike.

        The mean over rows, by the weights of their groups, is the mean over groups, by the same
        weights, of 1 - NDCG@k. It is a step function: its slope is not the gradient.
        """
        queries = self.bound()
        lost = 1.0 - _engine.ndcg(
            queries.sort(raw),
            queries.sort(y),
            queries.begin,
            k=self.k,
            linear=self.gain == "linear",
            n_threads=queries.n_threads,
        )
        sizes = np.diff(queries.begin)
        mass = (sizes > 0) * (1.0 if queries.weight is None else queries.weight)
        share = (mass * sizes).sum() / (mass.sum() * np.maximum(sizes, 1))
        return queries.unsort(np.repeat(lost * share, sizes))

    def gradient_hessian(self, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
        """Return the lambdas, and the hessian with the weights of the pairs held fixed."""
        queries = self.bound()
        gradient, hessian = _engine.lambda_gradients(
            queries.sort(raw),
            queries.sort(y),
            queries.begin,
            k=self.k,
            linear=self.gain == "linear",
            sigmoid=float(self.sigmoid),
            normalize=bool(self.normalize),
            n_threads=queries.n_threads,
        )
        return queries.unsort(gradient), queries.unsort(hessian)


@dataclass(frozen=True, kw_only=True)
class Pairwise(RankingLoss):
    """RankNet: the logistic loss of each pair of documents of different relevance.

    Only the order of relevances counts, so y may be any numbers. Groups weigh by their pairs.

    Parameters
    ----------
    sigmoid : float, default=1.0
        Steepness of the logistic function of a difference of scores.
    queries : Queries or None
        Filled by :meth:`with_groups`.

    Examples
    --------
    >>> import numpy as np
    >>> from committee.losses.ranking import Pairwise
    >>> loss = Pairwise().with_groups([0, 3])
    >>> y, raw = np.array([0.0, 0.0, 1.0]), np.zeros(3)
    >>> gradient, hessian = loss.gradient_hessian(y, raw)
    >>> gradient
    array([ 0.5,  0.5, -1. ])
    >>> round(float(loss.value(y, raw).sum()), 4)  # two pairs, log 2 each
    1.3863
    """

    def value(self, y: Floats, raw: Floats) -> Floats:
        """Return half the loss of all pairs of each row: the sum over rows is that over pairs."""
        queries = self.bound()
        values = _engine.pairwise_values(
            queries.sort(raw),
            queries.sort(y),
            queries.begin,
            sigmoid=float(self.sigmoid),
            n_threads=queries.n_threads,
        )
        return queries.unsort(values)

    def gradient_hessian(self, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
        """Differentiate the sum of all values by each score, once and twice."""
        queries = self.bound()
        gradient, hessian = _engine.pairwise_gradients(
            queries.sort(raw),
            queries.sort(y),
            queries.begin,
            sigmoid=float(self.sigmoid),
            n_threads=queries.n_threads,
        )
        return queries.unsort(gradient), queries.unsort(hessian)


def ndcg(
    scores: npt.ArrayLike,
    y: npt.ArrayLike,
    groups: Any,
    k: int | None = None,
    *,
    gain: str = "exponential",
    n_threads: int = 1,
) -> Floats:
    """Measure NDCG@k of each group.

    Discounts are ``1 / log2(2 + position)``. Equal scores rank in the order of rows
    (scikit-learn's ``ndcg_score`` takes the mean over their orders, and linear gains). A group in
    which no document has a gain counts 1, as in LightGBM.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        Higher is better; finite.
    y : array-like of shape (n_rows,)
        Relevances >= 0.
    groups : array-like of shape (n_rows,) or Groups
        The query of each row; rows need not be sorted.
    k : int or None, default=None
        How many documents of each list count. None: all.
    gain : {"exponential", "linear"}, default="exponential"
        What a document of relevance r is worth: ``2**r - 1`` or r.
    n_threads : int, default=1
        Threads to use.

    Returns
    -------
    ndarray of float64, shape (n_groups,)
        In the order in which the groups first appear.

    Examples
    --------
    >>> from committee.losses.ranking import ndcg
    >>> ndcg([3, 2, 1, 5, 4], [0, 1, 2, 2, 0], ["a", "a", "a", "b", "b"]).round(4)
    array([0.5869, 1.    ])
    """
    _check_ndcg(k, gain, "ndcg")
    known = groups if isinstance(groups, Groups) else read_queries(groups, np.size(y))
    queries = Queries(known.begin, known.order, n_threads)
    raw, relevance = (queries.sort(np.asarray(v, dtype=np.float64)) for v in (scores, y))
    linear = gain == "linear"
    return _engine.ndcg(raw, relevance, known.begin, k=k, linear=linear, n_threads=n_threads)


def _check_ndcg(k: int | None, gain: str, owner: str) -> None:
    whole = isinstance(k, Integral) and not isinstance(k, bool)
    if k is not None and not (whole and int(k) >= 1):
        raise invalid("k", owner, "an int >= 1 or None", k)
    if gain not in GAINS:
        raise invalid("gain", owner, "'exponential' or 'linear'", gain)


def _is_positive(value: Any) -> bool:
    number = isinstance(value, Real) and not isinstance(value, bool)
    return number and 0 < float(value) < np.inf
