"""What the rows that members left out tell about a bagged committee, and the proof of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from committee.core.bags import BagPlan
from committee.core.members import Floats
from committee.core.outofbag import (
    LeakReport,
    accumulate,
    compare_bags,
    compare_plans,
    compare_predictions,
)
from committee.data import InputError
from committee.data.errors import describe
from committee.ensembles.bagged import Bagged, Crew
from committee.learners.left_out_views import score_known, shaped


class LeftOutFacts(Bagged):
    """The out-of-bag curve of a bagged committee, and the verification that nothing leaked."""

    def _again(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> tuple[Crew, BagPlan]:
        """Read the training rows once more; others are refused."""
        check_is_fitted(self)
        plan = self.bag_plan_
        if not plan.leaves_out:
            found = f"no member left a row out: bags are drawn by {plan.draw!r}"
            fix = "fit with bootstrap=True and resampling other than 'exponential'"
            raise InputError(describe("P-BAG", "bootstrap", found, fix=fix))
        crew = self._crew(X, y, sample_weight, {})
        again = self._plan(crew, groups, plan.seed)
        compare_plans(plan, again)
        return crew, again

    def oob_curve(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Floats:
        """Score the first 1, 2, .. members on the rows they left out.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in ``fit``: the training rows, which a fitted model does not keep.

        Returns
        -------
        ndarray of shape (n_members,)
            Accuracy or R², as in ``oob_score_``, which is the last of them; of the rows that at
            least one of the members left out.
        """
        crew, plan = self._again(X, y, sample_weight, groups)
        stages = accumulate(crew.one_by_one(self.committee_, self.left_out_), self.left_out_)
        return np.array([score_known(crew.target, s, plan, self._scorer()) for s in stages])

    def verify_no_leak(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> LeakReport:
        """Verify that out-of-bag predictions come from members that have not seen the row.

        Every member's bag is drawn again from the seed and the content of the rows and compared
        with the stored bitmap; then all out-of-bag predictions are computed again, one member at a
        time, and compared bit for bit.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in ``fit``.

        Returns
        -------
        LeakReport
            What was verified, as a sentence.

        Raises
        ------
        InputError
            Naming the first member and row that disagree, or the rows that are not those of fit.
        """
        crew, plan = self._again(X, y, sample_weight, groups)
        committee, left_out = self.committee_, self.left_out_
        if len(left_out) != len(committee):
            found = f"bags of {len(left_out)} members, committee_ has {len(committee)}"
            raise InputError(describe("M-LEAK", "left_out_", found, fix="fit the model again"))
        compare_bags(plan.native(), left_out, crew.n_threads)
        *_, found_again = accumulate(crew.one_by_one(committee, left_out), left_out)
        again = shaped(crew.target, found_again.means)
        compare_predictions(
            again, shaped(crew.target, crew.out_of_bag(committee, left_out).means), "committee_"
        )
        for name in ("oob_decision_function_", "oob_prediction_"):
            if hasattr(self, name):
                compare_predictions(again, getattr(self, name), name)
        return LeakReport(len(committee), left_out.n_rows, int(found_again.counts.sum()))
