"""What the rows that members left out tell about a forest: score, curve, and proof of no leak."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.core.bags import BagPlan, LeftOut
from committee.core.members import Trees
from committee.core.outofbag import (
    LeakReport,
    OutOfBag,
    accumulate,
    compare_bags,
    compare_plans,
    compare_predictions,
    outputs_one_by_one,
    predict_left_out,
)
from committee.data import InputError, Labels
from committee.data.errors import describe
from committee.learners.forest_growing import ForestGrower
from committee.learners.targets import ClassTarget, Target

Floats: TypeAlias = npt.NDArray[np.float64]


class LeftOutViews:
    """Mixin of forests: out-of-bag score and curve, and the verification of both."""

    oob_score: Any
    forest_: _engine.Forest
    bag_plan_: BagPlan
    left_out_: LeftOut

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, seed: int | None
    ) -> ForestGrower:
        """Read the training rows and plan their bags."""
        raise NotImplementedError

    def _again(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> ForestGrower:
        """Read the training rows once more; others are refused."""
        check_is_fitted(self)
        if not self.bag_plan_.leaves_out:
            found = f"no member left a row out: bags are drawn by {self.bag_plan_.draw!r}"
            fix = "fit with bootstrap=True and resampling other than 'exponential'"
            raise InputError(describe("P-BAG", "bootstrap", found, fix=fix))
        grower = self._prepare(X, y, sample_weight, groups, self.bag_plan_.seed)
        compare_plans(self.bag_plan_, grower.plan)
        return grower

    def _oob_attributes(
        self, grower: ForestGrower, forest: _engine.Forest, left_out: LeftOut
    ) -> dict[str, Any]:
        """Score the forest on the rows its members left out."""
        found = predict_left_out(forest, grower.table, left_out, grower.n_threads)
        found.warn_unknown(grower.plan.drawable)
        scorer = self.oob_score if callable(self.oob_score) else None
        score = score_known(grower.target, found, grower.plan, scorer)
        classes = isinstance(grower.target, ClassTarget)
        name = "oob_decision_function_" if classes else "oob_prediction_"
        return {"oob_score_": score, name: shaped(grower.target, found.means)}

    def oob_curve(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> npt.NDArray[np.float64]:
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
        grower = self._again(X, y, sample_weight, groups)
        trees = Trees(self.forest_, grower.schema).each(grower.table, grower.n_threads)
        scorer = self.oob_score if callable(self.oob_score) else None
        stages = accumulate(trees, self.left_out_)
        return np.array([score_known(grower.target, s, grower.plan, scorer) for s in stages])

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
        grower = self._again(X, y, sample_weight, groups)
        forest, left_out = self.forest_, self.left_out_
        if len(left_out) != forest.n_trees:
            found = f"bags of {len(left_out)} members, forest_ has {forest.n_trees}"
            raise InputError(describe("M-LEAK", "left_out_", found, fix="fit the model again"))
        compare_bags(grower.bags, left_out, grower.n_threads)
        *_, found_again = accumulate(outputs_one_by_one(forest, grower.table), left_out)
        at_once = predict_left_out(forest, grower.table, left_out, grower.n_threads)
        compare_predictions(found_again.means, at_once.means, "forest_")
        for name in ("oob_decision_function_", "oob_prediction_"):
            if hasattr(self, name):
                again = shaped(grower.target, found_again.means)
                compare_predictions(again, getattr(self, name), name)
        return LeakReport(forest.n_trees, left_out.n_rows, int(found_again.counts.sum()))


def shaped(target: Target, means: Floats) -> Floats:
    """Lay out predictions as scikit-learn does.

    Classes: (n_rows, n_classes), or (n_rows, most classes, n_outputs) with zeros where an output
    has fewer. Numbers: (n_rows,) or (n_rows, n_outputs).
    """
    if not isinstance(target, ClassTarget):
        return means[:, 0] if means.shape[1] == 1 else means
    counts = target.n_classes
    if len(counts) == 1:
        return means
    out = np.zeros((len(means), max(counts), len(counts)))
    first = 0
    for output, count in enumerate(counts):
        out[:, :count, output] = means[:, first : first + count]
        first += count
    return out


def score_known(target: Target, found: OutOfBag, plan: BagPlan, scorer: Any = None) -> float:
    """Score out-of-bag predictions on the rows that have one; NaN where there are too few.

    Accuracy (all outputs right) or R², weighted as the rows were drawn; a scorer of the user's is
    given true and predicted targets.
    """
    rows = np.flatnonzero(found.known)
    means = found.means[rows]
    weight = plan.weight if plan.units is None else plan.units.astype(np.float64)
    weight = None if weight is None else weight[rows]
    if isinstance(target, ClassTarget):
        labels = target.labels
        parts = np.split(means, np.cumsum(target.n_classes)[:-1], axis=1)
        codes = np.stack([part.argmax(axis=1) for part in parts], axis=1)
        if scorer is not None:
            true, predicted = named(labels, labels.codes[rows]), named(labels, codes)
            return float(scorer(flat(true), flat(predicted)))
        right = (codes == labels.codes[rows]).all(axis=1)
        return float(np.average(right, weights=weight)) if len(rows) else np.nan
    if scorer is not None:
        return float(scorer(flat(target.y[rows]), flat(means)))
    if len(rows) < 2:
        return np.nan
    from sklearn.metrics import r2_score  # costs more to import than all of this package

    return float(r2_score(target.y[rows], means, sample_weight=weight))


def named(labels: Labels, codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Turn codes into labels, (n_rows, n_outputs)."""
    pairs = zip(labels.classes, codes.T, strict=True)
    return np.stack([classes[code] for classes, code in pairs], axis=1)


def flat(columns: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Drop the second axis where there is one output."""
    return columns[:, 0] if columns.shape[1] == 1 else columns
