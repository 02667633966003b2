"""Forests: out-of-bag predictions and their proof, warm starts, callbacks and copies."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.metrics import f1_score
from tests.estimators import forest_bits
from tests.learners.test_forest import FORESTS, every, fit, rows, same

from committee import DataWarning, InputError
from committee.core.bags import LeftOut
from committee.core.outofbag import accumulate
from committee.learners.random_forest import RandomForestClassifier

# Out of bag.


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("resampling", ["replace", "subset", "poisson"])
def test_out_of_bag_is_brute_force_bit_for_bit(kind, resampling):
    X, y = rows(90, n_classes=3)
    weight = np.random.default_rng(0).integers(0, 3, 90) * 1.0
    model = fit(
        kind, X, y, weight, bootstrap=True, resampling=resampling, oob_score=True, n_estimators=80
    )
    sums, counts = np.zeros((90, model.forest_.n_outputs)), np.zeros(90)
    for member, tree in enumerate(model.estimators_):
        bag = np.bincount(model.estimators_samples_[member], minlength=90)
        out = (bag == 0) & (weight > 0)
        sums[out] += tree._outputs(X)[out]
        counts[out] += 1
    with np.errstate(invalid="ignore"):
        means = sums / counts[:, None]
    known = getattr(model, "oob_decision_function_", getattr(model, "oob_prediction_", None))
    np.testing.assert_array_equal(known.reshape(means.shape), means)
    assert model.verify_no_leak(X, y, weight).n_members == 80


@every
def test_verify_no_leak_finds_what_was_tampered_with(kind):
    X, y = rows(100)
    model = fit(kind, X, y, bootstrap=True, oob_score=True, n_estimators=30)
    report = model.verify_no_leak(X, y)
    assert (report.n_members, report.n_rows) == (30, 100)
    assert report.n_predictions == model.left_out_.counts().sum()
    assert str(report).startswith("No leak")

    tampered = copy.deepcopy(model)
    masks = np.array([model.left_out_.mask(m) for m in range(30)])
    masks[21, 57] ^= True
    tampered.left_out_ = LeftOut.of_masks(masks)
    with pytest.raises(InputError, match=r"M-LEAK.*member 21, row 57"):
        tampered.verify_no_leak(X, y)

    tampered = copy.deepcopy(model)
    tampered.forest_ = fit(kind, X, y, bootstrap=True, n_estimators=30, random_state=1).forest_
    del tampered.oob_score_
    with pytest.raises(InputError, match=r"M-LEAK.*leaf \d+ of member 0 holds a weight of"):
        tampered.verify_no_leak(X, y)

    tampered = copy.deepcopy(model)
    name = (
        "oob_decision_function_" if hasattr(model, "oob_decision_function_") else "oob_prediction_"
    )
    getattr(tampered, name)[3] += 0.5
    with pytest.raises(InputError, match=r"M-LEAK.*differ from a recomputation"):
        tampered.verify_no_leak(X, y)

    tampered.forest_ = model.forest_.slice(0, 29)
    with pytest.raises(InputError, match=r"30 members, forest_ has 29"):
        tampered.verify_no_leak(X, y)


def test_verify_no_leak_wants_the_training_rows():
    X, y = rows(100)
    model = fit(RandomForestClassifier, X, y, n_estimators=30)
    other = X.copy()
    other[33, 0] += 3
    with pytest.raises(InputError, match=r"M-LEAK.*rows?"):
        model.verify_no_leak(other, y)
    with pytest.raises(InputError, match=r"M-LEAK.*99 rows"):
        model.verify_no_leak(X[:-1], y[:-1])
    with pytest.raises(InputError, match=r"M-LEAK.*sample_weight"):
        model.verify_no_leak(X, y, sample_weight=np.arange(100.0))
    with pytest.raises(InputError, match=r"P-BAG.*no member left a row out"):
        fit(RandomForestClassifier, X, y, bootstrap=False).verify_no_leak(X, y)


def test_out_of_bag_curve():
    X, y = rows(150)
    model = fit(RandomForestClassifier, X, y, n_estimators=40, oob_score=True)
    curve = model.oob_curve(X, y)
    assert curve.shape == (40,)
    assert curve[-1] == model.oob_score_
    trees = (tree._outputs(X) for tree in model.estimators_)
    for k, stage in enumerate(accumulate(trees, model.left_out_)):
        right = stage.means.argmax(axis=1)[stage.known] == y[stage.known]
        assert curve[k] == right.mean()
    assert curve[-1] > curve[0]


def test_out_of_bag_score_by_a_callable():
    X, y = rows(150)
    names = np.array(["no", "yes"])[y]

    def f1(true, predicted):
        return f1_score(true, predicted, pos_label="yes")

    model = fit(RandomForestClassifier, X, names, n_estimators=50, oob_score=f1)
    predicted = model.classes_[model.oob_decision_function_.argmax(axis=1)]
    assert model.oob_score_ == f1(names, predicted)


@every
def test_b55_out_of_bag_needs_the_bootstrap(kind):
    with pytest.raises(InputError, match=r"P-BAG.*oob_score=True.*bootstrap=False"):
        fit(kind, bootstrap=False, oob_score=True)
    with pytest.raises(InputError, match=r"P-BAG.*oob_score=True.*exponential"):
        fit(kind, bootstrap=True, resampling="exponential", oob_score=True)
    with pytest.raises(InputError, match=r"P-BAG.*max_samples=0.5 while bootstrap=False"):
        fit(kind, bootstrap=False, max_samples=0.5)


# Warm starts, callbacks and copies.


@every
def test_warm_start_is_one_fit(kind):
    X, y = rows()
    model = kind(5, random_state=0, warm_start=True, bootstrap=True, oob_score=True)
    with pytest.warns(DataWarning, match="B-NEVER-OUT"):
        model.fit(X, y)
    model.set_params(n_estimators=30).fit(X, y)
    whole = fit(kind, X, y, n_estimators=30, bootstrap=True, oob_score=True)
    same(model, whole)
    assert model.oob_score_ == whole.oob_score_
    np.testing.assert_array_equal(model.left_out_.bitmap, whole.left_out_.bitmap)


@every
def test_warm_start_goes_on_with_its_seed(kind):
    X, y = rows()
    model = kind(5, random_state=None, warm_start=True, bootstrap=True).fit(X, y)
    first = forest_bits(model.forest_)
    model.set_params(n_estimators=9).fit(X, y)
    assert forest_bits(model.forest_.slice(0, 5)) == first
    assert model.verify_no_leak(X, y).n_members == 9


def test_warm_start_refuses():
    X, y = rows()
    model = fit(RandomForestClassifier, X, y, warm_start=True)
    before = dict(model.__dict__)
    with pytest.raises(InputError, match=r"P-WARM.*n_estimators=5 must be larger or equal"):
        model.set_params(n_estimators=5).fit(X, y)
    model.set_params(n_estimators=20)
    with pytest.raises(InputError, match=r"P-WARM.*rows"):
        model.fit(X[::-1] * 2, y)
    with pytest.raises(InputError, match=r"P-WARM.*other classes"):
        model.fit(X, y + 5)
    assert model.set_params(n_estimators=12).__dict__ == before
    with pytest.warns(DataWarning, match="does not fit new trees"):
        model.fit(X, y)
    assert len(model.estimators_) == 12


class Recorder:
    """A callback that counts members and may stop after some."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.scores = []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        if context.parent is None:
            return False
        self.scores.append(fitted_estimator.score(X, y))
        return len(self.scores) == self.stop_after


@every
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_callbacks_see_each_member_and_stop(kind, n_jobs):
    pytest.importorskip("sklearn.callback")
    X, y = rows()
    watcher = Recorder()
    model = kind(8, random_state=0, n_jobs=n_jobs).set_callbacks(watcher).fit(X, y)
    plain = fit(kind, X, y, n_estimators=8)
    same(model, plain)
    staged = [kind(k, random_state=0).fit(X, y).score(X, y) for k in (1, 5, 8)]
    assert [watcher.scores[k - 1] for k in (1, 5, 8)] == staged
    assert len(watcher.scores) == 8
    stopped = kind(8, random_state=0, n_jobs=n_jobs).set_callbacks(Recorder(5)).fit(X, y)
    same(stopped, fit(kind, X, y, n_estimators=5))


def test_verbose_counts(capsys):
    same(
        fit(RandomForestClassifier, verbose=1, n_estimators=3),
        fit(RandomForestClassifier, n_estimators=3),
    )
    assert "3 of 3 members" in capsys.readouterr().out


@every
def test_pickles_keep_everything(kind):
    X, y = rows()
    model = fit(kind, X, y, bootstrap=True, oob_score=True, n_estimators=30)
    again = pickle.loads(pickle.dumps(model))
    same(again, model)
    assert again.oob_score_ == model.oob_score_
    assert again.verify_no_leak(X, y) == model.verify_no_leak(X, y)
