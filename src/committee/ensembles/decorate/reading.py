"""From what a user gives to ``fit`` to a crew: rows, classes and weights, read and put in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _is_arraylike, _num_samples

from committee import _engine
from committee.core.params import check_params
from committee.data import (
    InputError,
    InputTypeError,
    Labels,
    forget_unweighted,
    read_classes,
    read_fit,
    read_weights,
)
from committee.data.errors import describe
from committee.data.rows import engine_table
from committee.data.table_rows import taken
from committee.ensembles.any_rows import AnyRows
from committee.ensembles.decorate.any_crew import AnyCrew
from committee.ensembles.decorate.containers import categories
from committee.ensembles.decorate.training_rows import Order, in_order
from committee.ensembles.decorate.tree_crew import TreeCrew
from committee.ensembles.member_fitting import check_instance, takes_weights
from committee.learners.tree import DecisionTreeClassifier


def c45() -> DecisionTreeClassifier:
    """Make the base learner of the papers: C4.5's tree, on exact cuts."""
    return DecisionTreeClassifier(
        criterion="c45",
        pruning="pessimistic",
        min_samples_leaf=2,
        categorical_splits="multiway",
        missing="parts",
        max_bins=65535,
    )


def is_own(base: Any) -> bool:
    """Tell whether a base learner is a tree of this library, no subclass."""
    return type(base) is DecisionTreeClassifier


def check_base(base: Any, owner: str) -> None:
    """Refuse what cannot be a base learner, before any work."""
    check_instance(base, owner)
    if is_own(base):
        check_params(base)
    if not is_classifier(base):
        found = f"{owner} asks its base learner for classes; {type(base).__name__} is no such"
        raise InputTypeError(describe("P-ESTIMATOR", "estimator", found, allowed="a classifier"))


def read_trees(
    X: Any, y: Any, sample_weight: Any, *, base: Any, seed: int, n_threads: int, owner: str
) -> TreeCrew:
    """Read rows for trees of this library."""
    table, schema = read_fit(
        X, categorical_features=base.categorical_features, estimator_name=owner
    )
    labels = read_classes(y, table.n_rows, estimator_name=owner)
    given = read_weights(sample_weight, table.n_rows)
    table, schema = forget_unweighted(table, schema, given)
    content = labels.codes.astype(np.float64, order="C")
    order = in_order(_engine.table_keys(engine_table(table), content, n_threads), given)
    table = taken(table, order.rows)
    if not table.sparse:
        table = replace(table, values=np.ascontiguousarray(table.values, dtype=np.float64))
    tree = clone(base)
    tree.n_jobs = n_threads if base.n_jobs is None else base.n_jobs
    return TreeCrew(tree, table, schema, _ordered(labels, order), order.weight, seed)


def read_any(
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    base: Any,
    seed: int,
    n_threads: int,
    owner: str,
    categorical_features: Any,
    params: Mapping[str, Any],
) -> AnyCrew:
    """Read rows for estimators of any kind."""
    read = AnyRows.read(X)
    categorical = categories(read, categorical_features)
    labels = read_classes(y, read.n_rows, estimator_name=owner)
    given = read_weights(sample_weight, read.n_rows)
    _refuse_per_row(params, read.n_rows, owner)
    content = labels.codes.astype(np.float64, order="C")
    order = in_order(read.keys(content, n_threads), given)
    if order.weight is not None and not takes_weights(base):
        name = type(base).__name__
        found = f"{name}.fit takes no sample_weight, and rows cannot be repeated by fractions"
        fix = "weights that are whole multiples of one unit, or another estimator"
        raise InputTypeError(describe("W-FIT", "sample_weight", found, fix=fix))
    rows = _safe_indexing(read.X, order.rows)
    ordered = _ordered(labels, order)
    return AnyCrew(base, rows, read, order, categorical, ordered, seed, params)


def _ordered(labels: Labels, order: Order) -> Labels:
    return Labels(labels.classes, labels.codes[order.rows])


def _refuse_per_row(params: Mapping[str, Any], n_rows: int, owner: str) -> None:
    """Refuse metadata with a value per row: nobody knows those of artificial rows."""
    for name, value in params.items():
        if _is_arraylike(value) and _num_samples(value) == n_rows:
            found = f"{name!r} has a value for each of the {n_rows} rows, and {owner} trains its "
            found += "members on artificial rows, too, which have none"
            fix = "an estimator that is given it when it is made"
            raise InputError(describe("P-METADATA", name, found, fix=fix))
