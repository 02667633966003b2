"""What a fit leaves on an estimator: attributes whose names end in an underscore."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from committee.data import Schema


def replace_fitted(model: Any, fitted: Mapping[str, Any]) -> None:
    """Put what a fit found in the place of all that an earlier one left.

    Parameters
    ----------
    model : estimator
        Changed in place, and by nothing else of a fit, so that one that fails changes nothing.
    fitted : mapping of str to object
        The attributes.
    """
    for stale in [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]:
        delattr(model, stale)
    vars(model).update(fitted)


def schema_attributes(schema: Schema) -> dict[str, Any]:
    """Name what is known of the features, as scikit-learn does."""
    known = {"schema_": schema, "n_features_in_": schema.n_features}
    if schema.feature_names is not None:
        known["feature_names_in_"] = schema.feature_names
    return known


def set_schema(model: Any, schema: Schema) -> None:
    """Set what is known of the features; names that an earlier fit knew are forgotten."""
    vars(model).pop("feature_names_in_", None)
    vars(model).update(schema_attributes(schema))
