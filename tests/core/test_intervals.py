"""Prediction intervals: by hand, and whether they cover what they promise."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from committee.core.bags import LeftOut
from committee.core.interval_methods import masks
from committee.core.intervals import (
    LEVELS,
    Jackknife,
    QuantileLeaves,
    calibration_rows,
    conformal_rank,
    leaf_shares,
)
from committee.data import DataWarning, InputError
from committee.learners.random_forest import RandomForestRegressor


def waves(n, seed):
    """Noise that grows with the second feature."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    return X, np.sin(6 * X[:, 0]) + (0.1 + X[:, 1]) * rng.normal(size=n)


class Bagged:
    """A small forest with its bags spelled out."""

    def __init__(self, n=120, n_members=25, seed=0, leaf=1):
        rng = np.random.default_rng(seed)
        self.X, self.y = waves(n, seed)
        self.bag = rng.multinomial(n, np.full(n, 1 / n), size=n_members).astype(float)
        self.trees = [
            DecisionTreeRegressor(min_samples_leaf=leaf, random_state=0).fit(
                self.X, self.y, sample_weight=weight
            )
            for weight in self.bag
        ]
        self.left_out = (self.bag == 0).T
        self.counts = self.left_out.sum(axis=1)
        self.keys = rng.integers(0, 2**63, n).astype(np.uint64)

    def outputs(self, X):
        return np.stack([tree.predict(X)[:, None] for tree in self.trees])

    def leaves(self, X):
        return np.stack([tree.apply(X) for tree in self.trees], axis=1)

    def jackknife(self, limit=2000):
        votes = self.left_out * self.outputs(self.X)[:, :, 0].T
        means = votes.sum(axis=1) / np.maximum(self.counts, 1)
        y = self.y[:, None]
        return Jackknife.of(
            y, means[:, None], self.left_out.__getitem__, self.counts, self.keys, limit
        )

    def quantiles(self):
        leaves = self.leaves(self.X)
        return QuantileLeaves.of(
            self.y,
            lambda member: leaves[:, member],
            self.bag.__getitem__,
            [tree.tree_.node_count for tree in self.trees],
            self.left_out.__getitem__,
            self.counts,
            self.keys,
        )


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.31])
def test_jackknife_by_hand(alpha):
    """The interval of Kim, Xu & Barber: one committee for each left-out row, sorted ends."""
    bagged = Bagged()
    X, _ = waves(15, 9)
    found = bagged.jackknife().bounds(bagged.outputs(X), alpha)[:, 0]
    said, at_home = bagged.outputs(X)[:, :, 0], bagged.outputs(bagged.X)[:, :, 0]
    rows = np.flatnonzero(bagged.counts > 0)
    for j in range(15):
        low, high = [], []
        for i in rows:
            members = np.flatnonzero(bagged.left_out[i])
            residual = abs(bagged.y[i] - at_home[members, i].mean())
            low.append(said[members, j].mean() - residual)
            high.append(said[members, j].mean() + residual)
        n = len(rows)
        lower = sorted(low)[int(np.floor(alpha * (n + 1))) - 1]
        upper = sorted(high)[int(np.ceil((1 - alpha) * (n + 1))) - 1]
        np.testing.assert_allclose(found[j], [lower, upper], rtol=1e-8)


def test_quantiles_by_hand():
    """Weights of Meinshausen, their quantiles, and the correction by left-out rows."""
    bagged, alpha = Bagged(leaf=3), 0.1
    X, _ = waves(10, 9)
    targets = np.sort(bagged.y)
    middles = np.concatenate([targets[:1], (targets[1:] + targets[:-1]) / 2, targets[-1:]])
    at_home = bagged.leaves(bagged.X)

    def quantile(leaves, members, level):
        weight = np.zeros(len(bagged.y))
        for member in members:
            inside = (at_home[:, member] == leaves[member]) * bagged.bag[member]
            weight += inside / inside.sum() / len(members)
        order = np.argsort(bagged.y)
        below = np.concatenate([[0], np.cumsum(weight[order])])
        k = np.flatnonzero(below[1:] >= level - 1e-9)[0]
        part = (level - below[k]) / (below[k + 1] - below[k])
        return middles[k] + part * (middles[k + 1] - middles[k])

    scores = []
    for i in np.flatnonzero(bagged.counts > 0):
        members = np.flatnonzero(bagged.left_out[i])
        low, high = (quantile(at_home[i], members, q) for q in (0.05, 0.95))
        scores.append(max(low - bagged.y[i], bagged.y[i] - high))
    widening = sorted(scores)[conformal_rank(len(scores), alpha) - 1]
    found = bagged.quantiles().bounds(bagged.leaves(X), alpha)[:, 0]
    everyone = range(len(bagged.trees))
    for row, leaves in zip(found, bagged.leaves(X), strict=True):
        expected = quantile(leaves, everyone, 0.05) - widening
        np.testing.assert_allclose(row[0], expected, atol=1e-5)
        expected = quantile(leaves, everyone, 0.95) + widening
        np.testing.assert_allclose(row[1], expected, atol=1e-5)


def test_leaf_shares_have_the_mean_of_the_leaf():
    bagged = Bagged(leaf=4)
    targets, rank = np.unique(bagged.y, return_inverse=True)
    tree = bagged.trees[0]
    shape = (tree.tree_.node_count, len(targets))
    shares = leaf_shares(tree.apply(bagged.X), rank, bagged.bag[0], shape).toarray() / 2**30
    leaf = tree.apply(bagged.X)
    np.testing.assert_allclose(shares[leaf] @ targets, tree.predict(bagged.X), atol=1e-6)
    np.testing.assert_allclose(shares[leaf].sum(axis=1), 1, atol=1e-6)


def test_one_row_equals_the_row_in_a_batch():
    bagged = Bagged()
    X, _ = waves(600, 9)
    jackknife, quantiles = bagged.jackknife(), bagged.quantiles()
    batch = jackknife.bounds(bagged.outputs(X), 0.1)
    spread = quantiles.bounds(bagged.leaves(X), 0.1)
    for j in (0, 255, 256, 599):
        one = X[j : j + 1]
        assert (jackknife.bounds(bagged.outputs(one), 0.1)[0] == batch[j]).all()
        assert (quantiles.bounds(bagged.leaves(one), 0.1)[0] == spread[j]).all()


def test_smaller_alpha_is_wider():
    bagged = Bagged(n=400)
    X, _ = waves(100, 9)
    for kept, seen in (
        (bagged.jackknife(), bagged.outputs(X)),
        (bagged.quantiles(), bagged.leaves(X)),
    ):
        widths = [np.diff(kept.bounds(seen, alpha)[:, 0]).mean() for alpha in (0.5, 0.2, 0.1, 0.02)]
        assert (np.diff(widths) > 0).all()


def test_too_few_rows_give_infinite_bounds():
    bagged = Bagged(n=8, n_members=10)
    X, _ = waves(3, 1)
    for bounds in (
        bagged.jackknife().bounds(bagged.outputs(X), 0.1),
        bagged.quantiles().bounds(bagged.leaves(X), 0.1),
    ):
        assert (bounds[..., 0] == -np.inf).all()
        assert (bounds[..., 1] == np.inf).all()


def test_several_outputs():
    bagged = Bagged()
    X, _ = waves(5, 1)
    one = bagged.jackknife()
    residual = np.hstack([one.residual, 3 * one.residual])
    both = Jackknife(one.left_out, residual, one.step, one.fine, np.zeros(2))
    outputs = bagged.outputs(X)
    found = both.bounds(np.concatenate([outputs, 3 * outputs], axis=2), 0.1)
    assert found.shape == (5, 2, 2)
    np.testing.assert_allclose(found[:, 1], 3 * found[:, 0], rtol=1e-7)


def test_calibration_rows_follow_the_keys():
    counts, keys = np.array([1, 0, 2, 3, 1, 5]), np.array([9, 1, 8, 2, 7, 3], dtype=np.uint64)
    assert calibration_rows(counts, keys, 3).tolist() == [3, 4, 5]
    assert calibration_rows(counts, keys, 10).tolist() == [0, 2, 3, 4, 5]
    order = np.array([5, 3, 0, 1, 4, 2])
    moved = calibration_rows(counts[order], keys[order], 3)
    assert sorted(order[moved].tolist()) == [3, 4, 5]


def test_few_calibration_rows_are_near_to_all():
    bagged = Bagged(n=1500, n_members=30)
    X, _ = waves(300, 5)
    every = bagged.jackknife().bounds(bagged.outputs(X), 0.1)
    some = bagged.jackknife(limit=400).bounds(bagged.outputs(X), 0.1)
    assert some.shape == every.shape
    assert np.abs(some - every).mean() < 0.1 * np.diff(every).mean()


@pytest.mark.parametrize(("n", "alpha", "rank"), [(99, 0.1, 90), (9, 0.1, 9), (100, 0.1, 91)])
def test_conformal_rank(n, alpha, rank):
    assert conformal_rank(n, alpha) == rank


def test_masks_are_those_of_the_bitmap():
    marks = np.random.default_rng(0).random((7, 21)) < 0.4
    rows = np.array([0, 7, 8, 20])
    assert (masks(LeftOut.of_masks(marks), rows) == marks[:, rows].T).all()


def test_levels_are_sorted():
    assert list(LEVELS) == sorted(LEVELS)


def covered(bounds, y):
    return float(((bounds[:, 0] <= y) & (y <= bounds[:, 1])).mean())


def problem(name):
    if name == "waves":
        return waves(1200, 3)
    rng = np.random.default_rng(7)
    if name == "friedman":
        from sklearn.datasets import make_friedman1

        return make_friedman1(1200, noise=1.0, random_state=0)
    X = rng.normal(size=(1200, 4))
    return X, rng.poisson(np.exp(0.5 * X[:, 0] + 0.5)).astype(float)  # many ties


@pytest.mark.parametrize("kind", ["jackknife", "quantile"])
@pytest.mark.parametrize("name", ["waves", "friedman", "counts"])
def test_nominal_90_percent_covers(name, kind):
    """Mean over three splits of 1200 rows; two standard errors are two percent."""
    X, y = problem(name)
    shares = []
    for part in range(3):
        test = np.arange(len(y)) % 3 == part
        model = fitted_forest(X[~test], y[~test], kind)
        shares.append(covered(model.predict_interval(X[test]), y[test]))
    assert 0.88 < np.mean(shares) < 0.93, shares


def fitted_forest(X, y, kind, **params):
    return RandomForestRegressor(intervals=kind, random_state=0, **params).fit(X, y)


def test_quantile_intervals_follow_the_noise():
    X, y = waves(1500, 1)
    model = fitted_forest(X, y, "quantile", min_samples_leaf=5)
    width = np.diff(model.predict_interval(X))[:, 0]
    quiet, loud = width[X[:, 1] < 0.2].mean(), width[X[:, 1] > 0.8].mean()
    assert loud > 2 * quiet
    plain = np.diff(fitted_forest(X, y, "jackknife").predict_interval(X))[:, 0]
    assert plain[X[:, 1] > 0.8].mean() < 1.5 * plain[X[:, 1] < 0.2].mean()


@pytest.mark.parametrize("kind", ["jackknife", "quantile"])
def test_same_bits_for_any_n_jobs_and_order(kind):
    X, y = waves(300, 0)
    model = fitted_forest(X, y, kind, n_estimators=30)
    bounds = model.predict_interval(X)
    assert (
        fitted_forest(X, y, kind, n_estimators=30, n_jobs=3).predict_interval(X) == bounds
    ).all()
    order = np.random.default_rng(0).permutation(len(y))
    moved = fitted_forest(X[order], y[order], kind, n_estimators=30).predict_interval(X)
    np.testing.assert_allclose(moved, bounds, rtol=1e-9)


def test_jackknife_of_a_forest_equals_the_arrays():
    X, y = waves(200, 0)
    model = fitted_forest(X, y, "jackknife", n_estimators=40, oob_score=True)
    outputs = model.forest_.predict_members(X_table(X))
    left_out = np.stack([model.left_out_.mask(member) for member in range(40)]).T
    counts = left_out.sum(axis=1)
    kept = Jackknife.of(
        y[:, None],
        model.oob_prediction_[:, None],
        left_out.__getitem__,
        counts,
        model.bag_plan_.keys,
    )
    assert (kept.bounds(outputs, 0.2)[:, 0] == model.predict_interval(X, alpha=0.2)).all()


def X_table(X):
    from committee._engine import Table

    return Table(X, *X.shape)


def test_kept_only_on_request():
    X, y = waves(60, 0)
    model = RandomForestRegressor(n_estimators=5, random_state=0).fit(X, y)
    assert not hasattr(model, "intervals_")
    with pytest.raises(InputError, match="intervals='quantile' and fit again") as error:
        model.predict_interval(X, method="quantile")
    assert error.value.code == "P-INTERVALS"
    with pytest.raises(InputError, match="kept what 'jackknife' needs"):
        fitted_forest(X, y, "jackknife").predict_interval(X, method="quantile")


def test_no_training_row_is_kept():
    """Feature values of the training rows occur nowhere in what intervals keep."""
    X, y = waves(300, 0)
    for kind in ("jackknife", "quantile"):
        kept = fitted_forest(X, y, kind, n_estimators=10).intervals_
        for name, value in vars(kept).items():
            numbers = np.asarray(getattr(value, "data", value), dtype=float).ravel()
            assert not np.isin(X.ravel(), numbers).any(), name


def test_wrong_arguments():
    X, y = waves(60, 0)
    model = fitted_forest(X, y, "jackknife", n_estimators=10)
    for alpha in (0, 1, -0.1, "0.1", True, np.nan):
        with pytest.raises(ValueError, match="alpha"):
            model.predict_interval(X, alpha=alpha)
    with pytest.raises(ValueError, match="method"):
        model.predict_interval(X, method="bootstrap")
    with pytest.raises(ValueError, match="intervals"):
        fitted_forest(X, y, "bayes")
    with pytest.raises(InputError, match="bootstrap=False") as error:
        fitted_forest(X, y, "jackknife", bootstrap=False)
    assert error.value.code == "P-BAG"
    with pytest.raises(InputError, match="one target"):
        fitted_forest(X, np.column_stack([y, y]), "quantile")


def test_too_few_rows_are_told():
    X, y = waves(8, 0)
    model = fitted_forest(X, y, "jackknife", n_estimators=30)
    with pytest.warns(DataWarning, match="P-COVERAGE") as seen:
        bounds = model.predict_interval(X)
    assert len(seen) == 1
    assert np.isinf(bounds).all()


def test_no_rows_give_no_bounds():
    X, y = waves(60, 0)
    for kind in ("jackknife", "quantile"):
        assert fitted_forest(X, y, kind, n_estimators=10).predict_interval(X[:0]).shape == (0, 2)


def test_warm_start_keeps_for_all_members():
    X, y = waves(200, 0)
    for kind in ("jackknife", "quantile"):
        grown = fitted_forest(X, y, kind, n_estimators=10, warm_start=True)
        grown.set_params(n_estimators=25).fit(X, y)
        at_once = fitted_forest(X, y, kind, n_estimators=25)
        assert (grown.predict_interval(X) == at_once.predict_interval(X)).all()


def test_pickles_predict_the_same():
    import pickle

    X, y = waves(200, 0)
    for kind in ("jackknife", "quantile"):
        model = fitted_forest(X, y, kind, n_estimators=10)
        copy = pickle.loads(pickle.dumps(model))
        assert (copy.predict_interval(X) == model.predict_interval(X)).all()


def test_two_outputs_of_a_forest():
    X, y = waves(200, 0)
    model = fitted_forest(X, np.column_stack([y, 10 * y]), "jackknife", n_estimators=20)
    bounds = model.predict_interval(X)
    assert bounds.shape == (200, 2, 2)
    assert (bounds[:, :, 0] < bounds[:, :, 1]).all()
