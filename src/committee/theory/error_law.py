"""Why an average beats its members: the 1/m law with correlated errors, and the ambiguity.

For m members with errors e_k = f_k - y the mean over the rows of the committee's squared error is

    bias² + rho s² + (1 - rho) s² / m,

an identity when bias is the mean of all errors, s² the mean variance of a member's error and rho s²
the mean covariance of two members' errors, all over the same rows (Ueda & Nakano 1996). With
uncorrelated, unbiased errors it is the law "average error / m" (Perrone & Cooper 1993). Row by row:
squared error of the committee = mean squared error of the members - their ambiguity, the spread
around the committee (Krogh & Vedelsby 1995).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.core.params import integer, invalid
from committee.data import InputError, read_weights
from committee.data.errors import describe
from committee.theory.replicates import Floats


@dataclass(frozen=True)
class ErrorLaw:
    """The parts of a committee's squared error, measured over rows.

    Attributes
    ----------
    n_members : int
        m.
    member_error : float
        The mean squared error of a member; equals ``bias_squared + variance`` plus
        ``bias_spread``.
    committee_error : float
        The mean squared error of the members' plain average, computed directly.
    bias_squared : float
        The square of the mean of all members' errors.
    bias_spread : float
        The variance of the members' mean errors around their mean: it averages away in the bias.
    variance : float
        s², the mean over members of the variance of the error over the rows.
    covariance : float
        rho s², the mean over pairs of members of the covariance of their errors; NaN for one
        member.
    """

    n_members: int
    member_error: float
    committee_error: float
    bias_squared: float
    bias_spread: float
    variance: float
    covariance: float

    @property
    def correlation(self) -> float:
        """The mean correlation of two members' errors: rho = covariance / variance."""
        return self.covariance / self.variance if self.variance > 0 else float("nan")

    @property
    def predicted(self) -> float:
        """The committee's error by the law; equals ``committee_error`` up to rounding."""
        return self.at(self.n_members)

    @property
    def independent(self) -> float:
        """What the error would be with uncorrelated, unbiased errors: ``member_error / m``."""
        return self.member_error / self.n_members

    @property
    def floor(self) -> float:
        """The error that no number of such members goes below: bias² + rho s²."""
        return self.bias_squared + self.covariance

    def at(self, n_members: int) -> float:
        """Predict the error of a committee of ``n_members`` members like these.

        Parameters
        ----------
        n_members : int
            The number of members.

        Returns
        -------
        float
            bias² + rho s² + (1 - rho) s² / n_members.
        """
        if not integer(1).is_satisfied_by(n_members):
            raise invalid("n_members", "ErrorLaw.at", "an int in the range [1, inf)", n_members)
        if n_members == 1:
            return self.bias_squared + self.variance
        return self.floor + (self.variance - self.covariance) / n_members

    def __str__(self) -> str:
        lines = [
            f"Squared error of a committee of {self.n_members}",
            f"  {'mean error of a member':<30}{self.member_error:>12.5g}",
            f"  {'bias²':<30}{self.bias_squared:>12.5g}",
            f"  {'variance s²':<30}{self.variance:>12.5g}",
            f"  {'correlation rho':<30}{self.correlation:>12.5g}",
            f"  {'bias² + rho s² + (1-rho) s²/m':<30}{self.predicted:>12.5g}",
            f"  {'actual error of the committee':<30}{self.committee_error:>12.5g}",
            f"  {'if errors were independent':<30}{self.independent:>12.5g}",
            f"  {'with ever more members':<30}{self.floor:>12.5g}",
        ]
        return "\n".join(lines)


def measure_error_law(outputs: Any, y: Any, *, sample_weight: Any = None) -> ErrorLaw:
    """Measure the 1/m law on a committee.

    Parameters
    ----------
    outputs : array-like of shape (n_members, n_rows) or (n_members, n_rows, n_outputs)
        What each member says of each row.
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        The truth in the same form: for class probabilities one column per class, 0 or 1.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        The weights of the rows.

    Returns
    -------
    ErrorLaw
        The parts, averaged over outputs.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=20_000)
    >>> law = measure_error_law(y + rng.normal(size=(25, 20_000)), y)  # independent errors
    >>> round(law.committee_error / law.independent, 1)
    1.0
    """
    errors, share = _errors(outputs, y, sample_weight)
    m = len(errors)
    means = np.einsum("mro,r->mo", errors, share)
    apart = errors - means[:, None, :]
    variance = float(np.einsum("mro,r->mo", apart**2, share).mean())
    mean_square = float((share @ apart.mean(axis=0) ** 2).mean())  # (s² + (m - 1) rho s²) / m
    bias = means.mean(axis=0)
    return ErrorLaw(
        n_members=m,
        member_error=float(np.einsum("mro,r->mo", errors**2, share).mean()),
        committee_error=float((share @ errors.mean(axis=0) ** 2).mean()),
        bias_squared=float((bias**2).mean()),
        bias_spread=float(((means - bias) ** 2).mean()),
        variance=variance,
        covariance=(m * mean_square - variance) / (m - 1) if m > 1 else float("nan"),
    )


@dataclass(frozen=True, eq=False)
class Ambiguity:
    """The ambiguity decomposition: ``committee_error = member_error - ambiguity`` in every row.

    Attributes
    ----------
    member_error : ndarray of float64, shape (n_rows,)
        The weighted mean of the members' squared errors.
    ambiguity : ndarray of float64, shape (n_rows,)
        The weighted mean of the members' squared distances from the committee; needs no y.
    committee_error : ndarray of float64, shape (n_rows,)
        The squared error of the committee.
    """

    member_error: Floats
    ambiguity: Floats
    committee_error: Floats


def ambiguity(outputs: Any, y: Any, *, weights: Any = None) -> Ambiguity:
    """Split the squared error of a weighted average into members' error and disagreement.

    Parameters
    ----------
    outputs, y
        As in :func:`measure_error_law`; errors are averaged over outputs.
    weights : array-like of shape (n_members,) or None, default=None
        The weights of the members, >= 0; they are divided by their sum. None makes them equal.

    Returns
    -------
    Ambiguity
        The terms per row.

    Examples
    --------
    >>> parts = ambiguity([[1.0, 4.0], [3.0, 4.0]], [2.0, 3.0])
    >>> parts.member_error, parts.ambiguity, parts.committee_error
    (array([1., 1.]), array([1., 0.]), array([0., 1.]))
    """
    errors, _ = _errors(outputs, y, None)
    given = None if weights is None else np.asarray(weights, dtype=np.float64)
    votes = np.ones(len(errors)) if given is None else given
    if votes.shape != (len(errors),) or not (votes >= 0).all() or not 0 < votes.sum() < np.inf:
        found = f"shape {votes.shape} for {len(errors)} members, or not all of them >= 0 and finite"
        allowed = "one weight >= 0 per member, not all 0"
        raise InputError(describe("P-VALUE", "weights", found, allowed=allowed))
    votes = votes / votes.sum()
    committee = np.tensordot(votes, errors, axes=1)
    return Ambiguity(
        member_error=np.tensordot(votes, errors**2, axes=1).mean(axis=-1),
        ambiguity=np.tensordot(votes, (errors - committee) ** 2, axes=1).mean(axis=-1),
        committee_error=(committee**2).mean(axis=-1),
    )


def _errors(outputs: Any, y: Any, sample_weight: Any) -> tuple[Floats, Floats]:
    """Return errors [member, row, output] and the rows' shares of the total weight."""
    said, truth = np.asarray(outputs, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if said.ndim not in (2, 3) or said.shape[1:] != truth.shape or 0 in said.shape:
        found = f"outputs of shape {said.shape}, y of shape {truth.shape}"
        allowed = "(n_members, n_rows) with (n_rows,), or a last axis of outputs in both"
        raise InputError(describe("Y-SHAPE", "outputs", found, allowed=allowed))
    if not (np.isfinite(said).all() and np.isfinite(truth).all()):
        found = "outputs or y hold NaN or infinities"
        fix = "leave out the rows that not all members predict"
        raise InputError(describe("Y-NAN", "outputs", found, allowed="finite numbers", fix=fix))
    errors = said - truth
    given = read_weights(sample_weight, errors.shape[1])
    weight = np.ones(errors.shape[1]) if given is None else given
    if not weight.any():
        raise InputError(
            describe("W-ZERO", "sample_weight", "all weights are 0", allowed="some weights > 0")
        )
    return errors.reshape(*errors.shape[:2], -1), weight / weight.sum()
