"""The picture of a certificate: what is drawn is what it holds."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.ensembles.boosting.ten_points import X as TEN
from tests.ensembles.boosting.ten_points import y as TEN_Y
from tests.theory.displayed import EPS, Z

from committee.data import DataWarning, InputError
from committee.ensembles.boosting.adaboost import AdaBoostClassifier


def test_certificate_shows_bounds_errors_and_margins(ten):
    certificate = ten.certificate()
    figure, pair = plt.subplots(1, 2)
    assert certificate.plot(pair) is figure
    left, right = pair
    by_label = {line.get_label(): line.get_ydata() for line in left.lines}
    np.testing.assert_allclose(by_label["bound: product of Z"], np.cumprod(Z))
    np.testing.assert_allclose(by_label["weighted error of the member"], EPS)
    np.testing.assert_array_equal(by_label["training error, in the end: 0"], [0])
    assert left.get_title(loc="left") == "AdaBoostClassifier: 7 of 7 claims hold"
    theta, bound = right.lines[2].get_data()
    middle = np.flatnonzero(theta == 0)
    np.testing.assert_allclose(bound[middle], np.prod(Z))  # at margin 0: the training error's
    shown = right.lines[0].get_data()
    np.testing.assert_allclose(shown[0][1:-1], np.sort(certificate.margins))
    with pytest.raises(InputError, match="a pair"):
        certificate.plot(left)


def test_certificates_of_parts(one_vs_rest):
    certificates = one_vs_rest.certificate()
    figure = certificates.plot()
    titles = [ax.get_title(loc="left") for ax in figure.axes[::2]]
    assert [title.split(":")[0] for title in titles] == [f"'{c}' against the rest" for c in "abc"]
    with pytest.raises(InputError, match="a pair for each class"):
        certificates.plot(plt.subplots(2, 2)[1])


def test_long_certificate_has_a_logarithmic_axis():
    model = AdaBoostClassifier(n_estimators=80).fit(TEN, TEN_Y)
    left, _ = model.certificate().plot().axes
    assert left.get_xscale() == "log"
    assert left.get_xlim() == (1, 80)


def test_one_round_has_a_whole_number():
    X = np.arange(6.0)[:, None]
    with pytest.warns(DataWarning, match="M-PERFECT"):
        model = AdaBoostClassifier(n_estimators=3).fit(X, X[:, 0] > 2)
    figure = model.certificate().plot()
    figure.canvas.draw()
    left = figure.axes[0]
    shown = [t for t in left.get_xticks() if 0.5 <= t <= 1.5]
    assert shown == [1]
