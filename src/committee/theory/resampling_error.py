"""The error of a learner by resampling: apparent, out-of-bag, .632 and .632+.

A replicate holds 63.2 % of the distinct rows, so that the error on left-out rows is too large and
the apparent error too small; .632 averages them, and .632+ leans to the former the more the learner
overfits (Efron 1983; Efron & Tibshirani 1997, "Improvements on cross-validation").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.core.params import invalid, resolve_seed
from committee.theory.decomposition import squared_terms, zero_one_terms
from committee.theory.replicates import (
    FOLD_SEEDS,
    Array,
    Floats,
    Problem,
    fit_predict,
    left_out_predictions,
    read_problem,
)

METHODS = (".632+", ".632", "oob", "apparent")
SEEN, UNSEEN = 0.368, 0.632  # as printed: e^-1 and 1 - e^-1


@dataclass(frozen=True)
class BootstrapError:
    """An estimate of a learner's error with all of its parts.

    Attributes
    ----------
    error : float
        The estimate by ``method``; also ``float(result)``.
    method : str
        One of ".632+", ".632", "oob", "apparent".
    loss : str
        "squared" or "zero_one".
    apparent : float
        The error on the rows the model was fitted on.
    out_of_bag : float
        The leave-one-out bootstrap: the mean over rows of the mean loss of the models that left the
        row out. NaN for ``method="apparent"``, which fits no replicates.
    no_information : float
        gamma, the apparent error if y had nothing to do with X: over all pairs of a y and a
        prediction.
    overfitting : float
        R in [0, 1]: (out_of_bag - apparent) / (no_information - apparent).
    n_replicates : int
        The number of replicates.
    """

    error: float
    method: str
    loss: str
    apparent: float
    out_of_bag: float
    no_information: float
    overfitting: float
    n_replicates: int

    def __float__(self) -> float:
        return self.error

    def __str__(self) -> str:
        return (
            f"{self.loss} loss by {self.method}: {self.error:.5g} "
            f"(apparent {self.apparent:.5g}, out-of-bag {self.out_of_bag:.5g}, no-information "
            f"{self.no_information:.5g}, relative overfitting {self.overfitting:.2f}; "
            f"{self.n_replicates} replicates)"
        )


def bootstrap_error(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    method: str = ".632+",
    n_replicates: int = 200,
    loss: str | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> BootstrapError:
    """Estimate the error of a learner on new rows.

    Parameters
    ----------
    estimator, X, y, n_replicates, loss, sample_weight, groups, random_state, n_jobs
        As in :func:`committee.theory.bias_variance.bootstrap_bias_variance`.
    method : {".632+", ".632", "oob", "apparent"}, default=".632+"
        ".632" is .368 apparent + .632 out-of-bag. ".632+" moves from there to the out-of-bag error
        as the relative overfitting goes from 0 to 1. "apparent" is no honest estimate.

    Returns
    -------
    BootstrapError
        The estimate and its parts.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier, load_heart
    >>> X, y = load_heart(as_frame=True)
    >>> tree = DecisionTreeClassifier()
    >>> result = bootstrap_error(tree, X, y, n_replicates=20, random_state=0)
    >>> result.apparent, result.apparent < result.error <= result.out_of_bag
    (0.0, True)
    """
    if method not in METHODS:
        allowed = f"one of {', '.join(map(repr, METHODS))}"
        raise invalid("method", type(estimator).__name__, allowed, method)
    problem = read_problem(estimator, X, y, loss, sample_weight, groups)
    seed = resolve_seed(random_state, type(estimator).__name__)
    out_of_bag = np.nan
    if method != "apparent":
        predictions = left_out_predictions(
            problem, n_replicates=n_replicates, seed=seed, n_jobs=n_jobs
        )
        out_of_bag = _out_of_bag(problem, predictions)
    rows = np.flatnonzero(problem.weight > 0)
    fitted = fit_predict(problem, rows, rows, seed, FOLD_SEEDS)
    apparent, gamma = apparent_errors(
        fitted, problem.target[rows], problem.loss, problem.weight[rows]
    )
    return BootstrapError(
        error=combine(method, apparent, out_of_bag, gamma),
        method=method,
        loss=problem.loss,
        apparent=apparent,
        out_of_bag=out_of_bag,
        no_information=gamma,
        overfitting=relative_overfitting(apparent, out_of_bag, gamma),
        n_replicates=0 if method == "apparent" else n_replicates,
    )


def _out_of_bag(problem: Problem, predictions: Floats) -> float:
    """Average per row first: else a row would count by how often it was left out."""
    if problem.classes is None:
        loss = squared_terms(predictions, problem.target, problem.weight).loss
    else:
        terms = zero_one_terms(predictions, problem.target, problem.classes, problem.weight)
        loss = terms.loss
    known = ~np.isnan(loss)
    return float(np.average(loss[known], weights=problem.weight[known])) if known.any() else np.nan


def apparent_errors(
    predictions: Array, y: Array, loss: str, weight: Floats | None = None
) -> tuple[float, float]:
    """Compute the apparent error and the no-information error gamma.

    Parameters
    ----------
    predictions, y : ndarray of shape (n_rows,)
        Of the model on the rows it was fitted on: numbers, or labels for 0-1 loss.
    loss : {"squared", "zero_one"}
        The loss.
    weight : ndarray of float64 or None
        The weights of the rows.

    Returns
    -------
    tuple of float
        The mean loss over the rows, and over all pairs of a y and a prediction.

    Examples
    --------
    >>> import numpy as np
    >>> apparent_errors(np.array([1, 1, 0, 0]), np.array([1, 1, 1, 0]), "zero_one")
    (0.25, 0.5)
    """
    share = np.full(len(y), 1 / len(y)) if weight is None else weight / weight.sum()
    if loss == "squared":
        apart = share @ y - share @ predictions
        spread = share @ (y - share @ y) ** 2 + share @ (predictions - share @ predictions) ** 2
        return float(share @ (y - predictions) ** 2), float(apart**2 + spread)
    classes = np.unique(np.concatenate([y, predictions]))
    chance = sum(share[y == label].sum() * share[predictions == label].sum() for label in classes)
    return float(share[y != predictions].sum()), float(1 - chance)


def relative_overfitting(apparent: float, out_of_bag: float, no_information: float) -> float:
    """Tell where the out-of-bag error lies between the apparent and the no-information error.

    Parameters
    ----------
    apparent, out_of_bag, no_information : float
        The three errors.

    Returns
    -------
    float
        R' of the paper: 0 without overfitting, 1 where nothing was learnt.
    """
    if np.isnan(out_of_bag):
        return float("nan")
    worst = min(out_of_bag, no_information)
    return (worst - apparent) / (no_information - apparent) if worst > apparent else 0.0


def combine(method: str, apparent: float, out_of_bag: float, no_information: float) -> float:
    """Combine the parts into the estimate of ``method``.

    Parameters
    ----------
    method : {".632+", ".632", "oob", "apparent"}
        The estimate.
    apparent, out_of_bag, no_information : float
        The parts.

    Returns
    -------
    float
        The error. ".632+" is equation 32 of the paper, in which an out-of-bag error above the
        no-information error keeps its weight .632.

    Examples
    --------
    >>> round(combine(".632", 0.0, 0.4, 0.5), 4), round(combine(".632+", 0.0, 0.4, 0.5), 4)
    (0.2528, 0.3583)
    """
    if method == "apparent":
        return apparent
    if method == "oob":
        return out_of_bag
    plain = SEEN * apparent + UNSEEN * out_of_bag
    if method == ".632":
        return plain
    excess = relative_overfitting(apparent, out_of_bag, no_information)
    worst = min(out_of_bag, no_information)
    return plain + (worst - apparent) * SEEN * UNSEEN * excess / (1 - SEEN * excess)
