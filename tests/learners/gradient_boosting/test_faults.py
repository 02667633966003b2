"""Faults by their ids in the acceptance matrix, where the tables of all estimators do not reach."""

import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from tests import test_faults as faults
from tests.estimators import GRADIENT_BOOSTERS, RANKER, model_bits, name_of, rows_for
from tests.warm_processes import run_script

from committee import GradientBoostingRegressor, ResourceError, _engine
from committee.data import read_fit
from committee.data.rows import Rows
from committee.learners.gradient_boosting import memory
from committee.learners.gradient_boosting.memory import fit_parts
from committee.losses import Multinomial, Squared

ROOT = Path(__file__).parents[3]
ALL = [*GRADIENT_BOOSTERS, RANKER]


@pytest.mark.parametrize("estimator", ALL, ids=name_of)
def test_f10_contributions_from_many_threads(estimator):
    X, y = rows_for(estimator, n=200)
    model = clone(estimator).set_params(n_jobs=2).fit(X, y)
    rows = [X, X[:7], X[:1]]
    expected = [(model.shap_values(r).tobytes(), model.predict(r).tobytes()) for r in rows]
    wrong, start = [], threading.Barrier(16)

    def explain():
        start.wait()
        for k in range(30):  # the thousand of the matrix: tests/test_faults.py, by predictions
            found = model.shap_values(rows[k % 3]).tobytes(), model.predict(rows[k % 3]).tobytes()
            if found != expected[k % 3]:
                wrong.append(k)

    with ThreadPoolExecutor(16) as pool:
        for future in [pool.submit(explain) for _ in range(16)]:
            future.result()
    assert not wrong


def test_f12_rankings_in_many_threads():
    X, y = rows_for(RANKER, n=2000)
    groups = np.repeat(np.arange(100), 20)
    expected = model_bits(clone(RANKER).fit(X, y, groups))
    with ThreadPoolExecutor(8) as pool:
        models = [clone(RANKER).set_params(n_jobs=1 + k % 4) for k in range(8)]
        fits = [pool.submit(model.fit, X, y, groups) for model in models]
        assert {model_bits(fit.result()) for fit in fits} == {expected}


def run_ranker(script):
    """Run a script of the fault table in a process of its own; all rows are one query."""
    prelude = faults.PRELUDE.replace("in ESTIMATORS", "in [RANKER]")
    return run_script(prelude + script, name_of(RANKER), 2)


@faults.needs_proc
@pytest.mark.clock
def test_f07_interrupt_a_ranking():
    assert max(map(float, run_ranker(faults.INTERRUPT).split())) <= 0.5


def test_f09_rank_after_fork():
    assert run_ranker(faults.FORK).strip() == "same"


OTHERS = """
import xgboost, lightgbm
import importlib.util
if importlib.util.find_spec("torch"):
    import torch
"""
FIT = """
import numpy as np
from committee import GradientBoostingRegressor
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 5)); y = X[:, 0] * X[:, 1]
def ours():
    model = GradientBoostingRegressor(n_estimators=5, random_state=0, n_jobs=2)
    return model.fit(X, y).predict(X).tobytes()
bits = [ours()]
"""
TOGETHER = """
theirs = [
    xgboost.XGBRegressor(n_estimators=5, n_jobs=2),
    lightgbm.LGBMRegressor(n_estimators=5, n_jobs=2, verbose=-1),
]
for model in theirs:
    assert np.isfinite(model.fit(X, y).predict(X)).all()
    bits.append(ours())
assert len(set(bits)) == 1
print("same")
"""


@pytest.mark.parametrize("order", ["before", "after"])
def test_f17_beside_other_libraries(order):
    pytest.importorskip("xgboost")
    pytest.importorskip("lightgbm")
    script = FIT + OTHERS + TOGETHER if order == "before" else OTHERS + FIT + TOGETHER
    command = [sys.executable, "-W", "ignore", "-c", script]
    patient = os.environ | {"OMP_WAIT_POLICY": "passive"}  # theirs spin for long on a busy machine
    done = subprocess.run(
        command, cwd=ROOT, env=patient, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "same"


def test_f17_no_openmp_is_linked():
    library = Path(_engine.__file__).read_bytes()
    for name in (b"libgomp", b"libomp", b"libiomp", b"GOMP_parallel", b"__kmpc_fork_call"):
        assert name not in library


def test_the_estimate_knows_entries_by_rows_and_by_columns():
    X = scipy.sparse.random(20_000, 20, density=0.5, format="csr", rng=np.random.default_rng(0))
    table = read_fit(X)[0]
    matrix = Rows.of(table, None, max_bins=255, n_threads=1).matrix
    matrix.add_columns()
    parts = fit_parts(GradientBoostingRegressor(), table, Squared(), held_out=False)
    begins = 8 * sum(X.shape)  # where rows and columns begin
    assert matrix.nbytes <= parts["bins"] + begins < 2 * matrix.nbytes


ESTIMATE = """
import ctypes, gc, re, sys
import numpy as np
from committee import GradientBoostingClassifier
from committee.data import read_fit
from committee.learners.gradient_boosting.memory import fit_parts

def status(field):
    return int(re.search(rf"{field}:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024

for n, p, params in ((150_000, 20, {"early_stopping": True}), (30_000, 250, {})):
    rng = np.random.default_rng(0)
    X = rng.random((n, p), dtype=np.float32)
    y = (X[:, 0] > X[:, 1] * X[:, 2]).astype(np.int64)
    model = GradientBoostingClassifier(n_estimators=3, n_jobs=2, early_stopping=False)
    model.set_params(**params).fit(X[:500], y[:500])
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    open("/proc/self/clear_refs", "w").write("5")
    before = status("VmRSS")
    model.fit(X, y)
    parts = fit_parts(model, read_fit(X)[0], model.loss_, model.early_stopping)
    print(sum(parts.values()) / (status("VmHWM") - before))
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads /proc")
def test_f14_estimate_and_peak():
    """Two shapes here; ``benchmarks.estimates`` has eighteen."""
    ratios = [float(number) for number in run_script(ESTIMATE).split()]
    assert len(ratios) == 2
    assert all(0.8 <= ratio <= 1.5 for ratio in ratios), ratios


@pytest.mark.parametrize(
    ("params", "knobs"),
    [
        ({"max_leaf_nodes": 255, "max_features": None}, r"max_leaf_nodes or max_bins; "),
        ({"early_stopping": True}, r"early_stopping=False"),
        ({"n_estimators": 10**6}, r"Fix: a smaller n_estimators or max_leaf_nodes; "),
    ],
)
def test_f14_a_fit_too_large_is_refused_beforehand(params, knobs, monkeypatch):
    X, y = rows_for(GRADIENT_BOOSTERS[1], n=3000, p=30)
    model = clone(GRADIENT_BOOSTERS[1]).fit(X, y)
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 100_000)
    model.set_params(min_samples_leaf=20, **params)
    before, bits = dict(model.__dict__), model_bits(model)
    with pytest.raises(ResourceError, match=r"R-MEMORY.*100.0 kB are available") as told:
        model.fit(X, y)
    assert re.search(knobs, str(told.value))
    assert str(told.value).count(";") == 1  # two knobs
    assert model.__dict__ == before
    assert model_bits(model) == bits
    monkeypatch.setattr(memory, "available_memory", lambda: 10**12)
    model.set_params(n_estimators=2).fit(X, y)


def test_f14_more_of_everything_needs_more():
    model = clone(GRADIENT_BOOSTERS[1])

    def need(n=1000, p=10, held_out=False, loss=None, **params):
        table, _ = read_fit(np.tile(np.arange(float(p)), (n, 1)))
        changed = clone(model).set_params(**params)
        return sum(fit_parts(changed, table, loss or Squared(), held_out).values())

    least = need()
    assert least < need(n=2000) < need(n=2000, p=20)
    assert least < need(held_out=True)
    assert least < need(loss=Multinomial(n_classes=3))
    for more in ({"max_leaf_nodes": 255}, {"subsample": 0.5}, {"n_estimators": 100}):
        assert least < need(**more)
    assert need(max_bins=50, min_samples_leaf=20) < need(min_samples_leaf=20)
    assert need(max_depth=2) < least
