"""What all tests share: the hypothesis profile, the seeds and the loader of the real data sets."""

import functools
import itertools
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest

import committee
from committee.core import params

ROOT = Path(__file__).resolve().parents[1]
SHARED_DATA = ROOT.parent / "shared" / "data"

# `ci` gives the same examples on every run, and leaves timing to the benchmarks.
# HYPOTHESIS_PROFILE=explore looks for new ones.
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, database=None)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=2000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_report_header() -> str:
    return f"committee: {Path(committee.__file__).parent}"


@pytest.fixture(autouse=True)
def seeds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give models without ``random_state`` seeds that depend on the test alone.

    So a test fails always or never; TEST_SEED=1 (or 2, ...) tries others.
    """
    first = zlib.crc32((request.node.nodeid + os.environ.get("TEST_SEED", "")).encode())
    np.random.seed(first)  # noqa: NPY002 -- scikit-learn draws from the global state
    monkeypatch.setattr(params, "fresh_seed", functools.partial(next, itertools.count(first)))


@functools.cache
def load_shared_data(name: str) -> tuple[Any, Any]:
    import pandas as pd

    index = json.loads((SHARED_DATA / "index.json").read_text(encoding="utf-8"))
    entry = next(entry for entry in index["sets"] if entry["name"] == name)
    kinds = {column["name"]: column["kind"] for column in entry["columns"]}
    frame = pd.read_csv(
        SHARED_DATA / entry["file"],
        dtype={column: str for column, kind in kinds.items() if kind != "numeric"},
        keep_default_na=False,
        na_values=[""],
    )
    for column in entry["columns"]:
        if column["kind"] == "categorical":
            levels = column.get("categories")
            frame[column["name"]] = pd.Categorical(frame[column["name"]], levels)
    features = [column["name"] for column in entry["columns"] if column["role"] == "feature"]
    return frame[features], frame[entry["target"]]


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], tuple[Any, Any]]:
    """Return a function from a data set's name to (X, y); it skips where the data is absent."""

    def load(name: str) -> tuple[Any, Any]:
        if not (SHARED_DATA / "index.json").exists():
            pytest.skip(f"needs the data sets of {os.path.relpath(SHARED_DATA, ROOT)}")
        X, y = load_shared_data(name)
        return X.copy(), y.copy()

    return load
