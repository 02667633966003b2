"""Nanoseconds per binned value on one thread, from a raw table in C order."""

import numpy as np

from benchmarks.data import N_FEATURES, make_rows, scaled
from benchmarks.peers import peers
from benchmarks.report import OURS, Goal, Row, entries
from benchmarks.timing import interleave
from committee import _engine
from committee.data import read_fit
from committee.data.rows import Rows, engine_table

NOTE = (
    "with finding the cuts; each library's default sample for cuts: committee 262,144 rows, "
    "scikit-learn and LightGBM 200,000, XGBoost and CatBoost their own sketches"
)


def run() -> list[Row]:
    rows = []
    single = make_rows(scaled(500_000), seed=3)
    for dtype in ("float32", "float64"):
        X = single.astype(dtype)
        size = f"{len(X) // 1000}k x {N_FEATURES} {dtype}"
        rows.append(_search(X, size))
        rows.append(_all(X, size))
    return rows


def _search(X: np.ndarray, size: str) -> Row:
    """Time the search of the bins alone."""
    table = engine_table(read_fit(X)[0])
    mapper = _engine.BinMapper.fit(table, None, 255, [0] * X.shape[1], 0, 1)
    contestants = {OURS: lambda: mapper.transform(table, 1)}
    sklearn = _sklearn_mapper(X)
    if sklearn is not None:
        X64 = X.astype(np.float64)
        contestants["scikit-learn HGB"] = lambda: sklearn.transform(X64)
    timings = interleave(contestants, repeats=7, budget=10)
    measure = f"bin {size}, cuts known"
    return Row("binning", measure, "ns/value", entries(timings, 1e9 / X.size), Goal(6.0))


def _sklearn_mapper(X: np.ndarray):
    try:
        from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper
    except ImportError:
        return None
    return _BinMapper(n_bins=256, random_state=0, n_threads=1).fit(X.astype(np.float64))


def _all(X: np.ndarray, size: str) -> Row:
    """Time what stands between a raw table and its bins."""
    contestants = {OURS: lambda: Rows.of(read_fit(X)[0], None, max_bins=255, n_threads=1)}
    for peer in peers():
        if peer.bin is not None:
            contestants[peer.name] = lambda peer=peer: peer.bin(X, 1)
    timings = interleave(contestants, repeats=3, warm_up=False, budget=20)
    measure = f"find cuts and bin {size}"
    return Row("binning", measure, "ns/value", entries(timings, 1e9 / X.size), note=NOTE)
