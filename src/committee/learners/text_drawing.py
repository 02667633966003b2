"""A decision tree as text: one line per branch, indented by depth.

The wording is shared with the other drawings: :class:`Wording` turns nodes into conditions and
predictions, and :func:`walk` visits them without recursion, for trees of any depth. Of a
categorical feature each condition lists only the levels that can still arrive at the node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from committee.core.params import integer, invalid
from committee.data.errors import InputTypeError, describe

PRESENT = float(np.finfo(np.float64).max)  # a threshold that parts present from missing values
FEW_CLASSES = 3  # up to here, classes without rows are listed too
LIST_LENGTH = 60  # characters of a list of levels or classes
MOST_DECIMALS = 17  # tell any two numbers apart
INDENT = "|   "

Reachable = Mapping[int, frozenset[int]]


@dataclass(frozen=True)
class Step:
    """A node on the way through the tree.

    Attributes
    ----------
    node, parent, depth : int
        Where it is; the parent of the root is -1.
    branch : str
        The condition that leads here, empty at the root.
    split : str
        The condition under which rows go left from here, empty where the drawing ends.
    hidden : int
        Leaves below that are not drawn, 0 for a leaf.
    """

    node: int
    parent: int
    depth: int
    branch: str
    split: str
    hidden: int


@dataclass(frozen=True, eq=False)
class Wording:
    """A fitted tree with the names of all that occurs in it; :func:`read_model` makes it.

    Attributes
    ----------
    tree : Tree
        The structure.
    left, right, feature, count : ndarray of int
        Its arrays, fetched once.
    threshold, value, weight : ndarray of float
        Likewise.
    categorical, missing_left : ndarray of bool
        Likewise.
    feature_names : list of str
        One per feature.
    class_names : list of list of str
        For each output the names of its classes; empty for a regression.
    levels : mapping of int to list of str
        The names of the levels of categorical features.
    booleans : frozenset of int
        Features that hold only true and false.
    decimals, list_length : int
        Digits after the point, or more for thresholds that would else look alike; characters of a
        list.
    signs : tuple of str
        How "at most", "more than" and the omission of list entries are written.
    show_missing : bool
        Whether conditions say where missing values go.
    """

    tree: Any
    left: npt.NDArray[Any]
    right: npt.NDArray[Any]
    feature: npt.NDArray[Any]
    count: npt.NDArray[Any]
    threshold: npt.NDArray[Any]
    value: npt.NDArray[Any]
    weight: npt.NDArray[Any]
    categorical: npt.NDArray[Any]
    missing_left: npt.NDArray[Any]
    feature_names: list[str]
    class_names: list[list[str]]
    levels: Mapping[int, list[str]]
    booleans: frozenset[int]
    decimals: int
    list_length: int
    signs: tuple[str, str, str]
    show_missing: bool

    def number(self, value: float, decimals: int | None = None) -> str:
        """Write a number; one near zero keeps as many digits that mean something."""
        digits = self.decimals if decimals is None else decimals
        size = abs(value)
        if size and not 10.0 ** (1 - digits) <= size < 1e15:
            return f"{value:.{max(digits, 1)}g}"
        return f"{value:.{digits}f}"

    @cached_property
    def cut_decimals(self) -> dict[int, int]:
        """Digits by feature: as many as it takes to tell its thresholds from each other."""
        inner = (self.left >= 0) & ~self.categorical & (self.threshold != PRESENT)
        found = {}
        for feature in np.unique(self.feature[inner]).tolist():
            cuts = np.unique(self.threshold[inner & (self.feature == feature)]).tolist()
            for digits in range(self.decimals, MOST_DECIMALS + 1):
                found[feature] = digits
                if len({self.number(cut, digits) for cut in cuts}) == len(cuts):
                    break
        return found

    def amount(self, value: float) -> str:
        """Write a count of rows or a sum of weights."""
        whole = round(value)
        return (
            str(whole) if abs(value - whole) < 1e-6 * max(1.0, abs(value)) else self.number(value)
        )

    def enumerated(self, items: Sequence[str]) -> str:
        """Join as many items as fit, and say how many were left out."""
        for shown in range(min(len(items), self.list_length // 2), 0, -1):
            rest = [f"{self.signs[2]} {len(items) - shown} more"] if shown < len(items) else []
            text = ", ".join([*items[:shown], *rest])
            if len(text) <= self.list_length or shown == 1:
                return text
        return ""

    def conditions(self, node: int, reachable: Reachable) -> tuple[str, str, Reachable, Reachable]:
        """Word the split of ``node``: both conditions, and the levels that pass each."""
        name = self.feature_names[self.feature[node]]
        if self.categorical[node]:
            first, second, left, right = self._set_conditions(node, reachable)
        else:
            left = right = reachable
            first, second = self._cut_conditions(node)
        if self.show_missing and not second.endswith("missing") and not first.endswith("missing"):
            first += " or missing" if self.missing_left[node] else ""
            second += "" if self.missing_left[node] else " or missing"
        return f"{name} {first}", f"{name} {second}", left, right

    def _cut_conditions(self, node: int) -> tuple[str, str]:
        threshold = float(self.threshold[node])
        if threshold == PRESENT:
            return "is present", "is missing"
        if int(self.feature[node]) in self.booleans and 0 <= threshold < 1:
            return "is false", "is true"
        text = self.number(threshold, self.cut_decimals[int(self.feature[node])])
        return f"{self.signs[0]} {text}", f"{self.signs[1]} {text}"

    def _set_conditions(
        self, node: int, reachable: Reachable
    ) -> tuple[str, str, Reachable, Reachable]:
        feature = int(self.feature[node])
        names = self.levels.get(feature, [])
        chosen = frozenset(int(code) for code in self.tree.left_levels(node))
        here = reachable.get(feature, chosen | frozenset(range(len(names))))
        left, right = here & chosen, here - chosen

        def worded(codes: frozenset[int]) -> str:
            named = [names[c] if c < len(names) else f"level {c}" for c in sorted(codes)]
            return f"in {{{self.enumerated(named)}}}"

        if left and right:
            first, second = worded(left), worded(right)
        else:
            first, second = ("is present", "is missing") if left else ("is missing", "is present")
        return first, second, {**reachable, feature: left}, {**reachable, feature: right}

    def predictions(self, node: int) -> list[str]:
        """Word what the node predicts, for each output."""
        value = self.value[node]
        if not self.class_names:
            return [self.number(float(mean)) for mean in value[:, 0]]
        return [
            names[int(np.argmax(shares[: len(names)]))]
            for names, shares in zip(self.class_names, value, strict=True)
        ]

    def class_counts(self, node: int, output: int) -> str:
        """List how much of each class is in the node, in the order of the classes."""
        names = self.class_names[output]
        amounts = self.value[node, output, : len(names)] * self.weight[node]
        few = len(names) <= FEW_CLASSES
        entries = zip(names, amounts.tolist(), strict=True)
        return self.enumerated([f"{n}: {self.amount(a)}" for n, a in entries if few or a > 0])


def printable(value: object) -> str:
    """Turn a name into text on one line, without control characters."""
    text = " ".join(str(value).split())
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def read_model(
    model: Any,
    *,
    feature_names: Any,
    class_names: Any,
    decimals: int,
    list_length: int = LIST_LENGTH,
    signs: tuple[str, str, str] = ("<=", ">", "..."),
    show_missing: bool = False,
) -> Wording:
    """Collect what a drawing needs to know from a fitted estimator; see :class:`Wording`."""
    check_is_fitted(model, "tree_")
    tree = model.tree_
    if not hasattr(tree, "rows_or_draws"):
        found = f"the tree of {type(model).__name__} is a {type(tree).__module__} object"
        fix = "fit DecisionTreeClassifier, DecisionTreeRegressor or DecisionStump of committee"
        raise InputTypeError(describe("M-TREE", "model", found, fix=fix))
    schema = getattr(model, "schema_", None)
    levels = {} if schema is None else schema.levels
    dtypes = {} if schema is None else schema.dtypes
    if not integer(0).is_satisfied_by(decimals):
        raise invalid("decimals", "the drawing", "an int in the range [0, inf)", decimals)
    return Wording(
        tree=tree,
        left=tree.children_left,
        right=tree.children_right,
        feature=tree.feature,
        count=tree.rows_or_draws,
        threshold=tree.threshold,
        value=tree.value,
        weight=tree.weighted_n_node_samples,
        categorical=tree.is_categorical,
        missing_left=np.asarray(tree.missing_go_to_left, dtype=np.bool_),
        feature_names=_feature_names(model, feature_names),
        class_names=_class_names(model, class_names) if is_classifier(model) else [],
        levels={feature: [printable(v) for v in values] for feature, values in levels.items()},
        booleans=frozenset(feature for feature, dtype in dtypes.items() if dtype == "Boolean"),
        decimals=int(decimals),
        list_length=list_length,
        signs=signs,
        show_missing=show_missing,
    )


def _feature_names(model: Any, given: Any) -> list[str]:
    width = int(model.tree_.n_features)
    if given is None:
        given = getattr(model, "feature_names_in_", None)
    if given is None:
        given = [f"x{feature}" for feature in range(width)]
    if isinstance(given, str) or len(given) != width:
        raise invalid("feature_names", "the drawing", f"a list of {width} names", given)
    return [printable(name) for name in given]


def _class_names(model: Any, given: Any) -> list[list[str]]:
    n_classes = [int(k) for k in model.tree_.n_classes]
    source = model.classes_ if given is None else given
    lists = [source] if len(n_classes) == 1 else list(source)
    fits = not isinstance(source, str) and len(lists) == len(n_classes)
    if not fits or any(len(names) != k for names, k in zip(lists, n_classes, strict=True)):
        each = " and ".join(str(k) for k in n_classes)
        one = "a list of" if len(n_classes) == 1 else "for each output a list of"
        raise invalid("class_names", "the drawing", f"{one} {each} names", given)
    return [[printable(name) for name in names] for names in lists]


def walk(wording: Wording, max_depth: int | None) -> Iterator[Step]:
    """Visit the nodes from the root down, left before right, as far as ``max_depth``."""
    if max_depth is not None and not integer(0).is_satisfied_by(max_depth):
        raise invalid("max_depth", "the drawing", "None or an int in the range [0, inf)", max_depth)
    all_levels: Reachable = {}
    waiting: list[tuple[int, int, int, str, Reachable]] = [(0, -1, 0, "", all_levels)]
    while waiting:
        node, parent, depth, branch, reachable = waiting.pop()
        if wording.left[node] < 0:
            yield Step(node, parent, depth, branch, "", 0)
        elif depth == max_depth:
            yield Step(node, parent, depth, branch, "", _leaves_below(wording, node))
        else:
            first, second, left, right = wording.conditions(node, reachable)
            yield Step(node, parent, depth, branch, first, 0)
            waiting.append((int(wording.right[node]), node, depth + 1, second, right))
            waiting.append((int(wording.left[node]), node, depth + 1, first, left))


def _leaves_below(wording: Wording, node: int) -> int:
    waiting, leaves = [node], 0
    while waiting:
        at = waiting.pop()
        if wording.left[at] < 0:
            leaves += 1
        else:
            waiting += [int(wording.left[at]), int(wording.right[at])]
    return leaves


def export_text(
    model: Any,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    max_depth: int | None = None,
    decimals: int = 2,
    show_counts: bool = True,
    show_missing: bool = False,
) -> str:
    """Write a fitted decision tree as text.

    Each line is a condition; the lines below it that are indented further hold for the rows that
    fulfil it. A line that ends a branch goes on with the prediction and, in parentheses, the
    training rows it rests on.

    Parameters
    ----------
    model : estimator
        A fitted decision tree or stump.
    feature_names : sequence of str or None, default=None
        Names of the features; None takes the column names seen at fit, or x0, x1, ...
    class_names : sequence or None, default=None
        Names of the classes in the order of ``classes_``, for several outputs one sequence each;
        None takes the classes themselves.
    max_depth : int or None, default=None
        How many splits to follow from the root; what lies below is counted. None sets no limit.
    decimals : int, default=2
        Digits after the decimal point; of numbers near zero, digits that are not zero. Thresholds
        of a feature that would look alike get more.
    show_counts : bool, default=True
        Whether to add, for a classifier, the weight of each class in the node (the number of rows
        where nothing is weighted), and for a regressor the number of rows. Of many classes only
        those that occur are listed.
    show_missing : bool, default=False
        Whether to add to each split where missing values go.

    Returns
    -------
    str
        The drawing, without a line feed at the end.

    See Also
    --------
    export_svg : Draw the tree as a picture.
    """
    wording = read_model(
        model,
        feature_names=feature_names,
        class_names=class_names,
        decimals=decimals,
        show_missing=show_missing,
    )
    lines = []
    for step in walk(wording, max_depth):
        if not step.split:
            ending = _ending(wording, step, show_counts)
            lines.append(INDENT * (step.depth - 1) + (step.branch and f"{step.branch}: ") + ending)
        elif step.branch:
            lines.append(INDENT * (step.depth - 1) + step.branch)
    return "\n".join(lines)


def _ending(wording: Wording, step: Step, show_counts: bool) -> str:
    """Word the prediction where the drawing of a branch ends."""
    parts = wording.predictions(step.node)
    if wording.class_names and show_counts:
        parts = [f"{p} ({wording.class_counts(step.node, k)})" for k, p in enumerate(parts)]
    text = ", ".join(parts)
    if not wording.class_names and show_counts:
        text += f" (n = {wording.count[step.node]})"
    return text + (f" ... {step.hidden} leaves below" if step.hidden else "")
