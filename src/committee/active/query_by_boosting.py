"""Query by boosting: ask where the weighted vote of AdaBoost is closest.

Abe and Mamitsuka, "Query learning strategies using boosting and bagging" (1998): boost T
classifiers on the labelled rows; of R random rows of the pool, ask about

    argmin over x of |sum of ln(1 / beta) over the votes for one class - that for the other|,

with more classes the gap between the two heaviest. ln(1 / beta) is twice our alpha. A member that
makes no error on the labelled rows ends boosting and decides alone; all rows then tie, and the
choice among them is random, which the query says.
"""

from __future__ import annotations

from typing import Any, ClassVar

from committee.active.active_classifier import ActiveClassifier
from committee.active.active_docs import active_documented
from committee.core.params import integer
from committee.ensembles.boosting.adaboost import AdaBoostClassifier


@active_documented
class QueryByBoosting(ActiveClassifier):
    """Ask about the rows for which the weighted vote of AdaBoost is closest.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The weak learner, any classifier; None is a decision stump of this library. A learner
        without error on the labelled rows leaves nothing to boost.
    n_estimators : int, default=20
        The largest number of members, at least 2.
    measure : str, default="weighted_vote_margin"
        {measures}
        Members vote, so that their probabilities are 0 and 1.
    {asking}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from committee import load_heart
    >>> from committee.active import QueryByBoosting
    >>> X, y = load_heart(as_frame=True)
    >>> model = QueryByBoosting(random_state=0).fit(X[:60], y[:60])
    >>> query = model.query(X[60:], k=3)
    >>> print(query.reasons[0])
    weighted vote margin 0.0...: 0.50 to 0.50 of the weight for ...
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ActiveClassifier._parameter_constraints,
        "n_estimators": [integer(1)],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 20,
        *,
        measure: str = "weighted_vote_margin",
        batch: str = "top",
        shortlist: int = 10,
        n_candidates: int | None = None,
        classes: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.measure = measure
        self.batch = batch
        self.shortlist = shortlist
        self.n_candidates = n_candidates
        self.classes = classes
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _committee(self, seed: int, n_threads: int) -> AdaBoostClassifier:
        return AdaBoostClassifier(
            self.estimator,
            n_estimators=self.n_estimators,
            n_jobs=n_threads,
            random_state=seed % 2**32,
        )
