"""What algorithms that reweight rows have in common: distributions, facts, reasons to stop."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from committee import _engine
from committee.core.margins import log_margin_bound
from committee.core.members import Floats
from committee.data.errors import describe, warn
from committee.ensembles.boosting.certificate import Certificate, Claim
from committee.ensembles.boosting.task import Task

CHANCE = 1e-10  # an edge below this is rounding
SMALLEST = np.finfo(np.float64).tiny / np.finfo(np.float64).eps  # below it quotients are rounding
REDRAWS = 10  # attempts with new draws, where rows are drawn, before a learner is given up
PERFECT = "a member without error: it decides alone"
NO_BETTER = "no member beat chance on the weighted rows"
ALL_RIGHT = "every training row is classified"
THETAS = (0.05, 0.1, 0.2, 0.3, 0.5)  # margins at which the certificate states its bound


def distribution(log_weight: Floats) -> Floats:
    """Normalise weights that are given as logarithms.

    Weights stay logarithms between rounds: products of exponentials underflow after some hundred.
    """
    flat = np.ascontiguousarray(log_weight).ravel()
    return _engine.distribution(flat).reshape(log_weight.shape)


def weight_of(d: Floats, chosen: npt.NDArray[np.bool_]) -> float:
    """Add the weights of some rows, in an order that depends on nothing but their number."""
    return float(np.sum(d * chosen.astype(np.float64)))  # three times as fast as a selection


def facts(error: float, alpha: float, edge: float, z: float) -> dict[str, float]:
    """Name the numbers of a round."""
    return {"error": error, "alpha": alpha, "edge": edge, "z": z}


def warn_perfect(task: Task, n_before: int = 0) -> None:
    """Say that a learner without error leaves nothing to boost; one class of many may be easy."""
    if task.part or task.recall_only:
        return
    found = "the first member classifies every training row, so that it is the whole committee"
    if n_before:
        found = f"member {n_before + 1} classifies every training row, so the others have no vote"
    fix = 'resample=True, or a weaker learner: max_depth, min_samples_leaf, pruning="pessimistic"'
    warn(describe("M-PERFECT", "estimator", found, fix=fix))


def exponential_claims(
    certificate: Certificate, *, optimal: bool, n_wrong: int = 1
) -> Iterator[Claim]:
    """State the theorems about the exponential loss (Schapire and Singer 1999).

    A row is wrong only if exp(-sum alpha u) >= 1, and the mean of that is the product of all Z.

    Parameters
    ----------
    certificate : Certificate
        With ``alpha``, ``edge`` and ``z`` in its rounds.
    optimal : bool
        Whether votes are +-1 and alpha is the best, so that Z is known in advance.
    n_wrong : int
        Wrong classes per row, where each has a weight of its own.
    """
    rounds = certificate.rounds
    alpha, edge = rounds["alpha"], rounds["edge"]
    if np.isinf(alpha).any():
        yield Claim("training error of a member without error", certificate.training_error, 0.0)
        return
    log_z = np.log(rounds["z"])
    product = float(n_wrong * np.exp(log_z.sum()))
    times = "" if n_wrong == 1 else f"{n_wrong} times "
    yield Claim(f"training error <= {times}product of Z", certificate.training_error, product)
    if optimal:
        bound = float(np.exp(-np.sum(edge**2) / 2))
        yield Claim("product of Z <= exp(-2 sum gamma^2), gamma = edge / 2", product, bound)
        apart = float(np.abs(rounds["z"] - np.sqrt(1 - edge**2)).max())
        yield Claim("largest difference of Z and sqrt(1 - 4 gamma^2)", apart, 0.0, "=")
    for theta in THETAS:
        log_bound = float(log_margin_bound(theta, alpha, log_z)) + np.log(n_wrong)
        if log_bound < 0:  # else it says nothing
            share = float(certificate.margin_distribution(theta))
            yield Claim(f"share of margins <= {theta:g}", share, float(np.exp(log_bound)))


def product_claim(certificate: Certificate) -> Claim:
    """State that the training error is at most the mean exponential loss, the product of all Z."""
    product = float(np.exp(np.log(certificate.rounds["z"]).sum()))
    return Claim("training error <= product of Z", certificate.training_error, product)
