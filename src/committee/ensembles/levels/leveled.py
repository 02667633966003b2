"""What stacks and cascades share: members on levels, asked in turn, and the proof of no leak."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils import metadata_routing
from sklearn.utils.validation import check_is_fitted

from committee.core.members import Floats, Member
from committee.data import InputError
from committee.data.errors import describe
from committee.ensembles.levels.answers import seated
from committee.ensembles.levels.plan import Plan
from committee.ensembles.levels.record import StackRecord, StackReport
from committee.ensembles.panel import Folds, Panel


class Leveled(Panel):
    """A panel on levels. Subclasses plan how rows are divided by ``cv``."""

    __metadata_request__fit: ClassVar[dict[str, Any]] = {
        "sample_weight": metadata_routing.UNUSED,
        "groups": metadata_routing.UNUSED,
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Panel._parameter_constraints,
        "cv": "no_validation",  # read_folds says more
    }
    _unrecorded: ClassVar[tuple[str, str]]  # why nobody knows who saw what, and what to do

    cv: Any
    level_oof_: list[Floats]
    n_outputs_: int
    record_: StackRecord

    def _answers(self) -> tuple[str, ...]:
        """List what members may be asked for, in the order of preference."""
        return ("predict",)

    def _plan(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        fit_params: Mapping[str, Any],
        folds: Folds | None = None,
    ) -> Plan:
        """Check everything, and divide the rows unless folds are given: then those of a fit."""
        raise NotImplementedError

    def verify_no_leak(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **fit_params: Any
    ) -> StackReport:
        """Fit all models again, each on the rows of its part alone, and compare the answers.

        No split may have a row, or a group, on both sides; the bitmap of who saw what must follow
        from the splits; and the models must give the answers of ``level_oof_`` bit for bit. So the
        answers kept are those of the parts on record, unless a member knows rows from elsewhere;
        frozen members, which do, are refused. That takes as long as ``fit``, and needs members
        that give the same with the same ``random_state``.

        Parameters
        ----------
        X, y, sample_weight, groups, **fit_params
            As in ``fit``: the training rows, which a fitted model does not keep.

        Returns
        -------
        StackReport
            What was verified, as a sentence.

        Raises
        ------
        InputError
            Naming the first split, part or row that disagrees, rows that are not those of fit, or
            frozen members; and always where ``cv`` did not divide the rows.
        """
        check_is_fitted(self)
        if not hasattr(self, "record_"):
            found, fix = self._unrecorded
            raise InputError(describe("M-LEAK", "cv", found, fix=fix))
        plan = self._plan(X, y, sample_weight, groups, fit_params, self.record_.folds)
        return plan.verify(self.record_, self.level_oof_, groups)

    def _answering(self, estimator: Any) -> Member:
        """Make a fitted estimator a member that says what the next level is shown."""
        classes = self.classes_ if is_classifier(self) else None
        return seated(estimator, classes, self._answers())

    def _nothing(self) -> npt.NDArray[Any]:
        """Say of no rows, which many an estimator refuses, what ``predict`` says."""
        if is_classifier(self):
            return self.classes_[:0]
        return np.empty(0 if self.n_outputs_ == 1 else (0, self.n_outputs_))

    def _no_shares(self) -> Floats:
        """Say of no rows what ``predict_proba`` says."""
        return np.empty((0, len(self.classes_)))
