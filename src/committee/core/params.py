"""Parameters: declared once per estimator, checked before fit, resolved to what the engine takes.

The declarations are scikit-learn's ``_parameter_constraints``, with stricter intervals: a bool is
no integer, and NaN and infinities are no reals.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import (
    Interval,
    InvalidParameterError,
    RealNotInt,
    StrOptions,
    make_constraint,
    validate_parameter_constraints,
)

from committee.data.errors import describe, warn

THREADS_PER_CORE = 4  # beyond this more threads only cost memory
SEEDS = 2**64
PLAIN = frozenset({bool, int, float, str, type(None)})


class StrictInterval(Interval):
    """An interval of finite numbers in which no bool lies."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Tell whether ``val`` is a finite number of the interval's type and range."""
        if isinstance(val, (bool, np.bool_)) or not isinstance(val, self.type):
            return False
        return (isinstance(val, Integral) or math.isfinite(val)) and val in self


def integer(low: int | None = None, high: int | None = None) -> StrictInterval:
    """Declare an integer in ``[low, high]``; None leaves a side open."""
    sides = {(False, False): "both", (False, True): "left", (True, False): "right"}
    closed = sides.get((low is None, high is None), "neither")
    return StrictInterval(Integral, low, high, closed=closed)


def real(
    low: float | None = None,
    high: float | None = None,
    closed: str = "both",
    *,
    no_int: bool = False,
) -> StrictInterval:
    """Declare a finite real number; ``no_int`` leaves integers to another declaration."""
    return StrictInterval(RealNotInt if no_int else Real, low, high, closed=closed)


def choice(*options: str) -> StrOptions:
    """Declare one of a few words."""
    return StrOptions(dict.fromkeys(options).keys())  # a set in the order of the documentation


SEED_CONSTRAINTS = ["random_state", np.random.Generator]
THREAD_CONSTRAINTS = [integer(), None]
CATEGORICAL_CONSTRAINTS = ["array-like", choice("from_dtype"), None]
CLASS_WEIGHT_CONSTRAINTS = [dict, list, choice("balanced"), None]
BAG_CONSTRAINTS: dict[str, list[Any]] = {
    "bootstrap": ["boolean"],
    "max_samples": [None, integer(1), real(0, None, "neither", no_int=True)],
    "resampling": [choice("replace", "subset", "poisson", "exponential")],
    "oob_score": ["boolean", callable],
}


def max_features_constraints() -> list[Any]:
    """Declare ``max_features`` as :func:`resolve_max_features` reads it."""
    return [integer(1), real(0, 1, "right", no_int=True), choice("sqrt", "log2", "breiman"), None]


def invalid(
    name: str, owner: str, must_be: str, value: object, fix: str = ""
) -> InvalidParameterError:
    """Compose the error for a parameter, with scikit-learn's wording inside."""
    text = f"The {name!r} parameter of {owner} must be {must_be}. Got {value!r} instead."
    return InvalidParameterError(describe("P-VALUE", name, text, fix=fix))


def check_params(estimator: Any) -> None:
    """Hold the parameters of an estimator against its ``_parameter_constraints``.

    Raises
    ------
    sklearn.utils._param_validation.InvalidParameterError
        Naming the parameter, what is allowed, and the value found.
    """
    kind: Any = type(estimator)
    for name, value in _params(estimator).items():
        held = _held_plain if type(value) in PLAIN else _held
        if held(kind, name, value):
            continue
        try:  # not declared, or not allowed: scikit-learn knows the words
            allowed: Mapping[str, Any] = kind._parameter_constraints
            validate_parameter_constraints(allowed, {name: value}, kind.__name__)
        except InvalidParameterError as error:
            raise InvalidParameterError(describe("P-VALUE", name, str(error))) from None


# What a class declares is read once, and what it says of a plain value: on few rows it would take
# longer than some of the trees.


@functools.cache
def _declared(kind: Any) -> dict[str, list[Any]]:
    """Return what each parameter may be, as scikit-learn's objects."""
    return {
        name: [make_constraint(constraint) for constraint in allowed]
        for name, allowed in kind._parameter_constraints.items()
        if allowed != "no_validation"
    }


def _held(kind: Any, name: str, value: Any) -> bool:
    """Tell whether a value is one of those that are declared."""
    return any(constraint.is_satisfied_by(value) for constraint in _declared(kind).get(name, ()))


_held_plain = functools.lru_cache(maxsize=4096, typed=True)(_held)  # for 1 == True == 1.0


@functools.cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(kind._get_param_names())


def _params(estimator: Any) -> dict[str, Any]:
    """Return the parameters, not those of parameters."""
    kind: Any = type(estimator)
    if kind.get_params is not BaseEstimator.get_params:
        return dict(estimator.get_params(deep=False))
    return {name: getattr(estimator, name) for name in _names(kind)}


def resolve_threads(
    n_jobs: int | None, available: int, estimator_name: str = "this estimator"
) -> int:
    """Turn ``n_jobs`` into a number of threads.

    Parameters
    ----------
    n_jobs : int or None
        None is 1, or what an enclosing ``joblib.parallel_config`` says; -1 is all cores, -2 all
        but one.
    available : int
        The cores that this process may use.
    estimator_name : str
        Used in messages.

    Returns
    -------
    int
        At least 1, at most four times ``available``.
    """
    if n_jobs is None:
        n_jobs = int(joblib.effective_n_jobs(None))
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        allowed = "None, a positive int, or a negative one (-1: all cores, -2: all but one)"
        raise invalid("n_jobs", estimator_name, allowed, n_jobs, "n_jobs=-1 uses all cores")
    if n_jobs < 0:
        return max(1, available + 1 + int(n_jobs))
    cap = THREADS_PER_CORE * available
    if n_jobs > cap:
        found = f"{n_jobs} threads asked for, {available} core(s) available; {cap} are used"
        warn(describe("P-THREADS", "n_jobs", found, fix="n_jobs=-1 uses all cores"))
    return min(int(n_jobs), cap)


def fresh_seed() -> int:
    """Draw a seed from the machine's entropy: the one place where chance comes in unasked."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


def resolve_seed(random_state: Any, estimator_name: str = "this estimator") -> int:
    """Turn ``random_state`` into a seed below 2**64, leaving NumPy's global state alone.

    Parameters
    ----------
    random_state : None, int, numpy.random.RandomState or numpy.random.Generator
        None draws fresh entropy, an int is the seed itself, and a generator is drawn from, so
        that two fits with the same generator differ.
    estimator_name : str
        Used in messages.

    Returns
    -------
    int
        The seed.
    """
    if random_state is None:
        return fresh_seed()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(SEEDS, dtype=np.uint64))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**64, dtype=np.uint64))
    if integer(0, SEEDS - 1).is_satisfied_by(random_state):
        return int(random_state)
    allowed = "None, an int in the range [0, 2**32 - 1], a RandomState or a Generator"
    raise invalid("random_state", estimator_name, allowed, random_state)


def resolve_max_features(
    value: Any, n_features: int, estimator_name: str = "this estimator"
) -> int:
    """Count the features that a split looks at.

    Parameters
    ----------
    value : None, "sqrt", "log2", "breiman", float in (0, 1] or int in [1, n_features]
        None is all features; roots and logarithms are rounded up, a fraction is rounded down, and
        at least one feature remains. "breiman" is ``int(log2(n_features) + 1)``.
    n_features : int
        The number of features, p.
    estimator_name : str
        Used in messages.

    Returns
    -------
    int
        Between 1 and ``n_features``.
    """
    if value is None:
        return n_features
    if isinstance(value, str) and value == "sqrt":
        root = math.isqrt(n_features)
        return root + (root * root < n_features)
    if isinstance(value, str) and value == "log2":
        return max(1, (n_features - 1).bit_length())
    if isinstance(value, str) and value == "breiman":
        return n_features.bit_length()
    if integer(1).is_satisfied_by(value) and value <= n_features:
        return int(value)
    if real(0, 1, "right", no_int=True).is_satisfied_by(value):
        return max(1, int(value * n_features))
    allowed = (
        f"None, 'sqrt', 'log2', 'breiman', a float in the range (0.0, 1.0] or an int in the range "
        f"[1, {n_features}] (X has {n_features} features)"
    )
    raise invalid("max_features", estimator_name, allowed, value)


class NamedParameters:
    """Mixin: a constructor that answers a misspelt parameter with the one that was meant.

    The constructor of each subclass is wrapped; its signature stays visible to scikit-learn.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in cls.__dict__:
            cls.__init__ = _answering(cls.__init__)  # type: ignore[method-assign]


def _answering(init: Callable[..., None]) -> Callable[..., None]:
    parameters = inspect.signature(init).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return init
    names = [name for name in parameters if name != "self"]

    @functools.wraps(init)
    def answering(self: object, *args: Any, **kwargs: Any) -> None:
        unknown = [name for name in kwargs if name not in names]
        if unknown:
            raise TypeError(_unknown(type(self).__name__, unknown[0], names))
        init(self, *args, **kwargs)

    return answering


def _unknown(owner: str, name: str, names: list[str]) -> str:
    close = difflib.get_close_matches(name, names, n=1)
    meant = f"; did you mean {close[0]!r}?" if close else ""
    found = f"{owner}.__init__() got an unexpected keyword argument {name!r}{meant}"
    return describe("P-UNKNOWN", name, found, allowed=", ".join(names))
