"""ActiveDECORATE: ask where a committee that was made to disagree is least sure.

Melville and Mooney, "Diverse ensembles for active learning" (2004): DECORATE trains each member on
artificial rows labelled against the committee so far, so that members agree on the labelled rows
and differ elsewhere. Of the pool, ask about

    argmin over x of P(first class) - P(second class),

the two largest mean probabilities of 15 members; a batch takes the m smallest. Melville et al.
(2005) use the Jensen-Shannon divergence instead where probabilities are wanted, not labels.
"""

from __future__ import annotations

from typing import Any, ClassVar

from committee.active.active_classifier import ActiveClassifier
from committee.active.active_docs import SECTIONS
from committee.core.parameter_docs import documented_with
from committee.core.params import CATEGORICAL_CONSTRAINTS, integer, real
from committee.ensembles.decorate import DecorateClassifier
from committee.ensembles.decorate.decorate_docs import SECTIONS as DECORATE


@documented_with(SECTIONS, DECORATE)
class ActiveDecorate(ActiveClassifier):
    """Ask about the rows for which the two most probable classes of DECORATE are closest.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The base learner, any classifier; None is C4.5 as in :class:`DecorateClassifier`.
    n_estimators : int, default=15
        The most members, at least 2.
    {trials}
    measure : str, default="margin"
        {measures}
    {asking}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from committee import load_heart
    >>> from committee.active import ActiveDecorate
    >>> X, y = load_heart(as_frame=True)
    >>> model = ActiveDecorate(random_state=0).fit(X[:30], y[:30])
    >>> query = model.query(X[30:], k=3)
    >>> bool(query.disagreement[0] >= query.disagreement[2])
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ActiveClassifier._parameter_constraints,
        "n_estimators": [integer(1)],
        "max_trials": [integer(1)],
        "artificial_size": [real(0, None, "neither")],
        "categorical_features": CATEGORICAL_CONSTRAINTS,
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 15,
        *,
        max_trials: int = 50,
        artificial_size: float = 1.0,
        categorical_features: Any = "from_dtype",
        measure: str = "margin",
        batch: str = "top",
        shortlist: int = 10,
        n_candidates: int | None = None,
        classes: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_trials = max_trials
        self.artificial_size = artificial_size
        self.categorical_features = categorical_features
        self.measure = measure
        self.batch = batch
        self.shortlist = shortlist
        self.n_candidates = n_candidates
        self.classes = classes
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _committee(self, seed: int, n_threads: int) -> DecorateClassifier:
        return DecorateClassifier(
            self.estimator,
            self.n_estimators,
            max_trials=self.max_trials,
            artificial_size=self.artificial_size,
            categorical_features=self.categorical_features,
            n_jobs=n_threads,
            random_state=seed % 2**32,
        )
