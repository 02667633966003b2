"""The protocol of losses: what a gradient booster has to know of what it minimises.

A booster of the second order (Friedman, "Greedy function approximation: a gradient boosting
machine", 2001; Chen and Guestrin, "XGBoost", 2016) asks a loss for few things: where to start, how
much each row loses, the first two derivatives, and the way from scores to predictions. Weights of
rows are the booster's affair: it multiplies.
"""

from __future__ import annotations

import math

import numpy as np

from committee.core.members import Floats
from committee.losses.starting import newton_start

# Newton's step is the gradient over the curvature, and where that fades it says hundreds: one row
# in twenty of a class whose chance is 1e-4 asks for 500, which is then a chance of 1 for all twenty
# and a curvature of 0 that no later round finds back from. The third derivative of a loss made of
# exponentials of the score is at most the second, so that a step s changes it by at most
# G s + H (e^|s| - |s| - 1) (Bach, "Self-concordant analysis for logistic regression", 2010): up to
# 4, Newton's steps lower it whatever the rows of a leaf, where the learning rate is at most 0.3.
# Four is also where Friedman, Hastie and Tibshirani (2000) cut LogitBoost's responses, and XGBoost
# has such a bound in its max_delta_step.
LONGEST_STEP = 4.0


class Loss:
    """What a gradient booster minimises: a function of the target y and of raw scores.

    Subclass it for a loss of your own: ``value`` and ``gradient_hessian`` in plain NumPy are
    enough. ``check_loss`` holds the second against finite differences of the first.

    Attributes
    ----------
    n_outputs : int, default=1
        Scores a row; an instance may set it (classes, quantile levels).
    constant_hessian : bool, default=False
        Whether the hessian is 1 for every row.
    exact_hessian : bool, default=True
        Whether the hessian is the second derivative; False where it is an upper bound of it, as
        for a loss with kinks, whose second derivative is 0.
    separable : bool, default=True
        Whether the loss of a row depends on the score of that row only. Where it does not (Cox),
        the derivatives are those of the sum of all values.
    renews_leaves : bool, default=False
        Whether leaves get the ``best_constant`` of their rows instead of the Newton step.
    longest_step : float, default=inf
        How far a round may move a score at most. Splits are chosen by whole steps.

    Notes
    -----
    ``raw`` has shape (n,) where ``n_outputs`` is 1, otherwise (n, n_outputs). ``y`` has shape (n,)
    and is float64: numbers, or codes 0 to K - 1 of classes. A loss of several outputs meets y of
    shape (n, n_columns) where a regressor is given that. The stock losses stay finite wherever
    ``abs(y)`` and ``abs(raw)`` are at most 1e150.

    Examples
    --------
    The logarithm of the hyperbolic cosine: squared for small residuals, absolute for large ones.

    >>> import numpy as np
    >>> from committee.losses import Loss, check_loss
    >>> class LogCosh(Loss):
    ...     def value(self, y, raw):
    ...         distance = np.abs(raw - y)
    ...         return distance + np.log1p(np.exp(-2 * distance)) - np.log(2)
    ...
    ...     def gradient_hessian(self, y, raw):
    ...         slope = np.tanh(raw - y)
    ...         return slope, 1 - slope**2
    >>> y = np.array([0.0, 1.0, 2.0, 50.0])
    >>> check_loss(LogCosh(), y, raw=np.array([0.5, 0.5, 4.0, 49.0]))

    The best constant is found by Newton steps, unless ``start`` says it. An outlier
    counts little:

    >>> LogCosh().start(y, np.ones(4)).round(3)
    array([1.554])

    A slip is found, with the row and the numbers:

    >>> class Slip(LogCosh):
    ...     def gradient_hessian(self, y, raw):
    ...         slope = np.tanh(raw - y)
    ...         return -slope, 1 - slope**2
    >>> check_loss(Slip(), y, raw=np.array([0.5, 0.5, 4.0, 49.0]))
    Traceback (most recent call last):
    committee.data.errors.InputError: [L-GRADIENT] Slip.gradient_hessian: the gradient is wrong in
    rows 0, 1, 2, 3 (4 in all). Row 0 (y = 0, raw = 0.5): the gradient is -0.462117, but value
    changes by 0.462117 for a unit of raw...
    """

    n_outputs: int = 1
    constant_hessian: bool = False
    exact_hessian: bool = True
    separable: bool = True
    renews_leaves: bool = False
    longest_step: float = math.inf

    def check_target(self, y: Floats) -> None:
        """Refuse a target outside the domain of the loss; by default every number is inside.

        Parameters
        ----------
        y : ndarray of shape (n,)
            The target, finite.

        Raises
        ------
        InputError
            Naming the rows at fault.
        """

    def start(self, y: Floats, weight: Floats) -> Floats:
        """Find the constant scores of least loss; by default with Newton steps from 0.

        Parameters
        ----------
        y, weight : ndarray of shape (n,)
            The target and the weights of rows, not all 0.

        Returns
        -------
        ndarray of shape (n_outputs,)
            The scores that boosting starts from.
        """
        return newton_start(self, y, weight)

    def value(self, y: Floats, raw: Floats) -> Floats:
        """Tell how much each row loses.

        Parameters
        ----------
        y : ndarray of shape (n,)
            The target.
        raw : ndarray of shape (n,) or (n, n_outputs)
            The scores.

        Returns
        -------
        ndarray of shape (n,)
            The loss of each row, summed over outputs and not weighted.
        """
        raise NotImplementedError(f"{type(self).__name__} must define value(y, raw)")

    def gradient_hessian(self, y: Floats, raw: Floats) -> tuple[Floats, Floats]:
        """Differentiate the loss by the scores, once and twice.

        Parameters
        ----------
        y : ndarray of shape (n,)
            The target.
        raw : ndarray of shape (n,) or (n, n_outputs)
            The scores.

        Returns
        -------
        gradient, hessian : ndarray, shaped like ``raw``
            The slope, and the curvature along each output or an upper bound of it; the curvature
            is nowhere negative.
        """
        raise NotImplementedError(f"{type(self).__name__} must define gradient_hessian(y, raw)")

    def predict(self, raw: Floats) -> Floats:
        """Turn scores into predictions (the inverse link); by default they are predictions.

        Parameters
        ----------
        raw : ndarray of shape (n,) or (n, n_outputs)
            The scores.

        Returns
        -------
        ndarray
            On the scale of y; probabilities (n, n_classes) where y holds classes.
        """
        return raw

    def best_constant(self, residual: Floats, weight: Floats, output: int = 0) -> float:
        """Find the constant of least loss for the rows of a leaf; asked if ``renews_leaves``.

        Parameters
        ----------
        residual : ndarray of shape (n,)
            ``y - raw`` of the rows.
        weight : ndarray of shape (n,)
            Their weights, not all 0.
        output : int, default=0
            The output that the leaf belongs to.

        Returns
        -------
        float
            What to add to the scores of these rows.
        """
        raise NotImplementedError(
            f"{type(self).__name__} renews leaves and must define best_constant(residual, weight)"
        )


def constant_scores(score: float) -> Floats:
    """Return the one score that boosting starts from as an array."""
    return np.array([score], dtype=np.float64)
