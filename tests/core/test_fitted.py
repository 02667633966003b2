"""What a fit leaves on an estimator."""

from types import SimpleNamespace

import numpy as np

from committee.core.fitted import replace_fitted, schema_attributes, set_schema
from committee.data import Schema


def test_an_earlier_fit_leaves_nothing_behind():
    model = SimpleNamespace(depth=3, tree_=1, names_=2, _private_=4)
    replace_fitted(model, {"tree_": 5})
    assert vars(model) == {"depth": 3, "tree_": 5, "_private_": 4}


def test_names_of_features_are_known_or_absent():
    named, plain = Schema(2, np.array(["a", "b"], dtype=object)), Schema(3)
    assert schema_attributes(plain) == {"schema_": plain, "n_features_in_": 3}
    model = SimpleNamespace()
    set_schema(model, named)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    set_schema(model, plain)
    assert vars(model) == {"schema_": plain, "n_features_in_": 3}
