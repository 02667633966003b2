"""The loss of several columns: a sum of losses, each of its own column."""

import numpy as np
import pytest

from committee import InputError
from committee.losses import Absolute, Columns, Multinomial, Poisson, Squared, check_loss

Y = np.array([[1.0, 2.0], [0.5, 0.0], [-3.0, 4.0]])
RAW = np.array([[0.2, 0.1], [1.0, -1.0], [2.0, 0.5]])


def test_columns_add_up():
    loss = Columns((Squared(), Poisson()))
    parts = [Squared().value(Y[:, 0], RAW[:, 0]), Poisson().value(Y[:, 1], RAW[:, 1])]
    np.testing.assert_array_equal(loss.value(Y, RAW), parts[0] + parts[1])
    np.testing.assert_array_equal(
        loss.predict(RAW), np.column_stack([RAW[:, 0], np.exp(RAW[:, 1])])
    )
    assert loss.start(Y, np.ones(3)) == pytest.approx([-0.5, np.log(2)])
    assert (loss.n_outputs, loss.constant_hessian, loss.renews_leaves) == (2, False, False)
    check_loss(loss, Y, RAW)


def test_columns_know_what_their_parts_are():
    loss = Columns((Squared(), Absolute()))
    assert (loss.constant_hessian, loss.renews_leaves, loss.exact_hessian) == (True, True, False)
    assert loss.best_constant(np.array([1.0, 2.0, 9.0]), np.ones(3), 1) == 2
    assert loss == Columns((Squared(), Absolute())) != Columns((Squared(), Squared()))


def test_columns_refuse():
    with pytest.raises(InputError, match=r"P-LOSS.*Multinomial.*3 scores"):
        Columns((Squared(), Multinomial(3)))
    with pytest.raises(InputError, match=r"Y-NEGATIVE.*column 0 of y"):
        Columns((Poisson(), Poisson())).check_target(Y)
    with pytest.raises(InputError, match=r"Y-SHAPE"):
        Columns((Squared(), Poisson())).check_target(Y[:, 0])
