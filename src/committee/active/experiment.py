"""Experiments: what questions are worth on a task, against random rows, over many repeats.

In each repeat some rows are set aside for the test and the others are the pool; questions and
random rows begin with the same labels, and are measured on the same test rows, whose labels have
no other part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from committee.active.annotators import SimulatedAnnotator
from committee.active.course import check_loop
from committee.active.curve import RANDOM, QueryCurve
from committee.active.loop import QUERIES, ActiveLoop
from committee.core.params import integer, invalid, real, resolve_seed
from committee.core.randomness import member_rng, member_seed
from committee.data import read_classes
from committee.ensembles.any_rows import AnyRows


def simulate_queries(
    model: Any,
    X: Any,
    y: Any,
    *,
    n_initial: int = 10,
    n_rounds: int = 40,
    k: int = 1,
    n_repeats: int = 10,
    test_size: float = 0.3,
    noise: float = 0.0,
    random_state: Any = None,
) -> QueryCurve:
    """Measure the learning curve of questions beside that of random rows.

    Parameters
    ----------
    model : ActiveClassifier
        The learner that asks; the one that is taught random rows is its copy.
    X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
        All rows.
    y : array-like of shape (n_rows,)
        Their labels.
    n_initial : int, default=10
        Labels to begin with, of random rows.
    n_rounds : int, default=40
        Rounds of questions.
    k : int, default=1
        Questions a round.
    n_repeats : int, default=10
        How often all of it is done, each time with another division of the rows.
    test_size : float, default=0.3
        The share of rows that is set aside for the test.
    noise : float, default=0.0
        The share of questions that the annotator answers wrong; test labels are right.
    random_state : None, int or generator, default=None
        Of divisions, first rows, learners and the annotator's errors.

    Returns
    -------
    QueryCurve
        Errors of "queries" and "random" by repeat and number of labels.

    Examples
    --------
    >>> from committee import load_heart
    >>> from committee.active import QueryByBagging, simulate_queries
    >>> X, y = load_heart(as_frame=True)
    >>> curve = simulate_queries(
    ...     QueryByBagging(n_estimators=5), X, y, n_rounds=3, n_repeats=2, random_state=0
    ... )
    >>> curve.n_labels
    array([10, 11, 12, 13])
    """
    check_loop(model, n_initial, k, owner="simulate_queries")
    for name, value in (("n_rounds", n_rounds), ("n_repeats", n_repeats)):
        if not integer(1).is_satisfied_by(value):
            raise invalid(name, "simulate_queries", "an int in the range [1, inf)", value)
    if not real(0, 1, "neither").is_satisfied_by(test_size):
        raise invalid("test_size", "simulate_queries", "a float in the range (0, 1)", test_size)
    rows = AnyRows.read(X)
    labels = read_classes(y, rows.n_rows, estimator_name=type(model).__name__)
    truth = labels.classes[0][labels.codes[:, 0]]
    seed = resolve_seed(random_state)
    n_test = max(1, round(test_size * rows.n_rows))
    runs = []
    for repeat in range(n_repeats):
        order = member_rng(seed, repeat).permutation(rows.n_rows)
        pool, test = order[n_test:], order[:n_test]
        own = member_seed(seed, repeat)  # of which the loop uses the members 0 and 1
        loop = ActiveLoop(
            model,
            _safe_indexing(rows.X, pool),
            SimulatedAnnotator(truth[pool], noise=noise, random_state=member_seed(own, 2)),
            X_test=_safe_indexing(rows.X, test),
            y_test=truth[test],
            n_initial=n_initial,
            k=k,
            random_state=own,
        )
        runs.append(loop.run(n_rounds).curve())
    return joined_curves(runs)


def joined_curves(runs: list[QueryCurve]) -> QueryCurve:
    """Put single runs together: the repeats of an experiment, as far as all have come."""
    length = min(len(run.n_labels) for run in runs)
    errors: Mapping[str, Any] = {
        name: np.concatenate([run.errors[name][:, :length] for run in runs])
        for name in (QUERIES, RANDOM)
    }
    return QueryCurve(runs[0].n_labels[:length], errors, runs[0].n_test, runs[0].confidence)
