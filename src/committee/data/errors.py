"""Exceptions and warnings about user input, and the one way their messages are written.

Every message reads ``[CODE] argument: what was found and where. Allowed: ... Fix: ...``. Codes are
stable: tests and documentation refer to them, never to the prose. The classes carry nothing but
the message, so that they survive pickling between worker processes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy.typing as npt

Items: TypeAlias = Sequence[Any] | npt.NDArray[Any]

FIRST = 5  # how many rows, names or values a message lists

CODES: dict[str, str] = {
    "X-EMPTY": "X has no rows or no columns",
    "X-SHAPE": "X is not two-dimensional",
    "X-RAGGED": "the rows of X differ in length",
    "X-COMPLEX": "X holds complex numbers",
    "X-TEXT": "a numeric column of X holds text",
    "X-DATETIME": "a column of X holds dates, times or durations",
    "X-BINARY": "X holds something else than 0 and 1",
    "X-CATEGORICAL": "a categorical column where features are on or off",
    "X-DTYPE": "a column of X has a type that is neither numeric nor categorical",
    "X-OBJECT": "X holds Python objects that are no numbers",
    "X-DUPLICATE-NAMES": "two columns of X share a name",
    "X-NAME-TYPES": "column names of X mix text with other types",
    "X-LAZY": "X is lazy: it has no rows until it is collected",
    "X-CONTAINER": "X is no array, sparse matrix or data frame",
    "X-INFINITE": "X holds infinities",
    "X-ALL-MISSING": "a column of X has no value at all",
    "X-ROUNDED": "large integers of X become equal as 64-bit floats",
    "X-LEVELS": "a categorical column has too many levels",
    "X-LEVEL-TYPES": "a categorical column mixes text and numbers",
    "X-WIDTH": "X has another number of columns than at fit",
    "X-NAMES": "the column names of X differ from those at fit",
    "X-KIND": "a column of X changed its kind since fit",
    "X-UNSEEN": "a categorical column holds levels that fit has not seen",
    "X-SPARSE": "a sparse X where only dense rows can be used",
    "X-DAMAGED": "a sparse X whose index arrays contradict each other",
    "X-SPARSE-CATEGORICAL": "categorical columns in a sparse X",
    "X-SIZE": "X is larger than the engine can index",
    "CATEGORICAL-SPEC": "categorical_features does not describe columns of X",
    "Y-NONE": "y is missing",
    "Y-LENGTH": "X and y differ in length",
    "Y-NAN": "y holds NaN",
    "Y-NULL": "y holds None or another null",
    "Y-INFINITE": "y holds infinities",
    "Y-HUGE": "y holds values too large to square",
    "Y-CONTINUOUS": "a classifier was given a continuous y",
    "Y-UNKNOWN": "y holds objects that are no labels",
    "Y-SHAPE": "y has an unsupported shape",
    "Y-MIXED": "y mixes label types",
    "Y-TEXT": "a regressor was given text",
    "Y-DTYPE": "a regressor was given values that are no numbers",
    "Y-COMPLEX": "y holds complex numbers",
    "Y-SPARSE": "y is sparse",
    "Y-ONE-CLASS": "y has a single class",
    "Y-MANY-CLASSES": "y has nearly as many classes as rows",
    "W-SHAPE": "sample_weight is not one-dimensional",
    "W-LENGTH": "X and sample_weight differ in length",
    "W-DTYPE": "sample_weight holds something else than numbers",
    "W-FINITE": "sample_weight holds NaN or infinities",
    "W-NEGATIVE": "sample_weight holds negative numbers",
    "W-ZERO": "sample_weight holds only zeros",
    "W-FIT": "sample_weight is given to a learner that takes none",
    "W-QUERY": "rows of one query have different weights",
    "W-LIGHT": "sample_weight is so small that the penalty on leaves rules",
    "W-CLASS": "class_weight does not fit the classes of y",
    "W-OVERFLOW": "sample_weight times class_weight is not finite",
    "P-VALUE": "a parameter has a value or type that is not allowed",
    "P-THREADS": "n_jobs asks for far more threads than there are cores",
    "P-UNKNOWN": "a parameter of that name does not exist",
    "X-COARSE": "a feature has too many distinct values for an exact stump",
    "Y-NEGATIVE": "y holds negative values, which a Poisson or Tweedie model has not",
    "Y-ZERO": "y sums to zero, which a Poisson or Tweedie model cannot fit",
    "Y-POSITIVE": "y holds values that are not above zero, which a gamma model needs",
    "Y-CLASSES": "y or classes differ from the classes named before",
    "Y-CODES": "y holds something else than the codes 0 to K - 1 of the classes",
    "Y-SCALE": "y is so large or small that derivatives of the loss leave single precision",
    "Y-EVENTS": "y holds times of zero, or no event at all, which a Cox model cannot use",
    "L-NAME": "a loss of that name does not exist",
    "L-SHAPE": "a loss answers with another shape or type than asked for",
    "L-FINITE": "a loss answers with NaN or infinity",
    "L-GRADIENT": "the gradient of a loss is not the slope of its value",
    "L-HESSIAN": "the hessian of a loss is negative, or not what the loss says of it",
    "P-MONOTONE": "a monotonic constraint does not fit the data",
    "P-LINEAR": "linear leaves do not go together with what else is asked for",
    "P-INTERACTION": "an interaction constraint is no list of groups",
    "P-COVERAGE": "too few left-out rows for the coverage asked of an interval",
    "P-INTERVALS": "an interval is asked of what fit has not kept, or cannot keep",
    "P-FEATURE": "a parameter names a feature that X does not have",
    "P-ESTIMATOR": "estimator is no scikit-learn estimator, or a class instead of an instance",
    "P-FOLDS": "cv does not divide the rows into sides that share nothing",
    "Y-RARE": "a class has fewer rows than there are folds",
    "C-LEAK": "a level of a cascade shows the next one the labels of its training rows",
    "P-PANEL": "estimators is no list of named members of the right kind",
    "P-MAP": "feature_map cannot be used, or contradicts max_features",
    "P-BAG": "parameters of the bootstrap contradict each other or the data",
    "P-MARGIN": "base_margin is no score for each row and output",
    "R-MEMORY": "a fit needs more memory than there is",
    "P-SCORE": "a score is no finite number",
    "P-OUTPUTS": "parameters that do not go with several outputs",
    "P-LOSS": "a loss does not fit the target",
    "P-WARM": "a warm start does not fit the members there are",
    "P-RESAMPLE": "a learner that takes no weights is to be boosted without resampling",
    "P-METADATA": "metadata with a value per row, for members that see artificial rows",
    "P-SPLIT": "rows to judge by cannot be held out",
    "P-GROWTH": "the growth of trees cannot be bounded as asked for",
    "M-PRIOR": "no weak hypothesis was found, and the most frequent class is predicted",
    "M-ROWS": "rows, labels or weights are not those of the fit",
    "M-ALONE": "no member errs on less than half of the weight, so that the first decides alone",
    "M-PERFECT": "a member makes no error, so that it decides alone and boosting ends",
    "G-SHAPE": "groups is not one label per row",
    "G-MISSING": "groups holds None or NaN",
    "Y-RELEVANCE": "y holds something else than degrees of relevance",
    "B-NEVER-OUT": "some rows were left out by no member",
    "M-TREE": "a fitted model's tree_ no longer fits its schema_, or is not ours",
    "M-CLASSES": "a fitted model's classes_ no longer fit its tree",
    "M-FIT": "a member of a committee could not be fitted",
    "M-PREFIT": "a member that is to be taken as fitted is not, or was fitted on other rows",
    "M-STOPPED": "a callback stopped a fit that needs all of its members",
    "M-LEAK": "a fitted model's bags are not those that the rows and the seed give",
    "M-EMPTY": "a committee came out without a member",
    "M-COMMITTEE": "members, weights and intercept of a committee do not fit together",
    "Q-POOL": "a pool of rows to ask about is empty, or smaller than the batch asked for",
    "Q-ALONE": "a committee of one has nobody to disagree with",
    "Q-OPINIONS": "the members of a committee have no such opinions as a measure needs",
    "Q-CLASS": "a label is outside the classes that are known",
    "Q-ROWS": "rows that were taught cannot be put behind those there are",
    "Q-STOP": "the error of left-out rows is asked of a committee that leaves none out",
    "E-EVENT": "a label cannot be recorded as an event",
    "E-FILE": "a file of label events cannot be read, or not be written where it is to be",
}


class InputError(ValueError):
    """Data handed to an estimator cannot be used; the message says where and how to repair it."""

    @property
    def code(self) -> str:
        """The stable code of the message, such as ``"X-TEXT"``."""
        return code_of(str(self))


class InputTypeError(InputError, TypeError):
    """An argument is of the wrong kind altogether (also a :class:`TypeError`)."""


class ResourceError(MemoryError):
    """A computation would need more memory, time or address space than there is."""


class DataWarning(UserWarning):
    """A fact about the data that the user should know; the computation goes on."""

    @property
    def code(self) -> str:
        """The stable code of the message, such as ``"X-UNSEEN"``."""
        return code_of(str(self))


def code_of(message: str) -> str:
    """Return the code that opens ``message``, or an empty string."""
    return message[1 : message.index("]")] if message.startswith("[") else ""


def describe(code: str, argument: str, found: str, *, allowed: str = "", fix: str = "") -> str:
    """Compose a message from its parts.

    Parameters
    ----------
    code : str
        A key of :data:`CODES`.
    argument : str
        The argument at fault, as the user knows it.
    found : str
        Where the fault is and what was found there.
    allowed, fix : str
        What would be accepted and how to get there.

    Returns
    -------
    str
        The message.
    """
    if code not in CODES:
        raise KeyError(f"error code {code!r} is not declared in CODES")
    parts = [f"[{code}] {argument}: {_sentence(found)}"]
    if allowed:
        parts.append(f"Allowed: {_sentence(allowed)}")
    if fix:
        parts.append(f"Fix: {_sentence(fix)}")
    return " ".join(parts)


@contextmanager
def about(what: str) -> Iterator[None]:
    """Add to errors of the data what they are about, where the same is read of several arguments.

    Parameters
    ----------
    what : str
        Such as ``"y_val"``, where the message names ``y``.

    Yields
    ------
    None
        For what is read.
    """
    try:
        yield
    except InputError as error:
        raise type(error)(f"{error} This is about {what}.") from None


def _sentence(text: str) -> str:
    return text if text.endswith((".", "\n", "?")) else f"{text}."


def warn(message: str, category: type[Warning] = DataWarning) -> None:
    """Warn from the first frame outside this package, so that the user's own line is shown."""
    package = __name__.partition(".")[0]
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None:
        name = str(frame.f_globals.get("__name__", ""))
        inside = name == package or name.startswith((package + ".", "sklearn.callback."))
        if not inside:  # scikit-learn's callbacks wrap our fit
            break
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level + 1)


def listing(items: Items, count: int | None = None) -> str:
    """Join the first few of ``items``; ``count`` is their true number when ``items`` is a cut."""
    shown = [str(item) for item in items[:FIRST]]
    total = len(items) if count is None else count
    return ", ".join(shown) + (", ..." if total > len(shown) else "")


def rows_text(rows: Items, count: int) -> str:
    """Name the rows at fault: ``row 3`` or ``rows 3, 7, ... (12 in all)``."""
    first = listing([int(row) for row in rows[:FIRST]], count)
    return f"row {first}" if count == 1 else f"rows {first} ({count} in all)"


def column_text(names: Items | None, column: int) -> str:
    """Name a column: ``column 'age' (index 3)``, or ``column 3`` where there are no names."""
    return f"column {column}" if names is None else f"column {names[column]!r} (index {column})"


def class_name(obj: object) -> str:
    """Return the qualified class name of ``obj`` for a message."""
    kind = type(obj)
    return (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )
