"""Symmetric trees against CatBoost's; skipped where CatBoost is absent.

Asked to score by the squared loss, without its noise, CatBoost chooses the level of the largest
sum of G² / (H + l2), as we do. With few values a column both cut between any two.
"""

import numpy as np
import pytest
from tests.plain_boosters import make_plain

from committee import GradientBoostingRegressor

catboost = pytest.importorskip("catboost", reason="needs CatBoost (make .venv/.bench)")


@pytest.mark.parametrize(("n_rows", "depth", "l2"), [(500, 4, 0.0), (500, 4, 3.0), (2000, 6, 1.0)])
def test_three_rounds(n_rows, depth, l2):
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(n_rows, 5)), 1)
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * rng.normal(size=n_rows)
    theirs = catboost.CatBoostRegressor(
        iterations=3,
        depth=depth,
        learning_rate=0.7,
        l2_leaf_reg=l2,
        score_function="L2",
        random_strength=0,
        bootstrap_type="No",
        leaf_estimation_iterations=1,
        border_count=254,
        thread_count=1,
        logging_level="Silent",
        allow_writing_files=False,
    ).fit(X, y)
    ours = make_plain(
        GradientBoostingRegressor,
        n_estimators=3,
        learning_rate=0.7,
        max_depth=depth,
        max_leaf_nodes=None,
        min_samples_leaf=1,
        l2_regularization=l2,
        growth="symmetric",
    ).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-5)
