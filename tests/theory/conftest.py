"""Boosters that the displays are tested with, and figures that are closed."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from tests.ensembles.boosting.ten_points import X as TEN
from tests.ensembles.boosting.ten_points import y as TEN_Y
from tests.theory.displayed import three_classes

from committee.ensembles.boosting.adaboost import AdaBoostClassifier
from committee.ensembles.boosting.madaboost import MadaBoostClassifier

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def ten():
    return AdaBoostClassifier(n_estimators=3).fit(TEN, TEN_Y)


@pytest.fixture(scope="module")
def one_vs_rest():
    return MadaBoostClassifier(n_estimators=6).fit(*three_classes())
