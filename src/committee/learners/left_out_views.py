"""What the rows that members left out tell: score, curve, and proof that nothing leaked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.core.bags import BagPlan, LeftOut
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

WEIGHT_ROUNDING = 1e-6  # of the largest weight: the engine sums weights in units


@dataclass(frozen=True)
class Evidence:
    """The training rows read again: how their bags are drawn, and what the members say of them.

    Attributes
    ----------
    holder : str
        The attribute that holds the members.
    members : callable
        Gives the outputs of one member after the other.
    at_once : callable
        Gives the out-of-bag predictions as fit computes them.
    compare_members : callable or None
        Raises an InputError unless each member was made from its bag; None where a member does not
        show what it was made from.
    """

    target: Target
    plan: BagPlan
    holder: str
    n_members: int
    n_threads: int
    members: Callable[[], Iterator[Floats]]
    at_once: Callable[[], OutOfBag]
    compare_members: Callable[[], None] | None = None


class LeftOutProof:
    """Mixin of committees on bags: the out-of-bag curve, and the proof that nothing leaked."""

    oob_score: Any
    bag_plan_: BagPlan
    left_out_: LeftOut

    if TYPE_CHECKING:  # each kind of committee reads the rows, with the seed of bag_plan_

        def _evidence(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Evidence: ...

    def _again(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Evidence:
        """Read the training rows once more; others are refused."""
        check_is_fitted(self)
        if not self.bag_plan_.leaves_out:
            found = f"no member left a row out: bags are drawn by {self.bag_plan_.draw!r}"
            fix = "fit with bootstrap=True and resampling other than 'exponential'"
            raise InputError(describe("P-BAG", "bootstrap", found, fix=fix))
        evidence = self._evidence(X, y, sample_weight, groups)
        compare_plans(self.bag_plan_, evidence.plan)
        return evidence

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
        evidence = self._again(X, y, sample_weight, groups)
        stages = accumulate(evidence.members(), self.left_out_)
        score = partial(score_known, evidence.target, plan=evidence.plan, scorer=self.oob_score)
        return np.array([score(stage) for stage in stages])

    def verify_no_leak(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> LeakReport:
        """Verify that out-of-bag predictions come from members that have not seen the row.

        Every member's bag is drawn again from the seed and the content of the rows and compared
        with the stored bitmap. The leaves of every tree must hold the weight of just the rows of
        its bag. Then all out-of-bag predictions are computed again, one member at a time, and
        compared bit for bit.

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
        evidence = self._again(X, y, sample_weight, groups)
        left_out, n_members = self.left_out_, evidence.n_members
        if len(left_out) != n_members:
            found = f"bags of {len(left_out)} members, {evidence.holder} has {n_members}"
            raise InputError(describe("M-LEAK", "left_out_", found, fix="fit the model again"))
        compare_bags(evidence.plan.native(), left_out, evidence.n_threads)
        if evidence.compare_members is not None:
            evidence.compare_members()
        *_, found_again = accumulate(evidence.members(), left_out)
        again = shaped(evidence.target, found_again.means)
        at_once = shaped(evidence.target, evidence.at_once().means)
        compare_predictions(again, at_once, evidence.holder)
        for name in ("oob_decision_function_", "oob_prediction_"):
            if hasattr(self, name):
                compare_predictions(again, getattr(self, name), name)
        return LeakReport(n_members, left_out.n_rows, int(found_again.counts.sum()))


class LeftOutViews(LeftOutProof):
    """Mixin of forests: their evidence, and the score at the end of fit."""

    forest_: _engine.Forest

    if TYPE_CHECKING:

        def _prepare(
            self, X: Any, y: Any, sample_weight: Any, groups: Any, seed: int | None
        ) -> ForestGrower: ...

    def _evidence(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Evidence:
        grower = self._prepare(X, y, sample_weight, groups, self.bag_plan_.seed)
        forest, table = self.forest_, grower.table
        return Evidence(
            grower.target,
            grower.plan,
            "forest_",
            forest.n_trees,
            grower.n_threads,
            partial(outputs_one_by_one, forest, table),
            partial(predict_left_out, forest, table, self.left_out_, grower.n_threads),
            partial(compare_leaves, forest, grower),
        )

    def _oob_attributes(
        self, grower: ForestGrower, forest: _engine.Forest, left_out: LeftOut
    ) -> dict[str, Any]:
        """Score the forest on the rows its members left out."""
        found = predict_left_out(forest, grower.table, left_out, grower.n_threads)
        found.warn_unknown(grower.plan.drawable)
        score = score_known(grower.target, found, grower.plan, self.oob_score)
        classes = isinstance(grower.target, ClassTarget)
        name = "oob_decision_function_" if classes else "oob_prediction_"
        return {"oob_score_": score, name: shaped(grower.target, found.means)}


def compare_leaves(forest: _engine.Forest, grower: ForestGrower) -> None:
    """Compare the weight in each leaf with that of the rows of the bag that fall into it."""
    begin = forest.tree_begin
    for member in range(forest.n_trees):
        weight = grower.weights(member)
        leaves = forest.slice(member, member + 1).apply(grower.table)[:, 0]
        held = forest.weight[begin[member] : begin[member + 1]]
        is_leaf = forest.left[begin[member] : begin[member + 1]] == np.arange(len(held))
        seen = np.bincount(leaves, weight, minlength=len(held))
        wrong = np.abs(seen - held) > WEIGHT_ROUNDING * weight.max()
        if (wrong & is_leaf).any():
            leaf = int(np.flatnonzero(wrong & is_leaf)[0])
            found = (
                f"leaf {leaf} of member {member} holds a weight of {held[leaf]:g}, the rows of its "
                f"bag that fall into it weigh {seen[leaf]:g}"
            )
            raise InputError(describe("M-LEAK", "forest_", found, fix="fit the model again"))


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
    given true and predicted targets, and anything that cannot be called is none.
    """
    scorer = scorer if callable(scorer) else None
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
