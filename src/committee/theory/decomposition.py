"""Bias and variance of a learner from the predictions of its replicates; terms add up to the loss.

Squared loss: Geman, Bienenstock & Doursat 1992. 0-1 loss: Kohavi & Wolpert 1996, and Domingos 2000.
A single y per row cannot tell noise from bias, so that everywhere noise is part of the bias.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from committee.core.params import invalid
from committee.data import DataWarning, InputError, read_classes, read_numbers, read_weights
from committee.data.errors import describe
from committee.data.levels import is_missing
from committee.theory.replicates import LOSSES, Array, Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

ENOUGH_ROWS = 30  # fewer rows say too little for advice
WORTH = 0.05  # a gain is worth a committee if it is surely above this share of the loss
LITTLE = 0.1  # and little if it is surely below this share


@dataclass(frozen=True, eq=False)
class BiasVariance:
    """Bias and variance of a learner, row by row; :func:`decompose` says what the terms are.

    Attributes
    ----------
    y : ndarray of shape (n_rows,)
        The targets.
    prediction : ndarray of shape (n_rows,)
        What the models that left the row out say together: their mean, or their most frequent
        label (ties: the first in sorted order). NaN for a row that no model left out.
    n_left_out : ndarray of int64, shape (n_rows,)
        K, the number of these models.
    loss : ndarray of float64, shape (n_rows,)
        The mean loss of these models, each by itself; NaN where K = 0.
    bias : ndarray of float64, shape (n_rows,)
        Squared loss: y - prediction. 0-1 loss: 1 where the prediction is wrong (Domingos).
        NaN where K = 0.
    bias_squared, variance : ndarray of float64, shape (n_rows,)
        Terms that add up to the loss, without bias at any K (0-1 loss: Kohavi & Wolpert's). NaN
        where K < 2. A single row's ``bias_squared`` may be negative; it is right on average.
    weight : ndarray of float64, shape (n_rows,)
        The weights of the rows in the overall numbers.
    n_replicates : int
        The number of models.
    single_loss : ndarray of float64, shape (n_rows,), or None
        The loss of one model that saw all rows but a tenth, the row among them: what a committee
        has to beat. None from :func:`decompose`, which fits no models.
    """

    y: Array
    prediction: Array
    n_left_out: Ints
    loss: Floats
    bias: Floats
    bias_squared: Floats
    variance: Floats
    weight: Floats
    n_replicates: int
    single_loss: Floats | None = field(default=None, kw_only=True)

    title: ClassVar[str] = ""
    together: ClassVar[str] = ""

    @property
    def counted(self) -> npt.NDArray[np.bool_]:
        """Which rows enter the overall numbers: those with K >= 2 and a positive weight."""
        return (self.n_left_out >= 2) & (self.weight > 0)

    @property
    def committee_loss(self) -> Floats:
        """The loss of ``prediction``, row by row: of the committee, where ``loss`` is of one."""
        return self.bias**2

    @property
    def overall(self) -> dict[str, float]:
        """Weighted means over the counted rows, by name; NaN when no row counts."""
        left = ("y", "prediction", "n_left_out", "weight", "n_replicates", "single_loss")
        names = [item.name for item in fields(self) if item.name not in left]
        names += ["committee_loss"] + ["single_loss"] * (self.single_loss is not None)
        return {name: self._mean(getattr(self, name)) for name in names}

    def _mean(self, term: Floats) -> float:
        counted = self.counted
        return (
            float(np.average(term[counted], weights=self.weight[counted]))
            if counted.any()
            else np.nan
        )

    @property
    def advice(self) -> str:
        """One sentence on what the numbers support; empty when they support nothing."""
        counted = self.counted
        if self.single_loss is None or counted.sum() < ENOUGH_ROWS:
            return ""
        gains = (self.single_loss - self.committee_loss)[counted]
        share = self.weight[counted] / self.weight[counted].sum()
        gain = float(share @ gains)
        error = float(np.sqrt(share**2 @ (gains - gain) ** 2))
        overall = self.overall
        loss = overall["single_loss"]
        if gain - 2 * error > WORTH * loss:
            return (
                f"Bagging should pay: {self.together} errs less than one model from all rows by "
                f"{gain:.4g} ({gain / loss:.0%}), each judged on rows it has not seen."
            )
        if gain + 2 * error < LITTLE * loss and overall["variance"] < LITTLE * overall["loss"]:
            return (
                "Bagging should gain little: nearly all of the loss is bias or noise, which "
                "averaging leaves; a more flexible learner or better features may lower it."
            )
        return ""

    def to_frame(self) -> pd.DataFrame:
        """Return the terms as a data frame of pandas, one row per row."""
        import pandas as pd

        terms = {item.name: getattr(self, item.name) for item in fields(self)}
        return pd.DataFrame({name: term for name, term in terms.items() if np.ndim(term) == 1})

    def __str__(self) -> str:
        counted, overall = self.counted, self.overall
        rows = f"{int(counted.sum())} of {len(self.y)} rows counted"
        if counted.any():
            rows += f", left out by {self.n_left_out[counted].mean():.1f} models on average"
        lines = [
            f"Bias and variance, {self.title}: {self.n_replicates} replicates",
            rows,
            *self._table(overall),
        ]
        if "single_loss" in overall:
            lines.append(_line("loss of one from all rows", overall["single_loss"]))
        return "\n".join([*lines, self.advice] if self.advice else lines)

    def _table(self, overall: dict[str, float]) -> list[str]:
        raise NotImplementedError


def _line(name: str, value: float, whole: float | None = None) -> str:
    share = f"{value / whole:7.0%}" if whole else ""
    return f"  {name:<26}{value:>12.5g}{share}"


@dataclass(frozen=True, eq=False)
class SquaredBiasVariance(BiasVariance):
    """Bias and variance under squared loss."""

    title: ClassVar[str] = "squared loss"
    together: ClassVar[str] = "the mean of the replicates"

    def _table(self, overall: dict[str, float]) -> list[str]:
        loss = overall["loss"]
        return [
            _line("loss of one model", loss),
            _line("= bias² and noise", overall["bias_squared"], loss),
            _line("+ variance", overall["variance"], loss),
            _line("loss of their mean", overall["committee_loss"]),
        ]


@dataclass(frozen=True, eq=False)
class ZeroOneBiasVariance(BiasVariance):
    """Bias and variance under 0-1 loss, in the terms of Kohavi & Wolpert and of Domingos.

    Attributes
    ----------
    unbiased_variance, biased_variance, net_variance : ndarray of float64, shape (n_rows,)
        Domingos's terms: ``loss = bias + net_variance`` and
        ``net_variance = unbiased_variance - biased_variance``. NaN where K < 2.
    """

    unbiased_variance: Floats
    biased_variance: Floats
    net_variance: Floats

    title: ClassVar[str] = "0-1 loss"
    together: ClassVar[str] = "the vote of the replicates"

    def _table(self, overall: dict[str, float]) -> list[str]:
        loss = overall["loss"]
        return [
            _line("loss of one model", loss),
            "Kohavi & Wolpert",
            _line("= bias² and noise", overall["bias_squared"], loss),
            _line("+ variance", overall["variance"], loss),
            "Domingos",
            _line("= bias and noise", overall["bias"], loss),
            _line("+ unbiased variance", overall["unbiased_variance"], loss),
            _line("- biased variance", overall["biased_variance"], loss),
            _line("loss of their vote", overall["committee_loss"]),
        ]


def decompose(predictions: Any, y: Any, loss: str, *, sample_weight: Any = None) -> BiasVariance:
    """Split the loss of a learner into bias and variance, exactly.

    Parameters
    ----------
    predictions : array-like of shape (n_replicates, n_rows)
        Predictions of models from different training sets; NaN (or None) where a model has seen
        the row.
    y : array-like of shape (n_rows,)
        The targets: numbers for squared loss, labels for 0-1 loss.
    loss : {"squared", "zero_one"}
        The loss.
    sample_weight : array-like of shape (n_rows,) or None
        Weights of the rows in the overall numbers.

    Returns
    -------
    SquaredBiasVariance or ZeroOneBiasVariance
        The terms per row and overall.

    Notes
    -----
    Let a row have K predictions h_k with mean h. **Squared loss**: ``bias`` is y - h and
    ``variance`` is sum (h_k - h)² / (K - 1). As h itself varies by variance / K, the square of the
    bias is estimated by ``bias_squared`` = (y - h)² - variance / K. Then
    mean (y - h_k)² = bias_squared + variance.

    **0-1 loss, Kohavi & Wolpert** (1996): the squared loss of indicator vectors, halved. With p_c
    the share of the K votes for class c, ``variance`` = (1 - sum p_c²) / 2 · K / (K - 1), and
    ``bias_squared`` = sum (1[y = c] - p_c)² / 2 - variance / K; the corrections for K are theirs.
    The noise term is 0 and what noise there is lies in the bias.

    **0-1 loss, Domingos** (2000): the main prediction m is the most frequent label, ``bias`` is
    1[m != y]. Where m is right, every dissent is a loss: ``unbiased_variance`` = share of
    h_k != m. Where m is wrong, dissent helps if it hits y: ``biased_variance`` = share of h_k = y
    (with two classes that is the share of h_k != m). For these shares there is no correction for
    K: they are those of the K votes at hand. As m is chosen by the same votes, the variance is
    a little too small when K is; the sum is exact at any K.

    Examples
    --------
    >>> import numpy as np
    >>> result = decompose([[1.0, 2.0], [3.0, np.nan], [2.0, 2.0]], [2.0, 3.0], "squared")
    >>> result.bias, result.variance
    (array([0., 1.]), array([1., 0.]))
    >>> result.loss, result.bias_squared + result.variance
    (array([0.6..., 1. ]), array([0.6..., 1. ]))
    """
    if loss not in LOSSES:
        raise invalid("loss", "decompose", f"one of {', '.join(map(repr, LOSSES))}", loss)
    votes = read_predictions(predictions, "predictions")
    n_rows = votes.shape[1]
    given = read_weights(sample_weight, n_rows)
    weight = np.ones(n_rows) if given is None else given
    if loss == "squared":
        target = read_numbers(y, n_rows, estimator_name="decompose")[:, 0]
        return squared_terms(votes.astype(np.float64), target, weight)
    return zero_one_terms(*code_labels(votes, y), weight)


def read_predictions(votes: Any, argument: str) -> Array:
    """Check an array [model, row] of numbers or labels; ``argument`` names it in messages."""
    array = np.asarray(votes)
    if array.dtype.kind in "US" and not isinstance(votes, np.ndarray):
        array = np.array(votes, dtype=object)  # else NaN among text would be text
    if array.ndim != 2 or 0 in array.shape:
        found, allowed = f"shape {array.shape}", "one row of numbers or labels per model"
        raise InputError(describe("P-VALUE", argument, found, allowed=allowed))
    return array


def code_labels(votes: Array, y: Any) -> tuple[Floats, Floats, Array]:
    """Code votes and y by one sorted list of classes; a missing vote is NaN."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # a single class is bad to learn, not to judge
        truth = read_classes(y, votes.shape[1], estimator_name="y")
    labels = truth.classes[0][truth.codes[:, 0]]
    missing = np.zeros(votes.shape, dtype=bool)
    if votes.dtype.kind == "f":
        missing = np.isnan(votes)
    elif votes.dtype.kind == "O":
        missing = np.array([is_missing(vote) for vote in votes.flat]).reshape(votes.shape)
    said = votes[~missing]
    if said.dtype.kind == "O":
        said = np.array(said.tolist() or labels[:0])
    if (said.dtype.kind in "US") != (labels.dtype.kind in "OUS") and len(said):
        found = f"votes of dtype {votes.dtype} beside labels of dtype {labels.dtype}"
        raise InputError(describe("Y-MIXED", "y", found, allowed="labels of one type in both"))
    classes, codes = np.unique(np.concatenate([labels, said]), return_inverse=True)
    coded = np.full(votes.shape, np.nan)
    coded[~missing] = codes[len(labels) :]
    return coded, codes[: len(labels)].astype(np.float64), classes


def squared_terms(predictions: Floats, y: Floats, weight: Floats) -> SquaredBiasVariance:
    """Decompose the squared loss; the arguments are those of :func:`decompose`, checked."""
    present = ~np.isnan(predictions)
    count = present.sum(axis=0)
    total = np.where(present, predictions, 0.0).sum(axis=0)
    mean = _ratio(total, count)
    spread = np.where(present, predictions - mean, 0.0)
    variance = _ratio((spread**2).sum(axis=0), count - 1)
    bias = y - mean
    return SquaredBiasVariance(
        y=y,
        prediction=mean,
        n_left_out=count,
        loss=_ratio((np.where(present, y - predictions, 0.0) ** 2).sum(axis=0), count),
        bias=bias,
        bias_squared=bias**2 - _ratio(variance, count),
        variance=variance,
        weight=weight,
        n_replicates=len(predictions),
    )


def zero_one_terms(votes: Floats, y: Floats, classes: Array, weight: Floats) -> ZeroOneBiasVariance:
    """Decompose the 0-1 loss of ``votes`` and ``y``, which are positions in ``classes`` or NaN."""
    rows = np.arange(len(y))
    truth = y.astype(np.int64)
    counts = np.array([(votes == code).sum(axis=0) for code in range(len(classes))])
    count = counts.sum(axis=0)
    main = counts.argmax(axis=0)
    hit, dissent = _ratio(counts[truth, rows], count), 1 - _ratio(counts[main, rows], count)

    several = np.where(count >= 2, 1.0, np.nan)
    wrong = np.where(count > 0, main != truth, np.nan)
    unbiased, biased = (1 - wrong) * dissent * several, wrong * hit * several
    shares = _ratio(counts, count)
    gap = (np.arange(len(classes))[:, None] == truth) - shares
    variance = (1 - (shares**2).sum(axis=0)) / 2 * _ratio(count, count - 1)
    return ZeroOneBiasVariance(
        y=classes[truth],
        prediction=_labels(classes[main], count > 0),
        n_left_out=count,
        loss=1 - hit,
        bias=wrong,
        bias_squared=(gap**2).sum(axis=0) / 2 - _ratio(variance, count),
        variance=variance,
        weight=weight,
        n_replicates=len(votes),
        unbiased_variance=unbiased,
        biased_variance=biased,
        net_variance=unbiased - biased,
    )


def _ratio(total: Array, count: Array) -> Floats:
    """Divide; NaN where there is nothing to divide by."""
    divisor = np.where(count > 0, count, np.nan)
    return np.asarray(total / divisor, dtype=np.float64)


def _labels(labels: Array, known: npt.NDArray[np.bool_]) -> Array:
    """Put NaN where a label is not known, in a type that can hold both."""
    if known.all():
        return labels
    result = labels.astype(np.float64 if labels.dtype.kind in "biuf" else object)
    result[~known] = np.nan
    return result
