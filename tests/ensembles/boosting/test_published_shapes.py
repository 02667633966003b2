"""R68 and R98: what boosted trees do on real data, in the shape that was published."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, train_test_split

from committee import AdaBoostClassifier, DecisionTreeClassifier


def test_r68_more_rounds_after_zero_training_error(shared_data):
    """Schapire et al. 1998: 8.4, 3.3, 3.1 % on letter after 5, 100, 1000; here segment."""
    X, y = shared_data("segment")
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    tree = DecisionTreeClassifier(min_samples_leaf=2, criterion="entropy")
    model = AdaBoostClassifier(tree, n_estimators=300).fit(train, y_train)
    assert len(model) == 300
    seen = np.array(list(model.staged_score(train, y_train)))
    assert (seen[9:] == 1.0).all()
    other = 1 - np.array(list(model.staged_score(test, y_test)))
    assert other[299] <= other[99] + 0.002  # two rows of 1155
    assert other[99] <= other[4]
    margins = [
        AdaBoostClassifier(tree, n_estimators=t).fit(train, y_train).certificate().margins.min()
        for t in (10, 100)
    ]
    assert margins[0] < margins[1]


@pytest.mark.parametrize("name", ["segment", "splice"])
def test_r98_boosting_gains_on_a_single_tree(shared_data, name):
    X, y = shared_data(name)
    tree = DecisionTreeClassifier(min_samples_leaf=2, random_state=0)
    alone, boosted = [], []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        parts = X.iloc[train], y.iloc[train]
        alone.append(tree.fit(*parts).score(X.iloc[test], y.iloc[test]))
        model = AdaBoostClassifier(tree, n_estimators=20).fit(*parts)
        boosted.append(model.score(X.iloc[test], y.iloc[test]))
    assert np.mean(boosted) > np.mean(alone)
