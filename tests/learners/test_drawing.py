"""Drawings of trees: their words, and that no name can break them."""

import itertools
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from sklearn import tree as sklearn_tree
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError

from committee import DecisionTreeRegressor, InputTypeError
from committee.data.table import Schema
from committee.learners.svg_drawing import export_svg
from committee.learners.text_drawing import PRESENT, export_text

SVG = "{http://www.w3.org/2000/svg}"


class HandmadeTree:
    """The part of a fitted tree that drawings read, without the engine.

    A leaf is a list of the weights of its classes (or a mean and a count); a split is a tuple of
    feature, threshold or set of level codes, left and right.
    """

    has_facts = True

    def __init__(self, root, n_classes, n_features):
        nodes, at = [root], 0
        self._left = []
        while at < len(nodes):
            node = nodes[at]
            self._left.append(len(nodes) if isinstance(node, tuple) else -1)
            if isinstance(node, tuple):
                nodes += node[2:]
            at += 1
        self.node_count = len(nodes)
        self.n_classes, self.n_features, self.n_outputs = n_classes, n_features, len(n_classes)
        self.children_left = np.array(self._left)
        self.children_right = np.where(self.children_left < 0, -1, self.children_left + 1)
        splits = [node if isinstance(node, tuple) else (-2, -2.0) for node in nodes]
        self.feature = np.array([feature for feature, *_ in splits])
        self._sets = {k: s[1] for k, s in enumerate(splits) if isinstance(s[1], set)}
        self.is_categorical = np.array([k in self._sets for k in range(len(nodes))])
        self.threshold = np.array([-2.0 if k in self._sets else s[1] for k, s in enumerate(splits)])
        self.missing_go_to_left = np.zeros(len(nodes), dtype=np.uint8)
        self._fill(nodes)

    def _fill(self, nodes):
        regression = max(self.n_classes) == 1
        sums = [None] * len(nodes)
        for k in range(len(nodes) - 1, -1, -1):
            left = self._left[k]
            if left >= 0:
                sums[k] = sums[left] + sums[left + 1]
            elif regression:
                *means, rows = nodes[k]
                sums[k] = np.array([[mean * rows] for mean in means] + [[rows]], dtype=float)
            else:
                rows = nodes[k] if self.n_outputs > 1 else [nodes[k]]
                width = max(self.n_classes)
                sums[k] = np.array([list(r) + [0] * (width - len(r)) for r in rows], dtype=float)
        total = np.array(sums)
        if regression:
            self.weighted_n_node_samples = total[:, -1, 0]
            self.value = total[:, :-1] / total[:, -1:]
        else:
            self.weighted_n_node_samples = total[:, 0].sum(axis=1)
            self.value = total / self.weighted_n_node_samples[:, None, None]
        self.n_node_samples = np.round(self.weighted_n_node_samples).astype(np.int64)
        self.rows_or_draws = self.n_node_samples
        self.impurity = 1 / np.arange(1.0, len(nodes) + 1)

    def left_levels(self, node):
        return np.array(sorted(self._sets[node]))


class Classifier(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise NotImplementedError


class Regressor(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        raise NotImplementedError


def classifier(root, classes=("no", "yes"), names=None, levels=None, dtypes=None, n_features=4):
    model = Classifier()
    several = isinstance(classes, list)
    n_classes = tuple(len(c) for c in classes) if several else (len(classes),)
    model.tree_ = HandmadeTree(root, n_classes, n_features)
    model.classes_ = [np.array(c) for c in classes] if several else np.array(classes, dtype=object)
    model.n_outputs_ = len(n_classes)
    model.schema_ = Schema(n_features, None, levels or {}, dtypes or {})
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def regressor(root, n_features=2, n_outputs=1):
    model = Regressor()
    model.tree_ = HandmadeTree(root, (1,) * n_outputs, n_features)
    model.n_outputs_ = n_outputs
    return model


def weather():
    """The 14 days: play by outlook, humidity and wind."""
    rain = (3, {0}, [0, 3], [2, 0])
    sunny = (2, 77.5, [0, 2], [3, 0])
    root = (0, {0}, [0, 4], (0, {1}, rain, sunny))
    return classifier(
        root,
        names=["outlook", "temperature", "humidity", "windy"],
        levels={
            0: np.array(["overcast", "rain", "sunny"], dtype=object),
            3: np.array(["false", "true"], dtype=object),
        },
    )


def grown(depth, rng, k=3, n_features=6):
    """A ragged random tree."""
    if depth == 0 or rng.random() < 0.12:
        counts = rng.integers(0, 40, k) * (rng.random(k) < 0.6)
        counts[0] += 1
        return counts.tolist()
    cut = float(np.round(rng.normal() * 10, 3))
    sides = [grown(depth - 1, rng, k, n_features) for _ in range(2)]
    return (int(rng.integers(n_features)), cut, *sides)


def chain(depth):
    root = [1, 0]
    for k in range(depth):
        root = (0, float(k), root, [0, 1])
    return root


WEATHER = """\
outlook in {overcast}: yes (no: 0, yes: 4)
outlook in {rain, sunny}
|   outlook in {rain}
|   |   windy in {false}: yes (no: 0, yes: 3)
|   |   windy in {true}: no (no: 2, yes: 0)
|   outlook in {sunny}
|   |   humidity <= 77.50: yes (no: 0, yes: 2)
|   |   humidity > 77.50: no (no: 3, yes: 0)"""


def test_weather_text():
    assert export_text(weather()) == WEATHER


def test_text_without_counts_and_with_a_depth():
    assert export_text(weather(), max_depth=1, show_counts=False) == (
        "outlook in {overcast}: yes\noutlook in {rain, sunny}: no ... 4 leaves below"
    )
    assert export_text(weather(), max_depth=0) == "yes (no: 5, yes: 9) ... 5 leaves below"


def test_text_of_a_single_leaf():
    assert export_text(classifier([5, 9])) == "yes (no: 5, yes: 9)"
    assert ET.fromstring(export_svg(classifier([5, 9])))


def test_given_names_and_defaults():
    model = classifier((3, 0.5, [2, 0], [0, 1.5]))
    assert export_text(model).splitlines()[1] == "x3 > 0.50: yes (no: 0, yes: 1.50)"
    text = export_text(model, feature_names=list("abcd"), class_names=["stay", "go"], decimals=1)
    assert text.splitlines()[0] == "d <= 0.5: stay (stay: 2, go: 0)"


def test_many_classes_are_listed_where_they_occur():
    model = classifier((0, 1.0, [0, 3, 0, 1], [4, 0, 0, 0]), classes=(10, 20, 30, 40))
    assert export_text(model) == "x0 <= 1.00: 20 (20: 3, 40: 1)\nx0 > 1.00: 10 (10: 4)"


def test_regression_text():
    model = regressor((1, 0.0004, [1.25, 3], (0, -7.0, [2.0, 1], [1e-5, 4])))
    assert export_text(model) == (
        "x1 <= 0.0004: 1.25 (n = 3)\n"
        "x1 > 0.0004\n"
        "|   x0 <= -7.00: 2.00 (n = 1)\n"
        "|   x0 > -7.00: 1e-05 (n = 4)"
    )


def test_several_outputs():
    root = (0, 1.0, [[1, 0], [0, 0, 1]], [[0, 3], [1, 2, 0]])
    model = classifier(root, classes=[["n", "y"], ["a", "b", "c"]])
    assert export_text(model).splitlines()[1] == "x0 > 1.00: y (n: 0, y: 3), b (a: 1, b: 2, c: 0)"
    both = regressor((0, 1.0, [1.0, -2.0, 3], [4.0, 5.0, 6]), n_outputs=2)
    assert export_text(both).splitlines()[0] == "x0 <= 1.00: 1.00, -2.00 (n = 3)"
    for drawn in (model, both):
        assert ET.fromstring(export_svg(drawn))


def test_missing_values():
    model = classifier((0, PRESENT, (1, 2.0, [1, 0], [0, 1]), [0, 2]))
    assert export_text(model, show_counts=False, show_missing=True) == (
        "x0 is present\n|   x1 <= 2.00: no\n|   x1 > 2.00 or missing: yes\nx0 is missing: yes"
    )
    model.tree_.missing_go_to_left[:] = 1
    assert "x1 <= 2.00 or missing: no" in export_text(model, show_counts=False, show_missing=True)
    levels = {0: np.array(["a", "b"], dtype=object)}
    parted = classifier((0, {0, 1}, [1, 0], [0, 1]), levels=levels)
    assert export_text(parted, show_counts=False) == "x0 is present: no\nx0 is missing: yes"


def test_long_lists_are_cut():
    levels = {0: np.array([f"country{k:02}" for k in range(40)], dtype=object)}
    text = export_text(classifier((0, {3, 7}, [1, 0], [0, 1]), levels=levels))
    first, second = text.splitlines()
    assert first.startswith("x0 in {country03, country07}:")
    assert second.startswith("x0 in {country00, country01, country02, country04, ... 34 more}:")


def test_boolean_columns():
    model = classifier((0, 0.5, [1, 0], [0, 1]), dtypes={0: "Boolean"})
    assert export_text(model, show_counts=False) == "x0 is false: no\nx0 is true: yes"


def test_deep_trees_do_not_recurse():
    model = classifier(chain(3000))
    assert len(export_text(model).splitlines()) == 6000
    assert ET.fromstring(export_svg(model, max_depth=None)) is not None


@pytest.mark.parametrize("draw", [export_text, export_svg])
def test_bad_arguments_are_named(draw):
    model = weather()
    with pytest.raises(NotFittedError):
        draw(Classifier())
    with pytest.raises(ValueError, match="feature_names"):
        draw(model, feature_names=["one"])
    with pytest.raises(ValueError, match="feature_names"):
        draw(model, feature_names="abcd")
    with pytest.raises(ValueError, match="class_names"):
        draw(model, class_names=["a", "b", "c"])
    with pytest.raises(ValueError, match="max_depth"):
        draw(model, max_depth=-1)
    with pytest.raises(ValueError, match="decimals"):
        draw(model, decimals=1.5)


HOSTILE = ["<script>alert(1)</script>", "a\"b'c&d;]]>", "tab\there\nline\x00\ud800", "</style>"]


def test_hostile_names_are_inert():
    model = classifier(
        (0, {0}, (1, 1.0, [1, 0], [0, 1]), (2, 1.0, [2, 0], (3, 1.0, [1, 3], [4, 0]))),
        classes=("<img onerror=x>", "</svg>"),
        names=HOSTILE,
        levels={0: np.array(["</text><script>", "&amp;"], dtype=object)},
    )
    picture = export_svg(model)
    root = ET.fromstring(picture.encode())
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "style", "title", "g", "rect", "path", "text", "tspan", "circle"}
    assert not re.search(r"<(script|img)", picture)
    words = "".join(root.itertext())
    assert "<script>alert(1)</script>" in words
    assert "<img onerror=x>" in words
    assert len(export_text(model).splitlines()) == 8


def drawn_boxes(picture):
    root = ET.fromstring(picture)
    groups = [g for g in root.iter(f"{SVG}g") if "node" in g.get("class", "").split()]
    return [(g, g.find(f"{SVG}rect")) for g in groups]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("max_depth", [2, None])
def test_boxes_do_not_overlap_and_stay_inside(seed, max_depth):
    model = classifier(
        grown(6, np.random.default_rng(seed)), classes=("red", "green", "blue"), n_features=6
    )
    picture = export_svg(model, max_depth=max_depth)
    _, _, width, height = map(float, ET.fromstring(picture).get("viewBox").split())
    rows = {}
    for _, rect in drawn_boxes(picture):
        x, y, w, h = (float(rect.get(key)) for key in ("x", "y", "width", "height"))
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height
        rows.setdefault(y, []).append((x, x + w))
    for spans in rows.values():
        spans.sort()
        assert all(a[1] < b[0] for a, b in itertools.pairwise(spans))


def test_svg_says_what_the_text_says():
    picture = export_svg(weather())
    words = [element.text or "" for element in ET.fromstring(picture).iter(f"{SVG}text")]
    assert "humidity ≤ 77.50" in words
    assert "outlook in {overcast}" in words
    assert words.count("yes") >= 3
    assert len(drawn_boxes(picture)) == weather().tree_.node_count
    assert "prefers-color-scheme: dark" in picture


def test_svg_counts_what_it_hides():
    picture = export_svg(weather(), max_depth=1)
    boxes = drawn_boxes(picture)
    assert len(boxes) == 3
    assert sum("cut" in g.get("class").split() for g, _ in boxes) == 1
    assert "… 4 leaves" in picture


def test_the_same_tree_gives_the_same_picture():
    assert export_svg(weather()) == export_svg(weather())


def test_thresholds_that_differ_look_different():
    x = 1000 + np.linspace(0, 0.003, 50)[:, None]
    model = DecisionTreeRegressor(max_depth=2).fit(x, np.repeat([0, 5, 1, 9, 3], 10))
    for drawing in (export_text(model), export_svg(model)):
        cuts = set(re.findall(r"1000\.\d+", drawing))
        assert len(cuts) == len(np.unique(model.tree_.threshold[~model.tree_.is_leaf]))


def test_trees_of_other_libraries_are_refused():
    foreign = sklearn_tree.DecisionTreeClassifier(max_depth=1).fit([[0.0], [1.0]], [0, 1])
    for draw in (export_text, export_svg):
        with pytest.raises(InputTypeError, match=r"M-TREE.*sklearn\.tree"):
            draw(foreign)
