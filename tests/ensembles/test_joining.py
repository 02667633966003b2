"""Rows below others, in any container."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from committee import InputError
from committee.ensembles.joining import join_rows


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_rows_stay_of_their_kind(kind):
    both = join_rows(kind(np.eye(2)), kind(np.ones((1, 2))))
    assert type(both) is kind
    np.testing.assert_array_equal(both.toarray(), [[1, 0], [0, 1], [1, 1]])


def test_dense_rows_below_sparse_ones_become_sparse():
    both = join_rows(sparse.csr_matrix(np.eye(2)), np.array([[0.0, 3.0]]))
    np.testing.assert_array_equal(both.toarray(), [[1, 0], [0, 1], [0, 3]])


def test_columns_of_pandas_are_joined_by_what_they_hold():
    known = pd.DataFrame({"a": [1, 2], "b": pd.Categorical(["x", "y"])}, index=[4, 4])
    more = pd.DataFrame({"a": [0.5], "b": pd.Categorical(["z"])})
    both = join_rows(known, more)
    assert both["a"].tolist() == [1, 2, 0.5]
    assert both["b"].cat.categories.tolist() == ["x", "y", "z"]
    assert both.index.tolist() == [0, 1, 2]
    with pytest.raises(InputError, match=r"Q-ROWS.*'b' of"):
        join_rows(known, more.astype({"b": object}))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_other_widths_are_refused(form):
    with pytest.raises(InputError, match="3 columns, those before have 2"):
        join_rows(form(np.eye(2)), form(np.eye(3)))
