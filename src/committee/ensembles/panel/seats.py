"""Seats: named members, ``estimators=[(name, estimator), ...]``, by scikit-learn's rules.

Names are unique, hold no ``__`` and are no parameter of the ensemble, since they are parameters
themselves: ``set_params(svm=SVC(), tree__max_depth=3)``. A member set to ``"drop"`` has no seat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from committee.core.randomness import fill_seeds
from committee.data import InputError, InputTypeError
from committee.data.errors import describe, listing
from committee.ensembles.member_fitting import check_instance, takes_weights

LIST = "a list of (name, estimator)"


@dataclass(frozen=True, eq=False)
class Seat:
    """A named member as the user gave it.

    Attributes
    ----------
    name : str
        What the user calls it.
    index : int
        Its place in ``estimators``, dropped ones counted: it decides on the member's seeds, so
        that these stay when another member is dropped.
    estimator : estimator
        Left as it is.
    """

    name: str
    index: int
    estimator: Any

    def unfitted(self, seed: int) -> Any:
        """Clone the member; a ``random_state`` of None becomes a seed by the member's index."""
        return fill_seeds(self.estimator, seed, self.index)

    def __str__(self) -> str:
        return f"{self.name!r} ({type(self.estimator).__name__})"


def read_seats(model: Any) -> tuple[Seat, ...]:
    """Read ``model.estimators``.

    Parameters
    ----------
    model : estimator
        A classifier takes classifiers, a regressor regressors.

    Returns
    -------
    tuple of Seat
        At least one, in order, without those that are dropped.

    Raises
    ------
    InputError or InputTypeError
        Naming the member at fault.
    """
    listed, argument = model.estimators, model._listed_in
    if not _are_pairs(listed) or not len(listed):
        found = (
            "Invalid 'estimators' attribute, 'estimators' should be a non-empty list of "
            f"(string, estimator) tuples, got {listed!r}"
        )
        fix = "estimators=[('a', one), ('b', other)]"
        raise _error(argument, found, allowed=LIST, fix=fix)
    _check_names(model, [name for name, _ in listed])
    seats = [Seat(name, k, member) for k, (name, member) in enumerate(listed) if not _drop(member)]
    if not seats:
        found = "All estimators are dropped. At least one is required to be an estimator"
        raise _error(argument, found, fix="drop fewer members")
    for seat in seats:
        _check_kind(model, seat)
    return tuple(seats)


def given_members(listed: Any) -> list[Any]:
    """Name the estimators in a list of pairs that may not be one, without those dropped."""
    if not _are_pairs(listed):
        return []
    members = [member for _, member in listed if not isinstance(member, type)]
    return [member for member in members if hasattr(member, "get_params")]


def _are_pairs(listed: Any) -> bool:
    return isinstance(listed, Sequence) and all(
        isinstance(item, (tuple, list)) and len(item) == 2 and isinstance(item[0], str)
        for item in listed
    )


def _drop(estimator: Any) -> bool:
    return isinstance(estimator, str) and estimator == "drop"


def _check_names(model: Any, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        found = f"Names provided are not unique: {listing(twice)}"
        raise _error(model._listed_in, found, fix="give each member a name of its own")
    taken = sorted(set(names) & set(model.get_params(deep=False)))
    if taken:
        found = f"Estimator names conflict with constructor arguments: {listing(taken)}"
        fix = f"rename the member, {taken[0] + '_member'!r} for one"
        raise _error(model._listed_in, found, fix=fix)
    split = [name for name in names if "__" in name]
    if split:
        found = f"Estimator names must not contain __: got {listing(split)}"
        raise _error(model._listed_in, found, fix=repr(split[0].replace("__", "_")))
    if "" in names:
        found = f"the member at index {names.index('')} has an empty name"
        raise _error(model._listed_in, found, fix="give each member a name of its own")


def _check_kind(model: Any, seat: Seat) -> None:
    owner = f"{type(model).__name__}, member {seat.name!r},"
    if isinstance(seat.estimator, str) or seat.estimator is None:
        found = f"member {seat.name!r} is {seat.estimator!r}"
        allowed = "an estimator, or 'drop'"
        raise InputTypeError(describe("P-PANEL", model._listed_in, found, allowed=allowed))
    check_instance(seat.estimator, owner)
    kind, fits = "regressor", is_regressor
    if is_classifier(model):
        kind, fits = "classifier", is_classifier
    if not fits(seat.estimator):
        found = f"member {seat}: The estimator {type(seat.estimator).__name__} should be a {kind}"
        fix = f"drop {seat.name!r}, or use another ensemble"
        raise _error(model._listed_in, found, allowed=f"{kind}s", fix=fix)


def check_weights(seats: Sequence[Seat]) -> None:
    """Refuse ``sample_weight`` where members take none, and name them.

    Parameters
    ----------
    seats : sequence of Seat
        To be fitted.
    """
    without = [str(seat) for seat in seats if not takes_weights(seat.estimator)]
    if without:
        found = f"{len(without)} of {len(seats)} members take no sample_weight: {listing(without)}"
        fix = "drop these members, or fit without sample_weight"
        raise InputTypeError(describe("W-FIT", "sample_weight", found, fix=fix))


def check_prefit(
    seats: Sequence[Seat],
    n_features: int,
    classes: npt.NDArray[Any] | None = None,
    argument: str = "estimators",
) -> None:
    """Hold members that are to be taken as fitted against the rows.

    Parameters
    ----------
    seats : sequence of Seat
        The members.
    n_features : int
        The number of columns of X.
    classes : ndarray, optional
        The sorted classes of y; members must know these, and no others.
    argument : str
        What the user calls the list of members.
    """
    for seat in seats:
        try:
            check_is_fitted(seat.estimator)
        except NotFittedError as error:
            found = f"member {seat} is not fitted"
            fix = f"fit {seat.name!r} first, or let the ensemble fit it"
            raise InputError(describe("M-PREFIT", argument, found, fix=fix)) from error
        width = getattr(seat.estimator, "n_features_in_", n_features)
        if width != n_features:
            found = f"member {seat} was fitted on {width} features, X has {n_features} features"
            fix = "give the columns that the members were fitted on"
            raise InputError(describe("M-PREFIT", argument, found, fix=fix))
        if classes is None:
            continue
        known = list(seat.estimator.classes_)
        if len(known) != len(classes) or not all(
            a == b for a, b in zip(known, classes.tolist(), strict=True)
        ):
            found = f"member {seat} was fitted on the classes {listing(known)}"
            allowed = f"those of y: {listing(classes.tolist())}"
            fix = "fit all members on rows of the same classes"
            raise InputError(describe("M-PREFIT", argument, found, allowed=allowed, fix=fix))


def _error(argument: str, found: str, *, allowed: str = "", fix: str = "") -> InputError:
    return InputError(describe("P-PANEL", argument, found, allowed=allowed, fix=fix))
