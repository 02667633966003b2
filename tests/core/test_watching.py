"""Callbacks around the loop over members, by a small estimator that does as ours will do."""

import importlib.util
import io
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

from committee.core import watching
from committee.core.committee import Committee
from committee.core.members import Members
from committee.core.rounds import Round, assemble
from committee.core.watching import CallbackSupport, Watch, with_callbacks

# scikit-learn 1.8, which we also support, has no callbacks: there is nothing to watch with then.
HAS_CALLBACKS = importlib.util.find_spec("sklearn.callback") is not None
X = np.random.default_rng(0).normal(size=(30, 2))
Y = X[:, 0]


class Guess:
    def __init__(self, number):
        self.number = number

    def outputs(self, X):
        return np.full((len(X), 1), self.number)


class GuessRegressor(CallbackSupport, RegressorMixin, BaseEstimator):
    """Means of bootstrap samples, averaged; members come ``batch`` at a time."""

    def __init__(self, n_estimators=5, batch=1, gives_up_after=None):
        self.n_estimators = n_estimators
        self.batch = batch
        self.gives_up_after = gives_up_after

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # it looks at no feature
        return tags

    def _rounds(self, y):
        for first in range(0, self.gives_up_after or 1000, self.batch):
            members = [
                Guess(np.random.default_rng(first + k).choice(y, len(y)).mean())
                for k in range(self.batch)
            ]
            weights = np.ones(first + self.batch)
            yield Round(Members(members), weights, {"first": float(first)})

    @with_callbacks
    def fit(self, X, y):
        """Fit."""
        X_, y_ = validate_data(self, X, y, y_numeric=True)
        with Watch(
            self,
            self.n_estimators,
            X=X_,
            y=y_,
            attributes=lambda committee: {"committee_": committee},
        ) as watch:
            self.committee_ = assemble(self._rounds(y_), limit=self.n_estimators, watch=watch)
        return self

    def predict(self, X):
        """Predict."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return self.committee_.decision(X)[:, 0] / len(self.committee_)


class Recorder:
    """Writes down what it is told, and asks to stop after a member."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.record = []

    def setup(self, estimator, context):
        self.record.append("setup")

    def teardown(self, estimator, context):
        self.record.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.record.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context):
        self.record.append(f"end {context.task_name}")
        return context.task_name == f"member {self.stop_after}"


class Scorer(Recorder):
    """Wants a fitted estimator at the end of every task."""

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        facts = getattr(context, "facts", None)
        self.record.append((len(fitted_estimator.committee_), fitted_estimator.score(X, y), facts))


def fit_record(*members):
    told = [f"{verb} member {member}" for member in members for verb in ("begin", "end")]
    return ["setup", "begin fit", *told, "end fit", "teardown"]


@parametrize_with_checks([GuessRegressor(), GuessRegressor(batch=2)])
def test_estimator_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("batch", [1, 2, 5, 7])
def test_without_callbacks_nothing_changes(batch):
    plain = GuessRegressor(batch=batch).fit(X, Y)
    assert len(plain.committee_) == 5
    assert {name for name in vars(plain) if "callback" in name} == set()
    np.testing.assert_array_equal(plain.predict(X), GuessRegressor().fit(X, Y).predict(X))


def test_a_watch_on_a_silent_estimator_never_stops():
    with Watch(BaseEstimator(), 3) as watch:
        watch.before_member(0)
        stopped = watch.after_member(0, {}, lambda: Committee([Guess(0.0)], [1.0]))
    assert not stopped


if HAS_CALLBACKS:
    from sklearn.callback import ProgressBar, ScoringMonitor

    @pytest.mark.parametrize("batch", [1, 2, 5, 7])
    def test_every_member_is_a_task(batch):
        recorder = Recorder()
        GuessRegressor(batch=batch).set_callbacks(recorder).fit(X, Y)
        assert recorder.record == fit_record(0, 1, 2, 3, 4)

    @pytest.mark.parametrize("batch", [1, 2, 5, 7])
    @pytest.mark.parametrize("last", [0, 2, 4])
    def test_a_stop_request_ends_with_the_members_so_far(batch, last):
        recorder = Recorder(stop_after=last)
        model = GuessRegressor(batch=batch).set_callbacks(recorder).fit(X, Y)
        assert recorder.record == fit_record(*range(last + 1))
        shorter = GuessRegressor(n_estimators=last + 1).fit(X, Y)
        assert len(model.committee_) == last + 1
        np.testing.assert_array_equal(model.predict(X), shorter.predict(X))

    @pytest.mark.parametrize("batch", [1, 2, 5])
    def test_callbacks_get_the_estimator_so_far(batch):
        scorer = Scorer()
        GuessRegressor(batch=batch).set_callbacks(scorer).fit(X, Y)
        told = [entry for entry in scorer.record if isinstance(entry, tuple)]
        stages = [GuessRegressor(n_estimators=k).fit(X, Y).score(X, Y) for k in (1, 2, 3, 4, 5)]
        facts = [{"first": float(member - member % batch)} for member in range(5)]
        members = list(zip(range(1, 6), stages, facts, strict=True))
        assert told == [*members, (5, stages[-1], None)]

    def test_a_watch_without_attributes_shows_no_estimator():
        monitor = ScoringMonitor(scoring="r2")

        class Secretive(GuessRegressor):
            @with_callbacks
            def fit(self, X, y):
                with Watch(self, 5, X=X, y=y) as watch:
                    self.n_features_in_ = X.shape[1]
                    self.committee_ = assemble(self._rounds(y), limit=5, watch=watch)
                return self

        Secretive().set_callbacks(monitor).fit(X, Y)
        assert [entry["task_name"] for entry in monitor.get_logs().data] == ["fit"]

    def test_scoring_monitor():
        monitor = ScoringMonitor(scoring="r2")
        model = GuessRegressor(n_estimators=3).set_callbacks(monitor).fit(X, Y)
        data = monitor.get_logs().data
        assert [entry["task_name"] for entry in data] == ["fit", "member 0", "member 1", "member 2"]
        assert data[0]["r2"] == data[-1]["r2"] == model.score(X, Y)

    def test_an_algorithm_that_ends_early_leaves_its_last_task_unfinished():
        recorder = Recorder()
        GuessRegressor(gives_up_after=2).set_callbacks(recorder).fit(X, Y)
        expected = fit_record(0, 1)
        expected.insert(expected.index("end fit"), "begin member 2")
        assert recorder.record == expected

    def test_an_error_tears_down_and_leaves_the_estimator_as_it_was():
        recorder = Recorder()
        model = GuessRegressor().fit(X, Y)
        before = dict(vars(model))
        model.set_callbacks(recorder)
        model._rounds = lambda y: iter([Round(Guess(0.0), np.ones(2))])
        with pytest.raises(ValueError, match="2 weights"):
            model.fit(X, Y)
        del model._rounds
        assert recorder.record == ["setup", "begin fit", "begin member 0", "teardown"]
        model.set_callbacks()
        assert vars(model) == before

    def test_clones_share_callbacks_by_scikit_learns_rule():
        recorder = Recorder()
        model = GuessRegressor(n_estimators=1).set_callbacks(recorder)
        clone(model).fit(X, Y)
        assert recorder.record == fit_record(0)
        assert clone(clone(model).set_callbacks()).fit(X, Y).committee_ is not None
        assert recorder.record == fit_record(0)

    if importlib.util.find_spec("rich") is not None:

        @pytest.mark.parametrize("stop_after", [None, 1])
        @pytest.mark.parametrize("batch", [1, 3])
        def test_progress_bar(batch, stop_after, monkeypatch):
            shown = io.StringIO()
            monkeypatch.setattr(sys, "stdout", shown)
            model = GuessRegressor(batch=batch)
            model.set_callbacks(ProgressBar(), Recorder(stop_after)).fit(X, Y)
            assert "GuessRegressor - fit" in shown.getvalue()
            assert "100%" in shown.getvalue()


def test_scikit_learn_without_callbacks(monkeypatch):
    """As in 1.8: the module cannot be imported, and the same estimator fits as before."""
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    spec = importlib.util.spec_from_file_location("watching_before", watching.__file__)
    before = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(before)
    assert not hasattr(before.CallbackSupport, "set_callbacks")

    class Before(before.CallbackSupport, RegressorMixin, BaseEstimator):
        @before.with_callbacks
        def fit(self, X, y):
            with before.Watch(self, 4, X=X, y=y) as watch:
                rounds = GuessRegressor()._rounds(y)
                self.committee_ = assemble(rounds, limit=4, watch=watch)
            return self

    assert len(Before().fit(X, Y).committee_) == 4
