"""What the displays of members share: what each member of a fitted ensemble says of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from committee.core.members import ClassifierMember, Floats, RegressorMember
from committee.data import InputError, read_classes, read_numbers
from committee.data.errors import describe, listing
from committee.theory.error_law import Ambiguity, ambiguity


@dataclass(frozen=True, eq=False)
class MemberOpinions:
    """Members' outputs beside the truth.

    Attributes
    ----------
    names : tuple of str
        The members.
    outputs : ndarray of shape (n_members, n_rows, n_outputs)
        Shares of classes, or numbers.
    truth : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Codes of classes, or numbers.
    of_classes : bool
        Which of the two.
    """

    names: tuple[str, ...]
    outputs: Floats
    truth: npt.NDArray[Any]
    of_classes: bool

    @property
    def labels(self) -> npt.NDArray[np.intp]:
        """The class that each member gives most, [member, row]; of equal ones the first."""
        return np.asarray(self.outputs.argmax(axis=2))

    @property
    def errors(self) -> Floats:
        """The share of wrong labels, or the root of the mean squared error, of each member."""
        if self.of_classes:
            return np.asarray((self.labels != self.truth).mean(axis=1))
        gaps = self.outputs - self.truth.reshape(len(self.truth), -1)
        return np.asarray(np.sqrt((gaps**2).mean(axis=(1, 2))))

    def ambiguity(self) -> Ambiguity:
        """Split the squared error of the mean: members' error less their ambiguity."""
        truth = self.truth
        if self.of_classes:
            truth = np.eye(self.outputs.shape[2])[truth]
        return ambiguity(self.outputs, truth.reshape(len(truth), -1))


def ask_members(model: Any, X: Any, y: Any) -> MemberOpinions:
    """Ask the members of a fitted ensemble about rows.

    Parameters
    ----------
    model : fitted estimator
        With ``estimators_`` of its own kind, classifiers or regressors; each is asked through
        ``feature_maps_``, where there are any.
    X, y
        The rows, best ones that nobody was fitted on, and their targets.

    Returns
    -------
    MemberOpinions
        Named as in ``named_estimators_``, or by number.
    """
    check_is_fitted(model)
    owner = type(model).__name__
    estimators = list(getattr(model, "estimators_", ()))
    _refuse_levels(model)
    fits = is_classifier if is_classifier(model) else is_regressor
    if len(estimators) < 2 or not all(fits(estimator) for estimator in estimators):
        found = f"{owner} has {len(estimators)} member(s) to compare in estimators_"
        allowed = "an ensemble of two or more classifiers, or of regressors"
        inner = hasattr(getattr(model, "estimator_", None), "estimators_")
        fix = "pass model.estimator_" if inner else ""
        raise InputError(describe("P-VALUE", "estimator", found, allowed=allowed, fix=fix))
    maps = getattr(model, "feature_maps_", [None] * len(estimators))
    outputs = np.stack(
        [
            _seat(model, estimator).outputs(X if seen is None else seen.transform(X))
            for estimator, seen in zip(estimators, maps, strict=True)
        ]
    )
    names = _names(model, estimators)
    if not is_classifier(model):
        numbers = read_numbers(y, outputs.shape[1], multi_output=True, estimator_name=owner)
        return MemberOpinions(names, outputs, numbers, of_classes=False)
    return MemberOpinions(names, outputs, _codes(model, y, outputs.shape[1]), of_classes=True)


def _refuse_levels(model: Any) -> None:
    """Refuse members of which some are asked about what others say."""
    cascade = hasattr(model, "level_scores")
    n_levels = len(model.estimators_) if cascade else len(getattr(model, "levels_", ()))
    if n_levels > 1:
        found = f"{type(model).__name__} has {n_levels} levels, and those above the first see "
        found += "other columns than X"
        fix = "CascadeGainDisplay" if cascade else "an ensemble of the members of one level"
        raise InputError(describe("P-VALUE", "estimator", found, fix=fix))


def _seat(model: Any, estimator: Any) -> ClassifierMember | RegressorMember:
    if not is_classifier(model):
        return RegressorMember(estimator)
    classes = np.asarray(model.classes_)
    if not np.isin(estimator.classes_, classes).all():
        classes = np.arange(len(classes))  # scikit-learn fits members on codes
    return ClassifierMember(estimator, classes)


def _names(model: Any, estimators: Sequence[Any]) -> tuple[str, ...]:
    named = getattr(model, "named_estimators_", {})
    names = tuple(str(name) for name, member in named.items() if not isinstance(member, str))
    if len(names) == len(estimators):
        return names
    return tuple(str(k) for k in range(len(estimators)))


def _codes(model: Any, y: Any, n_rows: int) -> npt.NDArray[np.intp]:
    read = read_classes(y, n_rows, estimator_name=type(model).__name__, remark=False)
    places = {label: code for code, label in enumerate(model.classes_.tolist())}
    unknown = [label for label in read.classes[0].tolist() if label not in places]
    if unknown:
        known = listing([repr(label) for label in model.classes_.tolist()])
        found = f"{unknown[0]!r} is none of the classes of the fit, {known}"
        raise InputError(describe("M-CLASSES", "y", found))
    codes = np.array([places[label] for label in read.classes[0].tolist()], dtype=np.intp)
    return np.asarray(codes[read.codes[:, 0]])
