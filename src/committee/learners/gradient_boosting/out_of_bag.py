"""Early stopping by the rows that a round did not see, where rounds see a part of the rows.

No row is given up: each round is judged by how much it changes the mean loss on the rows that were
not drawn for it, and the sum of the changes stands for the loss on new rows (Friedman, "Stochastic
gradient boosting", 2002; scikit-learn's ``oob_improvement_``). Such a row had a part in earlier
rounds, where the scores have already come closer to its target than to that of a new row. So the
sum tends to fall less than the loss on new rows would, and rounds tend to end early.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from committee.core.members import Floats
from committee.core.stages import Stages
from committee.data import InputError
from committee.data.errors import describe
from committee.learners.gradient_boosting.given import HeldOutArguments
from committee.learners.gradient_boosting.stopping import EarlyStop
from committee.learners.gradient_boosting.task import BoostingTask
from committee.losses.answers import checked_values
from committee.losses.loss import Loss


def check_out_of_bag(booster: Any, loss: Loss, held: HeldOutArguments) -> None:
    """Refuse ``early_stopping="oob"`` where rounds leave no rows out that could judge them."""
    if booster.early_stopping != "oob":
        return
    reasons = {
        "subsample": (booster.subsample == 1, "each round sees all rows", "subsample < 1"),
        "sampling_method": (
            booster.sampling_method != "uniform",
            "what gradient-based sampling leaves out is no fair sample",
            'sampling_method="uniform"',
        ),
        "n_parallel_trees": (
            booster.n_parallel_trees > 1,
            "trees of a round see different rows",
            "n_parallel_trees=1",
        ),
        "drop_rate": (
            booster.drop_rate > 0,
            "rounds of DART change what earlier ones count",
            "drop_rate=0",
        ),
        "loss": (
            not loss.separable,
            f"what a row loses in {type(loss).__name__} depends on the rows beside it",
            "early_stopping=True, or X_val and y_val",
        ),
        "X_val": (
            held.X is not None,
            "rows to stop by are given, too",
            "leave out X_val, or early_stopping=True",
        ),
    }
    for name, (wrong, why, fix) in reasons.items():
        if wrong:
            found = f'early_stopping="oob", but {why}'
            raise InputError(describe("P-SPLIT", name, found, fix=fix))


@dataclass(eq=False)
class UnseenRows:
    """What each round changes on the rows that it did not see.

    Attributes
    ----------
    task : BoostingTask
        Whose scores the rounds move.
    values : ndarray of float64
        What each row loses so far.
    improvements, scores : list of float
        Of each round: by how much the mean loss on its unseen rows fell, and what it then was.
        Where a round saw all rows by chance, 0 and NaN.
    """

    fact: ClassVar[str] = "out_of_bag_loss"
    one_by_one: ClassVar[bool] = True  # the scores are needed after each round

    task: BoostingTask
    values: Floats = field(init=False)
    improvements: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)

    def start(self, number: int) -> float:
        """Look at the scores before the first round; changes are summed from 0."""
        self.values = self._values(number)
        return 0.0

    def judge(self, made: Stages, weights: Floats) -> float:
        """Give the sum of the changes after one more round."""
        task, before, number = self.task, self.values, len(weights)
        self.values = self._values(number)
        unseen = np.ones(len(task.y), dtype=np.bool_)
        unseen[task.draw.rows(number - 1)] = False
        if unseen.any():
            weight = None if task.weight is None else task.weight[unseen]
            after = float(np.average(self.values[unseen], weights=weight))
            fall = float(np.average(before[unseen] - self.values[unseen], weights=weight))
        else:
            after, fall = np.nan, 0.0
        self.improvements.append(fall)
        self.scores.append(after)
        return -float(np.sum(self.improvements))

    def remembered(self, stop: EarlyStop) -> dict[str, Any]:
        """Collect what the estimator keeps of it."""
        return {
            "oob_improvement_": np.array(self.improvements),
            "oob_scores_": np.array(self.scores),
        }

    def _values(self, number: int) -> Floats:
        raw = self.task.raw
        scores = raw[0] if len(raw) == 1 else np.ascontiguousarray(raw.T)
        return checked_values(self.task.loss, self.task.y, scores, round_number=number)
