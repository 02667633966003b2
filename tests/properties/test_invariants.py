"""What must not change a tree, and what must add up in it, whatever the data."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.estimators import model_bits, outputs_of
from tests.properties.problems import CLASSIFIERS, SMALL, Problem, problems

from committee import DecisionStump

pytestmark = pytest.mark.filterwarnings("ignore::committee.DataWarning")
few = settings(max_examples=80, suppress_health_check=list(HealthCheck))
MEDIUM = (*SMALL, 150, 700)
BALANCED = {"class_weight": "balanced"}
COUNTS_ROWS = ("min_samples_leaf", "min_samples_split", "max_features", "splitter")


def free_of_row_counts(problem: Problem) -> Problem:
    """Weights stand for rows in every sum, but limits in rows count rows."""
    for name in COUNTS_ROWS:
        problem.params.pop(name, None)
    return problem


def without_unseen_classes(problem: Problem) -> Problem:
    """Classes are read from all rows, as scikit-learn does; so none may hang on weight 0."""
    light = np.flatnonzero(problem.weight == 0)
    heavy = np.flatnonzero(problem.weight > 0)
    partners = np.random.default_rng(0).choice(heavy, len(light))
    if problem.n_classes:
        problem.y[light] = problem.y[partners]
        problem.y[:] = np.unique(problem.y, return_inverse=True)[1]
    return problem


def repeated(problem: Problem) -> Problem:
    times = problem.weight.astype(int)
    X, y = np.repeat(problem.X, times, axis=0), np.repeat(problem.y, times)
    return Problem(X, y, None, problem.n_classes, problem.params)


@pytest.mark.sanitize
@few
@given(problems(sizes=MEDIUM, weighted=True))
def test_weight_k_is_the_row_k_times_and_weight_0_is_no_row(problem):
    again = repeated(without_unseen_classes(free_of_row_counts(problem)))
    weighted, copied = problem.fit(), again.fit()
    assert model_bits(weighted, ("count",)) == model_bits(copied, ("count",))


@few
@given(
    problems(sizes=MEDIUM, weighted=True),
    st.sampled_from([{}, {"min_samples_leaf": 0.05}, {"min_samples_split": 0.2}, BALANCED]),
)
def test_weight_0_is_no_row_also_when_rows_are_counted(problem, shares):
    assume(problem.n_classes or shares != BALANCED)
    problem.params.update(shares)
    keep = without_unseen_classes(problem).weight > 0
    rest = Problem(
        problem.X[keep], problem.y[keep], problem.weight[keep], problem.n_classes, problem.params
    )
    assert model_bits(problem.fit(), ("count",)) == model_bits(rest.fit(), ("count",))


@few
@given(problems(sizes=MEDIUM, weighted=True, criteria=CLASSIFIERS))
def test_stump_weights_are_repetitions(problem):
    again = repeated(without_unseen_classes(problem))
    columns = problem.params.get("categorical_features")
    stumps = [
        DecisionStump(categorical_features=columns).fit(p.X, p.y, sample_weight=p.weight)
        for p in (problem, again)
    ]
    assert model_bits(stumps[0], ("count",)) == model_bits(stumps[1], ("count",))
    assert stumps[0].error_ == stumps[1].error_


@few
@given(problems(sizes=MEDIUM), st.randoms(use_true_random=False))
def test_order_of_rows(problem, random):
    order = np.array(random.sample(range(len(problem.y)), len(problem.y)))
    weight = None if problem.weight is None else problem.weight[order]
    moved = Problem(problem.X[order], problem.y[order], weight, problem.n_classes, problem.params)
    assert model_bits(moved.fit()) == model_bits(problem.fit())


@few
@given(
    problems(sizes=MEDIUM, categorical=False),
    st.sampled_from([np.cbrt, np.arctan, lambda x: x**3 + x, lambda x: np.exp2(x / 64)]),
)
def test_increasing_maps_keep_the_partition(problem, increasing):
    problem.params.pop("splitter", None)  # a uniform draw is between the values themselves
    with np.errstate(invalid="ignore"):
        mapped = increasing(problem.X)
    for j in range(problem.X.shape[1]):  # strictly increasing in floats too
        assume(len(np.unique(mapped[:, j])) == len(np.unique(problem.X[:, j])))
    before, after = problem.fit(), problem.on(mapped)
    seen = slice(None) if problem.weight is None else problem.weight > 0
    np.testing.assert_array_equal(after.apply(mapped)[seen], before.apply(problem.X)[seen])
    skipped = ("threshold",)
    assert model_bits(after, skipped) == model_bits(before, skipped)


@few
@given(problems(sizes=MEDIUM), st.randoms(use_true_random=False))
def test_order_of_columns(problem, random):
    """Ties go to the lower feature, so the trees may differ; what they measure may not."""
    problem.params.pop("max_features", None)
    problem.params.pop("splitter", None)
    problem.params["max_depth"] = 1
    p = problem.X.shape[1]
    order = np.array(random.sample(range(p), p))
    columns = problem.params.get("categorical_features", [])
    moved_columns = [int(np.flatnonzero(order == j)[0]) for j in columns]
    before = problem.fit()
    after = problem.on(problem.X[:, order], categorical_features=moved_columns or None)
    assert before.tree_.node_count == after.tree_.node_count
    if problem.params["criterion"] not in ("gain_ratio", "normalized_gain"):
        assert before.tree_.gain[0] == after.tree_.gain[0]
    if before.tree_.node_count == 3 and after.tree_.feature[0] >= 0:
        tied = order[after.tree_.feature[0]] != before.tree_.feature[0]
        same = (after.apply(problem.X[:, order]) == before.apply(problem.X)).all()
        assert same or tied


def children(tree):
    parent = np.flatnonzero(~tree.is_leaf)
    return parent, tree.children_left[parent], tree.children_right[parent]


@pytest.mark.sanitize
@few
@given(problems())
def test_children_add_up_to_their_parent(problem):
    tree = problem.fit().tree_
    parent, left, right = children(tree)
    weight, count = tree.weighted_n_node_samples, tree.n_node_samples
    np.testing.assert_array_equal(count[parent], count[left] + count[right])
    np.testing.assert_allclose(weight[parent], weight[left] + weight[right], rtol=1e-12)
    assert (count > 0).all()
    assert (weight > 0).all()
    lost = weight[parent] * tree.impurity[parent]
    kept = weight[left] * tree.impurity[left] + weight[right] * tree.impurity[right]
    scale = weight[0] * max(tree.impurity.max(), 1e-12)
    np.testing.assert_allclose(tree.gain[parent], lost - kept, rtol=1e-6, atol=1e-6 * scale)
    assert (tree.gain[parent] >= -1e-9 * scale).all()
    assert (tree.gain[tree.is_leaf] == 0).all()
    if problem.params["criterion"] != "absolute_error":
        means = tree.value * weight[:, None, None]
        np.testing.assert_allclose(means[parent], means[left] + means[right], rtol=1e-6, atol=1e-6)


@few
@given(problems())
def test_leaves_hold_the_rows_that_reach_them(problem):
    """Walking the training rows gives the counts the tree was grown with."""
    model = problem.fit()
    tree = model.tree_
    counted = np.ones(len(problem.y)) if problem.weight is None else problem.weight
    leaves = model.apply(problem.X)
    np.testing.assert_array_equal(
        np.bincount(leaves[counted > 0], minlength=tree.node_count)[tree.is_leaf],
        tree.n_node_samples[tree.is_leaf],
    )
    weight = np.bincount(leaves, weights=counted, minlength=tree.node_count)
    np.testing.assert_allclose(
        weight[tree.is_leaf], tree.weighted_n_node_samples[tree.is_leaf], rtol=1e-12
    )


@few
@given(problems())
def test_outputs_are_finite_and_probabilities_sum_to_one(problem):
    model = problem.fit()
    strange = np.random.default_rng(0).normal(size=(50, problem.X.shape[1])) * 1e6
    strange[::5] = np.nan
    columns = problem.params.get("categorical_features", [])
    strange[:, columns] = np.nan
    for X in (problem.X, strange):
        outputs = outputs_of(model, X)
        assert np.isfinite(outputs).all()
        if problem.n_classes:
            assert (outputs >= 0).all()
            np.testing.assert_allclose(outputs.sum(axis=1), 1, atol=1e-9)
        else:
            assert outputs.min() >= problem.y.min() - 1e-9
            assert outputs.max() <= problem.y.max() + 1e-9


@few
@given(problems())
def test_limits_are_kept(problem):
    tree = problem.fit().tree_
    params = problem.params
    leaf_rows = tree.n_node_samples[tree.is_leaf]
    if tree.node_count > 1:
        assert leaf_rows.min() >= params.get("min_samples_leaf", 1)
    assert tree.max_depth <= params.get("max_depth", np.inf)
    assert tree.n_leaves <= params.get("max_leaf_nodes", np.inf)
    least = params.get("min_impurity_decrease", 0) * tree.weighted_n_node_samples[0]
    assert (tree.gain[~tree.is_leaf] >= least * (1 - 1e-9)).all()
