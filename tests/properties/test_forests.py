"""Forests on random problems: same bits, free of row order, weights as repetitions, honest."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.estimators import model_bits, outputs_of
from tests.properties.problems import problems

from committee.learners.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from committee.learners.random_forest import RandomForestClassifier, RandomForestRegressor

pytestmark = pytest.mark.filterwarnings("ignore::committee.DataWarning")
few = settings(max_examples=40, suppress_health_check=list(HealthCheck))
SIZES = (3, 10, 40, 150, 700)
KINDS = {
    "random": (RandomForestRegressor, RandomForestClassifier),
    "extra": (ExtraTreesRegressor, ExtraTreesClassifier),
}


@st.composite
def forests(draw, **options):
    """A problem and a forest for it."""
    problem = draw(problems(sizes=SIZES, **options))
    problem.params.pop("splitter", None)
    kind = draw(st.sampled_from(sorted(KINDS)))
    params = dict(problem.params, n_estimators=draw(st.integers(1, 6)), random_state=0)
    params["bootstrap"] = draw(st.booleans())
    if params["bootstrap"]:
        params["resampling"] = draw(st.sampled_from(["replace", "subset", "exponential"]))
        if params["resampling"] != "exponential":
            params["max_samples"] = draw(st.sampled_from([None, 0.5]))
    return problem, KINDS[kind][problem.n_classes > 0](**params)


def fit(model, X, y, weight=None, **params):
    return type(model)(**{**model.get_params(), **params}).fit(X, y, sample_weight=weight)


def bits(model):
    return model_bits(model), model.importances_.tobytes()


@pytest.mark.sanitize
@few
@given(forests())
def test_threads(case):
    problem, model = case
    expected = bits(fit(model, problem.X, problem.y, problem.weight, n_jobs=1))
    for n_jobs in (2, 4, 7):
        assert bits(fit(model, problem.X, problem.y, problem.weight, n_jobs=n_jobs)) == expected


@few
@given(forests(), st.randoms(use_true_random=False))
def test_order_of_rows(case, random):
    problem, model = case
    if model.resampling == "exponential":
        model.set_params(resampling="replace")  # equal rows share real weights, rounded each
    order = np.array(random.sample(range(len(problem.y)), len(problem.y)))
    weight = None if problem.weight is None else problem.weight[order]
    moved = fit(model, problem.X[order], problem.y[order], weight)
    assert model_bits(moved) == model_bits(fit(model, problem.X, problem.y, problem.weight))


@few
@given(forests())
def test_containers(case):
    import polars as pl  # not at the top: it cannot be loaded under ThreadSanitizer

    problem, model = case
    expected = bits(fit(model, problem.X, problem.y, problem.weight))
    frame = pd.DataFrame(problem.X, columns=[f"c{j}" for j in range(problem.X.shape[1])])
    same = [
        np.asfortranarray(problem.X),
        problem.X.astype(np.float32),
        frame,
        pl.DataFrame(problem.X, schema=list(frame)),
        pa.Table.from_pandas(frame, preserve_index=False),
    ]
    for X in same:
        assert bits(fit(model, X, problem.y, problem.weight)) == expected, type(X)


@few
@given(forests(categorical=False), st.sampled_from([0.0, 0.6]))
def test_sparse_equals_dense(case, zeros):
    problem, model = case
    problem.X[np.random.default_rng(0).random(problem.X.shape) < zeros] = 0.0
    expected = fit(model, problem.X, problem.y, problem.weight)
    for layout in (sparse.csr_matrix, sparse.csc_matrix):
        again = fit(model, layout(problem.X), problem.y, problem.weight)
        assert bits(again) == bits(expected)
        np.testing.assert_array_equal(
            outputs_of(again, layout(problem.X)), outputs_of(expected, problem.X)
        )


@few
@given(forests())
def test_weight_k_is_the_row_k_times(case):
    problem, model = case
    for name in ("min_samples_leaf", "min_samples_split"):
        model.set_params(**{name: type(model)().get_params()[name]})
    model.set_params(resampling="replace")
    times = np.random.default_rng(1).integers(1, 4, len(problem.y))
    times[0] = 1  # weights have a greatest common unit, by which they are divided
    weighted = fit(model, problem.X, problem.y, times.astype(float))
    copied = fit(model, np.repeat(problem.X, times, axis=0), np.repeat(problem.y, times))
    for name in ("threshold", "feature", "left", "values"):
        np.testing.assert_array_equal(
            getattr(weighted.forest_, name), getattr(copied.forest_, name)
        )


@few
@given(forests(), st.integers(1, 4))
def test_warm_start_is_one_fit(case, more):
    problem, model = case
    data = problem.X, problem.y, problem.weight
    warm = type(model)(**model.get_params()).set_params(warm_start=True).fit(*data)
    warm.set_params(n_estimators=model.n_estimators + more).fit(*data)
    assert bits(warm) == bits(fit(model, *data, n_estimators=model.n_estimators + more))


@few
@given(forests())
def test_row_alone_equals_row_in_batch(case):
    problem, model = case
    model = fit(model, problem.X, problem.y, problem.weight)
    batch, leaves = outputs_of(model, problem.X), model.apply(problem.X)
    for row in np.random.default_rng(1).integers(0, len(problem.X), 3):
        alone = problem.X[row : row + 1]
        np.testing.assert_array_equal(outputs_of(model, alone), batch[row : row + 1])
        np.testing.assert_array_equal(model.apply(alone)[0], leaves[row])
    stages = [
        *(model.staged_predict_proba if problem.n_classes else model.staged_predict)(problem.X)
    ]
    np.testing.assert_array_equal(stages[-1], batch)


@few
@given(forests())
def test_no_leak(case):
    problem, model = case
    resampling = model.resampling if model.resampling != "exponential" else "replace"
    data = problem.X, problem.y, problem.weight
    model = fit(model, *data, bootstrap=True, resampling=resampling, oob_score=True)
    report = model.verify_no_leak(*data)
    assert report.n_predictions == model.left_out_.counts().sum()


@few
@given(forests(categorical=False))
def test_increasing_maps_keep_what_members_saw(case):
    """Between the values of a bag a cut lies in the middle, so left-out rows may change sides."""
    problem, model = case
    if isinstance(model, ExtraTreesClassifier | ExtraTreesRegressor):
        model = KINDS["random"][problem.n_classes > 0](**model.get_params())
    mapped = np.arctan(problem.X)
    if any(
        len(np.unique(a)) != len(np.unique(b)) for a, b in zip(problem.X.T, mapped.T, strict=True)
    ):
        return
    before = fit(model, problem.X, problem.y, problem.weight)
    after = fit(model, mapped, problem.y, problem.weight)
    assert model_bits(after, ("threshold",)) == model_bits(before, ("threshold",))
