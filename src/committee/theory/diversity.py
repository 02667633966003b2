"""How differently the members of a committee decide: pairwise and overall measures.

Kuncheva & Whitaker 2003 compare them; kappa is Margineantu & Dietterich's 1997. Two members are
compared on the rows where both have a say, so that out-of-bag labels (NaN where a member saw the
row) are measured honestly. Without such rows, or where a measure is 0 / 0, it is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from committee.theory.decomposition import code_labels, read_predictions
from committee.theory.replicates import Array, Floats

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Pairwise:
    """A measure of every pair of members.

    Attributes
    ----------
    matrix : ndarray of float64, shape (n_members, n_members)
        Symmetric; the diagonal compares a member with itself.
    """

    matrix: Floats

    @property
    def mean(self) -> float:
        """The mean over pairs of different members, without those that are NaN."""
        return _known_mean(self.matrix[np.triu_indices(len(self.matrix), 1)])

    def __float__(self) -> float:
        return self.mean


@dataclass(frozen=True, eq=False)
class Votes:
    """Labels [member, row] as codes, NaN where a member has no say, beside the true ones."""

    codes: Floats
    truth: Floats
    classes: Array

    @classmethod
    def of(cls, labels: Any, y: Any) -> Votes:
        """Check and code labels and y."""
        return cls(*code_labels(read_predictions(labels, "labels"), y))

    @cached_property
    def said(self) -> Floats:
        """1.0 where a member has a say."""
        return (~np.isnan(self.codes)).astype(np.float64)

    @cached_property
    def right(self) -> Floats:
        """1.0 where a member is right."""
        return np.asarray(self.codes == self.truth, dtype=np.float64)

    @cached_property
    def hits(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Per pair the rows where both are right, one, the other, none: N11, N10, N01, N00."""
        right, wrong = self.right, self.said - self.right
        return right @ right.T, right @ wrong.T, wrong @ right.T, wrong @ wrong.T


def _known_mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _pairwise(above: Floats, below: Floats) -> Pairwise:
    return Pairwise(np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0))


def disagreement(labels: Any, y: Any) -> Pairwise:
    """Measure the share of rows of which exactly one of two members is right; 0: they never differ.

    Parameters
    ----------
    labels : array-like of shape (n_members, n_rows)
        What each member says; NaN or None where it has no say.
    y : array-like of shape (n_rows,)
        The true labels.

    Returns
    -------
    Pairwise
        (N10 + N01) / N for each pair.

    Examples
    --------
    >>> disagreement([[0, 0, 1, 1], [0, 1, 1, 1]], [0, 0, 1, 0]).mean
    0.25
    """
    return _disagreement(Votes.of(labels, y))


def _disagreement(votes: Votes) -> Pairwise:
    n11, n10, n01, n00 = votes.hits
    return _pairwise(n10 + n01, n11 + n10 + n01 + n00)


def q_statistic(labels: Any, y: Any) -> Pairwise:
    """Measure Yule's Q: 0 for independent members, below 0 when they err on different rows.

    Parameters
    ----------
    labels, y
        As in :func:`disagreement`.

    Returns
    -------
    Pairwise
        (N11 N00 - N10 N01) / (N11 N00 + N10 N01) for each pair.

    Examples
    --------
    >>> q_statistic([[0, 0, 1, 1], [0, 1, 1, 1]], [0, 0, 1, 0]).mean
    1.0
    """
    return _q_statistic(Votes.of(labels, y))


def _q_statistic(votes: Votes) -> Pairwise:
    n11, n10, n01, n00 = votes.hits
    return _pairwise(n11 * n00 - n10 * n01, n11 * n00 + n10 * n01)


def correlation(labels: Any, y: Any) -> Pairwise:
    """Measure the correlation of being right: 0 for independent members.

    Parameters
    ----------
    labels, y
        As in :func:`disagreement`.

    Returns
    -------
    Pairwise
        (N11 N00 - N10 N01) / sqrt((N11 + N10)(N01 + N00)(N11 + N01)(N10 + N00)) for each pair.

    Examples
    --------
    >>> round(correlation([[0, 0, 1, 1], [0, 1, 1, 1]], [0, 0, 1, 0]).mean, 4)
    0.5774
    """
    return _correlation(Votes.of(labels, y))


def _correlation(votes: Votes) -> Pairwise:
    n11, n10, n01, n00 = votes.hits
    product = (n11 + n10) * (n01 + n00) * (n11 + n01) * (n10 + n00)
    return _pairwise(n11 * n00 - n10 * n01, np.sqrt(product))


def double_fault(labels: Any, y: Any) -> Pairwise:
    """Measure the share of rows of which both members are wrong.

    Parameters
    ----------
    labels, y
        As in :func:`disagreement`.

    Returns
    -------
    Pairwise
        N00 / N for each pair.

    Examples
    --------
    >>> double_fault([[0, 0, 1, 1], [0, 1, 1, 1]], [0, 0, 1, 0]).mean
    0.25
    """
    return _double_fault(Votes.of(labels, y))


def _double_fault(votes: Votes) -> Pairwise:
    n11, n10, n01, n00 = votes.hits
    return _pairwise(n00, n11 + n10 + n01 + n00)


def kappa(labels: Any, y: Any) -> Pairwise:
    """Measure the agreement of labels beyond chance: 1 for equal members, 0 for unrelated ones.

    Parameters
    ----------
    labels, y
        As in :func:`disagreement`; y only tells the labels' kind.

    Returns
    -------
    Pairwise
        (share of equal labels - that expected by chance) / (1 - that), Cohen's kappa, per pair.

    Examples
    --------
    >>> kappa([[0, 0, 1, 1], [0, 1, 1, 1]], [0, 0, 1, 0]).mean
    0.5
    """
    return _kappa(Votes.of(labels, y))


def _kappa(votes: Votes) -> Pairwise:
    said = votes.said
    both = said @ said.T
    equal, chance = np.zeros_like(both), np.zeros_like(both)
    for code in range(len(votes.classes)):
        chosen = (votes.codes == code).astype(np.float64)
        equal += chosen @ chosen.T
        chance += (chosen @ said.T) * (said @ chosen.T)  # each member's count on the shared rows
    return _pairwise(both * equal - chance, both**2 - chance)


def entropy(labels: Any, y: Any) -> float:
    """Measure how evenly the members split into right and wrong; 1: in halves, on every row.

    Parameters
    ----------
    labels, y
        As in :func:`disagreement`.

    Returns
    -------
    float
        The mean over rows of min(l, K - l) / (K - ceil(K / 2)) with l of K members right, over the
        rows with K >= 2.

    Examples
    --------
    >>> entropy([[0, 0, 1, 1], [0, 1, 1, 1]], [0, 0, 1, 0])
    0.25
    """
    return _entropy(Votes.of(labels, y))


def _entropy(votes: Votes) -> float:
    right, count = votes.right.sum(axis=0), votes.said.sum(axis=0)
    rows = count >= 2
    split = np.minimum(right, count - right)[rows] / (count - np.ceil(count / 2))[rows]
    return _known_mean(split)


def kohavi_wolpert_variance(labels: Any, y: Any) -> float:
    """Measure the variance of being right: (K - 1) / (2 K) times the mean disagreement.

    Parameters
    ----------
    labels, y
        As in :func:`disagreement`.

    Returns
    -------
    float
        The mean over rows of l (K - l) / K² with l of K members right, over the rows with K >= 1.

    Examples
    --------
    >>> kohavi_wolpert_variance([[0, 0, 1, 1], [0, 1, 1, 1]], [0, 0, 1, 0])
    0.0625
    """
    return _kohavi_wolpert_variance(Votes.of(labels, y))


def _kohavi_wolpert_variance(votes: Votes) -> float:
    right, count = votes.right.sum(axis=0), votes.said.sum(axis=0)
    rows = count >= 1
    spread = (right * (count - right))[rows] / count[rows] ** 2
    return _known_mean(spread)


@dataclass(frozen=True, eq=False)
class Diversity:
    """All measures of one committee, and the errors beside which they must be read.

    Attributes
    ----------
    disagreement, q_statistic, kappa, double_fault, correlation : Pairwise
        The pairwise measures.
    entropy, kohavi_wolpert_variance : float
        The measures of the whole committee.
    member_error : ndarray of float64, shape (n_members,)
        The share of wrong labels of each member, of the rows where it has a say.
    """

    disagreement: Pairwise
    q_statistic: Pairwise
    kappa: Pairwise
    double_fault: Pairwise
    correlation: Pairwise
    entropy: float
    kohavi_wolpert_variance: float
    member_error: Floats

    @property
    def overall(self) -> dict[str, float]:
        """The measures by name, pairwise ones by their mean."""
        names = ("disagreement", "q_statistic", "kappa", "double_fault", "correlation")
        return {name: getattr(self, name).mean for name in names} | {
            "entropy": self.entropy,
            "kohavi_wolpert_variance": self.kohavi_wolpert_variance,
            "member_error": _known_mean(self.member_error),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the pairwise measures as a data frame of pandas, one row per pair."""
        import pandas as pd

        first, second = np.triu_indices(len(self.member_error), 1)
        names = ("disagreement", "q_statistic", "kappa", "double_fault", "correlation")
        columns = {name: getattr(self, name).matrix[first, second] for name in names}
        return pd.DataFrame({"first": first, "second": second, **columns})

    def __str__(self) -> str:
        lines = [f"Diversity of {len(self.member_error)} members"]
        for name, value in self.overall.items():
            lines.append(f"  {name.replace('_', ' '):<26}{value:>9.4f}")
        return "\n".join(lines)


def measure_diversity(labels: Any, y: Any) -> Diversity:
    """Compute every measure of diversity.

    Parameters
    ----------
    labels : array-like of shape (n_members, n_rows)
        What each member says; NaN or None where it has no say.
    y : array-like of shape (n_rows,)
        The true labels.

    Returns
    -------
    Diversity
        The measures; ``print`` shows their means.

    Examples
    --------
    >>> print(measure_diversity([[0, 0, 1, 1], [0, 1, 1, 1]], [0, 0, 1, 0]))
    Diversity of 2 members
      disagreement                 0.2500
      q statistic                  1.0000
      kappa                        0.5000
      double fault                 0.2500
      correlation                  0.5774
      entropy                      0.2500
      kohavi wolpert variance      0.0625
      member error                 0.3750
    """
    votes = Votes.of(labels, y)
    right, count = votes.right.sum(axis=1), votes.said.sum(axis=1)
    share = np.divide(right, count, out=np.full(len(right), np.nan), where=count > 0)
    return Diversity(
        disagreement=_disagreement(votes),
        q_statistic=_q_statistic(votes),
        kappa=_kappa(votes),
        double_fault=_double_fault(votes),
        correlation=_correlation(votes),
        entropy=_entropy(votes),
        kohavi_wolpert_variance=_kohavi_wolpert_variance(votes),
        member_error=1 - share,
    )
