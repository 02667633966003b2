"""Bootstrap replicates of a learner: each row is predicted by the models that left it out.

A replicate is as many draws with replacement as there are rows. About 1/e of the rows are never
drawn and judge the model honestly (Efron 1983). Replicate k is a function of the seed and k alone,
so that neither the number of workers nor the number of replicates changes it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, has_fit_parameter

from committee.core.params import integer, invalid
from committee.core.randomness import member_rng, seeded_clone
from committee.data import (
    DataWarning,
    InputError,
    InputTypeError,
    read_classes,
    read_numbers,
    read_weights,
)
from committee.data.errors import class_name, describe, listing

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

LOSSES = ("squared", "zero_one")
FOLDS = 10
FOLD_SEEDS = 1 << 31  # the seeds of folds lie beyond those of any replicate


@dataclass(frozen=True, eq=False)
class Problem:
    """A learner, and the rows from which it learns and on which it is judged.

    Attributes
    ----------
    estimator : estimator
        Never fitted itself; its clones are.
    X : array, sparse matrix or data frame
        The rows.
    y : ndarray of shape (n_rows,)
        Numbers for squared loss, labels for 0-1 loss.
    target : ndarray of float64, shape (n_rows,)
        What a prediction is compared with: the numbers, or positions in ``classes``.
    classes : ndarray or None
        The sorted labels; None for squared loss.
    weight : ndarray of float64, shape (n_rows,)
        The weights of the rows. A row of weight 0 is neither drawn nor predicted.
    rows : ndarray of int64
        The rows of positive weight, unit by unit. A unit is what is drawn as one: a group, or a row
        by itself.
    sizes : ndarray of int64, shape (n_units,)
        The number of rows in each unit.
    chance : ndarray or None
        The chance of each unit at a draw; None when all are equal.
    weighted : bool
        Whether weights differ, so that a fit on the rows as they are must be told of them.
    """

    estimator: Any
    X: Any
    y: Array
    target: Floats
    classes: Array | None
    weight: Floats
    rows: Ints
    sizes: Ints
    chance: Floats | None
    weighted: bool

    @property
    def loss(self) -> str:
        """The loss, "squared" or "zero_one"."""
        return "squared" if self.classes is None else "zero_one"

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.y)


def read_problem(
    estimator: Any, X: Any, y: Any, loss: str | None, sample_weight: Any, groups: Any
) -> Problem:
    """Check a learner and its data before any model is fitted.

    Parameters
    ----------
    estimator : estimator with ``fit`` and ``predict``
        The learner.
    X, y, sample_weight
        As in ``fit``.
    loss : {"squared", "zero_one"} or None
        None takes the 0-1 loss for a classifier and the squared loss otherwise.
    groups : array-like of shape (n_rows,) or None
        Rows with equal entries are drawn together.

    Returns
    -------
    Problem
        The learner and its rows.
    """
    name = type(estimator).__name__
    loss = _read_loss(estimator, loss)
    if sparse.issparse(X):
        X = X.tocsr()
    n_rows = int(_num_samples(X))
    if n_rows == 0:
        raise InputError(describe("X-EMPTY", "X", "0 rows", allowed="at least one row"))
    classes: Array | None = None
    if loss == "squared":
        values = target = np.ascontiguousarray(read_numbers(y, n_rows, estimator_name=name)[:, 0])
    else:
        labels = read_classes(y, n_rows, estimator_name=name)
        classes, codes = labels.classes[0], labels.codes[:, 0]
        values, target = classes[codes], codes.astype(np.float64)
    given = read_weights(sample_weight, n_rows)
    weight = np.ones(n_rows) if given is None else given
    if not weight.any():
        raise InputError(
            describe("W-ZERO", "sample_weight", "all weights are 0", allowed="some weights > 0")
        )
    rows, sizes = _read_units(groups, weight)
    chance: Floats | None = None
    if given is not None:
        means = np.add.reduceat(weight[rows], np.cumsum(sizes) - sizes) / sizes
        chance = means / means.sum()
    weighted = bool(np.ptp(weight[rows]) > 0)
    if weighted and not has_fit_parameter(estimator, "sample_weight"):
        found = f"unequal weights, which {name}.fit does not take"
        fix = "repeat the rows instead, or take a learner with sample_weight"
        raise InputTypeError(describe("W-FIT", "sample_weight", found, fix=fix))
    return Problem(estimator, X, values, target, classes, weight, rows, sizes, chance, weighted)


def _read_loss(estimator: Any, loss: str | None) -> str:
    name = type(estimator).__name__
    if isinstance(estimator, type) or not all(
        callable(getattr(estimator, method, None)) for method in ("fit", "predict", "get_params")
    ):
        found = f"{class_name(estimator)} has no fit, predict and get_params"
        allowed = "an estimator of scikit-learn's kind, not its class"
        raise InputTypeError(describe("P-VALUE", "estimator", found, allowed=allowed))
    if loss is None:
        return "zero_one" if is_classifier(estimator) else "squared"
    if loss not in LOSSES:
        raise invalid("loss", name, f"None or one of {', '.join(map(repr, LOSSES))}", loss)
    if loss == "zero_one" and is_regressor(estimator):
        raise invalid("loss", name, "'squared' or None, as it predicts numbers", loss)
    return str(loss)


def _read_units(groups: Any, weight: Floats) -> tuple[Ints, Ints]:
    rows = np.flatnonzero(weight > 0)
    if groups is None:
        return rows, np.ones(len(rows), dtype=np.int64)
    keys = np.asarray(groups)
    if keys.shape != weight.shape:
        found = f"shape {keys.shape} for {len(weight)} rows"
        raise InputError(
            describe("P-VALUE", "groups", found, allowed="one group per row, shape (n,)")
        )
    _, codes, sizes = np.unique(keys[rows], return_inverse=True, return_counts=True)
    return rows[np.argsort(codes, kind="stable")], sizes


def draw(
    rng: np.random.Generator, n_units: int, size: int | None = None, chance: Floats | None = None
) -> Ints:
    """Draw units with replacement.

    Parameters
    ----------
    rng : numpy.random.Generator
        The source of randomness.
    n_units : int
        How many units there are.
    size : int or None
        How many are drawn; None draws as many as there are.
    chance : ndarray or None
        The chance of each unit, summing to 1; None makes them equal.

    Returns
    -------
    ndarray of int64, shape (size,)
        The units in the order drawn.

    Examples
    --------
    >>> import numpy as np
    >>> bag = draw(np.random.default_rng(0), 1000)
    >>> round(len(np.unique(bag)) / 1000, 1)
    0.6
    """
    size = n_units if size is None else size
    if chance is None:
        return rng.integers(n_units, size=size, dtype=np.int64)
    return rng.choice(n_units, size=size, p=chance).astype(np.int64)


def left_out_predictions(
    problem: Problem, *, n_replicates: int, seed: int, n_jobs: int | None
) -> Floats:
    """Fit a clone on each replicate and predict the rows it left out.

    Parameters
    ----------
    problem : Problem
        The learner and its rows.
    n_replicates : int
        The number of replicates.
    seed : int
        The seed of the draws; also every ``random_state`` inside the estimator is set from it.
    n_jobs : int or None
        The number of workers, as joblib reads it; threads unless ``joblib.parallel_config`` says
        otherwise.

    Returns
    -------
    ndarray of float64, shape (n_replicates, n_rows)
        Predicted numbers, or positions in ``problem.classes``; NaN where a row was not left out.
    """
    name = type(problem.estimator).__name__
    if not integer(1).is_satisfied_by(n_replicates):
        raise invalid("n_replicates", name, "an int in the range [1, inf)", n_replicates)
    drawn = replace(problem, weighted=False)  # weights are in the draws
    bags = (_bag(problem, seed, k) for k in range(n_replicates))
    parts = _fit_all(drawn, bags, seed, 0, n_jobs)
    predictions = np.full((n_replicates, problem.n_rows), np.nan)
    for k, (rows, predicted) in enumerate(parts):
        predictions[k, rows] = predicted
    return predictions


def held_out_predictions(problem: Problem, *, seed: int, n_jobs: int | None) -> Floats:
    """Predict each row once, by cross-validation in at most ten folds of whole units.

    Parameters
    ----------
    problem, seed, n_jobs
        As in :func:`left_out_predictions`.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        As there; NaN for rows of weight 0, and for all when there is but one unit.
    """
    predictions = np.full(problem.n_rows, np.nan)
    n_units = len(problem.sizes)
    n_folds = min(FOLDS, n_units)
    if n_folds < 2:
        return predictions
    fold = member_rng(seed, FOLD_SEEDS).permutation(n_units) % n_folds
    bags = (_rows_of(problem, (fold != k).astype(np.int64)) for k in range(n_folds))
    for out, predicted in _fit_all(problem, bags, seed, FOLD_SEEDS, n_jobs):
        predictions[out] = predicted
    return predictions


def _bag(problem: Problem, seed: int, replicate: int) -> Ints:
    n_units = len(problem.sizes)
    drawn = draw(member_rng(seed, replicate), n_units, chance=problem.chance)
    return _rows_of(problem, np.bincount(drawn, minlength=n_units))


def _rows_of(problem: Problem, copies: Ints) -> Ints:
    """List the rows in their order when each unit is taken so many times."""
    return np.sort(np.repeat(problem.rows, np.repeat(copies, problem.sizes)))


def _fit_all(
    problem: Problem, bags: Iterable[Ints], seed: int, first: int, n_jobs: int | None
) -> list[tuple[Ints, Floats]]:
    """Fit a clone per bag; return the rows each left out and what it says of them."""
    with warnings.catch_warnings():
        # A level or a class that one bag has not seen is no news about the user's data.
        warnings.simplefilter("ignore", DataWarning)
        workers = Parallel(n_jobs=n_jobs, prefer="threads")
        tasks = (delayed(_judge)(problem, bag, seed, first + k) for k, bag in enumerate(bags))
        return list(workers(tasks))


def _judge(problem: Problem, bag: Ints, seed: int, replicate: int) -> tuple[Ints, Floats]:
    out = problem.weight > 0
    out[bag] = False
    rows = np.flatnonzero(out)
    if len(rows) == 0:
        return rows, np.empty(0)
    try:
        return rows, fit_predict(problem, bag, rows, seed, replicate)
    except Exception as error:
        kind = class_name(problem.estimator)
        error.add_note(f"This was resample {replicate} of the rows for {kind}.")
        raise


def fit_predict(problem: Problem, bag: Ints, rows: Ints, seed: int, replicate: int) -> Floats:
    """Fit a clone on the rows of ``bag`` and predict ``rows``.

    Parameters
    ----------
    problem : Problem
        The learner and its rows.
    bag : ndarray of int
        The rows learnt from, repeated as often as they were drawn.
    rows : ndarray of int
        The rows to predict.
    seed, replicate : int
        From both come the seeds of every ``random_state`` inside the estimator.

    Returns
    -------
    ndarray of float64, shape (len(rows),)
        Predicted numbers, or positions in ``problem.classes``.
    """
    seen = problem.y[bag]
    if problem.classes is not None and (seen == seen[0]).all():
        return problem.target[bag[:1]].repeat(len(rows))  # many classifiers refuse a single class
    model = seeded_clone(problem.estimator, seed, replicate)
    weights = {"sample_weight": problem.weight[bag]} if problem.weighted else {}
    model.fit(_safe_indexing(problem.X, bag), seen, **weights)
    predicted = np.asarray(model.predict(_safe_indexing(problem.X, rows)))
    if predicted.size != len(rows):
        found = f"predict gave shape {predicted.shape} for {len(rows)} rows"
        raise InputError(describe("P-VALUE", "estimator", found, allowed="one prediction per row"))
    flat = predicted.reshape(len(rows))
    return flat.astype(np.float64) if problem.classes is None else _codes(flat, problem.classes)


def _codes(labels: Array, classes: Array) -> Floats:
    position = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    unknown = classes[position] != labels
    if unknown.any():
        found = f"it predicts labels that y does not have: {listing(np.unique(labels[unknown]))}"
        raise InputError(describe("P-VALUE", "estimator", found, allowed="the labels of y"))
    return position.astype(np.float64)
