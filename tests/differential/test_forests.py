"""Forests beside scikit-learn's on real data: as good within the noise of the folds."""

import pytest
from sklearn import ensemble as reference
from tests.test_real_data import assert_as_good, fold_scores

from committee.learners.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from committee.learners.random_forest import RandomForestClassifier, RandomForestRegressor

pytestmark = pytest.mark.filterwarnings("ignore::committee.DataWarning")


@pytest.mark.parametrize("name", ["segment", "lymph", "heart-h", "credit-a"])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (RandomForestClassifier, reference.RandomForestClassifier),
        (ExtraTreesClassifier, reference.ExtraTreesClassifier),
    ],
)
def test_classes(shared_data, name, ours, theirs):
    X, y = shared_data(name)
    models = ours(50, random_state=0), theirs(50, random_state=0)
    assert_as_good(*fold_scores(name, X, y.to_numpy(), *models, 5), margin=0.012)


@pytest.mark.parametrize("name", ["abalone", "boston"])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (RandomForestRegressor, reference.RandomForestRegressor),
        (ExtraTreesRegressor, reference.ExtraTreesRegressor),
    ],
)
@pytest.mark.parametrize(("max_bins", "margin"), [(65535, 0.01), (255, 0.02)])
def test_numbers(shared_data, name, ours, theirs, max_bins, margin):
    """Cut exactly the method is scikit-learn's; bins may cost a little.

    Extra trees on abalone, 60 trees, 5 seeds, 3 folds: 0.009 +- 0.003 of R2 with 255 bins.
    """
    X, y = shared_data(name)
    mine = ours(20, max_bins=max_bins, random_state=0, n_jobs=2)
    other = theirs(20, random_state=0, n_jobs=2)
    y = y.astype(float).to_numpy()
    assert_as_good(*fold_scores(name, X, y, mine, other, 3), margin=margin)


def test_out_of_bag_scores(shared_data):
    X, y = shared_data("segment")
    ours = RandomForestClassifier(60, random_state=0, oob_score=True).fit(X, y)
    theirs = reference.RandomForestClassifier(60, random_state=0, oob_score=True).fit(X, y)
    assert abs(ours.oob_score_ - theirs.oob_score_) < 0.01
