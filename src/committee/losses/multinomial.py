"""Multinomial loss: K classes, a logit for each.

Friedman 2001, algorithm 6: the negative log-likelihood of softmax(raw). Scores start symmetric,
minus their mean.

All K scores of a row move in one round. With the curvature p (1 - p) of each alone, two classes
would move apart by two Newton steps instead of one. Friedman's factor (K - 1) / K on the step is
a factor K / (K - 1) on the hessian here, as in LightGBM: two classes then take the step that the
logistic loss takes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, softmax

from committee.core.members import Floats
from committee.core.params import integer, invalid
from committee.losses.averages import class_shares
from committee.losses.domains import check_codes
from committee.losses.loss import LONGEST_STEP, Loss


@dataclass(frozen=True)
class Multinomial(Loss):
    """The logarithmic loss of K classes; predicts probabilities.

    Parameters
    ----------
    n_classes : int
        The number K of classes, at least 2.

    Examples
    --------
    >>> import numpy as np
    >>> loss = Multinomial(n_classes=3)
    >>> start = loss.start(np.array([0.0, 1.0, 1.0, 2.0]), np.ones(4))
    >>> loss.predict(start[None])
    array([[0.25, 0.5 , 0.25]])
    """

    n_classes: int
    longest_step = LONGEST_STEP

    exact_hessian = False

    def __post_init__(self) -> None:
        if not integer(2).is_satisfied_by(self.n_classes):
            raise invalid("n_classes", "Multinomial", "an int >= 2", self.n_classes)
        object.__setattr__(self, "n_outputs", self.n_classes)

    def check_target(self, y: Floats) -> None:
        """Refuse what is no code of a class."""
        check_codes(y, self.n_classes)

    def start(self, y: Floats, weight: Floats) -> Floats:
        """Return the logarithms of the shares; a class without a row gets a share of 1e-15."""
        logits = np.log(class_shares(y, weight, self.n_classes))
        symmetric: Floats = logits - logits.mean()
        return symmetric

    def value(self, y: Floats, raw: Floats) -> Floats:
        """Return minus the logarithm of the probability of the true class."""
        own = np.take_along_axis(raw, y.astype(np.intp)[:, None], axis=1)
        values: Floats = logsumexp(raw - own, axis=1)
        return values

    def gradient_hessian(self, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
        """Return p - 1[true class], and K / (K - 1) p (1 - p)."""
        share = softmax(raw, axis=1)
        gradient = share.copy()
        gradient[np.arange(len(y)), y.astype(np.intp)] -= 1.0
        return gradient, self.n_classes / (self.n_classes - 1) * share * (1 - share)

    def predict(self, raw: Floats) -> Floats:
        """Return the probabilities of the classes, (n, n_classes)."""
        shares: Floats = softmax(raw, axis=1)
        return shares
