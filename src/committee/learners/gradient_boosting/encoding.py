"""Categories as ordered target statistics: from a booster's features to the columns of its trees.

The trees see numbers where the user has categories, and, of more than two classes, a column for
each class. What a booster tells is about the features of the user again.
"""

from __future__ import annotations

import numpy as np

from committee import _engine
from committee.core.members import Floats
from committee.data import InputError, Schema, Table
from committee.data.errors import describe
from committee.data.rows import engine_table
from committee.data.target_statistics import ordered_encoding
from committee.learners.gradient_boosting.given import GivenRows
from committee.losses import Cox
from committee.losses.loss import Loss


def encode_rows(
    table: Table, schema: Schema, given: GivenRows, n_classes: int, loss: Loss, seed: int
) -> tuple[Table, Schema]:
    """Replace the levels of training rows by ordered statistics of their target."""
    if isinstance(loss, Cox) and schema.levels:
        found = '"ordered_target" with times to an event, some of which were not seen to their end'
        fix = 'categorical_encoding="native"'
        raise InputError(describe("P-LOSS", "categorical_encoding", found, fix=fix))
    target = np.asarray(given.y, dtype=np.float64).reshape(len(given.y), -1)
    told = target if given.weight is None else np.column_stack([target, given.weight])
    keys = _engine.table_keys(engine_table(table), np.ascontiguousarray(told), 1)
    if n_classes > 2:
        target = np.eye(n_classes)[target[:, 0].astype(np.intp)]
    return ordered_encoding(table, schema, target, given.weight, keys, seed)


def spread_params(params: _engine.TreeParams, schema: Schema) -> _engine.TreeParams:
    """Say of the columns of trees what was said of the user's features."""
    if schema.encoding is None:
        return params
    source = schema.encoding.source
    if params.monotone:
        params.monotone = [params.monotone[feature] for feature in source]
    groups = [set(group) for group in params.interactions]
    params.interactions = [[k for k, f in enumerate(source) if f in group] for group in groups]
    if params.node_features:
        share = params.node_features / schema.n_features
        params.node_features = max(1, round(share * len(source)))
    return params


def of_features(values: Floats, schema: Schema, axes: tuple[int, ...]) -> Floats:
    """Sum what belongs to the same feature; the last entry of an axis belongs to none."""
    if schema.encoding is None or schema.width == schema.n_features:
        return values
    source = np.append(schema.encoding.source, schema.n_features)
    for axis in axes:
        moved = np.moveaxis(values, axis, 0)
        sums = np.zeros((schema.n_features + 1, *moved.shape[1:]))
        np.add.at(sums, source, moved)
        values = np.moveaxis(sums, 0, axis)
    return values
