"""Real AdaBoost: hypotheses say how sure they are (Schapire and Singer 1999).

A hypothesis that parts the rows into cells says in cell j

    c_j = 1/2 ln((W+_j + s) / (W-_j + s)),    which makes Z = 2 sum_j sqrt(W+_j W-_j) the least,

where W+_j and W-_j weigh the rows of either class there, and s keeps an unmixed cell finite. Other
hypotheses say half the log-odds of their probabilities (Friedman, Hastie and Tibshirani 2000), and
are given the weight alpha that makes Z = sum D exp(-alpha y f) the least: naive Bayes is surer than
it should be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import optimize

from committee.core.members import Floats
from committee.core.params import real
from committee.core.rounds import Round
from committee.ensembles.boosting.boosting_docs import boosting_documented
from committee.ensembles.boosting.certificate import Certificate, Claim
from committee.ensembles.boosting.hypothesis import Hypothesis
from committee.ensembles.boosting.one_vs_rest import TwoClassBooster
from committee.ensembles.boosting.record import Rounds
from committee.ensembles.boosting.reweighting import (
    CHANCE,
    NO_BETTER,
    distribution,
    product_claim,
)
from committee.ensembles.boosting.rows import TreeRows
from committee.ensembles.boosting.task import Task
from committee.learners.tree import DecisionTreeClassifier

FARTHEST = 2.0**20  # a step beyond this is no step


@boosting_documented
class RealAdaBoostClassifier(TwoClassBooster):
    """Real AdaBoost; more than two classes one against the rest.

    Its own weak learner is a tree of depth 1 whose split makes Z the least.

    Parameters
    ----------
    {members}
    smoothing : float or None, default=None
        The weight s that is added to either class in a cell, as a share of all weight; None is
        half a row's.
    {rest}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from committee import RealAdaBoostClassifier, load_heart
    >>> X, y = load_heart(as_frame=True)
    >>> model = RealAdaBoostClassifier(n_estimators=30).fit(X, y)
    >>> bool(model.score(X, y) > 0.85), model.certificate().holds
    (True, True)
    """

    _members_vote: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TwoClassBooster._parameter_constraints,
        "smoothing": [real(0, 1, "neither"), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        smoothing: float | None = None,
        resample: bool | str = "auto",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            n_estimators=n_estimators,
            resample=resample,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.smoothing = smoothing

    def _base(self) -> Any:
        if self.estimator is None:
            return DecisionTreeClassifier(max_depth=1, criterion="exponential")
        return self.estimator

    def _rounds(self, task: Task) -> Rounds:
        s = 1 / (2 * task.size) if self.smoothing is None else self.smoothing
        log_d, alphas = np.log(task.weight), np.empty(0)
        while True:
            d = distribution(log_d)
            h = confident(task.fit(d), d, task, s)
            u = task.agreement(h)
            alpha = 1.0 if isinstance(task.rows, TreeRows) else best_step(d, u)
            z = float(np.sum(d * np.exp(-alpha * u)))
            if z >= 1 - CHANCE:
                return NO_BETTER
            alphas = np.append(alphas, alpha)
            log_d -= alpha * u
            facts = {"edge": float(np.sum(d * np.sign(u))), "alpha": alpha, "z": z}
            yield Round(h.seat(), alphas, facts)

    def _claims(self, certificate: Certificate) -> Iterator[Claim]:
        yield product_claim(certificate)


def confident(h: Hypothesis, d: Floats, task: Task, s: float) -> Hypothesis:
    """Let a hypothesis say half the log-odds of the second class."""
    if h.cells is None:
        return h.through(HalfLogOdds(s))
    plus = np.bincount(h.cells, np.where(task.y == 1, d, 0.0))
    minus = np.bincount(h.cells, np.where(task.y == 1, 0.0, d))
    return h.valued(np.log((plus + s) / (minus + s))[:, None] / 2)


def best_step(d: Floats, u: Floats) -> float:
    """Find the alpha that makes sum d exp(-alpha u) the least; 1 where no row is wrong."""

    def slope(alpha: float) -> float:
        return float(np.sum(d * u * np.exp(-alpha * u)))

    if slope(0.0) <= 0 or not (u < 0).any():
        return float(slope(0.0) > 0)
    far = 1.0
    while slope(far) > 0 and far < FARTHEST:
        far *= 2
    return far if slope(far) > 0 else float(optimize.brentq(slope, 0.0, far, xtol=1e-12))


@dataclass(frozen=True)
class HalfLogOdds:
    """Reads class shares as half the log-odds of the second class."""

    smoothing: float

    def __call__(self, shares: Floats) -> Floats:
        """Smooth the shares, so that none is 0."""
        s = self.smoothing
        return np.asarray(np.log((shares[:, 1:2] + s) / (shares[:, 0:1] + s)) / 2)
