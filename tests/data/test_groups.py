"""Query ids of every kind become an order of rows and offsets; bad ones are refused."""

import datetime
import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from committee.data import InputError
from committee.data.groups import read_queries

CODES = [3, 1, 3, 2, 1, 1]
DAYS = [datetime.date(2024, 1, day) for day in CODES]
CONTAINERS = {
    "list": CODES,
    "tuple": tuple(CODES),
    "int8": np.array(CODES, np.int8),
    "float": np.array(CODES, float),
    "strided": np.repeat(CODES, 2)[::2],
    "text": [f"q{code}" for code in CODES],
    "numpy text": np.array([f"q{code}" for code in CODES]),
    "bytes": np.array([b"%d" % code for code in CODES]),
    "mixed": np.array([{3: "x", 1: 1.5, 2: (1, 2)}[code] for code in CODES], dtype=object),
    "number and its text": [{3: 1, 1: "1", 2: "2"}[code] for code in CODES],
    "dates": np.array(DAYS, dtype="M8[D]"),
    "days": DAYS,
    "pandas": pd.Series(CODES, index=list("abcdef")),
    "pandas text": pd.Series([f"q{code}" for code in CODES]),
    "pandas categories": pd.Series([f"q{code}" for code in CODES], dtype="category"),
    "polars": pl.Series(CODES),
    "polars dates": pl.Series(DAYS),
    "arrow": pa.chunked_array([CODES[:2], CODES[2:]]),
    "masked, nothing masked": np.ma.MaskedArray(CODES, mask=False),
}
MISSING = {
    "none": [1, None, 2],
    "nan": [1.0, np.nan, 2.0],
    "text": ["a", None, "b"],
    "nat": np.array(["2024-01-01", "NaT", "2024-01-02"], dtype="M8[D]"),
    "pandas": pd.Series([1, pd.NA, 2], dtype="Int64"),
    "pandas text": pd.Series(["a", None, "b"]),
    "polars": pl.Series([1, None, 2]),
    "masked": np.ma.MaskedArray([1, 2, 2], mask=[False, True, False]),
}
WRONG = {
    "short": ([1, 2], r"\(2,\), expected \(3,\)"),
    "sizes of groups": ([2, 1], "repeat the id"),
    "two columns": (np.ones((3, 2)), r"\(3, 2\)"),
    "one column": (np.ones((3, 1)), r"\(3, 1\)"),
    "scalar": (3, r"shape \(\)"),
    "word": ("abc", r"shape \(\)"),
    "nothing": (None, "groups is None"),
    "nested": ([[1], [1, 2], [3]], "nested"),
    "sets": (np.array([{1}, {2}, {1}], dtype=object), "type set"),
}


@pytest.mark.parametrize("case", CONTAINERS)
def test_ids_of_any_kind(case):
    groups = read_queries(CONTAINERS[case], 6)
    assert groups.order.tolist() == [0, 2, 1, 4, 5, 3]
    assert groups.begin.tolist() == [0, 2, 5, 6]
    assert groups.sizes.tolist() == [2, 3, 1]
    assert len(groups) == len(groups.ids) == 3
    assert groups.order.dtype == groups.begin.dtype == np.int64


@pytest.mark.parametrize("case", MISSING)
def test_missing_ids_are_refused(case):
    with pytest.raises(InputError, match=r"\[G-MISSING\] groups: no id in row 1\."):
        read_queries(MISSING[case], 3)


@pytest.mark.parametrize("case", WRONG)
def test_wrong_shapes_are_refused(case):
    groups, fact = WRONG[case]
    with pytest.raises(InputError, match=rf"\[G-SHAPE\] groups: .*{fact}"):
        read_queries(groups, 3)


def test_ids_are_kept():
    assert read_queries(["b", "a", "b"], 3).ids.tolist() == ["b", "a"]
    assert read_queries(np.array([9, 4, 9], np.uint8), 3).ids.dtype == np.uint8
    assert read_queries([], 0).begin.tolist() == [0]


@given(st.lists(st.integers(-3, 3)), st.booleans())
def test_order_is_stable_and_by_first_appearance(codes, as_text):
    groups = read_queries([str(code) for code in codes] if as_text else codes, len(codes))
    first = list(dict.fromkeys(codes))
    expected = [[row for row, code in enumerate(codes) if code == label] for label in first]
    begin = groups.begin
    assert [groups.order[i:j].tolist() for i, j in itertools.pairwise(begin)] == expected
