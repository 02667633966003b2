"""BrownBoost beside that of oneDAL, where daal4py is there; it needs no place in the environment.

daal4py 2024.7.0 wants ``packaging``, and the ``lib`` folder of its environment on the loader path.
"""

import contextlib
import sys

import numpy as np
import pytest
from tests.ensembles.boosting.ten_points import X, y

from committee.ensembles.boosting.brownboost import BrownBoostClassifier


@pytest.fixture(scope="module")
def onedal():
    # Its patches of scikit-learn may not know the one that is installed; they come last, and the
    # compiled part, which is all that is wanted here, stays loaded.
    with contextlib.suppress(ImportError):
        import daal4py  # noqa: F401
    compiled = sys.modules.get("daal4py._daal4py")
    if compiled is None:
        pytest.skip("needs daal4py, whose BrownBoost this is compared with")
    return compiled


def alphas_of(onedal, target, n_rounds, **accuracy):
    signs = np.where(y == 1, 1.0, -1.0).reshape(-1, 1)
    training = onedal.brownboost_training(
        accuracyThreshold=target, maxIterations=n_rounds, **accuracy
    )
    return training.compute(X, signs).model.Alpha.ravel()


def test_toy_as_published(onedal):
    theirs = alphas_of(onedal, 0.1, 20)
    np.testing.assert_allclose(theirs[:5], [0.2191, 0.3310, 0.4719, 0.3771, 0.3938], atol=6e-5)
    ours = BrownBoostClassifier(n_estimators=5, target_error=0.1).fit(X, y).estimator_weights_
    np.testing.assert_allclose(ours, theirs[:5], atol=1e-3)  # it stops at an edge of 0.01


@pytest.mark.parametrize("target", [0.05, 0.1, 0.2])
def test_toy_with_its_newton_iteration_run_to_the_end(onedal, target):
    theirs = alphas_of(
        onedal, target, 5, newtonRaphsonAccuracyThreshold=1e-10, degenerateCasesThreshold=1e-9
    )
    ours = BrownBoostClassifier(n_estimators=5, target_error=target).fit(X, y)
    n_inner = int(np.sum(ours.rounds_["time_left"] > 0))  # oneDAL lets its time run below 0
    assert n_inner >= 3
    np.testing.assert_allclose(ours.estimator_weights_[:n_inner], theirs[:n_inner], atol=1e-7)
