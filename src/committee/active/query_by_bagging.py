"""Query by bagging: members fitted to bootstrap samples of the labelled rows disagree.

Abe and Mamitsuka, "Query learning strategies using boosting and bagging" (1998): a committee of T
bagged classifiers; of R random rows of the pool, ask about

    argmin over x of |votes for one class - votes for the other|,

with more classes the gap between the two largest counts. The rows that bootstrap samples leave out
tell for nothing whether more labels still help.
"""

from __future__ import annotations

from typing import Any, ClassVar

from committee.active.active_classifier import ActiveClassifier
from committee.active.active_docs import active_documented
from committee.core.params import integer
from committee.ensembles.bagging import BaggingClassifier


@active_documented
class QueryByBagging(ActiveClassifier):
    """Ask about the rows on which bagged classifiers are split most evenly.

    Parameters
    ----------
    estimator : estimator or None, default=None
        What is copied for each member, any classifier; None is a decision tree of this library.
    n_estimators : int, default=20
        The number of members, at least 2.
    measure : str, default="vote_margin"
        {measures}
    {asking}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from committee import load_heart
    >>> from committee.active import QueryByBagging
    >>> X, y = load_heart(as_frame=True)
    >>> model = QueryByBagging(random_state=0).fit(X[:30], y[:30])
    >>> query = model.query(X[30:], k=3)
    >>> query.disagreement
    array([1., 1., 1.])
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
        measure: str = "vote_margin",
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

    def _committee(self, seed: int, n_threads: int) -> BaggingClassifier:
        return BaggingClassifier(
            self.estimator, self.n_estimators, n_jobs=n_threads, random_state=seed % 2**32
        )
