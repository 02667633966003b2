"""Logistic loss: two classes, the log-odds of the second is the score.

The negative log-likelihood of logistic regression (Cox, "The regression analysis of binary
sequences", 1958), used for boosting by Friedman, Hastie and Tibshirani (2000) and Friedman (2001,
algorithm 5). With s = -1, +1 for the classes it is log(1 + exp(-s raw)): all formulas are
written in s raw, so that sure and right rows keep their digits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from committee.core.members import Floats
from committee.losses.averages import class_shares
from committee.losses.domains import check_codes
from committee.losses.loss import LONGEST_STEP, Loss, constant_scores


@dataclass(frozen=True)
class Logistic(Loss):
    """The logarithmic loss of two classes; predicts probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> loss = Logistic()
    >>> loss.value(np.array([0.0, 1.0]), np.array([0.0, 1000.0]))
    array([0.69314718, 0.        ])
    >>> loss.predict(loss.start(np.array([0.0, 0.0, 0.0, 1.0]), np.ones(4)))
    array([[0.75, 0.25]])
    """

    longest_step = LONGEST_STEP

    def check_target(self, y: Floats) -> None:
        """Refuse what is neither 0 nor 1."""
        check_codes(y, 2)

    def start(self, y: Floats, weight: Floats) -> Floats:
        """Return the log-odds; a class without a row gets a share of 1e-15."""
        first, second = class_shares(y, weight, 2)
        return constant_scores(np.log(second / first))

    def value(self, y: Floats, raw: Floats) -> Floats:
        """Return log(1 + exp(-s raw))."""
        return np.logaddexp(0.0, np.where(y > 0, -raw, raw))

    def gradient_hessian(self, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
        """Return p - y and p (1 - p), where p is the probability of the second class."""
        wrong = expit(np.where(y > 0, -raw, raw))  # the probability of the other class
        return np.where(y > 0, -wrong, wrong), expit(raw) * expit(-raw)

    def predict(self, raw: Floats) -> Floats:
        """Return the probabilities of both classes, (n, 2)."""
        # Of one row calls of NumPy take the time. Of many, mixed signs would: they branch in expit.
        if len(raw) == 1:
            score = raw.item()
            both: Floats = expit(np.array(((-score, score),)))
            return both
        shares = np.empty((len(raw), 2))
        expit(-raw, out=shares[:, 0])
        expit(raw, out=shares[:, 1])
        return shares
