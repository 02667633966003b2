"""Cox loss: times to an event, some of them cut off before it; the score is the log hazard.

Cox, "Regression models and life-tables" (1972), with Breslow's ties (1974): each event loses
log(sum of exp(raw) over the rows still at risk) - raw, where rows of the same time are at risk
together. Targets are signed as in XGBoost: y > 0 is an event at time y, y < 0 is a row that was
last seen, without an event, at time -y.

Risk sums are accumulated as logarithms, from the last time to the first, so that no score over- or
underflows. Rows are sorted by time and score: their order in the data does not change a bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from committee.core.members import Floats
from committee.data import InputError
from committee.data.errors import describe
from committee.losses.domains import refuse_rows
from committee.losses.exponents import bounded_exp
from committee.losses.loss import LONGEST_STEP, Loss, constant_scores


@dataclass(frozen=True)
class Cox(Loss):
    """Cox's partial likelihood, negative and with Breslow's ties; predicts hazard ratios.

    The loss of a row depends on the scores of all rows at risk. The gradient is that of the sum
    of all values; weights multiply gradients and hessians, as in XGBoost, and do not enter the
    risk sums. A constant added to all scores changes nothing, so that scores start at 0.

    Examples
    --------
    >>> import numpy as np
    >>> times = np.array([1.0, 2.0, -3.0])  # the third was last seen at 3, without an event
    >>> Cox().value(times, np.zeros(3)).round(4)  # log 3, log 2, no event
    array([1.0986, 0.6931, 0.    ])
    """

    longest_step = LONGEST_STEP
    separable = False

    def check_target(self, y: Floats) -> None:
        """Refuse times of 0, which have no sign, and a y without an event."""
        refuse_rows(
            y,
            ~(np.abs(y) > 0),
            "Y-EVENTS",
            "times of 0",
            allowed="y > 0: event at time y; y < 0: no event until -y",
            fix="add a small time to all rows, before the sign is given",
        )
        if not (y > 0).any():
            found = "no value is above 0: there is no event to learn from"
            allowed = "y > 0: event at time y; y < 0: no event until -y"
            raise InputError(describe("Y-EVENTS", "y", found, allowed=allowed))

    def start(self, y: Floats, weight: Floats) -> Floats:
        """Return 0: a constant does not matter."""
        return constant_scores(0.0)

    def value(self, y: Floats, raw: Floats) -> Floats:
        """Return log(risk sum) - raw for events, and 0 for others."""
        line = _Timeline(y, raw)
        values = np.empty_like(raw)
        values[line.order] = np.where(line.event, line.log_risk - line.score, 0.0)
        return values

    def gradient_hessian(self, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives of the sum of all values by each score.

        With x the share that a row has in the risk sum of an event up to its own time, they are
        the sums of x (minus 1 for an event) and of x (1 - x).
        """
        line = _Timeline(y, raw)
        most = np.log(max(1, int(np.count_nonzero(line.event))))  # each share is at most 1
        shares = np.exp(np.minimum(line.score + line.log_hazard(1), most))
        squares = np.exp(np.minimum(2 * line.score + line.log_hazard(2), most))
        gradient, hessian = np.empty_like(raw), np.empty_like(raw)
        gradient[line.order] = shares - line.event
        hessian[line.order] = np.maximum(shares - squares, 0.0)
        return gradient, hessian

    def predict(self, raw: Floats) -> Floats:
        """Return exp(raw), the hazard in relation to that of score 0."""
        return bounded_exp(raw)


class _Timeline:
    """Rows in the order of time, each with the logarithm of the risk sum at its time.

    Attributes
    ----------
    order : ndarray of int
        Rows of the data, by time and then score.
    event, score, log_risk : ndarray
        In that order.
    """

    def __init__(self, y: Floats, raw: Floats) -> None:
        self.order: npt.NDArray[np.intp] = np.lexsort((raw, np.abs(y)))
        time = np.abs(y[self.order])
        self.event = y[self.order] > 0
        self.score = raw[self.order]
        # Rows of one time share what is counted up to its first and its last row.
        first = np.searchsorted(time, time, side="left")
        self._last = np.searchsorted(time, time, side="right") - 1
        self.log_risk: Floats = np.logaddexp.accumulate(self.score[::-1])[::-1][first]

    def log_hazard(self, power: int) -> Floats:
        """Return log(sum of risk^-power) over the events up to the time of each row."""
        terms = np.where(self.event, -power * self.log_risk, -np.inf)
        hazard: Floats = np.logaddexp.accumulate(terms)[self._last]
        return hazard
