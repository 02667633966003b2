"""What the rows that members left out tell about a bagged committee, and the proof of it."""

from __future__ import annotations

from functools import partial
from typing import Any

from committee.ensembles.bagging.bagged import Bagged
from committee.learners.left_out_views import Evidence, LeftOutProof


class LeftOutFacts(LeftOutProof, Bagged):
    """The out-of-bag curve of a bagged committee, and the verification that nothing leaked."""

    def _evidence(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Evidence:
        crew = self._crew(X, y, sample_weight, {})
        committee, left_out = self.committee_, self.left_out_
        return Evidence(
            crew.target,
            self._plan(crew, groups, self.bag_plan_.seed),
            "committee_",
            len(committee),
            crew.n_threads,
            partial(crew.one_by_one, committee, left_out),
            partial(crew.out_of_bag, committee, left_out),
        )
