"""Losses of the user's: slips are found, and named with function, row, shape and round (B84)."""

import numpy as np
import pytest

from committee import InputError
from committee.losses import (
    Absolute,
    Cox,
    Logistic,
    Loss,
    Multinomial,
    Poisson,
    Quantiles,
    Squared,
    check_loss,
    checked_constant,
    checked_gradients,
    checked_start,
    checked_values,
)

Y = np.array([0.0, 1.0, 2.0, 3.0])
RAW = np.array([0.5, 0.5, 1.0, 5.0])


def answering(gradient=None, hessian=None, value=None, base=Squared, **attributes):
    """Make a loss of which some answers go through a function first."""

    class Mine(base):
        def value(self, y, raw):
            values = super().value(y, raw)
            return values if value is None else value(values)

        def gradient_hessian(self, y, raw):
            g, h = super().gradient_hessian(y, raw)
            g = g if gradient is None else gradient(g)
            return g, h if hessian is None else hessian(h)

    for name, setting in attributes.items():
        setattr(Mine, name, setting)
    return Mine


def spoil(row, number):
    def change(array):
        array = array.astype(float)
        array[row] = number
        return array

    return change


# --- wrong derivatives


def test_a_wrong_gradient_is_named_with_its_row_and_numbers():
    loss = answering(gradient=spoil(2, 7.0))()
    with pytest.raises(InputError) as caught:
        check_loss(loss, Y, RAW)
    message = str(caught.value)
    assert caught.value.code == "L-GRADIENT"
    assert "Mine.gradient_hessian" in message
    assert "in row 2." in message
    assert "Row 2 (y = 2, raw = 1): the gradient is 7, but value changes by -1 " in message


@pytest.mark.parametrize("factor", [-1.0, 2.0, 1.001, 0.0])
@pytest.mark.parametrize("base", [Squared, Logistic, Cox])
def test_a_factor_on_the_gradient_is_found(base, factor):
    y = Y + 1 if base is Cox else np.minimum(Y, 1)
    loss = answering(gradient=lambda g: factor * g, base=base)()
    with pytest.raises(InputError, match="L-GRADIENT"):
        check_loss(loss, y)


def test_a_wrong_output_is_named():
    loss = answering(gradient=spoil((1, 2), 0.5), base=Multinomial)(3)
    with pytest.raises(InputError, match="Row 1, output 2"):
        check_loss(loss, np.array([0.0, 1.0, 2.0]))


def test_a_wrong_hessian_is_named_with_its_row_and_numbers():
    loss = answering(hessian=spoil(1, 3.0), base=Logistic)()
    with pytest.raises(InputError) as caught:
        check_loss(loss, np.array([0.0, 1.0]), np.zeros(2))
    assert caught.value.code == "L-HESSIAN"
    assert "Row 1 (y = 1, raw = 0): the hessian is 3, but the gradient changes by 0.25" in str(
        caught.value
    )
    assert "exact_hessian = False" in str(caught.value)


def test_an_upper_bound_will_do_where_no_more_is_claimed():
    check_loss(
        answering(hessian=lambda h: 2 * h, base=Logistic, exact_hessian=False)(),
        np.array([0.0, 1.0]),
    )
    loss = answering(hessian=lambda h: h / 2, base=Logistic, exact_hessian=False)()
    with pytest.raises(InputError, match="no upper bound"):
        check_loss(loss, np.array([0.0, 1.0]))


def test_a_hessian_that_is_called_constant_must_be_one():
    loss = answering(hessian=lambda h: 2 * h, exact_hessian=False)()
    with pytest.raises(InputError, match="constant_hessian is set, but Row 0"):
        check_loss(loss, Y, RAW)


def test_a_negative_hessian_is_refused():
    with pytest.raises(InputError, match=r"L-HESSIAN.*round 4: row 3 has -2"):
        checked_gradients(answering(hessian=spoil(3, -2.0))(), Y, RAW, round_number=4)


def test_scores_at_a_kink_are_no_slip():
    for loss in (Absolute(), Quantiles((0.2, 0.5, 0.8))):
        raw = Y if loss.n_outputs == 1 else np.tile(Y[:, None], 3)
        check_loss(loss, Y, raw)
        check_loss(loss, Y, raw + 3e-6)
    loss = answering(gradient=lambda g: g + 1.5, base=Absolute)()  # beyond both sides
    with pytest.raises(InputError, match="something from -1 to 1"):
        check_loss(loss, Y, Y)


def test_rounding_is_no_slip():
    rng = np.random.default_rng(0)
    y = 1e6 * rng.normal(size=50)
    check_loss(Squared(), y, y + rng.normal(size=50))
    check_loss(Squared(), y)
    check_loss(Poisson(), np.full(3, 1e9), np.log(1e9) + np.array([0.0, 1e-9, 1e-3]))
    # Here a gradient near 1 changes in its last digits only.
    check_loss(Logistic(), np.ones(200), np.linspace(-40.0, -10.0, 200))


def test_of_a_joint_loss_some_rows_are_looked_at():
    asked = []

    class Counting(Cox):
        def value(self, y, raw):
            asked.append(1)
            return super().value(y, raw)

    rng = np.random.default_rng(1)
    check_loss(Counting(), rng.exponential(size=500) + 0.1, max_rows=20)
    assert len(asked) < 60


# --- B84: NaN and wrong shapes


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (answering(gradient=spoil(1, np.nan)), ["Mine.gradient_hessian", "gradient", "row 1"]),
        (answering(hessian=spoil(2, np.inf)), ["Mine.gradient_hessian", "hessian", "row 2"]),
        (answering(gradient=lambda g: g[:2]), ["Mine.gradient_hessian", "(2,)", "(4,)"]),
        (answering(gradient=lambda g: g[:, None]), ["gradient", "(4, 1)", "(4,)"]),
        (answering(hessian=lambda h: 1.0), ["Mine.gradient_hessian", "hessian", "()"]),
        (answering(gradient=lambda g: g + 1j), ["Mine.gradient_hessian", "complex128"]),
        (answering(gradient=lambda g: None), ["Mine.gradient_hessian", "object"]),
    ],
)
def test_b84_gradients_that_are_none(loss, words):
    for ask in (
        lambda: checked_gradients(loss(), Y, RAW, round_number=17),
        lambda: check_loss(loss(), Y, RAW),
    ):
        with pytest.raises(ValueError, match=r"^\[L-(SHAPE|FINITE)\]") as caught:
            ask()
        assert [word for word in words if word not in str(caught.value)] == []
    with pytest.raises(ValueError, match="in round 17"):
        checked_gradients(loss(), Y, RAW, round_number=17)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (spoil(3, np.nan), ["Mine.value", "nan", "row 3"]),
        (lambda values: values.mean(), ["Mine.value", "shape ()", "(4,)"]),
        (lambda values: np.outer(values, values), ["Mine.value", "(4, 4)"]),
        (lambda values: ["a", "b", "c", "d"], ["Mine.value"]),
        (lambda values: [[1.0], [1.0, 2.0]], ["Mine.value"]),
    ],
)
def test_b84_values_that_are_none(change, words):
    loss = answering(value=change)()
    with pytest.raises(ValueError, match="in round 2") as caught:
        checked_values(loss, Y, RAW, round_number=2)
    assert [word for word in words if word not in str(caught.value)] == []
    with pytest.raises(ValueError, match=r"Mine\.value"):
        check_loss(loss, Y, RAW)


@pytest.mark.parametrize("answer", [None, np.zeros((3, 4)), (np.zeros(4),), 3.0])
def test_b84_something_else_than_a_pair(answer):
    class Mine(Squared):
        def gradient_hessian(self, y, raw):
            return answer

    with pytest.raises(ValueError, match=r"Mine\.gradient_hessian: the result is a .*round 1"):
        checked_gradients(Mine(), Y, RAW, round_number=1)


def test_b84_starts_and_constants():
    class Mine(Absolute):
        def start(self, y, weight):
            return np.median(y)

        def best_constant(self, residual, weight):
            return np.nan

    with pytest.raises(ValueError, match=r"Mine\.start: .* shape \(\), expected \(1,\)"):
        checked_start(Mine(), Y, np.ones(4))
    with pytest.raises(ValueError, match=r"Mine\.best_constant: the result holds nan.*in round 9"):
        checked_constant(Mine(), Y, np.ones(4), round_number=9)
    Mine.start = Absolute.start
    with pytest.raises(ValueError, match=r"Mine\.best_constant|Mine\.start"):
        check_loss(Mine(), Y, RAW)
    assert checked_constant(Quantiles((0.1, 0.5, 0.9)), Y, np.ones(4), 1) == 1.5


def test_b84_a_nan_met_while_the_start_is_searched():
    class Mine(Loss):
        def value(self, y, raw):
            return np.full(len(y), np.nan)

    with pytest.raises(ValueError, match=r"L-FINITE.*Mine\.value"):
        Mine().start(Y, np.ones(4))


def test_good_answers_are_handed_on():
    gradient, hessian = checked_gradients(Squared(), Y, RAW)
    assert (gradient == RAW - Y).all()
    assert (hessian == 1).all()
    assert (checked_values(Squared(), Y, RAW) == (RAW - Y) ** 2 / 2).all()
    integers = answering(gradient=lambda g: [0, 1, 2, 3])()
    assert checked_gradients(integers, Y, RAW)[0].dtype == np.float64


# --- arguments


def test_what_a_loss_must_define_is_said():
    class Mine(Loss):
        renews_leaves = True

    with pytest.raises(NotImplementedError, match=r"Mine must define value\(y, raw\)"):
        Mine().value(Y, RAW)
    with pytest.raises(NotImplementedError, match=r"Mine must define gradient_hessian\(y, raw\)"):
        Mine().gradient_hessian(Y, RAW)
    with pytest.raises(NotImplementedError, match="Mine renews leaves"):
        Mine().best_constant(Y, np.ones(4))
    assert Mine().predict(RAW) is RAW


@pytest.mark.parametrize("loss", [Squared, "squared_error", None])
def test_check_loss_wants_a_loss(loss):
    with pytest.raises(TypeError, match="an instance of committee"):
        check_loss(loss, Y)


def test_check_loss_wants_fitting_scores_and_targets():
    with pytest.raises(InputError, match=r"shape \(4, 3\)"):
        check_loss(Multinomial(3), np.array([0.0, 1.0, 2.0, 0.0]), RAW)
    with pytest.raises(InputError, match="Y-CODES"):
        check_loss(Logistic(), Y)
