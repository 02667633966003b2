"""Prediction equals a walk over the arrays, for grown trees and for random forests of them."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from committee import _engine
from tests.oracles import walk
from tests.properties.problems import SMALL, problems

pytestmark = pytest.mark.filterwarnings("ignore::committee.DataWarning")
few = settings(max_examples=50, suppress_health_check=list(HealthCheck))


def probes(problem):
    """The training rows, and rows unlike them: beyond the range, missing, of no level."""
    p = problem.X.shape[1]
    wild = np.random.default_rng(0).normal(size=(12, p)) * 100
    wild[::3] = np.nan
    wild[1] = 1e308
    wild[2] = -1e308
    columns = problem.params.get("categorical_features", [])
    wild[:, columns] = np.random.default_rng(1).integers(-2, 400, (12, len(columns)))
    return np.vstack([problem.X[:40], wild])


@pytest.mark.sanitize
@few
@given(problems(sizes=(*SMALL, 150)), st.integers(1, 20))
def test_predict_equals_walk(problem, n_trees):
    grown = [problem.fit(random_state=k, max_features=1).tree_.forest for k in range(n_trees)]
    forest = _engine.Forest.concatenate(grown)
    X = probes(problem)
    on_cut = X[:1].repeat(len(forest.threshold), axis=0)
    numeric = np.isfinite(forest.threshold) & (forest.feature & _engine.CATEGORICAL == 0)
    used = (forest.feature & _engine.FEATURE_MASK).astype(int)
    on_cut[np.flatnonzero(numeric), used[numeric]] = forest.threshold[numeric]
    X = np.vstack([X, on_cut[:20]])
    for rows in (X, np.asfortranarray(X), X[:1]):
        table = _engine.Table(rows, *rows.shape)
        np.testing.assert_array_equal(forest.apply(table), walk.leaves(forest, rows))
        expected = walk.members(forest, rows)
        np.testing.assert_array_equal(forest.predict_members(table), expected)
        np.testing.assert_allclose(forest.predict(table), expected.sum(axis=0), rtol=1e-12)


@few
@given(problems(sizes=(40, 150)), st.integers(0, 10**6))
def test_float32_rows_meet_float64_thresholds(problem, seed):
    forest = problem.fit().tree_.forest
    rows = np.random.default_rng(seed).normal(size=(30, problem.X.shape[1])).astype(np.float32)
    table = _engine.Table(rows, *rows.shape)
    np.testing.assert_array_equal(forest.apply(table), walk.leaves(forest, rows))
