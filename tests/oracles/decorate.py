"""DECORATE in plain Python, after the paper's pseudocode; slow, and naive on purpose.

Rows are lists; a cell is a number, a text or None. The random numbers are those that the library
documents: trial t asks the generator of (seed, t) for a standard normal per row and numeric column,
then for a uniform per row and categorical column, then for a uniform per row, for its label.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Row = list[Any]
Predict = Callable[[list[Row]], list[list[float]]]
Fit = Callable[[list[Row], list[int]], Predict]


@dataclass
class Found:
    """The members that stayed, and for every trial the errors before and after, and its fate."""

    members: list[Predict] = field(default_factory=list)
    trials: list[tuple[float, float, bool]] = field(default_factory=list)


def decorate(
    rows: list[Row],
    labels: list[int],
    n_classes: int,
    fit: Fit,
    *,
    n_estimators: int,
    max_trials: int,
    artificial_size: float,
    seed: int,
) -> Found:
    found = Found([fit(rows, labels)])
    error = error_of(found.members, rows, labels)
    found.trials.append((math.nan, error, True))
    while len(found.members) < n_estimators and len(found.trials) < max_trials:
        sequence = np.random.SeedSequence(seed, spawn_key=(len(found.trials),))
        rng = np.random.default_rng(sequence)
        artificial = draw(rows, max(1, int(artificial_size * len(rows))), rng)
        against = []
        for shares, u in zip(
            mean(found.members, artificial), rng.random(len(artificial)).tolist(), strict=True
        ):
            against.append(opposite(shares, set(labels), u))
        member = fit(rows + artificial, labels + against)
        new_error = error_of([*found.members, member], rows, labels)
        found.trials.append((error, new_error, new_error <= error))
        if new_error <= error:
            found.members.append(member)
            error = new_error
    return found


def draw(rows: list[Row], size: int, rng: np.random.Generator) -> list[Row]:
    columns = list(zip(*rows, strict=True))
    known = [[cell for cell in column if cell is not None] for column in columns]
    numeric = [j for j, cells in enumerate(known) if not isinstance(cells[0], str)]
    nominal = [j for j in range(len(columns)) if j not in numeric]
    normals = rng.standard_normal((size, len(numeric))).tolist()
    uniforms = rng.random((size, len(nominal))).tolist()
    artificial = []
    for i in range(size):
        row: Row = [None] * len(columns)
        for k, j in enumerate(numeric):
            mean_j = sum(known[j]) / len(known[j])
            squares = sum((cell - mean_j) ** 2 for cell in known[j])
            spread = math.sqrt(squares / (len(known[j]) - 1)) if len(known[j]) > 1 else 0.0
            row[j] = mean_j + spread * normals[i][k]
        for k, j in enumerate(nominal):
            levels = sorted(set(known[j]))
            chances = [(known[j].count(v) + 1) / (len(known[j]) + len(levels)) for v in levels]
            row[j] = levels[pick(chances, uniforms[i][k])]
        artificial.append(row)
    return artificial


def opposite(shares: list[float], seen: set[int], u: float) -> int:
    chances = [1 / max(p, 1e-12) if c in seen else 0.0 for c, p in enumerate(shares)]
    return pick([chance / sum(chances) for chance in chances], u)


def pick(chances: list[float], u: float) -> int:
    total = 0.0
    for k, chance in enumerate(chances):
        total += chance
        if u < total:
            return k
    return max(k for k, chance in enumerate(chances) if chance > 0)


def mean(members: list[Predict], rows: list[Row]) -> list[list[float]]:
    answers = [member(rows) for member in members]
    return [
        [sum(values) / len(members) for values in zip(*said, strict=True)]
        for said in zip(*answers, strict=True)
    ]


def error_of(members: list[Predict], rows: list[Row], labels: list[int]) -> float:
    said = [shares.index(max(shares)) for shares in mean(members, rows)]
    return sum(a != b for a, b in zip(said, labels, strict=True)) / len(rows)
