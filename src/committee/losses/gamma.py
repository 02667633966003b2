"""Gamma loss: positive amounts whose spread grows with their mean, the log of which is the score.

Half the deviance of the gamma model (Nelder and Wedderburn 1972): y / mu - 1 - log(y / mu) with
mu = exp(raw). It depends on the ratio y / mu only, so that units of y do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committee.core.members import Floats
from committee.losses.averages import weighted_mean
from committee.losses.domains import refuse_rows
from committee.losses.exponents import LIMIT, bounded_exp
from committee.losses.loss import LONGEST_STEP, Loss, constant_scores


@dataclass(frozen=True)
class Gamma(Loss):
    """Half the gamma deviance with a log link; predicts means of positive amounts.

    Examples
    --------
    >>> import numpy as np
    >>> Gamma().value(np.array([5.0, 5000.0]), np.log([5.0, 5000.0]))
    array([0., 0.])
    """

    longest_step = LONGEST_STEP

    def check_target(self, y: Floats) -> None:
        """Refuse values that are not above 0."""
        refuse_rows(
            y,
            ~(y > 0),
            "Y-POSITIVE",
            "values that are not above 0",
            allowed="values > 0, as the gamma loss needs",
            fix="use loss='tweedie' if zeros are meant, or drop these rows",
        )

    def start(self, y: Floats, weight: Floats) -> Floats:
        """Return the logarithm of the mean."""
        return constant_scores(np.log(weighted_mean(y, weight)))

    def value(self, y: Floats, raw: Floats) -> Floats:
        """Return half the deviance."""
        ratio = np.log(y) - raw  # of logarithms: y / mu itself may overflow
        beyond = np.maximum(ratio - LIMIT, 0.0)
        return np.expm1(np.minimum(ratio, LIMIT)) - ratio + bounded_exp(ratio) * beyond

    def gradient_hessian(self, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
        """Return 1 - y / exp(raw), and y / exp(raw)."""
        ratio = np.log(y) - raw
        return -np.expm1(np.minimum(ratio, LIMIT)), bounded_exp(ratio)

    def predict(self, raw: Floats) -> Floats:
        """Return exp(raw)."""
        return bounded_exp(raw)
