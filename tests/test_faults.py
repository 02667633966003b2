"""Faults, by their ids in the acceptance matrix: signals, forks, threads, failed fits.

Signals and forks happen in processes of their own, so that a hang or crash fails one test only.
"""

import copy
import io
import pickle
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from committee import DecisionTreeClassifier, InputError
from tests.estimators import ESTIMATORS, fitted, model_bits, name_of, outputs_of, rows_for
from tests.warm_processes import run_script

every = pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
# The names of a process's threads can be read on Linux alone.
needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
names = pytest.mark.parametrize("name", [name_of(e) for e in ESTIMATORS])

PRELUDE = """
import os, signal, sys, threading, time
import numpy as np
from tests.estimators import *
estimator = next(e for e in ESTIMATORS if name_of(e) == sys.argv[1])
n_jobs = int(sys.argv[2])
n_members = getattr(estimator, "n_estimators", 1)

def engine_threads():
    found = []
    for task in os.listdir("/proc/self/task"):
        try:
            name = open(f"/proc/self/task/{task}/comm").read().strip()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended after the listing
        found += [name] * name.startswith("committee")
    return found
"""

INTERRUPT = """
X, y = rows_for(estimator, n=150_000 // n_members, p=25)
model = clone(estimator).set_params(n_jobs=n_jobs).fit(X[:100], y[:100])
before, bits = dict(model.__dict__), model_bits(model)
start = time.perf_counter()
clone(model).fit(X, y)
whole = time.perf_counter() - start
late = []
for share in (0.1, 0.3, 0.5, 0.7):
    sent = []
    def interrupt():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(whole * share, interrupt)
    finished, start = False, time.perf_counter()
    timer.start()
    try:
        model.fit(X, y)
        finished, whole = True, time.perf_counter() - start  # faster than the first time
        timer.join()
    except KeyboardInterrupt:
        late.append(time.perf_counter() - sent[0])
    timer.join()
    if finished:
        late.pop()
        before, bits = dict(model.__dict__), model_bits(model)
    assert model.__dict__ == before, "the failed fit changed the estimator"
    assert model_bits(model) == bits
    deadline = time.perf_counter() + 0.5
    while engine_threads() and time.perf_counter() < deadline:
        time.sleep(0.01)
    assert not engine_threads(), engine_threads()
assert len(late) >= 2, f"a fit of {whole:.2f} s was interrupted {len(late)} times"
print(*late)
"""

MANY_LEVELS = """
import warnings
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.integers(0, 20_000, (40_000, 2)).astype(float)
model = clone(estimator).set_params(categorical_features=[0, 1], max_depth=1, n_jobs=n_jobs)
n_classes, whole = 60, 0.0
while whole < 1:  # on a machine of any speed there is time to be interrupted in
    n_classes *= 2
    y = rng.integers(0, n_classes, 40_000)
    start = time.perf_counter()
    clone(model).fit(X, y)
    whole = time.perf_counter() - start
sent, late = [], []
def interrupt():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
for _ in range(5):  # where a machine was busy, the next fit may be done in a share of the time
    timer = threading.Timer(whole * 0.3, interrupt)
    finished, start = False, time.perf_counter()
    timer.start()
    try:
        model.fit(X, y)
        finished, whole = True, time.perf_counter() - start
        timer.join()
    except KeyboardInterrupt:
        late.append(time.perf_counter() - sent[-1])
    timer.join()
    if not finished:
        break
assert not finished, f"five fits were done before they were interrupted, the last in {whole:.2f} s"
print(late[-1])
"""

CROWD = """
from concurrent.futures import ThreadPoolExecutor
# Fewer rows than 5000 are binned by one thread, and a booster would need no worker at all.
X, y = rows_for(estimator, n=max(5000, 40_000 // n_members), p=8)
most, done = 0, threading.Event()
def watch():
    global most
    while not done.is_set():
        most = max(most, len(engine_threads()))
        time.sleep(0.002)
watcher = threading.Thread(target=watch)
watcher.start()
with ThreadPoolExecutor(8) as pool:
    fits = [pool.submit(clone(estimator).set_params(n_jobs=n_jobs).fit, X, y) for _ in range(8)]
    bits = {model_bits(fit.result()) for fit in fits}
most = max(most, len(engine_threads()))  # idle workers stay for 0.2 s: there is always one to see
done.set()
watcher.join()
assert len(bits) == 1
print(most)
"""

FORK = """
X, y = rows_for(estimator, n=30_000 // n_members, p=8)
model = clone(estimator).set_params(n_jobs=n_jobs).fit(X, y)
expected = outputs_of(model, X).tobytes(), model_bits(model)

def answer():
    again = outputs_of(model, X).tobytes(), model_bits(clone(model).fit(X, y))
    return again == expected

pid = os.fork()
if pid == 0:
    os._exit(0 if answer() else 7)
deadline = time.monotonic() + 20
status = None
while time.monotonic() < deadline:
    done, status = os.waitpid(pid, os.WNOHANG)
    if done:
        break
    time.sleep(0.02)
else:
    os.kill(pid, signal.SIGKILL)
    sys.exit("the child hangs")
assert os.waitstatus_to_exitcode(status) == 0, os.waitstatus_to_exitcode(status)

import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.apply_async(answer).get(timeout=20)
assert answer()
print("same")
"""


def run(script: str, *args: object, fresh: bool = False) -> str:
    return run_script(PRELUDE + textwrap.dedent(script), *args, fresh=fresh)


@pytest.mark.clock
@needs_proc
@names
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_f07_interrupt(name, n_jobs):
    late = list(map(float, run(INTERRUPT, name, n_jobs).split()))
    assert max(late) <= 0.5


@pytest.mark.clock
def test_f07_interrupt_among_many_levels_and_classes():
    assert float(run(MANY_LEVELS, "DecisionTreeClassifier", 1)) <= 0.5


@names
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_f09_fork_after_fit(name, n_jobs):
    assert run(FORK, name, n_jobs).strip() == "same"


def test_f09_fork_after_fit_in_a_process_that_was_not_forked():
    assert run(FORK, "DecisionTreeClassifier", 2, fresh=True).strip() == "same"


@every
def test_f10_predict_from_many_threads(estimator):
    X, y = rows_for(estimator, n=300)
    model = fitted(estimator, X, y, n_jobs=2)
    rows = [X, X[:7], X[:1]]
    expected = [outputs_of(model, part).tobytes() for part in rows]
    wrong = []
    start = threading.Barrier(16)

    def predict():
        start.wait()
        for k in range(1000):
            if outputs_of(model, rows[k % 3]).tobytes() != expected[k % 3]:
                wrong.append(k)

    with ThreadPoolExecutor(16) as pool:
        for future in [pool.submit(predict) for _ in range(16)]:
            future.result()
    assert not wrong


@every
@pytest.mark.sanitize
def test_f12_fits_in_many_threads(estimator):
    X, y = rows_for(estimator, n=6000, p=6)
    expected = model_bits(fitted(estimator, X, y))
    with ThreadPoolExecutor(8) as pool:
        fits = [pool.submit(fitted, estimator, X, y, n_jobs=1 + k % 4) for k in range(8)]
        assert {model_bits(fit.result()) for fit in fits} == {expected}


@needs_proc
@names
def test_f12_no_more_workers_than_asked_for(name):
    """Eight fits at once, each on three threads: their own, and two that they share."""
    assert 1 <= int(run(CROWD, name, 3)) <= 2


def bits_of_fit(estimator, n_jobs):
    return model_bits(fitted(estimator, *rows_for(estimator, n=3000), n_jobs=n_jobs))


def test_f12_fits_in_processes():
    expected = [bits_of_fit(estimator, 1) for estimator in ESTIMATORS]
    jobs = (joblib.delayed(bits_of_fit)(estimator, 2) for estimator in ESTIMATORS)
    assert joblib.Parallel(n_jobs=2)(jobs) == expected


@every
def test_failed_fit_leaves_the_model(estimator):
    X, y = rows_for(estimator)
    model = fitted(estimator, X, y)
    before, bits = dict(model.__dict__), model_bits(model)
    bad = X.copy()
    bad[3, 0] = np.inf
    for data in ((bad, y), (X, y[:-1]), (X[:, :2], None), (X, y, np.zeros(len(y)))):
        with pytest.raises(InputError):
            model.fit(*data)
        assert model.__dict__ == before
        assert model_bits(model) == bits


@every
def test_refit_forgets_the_names(estimator):
    import pandas as pd

    X, y = rows_for(estimator)
    model = fitted(estimator, pd.DataFrame(X, columns=["a", "b", "c"]), y)
    assert not hasattr(model.fit(X, y), "feature_names_in_")


def through_joblib(model):
    stream = io.BytesIO()
    joblib.dump(model, stream)
    return joblib.load(io.BytesIO(stream.getvalue()))


COPIES = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "pickle 2": lambda model: pickle.loads(pickle.dumps(model, protocol=2)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "joblib": through_joblib,
}


@every
@pytest.mark.parametrize("how", COPIES)
def test_copies_are_equal(estimator, how):
    X, y = rows_for(estimator, n=200)
    X[::9, 1] = np.nan
    levels = np.digitize(X[:, 2], [-1, 0, 1])
    X[:, 2] = levels
    model = fitted(estimator, X, y, categorical_features=[2])
    again = COPIES[how](model)
    assert model_bits(again) == model_bits(model)
    np.testing.assert_array_equal(outputs_of(again, X), outputs_of(model, X))
    np.testing.assert_array_equal(again.apply(X), model.apply(X))
    assert again.get_params() == model.get_params()
    assert model_bits(clone(again).fit(X, y)) == model_bits(model)


def test_arrays_are_views_that_cannot_be_written():
    model = fitted(DecisionTreeClassifier())
    forest = model.tree_.forest
    for name in ("threshold", "feature", "left", "values", "tree_begin", "gain", "count"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(forest, name)[0] = 0


def test_views_outlive_their_model():
    values = fitted(DecisionTreeClassifier()).tree_.forest.values
    expected = values.copy()
    for _ in range(50):
        fitted(DecisionTreeClassifier())
    np.testing.assert_array_equal(values, expected)
