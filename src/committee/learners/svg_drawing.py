"""A decision tree as an SVG picture: boxes from the root down, coloured by what they predict.

Subtrees are laid out bottom-up and pushed together until their outlines touch (Reingold and
Tilford). The picture carries its own style, light and dark, under one class name, so that it can
stand in a page without changing it. Text is measured by a table of letter widths, on the wide side.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from committee.learners.text_drawing import Step, Wording, read_model, walk

# Okabe and Ito's colours, told apart with any colour vision, and two dark ones: ten for digits.
OKABE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A800", "#8A8F98")
PALETTE = (*OKABE, "#6A3D9A", "#7F4A23")
RAMP = ((0, 114, 178), (176, 176, 168), (230, 159, 0))  # from low to high means

MARGIN, BOX_HEIGHT, LEVEL_GAP, SIDE_GAP = 20.0, 62.0, 50.0, 16.0
LEAST_WIDTH, MOST_TEXT, PADDING = 72.0, 200.0, 11.0
BAR_HEIGHT, LEGEND_ROW, LEGEND_WIDTH, LEGEND_CLASSES = 7.0, 22.0, 360.0, 12
FEW_CLASSES = 4  # up to here a leaf says how many rows of each class it holds
EDGE_WIDTHS = (1.2, 7.0)  # for no rows and for all rows
SIZE, SMALL = 13.0, 11.0  # of letters
BOLD = 1.06  # how much wider bold letters are
SHORT_LIST, FULL_LIST = 22, 400  # characters of a list in a box and in its tooltip

STYLE = """
.committee-tree { font-family: system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; }
.committee-tree .card { fill: #ffffff; }
.committee-tree text { fill: #1f2933; font-size: 13px; text-anchor: middle; }
.committee-tree .said { font-weight: 600; }
.committee-tree .small { font-size: 11px; fill: #4a5560; }
.committee-tree .start { text-anchor: start; }
.committee-tree .edge { fill: none; stroke: #c9d0d8; stroke-linecap: butt; }
.committee-tree .way { stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round;
  paint-order: stroke; }
.committee-tree .node > rect:first-of-type { stroke-width: 1.2px; }
.committee-tree .split > rect:first-of-type { stroke: #9aa5b1; }
.committee-tree .cut > rect:first-of-type { stroke-dasharray: 4 3; }
.committee-tree .track { fill: #8793a0; fill-opacity: 0.35; }
.committee-tree .mark { stroke: #ffffff; stroke-width: 1.5px; }
@media (prefers-color-scheme: dark) {
  .committee-tree .card { fill: #171b21; }
  .committee-tree text { fill: #e8ecf1; }
  .committee-tree .small { fill: #b6c0cb; }
  .committee-tree .edge { stroke: #465160; }
  .committee-tree .way, .committee-tree .mark { stroke: #171b21; }
  .committee-tree .split > rect:first-of-type { stroke: #66717e; }
}
"""


@dataclass(frozen=True)
class Box:
    """A node as it is drawn: its step, words, colour, purity, place of the mean, and width."""

    step: Step
    said: str
    below: str
    tooltip: str
    colour: str
    purity: float
    place: float
    width: float


def export_svg(
    model: Any,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    max_depth: int | None = 4,
    decimals: int = 2,
) -> str:
    """Draw a fitted decision tree as an SVG picture.

    A box with square corners asks a question, and rows for which it is true go left. A box with
    round corners is a leaf: the prediction, and the training rows it rests on by class. The colour
    is that of the predicted class, stronger in purer nodes; the bar shows the shares of the
    classes, or where a mean lies between the least and the greatest one. The lines are as wide as
    their share of the rows. With several outputs, colours and bars show the first.

    Parameters
    ----------
    model : estimator
        A fitted decision tree or stump.
    feature_names : sequence of str or None, default=None
        Names of the features; None takes the column names seen at fit, or x0, x1, ...
    class_names : sequence or None, default=None
        Names of the classes in the order of ``classes_``, for several outputs one sequence each;
        None takes the classes themselves.
    max_depth : int or None, default=4
        How many splits to follow from the root; what lies below is counted. None sets no limit.
    decimals : int, default=2
        Digits after the decimal point; of numbers near zero, digits that are not zero.

    Returns
    -------
    str
        The picture, an ``<svg>`` element that can be saved as a file or put into a page.

    See Also
    --------
    export_text : Write the tree as text.
    """
    wording = read_model(
        model,
        feature_names=feature_names,
        class_names=class_names,
        decimals=decimals,
        list_length=SHORT_LIST,
        signs=("≤", ">", "…"),
    )
    return _drawn(wording, _boxes(wording, max_depth))


def _drawn(wording: Wording, boxes: list[Box]) -> str:
    """Place legend, lines and boxes on a page."""
    centres = _layout(boxes)
    start = min(x - box.width / 2 for x, box in zip(centres, boxes, strict=True))
    spread = max(x + box.width / 2 for x, box in zip(centres, boxes, strict=True)) - start
    legend, legend_width, legend_height = _legend(wording, spread)
    width = max(spread, legend_width)
    shift = MARGIN - start + (width - spread) / 2
    top = MARGIN + legend_height
    deepest = max(box.step.depth for box in boxes)
    height = top + (deepest + 1) * BOX_HEIGHT + deepest * LEVEL_GAP + MARGIN
    centres = [x + shift for x in centres]
    body = _edges(wording, boxes, centres, top) + [
        _node(wording, box, x, _row(box, top)) for box, x in zip(boxes, centres, strict=True)
    ]
    return _page(width + 2 * MARGIN, height, legend + body, len(boxes))


def _page(width: float, height: float, body: list[str], n_nodes: int) -> str:
    size = f'width="{_n(width)}" height="{_n(height)}" viewBox="0 0 {_n(width)} {_n(height)}"'
    name = f"Decision tree, {n_nodes} node{'s' if n_nodes != 1 else ''} drawn"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="committee-tree" role="img" {size} '
        f'aria-label="{name}">',
        f"<style>{STYLE}</style>",
        f'<rect class="card" width="{_n(width)}" height="{_n(height)}" rx="10"/>',
        *body,
        "</svg>",
    ]
    return "\n".join(lines)


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _row(box: Box, top: float) -> float:
    return top + box.step.depth * (BOX_HEIGHT + LEVEL_GAP)


def text_width(text: str, size: float) -> float:
    """Estimate how wide ``text`` is in a sans-serif face of ``size`` pixels."""
    total = 0.0
    for letter in text:
        if unicodedata.east_asian_width(letter) in "WF":
            total += 1.0
        elif letter in " iljtfrI.,:;|!'()[]{}":
            total += 0.40
        elif letter in "mwMW@%…":
            total += 0.98
        else:
            total += 0.72 if letter.isupper() else 0.64
    return total * size


def _clipped(text: str, size: float, most: float) -> str:
    """Cut ``text`` to the width ``most``."""
    if text_width(text, size) <= most:
        return text
    kept = text[: int(most / (0.4 * size))]
    while kept and text_width(kept + "…", size) > most:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def _boxes(wording: Wording, max_depth: int | None) -> list[Box]:
    """Word, colour and measure the nodes, parents before children."""
    full = replace(wording, list_length=FULL_LIST)
    places = _places(wording)
    colours, purity = _colours(wording, places)
    boxes = []
    for step, at_length in zip(walk(wording, max_depth), walk(full, max_depth), strict=True):
        said = step.split or ", ".join(wording.predictions(step.node))
        below = _below(wording, step)
        shown = _clipped(said, SIZE, MOST_TEXT), _clipped(below, SMALL, MOST_TEXT)
        inner = max(BOLD * text_width(shown[0], SIZE), text_width(shown[1], SMALL))
        boxes.append(
            Box(
                step,
                *shown,
                tooltip=_tooltip(full, at_length),
                colour=colours[step.node],
                purity=float(purity[step.node]),
                place=float(places[step.node]),
                width=max(LEAST_WIDTH, inner + 2 * PADDING),
            )
        )
    return boxes


def _amount(count: int, noun: str) -> str:
    plural = "leaves" if noun == "leaf" else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}"


def _below(wording: Wording, step: Step) -> str:
    rows = _amount(int(wording.count[step.node]), "row")
    if step.hidden:
        return f"… {_amount(step.hidden, 'leaf')} · {rows}"
    if step.split or len(wording.class_names) != 1 or len(wording.class_names[0]) > FEW_CLASSES:
        return rows
    counts = wording.value[step.node, 0] * wording.weight[step.node]
    return " / ".join(wording.amount(count) for count in counts.tolist())


def _tooltip(wording: Wording, step: Step) -> str:
    lines = [step.branch] if step.branch else []
    if step.split:
        lines.append(f"asks: {step.split}")
    lines.append(f"predicts: {', '.join(wording.predictions(step.node))}")
    lines += [wording.class_counts(step.node, k) for k in range(len(wording.class_names))]
    return "\n".join([*lines, _amount(int(wording.count[step.node]), "row")])


def _colours(
    wording: Wording, places: npt.NDArray[np.float64]
) -> tuple[list[str], npt.NDArray[np.float64]]:
    """Give each node its colour, and how pure it is from 0 to 1."""
    if wording.class_names:
        k = len(wording.class_names[0])
        shares = wording.value[:, 0, :k]
        purity = (shares.max(axis=1) * k - 1) / (k - 1) if k > 1 else np.ones(len(shares))
        return [PALETTE[c % len(PALETTE)] for c in shares.argmax(axis=1)], purity.clip(0, 1)
    impurity = wording.tree.impurity if wording.tree.has_facts else np.zeros(len(places))
    purity = 1 - impurity / impurity[0] if impurity[0] > 0 else np.ones(len(impurity))
    return [_ramp(place) for place in places.tolist()], purity.clip(0, 1)


def _places(wording: Wording) -> npt.NDArray[np.float64]:
    """Tell where the mean of each node lies between the least and the greatest one."""
    means = wording.value[:, 0, 0]
    low, reach = means.min(), np.ptp(means)
    return np.asarray((means - low) / reach if reach > 0 else np.full(len(means), 0.5))


def _ramp(place: float) -> str:
    first = min(int(place * 2), 1)
    part = place * 2 - first
    ends = zip(RAMP[first], RAMP[first + 1], strict=True)
    return "#" + "".join(f"{round(a + (b - a) * part):02X}" for a, b in ends)


def _layout(boxes: list[Box]) -> list[float]:
    """Find the centre of each box: subtrees as near as their outlines allow, parents between."""
    children: dict[int, list[int]] = {}
    index = {box.step.node: k for k, box in enumerate(boxes)}
    for k, box in enumerate(boxes[1:], start=1):
        children.setdefault(index[box.step.parent], []).append(k)
    outlines: dict[int, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]] = {}
    halves = [0.0] * len(boxes)
    for k in range(len(boxes) - 1, -1, -1):
        left = right = np.empty(0)
        if k in children:
            (left_1, right_1), (left_2, right_2) = (outlines.pop(c) for c in children[k])
            common = min(len(left_1), len(left_2))
            half = halves[k] = float((right_1[:common] - left_2[:common]).max() + SIDE_GAP) / 2
            left = np.concatenate([left_1 - half, left_2[len(left_1) :] + half])
            right = np.concatenate([right_2 + half, right_1[len(right_2) :] - half])
        reach = boxes[k].width / 2
        outlines[k] = np.concatenate([[-reach], left]), np.concatenate([[reach], right])
    centres = [0.0] * len(boxes)
    for k in range(len(boxes)):
        for child, sign in zip(children.get(k, ()), (-1, 1), strict=False):
            centres[child] = centres[k] + sign * halves[k]
    return centres


def _edges(wording: Wording, boxes: list[Box], centres: list[float], top: float) -> list[str]:
    """Draw the lines from parents to children, then the answers that stand on them."""
    at = {box.step.node: (box, x) for box, x in zip(boxes, centres, strict=True)}
    lines, answers = [], []
    least, most = EDGE_WIDTHS
    for box, x in zip(boxes[1:], centres[1:], strict=True):
        parent, from_x = at[box.step.parent]
        from_y, to_y = _row(parent, top) + BOX_HEIGHT, _row(box, top)
        middle = (from_y + to_y) / 2
        share = float(wording.weight[box.step.node] / wording.weight[0])
        path = (
            f"M{_n(from_x)} {_n(from_y)}C{_n(from_x)} {_n(middle)} {_n(x)} {_n(middle)} "
            f"{_n(x)} {_n(to_y)}"
        )
        width = least + (most - least) * share
        lines.append(f'<path class="edge" stroke-width="{_n(width)}" d="{path}"/>')
        left = box.step.node == wording.left[box.step.parent]
        answers.append(
            _text("small way", (from_x + x) / 2, middle + 4, "true" if left else "false")
        )
    return lines + answers


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{_n(x)}" y="{_n(y)}">{escape(text)}</text>'


def _rect(x: float, y: float, width: float, height: float, more: str) -> str:
    return f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" {more}/>'


def _node(wording: Wording, box: Box, x: float, y: float) -> str:
    """Draw one box: frame, words, bar."""
    split = bool(box.step.split)
    kind = "split" if split else "cut" if box.step.hidden else "leaf"
    opacity = (0.04 + 0.14 * box.purity) if split else (0.10 + 0.26 * box.purity)
    frame = f'rx="{4 if split else 14}" fill="{box.colour}" fill-opacity="{opacity:.2f}"'
    edge = "" if split else f' stroke="{box.colour}"'
    left = x - box.width / 2
    bar = (left + PADDING, y + BOX_HEIGHT - BAR_HEIGHT - 9, box.width - 2 * PADDING)
    parts = [
        f'<g class="node {kind}">',
        f"<title>{escape(box.tooltip)}</title>",
        _rect(left, y, box.width, BOX_HEIGHT, frame + edge),
        _text("said", x, y + 20, box.said),
        _text("small", x, y + 36, box.below),
        *(_share_bar if wording.class_names else _mean_bar)(wording, box, *bar),
        "</g>",
    ]
    return "".join(parts)


def _share_bar(wording: Wording, box: Box, x: float, y: float, width: float) -> list[str]:
    shares = wording.value[box.step.node, 0, : len(wording.class_names[0])]
    ends = x + width * np.concatenate([[0.0], np.cumsum(shares)])
    return [
        _rect(a, y, b - a, BAR_HEIGHT, f'fill="{PALETTE[k % len(PALETTE)]}"')
        for k, (a, b) in enumerate(pairwise(ends.tolist()))
        if b - a > 0.05
    ]


def _mean_bar(wording: Wording, box: Box, x: float, y: float, width: float) -> list[str]:
    middle = y + BAR_HEIGHT / 2
    mark = f'cx="{_n(x + width * box.place)}" cy="{_n(middle)}" r="5" fill="{box.colour}"'
    return [
        _rect(x, middle - 1.5, width, 3, 'class="track" rx="1.5"'),
        f'<circle class="mark" {mark}/>',
    ]


def _legend(wording: Wording, spread: float) -> tuple[list[str], float, float]:
    """Explain the colours above the tree; also give the width and height this takes."""
    if not wording.class_names:
        return _mean_legend(wording)
    names = wording.class_names[0]
    entries = [(_clipped(n, SMALL, 160), PALETTE[k % len(PALETTE)]) for k, n in enumerate(names)]
    if len(names) > LEGEND_CLASSES:
        entries[LEGEND_CLASSES:] = [(f"… {len(names) - LEGEND_CLASSES} more", "")]
    parts, x, y, widest = [], 0.0, 0.0, 0.0
    for name, colour in entries:
        width = 17 + text_width(name, SMALL)
        if x and x + width > max(spread, LEGEND_WIDTH):
            x, y = 0.0, y + LEGEND_ROW
        if colour:
            parts.append(_rect(MARGIN + x, MARGIN + y, 11, 11, f'rx="2.5" fill="{colour}"'))
        parts.append(_text("small start", MARGIN + x + 17, MARGIN + y + 9.5, name))
        widest = max(widest, x + width)
        x += width + 14
    return parts, widest, y + LEGEND_ROW + 10


def _mean_legend(wording: Wording) -> tuple[list[str], float, float]:
    means = wording.value[:, 0, 0]
    low, high = (wording.number(float(end)) for end in (means.min(), means.max()))
    begin = round(MARGIN + text_width(low, SMALL) + 6)
    cells = 30
    parts = [_text("small start", MARGIN, MARGIN + 9.5, low)]
    for k in range(cells):
        colour = f'shape-rendering="crispEdges" fill="{_ramp(k / (cells - 1))}"'
        parts.append(_rect(begin + 4 * k, MARGIN, 4, 11, colour))
    end = begin + 4 * cells + 6
    parts.append(_text("small start", end, MARGIN + 9.5, high))
    return parts, end + text_width(high, SMALL) - MARGIN, LEGEND_ROW + 10
