"""The display of errors by round: what is drawn is what was computed by hand."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from tests.ensembles.boosting.ten_points import X as TEN
from tests.ensembles.boosting.ten_points import y as TEN_Y
from tests.theory.displayed import EPS, Z, three_classes, written

from committee.data import InputError
from committee.ensembles import BaggingClassifier
from committee.ensembles.boosting.adaboost import AdaBoostClassifier
from committee.ensembles.boosting.adaboost_r2 import AdaBoostRegressor
from committee.ensembles.boosting.certificate_plot import training_bounds
from committee.ensembles.boosting.gentleboost import GentleBoostClassifier
from committee.ensembles.boosting.logitboost import LogitBoostClassifier
from committee.ensembles.boosting.madaboost import MadaBoostClassifier
from committee.ensembles.boosting.multiboost import MultiBoostClassifier
from committee.theory.displays.boosting_curve import BoostingCurve, BoostingCurveDisplay


def test_r3_errors_and_bounds_of_the_ten_points(ten):
    display = BoostingCurveDisplay.from_estimator(
        ten, TEN[:4], [1] * 4, X_train=TEN, y_train=TEN_Y, rows_name="test"
    )
    curve = display.curves["AdaBoostClassifier"]
    np.testing.assert_allclose(curve.training, [0.3, 0.3, 0.0])
    np.testing.assert_allclose(curve.bounds["product of Z"], np.cumprod(Z), rtol=1e-12)
    expected = np.exp(-2 * np.cumsum((0.5 - EPS) ** 2))
    np.testing.assert_allclose(curve.bounds["exp(−2 Σ γ²)"], expected, rtol=1e-12)
    np.testing.assert_allclose(expected, [0.9231, 0.7841, 0.6019], atol=5e-5)
    lines = display.lines_["AdaBoostClassifier"]
    assert set(lines) == {"training", "test", "product of Z", "exp(−2 Σ γ²)"}
    np.testing.assert_array_equal(lines["training"].get_xdata(), [1, 2, 3])
    np.testing.assert_allclose(lines["training"].get_ydata(), [0.3, 0.3, 0.0])
    wrong = [np.mean(said != 1) for said in ten.staged_predict(TEN[:4])]
    np.testing.assert_allclose(lines["test"].get_ydata(), wrong)
    assert display.final["AdaBoostClassifier"]["training"] == 0
    assert "product of Z  0.516" in written(display.ax_)


def test_rows_alone_are_not_called_training_rows(ten):
    display = BoostingCurveDisplay.from_estimator(ten, TEN[:4], [1, 1, 0, 1])
    wrong = [np.mean(said != [1, 1, 0, 1]) for said in ten.staged_predict(TEN[:4])]
    lines = display.lines_["AdaBoostClassifier"]
    assert list(lines) == ["given rows"]  # no bound: it speaks of the training error
    np.testing.assert_allclose(lines["given rows"].get_ydata(), wrong)
    assert display.curves["AdaBoostClassifier"].training is None
    assert f"given rows  {wrong[-1]:.3f}" in written(display.ax_)


def test_weights_of_the_rows_given_and_of_the_training_rows_are_two():
    w, v = np.arange(1.0, 5), np.arange(1.0, 11)
    model = AdaBoostClassifier(n_estimators=3).fit(TEN, TEN_Y, v)
    curve = BoostingCurveDisplay.curve(
        model, TEN[:4], [1] * 4, sample_weight=w, X_train=TEN, y_train=TEN_Y, train_weight=v
    )
    for errors, rows, y, weight in ((curve.test, TEN[:4], 1, w), (curve.training, TEN, TEN_Y, v)):
        each = [np.average(said != y, weights=weight) for said in model.staged_predict(rows)]
        np.testing.assert_allclose(errors, each)


def test_training_error_is_weighted_as_the_bound_is():
    rng = np.random.default_rng(1)
    X, y, w = rng.random((80, 3)), rng.integers(0, 2, 80), rng.random(80)
    model = AdaBoostClassifier(n_estimators=10).fit(X, y, w)
    curve = BoostingCurveDisplay.curve(model, X, y, X_train=X, y_train=y, train_weight=w)
    last = np.sum(w[model.predict(X) != y]) / w.sum()
    assert curve.training[-1] == pytest.approx(last)
    assert (curve.training <= curve.bounds["product of Z"] + 1e-12).all()
    assert abs(last - np.mean(model.predict(X) != y)) > 1e-4


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (AdaBoostClassifier(learning_rate=0.5, n_estimators=8), ["product of Z"]),
        (GentleBoostClassifier(n_estimators=8), ["product of Z"]),
        (MadaBoostClassifier(n_estimators=8), ["mean of min(1, exp(-y F))"]),
        (LogitBoostClassifier(n_estimators=8), ["logistic loss in bits"]),
        (MultiBoostClassifier(n_estimators=9), []),  # a product for each sub-committee
    ],
)
def test_only_claimed_bounds_are_drawn_and_they_hold_in_every_round(model, names):
    rng = np.random.default_rng(2)
    X, y = rng.random((120, 4)), rng.integers(0, 2, 120)
    curve = BoostingCurveDisplay.curve(model.fit(X, y), X, y, X_train=X, y_train=y)
    assert list(curve.bounds) == names
    for bound in curve.bounds.values():
        assert len(bound) == len(curve.training)
        assert (curve.training <= bound + 1e-12).all()


def test_pseudo_loss_bound_is_a_multiple_of_the_product():
    X, y = three_classes()
    model = AdaBoostClassifier(n_estimators=5, algorithm="m2").fit(X[:, ::-1], y)
    bounds = training_bounds(model.certificate())
    np.testing.assert_allclose(bounds["2 times product of Z"], 2 * np.cumprod(model.rounds_["z"]))
    right = model.certificate().plot().axes[1]
    theta, bound = right.lines[2].get_data()
    assert bound[theta == 0].item() == pytest.approx(2 * np.prod(model.rounds_["z"]))


def test_member_without_error_leaves_earlier_rounds_open():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 2, dtype=float)
    y = np.array([0, 1, 1, 1] * 2)
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    model.committee_ = type(model.committee_)(model.committee_.members, [0.0, 0.0, 1.0])
    curve = BoostingCurveDisplay.curve(model, X, y, X_train=X, y_train=y)
    np.testing.assert_array_equal(np.isnan(curve.training), [True, True, False])
    display = BoostingCurveDisplay(curve).plot()
    assert display.final["model"]["training"] == curve.training[-1]


def test_several_models_side_by_side_on_one_scale(ten, one_vs_rest):
    X, y = three_classes()
    samme = AdaBoostClassifier(n_estimators=4).fit(X, y)
    display = BoostingCurveDisplay.from_estimator(
        {"SAMME": samme, "parts": one_vs_rest}, X, y, X_train=X, y_train=y, log_rounds=True
    )
    assert [ax.get_title(loc="left") for ax in display.axes_] == ["SAMME", "parts"]
    assert display.axes_[0].get_ylim() == display.axes_[1].get_ylim()
    assert display.ax_.get_xscale() == "log"
    assert list(display.curves["parts"].bounds) == []  # it has bounds per class only
    wrong = [np.mean(said != y) for said in one_vs_rest.staged_predict(X)]
    np.testing.assert_allclose(display.curves["parts"].training, wrong)
    rest = (y == "a").astype(int)
    part = BoostingCurveDisplay.curve(one_vs_rest.parts_[0], X, rest, X_train=X, y_train=rest)
    assert list(part.bounds) == ["mean of min(1, exp(-y F))"]


def test_rounds_of_several_members_count_once():
    X, y = three_classes()
    model = LogitBoostClassifier(n_estimators=4).fit(X, y)
    curve = BoostingCurveDisplay.curve(model, X, y)
    assert len(curve.test) == len(model.rounds_["loss"]) <= 4
    assert curve.test[-1] == np.mean(model.predict(X) != y)


def test_other_committees_have_errors_without_bounds():
    model = BaggingClassifier(n_estimators=4, random_state=0).fit(TEN, TEN_Y)
    curve = BoostingCurveDisplay.curve(model, TEN, TEN_Y, X_train=TEN, y_train=TEN_Y)
    assert curve.bounds == {}
    assert len(curve.training) == 4
    assert curve.training[-1] == np.mean(model.predict(TEN) != TEN_Y)


def test_wrong_curves(ten):
    with pytest.raises(NotFittedError):
        BoostingCurveDisplay.from_estimator(AdaBoostClassifier(), TEN, TEN_Y)
    with pytest.raises(InputError, match="staged_predict"):
        BoostingCurveDisplay.from_estimator(LogisticRegression().fit(TEN, TEN_Y), TEN, TEN_Y)
    with pytest.raises(InputError, match="together"):
        BoostingCurveDisplay.from_estimator(ten, TEN, TEN_Y, X_train=TEN)
    with pytest.raises(InputError, match="together"):
        BoostingCurveDisplay.from_estimator(ten, TEN, TEN_Y, train_weight=np.ones(10))
    for rows in ({"X_train": TEN + 1}, {"y_train": 1 - TEN_Y}, {"train_weight": np.arange(10.0)}):
        given = {"X_train": TEN, "y_train": TEN_Y} | rows
        with pytest.raises(InputError, match=r"M-ROWS.*X_train, y_train: .*not those of the fit"):
            BoostingCurveDisplay.from_estimator(ten, TEN, TEN_Y, **given)
    for taken in ("training", "product of Z"):
        with pytest.raises(InputError, match=f"{taken}.*another curve"):
            BoostingCurveDisplay.curve(ten, TEN, TEN_Y, X_train=TEN, y_train=TEN_Y, rows_name=taken)
    with pytest.raises(InputError, match="Y-LENGTH"):
        BoostingCurveDisplay.from_estimator(ten, TEN, TEN_Y[:-1])
    with pytest.raises(InputError, match="rounds"):
        BoostingCurveDisplay(BoostingCurve([0.1, 0.2], [0.1]))
    with pytest.raises(InputError, match="shape"):
        BoostingCurveDisplay(BoostingCurve([[0.1, 0.2]]))
    with pytest.raises(InputError, match="no curve"):
        BoostingCurveDisplay(BoostingCurve())
    with pytest.raises(InputError, match="2 axes for 1"):
        BoostingCurveDisplay(BoostingCurve([0.1])).plot(plt.subplots(1, 2)[1])
    regressor = AdaBoostRegressor(n_estimators=2, random_state=0).fit(TEN, TEN[:, 0])
    with pytest.raises(InputError, match="estimator"):
        BoostingCurveDisplay.curve(regressor, TEN, TEN[:, 0])
