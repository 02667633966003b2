"""Between the user's objects and the engine: read once, checked once, one rule for all."""

from committee.data.errors import DataWarning, InputError, InputTypeError, ResourceError
from committee.data.ingest import read_fit, read_predict
from committee.data.labels import Labels, read_classes
from committee.data.table import Schema, Table
from committee.data.target import read_numbers
from committee.data.weights import (
    combine_weights,
    forget_unweighted,
    read_class_weights,
    read_weights,
)

__all__ = [
    "DataWarning",
    "InputError",
    "InputTypeError",
    "Labels",
    "ResourceError",
    "Schema",
    "Table",
    "combine_weights",
    "forget_unweighted",
    "read_class_weights",
    "read_classes",
    "read_fit",
    "read_numbers",
    "read_predict",
    "read_weights",
]
