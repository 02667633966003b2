"""The display of margins: what is drawn is what was computed by hand."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from tests.ensembles.boosting.ten_points import X as TEN
from tests.ensembles.boosting.ten_points import y as TEN_Y
from tests.theory.displayed import ALPHA, three_classes

from committee.data import InputError
from committee.ensembles.boosting.adaboost import AdaBoostClassifier
from committee.theory.displays.margin_distribution import MarginDistributionDisplay


def test_r5_margins_of_the_ten_points(ten):
    display = MarginDistributionDisplay.from_estimator(ten, TEN, TEN_Y, rounds=(1, 3))
    assert list(display.margins) == ["1 round", "3 rounds"]
    first = ten.estimators_[0].predict(TEN)
    np.testing.assert_array_equal(display.margins["1 round"], np.where(first == TEN_Y, 1.0, -1.0))
    order = [set(np.flatnonzero(m.predict(TEN) != TEN_Y)) for m in ten.estimators_]
    by_hand = [
        (ALPHA.sum() - 2 * sum(ALPHA[k] for k in range(3) if i in order[k])) for i in range(10)
    ]
    np.testing.assert_allclose(display.margins["3 rounds"], np.array(by_hand) / ALPHA.sum())
    np.testing.assert_allclose(
        sorted(set(np.round(by_hand / ALPHA.sum(), 4))), [0.0753, 0.3491, 0.5755, 1.0]
    )
    assert display.least == {"1 round": -1.0, "3 rounds": pytest.approx(0.0753, abs=5e-5)}
    assert display.share(0.0) == {"1 round": pytest.approx(0.3), "3 rounds": 0.0}
    assert display.share(0.35) == {"1 round": pytest.approx(0.3), "3 rounds": pytest.approx(0.6)}
    height = display.lines_[1].get_ydata()
    np.testing.assert_allclose(height[1:-1], np.arange(1, 11) / 10)


def test_margins_by_weight_and_by_class():
    display = MarginDistributionDisplay({"a": [0.2, -0.5, 0.9]}, sample_weight=[1, 2, 1])
    assert display.share(-0.5) == {"a": 0.5}
    X, y = three_classes()
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    found = MarginDistributionDisplay.from_estimator(model, X, y).margins["3 rounds"]
    votes = np.zeros((len(X), 3))
    for member, alpha in zip(model.estimators_, model.estimator_weights_, strict=True):
        votes[np.arange(len(X)), np.searchsorted(model.classes_, member.predict(X))] += alpha
    code = np.searchsorted(model.classes_, y)
    right = votes[np.arange(len(X)), code]
    votes[np.arange(len(X)), code] = -1
    np.testing.assert_allclose(found, (right - votes.max(axis=1)) / model.estimator_weights_.sum())


def test_default_rounds_are_those_of_the_paper_as_far_as_there_are_any():
    model = AdaBoostClassifier(n_estimators=110).fit(TEN, TEN_Y)
    display = MarginDistributionDisplay.from_estimator(model, TEN, TEN_Y)
    assert list(display.margins) == ["5 rounds", "100 rounds", "110 rounds"]


def test_wrong_margins(ten, one_vs_rest):
    with pytest.raises(NotFittedError):
        MarginDistributionDisplay.from_estimator(AdaBoostClassifier(), TEN, TEN_Y)
    with pytest.raises(InputError, match=r"parts_\[k\]"):
        MarginDistributionDisplay.from_estimator(one_vs_rest, *three_classes())
    for rounds in ((0,), (4,), (1.5,), ()):
        with pytest.raises(InputError, match="rounds"):
            MarginDistributionDisplay.from_estimator(ten, TEN, TEN_Y, rounds=rounds)
    with pytest.raises(InputError, match="M-CLASSES"):
        MarginDistributionDisplay.from_estimator(ten, TEN, TEN_Y + 1)
    for margins in ({1: [0.1, 0.2], 2: [0.1]}, [], [[0.1]]):
        with pytest.raises(InputError, match="one margin for each row"):
            MarginDistributionDisplay(margins)
