"""Fitting members of any kind, each on its bag and in its representation, in parallel.

A member gets the rows of its bag alone, in the order of their content, with how often each was
drawn as ``sample_weight``, or repeated that often where it takes no weights. So no member can
learn anything, not even a mean, from a row it left out, and the order of the rows is no matter.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, has_fit_parameter

from committee.core.members import Floats, Member
from committee.core.randomness import member_rng, member_seed, seeded_clone
from committee.data import DataWarning, InputError, InputTypeError
from committee.data.errors import describe
from committee.ensembles.bagging.feature_maps import FeatureMap

Ints = npt.NDArray[np.int64]
BLOCK = 4  # members that a job makes before the next block is handed out
DrawMap = Callable[[np.random.Generator, Any, Any, Floats], FeatureMap | None]


@dataclass(frozen=True, eq=False)
class FittedMember:
    """A fitted estimator and the map through which it sees rows."""

    estimator: Any
    feature_map: FeatureMap | None

    def rows(self, X: Any) -> Any:
        """Map rows as the estimator wants them."""
        return X if self.feature_map is None else self.feature_map.transform(X)


@dataclass(frozen=True, eq=False)
class MappedMember:
    """A member of a committee that sees rows through a map."""

    feature_map: FeatureMap
    member: Member

    def outputs(self, X: Any) -> Floats:
        """Map the rows, then ask."""
        return self.member.outputs(self.feature_map.transform(X))


@dataclass(frozen=True, eq=False)
class Failure:
    """What a member raised; carried home as a value, since a cause does not survive pickling."""

    error: Exception
    n_classes: int


@dataclass(frozen=True, eq=False)
class Training:
    """All that members share: the estimator to copy, the rows and the seed.

    Attributes
    ----------
    estimator : estimator
        Copied for each member, with seeds of the member's own.
    X, y : rows and targets
        In any container that scikit-learn can cut.
    order : ndarray of int
        The rows sorted by their content.
    seed : int
        Of the committee.
    draw_map : callable or None
        Draws the feature map of a member for the rows, targets and weights of its bag.
    params : mapping
        What else ``fit`` of the members takes.
    """

    estimator: Any
    X: Any
    y: Any
    order: Ints
    seed: int
    draw_map: DrawMap | None = None
    params: Mapping[str, Any] = field(default_factory=dict)

    def fit(self, member: int, bag: Floats) -> FittedMember | Failure:
        """Fit a member on its bag: how often, or how much, each row counts."""
        rows = self.order[bag[self.order] > 0]
        weight = bag[rows]
        try:
            estimator = seeded_clone(self.estimator, self.seed, member)
            feature_map = None
            if self.draw_map is not None:
                X, y = _safe_indexing(self.X, rows), _safe_indexing(self.y, rows)
                feature_map = self.draw_map(member_rng(self.seed, member), X, y, weight)
            weighted = takes_weights(estimator)
            if not weighted:
                rows = np.repeat(rows, weight.astype(np.int64))
            X, y = _safe_indexing(self.X, rows), _safe_indexing(self.y, rows)
            params = dict(_check_method_params(self.X, params=dict(self.params), indices=rows))
            if weighted:
                params["sample_weight"] = weight
            with quiet():
                estimator.fit(X if feature_map is None else feature_map.transform(X), y, **params)
        except Exception as error:
            return Failure(error, len(np.unique(_safe_indexing(self.y, rows))))
        return FittedMember(estimator, feature_map)


@contextmanager
def quiet() -> Iterator[None]:
    """Leave it to the committee to tell facts about the rows, once.

    Filters of warnings belong to the process, so that only its main thread may change them.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        yield


def fit_members(
    training: Training,
    bag_of: Callable[[int], Floats],
    members: range,
    *,
    n_jobs: int,
    verbose: int = 0,
) -> Iterator[FittedMember]:
    """Fit members, several at a time, and yield them in order.

    Raises
    ------
    InputError, InputTypeError or RuntimeError
        When a member raised: which one, its seed, and the original error as the cause.
    """
    for member, fitted in zip(members, _made(training, bag_of, members, n_jobs), strict=True):
        if isinstance(fitted, Failure):
            raise member_error(training, member, fitted) from fitted.error
        if verbose > 0:
            print(f"[{type(training.estimator).__name__}] {member + 1} of {members.stop} members")
        yield fitted


def _made(
    training: Training, bag_of: Callable[[int], Floats], members: range, n_jobs: int
) -> Iterator[FittedMember | Failure]:
    """Run the jobs block by block, so that little is wasted where somebody stops."""
    if n_jobs == 1:
        yield from (training.fit(member, bag_of(member)) for member in members)
        return
    with Parallel(n_jobs=n_jobs) as run:
        for begin in range(0, len(members), BLOCK * n_jobs):
            block = members[begin : begin + BLOCK * n_jobs]
            yield from run(delayed(training.fit)(member, bag_of(member)) for member in block)


def member_error(training: Training, member: int, failure: Failure) -> Exception:
    """Compose the error for a member that raised."""
    seed, name = member_seed(training.seed, member), type(training.estimator).__name__
    error = failure.error
    found = f"member {member} ({name}, seed {seed}) raised {type(error).__name__}: {error}"
    fix = f"fit {name} alone on the rows of its bag to see more"
    if failure.n_classes < 2 and is_classifier(training.estimator):
        found += f" Its bag holds {failure.n_classes} class"
        fix = "stratify=True, and bags large enough for a draw of every class"
    return of_kind(error, describe("M-FIT", "estimator", found, fix=fix))


def failed_fit(estimator: Any, error: Exception, role: str = "weak learner") -> Exception:
    """Compose the error for a learner that raised."""
    name = type(estimator).__name__
    found = f"the {role} {name} raised {type(error).__name__}: {error}"
    fix = f"fit {name} alone on the rows to see more"
    return of_kind(error, describe("M-FIT", "estimator", found, fix=fix))


def of_kind(error: Exception, message: str) -> Exception:
    """Make an error of the kind that a member raised."""
    if isinstance(error, TypeError):
        return InputTypeError(message)
    return InputError(message) if isinstance(error, ValueError) else RuntimeError(message)


def takes_weights(estimator: Any) -> bool:
    """Tell whether ``fit`` of an estimator takes ``sample_weight``, as scikit-learn routes it."""
    if routing_enabled():
        request = get_routing_for_object(estimator)
        return bool(request.consumes("fit", ("sample_weight",)))
    return bool(has_fit_parameter(estimator, "sample_weight"))


def will_predict(estimator: Any) -> bool:
    """Tell whether an estimator predicts, if only once it is fitted (scikit-learn's stacks)."""
    if hasattr(estimator, "predict"):
        return True
    return hasattr(type(estimator), "predict") and (
        is_classifier(estimator) or is_regressor(estimator)
    )


def check_instance(estimator: Any, owner: str) -> None:
    """Refuse a class where an estimator is wanted, and anything that cannot be fitted."""
    if isinstance(estimator, type):
        name = estimator.__name__
        found = f"{owner} was given the class {name}; pass an instance"
        raise InputTypeError(describe("P-ESTIMATOR", "estimator", found, fix=f"{name}()"))
    if not (hasattr(estimator, "fit") and will_predict(estimator)):
        found = f"{type(estimator).__name__} has no fit and predict"
        allowed = "a scikit-learn estimator"
        raise InputTypeError(describe("P-ESTIMATOR", "estimator", found, allowed=allowed))
    clone(estimator)


def check_kind(base: Any, owner: Any) -> None:
    """Refuse a regressor where classes are asked for, and a classifier where numbers are."""
    classifies = bool(is_classifier(owner))
    if is_regressor(base) if classifies else is_classifier(base):
        asked, allowed = ("classes", "a classifier") if classifies else ("numbers", "a regressor")
        found = f"{type(owner).__name__} asks its members for {asked}; "
        found += f"{type(base).__name__} is no such"
        raise InputTypeError(describe("P-ESTIMATOR", "estimator", found, allowed=allowed))
