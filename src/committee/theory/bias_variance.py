"""Where a learner's error comes from, by the bootstrap: bias, variance, and what averaging saves.

The learner is fitted on B bootstrap replicates, and each row is judged by the models that left it
out (Breiman 1996, "Out-of-bag estimation"; the terms are those of ``decomposition``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from committee.core.params import resolve_seed
from committee.theory.decomposition import (
    BiasVariance,
    SquaredBiasVariance,
    ZeroOneBiasVariance,
    decompose,
    squared_terms,
    zero_one_terms,
)
from committee.theory.replicates import (
    held_out_predictions,
    left_out_predictions,
    read_problem,
)

__all__ = [
    "BiasVariance",
    "SquaredBiasVariance",
    "ZeroOneBiasVariance",
    "bootstrap_bias_variance",
    "decompose",
]


def bootstrap_bias_variance(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_replicates: int = 200,
    loss: str | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> BiasVariance:
    """Estimate bias and variance of a learner, per row and overall.

    Parameters
    ----------
    estimator : estimator with ``fit`` and ``predict``
        The learner; it is cloned, and every ``random_state`` inside a clone is set anew.
    X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
        The rows, handed to the estimator in their own container.
    y : array-like of shape (n_rows,)
        Numbers or labels.
    n_replicates : int, default=200
        The number of bootstrap replicates, each of as many draws as there are rows. A row is left
        out by about 37 % of them.
    loss : {"squared", "zero_one"} or None, default=None
        None takes the 0-1 loss for a classifier and the squared loss otherwise.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        The chance of a row at each draw, and its weight in the overall numbers; a row of weight 0
        might as well not be there. The estimator need not know weights.
    groups : array-like of shape (n_rows,) or None, default=None
        Rows of one group are drawn together, and so left out together; the chance of a group is
        the mean weight of its rows.
    random_state : int, RandomState instance, Generator or None, default=None
        The seed. Replicate k is a function of the seed and k alone.
    n_jobs : int or None, default=None
        The number of workers: threads, or what ``joblib.parallel_config`` says. The result does not
        depend on it.

    Returns
    -------
    SquaredBiasVariance or ZeroOneBiasVariance
        The terms per row (``bias``, ``variance``, ...) and ``overall``; ``print`` shows a summary.

    Notes
    -----
    A replicate holds 63 % of the distinct rows, so that its loss is larger than that of the learner
    fitted on all of them. What averaging gains is therefore measured against ``single_loss``, from
    ten more fits by cross-validation. A replicate that drew a single class predicts it.

    See Also
    --------
    decompose : The same terms from predictions at hand, with the formulas.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier, load_heart
    >>> from committee.theory.bias_variance import bootstrap_bias_variance
    >>> X, y = load_heart(as_frame=True)
    >>> result = bootstrap_bias_variance(
    ...     DecisionTreeClassifier(), X, y, n_replicates=50, random_state=0
    ... )
    >>> overall = result.overall
    >>> bool(abs(overall["bias_squared"] + overall["variance"] - overall["loss"]) < 1e-12)
    True
    >>> overall["committee_loss"] < overall["single_loss"]  # the vote, and one tree from all rows
    True
    """
    problem = read_problem(estimator, X, y, loss, sample_weight, groups)
    seed = resolve_seed(random_state, type(estimator).__name__)
    predictions = left_out_predictions(problem, n_replicates=n_replicates, seed=seed, n_jobs=n_jobs)
    held_out = held_out_predictions(problem, seed=seed, n_jobs=n_jobs)
    target, weight = problem.target, problem.weight
    if problem.classes is None:
        single = (held_out - target) ** 2
        return replace(squared_terms(predictions, target, weight), single_loss=single)
    single = np.where(np.isnan(held_out), np.nan, held_out != target)
    terms = zero_one_terms(predictions, target, problem.classes, weight)
    return replace(terms, single_loss=single)
