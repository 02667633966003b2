"""R101, R102, R103: naive Bayes of features that are on or off."""

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, special
from sklearn.naive_bayes import BernoulliNB as ScikitLearnNB
from sklearn.utils._param_validation import InvalidParameterError

from committee import BernoulliNB, DataWarning, InputError

FITTED = ("class_log_prior_", "feature_log_prob_", "feature_log_off_prob_", "feature_count_")
SPARSE = [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix]


def bits(model, *X):
    arrays = [getattr(model, name) for name in FITTED]
    return [a.tobytes() for a in (*arrays, *map(model.predict_joint_log_proba, X))]


def made(n=200, p=9, n_classes=3, seed=0):
    """Counts of words in classes that differ, wider than tall for few rows, and never square."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    rate = rng.gamma(0.5, 1, (n_classes, p))
    return rng.poisson(rate[y]).astype(float), np.array(["a", "b", "c", "d"])[y], rng.random(n)


def naive(X, y, weight, alpha=1.0):
    """Score rows by the definition, one factor after the other; NaN has none."""
    scores = np.empty((len(X), len(np.unique(y))))
    for k, label in enumerate(np.unique(y)):
        own, share = X[y == label], weight[y == label]
        for i, row in enumerate(X):
            score = np.log(share.sum() / weight.sum())
            for j, x in enumerate(row):
                known = ~np.isnan(own[:, j])
                on = share[known & (own[:, j] > 0)].sum()
                theta = (on + alpha) / (share[known].sum() + 2 * alpha)
                score += 0 if np.isnan(x) else np.log(theta if x > 0 else 1 - theta)
            scores[i, k] = score
    return scores


def test_r101_numbers_by_hand():
    # Class a: 2 rows, the word is in both; class b: 1 row without it. Laplace: 3/4 and 1/3.
    model = BernoulliNB().fit([[1], [5], [0]], ["a", "a", "b"])
    np.testing.assert_allclose(np.exp(model.class_log_prior_), [2 / 3, 1 / 3])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [[3 / 4], [1 / 3]])
    np.testing.assert_allclose(np.exp(model.feature_log_off_prob_), [[1 / 4], [2 / 3]])
    np.testing.assert_array_equal(model.feature_count_, [[2], [0]])
    np.testing.assert_array_equal(model.class_count_, [2, 1])
    joint = [[2 / 3 * 3 / 4, 1 / 3 * 1 / 3], [2 / 3 * 1 / 4, 1 / 3 * 2 / 3]]
    np.testing.assert_allclose(np.exp(model.predict_joint_log_proba([[1], [0]])), joint)
    np.testing.assert_allclose(model.predict_proba([[1]]), [[9 / 11, 2 / 11]])
    np.testing.assert_allclose(np.exp(model.predict_log_proba([[1]])), [[9 / 11, 2 / 11]])
    assert model.predict([[1], [0]]).tolist() == ["a", "b"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"alpha": 0.3},
        {"binarize": 1.0},
        {"fit_prior": False},
        {"class_prior": [0.5, 0.2, 0.3]},
        {"alpha": 0.0, "force_alpha": False},
    ],
    ids=str,
)
def test_r101_equals_scikit_learn(params, form, weighted):
    X, y, weight = made()
    weight = weight if weighted else None
    ours, theirs = BernoulliNB(**params), ScikitLearnNB(**params)
    for model in (ours, theirs):
        if params.get("force_alpha") is False:
            with pytest.warns(UserWarning, match="alpha"):
                model.fit(form(X), y, weight)
        else:
            model.fit(form(X), y, weight)
    for name in ("predict_joint_log_proba", "predict_log_proba", "predict_proba"):
        found, expected = (getattr(model, name)(form(X)) for model in (ours, theirs))
        if params.get("force_alpha") is False:  # scikit-learn's log(1 - exp(.)) keeps 6 digits
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(form(X)), theirs.predict(form(X)))
    for name in ("class_count_", "feature_count_", "class_log_prior_", "feature_log_prob_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)


@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_r101_equals_the_definition(holes):
    X, y, weight = made(n=40, p=5)
    X[np.random.default_rng(1).random(X.shape) < holes] = np.nan
    model = BernoulliNB(alpha=0.5).fit(X, y, weight)
    expected = naive(X, y, weight, 0.5)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), expected, rtol=1e-12)


def test_r101_one_alpha_for_each_feature():
    X, y, weight = made(p=3)
    model = BernoulliNB(alpha=[0.1, 1.0, 7.0]).fit(X, y, weight)
    for j, alpha in enumerate([0.1, 1.0, 7.0]):
        one = BernoulliNB(alpha=alpha).fit(X[:, [j]], y, weight)
        np.testing.assert_array_equal(model.feature_log_prob_[:, [j]], one.feature_log_prob_)


@st.composite
def problems(draw, holes=True):
    """Small rows of 0, 1 and missing, with whole weights, in which no class is without weight."""
    n, p = draw(st.integers(2, 12)), draw(st.integers(1, 5))
    cells = st.sampled_from([0.0, 1.0, np.nan] if holes else [0.0, 1.0])
    X = np.array(draw(st.lists(cells, min_size=n * p, max_size=n * p))).reshape(n, p)
    y = np.array([0, 1, *draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))])
    weight = draw(st.lists(st.integers(0, 3), min_size=n - 2, max_size=n - 2))
    return X, y, np.array([1.0, 2.0, *weight])


@pytest.mark.filterwarnings("ignore:.*X-ALL-MISSING")
@given(problems())
def test_r101_weights_are_repetitions_and_weight_zero_is_no_row(problem):
    X, y, weight = problem
    times = weight.astype(int)
    weighted = BernoulliNB().fit(X, y, weight)
    repeated = BernoulliNB().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    absent = BernoulliNB().fit(X[times > 0], y[times > 0], weight[times > 0])
    assert bits(weighted, X) == bits(repeated, X) == bits(absent, X)


@pytest.mark.filterwarnings("ignore:.*X-ALL-MISSING")
@given(problems(), st.integers(1, 11))
def test_r101_portions_give_the_model_of_all_rows(problem, cut):
    X, y, weight = problem
    weight = weight + 0.1  # no whole numbers: rows are added one after the other all the same
    model, whole = BernoulliNB(), BernoulliNB().fit(X, y, weight)
    for part in (slice(0, cut), slice(cut, None)):
        if len(y[part]):
            model.partial_fit(X[part], y[part], classes=[0, 1], sample_weight=weight[part])
    assert bits(model, X) == bits(whole, X)
    assert model.fit(X, y, weight).class_count_.sum() == pytest.approx(weight.sum())  # anew


@pytest.mark.filterwarnings("ignore:.*X-ALL-MISSING")
@given(problems())
def test_r101_a_missing_value_is_the_sum_over_both_values(problem):
    X, y, weight = problem
    model = BernoulliNB().fit(X, y, weight)
    for row in X:
        holes = np.flatnonzero(np.isnan(row))
        filled = np.repeat(row[None], 2 ** len(holes), axis=0)
        filled[:, holes] = list(itertools.product([0, 1], repeat=len(holes)))
        summed = special.logsumexp(model.predict_joint_log_proba(filled), axis=0)
        found = model.predict_joint_log_proba(row[None])[0]
        np.testing.assert_allclose(found, summed, rtol=1e-10, atol=1e-12)


@pytest.mark.filterwarnings("ignore:.*X-ALL-MISSING")
@given(problems(), st.sampled_from(SPARSE))
def test_r102_sparse_rows_give_the_bits_of_dense_ones(problem, form):
    X, y, weight = problem
    dense, compressed = BernoulliNB().fit(X, y, weight), BernoulliNB().fit(form(X), y, weight)
    assert bits(compressed, form(X)) == bits(dense, X)
    assert bits(dense, form(X)) == bits(compressed, X)


def test_r102_stored_zeros_negative_numbers_and_thresholds():
    X, y, weight = made()
    X -= 1.0  # 0 in many cells, and -1
    stored = sparse.csr_array(X)
    stored.data[::5] = 0.0  # stored all the same
    for binarize in (0.0, 0.5, 1.0):
        dense = BernoulliNB(binarize=binarize).fit(stored.toarray(), y, weight)
        assert bits(BernoulliNB(binarize=binarize).fit(stored, y, weight), stored) == bits(
            dense, stored.toarray()
        )
    # A threshold between a number and its 32 bits: float32(0.1) is above 0.1 in any container.
    tenth = np.full((2, 1), 0.1, dtype=np.float32)
    assert BernoulliNB(binarize=0.1).fit(tenth, [0, 1]).feature_count_.sum() == 2
    assert BernoulliNB(binarize=0.1).fit(tenth.astype(float), [0, 1]).feature_count_.sum() == 2


def test_r102_the_rows_of_a_batch_do_not_meet():
    X, y, weight = made(n=3000, p=200)  # more than one block
    model = BernoulliNB().fit(X, y, weight)
    joint = model.predict_joint_log_proba(X)
    assert bits(BernoulliNB().fit(sparse.csc_array(X), y, weight), X) == bits(model, X)
    for i in (0, 1500, 2999):
        assert model.predict_joint_log_proba(X[[i]]).tobytes() == joint[[i]].tobytes()


def test_r102_nothing_is_made_dense():
    rng = np.random.default_rng(0)
    n, p = 100_000, 200_000  # 160 GB as an array, 20 GB as flags
    cells = rng.integers(0, n, 300_000), rng.integers(0, p, 300_000)
    X = sparse.csr_array((np.ones(300_000), cells), shape=(n, p))
    y = rng.integers(0, 2, n)
    tracemalloc.start()
    model = BernoulliNB().fit(X, y)
    model.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6
    theirs = ScikitLearnNB().fit(X[:50], y[:50])
    np.testing.assert_allclose(
        BernoulliNB().fit(X[:50], y[:50]).predict_joint_log_proba(X[:9]),
        theirs.predict_joint_log_proba(X[:9]),
        rtol=1e-12,
    )


@pytest.mark.parametrize("alpha", [0, 0.0, [1.0, 0.0, 1.0], -1.0, np.nan, [1.0], "x", ["x"] * 3])
def test_r102_smoothing_is_required(alpha):
    X, y, _ = made(p=3)
    with pytest.raises(InvalidParameterError, match=r"P-VALUE\] alpha"):
        BernoulliNB(alpha=alpha).fit(X, y)


def test_r103_priors_sum_to_one():
    X, y, weight = made()
    for params in ({}, {"fit_prior": False}, {"class_prior": [0.1, 0.2, 0.7]}):
        model = BernoulliNB(**params).fit(X, y, weight)
        assert np.exp(model.class_log_prior_).sum() == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(np.exp(model.class_log_prior_), [0.1, 0.2, 0.7])


@pytest.mark.parametrize(
    "prior", [[0.5, 0.5], [0.5, 0.6, -0.1], [0.2, 0.2, 0.2], [np.nan, 0.5, 0.5], 0.3, ["x"] * 3]
)
def test_r103_priors_that_are_none(prior):
    X, y, _ = made()
    with pytest.raises(InvalidParameterError, match=r"P-VALUE\] class_prior"):
        BernoulliNB(class_prior=prior).fit(X, y)


def test_r103_a_class_without_weight_is_never_predicted_and_never_nan():
    X, y, _ = made()
    empty = y == "b"
    model = BernoulliNB().fit(X, y, (~empty).astype(float))
    without = BernoulliNB().fit(X[~empty], y[~empty])
    for asked in (X, np.full((1, X.shape[1]), np.nan)):
        shares = model.predict_proba(asked)
        np.testing.assert_array_equal(shares[:, 1], 0)
        np.testing.assert_allclose(shares[:, [0, 2]], without.predict_proba(asked), rtol=1e-12)
        assert not np.isnan(model.predict_log_proba(asked)).any()
        assert not np.isnan(model.predict_joint_log_proba(asked)).any()
    assert np.isfinite(model.feature_log_prob_).all()
    # With priors that do not come from the rows it is a class like others: every share is 1/2.
    equal = BernoulliNB(fit_prior=False).fit(X, y, (~empty).astype(float))
    np.testing.assert_allclose(np.exp(equal.feature_log_prob_[1]), 0.5)
    assert np.isfinite(equal.predict_log_proba(X)).all()


def test_r103_classes_that_come_later():
    X, y, _ = made()
    first, later = y != "c", y == "c"
    model = BernoulliNB().partial_fit(X[first], y[first], classes=["a", "b", "c"])
    assert (model.predict_proba(X)[:, 2] == 0).all()
    model.partial_fit(X[later], y[later])
    assert bits(model, X) == bits(BernoulliNB().fit(X, y), X)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
@pytest.mark.parametrize("alpha", [1e-300, 1.0, 1e300])
def test_r103_no_nan_at_the_ends_of_the_range(scale, alpha):
    X, y, weight = made()
    model = BernoulliNB(alpha=alpha).fit(X, y, weight * scale)
    assert np.isfinite(model.predict_joint_log_proba(X)).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_weights_that_overflow_are_refused():
    X, y, _ = made()
    model = BernoulliNB().fit(X, y)
    before = dict(model.__dict__)
    for act in (model.fit, model.partial_fit):
        with pytest.raises(InputError, match="W-OVERFLOW"):
            act(X, y, sample_weight=np.full(len(y), 1e307))
    assert model.__dict__ == before


def test_binary_rows_alone():
    X, y, _ = made()
    flags = np.where(np.arange(X.size).reshape(X.shape) % 7 == 0, np.nan, X > 0)
    assert bits(BernoulliNB(binarize=None).fit(flags, y), flags) == bits(
        BernoulliNB().fit(flags, y), flags
    )
    flags[[7, 3], 1] = 3.0
    flags[5, 2] = -1.0
    for form in (np.asarray, sparse.csr_array, sparse.csc_array):
        with pytest.raises(InputError, match=r"X-BINARY.*column 1 holds 3.0 in rows 3, 7 \(2"):
            BernoulliNB(binarize=None).fit(form(flags), y)
        model = BernoulliNB(binarize=None).fit(X > 0, y)
        with pytest.raises(InputError, match="X-BINARY"):
            model.predict(form(flags))


def test_portions_that_do_not_fit():
    X, y, _ = made()
    with pytest.raises(InputError, match=r"Y-CLASSES.*first call to partial_fit"):
        BernoulliNB().partial_fit(X, y)
    for classes in ([], [["a"]], "a"):
        with pytest.raises(InputError, match=r"Y-CLASSES.*shape"):
            BernoulliNB().partial_fit(X, y, classes=classes)
    model = BernoulliNB().partial_fit(X, y, classes=["c", "b", "a"])
    before = dict(model.__dict__)
    for match, act in {
        r"Y-CLASSES.*'z' is none of the 3.*rows 0, 1, 2, 3, 4, \.\.\. \(200 in all\)": lambda: (
            model.partial_fit(X, ["z"] * len(y))
        ),
        "Y-CLASSES.*not the same": lambda: model.partial_fit(X, y, classes=["a", "b"]),
        "X-WIDTH": lambda: model.partial_fit(X[:, 1:], y),
        "X-EMPTY": lambda: model.partial_fit(X[:0], y[:0]),
        "Y-LENGTH": lambda: model.partial_fit(X, y[1:]),
    }.items():
        with pytest.raises(InputError, match=match):
            act()
    assert model.__dict__ == before
    assert model.partial_fit(X, y, classes=["a", "b", "c"]).class_count_.sum() == 2 * len(y)


def test_a_small_alpha_is_raised_unless_forced():
    X, y, _ = made()
    with pytest.warns(DataWarning, match=r"P-VALUE\] alpha: 1e-12 is too small"):
        raised = BernoulliNB(alpha=1e-12, force_alpha=False).fit(X, y)
    assert bits(raised) == bits(BernoulliNB(alpha=1e-10).fit(X, y))
    assert bits(BernoulliNB(alpha=1e-12).fit(X, y)) != bits(raised)
